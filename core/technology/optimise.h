// The best split of a chip's area, power and shoreline for an objective given by the caller.
//
// Method: pattern search on the shares. A move shifts a step from one share of a budget to another (the remainder
// counts as a share), so every tried split sums to one; when no move helps, the step is halved. It starts from the
// given split, from those passed in, and from seeded random ones, and returns the best ever seen, never worse than its
// start. The objective has floors (whole units, whole stacks), hence no gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/hardware/chip_design.h"

namespace slipstick {

struct OptimiseOptions {
  int random_starts = 3;
  double first_step = 0.08;
  double last_step = 0.004;
  std::uint64_t seed = 1;
  int max_evaluations = 2000;
};
struct Optimised {
  ChipDesign design;
  double objective = 0;
  double start_objective = 0;
  int evaluations = 0;
};
// The objective, minimized; empty if the design yields no device or violates a limit.
using DesignObjective = std::function<std::optional<double>(const ChipDesign&)>;

// Empty if neither the start nor anything found is feasible.
std::optional<Optimised> OptimiseSplit(const ChipDesign& start, const std::vector<ChipDesign>& further_starts,
                                       const DesignObjective& objective, const OptimiseOptions& options);

}  // namespace slipstick
