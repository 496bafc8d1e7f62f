#include "core/economics/ownership.h"

#include <gtest/gtest.h>

#include "core/economics/network_cost.h"
#include "costs.h"

namespace slipstick {
namespace {

// Cited: 50,000 $ all-in, three years, a fifth for operations: 2.3 $; a GB200 rack at 5 M$, likewise: 3.2 $.
TEST(Ownership, CitedDeviceHours) {
  OwnershipInputs h100;
  h100.pue = 1.25;
  h100.capital = 50000 * kUsd;
  h100.years = 3;
  h100.upkeep = 0.2 / 3;
  EXPECT_NEAR(In(DeviceHour(h100), kUsdPerHour), 2.3, 0.05 * 2.3);
  EXPECT_NEAR(In(DeviceHour(h100), kUsdPerHour), 50000 * 1.2 / (3 * 8760), 1e-12);
  OwnershipInputs gb200 = h100;
  gb200.capital = 5e6 / 72 * kUsd;
  EXPECT_NEAR(In(DeviceHour(gb200), kUsdPerHour), 3.2, 0.05 * 3.2);
}

// The same figures from whole clusters of the catalogue: their devices, servers, network and halls.
TEST(Ownership, ClustersMatchTheCitedGpuHours) {
  const std::vector<std::string> as_cited{"cost.lifetime=3 year", "cost.system.cost_of_capital=0",
                                          "cost.electricity=0 $/kWh", "cost.system.maintenance=6.6667 %",
                                          "cost.system.utilisation=1"};
  std::vector<std::string> h100 = as_cited, gb200 = as_cited;
  h100.insert(h100.begin(), {"cluster=dgx-h100", "cluster.devices=1024"});
  gb200.insert(gb200.begin(), {"cluster=gb200-nvl72", "cluster.devices=1152"});
  const CostReport h = CostOf(h100), g = CostOf(gb200);
  EXPECT_NEAR(In(h.device_second, kUsdPerHour), 2.3, 0.05 * 2.3);
  EXPECT_NEAR(In(g.device_second, kUsdPerHour), 3.2, 0.05 * 3.2);
}

// The published sheet of August 2024: 49,248 $ a device all-in for 1,024 devices, 46,883 $ for 512.
TEST(Ownership, CapitalOfThePublishedSheet) {
  const auto capital = [](const char* devices) {
    const CostReport report = CostOf({"cluster=dgx-h100", std::string("cluster.devices=") + devices});
    Dollars sum;
    for (const char* line : {"devices", "servers", "network", "power delivery", "cooling", "building"})
      sum += LineOf(report.system_parts, line);
    return sum;
  };
  EXPECT_NEAR(capital("1024") / (1024 * 49248 * kUsd), 1, 0.005);
  EXPECT_NEAR(capital("512") / (512 * 46883 * kUsd), 1, 0.005);
}

// Cited: electricity of 1,024 devices over five years, 0.7 and 1.0 kW at 70 % load, PUE 1.2, 0.08 $/kWh: 2.11 and 3.01
// M$.
TEST(Ownership, CitedElectricity) {
  const auto electricity = [](const char* tdp) {
    const CostReport report =
        CostOf({"cluster=dgx-h100", "cluster.devices=1024", std::string("cluster.device.tdp=") + tdp,
                "cluster.networks.1.port.switch_power=0 W", "cluster.networks.1.port.optics_power=0 W",
                "cost.system.host_power=1", "cost.system.load=0.7", "cost.system.pue=1.2", "cost.lifetime=5 year"});
    return In(LineOf(report.system_parts, "electricity"), kMUsd);
  };
  EXPECT_NEAR(electricity("700 W"), 2.1098, 5e-5);
  EXPECT_NEAR(electricity("1000 W"), 3.0140, 5e-5);
}

TEST(Ownership, AnnuityPaysBackOneDollar) {  // paid level over the years, discounted, it is a dollar
  for (const double rate : {0.01, 0.08, 0.3}) {
    double worth = 0;
    for (int year = 1; year <= 7; ++year) worth += Annuity(rate, 7) * std::pow(1 + rate, -year);
    EXPECT_NEAR(worth, 1, 1e-13);
  }
  EXPECT_EQ(Annuity(0, 4), 0.25);
}

TEST(Network, TiersFollowThePlane) {  // 64 ports: up to 64, 2,048 and 65,536 endpoints
  EXPECT_EQ(BuildTree(64, 64).tiers, 1);
  EXPECT_EQ(BuildTree(65, 64).tiers, 2);
  EXPECT_EQ(BuildTree(2048, 64).tiers, 2);
  EXPECT_EQ(BuildTree(2048, 64).switches, 96);
  EXPECT_EQ(BuildTree(4096, 64).tiers, 3);
  EXPECT_EQ(BuildTree(4096, 64).switches, 320);
  EXPECT_EQ(BuildTree(65536, 64).tiers, 3);
}

TEST(Network, OversubscriptionSavesSwitches) {
  // A dragonfly of 64-port routers: 16 ports to devices, 32 to the group, 16 to other groups (Kim et al., 2008).
  EXPECT_EQ(BuildDragonfly(64, 64).switches, 1);
  EXPECT_EQ(BuildDragonfly(1024, 64).switches, 64);
  EXPECT_EQ(BuildDragonfly(65536, 64).switches, 4096);
  EXPECT_LT(BuildDragonfly(65536, 64).switches, BuildTree(65536, 64).switches);
  for (const Count n : {128, 500, 2048, 10000})
    EXPECT_LT(BuildTree(n, 64, 3).switches, BuildTree(n, 64, 1).switches) << n;
}

}  // namespace
}  // namespace slipstick
