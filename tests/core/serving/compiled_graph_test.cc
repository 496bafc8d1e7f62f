// Steps of engines that compile a whole layer, as on Gaudi and Neuron.

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// Falcon-7B's 71 heads of 64 share one KV head: of an 8-bit cache a byte serves 142 FLOPs, an M1 Max does 26 in the
// time that it reads one (10.6 TFLOP/s over 400 GB/s). 32 sequences of 2,560 tokens in the mean are 4 · 32 · 2,560 · 71
// · 64 FLOPs a layer.
TEST(CompiledGraph, IsBoundByComputeWhereManyHeadsShareACache) {
  const ServingReport report =
      Serve({"model=falcon-7b", "cluster=single-m1-max", "serving.engine=gaudi", "serving.batch=32",
             "serving.prompt=2048", "serving.output=1024", "serving.precision.kv_cache=fp8",
             "serving.precision.weights=bf16", "serving.precision.activations=bf16"});
  for (const ServedOperator& one : report.operators.decode) {
    if (one.name != "attention") continue;
    EXPECT_EQ(one.bound, Bound::kCompute);
    EXPECT_GE(In(one.time, kMs), 4 * 32 * 2560.0 * 71 * 64 / 10.6e12 * 1e3);
  }
}

}  // namespace
}  // namespace slipstick
