// Closed forms against hand calculation, and properties of every row of the table.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/collectives/algorithm.h"
#include "tests/core/collectives/explained.h"
#include "tests/core/collectives/networks.h"
#include "tests/support/explained.h"
#include "tests/support/formula.h"

namespace slipstick {
namespace {

CollectiveTime Time(const Cluster& cluster, double ranks, CollectiveType type, Bytes bytes,
                    std::string_view algorithm = "auto", CollectiveLibrary library = CollectiveLibrary::kAnalytic) {
  CollectiveCall call;
  call.type = type;
  call.bytes = bytes;
  call.algorithm = algorithm;
  call.library = library;
  return TimeOf(call, PlaceFirst(cluster, ranks), cluster);
}

// Eight ranks on a switch, 450 GB/s and 1 us, 64 KiB and 64 MiB: values by hand from the closed forms.
TEST(Algorithms, WorkedValuesOnASwitch) {
  const Cluster cluster = Joined({Level(Topology::kSwitch, 8, 450 * kGBps, 1 * kUs)});
  struct Case {
    std::string_view algorithm;
    double small, large;
  };
  for (const Case& c :
       {Case{"ring", 14.25, 275.0}, Case{"halving_doubling", 6.25, 267.0}, Case{"two_shot", 2.25, 263.0},
        Case{"one_shot", 2.02, 1044.9}, Case{"recursive_doubling", 3.44, 450.4}}) {
    EXPECT_NEAR(Us(Time(cluster, 8, CollectiveType::kAllReduce, 64 * kKiB, c.algorithm)), c.small, 0.006)
        << c.algorithm;
    EXPECT_NEAR(Us(Time(cluster, 8, CollectiveType::kAllReduce, 64 * kMiB, c.algorithm)), c.large, 0.06) << c.algorithm;
  }
  EXPECT_EQ(Time(cluster, 8, CollectiveType::kAllReduce, 64 * kKiB).algorithm, "one_shot");
  EXPECT_EQ(Time(cluster, 8, CollectiveType::kAllReduce, 64 * kMiB).algorithm, "two_shot");
}

// One-shot and two-shot cross at alpha*B*p/((p-1)(p-2)) = 85.7 kB.
TEST(Algorithms, OneShotAndTwoShotCrossWhereTheyShould) {
  const Cluster cluster = Joined({Level(Topology::kSwitch, 8, 450 * kGBps, 1 * kUs)});
  EXPECT_EQ(Time(cluster, 8, CollectiveType::kAllReduce, 85.6 * kKB).algorithm, "one_shot");
  EXPECT_EQ(Time(cluster, 8, CollectiveType::kAllReduce, 85.8 * kKB).algorithm, "two_shot");
}

// The Scaling Book: over both directions of a TPU v5e ring (90 GB/s), gathering 32 MiB takes 373 us and reducing 746
// us.
TEST(Algorithms, PublishedTpuExample) {
  const Cluster cluster = Joined({Level(Topology::kRing, 4096, 90 * kGBps, 0 * kUs)});
  EXPECT_NEAR(Us(Time(cluster, 4096, CollectiveType::kAllGather, 33554432 * kB, "bidirectional_ring")), 373, 0.5);
  EXPECT_NEAR(Us(Time(cluster, 4096, CollectiveType::kAllReduce, 33554432 * kB, "bidirectional_ring")), 746, 0.8);
  EXPECT_NEAR(Us(Time(cluster, 4096, CollectiveType::kAllToAll, 33554432. / 4096 * kB, "direct")), 93.2, 0.1);
}

TEST(Algorithms, TwoRanksAgreeWhateverTheAlgorithm) {
  const Cluster cluster = Joined({Level(Topology::kSwitch, 2, 100 * kGBps, 1 * kUs)});
  for (const std::string_view algorithm : {"ring", "halving_doubling", "two_shot"}) {
    EXPECT_NEAR(Us(Time(cluster, 2, CollectiveType::kAllReduce, 1 * kMB, algorithm)), 12, 1e-9) << algorithm;
  }
}

TEST(Algorithms, ARingOfNodesIsBoundByOneNicAndRailsAreNot) {
  const Cluster cluster =
      Joined({Level(Topology::kSwitch, 8, 450 * kGBps, 1 * kUs), Level(Topology::kRail, 4, 50 * kGBps, 4 * kUs)});
  const double ring = Us(Time(cluster, 32, CollectiveType::kAllReduce, 1 * kGB, "ring"));
  const double hierarchical = Us(Time(cluster, 32, CollectiveType::kAllReduce, 1 * kGB, "hierarchical"));
  EXPECT_NEAR(ring, 62 * 5 + 2 * 31 / 32. * 1e9 / 50e9 * 1e6, 1e-6);
  EXPECT_NEAR(hierarchical, 14 + 24 + (2 * 7 / 8. / 450e9 + 2 * 3 / 4. / 8 / 50e9) * 1e15, 1e-6);
  // All pairs of a level at once: the same bytes in one step a level and pass.
  const double direct = Us(Time(cluster, 32, CollectiveType::kAllReduce, 1 * kGB, "hierarchical_direct"));
  EXPECT_NEAR(direct, 2 + 8 + (2 * 7 / 8. / 450e9 + 2 * 3 / 4. / 8 / 50e9) * 1e15, 1e-6);
  EXPECT_EQ(Us(Time(Joined({cluster.networks[0]}), 8, CollectiveType::kAllReduce, 1 * kGB)),
            Us(Time(cluster, 8, CollectiveType::kAllReduce, 1 * kGB)));  // one node is flat
}

// 2,048 nodes of eight ranks and NICs: an all-reduce of 10 GB takes at least 2 * 2047/2048 * 10 GB / 8 / 50 GB/s = 49.98
// ms, and 2 * 7/8 * 10 GB / 450 GB/s = 38.89 ms in the nodes; in chunks both overlap. 44 chunks: a step of 10 us there
// and one back for each, and one chunk more in the nodes.
TEST(Algorithms, AnIdealLibraryFillsAllNics) {
  const Cluster cluster =
      Joined({Level(Topology::kSwitch, 8, 450 * kGBps, 1 * kUs), Level(Topology::kRail, 2048, 50 * kGBps, 10 * kUs)});
  const double us = Us(Time(cluster, 16384, CollectiveType::kAllReduce, 10 * kGB));
  EXPECT_NEAR(us, 49975.6 + 38888.9 / 44 + 44 * 20 + 2, 1);
  EXPECT_LT(Us(Time(cluster, 16384, CollectiveType::kAllReduce, 1 * kMB)), 40);
}

// Four nodes of eight ranks, each with a rail of 50 GB/s. Each rank sends 1 GB: 24 of 32 parts leave the node, 15 ms. A
// slow scale-up link also carries the 7 of 8 parts that leave over other rails: 29.2 ms at 30 GB/s.
TEST(Algorithms, AllToAllOverRailsIsBoundByTheNicOrTheScaleUpLink) {
  const auto all_to_all = [](BytesPerSecond link) {
    const Cluster cluster =
        Joined({Level(Topology::kSwitch, 8, link, 1 * kUs), Level(Topology::kRail, 4, 50 * kGBps, 4 * kUs)});
    return Us(Time(cluster, 32, CollectiveType::kAllToAll, 1 * kGB, "direct"));
  };
  EXPECT_NEAR(all_to_all(450 * kGBps), 5 + 24 / 32. / 50e9 * 1e15, 1e-6);
  EXPECT_NEAR(all_to_all(30 * kGBps), 5 + 7 / 8. / 30e9 * 1e15, 1e-6);
}

TEST(Algorithms, OversubscriptionOfOneIsNone) {
  NetworkLevel tree = Level(Topology::kFatTree, 16, 50 * kGBps, 2 * kUs);
  tree.dims = {4, 4};
  const double flat = Us(Time(Joined({tree}), 16, CollectiveType::kAllToAll, 1 * kGB, "direct"));
  EXPECT_NEAR(flat, 4 + 15 / 16. * 1e9 / 50e9 * 1e6, 1e-6);
  tree.oversubscription = 2;
  EXPECT_NEAR(Us(Time(Joined({tree}), 16, CollectiveType::kAllToAll, 1 * kGB, "direct")),
              4 + 2 * 12 / 16. * 1e9 / 50e9 * 1e6, 1e-6);
  EXPECT_EQ(Us(Time(Joined({tree}), 16, CollectiveType::kAllReduce, 1 * kGB, "ring")),
            30 * 4 + 2 * 15 / 16. * 1e9 / 50e9 * 1e6);  // one flow per leaf crosses the core
}

TEST(Algorithms, AMeshNeverBeatsItsTorus) {
  for (const CollectiveType type :
       {CollectiveType::kAllReduce, CollectiveType::kAllGather, CollectiveType::kAllToAll}) {
    const double mesh = Us(Time(Joined({Grid(Topology::kMesh, {8, 8}, 180 * kGBps)}), 64, type, 1 * kGB));
    const double torus = Us(Time(Joined({Grid(Topology::kTorus, {8, 8}, 180 * kGBps)}), 64, type, 1 * kGB));
    EXPECT_GE(mesh, torus) << NameOf(type);
  }
}

TEST(Algorithms, ATorusOfOneSideIsARing) {
  const Cluster torus = Joined({Grid(Topology::kTorus, {8, 1}, 90 * kGBps)});
  const Cluster ring = Joined({Level(Topology::kRing, 8, 90 * kGBps, 1 * kUs)});
  for (const CollectiveType type :
       {CollectiveType::kAllReduce, CollectiveType::kReduceScatter, CollectiveType::kAllToAll}) {
    EXPECT_DOUBLE_EQ(Us(Time(torus, 8, type, 1 * kGB)), Us(Time(ring, 8, type, 1 * kGB))) << NameOf(type);
  }
}

// Eight ranks with three links of 100 GB/s each and 1 us of latency: 1 MB takes 10 us over one link.
TEST(Algorithms, WorkedValuesOnAHypercube) {
  const Cluster cube = Joined({Level(Topology::kHypercube, 8, 300 * kGBps, 1 * kUs)});
  struct Case {
    CollectiveType type;
    std::string_view algorithm;
    double us;
  };
  for (const Case& c :
       {Case{CollectiveType::kAllReduce, "halving_doubling", 6 + 17.5},
        Case{CollectiveType::kAllReduce, "recursive_doubling", 3 * 11},
        Case{CollectiveType::kAllReduce, "bucket_at_once", 6 + 17.5 / 3},  // a third of the data along each side
        Case{CollectiveType::kAllReduce, "ring", 14 + 17.5},               // in the order of a Gray code
        Case{CollectiveType::kAllGather, "halving_doubling", 3 + 8.75},
        Case{CollectiveType::kReduceScatter, "halving_doubling", 3 + 8.75},
        Case{CollectiveType::kAllToAll, "direct", 3 + 5},  // half of a rank's data crosses each side
        Case{CollectiveType::kAllToAll, "bruck", 3 * (1 + 5)}, Case{CollectiveType::kBroadcast, "binomial", 3 * 11},
        Case{CollectiveType::kBroadcast, "scatter_all_gather", 3 + 7 + 17.5},
        Case{CollectiveType::kSendReceive, "send", 11}}) {
    const double ranks = c.type == CollectiveType::kSendReceive ? 2 : 8;
    EXPECT_NEAR(Us(Time(cube, ranks, c.type, 1 * kMB, c.algorithm)), c.us, 1e-9)
        << NameOf(c.type) << " " << c.algorithm;
  }
  EXPECT_EQ(Time(cube, 8, CollectiveType::kAllReduce, 1 * kMB).algorithm, "bucket_at_once");
  // Four ranks have two of the three links to each other.
  EXPECT_NEAR(Us(Time(cube, 4, CollectiveType::kAllReduce, 1 * kMB, "bucket_at_once")), 4 + 15 / 2., 1e-9);
}

// All dimensions at once. A corner of a mesh has one link per side, and the mesh keeps it busy: 2 * 63/64 GB over two
// links of 12.5 GB/s or three of 50/6 take 78.75 ms, as on a line, in 4 * 7 and 6 * 3 steps.
// A torus of 4 x 4 x 8 with links of 100 GB/s cuts the buffer into 35, 35 and 30 %, which take equally long along their
// first sides: 0.35 * 3/4 = 0.3 * 7/8 = 0.2625. Next, the slowest is the second part along the eight, 0.35 * 7/8 / 4 =
// 0.0765625, and last the first along the eight, 0.35 * 7/8 / 16 = 0.019140625; both ways halve each, and two passes
// double it. All links busy: 2 * 127/128 GB / 600 GB/s = 3.307 ms.
TEST(Algorithms, AllDimensionsAtOnceWithAnySides) {
  const auto us = [](Topology topology, std::vector<Tally> dims, double bandwidth) {
    const Cluster cluster = Joined({Grid(topology, std::move(dims), bandwidth * kGBps)});
    return Us(
        Time(cluster, static_cast<double>(cluster.devices), CollectiveType::kAllReduce, 1 * kGB, "bucket_at_once"));
  };
  EXPECT_NEAR(us(Topology::kMesh, {8, 8}, 50), 78750 + 28, 1e-6);
  EXPECT_NEAR(us(Topology::kMesh, {4, 4, 4}, 50), 78750 + 18, 1e-6);
  EXPECT_NEAR(us(Topology::kTorus, {4, 4, 8}, 600), (0.2625 + 0.0765625 + 0.019140625) * 1e4 + 42, 1e-6);
  EXPECT_GT(us(Topology::kTorus, {4, 4, 8}, 600), 2 * 127. / 128 * 1e9 / 600e9 * 1e6);
}

// 1 MB to eight ranks in four chunks, 1 us a step. Over direct wires of 10 GB/s to seven peers each peer passes a
// seventh on: five steps, each with a quarter of a seventh. Two opposite chains around a ring of 45 GB/s, each of half
// the data, take seven steps for the first chunk and three more; so do chains over wires without a closed side, where
// all data go one way. A hypercube has three trees of four steps, and so has a torus of 4 x 2.
TEST(Algorithms, ABroadcastInChunksFillsTheLinks) {
  const auto us = [](const NetworkLevel& level, std::string_view algorithm) {
    const Cluster cluster = Joined({level});
    CollectiveCall call{.type = CollectiveType::kBroadcast, .bytes = 1 * kMB, .library = CollectiveLibrary::kAnalytic};
    call.algorithm = algorithm;
    call.alpha_beta.chunks = 4;
    return Us(TimeOf(call, PlaceFirst(cluster, 8), cluster));
  };
  EXPECT_NEAR(us(Level(Topology::kFullyConnected, 8, 70 * kGBps, 1 * kUs), "disjoint_trees"), 5 * (1 + 100. / 7 / 4),
              1e-9);
  EXPECT_NEAR(us(Level(Topology::kRing, 8, 90 * kGBps, 1 * kUs), "disjoint_trees"), 10 * (1 + 100. / 9 / 4), 1e-9);
  EXPECT_NEAR(us(Grid(Topology::kMesh, {8}, 90 * kGBps), "disjoint_trees"), 10 * (1 + 200. / 9 / 4), 1e-9);
  EXPECT_NEAR(us(Grid(Topology::kMesh, {4, 2}, 30 * kGBps), "disjoint_trees"), 10 * (1 + 50. / 4), 1e-9);
  EXPECT_NEAR(us(Grid(Topology::kMesh, {4, 2}, 30 * kGBps), "chain"), 10 * (1 + 100. / 4), 1e-9);
  EXPECT_NEAR(us(Level(Topology::kHypercube, 8, 30 * kGBps, 1 * kUs), "disjoint_trees"), 7 * (1 + 100. / 3 / 4), 1e-9);
  EXPECT_NEAR(us(Grid(Topology::kTorus, {4, 2}, 30 * kGBps), "disjoint_trees"), 7 * (1 + 100. / 3 / 4), 1e-9);
  // The scatter loads the links as the gather after it: 2 * 0.34375 / 10 GB/s (see the parts above: 4/7 and 3/7).
  EXPECT_NEAR(us(Grid(Topology::kTorus, {4, 2}, 30 * kGBps), "scatter_all_gather_at_once"),
              2 * ((3. / 14 + 9. / 112) * 100 + 6), 1e-9);
  // Through the core of a fat tree a step takes up and down, 2 us.
  NetworkLevel tree = Level(Topology::kFatTree, 8, 10 * kGBps, 1 * kUs);
  tree.dims = {4};
  EXPECT_NEAR(us(tree, "chain"), 10 * (2 + 100. / 4), 1e-9);
  EXPECT_NEAR(us(tree, "double_binary_tree"),
              us(Level(Topology::kSwitch, 8, 10 * kGBps, 2 * kUs), "double_binary_tree"), 1e-9);
  // Nodes of four on NICs of 10 GB/s: in rank order, one NIC and a step on both levels at each rank.
  const Cluster nodes =
      Joined({Level(Topology::kSwitch, 4, 100 * kGBps, 1 * kUs), Level(Topology::kRail, 2, 10 * kGBps, 4 * kUs)});
  CollectiveCall call{.type = CollectiveType::kBroadcast, .bytes = 1 * kMB, .library = CollectiveLibrary::kAnalytic};
  call.algorithm = "chain";
  call.alpha_beta.chunks = 4;
  EXPECT_NEAR(Us(TimeOf(call, PlaceFirst(nodes, 8), nodes)), 10 * (5 + 100. / 4), 1e-9);
}

// A ring of eight ranks, 90 GB/s over both directions, 1 us per link: 1 MB takes 200 / 9 us one way. The opposite rank
// is four links away in both directions, and each direction carries half of the message.
TEST(Algorithms, AMessageToTheOppositeRankOfARingGoesBothWays) {
  const Cluster ring = Joined({Level(Topology::kRing, 8, 90 * kGBps, 1 * kUs)});
  const auto after = [&ring](double hops) {
    CollectiveCall call{CollectiveType::kSendReceive, 1 * kMB};
    call.library = CollectiveLibrary::kAnalytic;
    call.algorithm = "send";
    call.alpha_beta.hops = hops;
    return Us(TimeOf(call, PlaceFirst(ring, 2), ring));
  };
  EXPECT_NEAR(after(4), 4 + 100. / 9, 1e-9);
  EXPECT_NEAR(after(3), 3 + 200. / 9, 1e-9);
}

// On the same ring, partners four, two and one links apart exchange 1/2, 1/4 and 1/8 of 1 MB, and back. A link carries
// them for as many pairs as they are links apart; opposite partners use both directions, which halves it: 4/2 * 1/2 + 2
// * 1/4 + 1/8 = 13/8.
TEST(Algorithms, HalvingOnARingLoadsItsLinks) {
  const Cluster ring = Joined({Level(Topology::kRing, 8, 90 * kGBps, 1 * kUs)});
  EXPECT_NEAR(Us(Time(ring, 8, CollectiveType::kAllReduce, 1 * kMB, "halving_doubling")), 2 * (7 + 13. / 8 * 1000 / 45),
              1e-9);
}

// Nine groups of four. A broadcast takes two steps within a group over links of 100 GB/s and four steps of three links
// each between groups. A group has four links to eight others, so a message to one of them has half a link.
TEST(Algorithms, ADragonflyBroadcastsThroughFewLinksBetweenGroups) {
  const Cluster groups = Joined({Level(Topology::kFullyConnected, 4, 300 * kGBps, 0.5 * kUs),
                                 Level(Topology::kDragonfly, 9, 100 * kGBps, 1 * kUs)});
  EXPECT_NEAR(Us(Time(groups, 36, CollectiveType::kBroadcast, 1 * kMB, "binomial")), 2 * (0.5 + 10) + 4 * (3 + 2 * 10),
              1e-9);
}

// A torus of 4 x 4 x 4 is a hypercube of 64, since each ring of four is a square.
TEST(Algorithms, ATorusOfFoursIsAHypercube) {
  const Cluster torus = Joined({Grid(Topology::kTorus, {4, 4, 4}, 600 * kGBps)});
  const Cluster cube = Joined({Level(Topology::kHypercube, 64, 600 * kGBps, 1 * kUs)});
  for (const auto& [type, us] : {std::pair{CollectiveType::kAllReduce, 2 * 63. / 64 * 1e9 / 600e9 * 1e6},
                                 std::pair{CollectiveType::kAllToAll, 1e9 / 2 / 100e9 * 1e6}}) {
    EXPECT_NEAR(Us(Time(cube, 64, type, 1 * kGB)), us, 13) << NameOf(type);  // equal but for steps of 1 us
    EXPECT_NEAR(Us(Time(torus, 64, type, 1 * kGB)), us, 19) << NameOf(type);
  }
}

// Four ranks, one chunk: the source sends to two children in turn, and the second child to its own. Two trees halve the
// data.
TEST(Algorithms, TreesBroadcast) {
  const Cluster cluster = Joined({Level(Topology::kSwitch, 4, 100 * kGBps, 1 * kUs)});
  CollectiveCall call{.type = CollectiveType::kBroadcast, .bytes = 1 * kMB, .library = CollectiveLibrary::kAnalytic};
  call.alpha_beta.chunks = 1;
  const auto us = [&](std::string_view algorithm) {
    call.algorithm = algorithm;
    return Us(TimeOf(call, PlaceFirst(cluster, 4), cluster));
  };
  EXPECT_NEAR(us("binary_tree"), 2 + 4 * 10, 1e-9);
  EXPECT_NEAR(us("double_binary_tree"), 2 + 2 * 10, 1e-9);
  // Large buffers move in many chunks: one tree sends them twice through a link, two trees once.
  call.alpha_beta.chunks = 0;
  call.bytes = 10 * kGB;
  EXPECT_NEAR(us("binary_tree"), 2 * 1e5, 0.02e5);
  EXPECT_NEAR(us("double_binary_tree"), 1e5, 0.02e5);
}

TEST(Algorithms, ReductionInTheNetworkIsNeverSlower) {
  NetworkLevel plain = Level(Topology::kSwitch, 16, 450 * kGBps, 1 * kUs);
  NetworkLevel reducing = plain;
  reducing.in_network_reduction = true;
  for (double bytes = 64; bytes < 1e10; bytes *= 4) {
    EXPECT_LE(Us(Time(Joined({reducing}), 16, CollectiveType::kAllReduce, bytes * kB)),
              Us(Time(Joined({plain}), 16, CollectiveType::kAllReduce, bytes * kB)));
  }
}

TEST(Algorithms, AnUnknownOrUnfitAlgorithmIsRefusedNotReplaced) {
  const Cluster cluster = Joined({Level(Topology::kRing, 6, 90 * kGBps, 1 * kUs)});
  EXPECT_FALSE(Time(cluster, 6, CollectiveType::kAllReduce, 1 * kMB, "halving_doubling").applies);
  EXPECT_FALSE(Time(cluster, 6, CollectiveType::kAllReduce, 1 * kMB, "no such").applies);
  CollectiveCall call;
  call.library = CollectiveLibrary::kAnalytic;
  const std::vector<std::string_view> names = AlgorithmsFor(call, PlaceFirst(cluster, 6), cluster);
  EXPECT_EQ(names, (std::vector<std::string_view>{"ring", "bidirectional_ring", "two_shot"}));
}

// ---------------------------------------------------------------- every row, on every network that it applies to

struct Use {
  const Cluster* cluster;
  double ranks;
  CollectiveType type;
  CollectiveLibrary library;
  std::string_view algorithm;
};

CollectiveCall CallOf(const Use& use, Bytes bytes, const CustomAllReduce& custom) {
  CollectiveCall call;
  call.type = use.type;
  call.bytes = bytes;
  call.algorithm = use.algorithm;
  call.library = use.library;
  call.custom = custom;
  return call;
}

class EveryRow : public ::testing::Test {
 protected:
  template <class Check>
  void ForEach(const Check& check) {
    for (const Cluster& cluster : clusters_) {
      for (const double ranks : {2., 4., 8., 16., static_cast<double>(cluster.devices)}) {
        if (ranks > static_cast<double>(cluster.devices)) continue;
        const GroupPlacement group = PlaceFirst(cluster, ranks);
        for (const auto& [type, type_name] : EnumNames<CollectiveType>::names) {
          if (type == CollectiveType::kSendReceive && ranks != 2) continue;
          for (const CollectiveLibrary library :
               {CollectiveLibrary::kMeasured, CollectiveLibrary::kAnalytic, CollectiveLibrary::kAlphaBeta}) {
            Use use{&cluster, ranks, type, library, "auto"};
            for (const std::string_view name : AlgorithmsFor(CallOf(use, 1 * kMB, custom_), group, cluster)) {
              use.algorithm = name;
              SCOPED_TRACE(std::string(name) + " " + std::string(type_name) + " on " +
                           std::string(NameOf(cluster.networks[0].topology)) + ", " +
                           std::to_string(cluster.networks.size()) + " levels, ranks " + std::to_string(ranks));
              check(use, group);
            }
          }
        }
      }
    }
  }
  Seconds TimeOfUse(const Use& use, const GroupPlacement& group, Bytes bytes, const Cluster& cluster) {
    return TimeOf(CallOf(use, bytes, custom_), group, cluster).time;
  }

  const std::vector<Cluster> clusters_ = AllNetworks();
  const CustomAllReduce custom_{.start = 4.5 * kUs, .peer = 0.08 * kUs, .link_efficiency = 0.6, .second_pass = 5 * kUs};
};

TEST_F(EveryRow, OfTheTableIsReached) {
  std::set<std::string_view> reached;
  ForEach([&](const Use& use, const GroupPlacement&) { reached.insert(use.algorithm); });
  for (const AlgorithmFamily& family : AlgorithmFamilies()) {
    for (const Algorithm& row : family.rows) EXPECT_TRUE(reached.contains(row.name)) << row.name;
  }
}

TEST_F(EveryRow, GrowsWithBytes) {
  ForEach([&](const Use& use, const GroupPlacement& group) {
    Seconds last;
    for (double bytes = 0; bytes < 1e10; bytes = bytes * 5 + 64) {
      const Seconds time = TimeOfUse(use, group, bytes * kB, *use.cluster);
      EXPECT_GE(time, last * (1 - 1e-12)) << bytes;
      EXPECT_TRUE(std::isfinite(time.base()));
      last = time;
    }
  });
}

// Whatever the algorithm, a rank's links carry at least the minimum bytes, at no more than the stated bandwidth.
TEST_F(EveryRow, IsNeverFasterThanItsLinks) {
  ForEach([&](const Use& use, const GroupPlacement& group) {
    const Bytes bytes = 1 * kGB;
    const bool in_network = use.algorithm == "sharp" || use.algorithm == "nvls";
    const Bytes sent = in_network ? bytes : MinimumBytes(use.type, bytes, use.ranks);
    BytesPerSecond injection;
    for (std::size_t i = 0; i < group.extent.size(); ++i) {
      if (group.extent[i] > 1) injection += use.cluster->networks[i].bandwidth;
    }
    EXPECT_GE(TimeOfUse(use, group, bytes, *use.cluster), sent / injection * (1 - 1e-12));
  });
}

TEST_F(EveryRow, IsNeverSlowerOnABetterNetwork) {
  ForEach([&](const Use& use, const GroupPlacement& group) {
    Cluster wider = *use.cluster, nearer = *use.cluster;
    for (NetworkLevel& level : wider.networks) level.bandwidth = 2 * level.bandwidth;
    for (NetworkLevel& level : nearer.networks) level.latency = level.latency / 2;
    for (const double bytes : {1e3, 1e6, 1e9}) {
      const Seconds time = TimeOfUse(use, group, bytes * kB, *use.cluster);
      EXPECT_LE(TimeOfUse(use, group, bytes * kB, wider), time * (1 + 1e-12)) << bytes;
      EXPECT_LE(TimeOfUse(use, group, bytes * kB, nearer), time * (1 + 1e-12)) << bytes;
    }
  });
}

TEST_F(EveryRow, ExplainsItsValue) {
  ForEach([&](const Use& use, const GroupPlacement& group) {
    Tape tape;
    const Seconds time =
        slipstick::testing::ExplainedTime(CallOf(use, 3 * kMB, custom_), group, *use.cluster, tape).time;
    const std::vector<FigureRecord> figures = FiguresOf(time);
    EXPECT_NEAR(figures.back().value, time.base(), 1e-12 * time.base());
    for (const FigureRecord& figure : figures) {
      if (figure.kind != FigureKind::kFormula) continue;
      std::map<std::string, double> symbols;
      for (const Term& term : figure.terms) symbols[term.symbol] = term.value;
      const slipstick::testing::FormulaResult result = slipstick::testing::EvaluateFormula(figure.formula, symbols);
      EXPECT_EQ(result.fault, "") << figure.formula;
      EXPECT_NEAR(result.value, figure.value, 1e-9 * std::abs(figure.value) + 1e-30) << figure.formula;
    }
  });
}

TEST(Algorithms, AGroupOfOneTakesNoTime) {
  for (const Cluster& cluster : AllNetworks()) {
    for (const auto& [type, name] : EnumNames<CollectiveType>::names) {
      EXPECT_EQ(Us(Time(cluster, 1, type, 1 * kGB)), 0) << name;
      EXPECT_EQ(Us(Time(cluster, 1, type, 1 * kGB, "auto", CollectiveLibrary::kMeasured)), 0) << name;
    }
  }
}

TEST(Algorithms, EveryPatternHasAnAnswerOnEveryNetwork) {
  for (const Cluster& cluster : AllNetworks()) {
    for (const auto& [type, name] : EnumNames<CollectiveType>::names) {
      const double ranks = type == CollectiveType::kSendReceive ? 2 : static_cast<double>(cluster.devices);
      EXPECT_TRUE(Time(cluster, ranks, type, 1 * kGB, "auto", CollectiveLibrary::kMeasured).applies) << name;
      EXPECT_TRUE(Time(cluster, ranks, type, 1 * kGB).applies) << name << NameOf(cluster.networks[0].topology);
    }
  }
}

}  // namespace
}  // namespace slipstick
