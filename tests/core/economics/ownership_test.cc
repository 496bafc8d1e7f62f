#include "core/economics/ownership.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/economics/network_cost.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/estimated_costs.h"
#include "costs.h"

namespace slipstick {
namespace {

// Cited: 50,000 $ all-in over three years with a fifth for operations is 2.3 $ per hour; a GB200 rack at 5 M$,
// likewise, 3.2 $.
TEST(Ownership, CitedDeviceHours) {
  SystemInputs system;
  system.host = 0 * kUsd;
  system.maintenance = 0.2 / 3;
  const auto hour = [&](Dollars all_in) {
    return In(PriceSystem(Cluster(), system, {}, all_in, {3 * kYear, {}}).device_second, kUsdPerHour);
  };
  EXPECT_NEAR(hour(50000 * kUsd), 2.3, 0.05 * 2.3);
  EXPECT_NEAR(hour(50000 * kUsd), 50000 * 1.2 / (3 * 8760), 1e-12);
  EXPECT_NEAR(hour(5e6 / 72 * kUsd), 3.2, 0.05 * 3.2);
}

// Racks without network and hall: 3.4 M$ (Bernstein, October 2025) and about 4 M$ (Morgan Stanley, May 2026).
TEST(Ownership, RacksCostWhatAnalystsSay) {
  const auto rack = [](const char* cluster) {
    const CostReport report = CostOf({cluster});
    return In(LineOf(report.system_parts, "devices") + LineOf(report.system_parts, "servers"), kMUsd);
  };
  EXPECT_NEAR(rack("cluster=gb200-nvl72"), 3.4, 0.05 * 3.4);
  EXPECT_NEAR(rack("cluster=gb300-nvl72"), 4.0, 0.05 * 4.0);
}

// The published sheet of August 2024: 49,248 $ per device all-in for 1,024 devices, 46,883 $ for 512. It has no links
// between rails.
TEST(Ownership, CapitalOfThePublishedSheet) {
  const auto capital = [](const char* devices) {
    const CostReport report =
        CostOf({"cluster=dgx-h100", std::string("cluster.devices=") + devices, "cost.system.switch_planes=8"});
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

// Power of the servers and their network at full load, derived from the electricity that is paid for.
double KilowattsOf(const std::string& cluster) {
  const CostReport report =
      CostOf({cluster, "cost.system.load=1", "cost.system.pue=1", "cost.electricity=1 $/kWh", "cost.lifetime=1 year"});
  return In(LineOf(report.system_parts, "electricity"), kUsd) / 8760;
}

struct PublishedPower {
  const char* cluster;
  double low, high;  // kW
  const char* source;
};
constexpr PublishedPower kPublishedPower[] = {
    {"cluster=gb300-nvl72", 120, 140, "introl.com 2025; Supermicro 132 to 140, Microsoft about 136 (2026)"},
    {"cluster=gb200-nvl72", 120, 120, "NVIDIA 2024"},
    {"cluster=dgx-b300", 14.5, 14.5, "NVIDIA documentation 2025"},
    {"cluster=dgx-b200", 14.3, 14.3, "DGX B200 user guide"},
    {"cluster=dgx-h100", 10.2, 10.2, "DGX H100 user guide"}};

TEST(Ownership, RacksAndServersDrawWhatIsPublished) {
  for (const PublishedPower& row : kPublishedPower) {
    const double power = KilowattsOf(row.cluster);
    EXPECT_GE(power, 0.85 * row.high) << row.cluster << ", " << row.source;
    EXPECT_LE(power, 1.15 * row.low) << row.cluster << ", " << row.source;
  }
  // Google at Hot Chips 2025: 9,216 chips, 10 MW.
  EXPECT_NEAR(KilowattsOf("cluster=single-tpu-v7") * 9216, 10'000, 0.15 * 10'000);
}

// SemiAnalysis (AMD vs NVIDIA inference benchmark, May 2025): 1.34 $ per hour for the owner of an MI300X, 1.53 $ for an
// MI325X.
TEST(Ownership, HoursOfAmdServersAreNearAnalystsOnes) {
  const auto hour = [](const char* cluster) { return In(CostOf({cluster}).device_second, kUsdPerHour); };
  EXPECT_NEAR(hour("cluster=hgx-mi300x"), 1.34, 0.15 * 1.34);
  EXPECT_NEAR(hour("cluster=hgx-mi325x"), 1.53, 0.15 * 1.53);
}

// A GB300 rack is one server: its NVLink is inside, and it needs no InfiniBand.
TEST(Ownership, ARackIsOneServer) {
  const Scenario rack = ScenarioOf({"cluster=gb300-nvl72"});
  EXPECT_EQ(rack.cost->system.devices_per_host, 72);
  EXPECT_EQ(LineOf(CostOf({"cluster=gb300-nvl72"}).system_parts, "network"), 0 * kUsd);
}

// A rack of 72 GB200s costs 1.1 M$ without them: eight of them pay for 8/72 of it, 122,222 $. A DGX H100 costs 42,000 $
// without its eight devices: one of them pays 5,250 $, and its hour costs as much as where all eight are used. The PC
// around a single card is paid for in full.
TEST(Ownership, AFewDevicesOfAClusterPayForTheirShareOfTheServers) {
  const auto in_use = [](const std::string& cluster, const std::string& devices) {
    const Result<Json> request =
        ReadRequest(R"({"version": 3})", {"model=llama-3.1-8b", "cluster=" + cluster, "training=null",
                                          "serving.mapping.tp=1", "serving.devices=" + devices});
    EXPECT_TRUE(request);
    const Result<Scenario> scenario = ParseScenario(*request);
    EXPECT_TRUE(scenario);
    return EvaluateCost(ClusterInUse(*scenario), *scenario->cost);
  };
  const auto servers = [](const CostReport& report) { return In(LineOf(report.system_parts, "servers"), kUsd); };
  EXPECT_NEAR(servers(in_use("gb200-nvl72", "8")), 1.1e6 * 8 / 72, 0.01);
  EXPECT_NEAR(servers(in_use("gb200-nvl72", "72")), 1.1e6, 0.01);
  EXPECT_NEAR(servers(in_use("dgx-h100", "1")), 5250, 0.01);
  EXPECT_NEAR(in_use("dgx-h100", "1").device_hour / in_use("dgx-h100", "8").device_hour, 1, 1e-12);
  EXPECT_NEAR(servers(in_use("single-rtx-4090", "1")), 1500, 0.01);
}

// 512 DGX H100 devices need 16 leaves and 8 spines of 36,000 $ and cables of 2,560 $ each. Eight of them pay 8/512 of
// that, and draw as much.
TEST(Ownership, AFewDevicesOfAClusterPayForTheirShareOfTheNetwork) {
  Cluster cluster = ScenarioOf({"cluster=dgx-h100", "cluster.devices=512"}).cluster;
  const CostInputs inputs = *ScenarioOf({"cluster=dgx-h100", "cluster.devices=512"}).cost;
  const auto network = [](const CostReport& report) { return In(LineOf(report.system_parts, "network"), kUsd); };
  const CostReport all = EvaluateCost(cluster, inputs);
  EXPECT_NEAR(network(all), 24 * 36000 + 512 * 2560, 0.01);
  cluster.installed = cluster.devices;
  cluster.devices = 8;
  const CostReport some = EvaluateCost(cluster, inputs);
  EXPECT_NEAR(network(some), network(all) * 8 / 512, 0.01);
  EXPECT_NEAR(some.wall.network / all.wall.network, 1, 1e-12);
  EXPECT_NEAR(some.device_hour / all.device_hour, 1, 1e-12);
}

// Devices at home or on a desk (a card in a PC, a laptop, a desktop box) need no building.
TEST(Ownership, ADeskHasNoBuilding) {
  for (const char* cluster : {"cluster=single-rtx-4090", "cluster=single-rtx-5090", "cluster=single-m4-max",
                              "cluster=laptop", "cluster=single-dgx-spark"}) {
    const CostReport report = CostOf({cluster});
    for (const char* line : {"power delivery", "cooling", "building", "maintenance"})
      EXPECT_EQ(LineOf(report.system_parts, line), 0 * kUsd) << cluster << " " << line;
  }
  // Apple and NVIDIA sell the whole computer for the price of the device.
  for (const char* cluster : {"cluster=single-m4-max", "cluster=laptop", "cluster=single-dgx-spark"})
    EXPECT_EQ(LineOf(CostOf({cluster}).system_parts, "servers"), 0 * kUsd) << cluster;
  // A DGX Spark has a power supply of 240 W; a Mac Studio with M3 Ultra draws 270 W at most (Apple support, 2025).
  EXPECT_LE(KilowattsOf("cluster=single-dgx-spark"), 0.240);
  EXPECT_NEAR(KilowattsOf("cluster=single-m3-ultra"), 0.270, 0.15 * 0.270);
}

TEST(Ownership, ASystemThatNoPresetDescribesIsAssumed) {
  const auto assumes_system = [](const std::vector<std::string>& assignments) {
    const std::vector<std::string> paths = EstimatedCosts(*ScenarioOf(assignments).cost);
    return std::find(paths.begin(), paths.end(), "cost.system") != paths.end();
  };
  for (const char* cluster : {"dgx-h100", "dgx-b300", "gb300-nvl72", "hgx-mi300x", "hgx-mi325x", "hgx-mi350x",
                              "hgx-mi355x", "hgx-h20", "tpu-v5p-pod", "single-tpu-v7", "trn2-48xlarge",
                              "single-trainium3", "gaudi3-hls3", "single-rtx-5090", "laptop", "single-dgx-spark"}) {
    EXPECT_FALSE(assumes_system({std::string("cluster=") + cluster})) << cluster;
  }
  EXPECT_TRUE(assumes_system({"cluster=dgx-v100"}));
  EXPECT_TRUE(assumes_system({"cluster=pcie5-server"}));
  EXPECT_FALSE(assumes_system({"cluster=dgx-v100", "cost.system.preset=dgx-a100"}));
}

TEST(Ownership, AnnuityPaysBackOneDollar) {  // equal yearly payments, discounted, add up to one dollar
  for (const double rate : {0.01, 0.08, 0.3}) {
    double worth = 0;
    for (int year = 1; year <= 7; ++year) worth += Annuity(rate, 7) * std::pow(1 + rate, -year);
    EXPECT_NEAR(worth, 1, 1e-13);
  }
  EXPECT_EQ(Annuity(0, 4), 0.25);
}

TEST(Network, TiersFollowThePlane) {  // up to 64, 2,048 and 65,536 endpoints with switches of 64 ports
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
