#include "core/economics/partition.h"

#include <gtest/gtest.h>

#include "../preset.h"
#include "core/economics/uncertainty.h"
#include "costs.h"

namespace slipstick {
namespace {

DeviceBill LargeDie() {
  DeviceBill bill = Standard<DeviceBill>();
  DieInput die = Standard<DieInput>();
  die.area = 800 * kMm2;
  die.node = FromPreset<ProcessNode>("5nm");
  bill.dies = {die};
  bill.memory.stacks = 0;
  bill.package = FromPreset<Package>("flip-chip");
  return bill;
}
Partition Into(Count n, const char* package) {
  Partition partition = Standard<Partition>();
  partition.chiplets = n;
  partition.package = FromPreset<Package>(package);
  return partition;
}
Dollars Recurring(Count n) { return PriceSplit(Split(LargeDie(), Into(n, "organic-mcm")).bill).recurring; }

TEST(Partition, DiesShareTheSiliconAndCarryTheirLinks) {
  const Partitioned split = Split(LargeDie(), Into(4, "interposer"));
  EXPECT_EQ(split.bill.dies[0].count, 4);
  EXPECT_NEAR(split.bill.dies[0].area.base(), 220, 1e-9);
  EXPECT_NEAR(split.link_area.base(), 20, 1e-9);
}

TEST(Partition, LinksByBandwidth) {  // 2 TB/s take four modules of 512 GB/s; a die in a ring has two ends
  Partition partition = Into(4, "interposer");
  partition.bandwidth = 2 * kTBps;
  const Partitioned split = Split(LargeDie(), partition);
  EXPECT_NEAR(split.link_area.base(), 2 * 4 * 0.811, 1e-9);
  EXPECT_NEAR(split.link_edge.base(), 2 * 4 * 0.3888, 1e-9);
  EXPECT_NEAR(split.link_power.base(), 4 * 2e12 * 0.3 * 8e-12, 1e-9);
  EXPECT_TRUE(split.edge_fits);
}

TEST(Partition, IoGoesToItsOwnNode) {
  Partition partition = Into(2, "organic-mcm");
  partition.io_share = 0.25;
  partition.io_node = FromPreset<ProcessNode>("14nm");
  const Partitioned split = Split(LargeDie(), partition);
  ASSERT_EQ(split.bill.dies.size(), 2U);
  EXPECT_NEAR(split.bill.dies[0].area.base(), 300 * 1.1, 1e-9);
  EXPECT_NEAR(split.bill.dies[1].area.base(), 200 * 1.6 / 0.9 + 30, 1e-9);
}

// By hand, at 542 M$ per 300 mm^2: modules 0.5 x 200 mm^2, chip 0.3 x 220 mm^2 and 0.2 of the whole, link module 0.5 x
// 20 mm^2; an organic package at 5,250 $ per mm^2 of substrate, four times the silicon. The area of the links is
// designed once, not twice.
TEST(Partition, DesignCostOfFourChiplets) {
  const double n = 542, package = 5250e-6 * 4 * 880 + 0.3;
  const double expected = n * (0.5 * 200 + 0.3 * 220) / 300 + 0.2 * n + n * 0.5 * 20 / 300 + package;
  EXPECT_NEAR(In(PriceSplit(Split(LargeDie(), Into(4, "organic-mcm")).bill).design, kMUsd), expected, 1e-9);
}

// Each of two dies reads half of its data from the other, over one link. In a ring of four it is three quarters, over
// 4/3 links on average.
TEST(Partition, LinksLimitTheMemory) {
  Partition partition = Into(2, "interposer");
  partition.bandwidth = 1 * kTBps;
  EXPECT_NEAR(In(*Split(LargeDie(), partition).memory_limit, kTBps), 2, 1e-12);
  partition.chiplets = 4;
  EXPECT_NEAR(In(*Split(LargeDie(), partition).memory_limit, kTBps), 4, 1e-12);
  partition.chiplets = 1;
  EXPECT_FALSE(Split(LargeDie(), partition).memory_limit);
}

TEST(Partition, SplittingBeyondTheOptimumCostsMore) {
  Dollars best = Recurring(1);
  Count best_n = 1;
  for (Count n = 2; n <= 64; ++n) {
    if (Recurring(n) < best) best = Recurring(n), best_n = n;
  }
  EXPECT_GT(best_n, 1);
  EXPECT_LT(best_n, 64);
  EXPECT_GT(Recurring(64), best);
  EXPECT_LT(best, Recurring(1));
}

TEST(Partition, CrossoverAreaIsWhereTheCostsMeet) {  // the lines 2 x and 100 + x meet at 100
  const auto twice = [](SquareMillimetres a) { return 2 * a * kUsdPerMm2.factor * (1 * kUsdPerMm2); };
  const auto offset = [](SquareMillimetres a) { return 100 * kUsd + a * (1 * kUsdPerMm2); };
  const auto found = CrossoverArea(twice, offset, 20 * kMm2, 3000 * kMm2);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->base(), 100, 1e-9);
  EXPECT_FALSE(CrossoverArea(offset, twice, 150 * kMm2, 3000 * kMm2));
}

TEST(Partition, CrossoverVolume) {  // 300 + 1000/V = 100 + 9000/V at V = 40
  const auto found = CrossoverVolume({300 * kUsd, 1000 * kUsd}, {100 * kUsd, 9000 * kUsd});
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 40, 1e-12);
  EXPECT_FALSE(CrossoverVolume({100 * kUsd, 1000 * kUsd}, {300 * kUsd, 9000 * kUsd}));
}

TEST(Uncertainty, TriangularSamples) {
  const Band band{0.5, 2};
  EXPECT_EQ(TriangularAt(band, 0), 0.5);
  EXPECT_EQ(TriangularAt(band, 1), 2);
  EXPECT_NEAR(TriangularAt(band, 1.0 / 3), 1, 1e-12);  // a third of the area lies below the peak
}

TEST(Uncertainty, SamplesDoNotDependOnTheSteps) {
  const Scenario scenario = ScenarioOf({"cluster=dgx-h100"});
  const auto whole = DrawOutcomes(scenario.cluster, *scenario.cost, 7, 0, 50);
  const auto tail = DrawOutcomes(scenario.cluster, *scenario.cost, 7, 30, 50);
  for (std::size_t i = 0; i < tail.size(); ++i) EXPECT_EQ(whole[30 + i].device_second, tail[i].device_second);
  const auto other = DrawOutcomes(scenario.cluster, *scenario.cost, 8, 0, 50);
  EXPECT_NE(whole[0].device_second, other[0].device_second);
}

TEST(Uncertainty, BandHoldsTheMiddleAndTornadoHasTheRightSigns) {
  const Scenario scenario = ScenarioOf({"cluster=dgx-h100"});
  const CostReport report = EvaluateCost(scenario.cluster, *scenario.cost);
  double low = 1e9, high = 0;
  for (const DrawnCost& outcome : DrawOutcomes(scenario.cluster, *scenario.cost, 1, 0, 500)) {
    low = std::min(low, outcome.device.base());
    high = std::max(high, outcome.device.base());
  }
  EXPECT_LT(low, report.device.base());
  EXPECT_GT(high, report.device.base());
  const std::vector<Swing> swings = Tornado(scenario.cluster, *scenario.cost);
  ASSERT_GE(swings.size(), 8U);
  for (const Swing& swing : swings) {
    const bool wafer = swing.guess.path.find("wafer_price") != std::string::npos,
               lifetime = swing.guess.path == "cost.lifetime";
    EXPECT_TRUE(!wafer || swing.low.device < swing.high.device);
    EXPECT_TRUE(!lifetime || swing.low.device_second > swing.high.device_second);
  }
}

}  // namespace
}  // namespace slipstick
