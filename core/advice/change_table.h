// The table of changes: one row per change that a setting or a count describes.
#pragma once

#include <span>
#include <string_view>

#include "core/advice/needs.h"

namespace slipstick {

// When a change is worth trying.
enum class When {
  kAlways,
  kFeasible,    // only where the scenario fits
  kInfeasible,  // only where it does not
  kLastResort,  // the same, and no row of its kind above it repaired it
  kOnlyWay      // the same, and no row above it repaired it without a purchase
};

struct ChangeRow {
  std::string_view id;    // kind, and after a dot which one of that kind
  std::string_view part;  // part that it changes; "": training or serving
  std::string_view set;   // assignments "PATH=VALUE", or "PATH*=FACTOR" for a count or a number, separated by spaces
  Needs needs;
  std::string_view title;  // {old} and {new}: the value of the first assignment
  std::string_view effort;
  When when = When::kAlways;
  std::string_view only_if = "";  // "PATH": of the scenario, not null; "PATH=VALUE"
  MappingSearch search = MappingSearch::kNone;
  std::string_view search_limits = "";  // separated by spaces
};

std::span<const ChangeRow> ChangeRows();

}  // namespace slipstick
