// Properties of every figure of a report.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/json.h"

namespace slipstick::testing {

// Beyond it a figure is one of no machine: ten years of the largest make 1e30 operations.
constexpr double kLargestFigure = 1e30;

// Every number below `json` is a number that people can read, not negative; only optional figures are null.
inline void ExpectSound(const Json& json, const std::string& path) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) ExpectSound(value, JoinPath(path, key));
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) ExpectSound(json[i], JoinPath(path, std::to_string(i)));
  } else if (json.is_number()) {
    const double value = json.get<double>();
    const bool may_lack = path.ends_with("memory_headroom_bytes");  // where it does not fit
    EXPECT_TRUE((value >= 0 || may_lack) && value <= kLargestFigure) << path << " is " << value;
  } else if (json.is_null()) {
    // Without prices there are no costs, no tokens per dollar, no server and no building. A run that is interrupted
    // before its first checkpoint has no end. Nothing is simulated. A timeline is whole. There
    // are no two pools, and no sessions.
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

// The parts of a report that hold figures.
inline void ExpectSoundReport(const Json& report) {
  for (const char* part : {"training", "serving", "cost"}) {
    if (const Json* figures = FindMember(report, part); figures != nullptr) {
      if (!figures->is_null()) ExpectSound(*figures, part);
    }
  }
}

}  // namespace slipstick::testing
