// Known faults of published tools: each reproduced behind its setting, and shown to be wrong.
#include <gtest/gtest.h>

#include "core/economics/compatibility/actuary.h"
#include "core/economics/compatibility/catch_tool.h"

namespace slipstick {
namespace {

constexpr actuary::Node kFive{16988 * kUsd, 0.11 * kPerCm2, 542 * kMUsd};

TEST(ActuaryFaults, PublishedFigures) {  // what the tool itself prints
  EXPECT_NEAR(actuary::PriceDie(814 * kMm2, kFive).good.base(), 695.31, 0.005);
  EXPECT_NEAR(actuary::PriceDie(814 * kMm2, kFive).yield, 0.4242, 5e-5);
  const auto total = [](actuary::Scheme scheme, Count chips, bool one_kind) {
    return actuary::PriceSplit({scheme, 800 * kMm2, chips, 0.1, one_kind}, kFive, {one_kind, true}).Total().base();
  };
  EXPECT_NEAR(total(actuary::Scheme::kMcm, 1, false), 698.58, 0.005);
  EXPECT_NEAR(total(actuary::Scheme::kMcm, 2, false), 516.24, 0.005);
  EXPECT_NEAR(total(actuary::Scheme::kMcm, 4, false), 401.42, 0.005);
  EXPECT_NEAR(total(actuary::Scheme::kFanOutChipLast, 4, true), 462.84, 0.005);
  EXPECT_NEAR(total(actuary::Scheme::kInterposer, 4, false), 559.37, 0.005);
}

TEST(ActuaryFaults, FourEqualDiesCostWhatFourKindsOfEqualDiesCost) {
  const actuary::Split kinds{actuary::Scheme::kInterposer, 800 * kMm2, 4, 0.1, false},
      one_kind{actuary::Scheme::kInterposer, 800 * kMm2, 4, 0.1, true};
  EXPECT_NEAR(actuary::PriceSplit(kinds, kFive, {}).Total() / actuary::PriceSplit(one_kind, kFive, {}).Total(), 1, 1e-14);
  const actuary::Settings as_tool{true, true};
  EXPECT_GT(actuary::PriceSplit(kinds, kFive, as_tool).Total(), actuary::PriceSplit(one_kind, kFive, as_tool).Total() + 8 * kUsd);
}

TEST(ActuaryFaults, FixedFanOutDesignIsNotPerArea) {
  const auto fixed = [](const actuary::Settings& settings) {
    const auto design = [&](double area) {
      return actuary::PricePackage(actuary::Scheme::kFanOutChipLast, {{area * kMm2, 2, kFive, false}}, settings).package_design;
    };
    return 2 * design(100) - design(200);  // what does not grow with the area
  };
  EXPECT_NEAR(In(fixed({}), kMUsd), 7.5, 1e-6);
  EXPECT_NEAR(fixed({false, true}).base(), 25000, 1);
}

TEST(CatchFaults, MachinesThatStandStillAreNotCheaper) {
  catch_tool::Process process;
  process.place_machine = process.bond_machine = 1.8e6 * kUsd;
  const Dollars right = catch_tool::AssemblyCost(process, 4, {}, {}), tool = catch_tool::AssemblyCost(process, 4, {}, {true, false, false});
  const Dollars always_running = (1.8e6 * kUsd / 5 + 1e5 * kUsd) * (30.0 * 4 / 31536000);
  EXPECT_NEAR(right / always_running, 1 / 0.9, 1e-12);  // idle tenth paid by the rest
  EXPECT_NEAR(tool / always_running, 0.9, 1e-12);       // idle tenth paid by nobody
}

TEST(CatchFaults, AssembledPartsBringTheirOwnQuality) {
  const catch_tool::Process process;
  const std::vector<catch_tool::Part> parts{{10 * kUsd, 0.99, 0.90}};  // good itself, spoilt by what was stacked on it
  const double right = catch_tool::AssemblyYield(process, 1, parts, 0, 0, {}, {});
  const double tool = catch_tool::AssemblyYield(process, 1, parts, 0, 0, {}, {false, true, false});
  EXPECT_NEAR(right, 0.90 * 0.999, 1e-12);
  EXPECT_NEAR(tool, 0.99 * 0.999, 1e-12);
}

TEST(CatchFaults, InterposerDefectsCostMoney) {
  catch_tool::GridSystem system;
  system.chip = {0.25024 * kUsdPerMm2, PerArea::FromBase(0.005), 0.67, 0.30, 2, 3e6 * kUsd};
  system.interposer = {0.021905 * kUsdPerMm2, PerArea::FromBase(1e-5), 0.3, 0.1, 2, 5e3 * kUsd};
  system.process.place_machine = system.process.bond_machine = 1.8e6 * kUsd;
  system.process.separation = system.process.edge = 0.1 * kMm;
  system.process.pitch = 0.01 * kMm;
  system.chiplets = 4;
  EXPECT_NEAR((catch_tool::PriceGrid(system, catch_tool::Settings::AsTool()).cost +
               catch_tool::PriceGrid(system, catch_tool::Settings::AsTool()).design)
                  .base(),
              446.2, 0.05);
  catch_tool::GridSystem worse = system;
  worse.interposer.defect_density *= 100;
  EXPECT_EQ(catch_tool::PriceGrid(worse, catch_tool::Settings::AsTool()).cost,
            catch_tool::PriceGrid(system, catch_tool::Settings::AsTool()).cost);
  EXPECT_GT(catch_tool::PriceGrid(worse, {}).cost, catch_tool::PriceGrid(system, {}).cost * 1.001);
}

TEST(CatchFaults, FiveNanometreWaferIsPricedTwice) {  // $/mm^2 of a 147 mm radius, multiplied by 150 mm: 17,688 $ for 16,988 $
  constexpr double kPi = 3.14159265358979323846;
  EXPECT_NEAR(0.25024 * kPi * 150 * 150, 17688, 1);
  EXPECT_NEAR(0.25024 * kPi * 147 * 147, 16988, 1);
}

}  // namespace
}  // namespace slipstick
