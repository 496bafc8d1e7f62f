// The table of changes: one row per change that a setting or a count describes.
#pragma once

#include <span>
#include <string_view>

#include "core/advice/needs.h"

namespace slipstick {

// When a change is worth trying.
enum class When {
  kAlways,
  kInfeasible,  // only where the scenario does not fit
  kLastResort   // the same, and no other row of its kind repaired it
};

struct ChangeRow {
  std::string_view id;    // kind, and which of them after a dot
  std::string_view part;  // that it changes; "": either
  std::string_view set;   // assignments "PATH=VALUE", or "PATH*=FACTOR" for a count or a number, separated by spaces
  Needs needs;
  std::string_view title;  // {old} and {new}: the value of the first assignment
  std::string_view effort;
  When when = When::kAlways;
  std::string_view format = "";  // of cluster.device.peak that the device must have
  MappingSearch search = MappingSearch::kNone;
  std::string_view search_limits = "";  // separated by spaces
};

std::span<const ChangeRow> ChangeRows();

}  // namespace slipstick
