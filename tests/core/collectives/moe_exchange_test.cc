#include "core/collectives/moe_exchange.h"

#include <gtest/gtest.h>

#include "core/collectives/group_view.h"
#include "core/workload/exchanges.h"
#include "tests/core/collectives/networks.h"

namespace slipstick {
namespace {

ExpertExchange OnH100() {
  ExpertExchange exchange;
  exchange.architecture = Architecture("hopper");
  exchange.element_bytes = 1 + 4 / 128.;
  exchange.tokens = 128;
  exchange.link = 450 * kGBps;
  exchange.nic = 50 * kGBps;
  return exchange;
}
double Us(const ExpertExchange& exchange) { return In(TimeOf(exchange).time, kUs); }

// 8.5 + 3 + 9 us, and 128*8*7,408 bytes, half of them over a NIC at 0.94 of 50 GB/s: 80.70 us. Within the node, 7/8 of
// them go over links at 0.57 of 450 GB/s: 25.88 us.
TEST(ExpertExchange, LowLatencyDispatchOfTheWorkedCase) {
  ExpertExchange exchange = OnH100();
  exchange.nodes = 2;
  EXPECT_NEAR(Us(exchange), 8.5 + 3 + 9 + 80.70, 5e-3);
  exchange.nodes = 1;
  EXPECT_NEAR(Us(exchange), 8.5 + 3 + 25.88, 5e-3);
}

// Blackwell's setup is longer, 15 + 3 us; 7/8 of 7,585,792 bytes at 0.57 of 900 GB/s take 12.94 us.
TEST(ExpertExchange, ALowLatencySetupIsThatOfTheFamily) {
  ExpertExchange exchange = OnH100();
  exchange.architecture = Architecture("blackwell");
  exchange.link = 900 * kGBps;
  EXPECT_NEAR(Us(exchange), 15 + 3 + 12.94, 5e-3);
}

// Normal kernels on two nodes, 4,096 tokens, 24 SMs of 16 GB/s: a token reaches 16 (1 - (15/16)^8) = 6.4526 ranks on 2
// (1 - (1/2)^8) = 1.9922 nodes. Dispatch moves one copy to each of them, 4,096 * 8.4448 * 7,408 bytes, in 667.3 us; the
// links alone would take 639.8 us and the NIC 657.0 us. Combine moves one more copy per node for the sum, 4,096 *
// 10.437 * 14,352 bytes, in 1,597.8 us. Measured: 805 and 1,827 us.
TEST(ExpertExchange, NormalKernelsMoveACopyPerRankAndPerNode) {
  ExpertExchange exchange = OnH100();
  exchange.kernel = ExchangeKernel::kNormal;
  exchange.tokens = 4096;
  exchange.nodes = 2;
  EXPECT_NEAR(Us(exchange), 35 + 2 * 20 + 667.3, 0.1);
  exchange.is_combine = true;
  exchange.element_bytes = 2;
  EXPECT_NEAR(Us(exchange), 35 + 2 * 20 + 1597.8, 0.1);
}

// Four ranks, two experts per token: 4*(1 - (3/4)^2) = 1.75 reached; 1,000 tokens of 7,168 two-byte elements at 900
// GB/s.
TEST(ExpertExchange, ExchangeInOneDomain) {
  ExpertExchange exchange = OnH100();
  exchange.kernel = ExchangeKernel::kDomain;
  exchange.tokens = 1000;
  exchange.top_k = 2;
  exchange.element_bytes = 2;
  exchange.ranks_in_node = 4;
  exchange.link = 900 * kGBps;
  const double whole = 1000 * 1.75 * 14336 / 900e9 * 1e6;
  EXPECT_NEAR(Us(exchange), 11 + 2 * 2.8 + whole * 0.75 / 0.62, 1e-6);
  exchange.is_combine = true;
  EXPECT_NEAR(Us(exchange), 11 + 2 * 2.8 + whole * 0.75 / 0.62, 1e-6);
}

// Bytes that a device sends for 128 tokens of 7,168 elements to 8 experts each; fp8 with scales is 7,392 bytes per
// token, and each message adds 16. Low latency sends one copy per expert, 128 * 8 * 7,408 = 7,585,792 bytes: in one
// node 7/8 of them go to other ranks, over 9 nodes 8/9 leave the node. Normal kernels send one copy per rank: on 8
// ranks 8 (1 - (7/8)^8) = 5.2511 copies; over 4 nodes, to at most 4 (1 - (3/4)^8) = 3.5995 of them.
TEST(ExpertExchange, BytesOfADispatchToEightExperts) {
  ExpertExchange exchange = OnH100();
  const auto bytes = [&] { return TimeOf(exchange).bytes.base(); };
  exchange.nodes = 1;
  EXPECT_NEAR(bytes(), 7585792 * 7 / 8., 1e-3);
  exchange.nodes = 9;
  EXPECT_NEAR(bytes(), 7585792 * 8 / 9., 1e-3);
  exchange.kernel = ExchangeKernel::kNormal;
  exchange.nodes = 1;
  EXPECT_NEAR(bytes(), 128 * 5.2511 * 7408, 100);
  exchange.nodes = 4;
  EXPECT_NEAR(bytes(), 128 * 3.5995 * 0.75 * 7408, 100);
  // A combine returns 16-bit results.
  exchange.is_combine = true;
  exchange.element_bytes = 2;
  EXPECT_NEAR(bytes(), 128 * 3.5995 * 0.75 * 14352, 100);
  exchange.kernel = ExchangeKernel::kDomain;
  exchange.ranks_in_node = 1;
  EXPECT_NEAR(bytes(), 128 * 3.5995 * 0.75 * 14336, 100);
}

// Nodes of eight devices with 450 GB/s each, nine nodes with 50 GB/s per device. On a ring of eight the busiest wire
// carries 8/8 of what a rank sends, its own eighth included, over half of the bandwidth: 2 * 8/7 times as long, over up
// to 4 wires. In a hypercube it is 1/2 over a third: 12/7, over up to 3. Around nine nodes it is (81 - 1)/72 over a
// half, of the 8/9 that leave a node: 2.5, over up to 4.
TEST(ExpertExchange, TheWiringBounds) {
  struct Case {
    Topology inner, outer;
    double link, nic, farther_us;
  };
  for (const Case& c : {Case{Topology::kSwitch, Topology::kRail, 450, 50, 0},
                        Case{Topology::kFullyConnected, Topology::kSwitch, 450, 50, 0},
                        Case{Topology::kRing, Topology::kRail, 450 * 7 / 16., 50, 3},
                        Case{Topology::kHypercube, Topology::kRail, 262.5, 50, 2},
                        Case{Topology::kSwitch, Topology::kRing, 450, 20, 30},
                        Case{Topology::kRing, Topology::kRing, 450 * 7 / 16., 20, 33},
                        Case{Topology::kSwitch, Topology::kDragonfly, 450, 50, 20},
                        Case{Topology::kSwitch, Topology::kFatTree, 450, 25, 0}}) {
    SCOPED_TRACE(std::string(NameOf(c.inner)) + " " + std::string(NameOf(c.outer)));
    Cluster cluster = Joined({Level(c.inner, 8, 450 * kGBps, 1 * kUs), Level(c.outer, 9, 50 * kGBps, 10 * kUs)});
    cluster.networks[1].oversubscription = 2;  // applies to fat trees only
    ExpertExchange exchange = OnH100();
    SetWires(ViewOf(PlaceFirst(cluster, 72), cluster), cluster, exchange);
    EXPECT_EQ(exchange.ranks_in_node, 8);
    EXPECT_EQ(exchange.nodes, 9);
    EXPECT_NEAR(In(exchange.link, kGBps), c.link, 1e-9);
    EXPECT_NEAR(In(exchange.nic, kGBps), c.nic, 1e-9);
    EXPECT_NEAR(In(exchange.farther, kUs), c.farther_us, 1e-9);
    const double time = Us(exchange);
    exchange.farther = Seconds();
    EXPECT_NEAR(time - Us(exchange), c.farther_us, 1e-9);
  }
  // Four of eight ranks that have a wire to each other.
  const Cluster cluster = Joined({Level(Topology::kFullyConnected, 8, 350 * kGBps, 1 * kUs)});
  ExpertExchange exchange = OnH100();
  SetWires(ViewOf(PlaceFirst(cluster, 4), cluster), cluster, exchange);
  EXPECT_NEAR(In(exchange.link, kGBps), 150, 1e-9);
}

TEST(ExpertExchange, PlacesReachedOfHandCases) {
  EXPECT_DOUBLE_EQ(OwnersReached(1, 8), 1);
  EXPECT_DOUBLE_EQ(OwnersReached(2, 1), 1);
  EXPECT_DOUBLE_EQ(OwnersReached(2, 2), 1.5);
  EXPECT_NEAR(OwnersReached(8, 8), 8 * (1 - std::pow(7 / 8., 8)), 1e-12);
}

TEST(ExpertExchange, MoreWorkIsNeverFasterAndMoreBandwidthNeverSlower) {
  for (const ExchangeKernel kernel : {ExchangeKernel::kLowLatency, ExchangeKernel::kNormal, ExchangeKernel::kDomain}) {
    for (const bool is_combine : {false, true}) {
      for (const double nodes : {1., 2., 4.}) {
        for (const Architecture architecture :
             {Architecture("hopper"), Architecture("blackwell"), Architecture("cdna")}) {
          ExpertExchange exchange = OnH100();
          exchange.kernel = kernel;
          exchange.is_combine = is_combine;
          exchange.nodes = nodes;
          exchange.architecture = architecture;
          const double time = Us(exchange);
          EXPECT_GT(time, 0);
          ExpertExchange more = exchange;
          more.tokens *= 2;
          EXPECT_GT(Us(more), time);
          ExpertExchange faster = exchange;
          faster.link = 2 * faster.link;
          faster.nic = 2 * faster.nic;
          EXPECT_LE(Us(faster), time);
        }
      }
    }
  }
  ExpertExchange alone = OnH100();
  alone.ranks_in_node = 1;
  EXPECT_EQ(Us(alone), 0);
}

}  // namespace
}  // namespace slipstick
