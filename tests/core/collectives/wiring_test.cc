// Every topology in every library: each has an answer, and no answer beats the wires or what groups share of them.
#include <gtest/gtest.h>

#include "core/base/fix.h"
#include "core/collectives/collective.h"
#include "core/collectives/group_view.h"
#include "tests/core/collectives/networks.h"

namespace slipstick {
namespace {

constexpr std::array<CollectiveLibrary, 3> kLibraries{CollectiveLibrary::kMeasured, CollectiveLibrary::kAnalytic,
                                                      CollectiveLibrary::kAlphaBeta};

CollectiveTime TimeOn(const Cluster& cluster, const GroupPlacement& group, const CollectiveCall& call) {
  return TimeOf(call, group, cluster);
}
CollectiveTime TimeOn(const Cluster& cluster, double ranks, CollectiveType type, Bytes bytes,
                      CollectiveLibrary library) {
  return TimeOn(cluster, PlaceFirst(cluster, ranks), {.type = type, .bytes = bytes, .library = library});
}

Cluster Eight(Topology topology) { return Joined({Level(topology, 8, 400 * kGBps, 0 * kUs)}); }

// Each device has the same bandwidth. In an all-to-all over eight ranks on a ring, a message crosses 16/7 links on
// average and a rank has two, so the busiest link carries 8/8 of what a rank sends, its own block included. In a torus
// of 4 x 2 a rank has three links; those along the four carry 4/8 each, those along the two 4/4/2.
TEST(Wiring, RoutedTokensTakeTheLinksOfTheTopology) {
  const auto seconds = [](Topology topology) {
    return In(TimeOn(Eight(topology), PlaceFirst(Eight(topology), 8),
                     {.type = CollectiveType::kAllToAll,
                      .bytes = 8 * kGB,
                      .routed = true,
                      .library = CollectiveLibrary::kMeasured})
                  .time,
              kS);
  };
  // The generic fabric reaches 0.62 of the bandwidth for routed tokens, after 20 us.
  const double direct = 7e9 / (0.62 * 400e9);
  EXPECT_NEAR(seconds(Topology::kSwitch), 20e-6 + direct, 1e-9);
  EXPECT_NEAR(seconds(Topology::kFullyConnected), 20e-6 + direct, 1e-9);
  EXPECT_NEAR(seconds(Topology::kDragonfly), 20e-6 + direct, 1e-9);
  EXPECT_NEAR(seconds(Topology::kTorus), 20e-6 + 12. / 7 * direct, 1e-9);
  EXPECT_NEAR(seconds(Topology::kHypercube), 20e-6 + 12. / 7 * direct, 1e-9);  // a hypercube of eight is that torus
  EXPECT_NEAR(seconds(Topology::kRing), 20e-6 + 16. / 7 * direct, 1e-9);
  // A mesh of 4 x 2 has no closed side. The middle link of the four carries 4 * 4 / 4 / 4 = 1 of what a rank sends,
  // over one of three links.
  EXPECT_NEAR(seconds(Topology::kMesh), 20e-6 + 8e9 / (0.62 * 400e9 / 3), 1e-9);
}

// Across the middle of a ring of n ranks go n/2 * n/2 blocks of 1/n in each direction, over the two wires there.
TEST(Wiring, NoExchangeBeatsTheBisection) {
  for (const double ranks : {4., 8., 16., 64.}) {
    const Cluster ring = Joined({Level(Topology::kRing, static_cast<Count>(ranks), 400 * kGBps, 0 * kUs)});
    const double bytes = 1e9, across = ranks / 4 * bytes;
    for (const CollectiveLibrary library : {CollectiveLibrary::kMeasured, CollectiveLibrary::kAnalytic}) {
      EXPECT_GE(In(TimeOn(ring, ranks, CollectiveType::kAllToAll, bytes * kB, library).time, kS),
                across / (2 * 200e9) * (1 - 1e-12));
    }
  }
}

// Links across the middle of 64 devices, each a device's 400 GB/s over its number of links: a ring has 2 of a half, a
// mesh of 4 x 4 x 4 16 of a sixth, a torus and a hypercube 32 of a sixth, direct wires 32 x 32 of a 63rd, a switch 32
// whole ones. An exchange of n bytes per device sends 32 n / 2 across.
TEST(Wiring, OrdersExchangesByTheBisection) {
  struct Case {
    Topology topology;
    double bisection;  // in units of a device's bandwidth
  };
  const std::vector<Case> cases{{Topology::kRing, 1},
                                {Topology::kMesh, 16 / 6.},
                                {Topology::kTorus, 32 / 6.},
                                {Topology::kHypercube, 32 / 6.},
                                {Topology::kFullyConnected, 32 * 32 / 63.},
                                {Topology::kSwitch, 32}};
  for (const CollectiveLibrary library : {CollectiveLibrary::kMeasured, CollectiveLibrary::kAnalytic}) {
    Seconds slower;
    double narrower = 0;
    for (const Case& c : cases) {
      SCOPED_TRACE(std::string(NameOf(library)) + " " + std::string(NameOf(c.topology)));
      const Cluster cluster = Joined({Level(c.topology, 64, 400 * kGBps, 0 * kUs)});
      const Seconds time = TimeOn(cluster, 64, CollectiveType::kAllToAll, 1 * kGB, library).time;
      // The time is at least that of the bisection and of a rank's own links.
      const double bound = std::max(32 * 1e9 / 2 / (c.bisection * 400e9), 63. / 64 * 1e9 / 400e9);
      EXPECT_GE(In(time, kS), bound * (1 - 1e-12));
      if (library == CollectiveLibrary::kAnalytic) {
        EXPECT_NEAR(In(time, kS), bound, 1e-12);
      }
      if (narrower == c.bisection) {
        EXPECT_NEAR(time / slower, 1, 1e-9);
      } else if (narrower > 0) {
        EXPECT_LE(time, slower * (1 + 1e-12));
      }
      slower = time;
      narrower = c.bisection;
    }
  }
}

// 16 GPUs in two nodes of eight. In a gather a rank's NIC carries 1/2 of an eighth and its link to the node 7/8; in an
// exchange they carry 8/16 and 7/16. So links of 450 GB/s bound a gather where NICs have more than 450 / 14 = 32.1
// GB/s, and an exchange where they have more than 450 * 8/7 = 514.
TEST(Wiring, TheSlowestLevelIsTheOneThatCarriesLongest) {
  const auto slowest = [](CollectiveType type, double nic, Topology inner = Topology::kSwitch) {
    const Cluster cluster =
        Joined({Level(inner, 8, 450 * kGBps, 1 * kUs), Level(Topology::kRail, 2, nic * kGBps, 5 * kUs)});
    return SlowestLevel(type, PlaceFirst(cluster, 16), cluster);
  };
  EXPECT_EQ(slowest(CollectiveType::kAllReduce, 32), 1);
  EXPECT_EQ(slowest(CollectiveType::kAllReduce, 33), 0);
  EXPECT_EQ(slowest(CollectiveType::kAllToAll, 514), 1);
  EXPECT_EQ(slowest(CollectiveType::kAllToAll, 515), 0);
  // Around a ring the links carry 16/7 as much, so the limit is 225 GB/s.
  EXPECT_EQ(slowest(CollectiveType::kAllToAll, 224, Topology::kRing), 1);
  EXPECT_EQ(slowest(CollectiveType::kAllToAll, 226, Topology::kRing), 0);
  EXPECT_EQ(slowest(CollectiveType::kSendReceive, 450), 1);  // of equal levels the outermost
  EXPECT_EQ(slowest(CollectiveType::kSendReceive, 451), 0);
}

std::string Told(const Cluster& cluster, double ranks, CollectiveType type, CollectiveLibrary library) {
  std::string text = std::string(NameOf(library)) + " " + std::string(NameOf(type)) + " over " +
                     std::to_string(static_cast<int>(ranks)) + " on";
  for (const NetworkLevel& level : cluster.networks) text += " " + std::string(NameOf(level.topology));
  return text;
}

// 64 devices, or 64 nodes of eight, in a fat tree of eight a leaf.
std::vector<Cluster> FatTrees(double oversubscription) {
  NetworkLevel leaves = Level(Topology::kFatTree, 64, 50 * kGBps, 2 * kUs);
  leaves.dims = {8};
  leaves.oversubscription = oversubscription;
  return {Joined({leaves}), Joined({Level(Topology::kSwitch, 8, 450 * kGBps, 1 * kUs), leaves})};
}

// More oversubscription never helps. Of an exchange, 56 of 64 parts leave a leaf, over 1/o of its links.
TEST(Wiring, OversubscriptionNeverHelps) {
  for (const CollectiveLibrary library : {CollectiveLibrary::kMeasured, CollectiveLibrary::kAnalytic}) {
    for (const auto& [type, type_name] : EnumNames<CollectiveType>::names) {
      for (const double bytes : {1e3, 1e6, 1e9}) {
        std::vector<Seconds> before(2);
        for (const double oversubscription : {1., 1.5, 2., 3., 4., 8., 16., 64.}) {
          const std::vector<Cluster> clusters = FatTrees(oversubscription);
          for (std::size_t i = 0; i < clusters.size(); ++i) {
            const Cluster& cluster = clusters[i];
            SCOPED_TRACE(Told(cluster, 64, type, library) + " at " + std::to_string(oversubscription));
            const auto devices = static_cast<double>(cluster.devices);
            const Seconds time = TimeOn(cluster, devices, type, bytes * kB, library).time;
            EXPECT_GE(time, before[i]);
            before[i] = time;
            if (type != CollectiveType::kAllToAll) continue;
            EXPECT_GE(time, oversubscription * 56 / 64 * bytes * kB / (50 * kGBps) * (1 - 1e-12));
          }
        }
      }
    }
  }
}

// On one level as over nodes: a ring of 64 crosses a leaf's border once, over 8/o links up.
TEST(Wiring, ARingSlowsDownWhereALeafHasNoWholeLinkUp) {
  for (const CollectiveLibrary library : {CollectiveLibrary::kMeasured, CollectiveLibrary::kAnalytic}) {
    const auto seconds = [&](double oversubscription) {
      const Cluster cluster = FatTrees(oversubscription)[0];
      const CollectiveCall call{
          .type = CollectiveType::kAllReduce, .bytes = 100 * kGB, .library = library, .algorithm = "ring"};
      return In(TimeOn(cluster, PlaceFirst(cluster, 64), call).time, kS);
    };
    EXPECT_EQ(seconds(8), seconds(1)) << NameOf(library);
    EXPECT_NEAR(seconds(16) / seconds(1), 2, 0.01) << NameOf(library);
    EXPECT_NEAR(seconds(64) / seconds(1), 8, 0.05) << NameOf(library);
  }
}

// A switch of 64 ports has 32 down at 1:1 and 42 at 2:1: so many nodes lie under a leaf, or four times as many where
// four devices share a port. One switch joins up to 64 devices.
TEST(Wiring, ALeafFillsItsPorts) {
  const auto leaf = [](double oversubscription, BytesPerSecond bandwidth, Count in_node, Count nodes) {
    NetworkLevel tree = Level(Topology::kFatTree, nodes, bandwidth, 2 * kUs);
    tree.oversubscription = oversubscription;
    tree.port.bandwidth = 50 * kGBps;
    tree.port.switch_ports = 64;
    const Cluster cluster =
        in_node > 1 ? Joined({Level(Topology::kSwitch, in_node, 450 * kGBps, 1 * kUs), tree}) : Joined({tree});
    const GroupView view = ViewOf(PlaceFirst(cluster, static_cast<double>(cluster.devices)), cluster);
    return static_cast<double>(view.levels[view.count - 1].leaf);
  };
  EXPECT_EQ(leaf(1, 50 * kGBps, 8, 256), 32);
  EXPECT_EQ(leaf(2, 50 * kGBps, 8, 256), 42);
  EXPECT_EQ(leaf(2, 100 * kGBps, 8, 256), 42);  // a port in each of two trees
  EXPECT_EQ(leaf(1, 12.5 * kGBps, 8, 256), 128);
  EXPECT_EQ(leaf(2, 50 * kGBps, 8, 16), 16);
  EXPECT_EQ(leaf(2, 50 * kGBps, 1, 64), 64);
  EXPECT_EQ(leaf(2, 50 * kGBps, 1, 128), 42);
}

// 64 devices on a ring, in groups of 8 ranks that are 8 devices apart: every wire carries all eight groups.
TEST(Wiring, GroupsThatInterleaveShareTheWires) {
  const Cluster ring = Joined({Level(Topology::kRing, 64, 400 * kGBps, 0 * kUs)});
  GroupPlacement near = PlaceFirst(ring, 8), far = near;
  far.spacing = {8};
  const CollectiveCall call{
      .type = CollectiveType::kAllReduce, .bytes = 1 * kGB, .library = CollectiveLibrary::kAnalytic};
  // Near group: an open line of eight, folded, whose end ranks send everything twice over their only wire. Far group: a
  // closed ring with an eighth of each wire in both directions, 2 * 7/8 GB over 2 * 200/8 GB/s.
  EXPECT_NEAR(In(TimeOn(ring, far, call).time, kMs), 1.75e9 / 50e9 * 1e3, 1e-6);
  EXPECT_LT(TimeOn(ring, near, call).time, TimeOn(ring, far, call).time);
  // On a torus of 8 x 8 the far groups have one side to themselves: 2 * 7/8 GB over two of four links of 100 GB/s.
  const Cluster torus = Joined({Grid(Topology::kTorus, {8, 8}, 400 * kGBps)});
  EXPECT_NEAR(In(TimeOn(torus, far, call).time, kMs), 1.75e9 / 200e9 * 1e3, 0.02);
  // On a switch the distance of the ranks does not matter.
  const Cluster joined = Joined({Level(Topology::kSwitch, 64, 400 * kGBps, 0 * kUs)});
  EXPECT_EQ(TimeOn(joined, far, call).time, TimeOn(joined, near, call).time);
}

TEST(Wiring, SidesOfAGridThatStatesNone) {
  const auto sides = [](Count size) {
    const Cluster cluster = Joined({Level(Topology::kTorus, size, 400 * kGBps, 1 * kUs)});
    const LevelView view = ViewOf(PlaceFirst(cluster, static_cast<double>(size)), cluster).levels[0];
    return std::vector<double>(view.side.begin(), view.side.begin() + view.sides);
  };
  EXPECT_EQ(sides(8), (std::vector<double>{4, 2}));
  EXPECT_EQ(sides(12), (std::vector<double>{4, 3}));
  EXPECT_EQ(sides(16), (std::vector<double>{4, 4}));
  EXPECT_EQ(sides(7), (std::vector<double>{7}));
  EXPECT_EQ(sides(64), (std::vector<double>{4, 4, 4}));
  EXPECT_EQ(sides(4096), (std::vector<double>{16, 16, 16}));
}

// Wires between nodes connect the nodes that exist: 4 nodes of at most 1,024 close a ring. Wires inside a node are
// always all there.
TEST(Wiring, ConnectsTheNodesThatExist) {
  Cluster cluster = Joined(
      {Level(Topology::kSwitch, 8, 400 * kGBps, 1 * kUs), Level(Topology::kFullyConnected, 1024, 30 * kGBps, 5 * kUs)});
  cluster.devices = 32;
  EXPECT_EQ(ViewOf(PlaceFirst(cluster, 32), cluster).levels[1].injection, 30 * kGBps);
  cluster.networks = {Level(Topology::kFullyConnected, 8, 350 * kGBps, 1 * kUs)};
  cluster.devices = 4;
  EXPECT_EQ(ViewOf(PlaceFirst(cluster, 4), cluster).levels[0].injection, 150 * kGBps);
}

// T = 2 (n-1) l + 2 (n-1)/n K/B, and 2 log2(n) l for two trees: 8 ranks, 1 us, 100 GB/s, 1 MB.
TEST(Wiring, TextbookEquations) {
  for (const Topology topology : {Topology::kSwitch, Topology::kRing, Topology::kMesh}) {
    const Cluster cluster = Joined({Level(topology, 8, 100 * kGBps, 1 * kUs)});
    const auto us = [&](CollectiveType type, std::string_view algorithm) {
      return In(
          TimeOn(cluster, PlaceFirst(cluster, 8),
                 {.type = type, .bytes = 1 * kMB, .library = CollectiveLibrary::kAlphaBeta, .algorithm = algorithm})
              .time,
          kUs);
    };
    EXPECT_NEAR(us(CollectiveType::kAllReduce, "ring"), 14 + 17.5, 1e-9);
    EXPECT_NEAR(us(CollectiveType::kAllReduce, "double_binary_tree"), 6 + 17.5, 1e-9);
    // A gather and a scatter are half of it, each in half of the steps.
    for (const CollectiveType half : {CollectiveType::kAllGather, CollectiveType::kReduceScatter}) {
      EXPECT_NEAR(us(half, "ring"), 7 + 8.75, 1e-9);
      EXPECT_NEAR(us(half, "halving_doubling"), 3 + 8.75, 1e-9);
      EXPECT_NEAR(us(half, "auto"), 3 + 8.75, 1e-9);
    }
    EXPECT_NEAR(us(CollectiveType::kAllToAll, "auto"), 7 + 8.75, 1e-9);
    EXPECT_NEAR(us(CollectiveType::kBroadcast, "auto"), 3 * 11, 1e-9);
    EXPECT_NEAR(us(CollectiveType::kSendReceive, "auto"), 11, 1e-9);
  }
}

// A cluster's choice holds for its calls; where it cannot run, the fastest does and the log says so.
TEST(Wiring, TheClusterChoosesLibraryAndAlgorithm) {
  Cluster cluster = Joined({Level(Topology::kSwitch, 8, 400 * kGBps, 1 * kUs)});
  CollectiveCall call{.type = CollectiveType::kAllReduce, .bytes = 1 * kGB};
  const GroupPlacement group = PlaceFirst(cluster, 8);
  EXPECT_EQ(TimeOn(cluster, group, call).algorithm, "ring");
  cluster.collectives.library = CollectiveLibrary::kAnalytic;
  EXPECT_EQ(TimeOn(cluster, group, call).algorithm, "two_shot");
  cluster.collectives.all_reduce = "halving_doubling";
  EXPECT_EQ(TimeOn(cluster, group, call).algorithm, "halving_doubling");
  cluster.collectives.all_reduce = "bucket";
  EXPECT_FALSE(TimeOn(cluster, group, call).applies);
  EXPECT_EQ(TimeOn(cluster, group, call).algorithm, "two_shot");
  CollectiveLog log;
  log.Add("tp", call, group, cluster);
  Issues issues;
  CheckAlgorithms(log, issues);
  ASSERT_EQ(issues.size(), 1);
  EXPECT_EQ(issues[0].path, "cluster.collectives.all_reduce");
  EXPECT_EQ(issues[0].message.find("This algorithm cannot run over the 8 ranks of tp: choose auto, ring"), 0)
      << issues[0].message;
}

// Every topology alone and every pair of topologies, 2 to 4,096 ranks.
std::vector<Cluster> AllPairs() {
  std::vector<Cluster> clusters;
  for (const auto& [inner, inner_name] : EnumNames<Topology>::names) {
    for (const Count size : {2, 6, 8, 64}) clusters.push_back(Joined({Level(inner, size, 300 * kGBps, 1 * kUs)}));
    for (const auto& [outer, outer_name] : EnumNames<Topology>::names) {
      for (const Count nodes : {2, 7, 64}) {
        clusters.push_back(Joined({Level(inner, 8, 300 * kGBps, 1 * kUs), Level(outer, nodes, 50 * kGBps, 5 * kUs)}));
      }
    }
    clusters.push_back(Joined({Level(inner, 4096, 300 * kGBps, 1 * kUs)}));
  }
  return clusters;
}

// Powers of two, and all devices.
std::vector<double> RanksOn(const Cluster& cluster) {
  std::vector<double> all;
  const auto devices = static_cast<double>(cluster.devices);
  for (double ranks = 2; ranks < devices; ranks *= 2) all.push_back(ranks);
  all.push_back(devices);
  return all;
}

template <class Check>
void ForEveryWiring(const Check& check) {
  for (const Cluster& cluster : AllPairs()) {
    for (const double ranks : RanksOn(cluster)) {
      for (const auto& [type, type_name] : EnumNames<CollectiveType>::names) {
        for (const CollectiveLibrary library : kLibraries) {
          SCOPED_TRACE(Told(cluster, ranks, type, library));
          check(cluster, ranks, type, library);
        }
      }
    }
  }
}

TEST(Wiring, EveryPatternHasAnAnswer) {
  ForEveryWiring([](const Cluster& cluster, double ranks, CollectiveType type, CollectiveLibrary library) {
    const CollectiveTime made = TimeOn(cluster, ranks, type, 1 * kMB, library);
    EXPECT_TRUE(made.applies);
    EXPECT_TRUE(std::isfinite(made.time.base()));
    EXPECT_GT(made.time, Seconds());
  });
}

// No wiring beats a switch of the same bandwidth; latencies are 0.
TEST(Wiring, NothingBeatsTheSwitchAtItsBandwidth) {
  for (const CollectiveLibrary library : {CollectiveLibrary::kMeasured, CollectiveLibrary::kAnalytic}) {
    for (const auto& [topology, name] : EnumNames<Topology>::names) {
      for (const Count size : {2, 4, 8, 16, 64}) {
        const Cluster wired = Joined({Level(topology, size, 300 * kGBps, 0 * kUs)});
        const Cluster joined = Joined({Level(Topology::kSwitch, size, 300 * kGBps, 0 * kUs)});
        for (const auto& [type, type_name] : EnumNames<CollectiveType>::names) {
          // A wire between two devices reaches more of its bandwidth in practice than a switch's port.
          const bool is_measured_send = type == CollectiveType::kSendReceive && library == CollectiveLibrary::kMeasured;
          if (is_measured_send || type == CollectiveType::kBroadcast) continue;
          const double ranks = type == CollectiveType::kSendReceive ? 2 : static_cast<double>(size);
          SCOPED_TRACE(Told(wired, ranks, type, library));
          const CollectiveTime on_wires = TimeOn(wired, ranks, type, 8 * kGB, library),
                               switched = TimeOn(joined, ranks, type, 8 * kGB, library);
          EXPECT_GE(on_wires.time, switched.time * (1 - 1e-9)) << on_wires.algorithm << " " << switched.algorithm;
        }
      }
    }
  }
}

// A library at line rate is not slower than one in practice: large sums everywhere, and broadcasts where their best
// algorithm is known.
TEST(Wiring, LineRateIsNoSlowerThanPractice) {
  const auto ici = [](std::vector<Tally> dims) {
    NetworkLevel torus = Grid(Topology::kTorus, std::move(dims), 600 * kGBps);
    torus.fabric = Fabric("ici");
    return torus;
  };
  for (const NetworkLevel& level :
       {Level(Topology::kRing, 64, 50 * kGBps, 1 * kUs), Level(Topology::kSwitch, 64, 50 * kGBps, 1 * kUs),
        Level(Topology::kFullyConnected, 64, 50 * kGBps, 1 * kUs), Level(Topology::kFatTree, 64, 50 * kGBps, 1 * kUs),
        Level(Topology::kHypercube, 64, 50 * kGBps, 1 * kUs), Grid(Topology::kMesh, {64}, 50 * kGBps),
        Grid(Topology::kMesh, {8, 8}, 50 * kGBps), Grid(Topology::kMesh, {4, 4, 4}, 50 * kGBps),
        Grid(Topology::kTorus, {8, 8}, 50 * kGBps), Grid(Topology::kTorus, {16, 4}, 50 * kGBps), ici({4, 4, 4}),
        ici({4, 4, 8}), ici({4, 8, 8}), ici({8, 8, 8}), ici({16, 20, 28})}) {
    const Cluster cluster = Joined({level});
    const auto ranks = static_cast<double>(cluster.devices);
    for (const CollectiveType type : {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                      CollectiveType::kReduceScatter, CollectiveType::kBroadcast}) {
      if (type == CollectiveType::kBroadcast && ranks > 64) continue;
      SCOPED_TRACE(Told(cluster, ranks, type, CollectiveLibrary::kAnalytic));
      const CollectiveTime ideal = TimeOn(cluster, ranks, type, 1 * kGB, CollectiveLibrary::kAnalytic);
      EXPECT_LE(ideal.time, TimeOn(cluster, ranks, type, 1 * kGB, CollectiveLibrary::kMeasured).time)
          << ideal.algorithm;
    }
  }
}

// A wiring, and another that has all its links and more. Every link has 100 GB/s.
struct Extended {
  NetworkLevel less, more;
};
std::vector<Extended> ExtendedWirings() {
  const BytesPerSecond link = 100 * kGBps;
  const auto line = [&](Count ranks) { return Grid(Topology::kMesh, {ranks}, 2. * link); };
  const auto ring = [&](Count ranks) { return Level(Topology::kRing, ranks, 2. * link, 1 * kUs); };
  const auto cube = [&](double sides) {
    return Level(Topology::kHypercube, static_cast<Count>(std::exp2(sides)), sides * link, 1 * kUs);
  };
  const auto all = [&](Count ranks) {
    return Level(Topology::kFullyConnected, ranks, static_cast<double>(ranks - 1) * link, 1 * kUs);
  };
  return {{line(8), ring(8)},
          {ring(8), cube(3)},  // a Hamiltonian cycle in the order of a Gray code
          {Grid(Topology::kMesh, {4, 2}, 3. * link), Grid(Topology::kTorus, {4, 2}, 3. * link)},
          {Grid(Topology::kTorus, {4, 2}, 3. * link), cube(3)},
          {cube(3), all(8)},
          {line(16), ring(16)},
          {ring(16), Grid(Topology::kTorus, {4, 4}, 4. * link)},
          {Grid(Topology::kMesh, {4, 4}, 4. * link), Grid(Topology::kTorus, {4, 4}, 4. * link)},
          {Grid(Topology::kTorus, {4, 4}, 4. * link), cube(4)},
          {cube(4), all(16)},
          {Grid(Topology::kTorus, {8, 8}, 4. * link), cube(6)},
          {Grid(Topology::kMesh, {4, 4, 4}, 6. * link), Grid(Topology::kTorus, {4, 4, 4}, 6. * link)},
          {Grid(Topology::kTorus, {4, 4, 4}, 6. * link), cube(6)},
          {cube(6), all(64)},
          {ring(4096), cube(12)}};
}

TEST(Wiring, MoreLinksNeverSlow) {
  for (const auto& [less, more] : ExtendedWirings()) {
    for (const auto& [type, type_name] : EnumNames<CollectiveType>::names) {
      for (const CollectiveLibrary library : kLibraries) {
        for (const double bytes : {1e3, 1e6, 1e9}) {
          const double ranks = type == CollectiveType::kSendReceive ? 2 : static_cast<double>(less.size);
          SCOPED_TRACE(Told(Joined({less}), ranks, type, library) + " to " + std::string(NameOf(more.topology)));
          const CollectiveTime with_less = TimeOn(Joined({less}), ranks, type, bytes * kB, library),
                               with_more = TimeOn(Joined({more}), ranks, type, bytes * kB, library);
          EXPECT_LE(with_more.time, with_less.time * (1 + 1e-12))
              << bytes << " " << with_less.algorithm << " " << with_more.algorithm;
        }
      }
    }
  }
}

// An all-reduce sends 2 (n-1)/n of the buffer through a rank's links.
TEST(Wiring, AnAllReduceIsBoundByItsInjection) {
  ForEveryWiring([](const Cluster& cluster, double ranks, CollectiveType type, CollectiveLibrary library) {
    if (type != CollectiveType::kAllReduce) return;
    const GroupView view = ViewOf(PlaceFirst(cluster, ranks), cluster);
    BytesPerSecond injection;
    for (int i = 0; i < view.count; ++i) injection += view.levels[i].level->bandwidth;
    EXPECT_GE(TimeOn(cluster, ranks, type, 1 * kGB, library).time,
              2 * (ranks - 1) / ranks * (1 * kGB) / injection * (1 - 1e-12));
  });
}

// In an exchange, blocks for ranks of other nodes leave over the rank's link to the outer network.
TEST(Wiring, AnExchangeIsBoundByTheLinksOutOfTheNode) {
  ForEveryWiring([](const Cluster& cluster, double ranks, CollectiveType type, CollectiveLibrary library) {
    if (type != CollectiveType::kAllToAll) return;
    const auto inside = std::min(ranks, static_cast<double>(cluster.networks[0].size));
    const BytesPerSecond out = cluster.networks[inside < ranks ? 1 : 0].bandwidth;
    const double share = inside < ranks ? (ranks - inside) / ranks : (ranks - 1) / ranks;
    EXPECT_GE(TimeOn(cluster, ranks, type, 1 * kGB, library).time, share * (1 * kGB) / out * (1 - 1e-12));
  });
}

// Where all links of a rank are busy, wirings differ only by their steps of 1 us: direct wires take one step for the
// reduce-scatter and one for the gather, a hypercube three each, a ring seven each.
TEST(Wiring, AllReducesDifferByTheirSteps) {
  const double bytes = 1e9, least = 2 * 7. / 8 * bytes / 300e9;
  for (const auto& [topology, steps] : {std::pair{Topology::kSwitch, 2}, std::pair{Topology::kFullyConnected, 2},
                                        std::pair{Topology::kHypercube, 6}, std::pair{Topology::kRing, 14}}) {
    const Cluster cluster = Joined({Level(topology, 8, 300 * kGBps, 1 * kUs)});
    EXPECT_NEAR(In(TimeOn(cluster, 8, CollectiveType::kAllReduce, bytes * kB, CollectiveLibrary::kAnalytic).time, kS),
                least + steps * 1e-6, 1e-12)
        << NameOf(topology);
  }
}

// Two nodes of eight: an exchange of no bytes takes a hop between nodes, 5 us, and one inside a node, 1 us.
TEST(Wiring, AnExchangeOverNodesTakesHopsOnBothLevels) {
  const Cluster cluster =
      Joined({Level(Topology::kSwitch, 8, 300 * kGBps, 1 * kUs), Level(Topology::kSwitch, 2, 50 * kGBps, 5 * kUs)});
  EXPECT_NEAR(In(TimeOn(cluster, 16, CollectiveType::kAllToAll, 1e-9 * kB, CollectiveLibrary::kAnalytic).time, kS),
              6e-6, 1e-12);
}

}  // namespace
}  // namespace slipstick
