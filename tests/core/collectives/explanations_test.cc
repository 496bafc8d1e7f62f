// The terms in the explanations of collective times.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/collectives/moe_exchange.h"
#include "core/operators/bound_device.h"
#include "tests/core/collectives/explained.h"
#include "tests/core/collectives/networks.h"
#include "tests/support/explained.h"

namespace slipstick {
namespace {

using Figures = std::vector<FigureRecord>;

Figures Explained(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster) {
  Tape tape;
  return FiguresOf(slipstick::testing::ExplainedTime(call, group, cluster, tape).time);
}

// 14 steps of 0.76 us after 5.4 us, 14/8 of 64 KiB at 0.32 of 450 GB/s, and a rank's own eighth copied at 1.3 of them.
TEST(CollectiveExplanations, ARingShowsItsFittedConstants) {
  const CollectiveCall call{.type = CollectiveType::kAllReduce, .bytes = 65536 * kB, .algorithm = "ring"};
  const Figures figures = Explained(call, {{8}, {1}}, DgxH100());
  const FigureRecord* ring = Titled(figures, "Ring, LL protocol");
  ASSERT_NE(ring, nullptr);
  EXPECT_EQ(ring->formula,
            "base_latency + 2 * steps_around_a_domain * latency + bytes_sent_per_rank / (short_rate * bandwidth) + "
            "local_copy_of_a_rank_s_own_block");
  const FigureRecord* rate = Titled(figures, "Bandwidth efficiency of LL");
  ASSERT_NE(rate, nullptr);
  EXPECT_EQ(rate->path, "fabrics.nvlink.short_rate");
  EXPECT_EQ(rate->value, 0.32);
  EXPECT_EQ(rate->kind, FigureKind::kConstant);
  EXPECT_NE(rate->source, "");
  EXPECT_EQ(figures.back().title, "Ring in one domain");
  const std::set<std::string> origins = Origins(figures);
  for (const char* input : {"model.bytes", "training.mapping.tp", "cluster.networks.0.bandwidth",
                            "cluster.networks.0.latency", "cluster.networks.0.base_latency"}) {
    EXPECT_TRUE(origins.contains(input)) << input;
  }
}

TEST(CollectiveExplanations, AChoiceOfAlgorithmsMovesWithTheFastest) {
  const CollectiveCall call{.type = CollectiveType::kAllReduce, .bytes = 64 * kMiB};
  const Figures figures = Explained(call, {{8}, {1}}, DgxH100());
  const FigureRecord& choice = figures.back();
  EXPECT_EQ(choice.kind, FigureKind::kChoice);
  ASSERT_EQ(choice.among.size(), 2u);
  EXPECT_EQ(choice.among[0].name, "Ring");
  EXPECT_EQ(choice.among[1].name, "In-network reduction by the switches");
  EXPECT_TRUE(choice.among[1].is_chosen);
  EXPECT_EQ(choice.shares, (std::vector<double>{1, 0}));  // only the chosen algorithm has a share
  // The switches take 64 MiB * 9/8 / (0.66 * 450 GB/s) = 254.2 us of the 329.6 us.
  const FigureRecord* reduction = Titled(figures, "In-network reduction");
  ASSERT_NE(reduction, nullptr);
  EXPECT_EQ(reduction->formula, "base_latency + setup_of_the_pipeline + buffers_to_the_switch_and_the_sum_back");
  EXPECT_NEAR(reduction->shares[2], 254.2 / 329.6, 1e-3);
}

// Sixteen of 256 chips: the shape of their block decides their links. It depends on the sides and on the device count.
TEST(CollectiveExplanations, LinksInAGridRestOnTheBlock) {
  NetworkLevel torus = Grid(Topology::kTorus, {16, 16}, 200 * kGBps);
  torus.fabric = Fabric("ici");
  for (const CollectiveType type : {CollectiveType::kAllReduce, CollectiveType::kAllToAll}) {
    const Figures figures = Explained({.type = type, .bytes = 1 * kGB}, {{16}, {1}}, Joined({torus}));
    const std::set<std::string> origins = Origins(figures);
    for (const char* input :
         {"cluster.devices", "cluster.networks.0.dims.0", "cluster.networks.0.dims.1", "cluster.networks.0.wrap_every",
          "training.mapping.tp", "cluster.networks.0.bandwidth", "cluster.networks.0.latency"}) {
      EXPECT_TRUE(origins.contains(input)) << NameOf(type) << " " << input;
    }
  }
}

// The NICs are the slower of two levels, so the time of 1 GB depends on them and not on the links inside the node.
TEST(CollectiveExplanations, TheTextbooksBandwidthIsThatOfTheSlowestLevel) {
  const CollectiveCall call{.type = CollectiveType::kAllReduce,
                            .bytes = 1 * kGB,
                            .library = CollectiveLibrary::kAlphaBeta,
                            .algorithm = "ring"};
  const Figures figures = Explained(call, {{8, 4}, {1, 1}}, DgxH100());
  const FigureRecord* beta = Titled(figures, "Bandwidth of a rank");
  ASSERT_NE(beta, nullptr);
  EXPECT_EQ(beta->kind, FigureKind::kProcedure);
  ASSERT_EQ(beta->terms.size(), 3u);
  EXPECT_EQ(beta->terms[0].origin, "cluster.networks.1.bandwidth");
  EXPECT_EQ(beta->terms[1].origin, "training.mapping.tp");
  EXPECT_EQ(beta->terms[2].origin, "cluster.networks.0.size");
  EXPECT_EQ(beta->shares, (std::vector<double>{1, 0, 0}));
}

TEST(CollectiveExplanations, AnExchangeOfTokensShowsItsKernelsConstants) {
  Tape tape;
  ExpertExchange exchange;
  Device device;
  device.architecture = Architecture("hopper");
  exchange.architecture = WithNodes(device, tape).architecture;
  exchange.link = 450 * kGBps;
  BindInputs(exchange.tokens, "serving.batch", &tape);
  const Figures figures = FiguresOf(TimeOf(exchange).time);
  const FigureRecord& time = figures.back();
  EXPECT_EQ(time.title, "Low-latency exchange in one domain");
  const std::set<std::string> origins = Origins(figures);
  for (const char* input : {"serving.batch", "kernels.hopper.expert_exchange.low_latency.link",
                            "kernels.hopper.expert_exchange.low_latency.setup"}) {
    EXPECT_TRUE(origins.contains(input)) << input;
  }
}

}  // namespace
}  // namespace slipstick
