// Properties of every figure of a report.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/json.h"

namespace slipstick::testing {

// No machine has a larger figure: the largest does 1e30 operations in ten years.
constexpr double kLargestFigure = 1e30;

// Every number below `json` is readable and not negative; only optional figures are null.
inline void ExpectSound(const Json& json, const std::string& path) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) ExpectSound(value, JoinPath(path, key));
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) ExpectSound(json[i], JoinPath(path, std::to_string(i)));
  } else if (json.is_number()) {
    const double value = json.get<double>();
    const bool may_lack = path.ends_with("memory_headroom_bytes");  // negative if it does not fit
    EXPECT_TRUE((value >= 0 || may_lack) && value <= kLargestFigure) << path << " is " << value;
  } else if (json.is_null()) {
    // Null without prices: costs, tokens per dollar, server and building. Null for a run that is interrupted before its
    // first checkpoint: its end. Also simulated figures, the cut of a whole timeline, pools and sessions that do not
    // exist.
    EXPECT_TRUE(path.find("cost_usd") != std::string::npos || path.find("per_usd") != std::string::npos ||
                path == "training.timeline_cut" || path == "training.run.wall_time_s" ||
                path == "training.run.energy_j" || path == "training.run.device_energy_j" ||
                path.find("tco2") != std::string::npos || path.find("server_energy_j") != std::string::npos ||
                path.find("building_energy_j") != std::string::npos ||
                path.find("network_energy_j") != std::string::npos || path.find("_g_per_") != std::string::npos ||
                path == "serving.simulated" || path == "serving.pools" || path == "serving.sessions" ||
                path == "serving.session_usd" || path == "serving.simulated.sessions" || path == "cost.prefill_pool" ||
                path.ends_with("_percentiles_s"))
        << path << " is null";
  }
}

// Checks the parts of a report that hold figures.
inline void ExpectSoundReport(const Json& report) {
  for (const char* part : {"training", "serving", "cost"}) {
    if (const Json* figures = FindMember(report, part); figures != nullptr) {
      if (!figures->is_null()) ExpectSound(*figures, part);
    }
  }
}

}  // namespace slipstick::testing
