#include "core/technology/optimise.h"

#include <gtest/gtest.h>

#include "core/base/schema.h"
#include "core/technology/chip.h"

namespace slipstick {
namespace {

// Time of a toy workload that needs arithmetic, memory and network in given amounts, the longest deciding.
DesignObjective Toy(double flops, double bytes, double sent) {
  return [=](const ChipDesign& design) -> std::optional<double> {
    Trace trace = Trace::Off();
    const Result<DerivedChip> chip = Derive(design, "design", trace);
    if (!chip || !(chip->network > 0 * kBps)) return std::nullopt;
    return std::max({flops / chip->device.peak.bf16->base(), bytes / chip->device.memory.bandwidth.base(),
                     sent / chip->network.base()});
  };
}

double Sum(const ChipDesign& d) {
  return d.area_split.core + d.area_split.l2 + d.area_split.memory + d.area_split.network;
}

TEST(Optimise, IsNeverWorseThanItsStartAndKeepsTheBudgets) {
  for (const auto& [flops, bytes, sent] :
       {std::array{1e15, 1e12, 1e10}, std::array{1e13, 1e13, 1e10}, std::array{1e13, 1e11, 1e12}}) {
    const ChipDesign& start = Standard<ChipDesign>();
    const DesignObjective objective = Toy(flops, bytes, sent);
    const std::optional<Optimised> found = OptimiseSplit(start, {}, objective, {});
    ASSERT_TRUE(found);
    EXPECT_LE(found->objective, *objective(start));
    EXPECT_DOUBLE_EQ(found->start_objective, *objective(start));
    EXPECT_LE(Sum(found->design), 1 + 1e-9);
    EXPECT_LE(found->design.power_split.core + found->design.power_split.l2 + found->design.power_split.memory +
                  found->design.power_split.network,
              1 + 1e-9);
  }
}

TEST(Optimise, SpendsOnWhatTheWorkNeeds) {
  const std::optional<Optimised> compute = OptimiseSplit(Standard<ChipDesign>(), {}, Toy(1e15, 1e10, 1e8), {});
  const std::optional<Optimised> memory = OptimiseSplit(Standard<ChipDesign>(), {}, Toy(1e12, 1e13, 1e8), {});
  ASSERT_TRUE(compute && memory);
  EXPECT_GT(compute->design.area_split.core, memory->design.area_split.core);
  EXPECT_GT(memory->design.power_split.memory, compute->design.power_split.memory);
}

TEST(Optimise, SameSeedSameAnswer) {
  const DesignObjective objective = Toy(1e14, 1e12, 1e11);
  const auto& start = Standard<ChipDesign>();
  const std::optional<Optimised> a = OptimiseSplit(start, {}, objective, {}),
                                 b = OptimiseSplit(start, {}, objective, {});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->objective, b->objective);
  EXPECT_EQ(a->evaluations, b->evaluations);
}

}  // namespace
}  // namespace slipstick
