// The table of changes: one row per change that a setting or a count describes.
#pragma once

#include <span>
#include <string_view>

#include "core/advice/needs.h"

namespace slipstick {

// When to try a change.
enum class When {
  kAlways,
  kFeasible,    // only where the scenario fits
  kInfeasible,  // only where it does not
  kLastResort,  // as kInfeasible, and no earlier row of its kind repaired the scenario
  kOnlyWay      // as kInfeasible, and no earlier row repaired it without a purchase
};

struct ChangeRow {
  std::string_view id;    // kind, and after a dot which one of that kind
  std::string_view part;  // part that it changes; "": training or serving
  // Assignments separated by spaces: "PATH=VALUE", "PATH*=FACTOR" for a count or a number, or "PATH<=MOST".
  std::string_view set;
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
