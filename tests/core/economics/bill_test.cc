// Bills of real devices against published ones, and of every device of the catalogue against arithmetic.
#include <gtest/gtest.h>

#include "core/catalogue/presets.h"
#include "costs.h"

namespace slipstick {
namespace {

CostReport DeviceCostOf(const std::string& id) { return CostOf({"cluster=dgx-h100", "cluster.device=" + id}); }
Dollars Recurring(const CostReport& report) { return report.device - LineOf(report.device_parts, "NRE"); }

void ExpectWithin(Dollars value, double low, double high) {
  EXPECT_GE(value.base(), low);
  EXPECT_LE(value.base(), high);
}

// Two published lists: 3,320 $ (logic 300, HBM 1,350, package 750) and 3,000 $ (200, 1,500, 723). Neither counts
// design.
TEST(Bill, H100) {
  const CostReport report = DeviceCostOf("h100-sxm5-80gb");
  EXPECT_EQ(report.dies[0].dies_per_wafer, 66);
  EXPECT_NEAR(report.dies[0].yield, 0.707, 0.002);
  ExpectWithin(Recurring(report), 3000, 3320);
  ExpectWithin(LineOf(report.device_parts, "die"), 200, 300);
  ExpectWithin(LineOf(report.device_parts, "memory"), 1350, 1500);
  ExpectWithin(LineOf(report.device_parts, "package"), 723, 750);
}

// 6,400 $, range 5,700 to 7,300: logic 720-1,200, HBM 2,800-3,100, package 1,000-1,200.
TEST(Bill, B200) {
  const CostReport report = DeviceCostOf("b200-sxm");
  ExpectWithin(Recurring(report), 5700, 7300);
  ExpectWithin(LineOf(report.device_parts, "die"), 720, 1200);
  ExpectWithin(LineOf(report.device_parts, "memory"), 2800, 3100);
  ExpectWithin(LineOf(report.device_parts, "package"), 1000, 1200);
}

// 5,300 $: logic 600, HBM 2,900, package 1,200, test and assembly 600. One list, no band: 5 % on each line it prices.
TEST(Bill, Mi300x) {
  const CostReport report = DeviceCostOf("mi300x");
  EXPECT_NEAR(report.dies[0].dies_per_wafer, 533, 2);  // sides are not published
  EXPECT_NEAR(report.dies[1].dies_per_wafer, 158, 2);
  EXPECT_NEAR(report.dies[1].yield, 0.754, 0.002);
  ExpectWithin(Recurring(report), 5035, 5565);
  ExpectWithin(LineOf(report.device_parts, "XCD") + LineOf(report.device_parts, "IOD"), 560, 640);
  ExpectWithin(LineOf(report.device_parts, "memory"), 2755, 3045);
}

// AD102, 608.5 mm^2 at 4 nm: 542 M$ * (0.8 * 608.5 / 300 + 0.2) = 987.9 M$ for the die, 3,000 $/mm^2 * 2,434 mm^2 + 0.3
// M$ = 7.6 M$ for the package, over three million cards: 331.8 $. The card lists at 1,599 $.
TEST(Bill, ConsumerCardSharesItsDesignAmongMillions) {
  const CostReport report = DeviceCostOf("rtx-4090");
  EXPECT_NEAR(LineOf(report.device_parts, "NRE").base(), 331.8, 0.5);
  EXPECT_EQ(report.device_price, 1599 * kUsd);
}

// 600 mm^2 at 5 nm: 542 M$ * (0.8 * 600 / 300 + 0.2) = 975.6 M$; its 2.5D package: 33,600 $/mm^2 * 1.1 * (600 + 6 *
// 110) mm^2 + 6.72 M$ = 53.3 M$; over one and a half million: 685.9 $.
TEST(Bill, TpuV5pSharesItsDesignAmongItsFleet) {
  const CostReport report = DeviceCostOf("tpu-v5p");
  EXPECT_NEAR(LineOf(report.device_parts, "NRE").base(), 685.9, 0.5);
}

TEST(Bill, EveryDeviceIsPricedAndAddsUp) {
  int devices = 0;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "device") continue;
    ++devices;
    const CostReport report = DeviceCostOf(std::string(preset.id));
    EXPECT_EQ(SumOf(report.device_parts), report.device) << preset.id;
    EXPECT_EQ(SumOf(report.system_parts), report.system) << preset.id;
    EXPECT_EQ(SumOf(report.device_hour_parts), report.device_hour) << preset.id;
    EXPECT_GT(report.device.base(), 20) << preset.id;
    EXPECT_LT(report.device.base(), 15000) << preset.id;
    EXPECT_GT(report.device_price, report.device) << preset.id;
    EXPECT_TRUE(report.warnings.empty()) << preset.id;
    for (const DieReport& die : report.dies) {
      EXPECT_GT(die.dies_per_wafer, 0) << preset.id;
      EXPECT_GT(die.yield, 0) << preset.id;
      EXPECT_LE(die.yield, 1) << preset.id;
    }
  }
  EXPECT_GE(devices, 40);
}

TEST(Bill, UsesTheDevicesDiesAndMemory) {
  const CostReport usual = CostOf({"cluster=dgx-h100"});
  const CostReport larger = CostOf({"cluster=dgx-h100", "cluster.device.die.area=840 mm^2"});
  const CostReport roomier = CostOf({"cluster=dgx-h100", "cluster.device.memory.capacity=160 GB"});
  const CostReport finer = CostOf({"cluster=dgx-h100", "cluster.device.die.node=3nm"});
  EXPECT_GT(LineOf(larger.device_parts, "die"), LineOf(usual.device_parts, "die"));
  EXPECT_NEAR(LineOf(roomier.device_parts, "memory") / LineOf(usual.device_parts, "memory"), 2, 1e-12);
  EXPECT_EQ(finer.dies[0].node, "3 nm");
}

// By numeric integration of the negative binomial's gamma (alpha 3, 0.1 /cm^2) over 144 units of 3.097/814 of the die,
// 12 spare.
TEST(Bill, UnitsShrinkWithTheDie) {
  const auto yield = [](const char* area) {
    return CostOf({"cluster=dgx-h100", std::string("cluster.device.die.area=") + area}).dies[0].yield;
  };
  EXPECT_NEAR(yield("814 mm^2"), 0.70670, 1e-5);
  EXPECT_NEAR(yield("400 mm^2"), 0.83895, 1e-5);
  EXPECT_NEAR(yield("203.5 mm^2"), 0.91336, 1e-5);
}

// Another node has its own wafer, whatever the bill of the catalogue's device says of its own; so has another memory.
TEST(Bill, ValuesOfTheBillStayWithItsNodeAndMemory) {
  const Scenario usual = ScenarioOf({"cluster=dgx-h100"}),
                 finer = ScenarioOf({"cluster=dgx-h100", "cluster.device.die.node=3nm"}),
                 newer = ScenarioOf({"cluster=dgx-h100", "cluster.device.memory.technology=HBM4"});
  EXPECT_EQ(usual.cost->device.dies[0].node.wafer_price, 13400 * kUsd);
  EXPECT_EQ(finer.cost->device.dies[0].node.wafer_price, 19500 * kUsd);
  EXPECT_EQ(usual.cost->device.memory.price, 17.5 * kUsdPerGB);
  EXPECT_EQ(newer.cost->device.memory.price, 16 * kUsdPerGB);
}

// Without a price a device sells at the margin that the catalogue's price leaves its maker.
TEST(Bill, AnAbsentPriceKeepsTheMargin) {
  const CostReport usual = CostOf({"cluster=dgx-h100"}),
                   left_out = CostOf({"cluster=dgx-h100", "cost.device.price=null"});
  EXPECT_NEAR(left_out.device_price / usual.device_price, 1, 1e-12);
  const CostReport worse =
      CostOf({"cluster=dgx-h100", "cost.device.price=null", "cost.device.dies.0.node.defect_density=0.4 /cm^2"});
  EXPECT_NEAR((worse.device_price - usual.device_price) / (worse.device - usual.device),
              usual.device_price / usual.device, 1e-9);
}

TEST(Bill, DieBeyondTheReticleIsInfeasibleWithItsFigures) {
  const CostReport report = CostOf({"cluster=dgx-h100", "cluster.device.die.area=1000 mm^2"});
  ASSERT_EQ(report.infeasible.size(), 1U);
  EXPECT_EQ(report.infeasible[0].reason, "reticle");
  EXPECT_GT(report.device.base(), 0);
}

}  // namespace
}  // namespace slipstick
