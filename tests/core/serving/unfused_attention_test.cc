// Prompt attention in separate kernels (FasterTransformer): passes over the scores, part of them in L2.
#include "served.h"

namespace slipstick {
namespace {

double AttentionSeconds(const std::string& l2_bandwidth) {
  const std::vector<std::string> prompt{"model=llama-7b",
                                        "cluster=single-a100-sxm4-80gb",
                                        "cluster.device.caches.1.bandwidth=" + l2_bandwidth,
                                        "serving.engine=fastertransformer",
                                        "serving.engine.unfused_score=12 B",
                                        "serving.prompt=512",
                                        "serving.batch=1",
                                        "serving.devices=1",
                                        "serving.mapping.tp=1"};
  for (const ServedOperator& one : Serve(prompt, true).operators.prefill)
    if (one.name == "attention") return one.time.base();
  ADD_FAILURE() << "no attention";
  return 0;
}

// The part of the scores in L2 takes half as long at twice its bandwidth.
TEST(UnfusedAttention, MovesTheScoresThatL2HoldsAtItsRate) {
  const double slow = AttentionSeconds("20 TB/s"), twice = AttentionSeconds("40 TB/s"),
               four = AttentionSeconds("80 TB/s");
  EXPECT_GT(slow - twice, 1e-8);
  EXPECT_NEAR(slow - twice, 2 * (twice - four), 1e-3 * (slow - twice));
}

}  // namespace
}  // namespace slipstick
