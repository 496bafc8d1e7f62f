// Library collectives against hand calculation and published plateaus.
#include <gtest/gtest.h>

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/collectives/collective.h"
#include "core/collectives/group_view.h"
#include "tests/core/collectives/networks.h"

namespace slipstick {
namespace {

CollectiveTime LibraryTime(const Cluster& cluster, double ranks, CollectiveType type, Bytes bytes,
                           std::string_view algorithm = "auto") {
  CollectiveCall call;
  call.type = type;
  call.bytes = bytes;
  call.algorithm = algorithm;
  return TimeOf(call, PlaceFirst(cluster, ranks), cluster);
}

Cluster Node(BytesPerSecond bandwidth, Seconds setup, Seconds step, double copy) {
  Cluster cluster = DgxH100();
  NetworkLevel& node = cluster.networks[0];
  node.bandwidth = bandwidth;
  node.base_latency = setup;
  node.latency = step;
  node.copy_fraction = copy;
  node.in_network_reduction = false;
  return cluster;
}

// LL: 5.4 + 14*0.76 + 114,688/(0.32*450e9) + (65,536/8)/(1.3*450e9). Simple adds 7 and 2.5*14*0.76.
TEST(Library, RingsOfTwoProtocols) {
  const CollectiveTime small = LibraryTime(DgxH100(), 8, CollectiveType::kAllReduce, 65536 * kB);
  EXPECT_NEAR(Us(small), 16.850, 5e-4);
  EXPECT_EQ(small.algorithm, "ring");
  EXPECT_NEAR(Us(LibraryTime(DgxH100(), 8, CollectiveType::kAllReduce, 64 * kMiB, "ring")), 382.25, 5e-3);
}

// 5.4 + 70 + 64 MiB * (9/8) / (0.66 * 450 GB/s).
TEST(Library, SwitchesReduceLargeMessages) {
  const CollectiveTime large = LibraryTime(DgxH100(), 8, CollectiveType::kAllReduce, 64 * kMiB);
  EXPECT_NEAR(Us(large), 329.60, 5e-3);
  EXPECT_EQ(large.algorithm, "nvls");
  EXPECT_EQ(LibraryTime(DgxH100(), 4, CollectiveType::kAllReduce, 64 * kMiB).algorithm, "ring");
}

TEST(Library, GathersAndExchangesOfTheWorkedCases) {
  const Cluster b200 = Node(900 * kGBps, 7.9 * kUs, 1.32 * kUs, 0.78);
  EXPECT_NEAR(Us(LibraryTime(b200, 4, CollectiveType::kAllGather, 256 * kMiB)), 358.92, 5e-3);
  EXPECT_DOUBLE_EQ(Us(LibraryTime(b200, 4, CollectiveType::kAllGather, 256 * kMiB)),
                   Us(LibraryTime(b200, 4, CollectiveType::kReduceScatter, 256 * kMiB)));
  const Cluster a100 = Node(300 * kGBps, 9.8 * kUs, 0.94 * kUs, 2.4);
  EXPECT_NEAR(Us(LibraryTime(a100, 8, CollectiveType::kAllToAll, 64 * kMiB)), 303.15, 5e-3);
}

// 7 + 3.5*2*7*1 + 3.5*2*3*10 = 266 us, 2*63/64 GiB over min(0.82*450, 0.95*8*50) = 369 GB/s, and a copy of 1/64 GiB at
// 1.3*450 GB/s.
TEST(Library, OverNodesAllNicsWorkTogether) {
  Cluster cluster = DgxH100();
  cluster.networks[0].base_latency = 7 * kUs;
  cluster.networks[0].latency = 1 * kUs;
  const CollectiveTime time = LibraryTime(cluster, 64, CollectiveType::kAllReduce, 1 * kGiB, "tree");
  const double copy = In(1 * kGiB, kB) / 64 / (1.3 * 450e9) * 1e6;
  EXPECT_NEAR(Us(time), 5994.8 + copy, 0.1);
  // In training, 0.80 of 8 x 50 GB/s is the bottleneck.
  CollectiveCall call;
  call.bytes = 1 * kGiB;
  call.algorithm = "tree";
  call.nic_efficiency = 0.8;
  const double bytes = 2 * 63 / 64. * In(1 * kGiB, kB);
  EXPECT_NEAR(In(TimeOf(call, PlaceFirst(cluster, 64), cluster).time, kUs), 266 + copy + bytes / 320e9 * 1e6, 0.1);
}

// NCCL's ring of 64 ranks in 8 nodes passes 56 times to the next rank of a node and 7 times to the next node, each in
// 3.5 times the latency: 5.4 + 3.5*(56*0.76 + 7*10) us, 63/64 GB over 369 GB/s, a copy of 1/64 GB at 585 GB/s.
TEST(Library, ARingPassesAllRanksOfANode) {
  const double us = 5.4 + 3.5 * (56 * 0.76 + 7 * 10) + (63. / 64 / 369e9 + 1. / 64 / 585e9) * 1e15;
  EXPECT_NEAR(Us(LibraryTime(DgxH100(), 64, CollectiveType::kAllGather, 1 * kGB)), us, 0.01);
  EXPECT_NEAR(Us(LibraryTime(DgxH100(), 64, CollectiveType::kReduceScatter, 1 * kGB)), us, 0.01);
}

// NVIDIA/nccl src/graph/tuning.cc: trees for all-reduce; rings for broadcast; rings for gathers, and PAT with one rank a
// node. 256 H100, 2 GB all-gather: about 200 GB/s measured (NVIDIA/nccl issue 1218, RoCE), 366 by a tree.
TEST(Library, OnlyAnAllReduceHasTreesOverNodesOfSeveralRanks) {
  const Cluster cluster = DgxH100();
  EXPECT_TRUE(LibraryTime(cluster, 64, CollectiveType::kAllReduce, 1 * kMB, "tree").applies);
  for (const CollectiveType type :
       {CollectiveType::kAllGather, CollectiveType::kReduceScatter, CollectiveType::kBroadcast})
    EXPECT_FALSE(LibraryTime(cluster, 64, type, 1 * kMB, "tree").applies) << NameOf(type);
  const CollectiveTime time = LibraryTime(cluster, 256, CollectiveType::kAllGather, 2 * kGB);
  EXPECT_EQ(time.algorithm, "ring");
  EXPECT_LT(2e9 / In(time.time, kS), 300e9);
  const GroupPlacement one_a_node = PlaceGroup(cluster, {{"tp", 8}, {"dp", 64}}, "dp");
  EXPECT_EQ(TimeOf({.type = CollectiveType::kAllGather, .bytes = 1 * kMB}, one_a_node, cluster).algorithm, "tree");
}

// A collective over more ranks, or over one more and slower level, is never faster.
TEST(Library, MoreNodesAreNeverFaster) {
  Cluster rack = DgxH100();
  rack.networks[0] = Level(Topology::kSwitch, 72, 900 * kGBps, 1.26 * kUs);
  rack.networks[0].fabric = Fabric("nvlink");
  rack.networks[0].in_network_reduction = true;
  Cluster plain = DgxH100();
  plain.networks[0].in_network_reduction = false;
  for (const Cluster& cluster : {rack, plain, DgxH100()}) {
    const auto in_node = static_cast<double>(cluster.networks[0].size);
    for (const CollectiveType type :
         {CollectiveType::kAllReduce, CollectiveType::kAllGather, CollectiveType::kReduceScatter,
          CollectiveType::kBroadcast, CollectiveType::kAllToAll}) {
      for (double bytes = 1e3; bytes < 2e10; bytes *= 4) {
        Seconds fewer;
        for (double nodes = 1; nodes <= 256; nodes *= 2) {
          const Seconds time = LibraryTime(cluster, in_node * nodes, type, bytes * kB).time;
          EXPECT_GE(time, fewer) << NameOf(type) << " of " << bytes << " bytes over " << nodes << " x " << in_node;
          fewer = time;
        }
      }
    }
  }
}

// 32 nodes of a fat tree, 16 a leaf. Nodes under one leaf use no link up. A ring leaves a leaf over one link per rail,
// and a rail has 16 links up at 1:1, one at 16:1, half of one at 32:1: 0.95*8*25 GB/s. Of an exchange, 16 of 32 parts
// leave a leaf over 16/o links up, and 31 of 32 leave a node over its own.
TEST(Library, ALeafIsLeftByFewFlowsOfARingAndByHalfOfAnExchange) {
  const auto us = [](CollectiveType type, double ranks, double oversubscription) {
    Cluster cluster = DgxH100();
    cluster.networks[1].topology = Topology::kFatTree;
    cluster.networks[1].dims = {16};
    cluster.networks[1].oversubscription = oversubscription;
    return Us(LibraryTime(cluster, ranks, type, 10 * kGB));
  };
  for (const CollectiveType type : {CollectiveType::kAllGather, CollectiveType::kAllReduce, CollectiveType::kAllToAll,
                                    CollectiveType::kBroadcast, CollectiveType::kSendReceive}) {
    EXPECT_EQ(us(type, 16, 64), us(type, 16, 1)) << NameOf(type);
    EXPECT_EQ(us(type, 128, 64), us(type, 128, 1)) << NameOf(type);
    if (type != CollectiveType::kAllToAll) {
      EXPECT_EQ(us(type, 256, 16), us(type, 256, 1)) << NameOf(type);
    }
  }
  const auto more = [&us](CollectiveType type, double oversubscription) {
    return us(type, 256, oversubscription) - us(type, 256, 1);
  };
  EXPECT_NEAR(more(CollectiveType::kAllGather, 32), 255. / 256 * 1e10 * (1 / 190e9 - 1 / 369e9) * 1e6, 0.1);
  EXPECT_NEAR(more(CollectiveType::kAllReduce, 32), 2 * 255. / 256 * 1e10 * (1 / 190e9 - 1 / 369e9) * 1e6, 0.1);
  for (const double oversubscription : {2., 8.}) {
    EXPECT_NEAR(more(CollectiveType::kAllToAll, oversubscription),
                (oversubscription * 16 / 32 - 31. / 32) * 1e10 / 47.5e9 * 1e6, 0.1);
  }
  // Ranks four nodes apart have four of their group under a leaf.
  Cluster cluster = DgxH100();
  cluster.networks[1].topology = Topology::kFatTree;
  cluster.networks[1].dims = {16};
  GroupPlacement apart = PlaceGroup(cluster, {{"tp", 8}, {"pp", 4}, {"dp", 8}}, "dp");
  apart.spacing = {1, 4};
  EXPECT_EQ(ViewOf(apart, cluster).levels[0].leaf, 4);
}

// 64 H800, 8 MiB: 296 us in place, 338 us out of place (NVIDIA/nccl issue 1531).
TEST(Library, AnExchangeSendsToEachPeer) {
  Cluster cluster = DgxH100();
  cluster.networks[0].bandwidth = 200 * kGBps;
  const auto us = [&](double ranks, Bytes bytes) {
    return Us(LibraryTime(cluster, ranks, CollectiveType::kAllToAll, bytes));
  };
  EXPECT_NEAR(us(64, 8 * kMiB), 317, 0.15 * 317);
  // Each of 64 more peers takes 0.29 of a step of 10 us.
  EXPECT_NEAR(us(128, 1 * kKiB) - us(64, 1 * kKiB), 64 * 0.29 * 10, 1);
}

// A rank of a two-dimensional torus has four links, whatever the group: 0.95*50/4 GB/s.
TEST(Library, AMessageBetweenNodesTakesOneLink) {
  Cluster cluster = DgxH100();
  cluster.networks[1].topology = Topology::kTorus;
  cluster.networks[1].dims = {32, 32};
  for (const double ranks : {16., 64., 1024.}) {
    EXPECT_NEAR(Us(LibraryTime(cluster, ranks, CollectiveType::kSendReceive, 1 * kGB)), 1e9 / (0.95 * 12.5e9) * 1e6,
                20);
  }
}

// On a ring of 128 nodes the farthest are 64 wires of 10 us away, so no sum returns within 640 us.
TEST(Library, NothingIsFasterThanTheLongestRoute) {
  Cluster cluster = DgxH100();
  cluster.networks[1].topology = Topology::kRing;
  cluster.devices = 1024;
  EXPECT_GE(Us(LibraryTime(cluster, 1024, CollectiveType::kAllReduce, 1 * kKiB)), 640);
}

// A custom network states the bandwidth per device, whatever its topology: eight devices of a node send in parallel.
TEST(Library, OnACustomNetworkEachDeviceHasItsFullBandwidth) {
  Cluster cluster = DgxH100();
  const Seconds expected = LibraryTime(cluster, 64, CollectiveType::kReduceScatter, 1 * kGB, "ring").time;
  cluster.networks[1].fabric = Fabric("generic");
  for (const Topology topology : {Topology::kFatTree, Topology::kDragonfly, Topology::kRail}) {
    cluster.networks[1].topology = topology;
    EXPECT_DOUBLE_EQ(In(LibraryTime(cluster, 64, CollectiveType::kReduceScatter, 1 * kGB, "ring").time, kUs),
                     In(expected, kUs));
  }
}

TEST(Library, OneRankANodeUsesItsOwnNicOnly) {
  const Cluster cluster = DgxH100();
  const GroupPlacement group = PlaceGroup(cluster, {{"tp", 8}, {"dp", 4}}, "dp");
  CollectiveCall call;
  call.type = CollectiveType::kReduceScatter;
  call.bytes = 1 * kGB;
  // 7 + 3.5*2*10 + 0.75e9/(0.95*50e9): a tree over four nodes.
  EXPECT_NEAR(In(TimeOf(call, group, cluster).time, kUs), 7 + 70 + 0.75e9 / 47.5e9 * 1e6, 0.01);
}

TEST(Library, ExchangeOverNodesIsBoundByTheNic) {
  const Cluster cluster = DgxH100();
  const double bytes = 1e9, nodes = 4, ranks = 32;
  const double at_least = (ranks - 8) / ranks * bytes / (0.95 * 50e9) * 1e6;
  const double time = Us(LibraryTime(cluster, 8 * nodes, CollectiveType::kAllToAll, bytes * kB));
  EXPECT_GT(time, at_least);
  EXPECT_LT(time, 1.2 * at_least);
}

// AMD publishes 313 of 448 GB/s bus bandwidth for 8 MI300X and 47.7 of 64 for two.
TEST(Library, MeshOfLinksReachesThePublishedPlateau) {
  NetworkLevel mesh = Level(Topology::kFullyConnected, 8, 448 * kGBps, 1 * kUs);
  mesh.fabric = Fabric("xgmi");
  const Cluster cluster = Joined({mesh});
  const auto bus = [&](double ranks) {
    return 2 * (ranks - 1) / ranks * 4294967296.0 /
           Us(LibraryTime(cluster, ranks, CollectiveType::kAllReduce, 4 * kGiB)) * 1e-3;
  };
  EXPECT_NEAR(bus(8), 313, 313 * 0.05);
  EXPECT_NEAR(bus(2), 47.7, 47.7 * 0.05);
}

TEST(Library, ATorusUsesAllItsSides) {
  NetworkLevel torus = Grid(Topology::kTorus, {16, 16}, 200 * kGBps);
  torus.fabric = Fabric("ici");
  const Cluster cluster = Joined({torus});
  const double all = 2 * 255. / 256 * 1e9 / (0.85 * 200e9) * 1e6;
  const double time = Us(LibraryTime(cluster, 256, CollectiveType::kAllReduce, 1 * kGB));
  EXPECT_GT(time, all);
  EXPECT_LT(time, all + 300);
  // A line of four has one of the four links, a square two.
  const double line = 2 * 0.75 * 1e9 / (0.85 * 50e9) * 1e6;
  EXPECT_NEAR(Us(TimeOf({.type = CollectiveType::kAllReduce, .bytes = 1 * kGB}, {{4}, {1}}, cluster)), line,
              0.01 * line);
  EXPECT_NEAR(Us(LibraryTime(cluster, 4, CollectiveType::kAllReduce, 1 * kGB)), line / 2, 0.01 * line);
}

// 2.7 + 0.08*7 + 7*131,072/(0.63*450e9) and the same with a two-shot penalty of 17.8 us.
TEST(EngineKernels, OneShotAndTwoShotOfTheWorkedCase) {
  CollectiveCall call;
  call.bytes = 128 * kKiB;
  call.custom = {.start = 2.7 * kUs, .peer = 0.08 * kUs, .link_efficiency = 0.63, .second_pass = 17.8 * kUs};
  const Cluster cluster = DgxH100();
  const CollectiveTime time = TimeOf(call, PlaceFirst(cluster, 8), cluster);
  EXPECT_NEAR(In(time.time, kUs), 6.496, 5e-4);
  EXPECT_EQ(time.algorithm, "one_shot");
  call.algorithm = "two_shot";
  EXPECT_NEAR(In(TimeOf(call, PlaceFirst(cluster, 8), cluster).time, kUs), 21.87, 5e-3);
  // The kernels need all peers in one domain.
  call.algorithm = "auto";
  EXPECT_EQ(TimeOf(call, PlaceFirst(cluster, 32), cluster).algorithm, "tree");
}

}  // namespace
}  // namespace slipstick
