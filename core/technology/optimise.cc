#include "core/technology/optimise.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace slipstick {
namespace {

// Three budgets; the last share of each is the remainder, with a floor for everything else on a chip.
constexpr std::size_t kShares = 13;
using Shares = std::array<double, kShares>;
struct Budget {
  std::size_t first, last;  // indices [first, last] of Shares; `last` is the remainder
  double least_left;
};
constexpr Budget kBudgets[] = {{0, 4, 0.12}, {5, 9, 0.02}, {10, 12, 0.2}};

Shares SharesOf(const ChipDesign& d) {
  Shares s{d.area_split.core,
           d.area_split.l2,
           d.area_split.memory,
           d.area_split.network,
           0,
           d.power_split.core,
           d.power_split.l2,
           d.power_split.memory,
           d.power_split.network,
           0,
           d.edge_split.memory,
           d.edge_split.network,
           0};
  for (const Budget& budget : kBudgets) {
    double used = 0;
    for (std::size_t i = budget.first; i < budget.last; ++i) used += s[i];
    s[budget.last] = 1 - used;
  }
  return s;
}

ChipDesign With(const ChipDesign& base, const Shares& s) {
  ChipDesign d = base;
  d.area_split = {s[0], s[1], s[2], s[3]};
  d.power_split = {s[5], s[6], s[7], s[8]};
  d.edge_split = {s[10], s[11]};
  return d;
}

// SplitMix64: the same random numbers on every machine.
double Draw(std::uint64_t& state) {
  std::uint64_t x = (state += 0x9E3779B97F4A7C15ULL);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

Shares RandomShares(std::uint64_t& state) {
  Shares s{};
  for (const Budget& budget : kBudgets) {
    double sum = 0;
    for (std::size_t i = budget.first; i < budget.last; ++i) sum += s[i] = -std::log(1 - Draw(state));
    for (std::size_t i = budget.first; i < budget.last; ++i) s[i] *= (1 - budget.least_left) / sum;
    s[budget.last] = budget.least_left;
  }
  return s;
}

}  // namespace

std::optional<Optimised> OptimiseSplit(const ChipDesign& start, const std::vector<ChipDesign>& further_starts,
                                       const DesignObjective& objective, const OptimiseOptions& options) {
  std::optional<Optimised> best;
  int evaluations = 0;
  const auto evaluate = [&](const Shares& s) {
    ++evaluations;
    const ChipDesign design = With(start, s);
    const std::optional<double> value = objective(design);
    if (value && (!best || *value < best->objective)) best = Optimised{design, *value, 0, 0};
    return value;
  };

  std::vector<Shares> starts{SharesOf(start)};
  for (const ChipDesign& further : further_starts) starts.push_back(SharesOf(further));
  std::uint64_t state = options.seed;
  for (int i = 0; i < options.random_starts; ++i) starts.push_back(RandomShares(state));

  std::optional<double> start_value;
  for (std::size_t run = 0; run < starts.size(); ++run) {
    Shares at = starts[run];
    std::optional<double> value = evaluate(at);
    if (run == 0) start_value = value;
    for (double step = options.first_step; step >= options.last_step && evaluations < options.max_evaluations;) {
      bool moved = false;
      for (const Budget& budget : kBudgets) {
        for (std::size_t from = budget.first; from <= budget.last; ++from) {
          for (std::size_t to = budget.first; to <= budget.last && evaluations < options.max_evaluations; ++to) {
            const double least = from == budget.last ? budget.least_left : 0.001;
            const double amount = std::min(step, at[from] - least);
            if (from == to || !(amount > 1e-6)) continue;
            Shares next = at;
            next[from] -= amount;
            next[to] += amount;
            const std::optional<double> tried = evaluate(next);
            if (tried && (!value || *tried < *value)) at = next, value = tried, moved = true;
          }
        }
      }
      if (!moved) step /= 2;
    }
  }
  if (best) {
    best->evaluations = evaluations;
    best->start_objective = start_value.value_or(best->objective);
  }
  return best;
}

}  // namespace slipstick
