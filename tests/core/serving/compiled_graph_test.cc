// Steps of engines that compile a whole layer, as on Gaudi and Neuron.

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

ServedOperator AttentionOf(const std::vector<std::string>& assignments) {
  for (const ServedOperator& one : Serve(assignments, true).operators.decode) {
    if (one.name == "attention") return one;
  }
  ADD_FAILURE() << "no attention";
  return {};
}

// Falcon-7B's 71 heads of 64 share one KV head, so a byte of an 8-bit KV cache serves 142 FLOPs. An M1 Max does 26
// FLOPs in the time of reading a byte (10.6 TFLOP/s over 400 GB/s). 32 sequences of 2,560 tokens on average are 4 · 32
// · 2,560 · 71 · 64 FLOPs per layer.
TEST(CompiledGraph, IsBoundByComputeWhereManyHeadsShareACache) {
  const ServedOperator attention =
      AttentionOf({"model=falcon-7b", "cluster=single-m1-max", "serving.engine=gaudi", "serving.batch=32",
                   "serving.prompt=2048", "serving.output=1024", "serving.precision.kv_cache=fp8",
                   "serving.precision.weights=bf16", "serving.precision.activations=bf16"});
  EXPECT_EQ(attention.bound, Bound::kCompute);
  EXPECT_GE(In(attention.time, kMs), 4 * 32 * 2560.0 * 71 * 64 / 10.6e12 * 1e3);
}

// Qwen2.5-1.5B has two KV heads. Each of four ranks holds one, as each of two ranks does, so both read as much in the
// same time.
TEST(CompiledGraph, EveryRankHasAKvHead) {
  const auto attention = [](const std::string& tp) {
    return AttentionOf({"model=qwen2.5-1.5b", "cluster=gaudi2-hls2", "serving.engine=gaudi", "serving.mapping.tp=" + tp,
                        "serving.batch=64", "serving.prompt=8192", "serving.output=1024"})
        .time;
  };
  EXPECT_NEAR(attention("4") / attention("2"), 1, 0.01);
  EXPECT_GT(attention("1"), 1.5 * attention("2"));
}

}  // namespace
}  // namespace slipstick
