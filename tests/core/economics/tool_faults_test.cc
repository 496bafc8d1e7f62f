// Known faults of published tools: each is reproduced behind its setting and shown to be wrong.
#include <gtest/gtest.h>

#include "tests/support/cost_tools/actuary.h"
#include "tests/support/cost_tools/catch_tool.h"
#include "tests/support/cost_tools/eco_chip.h"
#include "tests/support/cost_tools/gross_dies.h"
#include "tests/support/cost_tools/ttm_cas.h"

namespace slipstick {
namespace {

constexpr actuary::Node kFive{16988 * kUsd, 0.11 * kPerCm2, 542 * kMUsd};

TEST(ActuaryFaults, PublishedFigures) {  // as the tool prints them
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
  EXPECT_NEAR(actuary::PriceSplit(kinds, kFive, {}).Total() / actuary::PriceSplit(one_kind, kFive, {}).Total(), 1,
              1e-14);
  const actuary::Settings as_tool{true, true};
  EXPECT_GT(actuary::PriceSplit(kinds, kFive, as_tool).Total(),
            actuary::PriceSplit(one_kind, kFive, as_tool).Total() + 8 * kUsd);
}

TEST(ActuaryFaults, FixedFanOutDesignIsNotPerArea) {
  const auto fixed = [](const actuary::Settings& settings) {
    const auto design = [&](double area) {
      return actuary::PricePackage(actuary::Scheme::kFanOutChipLast, {{area * kMm2, 2, kFive, false}}, settings)
          .package_design;
    };
    return 2 * design(100) - design(200);  // the part that does not grow with the area
  };
  EXPECT_NEAR(In(fixed({}), kMUsd), 7.5, 1e-6);
  EXPECT_NEAR(fixed({false, true}).base(), 25000, 1);
}

TEST(CatchFaults, MachinesThatStandStillAreNotCheaper) {
  catch_tool::Process process;
  process.place_machine = process.bond_machine = 1.8e6 * kUsd;
  const Dollars right = catch_tool::AssemblyCost(process, 4, {}, {}),
                tool = catch_tool::AssemblyCost(process, 4, {}, {true, false, false});
  const Dollars always_running = (1.8e6 * kUsd / 5 + 1e5 * kUsd) * (30.0 * 4 / 31536000);
  EXPECT_NEAR(right / always_running, 1 / 0.9, 1e-12);  // the hours in use pay for the idle tenth
  EXPECT_NEAR(tool / always_running, 0.9, 1e-12);       // the fault: the idle tenth is free
}

TEST(CatchFaults, AssembledPartsBringTheirOwnQuality) {
  const catch_tool::Process process;
  const std::vector<catch_tool::Part> parts{{10 * kUsd, 0.99, 0.90}};  // a good part, spoilt by what was stacked on it
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

TEST(CatchFaults,
     FiveNanometreWaferIsPricedTwice) {  // the fault: $/mm^2 of a radius of 147 mm times 150 mm: 17,688 $ for 16,988 $
  constexpr double kPi = 3.14159265358979323846;
  EXPECT_NEAR(0.25024 * kPi * 150 * 150, 17688, 1);
  EXPECT_NEAR(0.25024 * kPi * 147 * 147, 16988, 1);
}

// A node without scaling, and two chips of 100 mm^2 on it.
eco_chip::Node PlainNode() {
  eco_chip::Node node;
  node.carbon = GramsPerArea::FromBase(10);
  node.defect_density = 0.2 * kPerCm2;
  node.transistors = 1e8 * kPerMm2;
  node.gates_per_hour = 1000;
  node.wiring_share = 0.5;
  return node;
}
eco_chip::Bill PlainBill(eco_chip::Scheme scheme, const eco_chip::Settings& settings, double iterations = 90,
                         double scale = 1) {
  eco_chip::Node node = PlainNode();
  node.area_scale = {scale, scale, scale};
  eco_chip::Package package;
  package.scheme = scheme;
  package.carrier = package.bridge = PlainNode();
  eco_chip::Product product;
  product.iterations = iterations;
  const eco_chip::Chip chip{eco_chip::Circuit::kLogic, 100 * kMm2 / scale, node};
  return eco_chip::Price({chip, chip}, package, product, settings);
}
eco_chip::Settings Only(bool eco_chip::Settings::* fault) {
  eco_chip::Settings settings;
  settings.*fault = true;
  return settings;
}

TEST(EcoChipFaults, TwiceTheIterationsTwiceTheDesign) {
  const auto design = [](double iterations, const eco_chip::Settings& settings) {
    return PlainBill(eco_chip::Scheme::kRdl, settings, iterations).chips[0].design;
  };
  EXPECT_NEAR(design(180, {}) / design(90, {}), 2, 1e-12);
  EXPECT_EQ(design(180, Only(&eco_chip::Settings::always_90_iterations)), design(90, {}));
}

TEST(EcoChipFaults, GoodDiesCarryTheWholeWafer) {
  const SquareMillimetres wafer = 70685.83470577035 * kMm2;  // pi/4 300^2
  const double dies = std::floor(GrossLessEdge(100 * kMm2, 150 * kMm)),
               good = eco_chip::DieYield(100 * kMm2, 0.2 * kPerCm2);
  EXPECT_NEAR(PlainBill(eco_chip::Scheme::kRdl, {}).chips[0].manufacture.base() * dies * good, 10 * wafer.base(), 1e-6);
  EXPECT_LT(PlainBill(eco_chip::Scheme::kRdl, Only(&eco_chip::Settings::rim_of_all_dies)).chips[0].manufacture.base() *
                dies * good,
            10 * wafer.base());
}

TEST(EcoChipFaults, WiresAreLessEasilySpoiltThanTransistors) {
  // 200 mm^2 in a floor plan of 2 x (14.14 x 7.07) with 0.5 mm between: 14.6421 x 14.1421 mm.
  const double area = 14.142135623730951 * 14.642135623730951;
  const auto carrier = [&](double density) { return 10 * area * std::pow(1 + density * area / 1000, 10) * 0.5 / 0.99; };
  const auto without_routers = [](const eco_chip::Settings& settings) {
    return (PlainBill(eco_chip::Scheme::kPassive, settings).package.manufacture -
            PlainBill(eco_chip::Scheme::kPassive, {}).package.manufacture)
        .base();
  };
  EXPECT_NEAR(without_routers(Only(&eco_chip::Settings::carrier_like_logic)), carrier(0.2) - carrier(0.05), 1e-8);
}

TEST(EcoChipFaults, BridgesFailOneByOne) {
  const auto package = [](const eco_chip::Settings& settings) {
    return PlainBill(eco_chip::Scheme::kBridge, settings).package.manufacture;
  };
  // The chips share an edge of 14.1 mm: two bridges of 25 mm^2, at a quarter of the density.
  const double one = std::pow(1 + 0.05 * 25 / 1000, 10), both = std::pow(1 + 0.05 * 50 / 1000, 10);
  EXPECT_NEAR((package(Only(&eco_chip::Settings::bridges_as_one)) - package({})).base(),
              10 * 50 * 0.5 * (both - one) / 0.99, 1e-9);
}

TEST(EcoChipFaults, RoutersFailOneByOne) {
  const auto package = [](const eco_chip::Settings& settings) {
    return PlainBill(eco_chip::Scheme::kPassive, settings).package.manufacture;
  };
  const double one = std::pow(1 + 0.2 * 0.33 / 1000, 10), both = std::pow(1 + 0.2 * 0.66 / 1000, 10);
  EXPECT_NEAR((package(Only(&eco_chip::Settings::routers_as_one)) - package({})).base(),
              10 * 0.66 * (both - one) / 0.99, 1e-9);
}

TEST(EcoChipFaults, ViasOfAStackDoNotGrowWithTheNodeTwice) {
  const auto stack = [](double scale, const eco_chip::Settings& settings) {
    return PlainBill(eco_chip::Scheme::kStacked, settings, 90, scale).package.manufacture.base();
  };
  // 400 x 400 vias of 0.005 mm in 10 mm x 10 mm: 4 mm^2 a chip, whatever the area would be at 7 nm.
  const auto made = [](double area) { return 10 * area * std::pow(1 + 0.2 * area / 1000, 10); };
  const auto routers = [](double scale) { return 2 * 10 * 0.33 * scale * std::pow(1 + 0.2 * 0.33 * scale / 1000, 10); };
  EXPECT_NEAR(stack(1, {}), (2 * (made(104) - made(100)) + routers(1)) / (0.99 * 0.99), 1e-6);
  EXPECT_NEAR(stack(2, {}), (2 * (made(104) - made(100)) + routers(2)) / (0.99 * 0.99), 1e-6);
  EXPECT_NEAR(stack(2, Only(&eco_chip::Settings::stack_scaled_twice)),
              (2 * (made(208) - made(200)) + routers(2)) / (0.99 * 0.99), 1e-6);
}

ttm_cas::Process FabProcess() {
  ttm_cas::Process process;
  process.wafer_price = 10000 * kUsd;
  process.transistors = 1e8 * kPerMm2;
  process.defect_density = 0.001 * kPerMm2;
  process.latency = 18 * 7 * kDay;
  process.wafers = 100 / (1 * kHour);
  return process;
}

TEST(TtmCasFaults, AWaferIsBoughtWhole) {
  ttm_cas::Run run;
  run.transistors = 1e10;  // 100 mm^2: 578 dies of 0.907 a wafer
  run.chips = 10;
  const Dollars right = ttm_cas::Price(FabProcess(), run, {})->cost,
                tool = ttm_cas::Price(FabProcess(), run, ttm_cas::Settings::AsTool())->cost;
  const double part = 10 / (ttm_cas::DiesPerWafer(100 * kMm2) * ttm_cas::DieYield(100 * kMm2, 0.001 * kPerMm2));
  EXPECT_NEAR((right - tool).base(), 10000 * (1 - part), 1e-6);
}

TEST(TtmCasFaults, AFabWithoutWafersGivesNoDate) {
  ttm_cas::Process process = FabProcess();
  process.wafers = Hertz();
  EXPECT_FALSE(ttm_cas::Price(process, {}, {}).has_value());
}

}  // namespace
}  // namespace slipstick
