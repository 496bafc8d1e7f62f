// Weights and activations in different formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/engine_step/served_formats.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// Formats that differ only in their scales are one kind of product: MI300X computes mxfp8 in fp8.
TEST(DecodeStep, MultipliesFp8WeightsWithMxfp8ActivationsAsFp8) {
  const auto step = [](const std::string& activations) {
    return Serve({"cluster=hgx-mi300x", "model=llama-3.1-8b", "serving.devices=1", "serving.mapping.tp=1",
                  "serving.engine=vllm", "serving.batch=8", "serving.precision.weights=fp8",
                  "serving.precision.activations=" + activations})
        .decode_step;
  };
  EXPECT_NEAR(step("mxfp8") / step("fp8"), 1, 0.001);
}

bool HasWarning(const std::string& weights, const std::string& activations, const std::string& part) {
  const ServingReport report =
      Serve({"cluster=dgx-h100", "model=llama-3.1-8b", "serving.devices=1", "serving.mapping.tp=1",
             "serving.precision.weights=" + weights, "serving.precision.activations=" + activations});
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(Warnings, SayThatWiderWeightsAreConverted) {
  const std::string part = "as if the weights were converted";
  EXPECT_TRUE(HasWarning("bf16", "fp8", part));
  EXPECT_TRUE(HasWarning("int8", "fp8", part));
  EXPECT_FALSE(HasWarning("fp8", "fp8", part));
  EXPECT_FALSE(HasWarning("fp8", "mxfp8", part));
  EXPECT_FALSE(HasWarning("bf16", "bf16", part));
  EXPECT_FALSE(HasWarning("int4", "fp8", part));
}

Precision AttentionWeights(const std::string& model, const std::string& weights) {
  const Result<Scenario> scenario = ScenarioOf({"cluster=dgx-h100", "model=" + model, "serving.devices=8",
                                                "serving.mapping.tp=8", "serving.precision.weights=" + weights});
  EXPECT_TRUE(scenario) << model;
  const ServingLoad& load = *scenario->serving;
  return FormatsOf(scenario->model, load.precision, load.engine, scenario->cluster.device).attention_weights;
}

// AWQ and GPTQ quantize every linear layer of Qwen3-30B-A3B (Qwen/Qwen3-30B-A3B-GPTQ-Int4). Kimi-K2.5 and gpt-oss are
// published with only their experts in 4 bits.
TEST(ServedFormats, AttentionIsInFourBitsWhereTheCheckpointHasItSo) {
  EXPECT_EQ(AttentionWeights("qwen3-30b-a3b", "int4"), Precision::kInt4);
  EXPECT_EQ(AttentionWeights("qwen3-8b", "int4"), Precision::kInt4);
  EXPECT_EQ(AttentionWeights("kimi-k2", "int4"), Precision::kBf16) << "moonshotai/Kimi-K2-Thinking";
  EXPECT_EQ(AttentionWeights("kimi-k2.5", "int4"), Precision::kBf16);
  EXPECT_EQ(AttentionWeights("gpt-oss-120b", "mxfp4"), Precision::kBf16);
}

// Kimi's int4 has a 16-bit scale per 32 weights: 384 experts of 3 x 7,168 x 2,048 in 60 layers are 1,014.7 billion
// weights of 4.5 bits, 570.8 GB. Its repository holds 594 GB, of which 23 GB are the other weights in 16 bit.
TEST(ServedFormats, Int4HasThePublishersScales) {
  const auto weights = [](const std::string& more) {
    return In(Serve({"cluster=dgx-h200", "model=kimi-k2", "serving.devices=1", "serving.mapping.tp=1",
                     "serving.precision.weights=int4", more})
                  .memory.weights,
              kGB);
  };
  EXPECT_NEAR(weights("model.moe.int4_group=32"), 594, 0.01 * 594);
  EXPECT_NEAR(weights("model.moe.int4_group=32") - weights("model.moe.int4_group=128"), 1014.7 * (2. / 32 - 2. / 128),
              0.01 * 47.6);
}

// NVIDIA's GLM-5.2-NVFP4 quantizes the routed experts alone: a census of its 47 shards has 362.39 GB of 4-bit numbers,
// 45.30 GB of scales and 57.11 GB in 16 bit, of which 19.91 are the draft module.
TEST(ServedFormats, SharedExpertsStayInSixteenBitsBesideNvfp4) {
  const ServingReport report = Serve({"cluster=dgx-b200", "model=glm-5.2", "serving.devices=1", "serving.mapping.tp=1",
                                      "serving.engine=sglang", "serving.precision.weights=nvfp4"});
  EXPECT_NEAR(In(report.memory.weights, kGB), 362.39 + 45.30 + 57.11 - 19.91, 1);
}

// A shared expert of DeepSeek-V3 is in nvfp4 (its hf_quant_config.json excludes attention and the router), one of
// GLM-5.2 is not: gate and up projection read 2 x 2,048 x 7,168 and 2 x 2,048 x 6,144 weights.
TEST(ServedFormats, SharedExpertsAreReadInTheCheckpointsFormat) {
  const auto read = [](const std::string& model) {
    const ServingReport report =
        Serve({"cluster=dgx-b200", "model=" + model, "serving.devices=8", "serving.mapping.tp=8", "serving.batch=1",
               "serving.engine=sglang", "serving.precision.weights=nvfp4"},
              true);
    double bytes = 0;
    for (const ServedOperator& one : report.operators.decode)
      if (one.name == "shared experts, gate+up") bytes += one.bytes.base();
    return bytes;
  };
  EXPECT_NEAR(read("deepseek-v3") / (2 * 2048 / 8.0 * 7168 * 0.5625), 1, 0.02);
  EXPECT_NEAR(read("glm-5.2") / (2 * 2048 / 8.0 * 6144 * 2), 1, 0.01);
}

// Fp8 products of checkpoints with block scales run in kernels of their own, which do not split k: AITER's table of
// tuned kernels for DeepSeek-V3 (a8w8_blockscale_tuned_gemm_ds_v3.csv) has them on MI300X. Per tensor they take half as
// long.
TEST(ServedFormats, BlockScaledProductsTakeTheirOwnKernels) {
  const auto times = [](const std::string& blocks) {
    const ServingReport report =
        Serve({"cluster=hgx-mi300x", "model=deepseek-r1", "model.moe.block_scales=" + blocks, "serving.devices=8",
               "serving.mapping.tp=8", "serving.batch=4", "serving.engine=sglang", "serving.precision.weights=fp8",
               "serving.precision.activations=fp8"},
              true);
    std::map<std::string, double> all;
    for (const ServedOperator& one : report.operators.decode) all[one.name] += In(one.time, kUs);
    return all;
  };
  std::map<std::string, double> blocks = times("true"), tensor = times("false");
  EXPECT_NEAR(blocks["latent projection"] / 19.75, 1, 0.3);  // 2,112 x 7,168
  EXPECT_NEAR(blocks["query projection"] / 6.69, 1, 0.2);    // 3,072 x 1,536
  EXPECT_NEAR(blocks["output projection"] / 8.11, 1, 0.2);   // 7,168 x 2,048
  EXPECT_LT(tensor["latent projection"], 0.5 * blocks["latent projection"]);
}

// In nvfp4 models with recurrent layers, attention and recurrent layers are fp8; latent attention is 16 bit; attention
// of other models is nvfp4 too.
TEST(ServedFormats, HybridModelsKeepAttentionInFp8BesideNvfp4) {
  EXPECT_EQ(AttentionWeights("qwen3.6-27b", "nvfp4"), Precision::kFp8);
  EXPECT_EQ(AttentionWeights("nemotron-h-8b", "nvfp4"), Precision::kFp8);
  EXPECT_EQ(AttentionWeights("kimi-linear-48b-a3b", "nvfp4"), Precision::kBf16);
  EXPECT_EQ(AttentionWeights("qwen3-32b", "nvfp4"), Precision::kNvfp4);
  EXPECT_EQ(AttentionWeights("qwen3.6-27b", "int4"), Precision::kInt4);
}

// Qwen3.6-27B: MLPs of 64 x 3 x 5,120 x 17,408 in nvfp4 (9.62 GB); in fp8, 48 recurrent layers of 5,120 x (16,384 + 96)
// and 6,144 x 5,120, and 16 attention layers of 5,120 x 14,336 and 6,144 x 5,120 (7.24 GB); embedding and head of
// 248,320 x 5,120 in 16 bit (5.09 GB). vLLM loads 10.64 GiB of unsloth's checkpoint on each of two devices, of which
// the vision tower is 0.43.
TEST(ServedFormats, HybridModelsInNvfp4AreAsLargeAsTheirCheckpoints) {
  const ServingReport report =
      Serve({"cluster=single-rtx-5090", "cluster.devices=2", "model=qwen3.6-27b", "serving.engine=vllm",
             "serving.devices=2", "serving.mapping.tp=2", "serving.precision.weights=nvfp4"});
  const double counted = 9.62 + 7.24 + 5.09;
  EXPECT_NEAR(In(report.memory.weights, kGB), counted / 2, 0.005 * counted);
  EXPECT_NEAR(In(report.memory.weights, kGB), 10.21 * 1.0737, 0.01 * 10.96);
}

// Per layer: queries, keys and values 2,048 × 5,120 and output 4,096 × 2,048 weights, 18.9 M on one device.
TEST(ServedFormats, FourBitAttentionIsReadInFourBits) {
  const auto read = [](const std::string& weights) {
    const ServingReport report = Serve({"cluster=single-rtx-5090", "model=qwen3-30b-a3b", "serving.engine=vllm",
                                        "serving.batch=1", "serving.precision.weights=" + weights},
                                       true);
    double bytes = 0;
    for (const ServedOperator& one : report.operators.decode)
      if (one.name.find("QKV") != std::string::npos || one.name.find("qkv") != std::string::npos)
        bytes += one.bytes.base();
    return bytes;
  };
  const double weights = 2048.0 * 5120 * BytesPerElement(Precision::kInt4);
  EXPECT_GT(read("int4"), weights);
  EXPECT_LT(read("int4"), 1.1 * weights) << "16 bits would be 21 MB";
}

}  // namespace
}  // namespace slipstick
