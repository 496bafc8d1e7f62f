// The best split that a design finds, against the best of 10,000 random splits refined by coordinate search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/exploration/design.h"
#include "core/exploration/design_problem.h"
#include "core/scenario/request.h"
#include "tests/support/random_scenarios.h"

namespace slipstick {
namespace {

using testing::Random;

// A random node, memory, links and budgets, what runs on the chip, and its objective.
struct DrawnProblem {
  std::vector<std::string> assignments;
  std::string figure;
};

DrawnProblem RandomProblem(Random& random) {
  const std::string design = "cluster.device.design.";
  const auto of = [&](const std::vector<std::string>& choices) { return random.Of(choices); };
  const auto hundreds = [&](std::uint64_t low, std::uint64_t high) {
    return std::to_string((low + random.Below(high - low + 1)) * 100);
  };
  const std::string tp = of({"1", "2", "4", "8"});
  DrawnProblem problem;
  problem.assignments = {
      "cluster=dgx-h100",
      "cluster.devices=64",
      "cluster.device.design=" + of({"a100-like", "h100-like", "b200-like", "tpu-v5e-like"}),
      design + "node=" + of({"7nm", "5nm", "4nm", "3nm", "2nm"}),
      design + "dram=" + of({"hbm2e", "hbm3", "hbm3e", "hbm4", "gddr7"}),
      design + "link=" + of({"nvlink3", "nvlink4", "nvlink5", "pcie5", "ualink"}),
      design + "stacks=null",
      design + "area=" + hundreds(3, 8) + " mm^2",
      design + "package_area=" + hundreds(12, 30) + " mm^2",
      design + "power=" + hundreds(2, 14) + " W",
      "partition=" + of({"null", "null", R"({"chiplets": 2})"}),
      "model=" + of({"llama-3.1-8b", "qwen3-32b", "qwen3-30b-a3b", "llama-2-13b"}),
      "serving.devices=8",
      "serving.mapping.auto=false",
      "training.mapping.auto=false",
      "training.mapping.zero=2",
      "training.mapping.pp=" + of({"1", "2"}),
      "serving.mapping.tp=" + tp,
      "serving.batch=" + of({"1", "16", "64", "256"}),
      "serving.prompt=" + of({"512", "4096", "16384"}),
      "training.mapping.tp=" + tp,
  };
  problem.figure = of({"serving.tpot_s", "serving.ttft_s", "serving.tokens_per_s_per_device", "training.step_time_s",
                       "serving.cost_usd_per_million_tokens", "training.model_flops_utilization"});
  return problem;
}

double Fraction(Random& random) {
  return static_cast<double>(random.Below(std::uint64_t{1} << 52)) / 4503599627370496.0;
}

// Random shares of each budget: what the floors leave is divided among its shares and the remainder.
DesignPoint RandomSplit(Random& random, const DesignSpace& space) {
  DesignPoint point(space.variables.size(), 0);
  for (const DesignBudget& budget : space.budgets) {
    double left = 1 - budget.least_left, sum = -std::log(1 - Fraction(random));
    std::vector<double> weights;
    for (const std::size_t share : budget.shares) {
      left -= space.variables[share].low;
      sum += weights.emplace_back(-std::log(1 - Fraction(random)));
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
      point[budget.shares[i]] = space.variables[budget.shares[i]].low + left * weights[i] / sum;
  }
  return point;
}

struct SplitTried {
  DesignPoint point;
  Tried tried;
};

// Tries every step from one share of a budget to another, including the remainder, until none helps.
void Refine(DesignProblem& problem, SplitTried& found) {
  const DesignSpace& space = problem.space();
  for (double step = 0.08; step >= 0.0005; step /= 2) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const DesignBudget& budget : space.budgets) {
        for (std::size_t i = 0; i <= budget.shares.size(); ++i) {
          for (std::size_t j = 0; j <= budget.shares.size(); ++j) {
            if (i == j) continue;
            DesignPoint next = found.point;
            if (i < budget.shares.size()) next[budget.shares[i]] += step;
            if (j < budget.shares.size()) next[budget.shares[j]] -= step;
            double sum = 0;
            bool above = true;
            for (const std::size_t share : budget.shares) {
              sum += next[share];
              above = above && next[share] >= space.variables[share].low;
            }
            if (!above || sum > 1 - budget.least_left) continue;
            const std::optional<Tried> tried = problem.Evaluate(next);
            if (!tried || !(*tried < found.tried)) continue;
            found = {std::move(next), *tried};
            moved = true;
          }
        }
      }
    }
  }
}

SplitTried BestOfRandom(Random& random, DesignProblem& problem) {
  constexpr int kSplits = 10'000;
  constexpr std::size_t kRefined = 10;
  std::vector<SplitTried> all;
  for (int i = 0; i < kSplits; ++i) {
    DesignPoint point = RandomSplit(random, problem.space());
    if (const std::optional<Tried> tried = problem.Evaluate(point)) all.push_back({std::move(point), *tried});
  }
  std::sort(all.begin(), all.end(), [](const SplitTried& a, const SplitTried& b) { return a.tried < b.tried; });
  if (all.size() > kRefined) all.resize(kRefined);
  for (SplitTried& one : all) Refine(problem, one);
  return *std::min_element(all.begin(), all.end(),
                           [](const SplitTried& a, const SplitTried& b) { return a.tried < b.tried; });
}

TEST(DesignAtLength, IsWithinOnePercentOfTheBestOfTenThousandRefined) {
  constexpr int kProblems = 20;
  constexpr std::uint64_t kMostSeeds = 100;
  int compared = 0;
  for (std::uint64_t seed = 1; compared < kProblems && seed <= kMostSeeds; ++seed) {
    Random random(seed);
    DrawnProblem drawn = RandomProblem(random);
    const Json question{{"objective", drawn.figure}};
    const Json answer = *ParseJson(DesignAnswer("", drawn.assignments, question).text);
    // A model that fits no split of this chip is skipped.
    if (!answer.contains("feasible") || !answer["feasible"].get<bool>()) continue;
    ++compared;
    std::string text = drawn.figure;
    for (const std::string& one : drawn.assignments) text += " '" + one + "'";
    const Result<Json> request = ReadRequest("", drawn.assignments);
    ASSERT_TRUE(request) << text;
    Result<DesignProblem> problem = DesignProblem::Make(*request, *ReadDesignQuestion(question));
    ASSERT_TRUE(problem) << text;
    const Tried tried = BestOfRandom(random, *problem).tried;
    if (tried.excess > 0) continue;  // no random split fits, but the answer does
    const double best = tried.objective, figure = answer["objective"].get<double>(), sign = problem->FigureOf(1);
    EXPECT_LE(sign * figure - best, 0.01 * std::abs(best)) << text;
  }
  EXPECT_EQ(compared, kProblems);
}

}  // namespace
}  // namespace slipstick
