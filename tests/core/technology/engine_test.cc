#include <gtest/gtest.h>

#include <random>

#include "../preset.h"
#include "core/exploration/sweep.h"
#include "core/technology/chip.h"

namespace slipstick {
namespace {

TechnologyNode Node(double logic, double sram, double analog, double energy, double speed, double v0, double vth,
                    double leakage) {
  return {"", "node", logic, sram, analog, energy, speed, v0, vth / v0, leakage};
}

ChipDesign A100() {
  ChipDesign design = Standard<ChipDesign>();  // as the A100 divides its area
  design.area_split = {476.25 / 826, 119.31 / 826, 0.118, 0.039};
  design.dram.bandwidth = 407.8 * kGBps;
  return design;
}

ChipDesign H100() {
  ChipDesign design = Standard<ChipDesign>();
  design.node = Node(0.57, 0.78, 0.88, 0.595, 1.22, 0.72, 0.29, 0.15);
  design.dram.bandwidth = 669.4 * kGBps;
  design.dram.energy = 3.7 * kPJPerBit;
  design.dram.package_area = 121 * kMm2;
  design.link.energy = 5 * kPJPerBit;
  design.link.shore = 1 * kMm;
  design.link.phy_area = 1.0966 * kMm2;
  design.link.controller_area = 0.9 * kMm2;
  design.unit.flops_per_clock = 4096;
  design.unit.tensor_area = 0.538 * kMm2;
  design.unit.vector_area = 0.752 * kMm2;
  design.unit.control_area = 1.655 * kMm2;
  design.unit.l1 = 256 * kKiB;
  design.unit.energy = 1.57 * 1.63e-9 * kJ;
  design.unit.l2_slice = 640 * kKiB;
  design.area = 814 * kMm2;
  design.power = 700 * kWatt;
  design.area_split = {0.548, 0.143, 0.10, 0.033};
  design.power_split = {0.62, 0.08, 0.145, 0.055};
  design.edge_split = {0.585, 0.16};
  design.units_enabled = 132.0 / 144;
  return design;
}

DerivedChip Made(const ChipDesign& design) {
  Result<DerivedChip> chip = Derive(design, "design");
  EXPECT_TRUE(chip) << (chip.issues.empty() ? "" : chip.issues[0].message);
  return chip ? *chip : DerivedChip{};
}

// An A100's SM takes 3.716 mm^2: 2.028 of logic, of which tensor cores are 0.269, 1.279 of registers and 0.409 of L1.
// With twice the tensor cores 476.25 mm^2 hold 476.25 / 3.985 = 119 SMs instead of 128.
TEST(Chip, HoldsMoreTensorCoresBesideItsVectorLanes) {
  ChipDesign design = A100();
  design.power = 4000 * kWatt;  // enough for every unit
  const DerivedChip once = Made(design);
  design.unit.tensor_to_vector = 2;
  const DerivedChip twice = Made(design);
  EXPECT_EQ(once.units_built, 128);
  EXPECT_EQ(twice.units_built, 119);
  const auto per_unit = [](const DerivedChip& chip, FlopsPerSecond rate) {
    return rate / (static_cast<double>(chip.device.units) * chip.device.clock);
  };
  EXPECT_NEAR(per_unit(twice, *twice.device.peak.bf16).base(), 4096, 1e-6);
  EXPECT_NEAR(per_unit(twice, *twice.device.peak.fp32).base(), 128, 1e-6);
}

// Published: NVIDIA A100 whitepaper (2020).
TEST(Chip, ReproducesA100) {
  const DerivedChip chip = Made(A100());
  EXPECT_EQ(chip.units_built, 128);
  EXPECT_EQ(chip.device.units, 108);
  EXPECT_NEAR(In(chip.device.clock, kGHz), 1.41, 0.005);
  EXPECT_NEAR(In(*chip.device.peak.bf16, kTFlops), 312, 3.12);
  EXPECT_DOUBLE_EQ(In(chip.device.caches[1].capacity, kMiB), 40);
  EXPECT_NEAR(In(*chip.device.caches[1].bandwidth, kTBps), 7.22, 0.0722);
  EXPECT_NEAR(In(*chip.device.caches[0].bandwidth, kTBps), 19.49, 0.1949);
  EXPECT_NEAR(In(chip.device.memory.bandwidth, kGBps), 2039, 20);
  EXPECT_DOUBLE_EQ(In(chip.device.memory.capacity, kGB), 80);
  EXPECT_NEAR(In(chip.network, kGBps), 300, 3);
}

// Published: NVIDIA H100 whitepaper (2022), which sets none of the constants.
TEST(Chip, PredictsH100WithinTenPercent) {
  const DerivedChip chip = Made(H100());
  EXPECT_NEAR(static_cast<double>(chip.device.units), 132, 13);
  EXPECT_NEAR(In(chip.device.clock, kGHz), 1.83, 0.183);
  EXPECT_NEAR(In(*chip.device.peak.bf16, kTFlops), 989.4, 98.9);
  EXPECT_NEAR(In(chip.device.caches[1].capacity, kMiB), 50, 5);
  EXPECT_NEAR(In(*chip.device.caches[1].bandwidth, kTBps), 9.37, 0.937);
  EXPECT_NEAR(In(chip.device.memory.bandwidth, kGBps), 3350, 335);
  EXPECT_NEAR(In(chip.network, kGBps), 450, 45);
}

// The A100's budgets at other nodes; units, clock and rate by hand from the same equations.
struct AtNode {
  const char* name;
  TechnologyNode node;
  Count units;
  double clock, rate;
};
void PrintTo(const AtNode& at, std::ostream* out) { *out << at.name; }

class ChipNodes : public testing::TestWithParam<AtNode> {};
TEST_P(ChipNodes, SameBudgets) {
  ChipDesign design = A100();
  design.node = GetParam().node;
  const DerivedChip chip = Made(design);
  EXPECT_NEAR(static_cast<double>(chip.device.units), static_cast<double>(GetParam().units),
              0.01 * static_cast<double>(GetParam().units));
  EXPECT_NEAR(In(chip.device.clock, kGHz), GetParam().clock, 0.01 * GetParam().clock);
  EXPECT_NEAR(In(*chip.device.peak.bf16, kTFlops), GetParam().rate, 0.01 * GetParam().rate);
}
INSTANTIATE_TEST_SUITE_P(
    Sweep, ChipNodes,
    testing::Values(AtNode{"n16", Node(3.30, 2.74, 1.6, 2.86, 0.74, 0.80, 0.32, 0.10), 35, 1.473, 106},
                    AtNode{"n12", Node(2.75, 2.74, 1.5, 2.14, 0.81, 0.80, 0.32, 0.10), 38, 1.657, 129},
                    AtNode{"n10", Node(1.60, 1.56, 1.2, 1.67, 0.83, 0.75, 0.31, 0.10), 68, 1.369, 191},
                    AtNode{"n5", Node(0.61, 0.78, 0.90, 0.70, 1.15, 0.72, 0.29, 0.15), 156, 1.401, 447},
                    AtNode{"n3", Node(0.38, 0.78, 0.85, 0.47, 1.36, 0.70, 0.28, 0.15), 192, 1.570, 617},
                    AtNode{"n2", Node(0.32, 0.65, 0.82, 0.34, 1.53, 0.68, 0.27, 0.12), 229, 1.701, 798},
                    AtNode{"n1", Node(0.22, 0.54, 0.78, 0.19, 1.89, 0.62, 0.25, 0.12), 296, 2.035, 1234}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Chip, FiveThousandRandomBudgets) {
  std::mt19937_64 random(20240731);
  const auto draw = [&random](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) / 9007199254740992.0;
  };
  int made = 0;
  for (int i = 0; i < 5000; ++i) {
    ChipDesign design = i % 2 == 0 ? A100() : H100();
    design.area = draw(50, 1600) * kMm2;
    design.package_area = design.area + draw(150, 2000) * kMm2;
    design.power = draw(20, 2000) * kWatt;
    design.area_split = {draw(0.2, 0.6), draw(0.02, 0.2), draw(0.05, 0.15), draw(0.0, 0.05)};
    design.power_split = {draw(0.3, 0.7), draw(0.03, 0.1), draw(0.05, 0.15), draw(0.01, 0.05)};
    design.node.logic_area = draw(0.2, 3.3);
    design.node.energy = draw(0.19, 2.9);
    const Result<DerivedChip> chip = Derive(design, "design");
    if (!chip) {
      EXPECT_FALSE(chip.issues.empty());
      continue;
    }
    ++made;
    EXPECT_LE(chip->area_used, design.area * (1 + 1e-9));
    EXPECT_LE(chip->power_used, design.power * (1 + 1e-9));
    EXPECT_GT(*chip->device.peak.bf16, 0 * kFlops);

    ChipDesign more = design;
    more.power = design.power * 1.1;
    const Result<DerivedChip> stronger = Derive(more, "design");
    ASSERT_TRUE(stronger);
    EXPECT_GE(*stronger->device.peak.bf16, *chip->device.peak.bf16 * (1 - 1e-9)) << i;
    EXPECT_GE(stronger->device.memory.bandwidth, chip->device.memory.bandwidth) << i;

    more = design;
    more.area = design.area * 1.1;
    more.package_area = design.package_area + design.area * 0.1;  // keeps the room beside the die
    const Result<DerivedChip> larger = Derive(more, "design");
    ASSERT_TRUE(larger);
    EXPECT_GE(*larger->device.peak.bf16, *chip->device.peak.bf16 * (1 - 1e-9)) << i;
    EXPECT_GE(larger->device.caches.size(), chip->device.caches.size());
    EXPECT_GE(larger->network, chip->network) << i;
  }
  EXPECT_GT(made, 3000);
}

// A graphics die of 628 mm^2 (GA102): half of its 4 x sqrt(628) = 100.2 mm of edge at 4 mm per chip is 12.5 sites. 12
// chips of 32 bit are a bus of 384 bit; 12 x 64 GB/s = 768 GB/s, as on an A6000. The memory is not in the package.
TEST(Chip, ADieOfAGraphicsCardDrivesTwelveChips) {
  ChipDesign design = A100();
  design.area = 628 * kMm2;
  design.package_area = 628 * kMm2;
  design.edge_split.memory = 0.5;
  design.memory_enabled = 1;
  design.dram = FromPreset<DramType>("gddr6");
  const DerivedChip chip = Made(design);
  EXPECT_EQ(chip.memory.sites, 12);
  EXPECT_EQ(chip.memory.stacks, 12);
  EXPECT_EQ(chip.memory.sites_bound, "shoreline");
  EXPECT_EQ(chip.memory.bound, "stacks");
  EXPECT_DOUBLE_EQ(In(chip.device.memory.bandwidth, kGBps), 768);
  EXPECT_DOUBLE_EQ(In(chip.device.memory.capacity, kGB), 24);
}

// The A100's die has edge for 16.67 chips. The widest bus has 512 bit, and 13 enabled chips of 16 are six whole
// controllers.
TEST(Chip, ChipsComeInWholeControllersUpToTheWidestBus) {
  ChipDesign design = A100();
  design.dram = FromPreset<DramType>("gddr6");
  EXPECT_EQ(Made(design).memory.stacks, 12);
  EXPECT_EQ(Made(design).memory.sites_bound, "bus");
  design.memory_enabled = 1;
  EXPECT_EQ(Made(design).memory.stacks, 16);
  design.stacks = 8;
  EXPECT_DOUBLE_EQ(In(Made(design).device.memory.bandwidth, kGBps), 512);
}

// HBM4: 0.58 x 115 / 13 mm = 5.13 sites by edge and 0.118 x 826 / 22.67 mm^2 = 4.30 by area, of which 5 in 6 are
// enabled: three stacks, 6.14 TB/s. 16 % of 400 W at 3 pJ per bit allow 64 / 24e-12 = 2.67 TB/s.
TEST(Chip, NamesTheBudgetThatCutsTheMemory) {
  ChipDesign design = A100();
  design.dram = FromPreset<DramType>("hbm4");
  const DramBudget cut = Made(design).memory;
  EXPECT_NEAR(cut.by_shoreline, 0.58 * 4 * std::sqrt(826.0) / 13, 1e-9);
  EXPECT_NEAR(cut.by_package, (1600 - 826) / 150.0, 1e-9);
  EXPECT_NEAR(cut.by_area, 0.118 * 826 / (14.63 + 8.04), 1e-9);
  EXPECT_EQ(cut.sites_bound, "area");
  EXPECT_EQ(cut.bound, "power");
  EXPECT_EQ(cut.stacks, 3);
  EXPECT_NEAR(In(cut.of_stacks, kTBps), 6.144, 1e-9);
  EXPECT_NEAR(In(cut.reached, kTBps), 64 / 24.0, 1e-9);
  design.power_split = {0.3, 0.1, 0.5, 0.05};  // 200 W allow 8.33 TB/s, more than the stacks' 6.14
  EXPECT_EQ(Made(design).memory.bound, "stacks");
  EXPECT_NEAR(In(Made(design).device.memory.bandwidth, kTBps), 6.144, 1e-9);
}

TEST(Chip, NamesTheBudgetThatIsTooSmall) {
  ChipDesign design = A100();
  design.area_split.core = 0.001;
  const Result<DerivedChip> none = Derive(design, "cluster.device.design");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.issues[0].path, "cluster.device.design.area_split.core");
  design = A100();
  design.edge_split.memory = 0;
  EXPECT_EQ(Derive(design, "d").issues.at(0).path, "d.edge_split.memory");
  design = A100();
  design.area_split.memory = 0;
  EXPECT_EQ(Derive(design, "d").issues.at(0).path, "d.area_split.memory");
  design = A100();
  design.power_split.memory = 0;
  const Issue dark = Derive(design, "d").issues.at(0);
  EXPECT_EQ(dark.path, "d.power_split.memory");
  // The fix removes the issue.
  design.power_split.memory = ParseJson(dark.fixes.at(0).change.value)->get<double>();
  EXPECT_TRUE(Derive(design, "d").issues.empty());
}

// The H100's shares with the whole die for its cores: 1 + 0.143 + 0.1 + 0.033 = 1.276 dies. The others leave 0.724, and
// all shares scaled are 1 / 1.276 = 0.7836, 0.1120, 0.0783 and 0.0258, rounded down.
TEST(Chip, SharesOfABudgetAreAtMostAllOfIt) {
  EXPECT_TRUE(OverspentBudgets(H100(), "d").empty());
  ChipDesign design = H100();
  design.area_split.core = 1;
  const Issues issues = OverspentBudgets(design, "d");
  ASSERT_EQ(issues.size(), 1U);
  EXPECT_EQ(issues[0].path, "d.area_split");
  EXPECT_NE(issues[0].message.find("core 1, l2 0.143, memory 0.1, network 0.033 are 1.276"), std::string::npos)
      << issues[0].message;
  ASSERT_EQ(issues[0].fixes.size(), 2U);
  EXPECT_EQ(issues[0].fixes[0], (Fix{{"d.area_split.core", "0.724"}}));
  EXPECT_EQ(
      issues[0].fixes[1],
      (Fix{{"d.area_split.core", "0.7836"},
           {{"d.area_split.l2", "0.112"}, {"d.area_split.memory", "0.0783"}, {"d.area_split.network", "0.0258"}}}));
  design.power_split = {0.5, 0.3, 0.15, 0.06};
  design.edge_split = {0.9, 0.9};
  EXPECT_EQ(OverspentBudgets(design, "d").size(), 3U);
  design.area_split = {0.7, 0.1, 0.1, 0.1};  // all of the die
  design.power_split = {0.1, 0.2, 0.3, 0.4};
  design.edge_split = {0.3, 0.7};
  EXPECT_TRUE(OverspentBudgets(design, "d").empty());
}

}  // namespace
}  // namespace slipstick
