// Direct links and switches of a network level, counted by hand.
#include "core/economics/network_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/schema.h"
#include "core/base/units.h"
#include "core/hardware/grid.h"
#include "costs.h"

namespace slipstick {
namespace {

NetworkLevel Level(Topology topology, std::vector<Tally> dims = {}) {
  NetworkLevel level;
  level.topology = topology;
  level.dims = std::move(dims);
  level.bandwidth = 60 * kGBps;
  return level;
}

// As many sides of one part as a grid may have, and one more.
std::vector<Tally> SidesOfOneBefore(Count last) {
  std::vector<Tally> sides(kMaxSides, 1);
  sides.emplace_back(last);
  return sides;
}

struct CountedLinks {
  std::string name;
  NetworkLevel level;
  Count parts;
  double links, inside;  // in all; of a device inside
};

const std::vector<CountedLinks> kCounted{
    {"ring of 8", Level(Topology::kRing), 8, 8, 2},
    {"ring of 2 is one link", Level(Topology::kRing), 2, 1, 1},
    {"mesh 1 x 5", Level(Topology::kMesh, {5}), 5, 4, 2},
    {"mesh 4 x 4: 3 links in each of 4 rows and 4 columns", Level(Topology::kMesh, {4, 4}), 16, 24, 4},
    {"mesh 8 x 2: 7 in 2 rows, 1 in 8 columns", Level(Topology::kMesh, {8, 2}), 16, 22, 3},
    {"mesh 4 x 4 x 4: 3 in 16 lines along each of 3 sides", Level(Topology::kMesh, {4, 4, 4}), 64, 144, 6},
    {"mesh of 16 that states no sides is 4 x 4", Level(Topology::kMesh), 16, 24, 4},
    {"torus 4 x 4: 4 in each of 4 rows and 4 columns", Level(Topology::kTorus, {4, 4}), 16, 32, 4},
    {"torus 4 x 2: 4 in 2 rows, one in 4 columns", Level(Topology::kTorus, {4, 2}), 8, 12, 3},
    {"torus 8 x 8 x 8", Level(Topology::kTorus, {8, 8, 8}), 512, 1536, 6},
    {"torus of 8 behind 24 sides of one part", Level(Topology::kTorus, SidesOfOneBefore(8)), 8, 8, 2},
    {"hypercube of 8: 12 edges of a cube", Level(Topology::kHypercube), 8, 12, 3},
    {"hypercube of 64", Level(Topology::kHypercube), 64, 192, 6},
    {"fully connected, 4", Level(Topology::kFullyConnected), 4, 6, 3},
    {"fully connected, 8", Level(Topology::kFullyConnected), 8, 28, 7},
    {"one device has none", Level(Topology::kRing), 1, 0, 0},
};

TEST(NetworkCost, DirectLinksAreCounted) {
  for (const CountedLinks& row : kCounted) {
    const LinkCount links = CountLinks(row.level, row.parts);
    EXPECT_NEAR(static_cast<double>(row.parts) * links.mean / 2, row.links, 1e-9 * row.links) << row.name;
    EXPECT_DOUBLE_EQ(links.inside, row.inside) << row.name;
  }
}

// Each way of a link carries a device's 60 GB/s over the links of a device inside, at 2 $ per GB/s.
TEST(NetworkCost, DirectLinksArePricedByTheirBandwidth) {
  SystemInputs inputs;
  inputs.link_price = 2 * kUsdPerGBps;
  for (const CountedLinks& row : kCounted) {
    Cluster cluster;
    cluster.devices = row.parts;
    cluster.networks = {row.level};
    cluster.networks[0].size = row.parts;
    const double expected = row.parts > 1 ? row.links * 2 * (60 / row.inside) * 2 : 0;
    EXPECT_NEAR(PriceNetwork(cluster, inputs).links.base(), expected, 1e-9 * expected) << row.name;
  }
  // 4 x 4 of each, five times: 16 x 60 GB/s x 2 $ for a torus, three quarters of it for a mesh.
  const auto five = [&](Topology topology) {
    Cluster cluster;
    cluster.devices = 80;
    cluster.networks = {Level(topology, {4, 4})};
    cluster.networks[0].size = 16;
    return PriceNetwork(cluster, inputs).links.base();
  };
  EXPECT_DOUBLE_EQ(five(Topology::kTorus), 5 * 1920);
  EXPECT_DOUBLE_EQ(five(Topology::kMesh), 5 * 1440);
}

// Nodes of 8 devices with a mesh of 4 x 4 nodes between them: a mesh for each of a node's 8 devices.
TEST(NetworkCost, ANodesDevicesHaveAMeshEach) {
  Cluster cluster;
  cluster.devices = 128;
  cluster.networks = {Level(Topology::kSwitch), Level(Topology::kMesh, {4, 4})};
  cluster.networks[0].size = 8;
  cluster.networks[1].size = 16;
  SystemInputs inputs = Standard<SystemInputs>();
  inputs.devices_per_host = 8;
  inputs.link_price = 2 * kUsdPerGBps;
  EXPECT_DOUBLE_EQ(PriceNetwork(cluster, inputs).links.base(), 8 * 1440);
  cluster.networks[1].topology = Topology::kTorus;
  EXPECT_DOUBLE_EQ(PriceNetwork(cluster, inputs).links.base(), 8 * 1920);
}

// 2,048 devices in servers of 8: planes of 256 endpoints. HDR, 40 ports at 11,250 $: 13 leaves and 7 spines; NDR, 64
// ports at 36,000 $: 8 and 4; XDR, 144 ports at 162,000 $: 4 and 2. Cables of two tiers: 1,280, 2,560 and 5,120 $.
TEST(NetworkCost, AFasterGenerationCostsAndDrawsMore) {
  struct Generation {
    const char* network;
    double switches, switch_price, cables, switch_power, optics_power;
  };
  const Generation generations[]{{"infiniband-hdr", 8 * 20, 11250, 1280, 253, 12},
                                 {"infiniband-ndr", 8 * 12, 36000, 2560, 747, 17.5},
                                 {"infiniband-xdr", 8 * 6, 162000, 5120, 2360, 31}};
  Dollars before;
  for (const Generation& row : generations) {
    const Scenario scenario = ScenarioOf(
        {"cluster=dgx-b200", "cluster.devices=2048", std::string("cluster.networks.1=") + row.network, "version=3"});
    const NetworkCost cost = PriceNetwork(scenario.cluster, scenario.cost->system);
    EXPECT_EQ(cost.switch_count, row.switches) << row.network;
    EXPECT_NEAR(cost.switches.base(), row.switches * row.switch_price, 1) << row.network;
    EXPECT_NEAR(cost.cables.base(), 2048 * row.cables, 1) << row.network;
    EXPECT_NEAR(In(cost.power, kWatt), row.switches * row.switch_power + 2048 * 2 * row.optics_power, 1) << row.network;
    const Dollars all = EvaluateCost(scenario.cluster, *scenario.cost).system;
    EXPECT_GT(all, before * 1.001) << row.network;
    before = all;
  }
}

// Ports of 50 GB/s: 75 GB/s are one and a half, 12.5 GB/s a quarter.
TEST(NetworkCost, BandwidthIsBoughtInPorts) {
  const auto cables = [](const char* bandwidth) {
    const Scenario scenario = ScenarioOf(
        {"cluster=dgx-h100", "cluster.devices=512", std::string("cluster.networks.1.bandwidth=") + bandwidth});
    return PriceNetwork(scenario.cluster, scenario.cost->system).cables.base();
  };
  EXPECT_NEAR(cables("50 GB/s"), 512 * 1320, 1e-3);
  EXPECT_NEAR(cables("75 GB/s"), 1.5 * 512 * 1320, 1e-3);
  EXPECT_NEAR(cables("12.5 GB/s"), 0.25 * 512 * 1320, 1e-3);
}

// A server's price holds its own adapters: as dear per bandwidth at any speed. Those of
// 800 Gb/s cost 1,364 $ a device more, those of 200 Gb/s 682 $ less.
TEST(NetworkCost, OtherAdaptersCostTheirDifference) {
  const auto servers = [](const char* network) {
    return LineOf(CostOf({"cluster=dgx-h100", "cluster.devices=8", network}).system_parts, "servers").base();
  };
  EXPECT_NEAR(servers("cluster.networks.1=infiniband-ndr"), 42000, 1e-6);
  EXPECT_NEAR(servers("cluster.networks.1=infiniband-xdr"), 42000 + 8 * 1364, 1e-6);
  EXPECT_NEAR(servers("cluster.networks.1=infiniband-hdr"), 42000 - 8 * 682, 1e-6);
}

// 450 GB/s are in the price of a DGX H100; 825 GB/s more are 6.9 $ each, and draw 825e9 * 8 * 6.9 pJ = 45.5 W.
TEST(NetworkCost, BandwidthInsideAServerHasAPrice) {
  const auto of = [](const char* bandwidth) {
    return CostOf({"cluster=dgx-h100", "cluster.devices=64", std::string("cluster.networks.0.bandwidth=") + bandwidth});
  };
  const CostReport usual = of("450 GB/s"), wide = of("1275 GB/s");
  EXPECT_NEAR(LineOf(usual.system_parts, "servers").base(), 8 * 42000, 1e-6);
  EXPECT_NEAR(LineOf(wide.system_parts, "servers").base(), 8 * 42000 + 64 * 825 * 6.9, 1e-3);
  EXPECT_GT(wide.device_hour, usual.device_hour);
  const Dollars energy = LineOf(wide.system_parts, "electricity") - LineOf(usual.system_parts, "electricity");
  const double watts = 64 * 825e9 * 8 * 6.9e-12, years = 4, pue = 1.25;
  EXPECT_NEAR(energy.base(), watts / 1000 * 8760 * years * pue * 0.08, 1e-3 * energy.base());
  // A mesh of links has no switch: 4 $ each.
  const CostReport mesh = CostOf({"cluster=dgx-h100", "cluster.devices=64", "cluster.networks.0.bandwidth=1275 GB/s",
                                  "cluster.networks.0.topology=fully_connected"});
  EXPECT_NEAR(LineOf(mesh.system_parts, "servers").base(), 8 * 42000 + 64 * 825 * 4, 1e-3);
}

// Routers of 64 ports: 16 to devices, 32 to their group, 16 to other groups; of 63 likewise.
TEST(NetworkCost, ADragonflysRoutersAreCounted) {
  EXPECT_EQ(BuildDragonfly(64, 64).switches, 1);
  EXPECT_EQ(BuildDragonfly(1024, 64).switches, 64);
  EXPECT_EQ(BuildDragonfly(1000, 63).switches, 63);
}

}  // namespace
}  // namespace slipstick
