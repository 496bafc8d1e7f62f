// Bills of real devices against published ones, and the arithmetic of every device's bill.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/catalogue/presets.h"
#include "core/scenario/cost_defaults.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/estimated_costs.h"
#include "costs.h"

namespace slipstick {
namespace {

CostReport DeviceCostOf(const std::string& id) { return CostOf({"cluster=dgx-h100", "cluster.device=" + id}); }
Dollars Recurring(const CostReport& report) { return report.device - LineOf(report.device_parts, "NRE"); }

void ExpectWithin(Dollars value, double low, double high) {
  EXPECT_GE(value.base(), low);
  EXPECT_LE(value.base(), high);
}

// This catalogue has one price per HBM generation while published lists disagree about it, so 10 % outside their range
// is allowed.
void ExpectNear(Dollars value, double low, double high) { ExpectWithin(value, 0.9 * low, 1.1 * high); }

// Two published lists: 3,320 $ (logic 300, HBM 1,350, package 750) and 3,000 $ (200, 1,500, 723). Neither counts
// design.
TEST(Bill, H100) {
  const CostReport report = DeviceCostOf("h100-sxm5-80gb");
  EXPECT_EQ(report.dies[0].dies_per_wafer, 66);
  EXPECT_NEAR(report.dies[0].yield, 0.707, 0.002);
  ExpectNear(Recurring(report), 3000, 3320);
  ExpectWithin(LineOf(report.device_parts, "die"), 200, 300);
  ExpectNear(LineOf(report.device_parts, "memory"), 1350, 1500);
  ExpectWithin(LineOf(report.device_parts, "package"), 723, 750);
}

// 6,400 $, range 5,700 to 7,300: logic 720-1,200, HBM 2,800-3,100, package 1,000-1,200.
TEST(Bill, B200) {
  const CostReport report = DeviceCostOf("b200-sxm");
  ExpectNear(Recurring(report), 5700, 7300);
  ExpectWithin(LineOf(report.device_parts, "die"), 720, 1200);
  ExpectNear(LineOf(report.device_parts, "memory"), 2800, 3100);
  ExpectWithin(LineOf(report.device_parts, "package"), 1000, 1200);
}

// 5,300 $: logic 600, HBM 2,900, package 1,200, test and assembly 600.
TEST(Bill, Mi300x) {
  const CostReport report = DeviceCostOf("mi300x");
  EXPECT_NEAR(report.dies[0].dies_per_wafer, 533, 2);  // the sides of the die are not published
  EXPECT_NEAR(report.dies[1].dies_per_wafer, 158, 2);
  EXPECT_NEAR(report.dies[1].yield, 0.754, 0.002);
  ExpectNear(Recurring(report), 5300, 5300);
  ExpectWithin(LineOf(report.device_parts, "XCD") + LineOf(report.device_parts, "IOD"), 560, 640);
  ExpectNear(LineOf(report.device_parts, "memory"), 2900, 2900);
}

// 8,000 $, 4,350 of it HBM (siliconanalysts.com, June 2026).
TEST(Bill, Mi355x) {
  const CostReport report = DeviceCostOf("mi355x");
  ExpectNear(report.device, 8000, 8000);
  ExpectNear(LineOf(report.device_parts, "memory"), 4350, 4350);
}

// The MI350X is the MI355X's package at less power (AMD at Hot Chips 2025). HSBC's price was for the series.
TEST(Bill, Mi350xIsMadeAsTheMi355x) {
  const CostReport slower = DeviceCostOf("mi350x"), faster = DeviceCostOf("mi355x");
  EXPECT_EQ(slower.device, faster.device);
  EXPECT_EQ(slower.device_price, 23000 * kUsd);
  // The server is the air-cooled one of the MI325X, which also has 1,000 W.
  EXPECT_EQ(ScenarioOf({"cluster=hgx-mi350x"}).cost->system.preset, "hgx-mi325x");
}

// Differences between devices with the same memory come from their other parts.
TEST(Bill, MemoryOfAGenerationHasOnePriceAndItsYear) {
  std::map<std::string, std::pair<double, Count>> prices;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "bill") continue;
    const MemoryInput memory = CatalogueBill(std::string(preset.id))->memory;
    const std::pair price{memory.price.base(), memory.price_year.value_or(0)};
    EXPECT_EQ(prices.try_emplace(memory.preset, price).first->second, price) << preset.id;
    if (memory.preset.starts_with("hbm")) {
      EXPECT_TRUE(memory.price_year) << preset.id;
    }
  }
  EXPECT_GE(prices.size(), 8U);
}

// A listed price carries its year; an assumed price and the user's own carry none.
TEST(Bill, APriceCarriesItsYear) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "bill") continue;
    const DeviceBill bill = *CatalogueBill(std::string(preset.id));
    const bool is_assumed = preset.id == "mi455x";
    EXPECT_EQ(bill.price_year.has_value(), bill.price.has_value() && !is_assumed) << preset.id;
  }
  const auto bill = [](std::vector<std::string> assignments) {
    assignments.insert(assignments.begin(), "cluster=dgx-h100");
    return ScenarioOf(assignments).cost->device;
  };
  EXPECT_EQ(bill({}).price_year, 2024);
  EXPECT_EQ(bill({"cost.device.price=30000 $"}).price_year, std::nullopt);
  EXPECT_EQ(bill({"cost.device.price=30000 $", "cost.device.price_year=2026"}).price_year, 2026);
  EXPECT_EQ(bill({"cost.device.price=null"}).price_year, std::nullopt);
  EXPECT_EQ(bill({"cluster.device.die.area=700 mm^2"}).price_year, 2024);
  EXPECT_EQ(bill({"cost.device.memory.price=20 $/GB"}).memory.price_year, std::nullopt);
  EXPECT_EQ(bill({"cost.device.memory.stacks=6"}).memory.price_year, 2026);
}

// AD102, 608.5 mm^2 at 4 nm: 542 M$ * (0.8 * 608.5 / 300 + 0.2) = 987.9 M$ for the die and 3,000 $/mm^2 * 2,434 mm^2 +
// 0.3 M$ = 7.6 M$ for the package, over three million cards: 331.8 $. The card lists at 1,599 $.
TEST(Bill, ConsumerCardSharesItsDesignAmongMillions) {
  const CostReport report = DeviceCostOf("rtx-4090");
  EXPECT_NEAR(LineOf(report.device_parts, "NRE").base(), 331.8, 0.5);
  EXPECT_EQ(report.device_price, 1599 * kUsd);
}

// 600 mm^2 at 5 nm: 542 M$ * (0.8 * 600 / 300 + 0.2) = 975.6 M$ for the die and 33,600 $/mm^2 * 1.1 * (600 + 6 * 110)
// mm^2 + 6.72 M$ = 53.3 M$ for its 2.5D package, over one and a half million: 685.9 $.
TEST(Bill, TpuV5pSharesItsDesignAmongItsFleet) {
  const CostReport report = DeviceCostOf("tpu-v5p");
  EXPECT_NEAR(LineOf(report.device_parts, "NRE").base(), 685.9, 0.5);
}

struct PublishedBill {
  const char* device;
  double low, high;
  const char* source;
};
constexpr PublishedBill kPublishedBills[] = {
    {"h100-sxm5-80gb", 3320, 3320, "Raymond James 2023; siliconanalysts.com, February 2026"},
    {"h200-sxm", 4250, 4800, "siliconanalysts.com, February and June 2026"},
    {"b200-sxm", 6400, 6400, "siliconanalysts.com, 2026"},
    {"gb200", 6750, 6750, "siliconanalysts.com, June 2026: 13,500 $ with Grace for two"},
    {"mi300x", 5300, 5300, "siliconanalysts.com, February 2026"},
    {"mi355x", 8000, 8000, "siliconanalysts.com, June 2026"}};

TEST(Bill, BillsAreNearPublishedOnes) {
  for (const PublishedBill& row : kPublishedBills) {
    const double bill = DeviceCostOf(row.device).device.base();
    EXPECT_GE(bill, 0.8 * row.high) << row.device << ", " << row.source;
    EXPECT_LE(bill, 1.2 * row.low) << row.device << ", " << row.source;
  }
}

struct UnpublishedBill {
  const char* device;
  bool guesses_memory;  // false for NVIDIA: the stacks are known and have their generation's price
};
constexpr UnpublishedBill kUnpublishedBills[] = {{"b300-sxm", false}, {"gb300", false},    {"tpu-v5p", true},
                                                 {"tpu-v7", true},    {"trainium2", true}, {"trainium3", true}};

// These devices have no public bill: `assumed` lists what their entries take from other devices or estimate.
TEST(Bill, ABillThatNobodyPublishedIsAssumed) {
  for (const auto& [device, guesses_memory] : kUnpublishedBills) {
    const std::vector<std::string> assumed =
        EstimatedCosts(*ScenarioOf({"cluster=dgx-h100", std::string("cluster.device=") + device}).cost);
    const auto is_assumed = [&](const char* path) {
      return std::find(assumed.begin(), assumed.end(), path) != assumed.end();
    };
    EXPECT_EQ(is_assumed("cost.device.memory"), guesses_memory) << device;
    for (const char* path : {"cost.device.package", "cost.device.module", "cost.device.design"})
      EXPECT_TRUE(is_assumed(path)) << device << " " << path;
  }
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

// Wafer sort finds every bad die. Half of the packages pass the final test and four fifths of those the system-level
// one: 0.4 pass, and each also pays for 1.5 that fail, with 1 $ for ten seconds on the tester.
TEST(Bill, PackagesThatPassTheTestPayForThoseThatFail) {
  const CostReport report = CostOf({"cluster=dgx-h100", "cost.device.sort.coverage=1", "cost.device.test.yield=0.5",
                                    "cost.device.test.system_yield=0.8", "cost.device.test.rate=360 $/h",
                                    "cost.device.test.time=10 s", "cost.device.test.system_time=0 s"});
  Dollars tested = 1 * kUsd;
  for (const char* line : {"GPU die", "memory stacks", "package", "assembly loss"})
    tested += LineOf(report.device_parts, line);
  EXPECT_NEAR(LineOf(report.device_parts, "test loss") / (1.5 * tested), 1, 1e-12);
  EXPECT_NEAR(SumOf(report.device_parts) / report.device, 1, 1e-12);
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

// By numeric integration of the negative binomial's gamma distribution (alpha 3, 0.1 /cm^2), for 144 units of 3.097/814
// of the die, 12 of them spare.
TEST(Bill, UnitsShrinkWithTheDie) {
  for (const std::string path : {"cluster.device.die.area=", "cost.device.dies.0.area="}) {
    const auto yield = [&path](const char* area) { return CostOf({"cluster=dgx-h100", path + area}).dies[0].yield; };
    EXPECT_NEAR(yield("814 mm^2"), 0.70670, 1e-5) << path;
    EXPECT_NEAR(yield("400 mm^2"), 0.83895, 1e-5) << path;
    EXPECT_NEAR(yield("203.5 mm^2"), 0.91336, 1e-5) << path;
  }
}

// Another node has its own wafer price and another memory its own price, whatever the catalogue's bill states for the
// device.
TEST(Bill, ValuesOfTheBillStayWithItsNodeAndMemory) {
  const Scenario usual = ScenarioOf({"cluster=dgx-h100"}),
                 finer = ScenarioOf({"cluster=dgx-h100", "cluster.device.die.node=3nm"}),
                 newer = ScenarioOf({"cluster=dgx-h100", "cluster.device.memory.technology=HBM4"});
  EXPECT_EQ(usual.cost->device.dies[0].node.wafer_price, 13400 * kUsd);
  EXPECT_EQ(finer.cost->device.dies[0].node.wafer_price, 22500 * kUsd);
  EXPECT_EQ(usual.cost->device.memory.price, 16 * kUsdPerGB);
  EXPECT_EQ(usual.cost->device.memory.price_year, 2026);
  EXPECT_EQ(newer.cost->device.memory.price, 16 * kUsdPerGB);
  EXPECT_EQ(newer.cost->device.memory.price_year, 2025);
}

// The bill of the H100 states 13,400 $ and 0.1 /cm^2 for its own node; those of 2 nm are 30,000 $ and 0.15 /cm^2.
TEST(Bill, ANodeThatIsNamedHasItsOwnWafers) {
  const auto node = [](const char* cluster, std::size_t die, const char* change) {
    return ScenarioOf({cluster, change}).cost->device.dies[die].node;
  };
  for (const char* change : {"cost.device.dies.0.node=2nm", "cost.device.dies.0.node.preset=2nm"}) {
    EXPECT_EQ(node("cluster=dgx-h100", 0, change).wafer_price, 30000 * kUsd) << change;
    EXPECT_NEAR(In(node("cluster=dgx-h100", 0, change).defect_density, kPerCm2), 0.15, 1e-9) << change;
  }
  EXPECT_EQ(node("cluster=dgx-h100", 0, "cost.device.dies.0.node=4nm").wafer_price, 13400 * kUsd);
  EXPECT_EQ(node("cluster=dgx-b200", 0, "cost.device.dies.0.node=3nm").wafer_price, 22500 * kUsd);
  EXPECT_EQ(node("cluster=hgx-mi300x", 1, "cost.device.dies.1.node=28nm").wafer_price, 2891 * kUsd);
}

// A device without a stated price sells at the margin that the catalogue's price implies.
TEST(Bill, AnAbsentPriceKeepsTheMargin) {
  const CostReport usual = CostOf({"cluster=dgx-h100"}),
                   left_out = CostOf({"cluster=dgx-h100", "cost.device.price=null"});
  EXPECT_NEAR(left_out.device_price / usual.device_price, 1, 1e-12);
  const CostReport worse =
      CostOf({"cluster=dgx-h100", "cost.device.price=null", "cost.device.dies.0.node.defect_density=0.4 /cm^2"});
  EXPECT_NEAR((worse.device_price - usual.device_price) / (worse.device - usual.device),
              usual.device_price / usual.device, 1e-9);
}

Dollars PackageOf(std::vector<std::string> assignments) {
  assignments.insert(assignments.begin(), "cluster=dgx-h100");
  return LineOf(CostOf(assignments).device_parts, "package");
}

// Published for the H100's interposer: 723 to 750 $ (bills of 2023 and 2026). Another package has another price.
TEST(Bill, ThePackageThatIsChosenIsPaid) {
  EXPECT_EQ(PackageOf({}), 735 * kUsd);
  EXPECT_EQ(PackageOf({"cost.device.package.preset=interposer"}), 735 * kUsd);
  EXPECT_EQ(PackageOf({"cost.device.package.preset=bridge", "cost.device.package.price=600 $"}), 600 * kUsd);
  const Dollars bridge = PackageOf({"cost.device.package.preset=bridge"}),
                fan_out = PackageOf({"cost.device.package.preset=fan-out"});
  EXPECT_NE(bridge, fan_out);
  EXPECT_LT(bridge, 735 * kUsd);
  EXPECT_LT(fan_out, 735 * kUsd);
  // A bill that changes the silicon on the interposer has another price.
  EXPECT_GT(PackageOf({"cost.device.dies.0.count=2"}), 735 * kUsd);
  EXPECT_NE(PackageOf({"cost.device.memory.stacks=8"}), 735 * kUsd);
  EXPECT_NE(PackageOf({"cluster.device.memory.capacity=160 GB"}), 735 * kUsd);
  EXPECT_NE(PackageOf({"cluster.device.die.area=700 mm^2"}), 735 * kUsd);
  EXPECT_EQ(PackageOf({"cost.device.memory.price=20 $/GB"}), 735 * kUsd);
}

// Published: CoWoS of an H100 723-750 $, of a B200 1,000-1,200 $, of an MI300X with its hybrid bonds 1,200 $.
TEST(Bill, PackagesByTheirPartsAreNearPublishedOnes) {
  const auto by_parts = [](const char* cluster) {
    return LineOf(
               CostOf({cluster, "cost.device.package.price=null", "cost.device.package.price_factor=1"}).device_parts,
               "package")
        .base();
  };
  EXPECT_NEAR(by_parts("cluster=dgx-h100"), 735, 0.2 * 735);
  EXPECT_NEAR(by_parts("cluster=dgx-b200"), 1100, 0.2 * 1100);
  EXPECT_NEAR(by_parts("cluster=hgx-mi300x"), 1200, 0.2 * 1200);
}

// A millimetre more changes the price of the package by about its share of 1,364 mm^2 of dies and stacks. It does not
// switch from a quote of 735 $ to the 607 $ that its parts cost.
TEST(Bill, ALargerDieNeverMakesThePackageCheaper) {
  Dollars before;
  for (const char* area : {"800 mm^2", "813 mm^2", "814 mm^2", "815 mm^2", "830 mm^2"}) {
    const Dollars package = PackageOf({std::string("cost.device.dies.0.area=") + area});
    EXPECT_GE(package, before) << area;
    before = package;
  }
  EXPECT_NEAR(PackageOf({"cost.device.dies.0.area=815 mm^2"}).base(), 735, 2);
  EXPECT_NEAR(PackageOf({"cost.device.dies.0.area=813 mm^2"}).base(), 735, 30);
  // Apart from their links, two halves need an interposer as large as the whole die's.
  const Scenario halves = ScenarioOf({"cluster=dgx-h100", "partition.chiplets=2", "partition.overhead=0"});
  const std::optional<CostInputs> split = SplitCosts(halves.partition, *halves.cost);
  ASSERT_TRUE(split);
  EXPECT_NEAR(LineOf(EvaluateCost(halves.cluster, *split).device_parts, "package").base(), 735, 5);
}

// The published price of a package tells the price of one with other steps on the same interposer and substrate: a bond
// more never makes it cheaper. For bridges and fan-out it tells nothing.
TEST(Bill, APackageOnTheSameInterposerKeepsThePublishedRate) {
  const double usual = 735;
  EXPECT_NEAR(PackageOf({"cost.device.package.price=null"}).base(), usual, 1e-9);
  EXPECT_GT(PackageOf({"cost.device.package=stacked-hybrid"}), usual * kUsd);
  EXPECT_NEAR(PackageOf({"cost.device.package.price=null", "cost.device.package.price_factor=1"}).base(), 607, 1);
  // A partition that names the package that the chip has changes nothing.
  const auto split_package = [](const std::vector<std::string>& more) {
    std::vector<std::string> assignments{"cluster=dgx-h100"};
    assignments.insert(assignments.end(), more.begin(), more.end());
    const Scenario scenario = ScenarioOf(assignments);
    const std::optional<CostInputs> split = SplitCosts(scenario.partition, *scenario.cost);
    return LineOf(EvaluateCost(scenario.cluster, split.value_or(*scenario.cost)).device_parts, "package").base();
  };
  EXPECT_NEAR(split_package({"partition.chiplets=1", "partition.package=interposer"}), usual, 1e-9);
  EXPECT_NEAR(split_package({"partition.chiplets=2", "partition.package=interposer"}),
              split_package({"partition.chiplets=2"}), 1e-9);
  EXPECT_NEAR(
      split_package({"partition.chiplets=1", "partition.package=interposer", "partition.package.price_factor=1"}), 607,
      1);
}

// The catalogue's 4 nm and 5 nm wafers cost the same: a design on the older node costs no more.
TEST(Bill, ADesignHasTheWafersOfTheCatalogueOnEveryNode) {
  const auto die = [](const char* node) {
    return LineOf(CostOf({"cluster=dgx-h100", "cluster.device.design=h100-like",
                          std::string("cluster.device.design.node=") + node})
                      .device_parts,
                  "GPU die");
  };
  EXPECT_NEAR(die("5nm") / die("4nm"), 1, 0.01);  // other units may be defective
  EXPECT_LT(die("7nm"), die("5nm"));
  EXPECT_LT(die("4nm"), die("3nm"));
  // The H100 itself has the wafers of its own bill.
  EXPECT_LT(LineOf(CostOf({"cluster=dgx-h100"}).device_parts, "GPU die"), die("4nm"));
}

// NVLink cut in firmware leaves the server as it is, with all its switches.
TEST(Bill, AServerOfASiblingCostsTheSame) {
  const auto system = [](const char* cluster) {
    const Scenario scenario = ScenarioOf({std::string("cluster=") + cluster});
    return LineOf(EvaluateCost(scenario.cluster, *scenario.cost).system_parts, "servers");
  };
  EXPECT_EQ(system("dgx-h100"), 42000 * kUsd);
  EXPECT_EQ(system("hgx-h800"), system("dgx-h100"));
  EXPECT_EQ(system("hgx-a800"), system("dgx-a100"));
  EXPECT_EQ(system("hgx-mi350x"), system("hgx-mi355x"));
}

// A partition into one die without an I/O die is the device itself.
TEST(Bill, APartitionIntoOneIsTheDeviceItself) {
  const Scenario whole = ScenarioOf({"cluster=dgx-h100"}),
                 split = ScenarioOf({"cluster=dgx-h100", "partition.chiplets=1"}),
                 halves = ScenarioOf({"cluster=dgx-h100", "partition.chiplets=2"});
  EXPECT_FALSE(SplitCosts(split.partition, *split.cost));
  EXPECT_TRUE(SplitCosts(halves.partition, *halves.cost));
  const CostReport one = EvaluateCost(split.cluster, *split.cost), usual = EvaluateCost(whole.cluster, *whole.cost);
  EXPECT_EQ(one.device, usual.device);
  EXPECT_EQ(one.device_price, usual.device_price);
  EXPECT_EQ(one.device_hour, usual.device_hour);
}

// ECO-CHIP places a bridge per 10 mm of shared edge: two dies of 400 mm^2 share 20 mm. A stack has one: Intel's Sapphire
// Rapids has 10 bridges without HBM and 14 with four stacks (Hot Chips 33, 2021).
TEST(Bill, BridgesFollowTheSharedEdges) {
  const auto bridges = [](const char* dies, const char* stacks) {
    const Scenario scenario = ScenarioOf(
        {"cluster=dgx-h100", "cost.device.package.preset=bridge", "cost.device.dies.0.area=400 mm^2", dies, stacks});
    return ComputeGeometry(scenario.cost->device).package.carriers;
  };
  EXPECT_EQ(bridges("cost.device.dies.0.count=1", "cost.device.memory.stacks=5"), 5);
  EXPECT_EQ(bridges("cost.device.dies.0.count=2", "cost.device.memory.stacks=5"), 5 + 2);
  EXPECT_EQ(bridges("cost.device.dies.0.count=2", "cost.device.memory.stacks=8"), 8 + 2);
}

// 100 dies of 814 mm^2 and five stacks are 81,950 mm^2, too many for a package; a B200's two dies and eight stacks are
// not.
TEST(Bill, APackageHasALargestArea) {
  const CostReport large = CostOf({"cluster=dgx-h100", "cost.device.dies.0.count=100"});
  ASSERT_EQ(large.infeasible.size(), 1U);
  EXPECT_EQ(large.infeasible[0].reason, "package");
  EXPECT_NE(large.infeasible[0].message.find("81,950 mm²"), std::string::npos) << large.infeasible[0].message;
  for (const char* cluster : {"cluster=dgx-b200", "cluster=hgx-mi355x", "cluster=tpu-v5p-pod", "cluster=single-mi455x"})
    EXPECT_TRUE(CostOf({cluster}).infeasible.empty()) << cluster;
}

// The exposure field is 26 × 33 mm: a die of its area has its shape.
TEST(Bill, ADieOfTheWholeReticleIsMade) {
  EXPECT_TRUE(CostOf({"cluster=dgx-h100", "cluster.device.die.area=858 mm^2"}).infeasible.empty());
  EXPECT_TRUE(CostOf({"cluster=dgx-h100", "cost.device.dies.0.area=858 mm^2"}).infeasible.empty());
  EXPECT_EQ(CostOf({"cluster=dgx-h100", "cluster.device.die.area=859 mm^2"}).infeasible.size(), 1U);
  EXPECT_EQ(
      CostOf({"cluster=dgx-h100", "cluster.device.die.area=850 mm^2", "cost.device.dies.0.aspect=1"}).infeasible.size(),
      1U);
}

TEST(Bill, OneDieStandsBelowTheStackedOnes) {
  const CostReport floating = CostOf({"cluster=dgx-h100", "cost.device.dies.0.stacked=true"});
  ASSERT_EQ(floating.infeasible.size(), 1U);
  EXPECT_EQ(floating.infeasible[0].reason, "stacked");
  EXPECT_TRUE(CostOf({"cluster=hgx-mi300x"}).infeasible.empty());
}

TEST(Bill, DieBeyondTheReticleIsInfeasibleWithItsFigures) {
  const CostReport report = CostOf({"cluster=dgx-h100", "cluster.device.die.area=1000 mm^2"});
  ASSERT_EQ(report.infeasible.size(), 1U);
  EXPECT_EQ(report.infeasible[0].reason, "reticle");
  EXPECT_GT(report.device.base(), 0);
}

// The H100's die of 25.509 × 31.91 mm has a diagonal of 40.853 mm: with 3 mm of rim it needs a wafer of 46.853 mm.
TEST(Bill, ADieLiesWholeOnItsWafer) {
  const auto on = [](const std::string& wafer) {
    return CostOf({"cluster=dgx-h100", "cost.device.wafer.diameter=" + wafer}).infeasible;
  };
  ASSERT_EQ(on("25 mm").size(), 1U);
  EXPECT_EQ(on("25 mm")[0].reason, "wafer");
  EXPECT_NE(on("25 mm")[0].message.find("46.853 mm"), std::string::npos) << on("25 mm")[0].message;
  EXPECT_EQ(on("46.8 mm").size(), 1U);
  EXPECT_TRUE(on("46.9 mm").empty());
}

// Five stacks of 110 mm^2 stand beside the die of 814 mm^2.
TEST(Bill, ACarrierHoldsWhatStandsOnIt) {
  const auto with = [](const std::string& carrier) {
    return CostOf({"cluster=dgx-h100", "cost.device.package." + carrier}).infeasible;
  };
  for (const char* small : {"carrier.area=1 mm^2", "carrier.area=1363 mm^2", "carrier.area_scale=0.9"}) {
    ASSERT_EQ(with(small).size(), 1U) << small;
    EXPECT_EQ(with(small)[0].reason, "carrier");
    EXPECT_NE(with(small)[0].message.find("1,364 mm²"), std::string::npos) << with(small)[0].message;
  }
  EXPECT_TRUE(with("carrier.area=1364 mm^2").empty());
  EXPECT_TRUE(with("preset=bridge").empty());  // bridges lie below the edges only
  ASSERT_EQ(with("carrier=null").size(), 1U);
  EXPECT_EQ(with("carrier=null")[0].reason, "carrier");
  EXPECT_NE(with("carrier=null")[0].message.find("chip on wafer"), std::string::npos);
}

}  // namespace
}  // namespace slipstick
