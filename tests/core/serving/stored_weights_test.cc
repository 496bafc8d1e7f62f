// Engines that multiply with quantized weights as they are stored: llama.cpp of 2025 on.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

std::vector<std::string> OnSpark(const std::string& model, const std::string& weights, int batch) {
  return {"cluster=single-dgx-spark",
          "model=" + model,
          "serving.engine=llamacpp-2025",
          "serving.devices=1",
          "serving.mapping.tp=1",
          "serving.mapping.pp=1",
          "serving.precision.weights=" + weights,
          "serving.precision.activations=fp16",
          "serving.precision.kv_cache=fp16",
          "serving.prompt=512",
          "serving.output=32",
          "serving.batch=" + std::to_string(batch),
          "serving.engine.stored_products.per_clock=300",
          "serving.engine.launch_gap=3 us",
          "serving.engine.element_kernels=18"};
}

double DecodeSeconds(const std::vector<std::string>& assignments, std::string_view name) {
  const ServingReport report = Serve(assignments, true);
  const std::vector<ServedOperator>& all = report.decode_operators;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found == all.end()) {
    ADD_FAILURE() << name;
    return 0;
  }
  return found->time.base();
}

// The sizes that llama-bench prints of ggml-org's files: experts in MXFP4, the rest in Q8_0.
TEST(StoredWeights, FilesOfGptOssHaveTheirSize) {
  const double gib = 1024.0 * 1024 * 1024;
  EXPECT_NEAR(Serve(OnSpark("gpt-oss-20b", "mxfp4", 1)).memory.weights.base() / gib, 11.27, 0.005 * 11.27);
  EXPECT_NEAR(Serve(OnSpark("gpt-oss-120b", "mxfp4", 1)).memory.weights.base() / gib, 59.02, 0.005 * 59.02);
  // What is not narrower than the format for the rest is kept in no other.
  EXPECT_NEAR(Serve(OnSpark("qwen2.5-7b", "bf16", 1)).memory.weights.base(), 2 * 7.6156e9, 0.01 * 2 * 7.6156e9);
}

// 48 SMs at 2.42 GHz with 300 FLOP a clock do the 2 * 37,888 * 3,584 FLOP of a row in 7.79 us. Loads add to that: nothing is loaded ahead.
TEST(StoredWeights, RowsOfAVectorKernelAddTheirArithmetic) {
  const double one = DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 1), "gate+up projection"),
               eight = DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 8), "gate+up projection");
  EXPECT_NEAR(eight - one, 7 * 7.793e-6, 0.1 * 7 * 7.793e-6);
}

// 18 kernels beside the four of GEMMs and attention, 3 us apart; a batch of one replays a graph.
TEST(StoredWeights, OnlyABatchOfOneIsAGraph) {
  for (const ServedOperator& one : Serve(OnSpark("qwen2.5-7b", "q8_0", 1), true).decode_operators) EXPECT_NE(one.name, "launch overhead");
  EXPECT_NEAR(DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 2), "launch overhead"), 22 * 3e-6, 1e-12);
}

// The kernels round narrow activations to theirs: whatever was asked for, products take 16 bit.
TEST(StoredWeights, NarrowActivationsComputeInSixteenBit) {
  const std::vector<std::string> asked = OnSpark("qwen2.5-7b", "q8_0", 8) + std::vector<std::string>{"serving.precision.activations=fp8"};
  EXPECT_DOUBLE_EQ(DecodeSeconds(asked, "gate+up projection"), DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 8), "gate+up projection"));
}

}  // namespace
}  // namespace slipstick
