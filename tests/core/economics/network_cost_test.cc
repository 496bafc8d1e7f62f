// Direct links and switches of a network level, counted by hand.
#include "core/economics/network_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/schema.h"
#include "core/base/units.h"

namespace slipstick {
namespace {

NetworkLevel Level(Topology topology, std::vector<Count> dims = {}) {
  NetworkLevel level;
  level.topology = topology;
  level.dims = std::move(dims);
  level.bandwidth = 60 * kGBps;
  return level;
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
  const LevelPrices prices{2 * kUsdPerGBps, {}, {}};
  for (const CountedLinks& row : kCounted) {
    const double expected = row.parts > 1 ? row.links * 2 * (60 / row.inside) * 2 : 0;
    EXPECT_NEAR(PriceLevel(row.level, row.parts, row.parts, prices).base(), expected, 1e-9 * expected) << row.name;
  }
  // 4 x 4 of each, five times: 16 x 60 GB/s x 2 $ for a torus, three quarters of it for a mesh.
  EXPECT_DOUBLE_EQ(PriceLevel(Level(Topology::kTorus, {4, 4}), 16, 80, prices).base(), 5 * 1920);
  EXPECT_DOUBLE_EQ(PriceLevel(Level(Topology::kMesh, {4, 4}), 16, 80, prices).base(), 5 * 1440);
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

// Routers of 64 ports: 16 to devices, 32 to their group, 16 to other groups; of 63 likewise.
TEST(NetworkCost, ADragonflysRoutersAreCounted) {
  EXPECT_EQ(BuildDragonfly(64, 64).switches, 1);
  EXPECT_EQ(BuildDragonfly(1024, 64).switches, 64);
  EXPECT_EQ(BuildDragonfly(1000, 63).switches, 63);
}

}  // namespace
}  // namespace slipstick
