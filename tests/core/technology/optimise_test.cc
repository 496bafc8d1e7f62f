#include "core/technology/optimise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/schema.h"
#include "core/technology/chip.h"

namespace slipstick {
namespace {

// The A100-like chip's shares as a design space: area and power of core, L2, memory and network; edge of memory and
// network.
DesignSpace Space() {
  DesignSpace space;
  space.variables.resize(10, {DesignVariable::Kind::kShare, 0.001, 1, false});
  space.budgets = {{{0, 1, 2, 3}, 0.12}, {{4, 5, 6, 7}, 0.02}, {{8, 9}, 0.2}};
  space.parts = {{0, 4}, {1, 5}, {2, 6, 8}, {3, 7, 9}};
  return space;
}

DesignPoint SharesOf(const ChipDesign& d) {
  return {d.area_split.core, d.area_split.l2,      d.area_split.memory,   d.area_split.network, d.power_split.core,
          d.power_split.l2,  d.power_split.memory, d.power_split.network, d.edge_split.memory,  d.edge_split.network};
}

// Time of a toy workload with given amounts of arithmetic, memory and network traffic; the longest of the three
// decides.
DesignObjective Toy(double flops, double bytes, double sent) {
  return [=](const DesignPoint& s) -> std::optional<Tried> {
    ChipDesign design = Standard<ChipDesign>();
    design.area_split = {s[0], s[1], s[2], s[3]};
    design.power_split = {s[4], s[5], s[6], s[7]};
    design.edge_split = {s[8], s[9]};
    const Result<DerivedChip> chip = Derive(design, "design");
    if (!chip || !(chip->network > 0 * kBps)) return std::nullopt;
    return Tried{0, std::max({flops / chip->device.peak.bf16->base(), bytes / chip->device.memory.bandwidth.base(),
                              sent / chip->network.base()})};
  };
}

Optimiser Descend(const DesignObjective& objective, DesignSpace space = Space()) {
  Optimiser optimiser(std::move(space), {SharesOf(Standard<ChipDesign>())}, objective, {});
  while (optimiser.Step()) {
  }
  return optimiser;
}

double Sum(const DesignPoint& point, const DesignBudget& budget) {
  double sum = 0;
  for (const std::size_t share : budget.shares) sum += point[share];
  return sum;
}

TEST(Optimise, IsNeverWorseThanItsStartAndKeepsTheBudgets) {
  for (const auto& [flops, bytes, sent] :
       {std::array{1e15, 1e12, 1e10}, std::array{1e13, 1e13, 1e10}, std::array{1e13, 1e11, 1e12}}) {
    const DesignObjective objective = Toy(flops, bytes, sent);
    const Optimiser found = Descend(objective);
    ASSERT_TRUE(found.tried());
    EXPECT_FALSE(*objective(SharesOf(Standard<ChipDesign>())) < *found.tried());
    EXPECT_TRUE(found.converged());
    for (const DesignBudget& budget : Space().budgets)
      EXPECT_LE(Sum(found.best(), budget), 1 - budget.least_left + 1e-9);
  }
}

TEST(Optimise, SpendsOnWhatTheWorkNeeds) {
  const Optimiser compute = Descend(Toy(1e15, 1e10, 1e8)), memory = Descend(Toy(1e12, 1e13, 1e8));
  EXPECT_GT(compute.best()[0], memory.best()[0]);
  EXPECT_GT(memory.best()[6], compute.best()[6]);
}

TEST(Optimise, KeepsFloorsCeilingsAndLocks) {
  DesignSpace space = Space();
  space.variables[3].low = 0.09;   // a floor
  space.variables[6].high = 0.18;  // a ceiling
  const double locked = SharesOf(Standard<ChipDesign>())[1];
  space.variables[1].low = space.variables[1].high = locked;
  DesignPoint start = SharesOf(Standard<ChipDesign>());
  start[3] = 0.09;
  Optimiser found(space, {start}, Toy(1e12, 1e13, 1e8), {});
  while (found.Step()) {
  }
  EXPECT_GE(found.best()[3], 0.09);
  EXPECT_LE(found.best()[6], 0.18 + 1e-12);
  EXPECT_EQ(found.best()[1], locked);
}

// x + y with x in [1, 100] and y one of three, where (x - 30)^2 + cost[y] is least at x = 30 and the second choice.
TEST(Optimise, MovesNumbersAndChoices) {
  DesignSpace space;
  space.variables = {{DesignVariable::Kind::kNumber, 1, 100, false}, {DesignVariable::Kind::kChoice, 0, 2, false}};
  const double cost[] = {5, 1, 3};
  Optimiser found(
      space, {{90, 0}},
      [&](const DesignPoint& at) { return Tried{0, std::pow(at[0] - 30, 2) + cost[static_cast<std::size_t>(at[1])]}; },
      {});
  while (found.Step()) {
  }
  EXPECT_NEAR(found.best()[0], 30, 0.3);
  EXPECT_EQ(found.best()[1], 1);
}

// Rounding may cost 0.05 % of the objective, which is 1 of 2000, and must not violate a limit.
TEST(Optimise, RoundingMayCostHalfAPerMille) {
  EXPECT_TRUE(IsPracticallyAsGood({0, 2000.99}, {0, 2000}));
  EXPECT_FALSE(IsPracticallyAsGood({0, 2001.01}, {0, 2000}));
  EXPECT_TRUE(IsPracticallyAsGood({0, 1500}, {0, 2000}));
  EXPECT_TRUE(IsPracticallyAsGood({0, -1999.01}, {0, -2000}));  // larger is better
  EXPECT_FALSE(IsPracticallyAsGood({0, -1998.99}, {0, -2000}));
  EXPECT_FALSE(IsPracticallyAsGood({1e-9, 1500}, {0, 2000}));
  EXPECT_TRUE(IsPracticallyAsGood({0.1, 2000}, {0.2, 2000}));
}

// The caller can cancel it before the first step.
TEST(Optimise, EvaluatesNothingBeforeItsFirstStep) {
  int evaluations = 0;
  const auto counted = [&evaluations, objective = Toy(1e15, 1e12, 1e10)](const DesignPoint& point) {
    ++evaluations;
    return objective(point);
  };
  OptimiseOptions options;
  Optimiser optimiser(Space(), {SharesOf(Standard<ChipDesign>())}, counted, options);
  EXPECT_EQ(evaluations, 0);
  EXPECT_EQ(optimiser.done(), 0);
  EXPECT_TRUE(optimiser.Step());
  EXPECT_EQ(evaluations, options.drawn);
}

TEST(Optimise, SameSeedSameAnswer) {
  const Optimiser a = Descend(Toy(1e14, 1e12, 1e11)), b = Descend(Toy(1e14, 1e12, 1e11));
  EXPECT_EQ(a.tried()->objective, b.tried()->objective);
  EXPECT_EQ(a.evaluations(), b.evaluations());
}

}  // namespace
}  // namespace slipstick
