// The system on which a measurement was made, and the constants that change together with the one that explains it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// Device and software behind a figure of the report, such as "h100-sxm5-80gb, vllm".
inline std::string SystemBehind(std::string_view figure, const Scenario& scenario) {
  std::string system = scenario.cluster.device.preset;
  if (figure.starts_with("training.") && scenario.training) system += ", " + scenario.training->framework.preset;
  if (figure.starts_with("serving.") && scenario.serving) system += ", " + scenario.serving->engine.preset;
  return system;
}

// Values of inputs by path, in base units.
using InputValues = std::map<std::string, double, std::less<>>;

// Efficiency of GEMMs in 16 bit and in fp8.
inline constexpr std::string_view kMatrix = "cluster.device.efficiency.matrix",
                                  kMatrixFp8 = "cluster.device.efficiency.matrix_fp8";

// `values`, with the values that change together: if a machine's 16-bit GEMM efficiency changes, its fp8 efficiency
// changes by the same factor, unless `values` states that, too. `from`: the scenario before the change.
inline InputValues WithTied(InputValues values, const Json& from) {
  const auto moved = values.find(kMatrix);
  const std::optional<double> before = NumberAt(from, kMatrix), tied = NumberAt(from, kMatrixFp8);
  if (moved != values.end() && before && *before > 0 && tied)
    values.try_emplace(std::string(kMatrixFp8), *tied * moved->second / *before);
  return values;
}

}  // namespace slipstick
