// Slices of a torus are cut and filled so that a mapping's innermost group has whole rings, as JAX maps a mesh axis to
// whole sides.
#include "core/collectives/grid_slice.h"

#include <gtest/gtest.h>

#include "core/collectives/collective.h"
#include "core/collectives/group_view.h"
#include "tests/core/collectives/networks.h"

namespace slipstick {
namespace {

// As TPU v4: six links of 50 GB/s, optical switches close every side that is a multiple of four.
Cluster Switched(Count devices) {
  NetworkLevel level = Grid(Topology::kTorus, {16, 16, 16}, 300 * kGBps);
  level.wrap_every = 4;
  Cluster cluster = Joined({level});
  cluster.devices = devices;
  return cluster;
}
// As TPU v5e: fixed wires, four links of 50 GB/s.
Cluster Wired(Count devices) {
  Cluster cluster = Joined({Grid(Topology::kTorus, {16, 16}, 200 * kGBps)});
  cluster.devices = devices;
  return cluster;
}

// Views of the group of `inner` neighbors, and of the group that holds one rank of each such group.
LevelView Inner(const Cluster& cluster, double inner) {
  GroupPlacement group{{inner}, {1}};
  group.innermost = inner;
  return ViewOf(group, cluster).levels[0];
}
LevelView Outer(const Cluster& cluster, double inner) {
  GroupPlacement group{{static_cast<double>(cluster.devices) / inner}, {inner}};
  group.innermost = inner;
  return ViewOf(group, cluster).levels[0];
}
std::vector<double> SidesOf(const LevelView& view) { return {view.side.begin(), view.side.begin() + view.sides}; }

using List = std::vector<double>;

TEST(GridSlice, TheInnermostGroupClosesToRings) {
  // PaLM's pods: 3,072 chips as 12 x 16 x 16. The model axis is a ring of twelve over two links of each chip; the data
  // axis has the other four links.
  EXPECT_EQ(SidesOf(Inner(Switched(3072), 12)), (List{12}));
  EXPECT_EQ(Inner(Switched(3072), 12).injection, 100 * kGBps);
  EXPECT_EQ(SidesOf(Outer(Switched(3072), 12)), (List{16, 16}));
  EXPECT_EQ(Outer(Switched(3072), 12).injection, 200 * kGBps);
  // 128 chips in groups of four: the slice is 4 x 8 x 4, so that a group is a whole side and not half of the side of
  // eight.
  EXPECT_EQ(Inner(Switched(128), 4).injection, 100 * kGBps);
  EXPECT_EQ(Outer(Switched(128), 4).injection, 200 * kGBps);
  // 1,024 chips in groups of eight: 8 x 8 x 16 is the slice nearest to a cube with a side of eight.
  EXPECT_EQ(SidesOf(Inner(Switched(1024), 8)), (List{8}));
  EXPECT_EQ(Inner(Switched(1024), 8).injection, 100 * kGBps);
  // 64 chips in groups of 16: two sides of four, each used in both directions.
  EXPECT_EQ(SidesOf(Inner(Switched(64), 16)), (List{4, 4}));
  EXPECT_EQ(Inner(Switched(64), 16).injection, 200 * kGBps);
  EXPECT_EQ(Outer(Switched(64), 16).injection, 100 * kGBps);
  // In any slice, two chips are half of a side of four.
  EXPECT_EQ(Inner(Switched(64), 2).injection, 50 * kGBps);
}

TEST(GridSlice, FixedWiresCloseWholeSidesOnly) {
  EXPECT_EQ(Inner(Wired(256), 16).injection, 100 * kGBps);
  EXPECT_EQ(Outer(Wired(256), 16).injection, 100 * kGBps);
  EXPECT_EQ(Inner(Wired(256), 8).injection, 50 * kGBps);  // half a side
  // 8 of 16: the group has the open half of the side; the ranks across groups have the ring of 16.
  EXPECT_EQ(Inner(Wired(128), 8).injection, 50 * kGBps);
  EXPECT_EQ(SidesOf(Outer(Wired(128), 8)), (List{16}));
  EXPECT_EQ(Outer(Wired(128), 8).injection, 100 * kGBps);
}

// All-reduce over 12 chips: 2 * 11/12 of the bytes over two links of 50 GB/s. Half of a side of 16 is a line, which has
// one link.
TEST(GridSlice, AnAllReduceUsesBothDirectionsOfItsRing) {
  GroupPlacement group{{12}, {1}};
  group.innermost = 12;
  const CollectiveCall call{
      .type = CollectiveType::kAllReduce, .bytes = 12 * kGB, .library = CollectiveLibrary::kAnalytic};
  EXPECT_NEAR(In(TimeOf(call, group, Switched(3072)).time, kS), 2 * 11e9 / 100e9, 1e-3);
  EXPECT_NEAR(In(TimeOf(call, group, Switched(4096)).time, kS), 2 * 11e9 / 50e9, 1e-3);  // 12 does not divide it
}

// A group of eight that is alone on its slice takes 2 x 4 chips: one link along the side of two, one or two along the
// other.
TEST(GridSlice, AGroupAloneHasItsOwnSlice) {
  EXPECT_EQ(ViewOf(PlaceFirst(Wired(256), 8), Wired(256)).levels[0].injection, 100 * kGBps);
  // Sides shorter than a cube of four stay open; optical switches close those of whole cubes.
  EXPECT_EQ(SidesOf(ViewOf(PlaceFirst(Switched(4096), 16), Switched(4096)).levels[0]), (List{4, 2, 2}));
  EXPECT_EQ(ViewOf(PlaceFirst(Switched(4096), 16), Switched(4096)).levels[0].injection, 150 * kGBps);
  EXPECT_EQ(ViewOf(PlaceFirst(Switched(4096), 64), Switched(4096)).levels[0].injection, 300 * kGBps);
}

// For every cut of every slice, groups inside and across fill the slice and together use no more than a chip's links.
TEST(GridSlice, GroupsOfAMappingShareTheLinksThereAre) {
  for (const Cluster& cluster :
       {Switched(64), Switched(128), Switched(768), Switched(1024), Switched(3072), Switched(4096), Wired(64),
        Wired(128), Wired(256), Joined({Grid(Topology::kMesh, {8, 4, 2}, 300 * kGBps)})}) {
    const auto devices = static_cast<double>(cluster.devices);
    const BytesPerSecond all = cluster.networks[0].bandwidth;
    for (double inner = 2; inner < devices; ++inner) {
      if (std::fmod(devices, inner) != 0) continue;
      SCOPED_TRACE(std::to_string(cluster.devices) + " in groups of " + std::to_string(inner));
      const LevelView near = Inner(cluster, inner), far = Outer(cluster, inner);
      EXPECT_LE(near.injection, all);
      EXPECT_LE(far.injection, all);
      if (far.spacing == 1) {  // the groups use separate sides
        EXPECT_LE(near.injection + far.injection, all * (1 + 1e-12));
      }
      double ranks = 1;
      for (int i = 0; i < near.sides; ++i) ranks *= near.side[i];
      EXPECT_EQ(ranks, inner);
    }
  }
}

}  // namespace
}  // namespace slipstick
