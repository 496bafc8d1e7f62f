// Package flows by hand, and properties over random packages.
#include "core/economics/package.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "../preset.h"
#include "core/economics/device_bill.h"
#include "core/economics/partition.h"
#include "costs.h"

namespace slipstick {
namespace {

struct Flow {
  Package package;
  PackageParts parts;
  PackageGeometry geometry;
};

// Four dies of 100 $ on a carrier of 50 $ and yield 0.8, substrate 20 $, bond yield 0.99 per die, attach yield 0.98;
// nothing else costs anything.
Flow Worked(bool chip_first) {
  Flow flow;
  flow.package = Standard<Package>();
  flow.parts.dies.count = 4;
  flow.parts.dies.cost = 400 * kUsd;
  flow.parts.dies.area = 400 * kMm2;
  Carrier carrier = Standard<Carrier>();
  carrier.wafer_price = 5000 * kUsd;
  carrier.tested = !chip_first;
  carrier.clustering = 1;
  carrier.defect_density = PerArea::FromBase(0.25 / 440);  // 1 / (1 + 0.25) = 0.8 on 440 mm^2
  flow.package.carrier = carrier;
  flow.package.bumps = DollarsPerArea();
  flow.package.substrate = {0.05 * kUsdPerMm2, 1, 1, 400 * kMm2};
  AssemblyStep bond;
  bond.adds = {Part::kCarrier, Part::kDies};
  bond.yield_each = 0.99;
  AssemblyStep attach;
  attach.name = "attach";
  attach.adds = {Part::kSubstrate};
  attach.yield = 0.98;
  flow.package.steps = {bond, attach};
  flow.geometry.carrier_area = 440 * kMm2;
  flow.geometry.carriers_per_wafer = 100;
  flow.geometry.substrate_area = 400 * kMm2;
  return flow;
}

Dollars Total(const PackageCost& cost) { return cost.put_in + cost.loss; }

TEST(Package, ChipLastLosesTestedPartsOnly) {
  const Flow flow = Worked(false);
  const PackageCost cost = Assemble(flow.package, flow.parts, flow.geometry);
  const double bond = std::pow(0.99, 4);
  EXPECT_NEAR(Total(cost).base(), 50 / (0.8 * bond * 0.98) + 20 / 0.98 + 400 / (bond * 0.98), 1e-9);
}

TEST(Package, ChipFirstLosesDiesWithTheCarrier) {
  const Flow flow = Worked(true);
  const PackageCost cost = Assemble(flow.package, flow.parts, flow.geometry);
  const double bond = std::pow(0.99, 4);
  EXPECT_NEAR(Total(cost).base(), (450 / (0.8 * bond) + 20) / 0.98, 1e-9);
}

TEST(Package, ChipLastNeverCostsMoreThanChipFirst) {
  const Flow last = Worked(false), first = Worked(true);
  EXPECT_LT(Total(Assemble(last.package, last.parts, last.geometry)),
            Total(Assemble(first.package, first.parts, first.geometry)));
}

TEST(Package, SeparatelyTestedGroupsAreLostSeparately) {
  Flow whole = Worked(false), apart = Worked(false);
  apart.package.steps[0].groups = 4;
  EXPECT_LT(Total(Assemble(apart.package, apart.parts, apart.geometry)),
            Total(Assemble(whole.package, whole.parts, whole.geometry)));
}

TEST(Package, HybridBondLosesByVoidsAndPads) {
  Flow flow = Worked(false);
  AssemblyStep& bond = flow.package.steps[0];
  bond.yield_each = 1;
  bond.void_density = 0.01 * kPerCm2;
  bond.pad_pitch = 0.009 * kMm;
  bond.pad_loss = 1e-8;
  const double expected = std::exp(-1.0278 * 0.01 * 4 - 1e-8 * 400 / (0.009 * 0.009)) * 0.98;
  EXPECT_NEAR(Assemble(flow.package, flow.parts, flow.geometry).yield, expected, 1e-12);
}

constexpr const char* kPackages[] = {"flip-chip",          "organic-mcm",    "fan-out",
                                     "fan-out-chip-first", "interposer",     "bridge",
                                     "stacked-microbump",  "stacked-hybrid", "board"};
constexpr const char* kNodes[] = {"65nm", "28nm", "14nm", "7nm", "5nm", "3nm", "2nm"};

class Random {
 public:
  double Between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  Count Up(Count high) { return std::uniform_int_distribution<Count>(0, high)(engine_); }

 private:
  std::mt19937_64 engine_{20240817};
};

DeviceBill RandomBill(Random& random, const std::vector<Package>& packages, const std::vector<ProcessNode>& nodes) {
  DeviceBill bill = Standard<DeviceBill>();
  const Count kinds = 1 + random.Up(2);
  for (Count k = 0; k < kinds; ++k) {
    DieInput die = Standard<DieInput>();
    die.name = "die " + std::to_string(k);
    die.count = 1 + random.Up(7);
    die.area = std::exp(random.Between(std::log(10), std::log(800))) * kMm2;
    die.aspect = random.Between(0.5, 2);
    die.node = nodes[static_cast<std::size_t>(random.Up(static_cast<Count>(nodes.size()) - 1))];
    die.node.defect_density *= random.Between(0.2, 4);
    die.yield_model = static_cast<YieldModel>(random.Up(7));
    die.units = 1 + random.Up(100);
    die.unit_area = die.area * (random.Between(0, 0.9) / static_cast<double>(die.units));
    die.spare_units = random.Up(die.units / 8);
    die.stacked = k > 0 && random.Up(3) == 0;
    die.reuse = random.Between(1, 5);
    bill.dies.push_back(die);
  }
  bill.memory.stacks = random.Up(12);
  bill.package = packages[static_cast<std::size_t>(random.Up(static_cast<Count>(packages.size()) - 1))];
  bill.design.volume = static_cast<Count>(std::exp(random.Between(std::log(1e3), std::log(1e8))));
  bill.sort.coverage = random.Between(0.5, 1);
  bill.module = random.Between(0, 500) * kUsd;
  return bill;
}

TEST(PackageProperties, TenThousandRandomPackages) {
  std::vector<Package> packages;
  std::vector<ProcessNode> nodes;
  for (const char* id : kPackages) packages.push_back(FromPreset<Package>(id));
  for (const char* id : kNodes) nodes.push_back(FromPreset<ProcessNode>(id));
  Random random;
  for (int i = 0; i < 10000; ++i) {
    const DeviceBill bill = RandomBill(random, packages, nodes);
    const DeviceGeometry geometry = ComputeGeometry(bill);
    const DeviceCost cost = PriceDevice(bill, geometry);
    const auto price = [&](const DeviceBill& other) { return PriceDevice(other, geometry).total; };
    ASSERT_EQ(SumOf(cost.lines), cost.total) << i;
    ASSERT_TRUE(std::isfinite(cost.total.base())) << i;
    for (const BillLine& line : cost.lines) ASSERT_GE(line.cost.base(), 0) << i << line.name;
    for (const DieCost& die : cost.dies) {
      ASSERT_GT(die.yield, 0) << i;
      ASSERT_LE(die.yield, 1) << i;
      ASSERT_LE(die.quality, 1 + 1e-15) << i;
    }
    ASSERT_GT(cost.yield, 0) << i;
    ASSERT_LE(cost.yield, 1) << i;
    DeviceBill dearer = bill, worse = bill, looser = bill, fewer = bill, larger = bill;
    dearer.dies[0].node.wafer_price *= 1.1;
    worse.dies[0].node.defect_density *= 1.2;
    if (!looser.package.steps.empty()) looser.package.steps[0].yield_each *= 0.99;
    fewer.design.volume = std::max<Count>(1, bill.design.volume / 2);
    const double slack = 1 - 1e-10;
    ASSERT_GE(price(dearer), cost.total * slack) << i;
    ASSERT_GE(price(worse), cost.total * slack) << i;
    ASSERT_GE(price(looser), cost.total * slack) << i;
    ASSERT_GE(price(fewer), cost.total * slack) << i;
    // The price per unit falls with volume towards the recurring cost.
    larger.design.volume = Count{1} << 40;
    const SplitCost split = PriceSplit(bill);
    ASSERT_NEAR(price(larger) / split.recurring, 1, 2e-3 + split.design.base() / 1e12 / split.recurring.base()) << i;
  }
}

TEST(PackageProperties, DesignSharesAddUpToTheDesign) {
  DeviceBill bill = Standard<DeviceBill>();
  bill.dies.resize(2, Standard<DieInput>());
  bill.dies[1].name = "io";
  bill.dies[1].node.name = "other";
  const DesignCost design = PriceDesign(bill, ComputeGeometry(bill));
  EXPECT_NEAR(design.share * static_cast<double>(bill.design.volume) / design.total, 1, 1e-12);
}

TEST(PackageProperties, OrderOfEqualDiesDoesNotMatter) {
  DeviceBill bill = Standard<DeviceBill>(), turned;
  bill.dies.resize(2, Standard<DieInput>());
  bill.dies[0].area = 100 * kMm2;
  bill.dies[1].area = 300 * kMm2;
  turned = bill;
  std::swap(turned.dies[0], turned.dies[1]);
  EXPECT_NEAR(PriceDevice(bill, ComputeGeometry(bill)).total / PriceDevice(turned, ComputeGeometry(turned)).total, 1,
              1e-13);
}

}  // namespace
}  // namespace slipstick
