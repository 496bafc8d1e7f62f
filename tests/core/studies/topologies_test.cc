// The studies of topologies against values by hand.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/base/json.h"
#include "core/studies/paper_study.h"

namespace slipstick {
namespace {

std::map<std::string, double> Figures(std::string_view study, const char* path) {
  const Json answer = *ParseJson(StudyAnswer(study).text);
  std::map<std::string, double> figures;
  for (const Json& point : answer["points"])
    figures[point["label"].get<std::string>()] = point["figures"][path].get<double>();
  return figures;
}

// Llama-3.1-70B, TP 8, 8,192 tokens per micro-batch: 134,217,728 bytes of residual stream, gathered and scattered.
// NCCL's Simple protocol on NVLink takes 5.4 + 7 us of setup, seven steps of 3.5 * 0.74 us, 7/8 of the bytes at 0.84 *
// 450 GB/s, and the copy of a rank's own eighth at 1.3 * 450 GB/s. There are 80 layers * 2 pairs * 3 passes * 8
// micro-batches, each pair launched in 12 us.
TEST(TopologyStudies, TensorParallelism) {
  const double bytes = 8192. * 8192 * 2, fixed = 5.4e-6 + 7e-6 + 7 * 3.5 * 0.74e-6;
  const auto seconds = [&](double share) {  // share: the busy part of a rank's links
    const double one = fixed + 7. / 8 * bytes / (0.84 * 450e9 * share) + bytes / 8 / (1.3 * 450e9 * share);
    return 80 * 2 * 3 * 8 * (2 * one + 12e-6);
  };
  const std::map<std::string, double> found = Figures("topologies", "training.communication_s.tp");
  for (const char* wiring : {"switch", "fully_connected", "dragonfly", "ring", "torus", "hypercube"}) {
    EXPECT_NEAR(found.at(wiring), seconds(1), 1e-9) << wiring;
  }
  // 4 x 2 without wraparound wires: a corner uses two of three links.
  EXPECT_NEAR(found.at("mesh"), seconds(2. / 3), 1e-9);
}

// Mixtral 8x7B, EP 8: 4,096 tokens with a copy to each of two experts, 4,096 elements of two bytes; dispatch and
// combine in 32 layers, three passes. Routed tokens reach 0.62 of the bandwidth after 20 us; 7/8 of them leave the
// rank.
TEST(TopologyStudies, ExpertParallelism) {
  const double bytes = 4096. * 2 * 4096 * 2;
  const auto seconds = [&](double detour) { return 32 * 3 * 2 * (20e-6 + detour * 7. / 8 * bytes / (0.62 * 450e9)); };
  const std::map<std::string, double> found = Figures("topologies-experts", "training.communication_s.ep");
  for (const char* wiring : {"switch", "fully_connected", "dragonfly"})
    EXPECT_NEAR(found.at(wiring), seconds(1), 1e-9) << wiring;
  // The busiest wires of the torus are those along the side of four: 4/8 of what a rank sends over a third of its
  // bandwidth, where a switch moves 7/8 over all of it. On the ring it is 8/8 over a half, on the mesh 4/4 over a
  // third.
  EXPECT_NEAR(found.at("torus"), seconds(4. / 8 * 3 / (7. / 8)), 1e-9);
  EXPECT_NEAR(found.at("hypercube"), seconds(1. / 2 * 3 / (7. / 8)),
              1e-9);  // half of what a rank sends crosses each of three sides
  EXPECT_NEAR(found.at("ring"), seconds(2 / (7. / 8)), 1e-9);
  EXPECT_NEAR(found.at("mesh"), seconds(3 / (7. / 8)), 1e-9);
}

// Llama-3.1-8B: 8,030,261,248 gradients in 16 bit over 64 devices, 2 * 63/64 of them through the eight 50 GB/s NICs of
// a node, of which a step's collectives reach 0.8 and rings 0.95. Before: a setup of 5.4 us
// and a copy of 1/64 at 1.3 * 450 GB/s; and 3.5 times two passes, by trees of 7 steps of 0.74 us and 3 of 10 us, by rings
// of 56 and 7 where nodes have neighbors.
TEST(TopologyStudies, DataParallelism) {
  const double sent = 2 * 63. / 64 * 8030261248 * 2;
  const std::map<std::string, double> found = Figures("topologies-data", "training.communication_s.dp");
  const double expected = sent / (8 * 50e9 * 0.8 * 0.95);
  const double start = 5.4e-6 + 8030261248. * 2 / 64 / (1.3 * 450e9);
  const double by_tree = start + 3.5 * 2 * (7 * 0.74e-6 + 3 * 10e-6);
  const double by_ring = start + 3.5 * 2 * (56 * 0.74e-6 + 7 * 10e-6);
  for (const char* wiring : {"switch", "fully_connected", "dragonfly", "hypercube"}) {
    EXPECT_NEAR(found.at(wiring), expected + by_tree, 1e-6) << wiring;
  }
  for (const char* wiring : {"ring", "torus"}) EXPECT_NEAR(found.at(wiring), expected + by_ring, 1e-6) << wiring;
  EXPECT_NEAR(found.at("mesh"), 1.5 * expected + by_ring, 1e-6);
}

}  // namespace
}  // namespace slipstick
