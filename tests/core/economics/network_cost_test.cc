// Direct links and switches of a network level, counted by hand.
#include "core/economics/network_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
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

// The most sides that a grid may have, all of one part, and one more of `last` parts.
std::vector<Tally> SidesOfOneBefore(Count last) {
  std::vector<Tally> sides(kMaxSides, 1);
  sides.emplace_back(last);
  return sides;
}

struct CountedLinks {
  std::string name;
  NetworkLevel level;
  Count parts;
  double links, inside;  // links of the level; links of a device inside the grid
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

// Nodes of 8 devices in a mesh of 4 x 4: each of a node's 8 devices is in a mesh with its peers of the other nodes.
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

// 2,048 devices. HDR, 40 ports at 11,250 $: 103 leaves, 103 above them and 52 at the top; NDR, 64 ports at 36,000 $: 64
// and 32; XDR, 144 ports at 162,000 $: 29 leaves of 72 uplinks, evenly over 18 spines. Cables of three tiers of HDR cost
// 1,900 $, of two tiers of NDR and XDR 2,560 and 5,120 $.
TEST(NetworkCost, AFasterGenerationCostsAndDrawsMore) {
  struct Generation {
    const char* network;
    double switches, tiers, switch_price, cables, switch_power, optics_power;
  };
  const Generation generations[]{{"infiniband-hdr", 258, 3, 11250, 1900, 253, 12},
                                 {"infiniband-ndr", 96, 2, 36000, 2560, 747, 17.5},
                                 {"infiniband-xdr", 47, 2, 162000, 5120, 2360, 31}};
  Dollars before;
  for (const Generation& row : generations) {
    const Scenario scenario = ScenarioOf(
        {"cluster=dgx-b200", "cluster.devices=2048", std::string("cluster.networks.1=") + row.network, "version=3"});
    const NetworkCost cost = PriceNetwork(scenario.cluster, scenario.cost->system);
    EXPECT_EQ(cost.switch_count, row.switches) << row.network;
    EXPECT_NEAR(cost.switches.base(), row.switches * row.switch_price, 1) << row.network;
    EXPECT_NEAR(cost.cables.base(), 2048 * row.cables, 1) << row.network;
    EXPECT_NEAR(In(cost.power, kWatt), row.switches * row.switch_power + 2048 * row.tiers * row.optics_power, 1)
        << row.network;
    const Dollars all = EvaluateCost(scenario.cluster, *scenario.cost).system;
    EXPECT_GT(all, before * 1.001) << row.network;
    before = all;
  }
}

// Ports have 50 GB/s: 75 GB/s are one and a half of them. At 12.5 GB/s, a quarter, 512 devices need 128 ports, still
// two tiers.
TEST(NetworkCost, BandwidthIsBoughtInPorts) {
  const auto cables = [](const char* bandwidth) {
    const Scenario scenario = ScenarioOf(
        {"cluster=dgx-h100", "cluster.devices=512", std::string("cluster.networks.1.bandwidth=") + bandwidth});
    return PriceNetwork(scenario.cluster, scenario.cost->system).cables.base();
  };
  EXPECT_NEAR(cables("50 GB/s"), 512 * 2560, 1e-3);
  EXPECT_NEAR(cables("75 GB/s"), 1.5 * 512 * 2560, 1e-3);
  EXPECT_NEAR(cables("12.5 GB/s"), 0.25 * 512 * 2560, 1e-3);
}

// 128 devices with a port each need six switches of 64 ports in two tiers; where four share a port, one joins all.
TEST(NetworkCost, DevicesThatShareAPortNeedFewerSwitches) {
  const auto of = [](const char* bandwidth) {
    const Scenario scenario = ScenarioOf(
        {"cluster=dgx-h100", "cluster.devices=128", std::string("cluster.networks.1.bandwidth=") + bandwidth});
    return PriceNetwork(scenario.cluster, scenario.cost->system);
  };
  EXPECT_EQ(of("50 GB/s").switch_count, 6);
  EXPECT_EQ(of("12.5 GB/s").switch_count, 1);
  EXPECT_EQ(of("12.5 GB/s").tiers, 1);
  EXPECT_EQ(of("100 GB/s").switch_count, 12);
}

struct Published {
  const char *system, *network;
  Count devices;
  double planes, switches, tiers;
};
// Counts of NVIDIA's DGX SuperPOD reference architectures (docs.nvidia.com/dgx-superpod, read November 2026) and of
// DeepSeek.
const std::vector<Published> kPublished{
    // H100, table 4: 31 nodes per scalable unit; leaves and spines.
    {"dgx-h100", "infiniband-ndr", 248, 1, 8 + 4, 2},
    {"dgx-h100", "infiniband-ndr", 504, 1, 16 + 8, 2},
    {"dgx-h100", "infiniband-ndr", 760, 1, 24 + 16, 2},
    {"dgx-h100", "infiniband-ndr", 1016, 1, 32 + 16, 2},
    // B200, larger component counts: leaves, spines and cores.
    {"dgx-b200", "infiniband-ndr", 512, 1, 16 + 8, 2},
    {"dgx-b200", "infiniband-ndr", 2048, 1, 64 + 32, 2},
    {"dgx-b200", "infiniband-ndr", 4096, 1, 128 + 128 + 64, 3},
    {"dgx-b200", "infiniband-ndr", 16384, 1, 512 + 512 + 256, 3},
    // B300 with XDR: 72 nodes per scalable unit, up to 1,296 nodes.
    {"dgx-b300", "infiniband-xdr", 576, 1, 8 + 4, 2},
    {"dgx-b300", "infiniband-xdr", 2304, 1, 32 + 18, 2},
    {"dgx-b300", "infiniband-xdr", 4608, 1, 64 + 36, 2},
    {"dgx-b300", "infiniband-xdr", 10368, 1, 144 + 72, 2},
    // Zhao et al., Insights into DeepSeek-V3, ISCA 2025, table 3: trees of two tiers, of two tiers in eight planes, and
    // of three tiers.
    {"dgx-h100", "infiniband-ndr", 2048, 1, 96, 2},
    {"dgx-h100", "infiniband-ndr", 16384, 8, 768, 2},
    {"dgx-h100", "infiniband-ndr", 65536, 1, 5120, 3},
};

TEST(NetworkCost, SwitchesOfReferenceArchitectures) {
  for (const Published& row : kPublished) {
    const Scenario scenario =
        ScenarioOf({std::string("cluster=") + row.system, "cluster.devices=" + std::to_string(row.devices),
                    std::string("cluster.networks.1=") + row.network, "cluster.networks.1.size=8192",
                    "cost.system.switch_planes=" + std::to_string(static_cast<int>(row.planes)), "version=3"});
    const NetworkCost cost = PriceNetwork(scenario.cluster, scenario.cost->system);
    EXPECT_EQ(cost.switch_count, row.switches) << row.system << " " << row.devices;
    EXPECT_EQ(cost.tiers, row.tiers) << row.system << " " << row.devices;
  }
}

// DGX B300 on Spectrum-X: each GPU has 400 Gb/s in each of two trees of switches with 128 such ports.
TEST(NetworkCost, ADevicesPortsAreInTreesOfTheirOwn) {
  for (const auto& [devices, switches] : {std::pair(512, 16 + 8), {2048, 64 + 32}, {8192, 256 + 128}}) {
    const Scenario scenario =
        ScenarioOf({"cluster=dgx-b300", "cluster.devices=" + std::to_string(devices), "cluster.networks.1=ethernet-400",
                    "cluster.networks.1.bandwidth=100 GB/s", "cluster.networks.1.port.switch_ports=128", "version=3"});
    EXPECT_EQ(PriceNetwork(scenario.cluster, scenario.cost->system).switch_count, switches) << devices;
  }
}

// A server's price includes its own adapters. Adapters cost the same per bandwidth at any speed: those of 800 Gb/s cost
// 1,364 $ more per device, those of 200 Gb/s 682 $ less.
TEST(NetworkCost, OtherAdaptersCostTheirDifference) {
  const auto servers = [](const char* network) {
    return LineOf(CostOf({"cluster=dgx-h100", "cluster.devices=8", network}).system_parts, "servers").base();
  };
  EXPECT_NEAR(servers("cluster.networks.1=infiniband-ndr"), 42000, 1e-6);
  EXPECT_NEAR(servers("cluster.networks.1=infiniband-xdr"), 42000 + 8 * 1364, 1e-6);
  EXPECT_NEAR(servers("cluster.networks.1=infiniband-hdr"), 42000 - 8 * 682, 1e-6);
}

// A second level of switches is reached through the adapters of the first.
TEST(NetworkCost, AnOuterLevelNeedsNoAdapters) {
  const auto servers = [](const std::vector<std::string>& more) {
    std::vector<std::string> all{"cluster=dgx-h100", "cluster.devices=1024", "cluster.networks.1.size=64"};
    all.insert(all.end(), more.begin(), more.end());
    return LineOf(CostOf(all).system_parts, "servers").base();
  };
  EXPECT_NEAR(servers({}), 128 * 42000, 1e-6);
  EXPECT_NEAR(servers({R"(cluster.networks.2={"preset": "infiniband-ndr", "size": 2, "bandwidth": "25 GB/s"})"}),
              128 * 42000, 1e-6);
}

// A third level that joins nothing has no adapters, whatever its bandwidth.
TEST(NetworkCost, ALevelThatJoinsNothingCostsNothing) {
  const auto system = [](const char* more) {
    return LineOf(CostOf({"cluster=dgx-h100", "cluster.devices=64", more}).system_parts, "servers").base();
  };
  EXPECT_NEAR(system("cluster.networks.2.size=4"), system("cluster.networks.1.size=1024"), 1e-6);
}

// 450 GB/s are in the price of a DGX H100. Each of 825 GB/s more costs 6.9 $, and they draw 825e9 * 8 * 6.9 pJ = 45.5
// W.
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
  // A mesh has no switch: links cost 4 $ each.
  const CostReport mesh = CostOf({"cluster=dgx-h100", "cluster.devices=64", "cluster.networks.0.bandwidth=1275 GB/s",
                                  "cluster.networks.0.topology=fully_connected"});
  EXPECT_NEAR(LineOf(mesh.system_parts, "servers").base(), 8 * 42000 + 64 * 825 * 4, 1e-3);
}

// Routers of 64 ports use 16 for devices, 32 for their group and 16 for other groups; routers of 63 ports likewise.
TEST(NetworkCost, ADragonflysRoutersAreCounted) {
  EXPECT_EQ(BuildDragonfly(64, 64).switches, 1);
  EXPECT_EQ(BuildDragonfly(1024, 64).switches, 64);
  EXPECT_EQ(BuildDragonfly(1000, 63).switches, 63);
}

// Links between switches: Zhao et al., Insights into DeepSeek-V3, ISCA 2025, table 3.
TEST(NetworkCost, LinksBetweenSwitchesAreThoseOfPublishedNetworks) {
  const auto between = [](const SwitchTree& tree, double endpoints) { return endpoints * (tree.links - 1); };
  EXPECT_DOUBLE_EQ(between(BuildTree(2048, 64), 2048), 2048);
  EXPECT_DOUBLE_EQ(between(BuildTree(65536, 64), 65536), 131072);
  EXPECT_DOUBLE_EQ(between(BuildDragonfly(261632, 64), 261632), 384272);
}

// NDR has one link per port and tier. The first with its cables and optics costs 1,320 $, each further one 1,240 $.
struct CabledNetwork {
  const char* name;
  std::vector<std::string> assignments;
  double devices, links, tiers;
};
TEST(NetworkCost, EachLinkHasACableAndItsOptics) {
  const std::vector<CabledNetwork> rows{
      {"one switch", {"cluster.devices=64"}, 64, 1, 1},
      {"two tiers", {"cluster.devices=1024"}, 1024, 2, 2},
      {"three tiers", {"cluster.devices=65536"}, 65536, 3, 3},
      {"four tiers", {"cluster.devices=131072"}, 131072, 4, 4},
      {"an eighth of the links leaves the leaves",
       {"cluster.devices=1024", "cluster.networks.1.topology=fat_tree", "cluster.networks.1.oversubscription=8"},
       1024,
       1 + 1 / 8.0,
       2},
      {"a router of a dragonfly: 16 devices, 31 neighbors, 16 other groups",
       {"cluster.devices=1024", "cluster.networks.1.topology=dragonfly"},
       1024,
       1 + (31 + 16) / 2.0 / 16,
       2}};
  for (const CabledNetwork& row : rows) {
    std::vector<std::string> all{"cluster=dgx-h100", "cluster.networks.1.size=32768",
                                 "cluster.networks.1.port.switch_power=0 W"};
    all.insert(all.end(), row.assignments.begin(), row.assignments.end());
    const Scenario scenario = ScenarioOf(all);
    const NetworkCost cost = PriceNetwork(scenario.cluster, scenario.cost->system);
    EXPECT_EQ(cost.tiers, row.tiers) << row.name;
    EXPECT_NEAR(cost.cables.base(), row.devices * (1320 + 1240 * (row.links - 1)), 1e-3) << row.name;
    EXPECT_NEAR(In(cost.power, kWatt), row.devices * row.links * 17.5, 1e-3) << row.name;
  }
}

// 1,024 devices. UALink of 100 GB/s draws 6.9 pJ per bit. A torus of NDR needs half of the optics of 17.5 W that a
// device's 50 GB/s have. A mesh of 4 x 4 x 8 nodes has 3, 3 and 7 links along its sides where the torus has 4, 4 and 8.
TEST(NetworkCost, LinksBetweenServersDrawPowerWithoutSwitchesToo) {
  const auto watts = [](const char* assignment) {
    const Scenario scenario = ScenarioOf({"cluster=dgx-h100", "cluster.devices=1024", assignment, "version=3"});
    return In(PriceNetwork(scenario.cluster, scenario.cost->system).power, kWatt);
  };
  EXPECT_NEAR(watts("cluster.networks.1=ualink-1.0"), 1024 * 100e9 * 8 * 6.9e-12, 1e-6);
  EXPECT_NEAR(watts("cluster.networks.1.topology=torus"), 1024 * 17.5 / 2, 1e-6);
  EXPECT_NEAR(watts("cluster.networks.1.topology=mesh"), 1024 * 17.5 / 2 * (3 / 4.0 + 3 / 4.0 + 7 / 8.0) / 3, 1e-6);
}

// A server of eight devices has at most eight planes, since it forwards the traffic of other planes. Each plane has 128
// ports, four leaves and two spines.
TEST(NetworkCost, APlaneReachesEveryServer) {
  const auto switches = [](const char* planes) {
    const Scenario scenario = ScenarioOf({"cluster=dgx-h100", "cluster.devices=1024", planes});
    return PriceNetwork(scenario.cluster, scenario.cost->system).switch_count.base();
  };
  EXPECT_EQ(switches("cost.system.switch_planes=8"), 8 * (4 + 2));
  EXPECT_EQ(switches("cost.system.switch_planes=2048"), 8 * (4 + 2));
}

// Oversubscription slows only a fat tree, so it saves cost only there.
TEST(NetworkCost, OnlyAFatTreeSavesByOversubscription) {
  const auto switches = [](const char* topology, const char* ratio) {
    const Scenario scenario =
        ScenarioOf({"cluster=dgx-h100", "cluster.devices=1024", std::string("cluster.networks.1.topology=") + topology,
                    std::string("cluster.networks.1.oversubscription=") + ratio});
    return PriceNetwork(scenario.cluster, scenario.cost->system).switch_count.base();
  };
  // Switches of 64 ports: 32 up and 32 down, or 8 up and 56 down with 128 links to two spines of 64 ports.
  EXPECT_EQ(switches("fat_tree", "1"), 32 + 16);
  EXPECT_EQ(switches("fat_tree", "8"), 19 + 2);
  for (const char* topology : {"rail", "switch"}) EXPECT_EQ(switches(topology, "8"), 32 + 16) << topology;
}

// A leaf joins the nodes that it states, here eight devices each, or fills its 64 ports. 1,024 devices, 1:1: 32 nodes
// have eight leaves of 32 ports down, 8 nodes two, and two nodes one of 16, whose 64 leaves have 16 links to 16 spines.
// 2:1: 32 leaves of four nodes have 16 links up each, to 8 spines; leaves of 42 ports have 22, to 11.
TEST(NetworkCost, ALeafJoinsTheNodesThatItStates) {
  const auto switches = [](const char* dims, const char* ratio) {
    const Scenario scenario = ScenarioOf(
        {"cluster=dgx-h100", "cluster.devices=1024", "cluster.networks.1.topology=fat_tree",
         std::string("cluster.networks.1.oversubscription=") + ratio, std::string("cluster.networks.1.dims=") + dims});
    return PriceNetwork(scenario.cluster, scenario.cost->system).switch_count.base();
  };
  EXPECT_EQ(switches("[]", "1"), 32 + 16);
  EXPECT_EQ(switches("[32]", "1"), 32 + 16);
  EXPECT_EQ(switches("[8]", "1"), 32 + 16);
  EXPECT_EQ(switches("[2]", "1"), 64 + 16);
  EXPECT_EQ(switches("[4]", "2"), 32 + 8);
  EXPECT_EQ(switches("[]", "2"), 25 + 11);
}

// 100,000 devices on an outermost level of 65,536 have one tree, as the warning says: 3,125 leaves need four tiers, 2 *
// 3,125 switches between and 1,563 at the top.
TEST(NetworkCost, TheOutermostLevelJoinsAllDevices) {
  const auto cost = [](const char* size) {
    const Scenario scenario =
        ScenarioOf({"cluster=dgx-h100", "cluster.devices=100000", std::string("cluster.networks.1.size=") + size});
    return PriceNetwork(scenario.cluster, scenario.cost->system);
  };
  for (const char* size : {"8192", "12500"}) {
    EXPECT_EQ(cost(size).tiers, 4) << size;
    EXPECT_EQ(cost(size).switch_count, 3125 + 2 * 3125 + 1563) << size;
  }
  EXPECT_NEAR(cost("8192").cables.base(), cost("12500").cables.base(), 1);
}

}  // namespace
}  // namespace slipstick
