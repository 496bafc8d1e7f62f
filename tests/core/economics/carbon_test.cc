// Embodied carbon by hand and against product carbon footprints, electricity at the meter, and which packages can carry
// HBM.
#include "core/economics/carbon.h"

#include <gtest/gtest.h>

#include "../preset.h"
#include "core/economics/device_bill.h"
#include "costs.h"

namespace slipstick {
namespace {

double Kilograms(const CostReport& report, const std::string& name) {
  for (const CarbonLine& line : report.carbon.lines) {
    if (line.name == name) return In(line.carbon, kKg);
  }
  ADD_FAILURE() << "no part " << name;
  return 0;
}

// 814 mm^2 at 4 nm and five stacks of 110 mm^2: 1,364 mm^2 of silicon on an interposer 1.1 times and a substrate 4
// times as large.
TEST(Carbon, PartsOfAnH100ByHand) {
  const CostReport report = CostOf({"cluster=dgx-h100"});
  EXPECT_NEAR(Kilograms(report, "memory"), 80 * 0.853, 1e-9);
  EXPECT_NEAR(Kilograms(report, "package carrier"), 15.004 * 0.720, 1e-9);
  EXPECT_NEAR(Kilograms(report, "package substrate"), 54.56 * 0.0325, 1e-9);
  EXPECT_NEAR(Kilograms(report, "packaging"), 0.150, 1e-9);
  EXPECT_NEAR(Kilograms(report, "board"), 109 * 0.0325, 1e-9);
  EXPECT_NEAR(Kilograms(report, "heat sink"), 0.700 * 2.4 * 15.1, 1e-9);
  EXPECT_NEAR(Kilograms(report, "voltage regulators"), 0.700 * 9.3, 1e-9);
  const double parts = Kilograms(report, "dies") + 68.24 + 10.80288 + 1.7732 + 0.15 + 3.5425 + 25.368 + 6.51;
  EXPECT_NEAR(Kilograms(report, "assembly and test"), 0.094 * parts, 1e-6);
  EXPECT_NEAR(In(report.carbon.embodied, kKg), 1.094 * parts, 1e-6);
}

// NVIDIA's HGX H100 and B200 with eight devices: 1,312 and 2,274 kg up to the gate (ISO 14067, 2025). An eighth of that
// includes its share of the baseboard and of the switches on it, which a device's bill does not. A100 SXM4 40 GB: 127.6
// kg (Falk et al., arXiv 2509.00093).
TEST(Carbon, ProductCarbonFootprints) {
  const auto of = [](const char* device) {
    return In(CostOf({"cluster=dgx-h100", std::string("cluster.device=") + device}).carbon.embodied, kKg);
  };
  EXPECT_GT(of("h100-sxm5-80gb"), 0.85 * 1312 / 8);
  EXPECT_LE(of("h100-sxm5-80gb"), 1312.0 / 8);
  EXPECT_NEAR(of("b200-sxm") / (2274.0 / 8), 1, 0.2);
  EXPECT_NEAR(of("a100-sxm4-40gb") / 127.6, 1, 0.25);
}

// Devices of several servers have a network between them.
TEST(Carbon, ADeviceBringsItsShareOfServerAndNetwork) {
  const CarbonCost carbon = CostOf({"cluster=dgx-h100", "cluster.devices=64"}).carbon;
  EXPECT_GT(carbon.server, Grams());
  EXPECT_GT(carbon.network, Grams());
  EXPECT_NEAR(carbon.of_system / (carbon.embodied + carbon.server + carbon.network), 1, 1e-12);
  // 0.82 of 700 W beside a device, at 3,000 kg per 3.3 kW. A server that works less is the same server.
  EXPECT_NEAR(In(carbon.server, kKg), 0.82 * 700 * 3000 / 3300, 1);
  const CarbonCost idle = CostOf({"cluster=dgx-h100", "cluster.devices=64", "cost.system.load=0.3"}).carbon;
  EXPECT_EQ(idle.server, carbon.server);
  EXPECT_EQ(idle.of_system, carbon.of_system);
  EXPECT_LT(idle.operation, carbon.operation);
}

TEST(Carbon, PartsAddUpForEveryKindOfDevice) {
  for (const char* device : {"h100-sxm5-80gb", "mi300x", "tpu-v4", "rtx-4090", "m2-ultra", "t4"}) {
    const CostReport report = CostOf({"cluster=dgx-h100", std::string("cluster.device=") + device});
    Grams sum;
    for (const CarbonLine& line : report.carbon.lines) sum += line.carbon;
    EXPECT_EQ(sum, report.carbon.embodied) << device;
  }
}

// 10.2 kW for eight devices of 700 W, at 0.75 of that and a PUE of 1.25: 1.194 kW at the meter per device that draws
// 525 W.
TEST(WallPower, ADeviceAtMeanLoadAgreesWithTheGpuHour) {
  const CostReport report = CostOf({"cluster=dgx-h100"});
  EXPECT_NEAR(report.wall.server.base(), 700 * 0.82 * 0.75, 1e-9);
  EXPECT_NEAR(((525 * kWatt + report.wall.server) * report.wall.pue).base(), 1194.375, 1e-6);
  EXPECT_NEAR(In(report.carbon.operation * (1 * kHour), kGram), 1.194375 * 380, 1e-6);
}

TEST(Package, OrganicSubstrateCannotCarryHbm) {
  const auto warning = [](const char* package) {
    DeviceBill bill = ScenarioOf({"cluster=dgx-h100"}).cost->device;
    bill.package = FromPreset<Package>(package);
    return CarrierWarning(bill);
  };
  for (const char* package : {"organic-mcm", "flip-chip", "board"})
    EXPECT_EQ(warning(package), "HBM3 needs a silicon interposer or bridge: an organic substrate cannot carry HBM")
        << package;
  for (const char* package :
       {"interposer", "bridge", "fan-out", "fan-out-chip-first", "stacked-hybrid", "stacked-microbump"})
    EXPECT_FALSE(warning(package)) << package;
  EXPECT_TRUE(CostOf({"cluster=dgx-h100", "cluster.device=rtx-4090"}).warnings.empty()) << "GDDR stands on the board";
}

}  // namespace
}  // namespace slipstick
