// Engines that multiply quantized weights in their stored format: llama.cpp since 2025.
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
          "serving.engine.stored_products.vector_per_clock=300",
          "serving.engine.launch_gap=3 us",
          "serving.engine.element_kernels=18"};
}

double DecodeSeconds(const std::vector<std::string>& assignments, std::string_view name) {
  const ServingReport report = Serve(assignments, true);
  const std::vector<ServedOperator>& all = report.operators.decode;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found == all.end()) {
    ADD_FAILURE() << name;
    return 0;
  }
  return found->time.base();
}

// The sizes of ggml-org's files as llama-bench prints them: experts in MXFP4, the rest in Q8_0.
TEST(StoredWeights, FilesOfGptOssHaveTheirSize) {
  const double gib = 1024.0 * 1024 * 1024;
  EXPECT_NEAR(Serve(OnSpark("gpt-oss-20b", "mxfp4", 1)).memory.weights.base() / gib, 11.27, 0.005 * 11.27);
  EXPECT_NEAR(Serve(OnSpark("gpt-oss-120b", "mxfp4", 1)).memory.weights.base() / gib, 59.02, 0.005 * 59.02);
  // A format no narrower than that of the rest applies to all weights.
  EXPECT_NEAR(Serve(OnSpark("qwen2.5-7b", "bf16", 1)).memory.weights.base(), 2 * 7.6156e9, 0.01 * 2 * 7.6156e9);
}

// 48 SMs at 2.42 GHz with 300 FLOP per clock do a row's 2 * 37,888 * 3,584 FLOP in 7.79 us. Loads add to that, since
// nothing is prefetched.
TEST(StoredWeights, RowsOfAVectorKernelAddTheirArithmetic) {
  const double one = DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 1), "gate+up projection"),
               eight = DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 8), "gate+up projection");
  EXPECT_NEAR(eight - one, 7 * 7.793e-6, 0.1 * 7 * 7.793e-6);
}

// 18 kernels besides the four GEMMs and attention, 3 us apart; a batch of one replays a graph.
TEST(StoredWeights, OnlyABatchOfOneIsAGraph) {
  for (const ServedOperator& one : Serve(OnSpark("qwen2.5-7b", "q8_0", 1), true).operators.decode)
    EXPECT_NE(one.name, "launch overhead");
  EXPECT_NEAR(DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 2), "launch overhead"), 22 * 3e-6, 1e-12);
}

double PrefillSeconds(const std::vector<std::string>& assignments, std::string_view name) {
  for (const ServedOperator& one : Serve(assignments, true).operators.prefill)
    if (one.name == name) return one.time.base();
  ADD_FAILURE() << name;
  return 0;
}

// Each further tile of 128 rows reads the 37,888 * 3,584 weights of 8.5 bits again, 144.3 MB, of which 0.6 of 24 MiB
// stay in L2. 2,048 rows take 15 * 0.895 passes more than one tile, at 0.8 of 273 GB/s.
TEST(StoredWeights, TilesOfRowsPassOverTheWeightsAgain) {
  const std::vector<std::string> prompt =
      OnSpark("qwen2.5-7b", "q8_0", 1) + std::vector<std::string>{"serving.prompt=2048",
                                                                  "cluster.device.efficiency.stream=0.8",
                                                                  "cluster.device.efficiency.cache_share=0.6"};
  const auto with = [&](const std::string& rows) {
    return PrefillSeconds(prompt + std::vector<std::string>{"serving.engine.stored_products.tile_rows=" + rows},
                          "gate+up projection");
  };
  const double extra = 15 * 0.895 * 144.3e6 / (0.8 * 273e9);
  EXPECT_NEAR(with("128") - with("1024"), extra - 0.895 * 144.3e6 / (0.8 * 273e9), 0.02 * extra);
}

// A tile of experts has as many rows as the pass has tokens. 128 tokens choose 4 experts each, with preferences: they
// hit 4 + 28 (1 - (1 + 1.44 * 508 / 32)^(-1 / 1.44)) = 28.906 of 32 experts of 3 * 2,880 * 2,880 weights. With 128 rows
// in place of 64 these compute 9.2e10 FLOP more; memory does not bound them.
TEST(StoredWeights, TilesOfExpertsComputeRowsOfOthers) {
  const std::vector<std::string> prompt =
      OnSpark("gpt-oss-20b", "mxfp4", 1) +
      std::vector<std::string>{"serving.prompt=128", "cluster.device.memory.bandwidth=100 TB/s"};
  const auto with = [&](const std::string& rows) {
    return PrefillSeconds(prompt + std::vector<std::string>{"serving.engine.stored_products.tile_rows=" + rows},
                          "experts");
  };
  const double extra = 28.906 * 64 * 2 * 3 * 2880 * 2880 / (48 * 2.42e9 * 300);
  EXPECT_NEAR(with("128") - with("64"), extra, 0.01 * extra);
}

// Each token after the first adds 2 us, as the warps of a layer's experts search the token list.
TEST(StoredWeights, ExpertsFindTheirRowsTokenByToken) {
  const auto with = [](const std::string& walk) {
    return PrefillSeconds(OnSpark("gpt-oss-20b", "mxfp4", 1) +
                              std::vector<std::string>{"serving.engine.stored_products.token_walk=" + walk},
                          "experts");
  };
  EXPECT_NEAR(with("2 us") - with("0 us"), 511 * 2e-6, 1e-9);
}

// An M5 core computes 16.6 TFLOP/s / 10 / 1.62 GHz = 1,025 FLOP per clock in 16 bit. With stored weights at 0.7 of that,
// 512 rows of 14,336 x 4,096 (gate and up) take 2 * 512 * 28,672 * 4,096 / 11.62 TFLOP/s; at 0.35 twice as long.
TEST(StoredWeights, MetalReachesAShareOfTheDevicesOwnRate) {
  const auto at = [](const std::string& efficiency) {
    return PrefillSeconds(
        {"cluster=single-m5", "model=mistral-7b", "serving.engine=llamacpp-2025", "serving.precision.weights=q4_0",
         "serving.precision.activations=fp16", "serving.prompt=512", "serving.output=32", "serving.batch=1",
         "serving.engine.on.0.stored_efficiency=" + efficiency},
        "gate+up projection");
  };
  const double compute = 2. * 512 * 28672 * 4096 / 11.62e12;
  EXPECT_NEAR(at("0.35") - at("0.7"), compute, 0.02 * compute);
  EXPECT_EQ(at("0.7"), PrefillSeconds({"cluster=single-m5", "model=mistral-7b", "serving.engine=llamacpp-2025",
                                       "serving.precision.weights=q4_0", "serving.precision.activations=fp16",
                                       "serving.prompt=512", "serving.output=32", "serving.batch=1"},
                                      "gate+up projection"));
}

// GGML multiplies Q8_0, Q4_0 and MXFP4 in one kernel, slower than fp16 on devices whose matrix units outrun it.
TEST(StoredWeights, ExpertsInEightBitsAreStoredWeightsToo) {
  const auto prefill = [](const std::string& weights) {
    return PrefillSeconds(OnSpark("qwen3-30b-a3b", weights, 1) + std::vector<std::string>{"serving.prompt=2048"},
                          "experts");
  };
  EXPECT_GT(prefill("q8_0"), prefill("fp16"));
  EXPECT_NEAR(prefill("q8_0"), prefill("q4_0"), 0.25 * prefill("q4_0"));
}

// Metal has no graphs: the gap before each of the 14 kernels of a layer is 5 us.
TEST(StoredWeights, AnArchitectureHasItsOwnGap) {
  const std::vector<std::string> on{
      "cluster=single-m2-ultra", "serving.engine.element_kernels=10",
      R"(serving.engine.on=[{"architecture": "apple", "graphs": false, "launch_gap": "5 us"}])"};
  EXPECT_NEAR(DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 1) + on, "launch overhead"), 14 * 5e-6, 1e-12);
}

// A format without kernels in the engine is timed, with a warning.
TEST(StoredWeights, AFormatThatTheEngineLacksIsARemark) {
  const auto remarks = [](const std::string& weights) {
    const std::vector<std::string> all = Serve(OnSpark("qwen2.5-7b", weights, 1)).warnings;
    return std::count(all.begin(), all.end(),
                      "llama.cpp has no weights in " + weights +
                          ": they are timed as if it had. It has q4_k_m, q4_0, q8_0, mxfp4, fp16, bf16, fp32.");
  };
  EXPECT_EQ(remarks("nvfp4"), 1);
  EXPECT_EQ(remarks("q8_0"), 0);
}

// The kernels round narrow activations to their own format, so products take 16-bit activations whatever the request
// states.
TEST(StoredWeights, NarrowActivationsComputeInSixteenBit) {
  const std::vector<std::string> asked =
      OnSpark("qwen2.5-7b", "q8_0", 8) + std::vector<std::string>{"serving.precision.activations=fp8"};
  EXPECT_DOUBLE_EQ(DecodeSeconds(asked, "gate+up projection"),
                   DecodeSeconds(OnSpark("qwen2.5-7b", "q8_0", 8), "gate+up projection"));
}

// MLX multiplies up to a number of rows by vector kernels that convert the weights for each row and load ahead. 40 cores
// at 1.62 GHz with 100 FLOP per clock do a row's 2 * 57,344 * 8,192 FLOP in 145 us, 8 rows in 1.16 ms; the weights,
// 0.5625 bytes each, arrive in 0.48 ms: streams reach 82 % of 614 GB/s, and weight-only kernels 1.1 times that. With
// more rows the device's usual kernels compute.
TEST(StoredWeights, RowsOfMlxRepeatTheConversionWhileWeightsArrive) {
  const auto seconds = [](int rows) {
    return DecodeSeconds(
        {"cluster=single-m5-max", "model=llama-3.1-70b", "serving.engine=mlx", "serving.devices=1",
         "serving.mapping.tp=1", "serving.mapping.pp=1", "serving.precision.weights=q4_0",
         "serving.precision.activations=fp16", "serving.precision.kv_cache=fp16", "serving.prompt=400",
         "serving.output=32", "serving.batch=" + std::to_string(rows),
         "serving.engine.stored_products.vector_per_clock=100", "serving.engine.stored_products.vector_rows=18"},
        "gate+up projection");
  };
  const double memory = 57344.0 * 8192 * 0.5625 / (1.1 * 0.82 * 614e9), row = 2.0 * 57344 * 8192 / (40 * 1.62e9 * 100);
  EXPECT_NEAR(seconds(1), memory, 0.05 * memory);
  EXPECT_NEAR(seconds(16), 16 * row, 0.05 * 16 * row);
  EXPECT_LT(seconds(19), 8 * row);
}

}  // namespace
}  // namespace slipstick
