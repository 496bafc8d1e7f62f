// Weights and activations in different formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/engine_step/served_formats.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// Formats that differ in their scales alone are one product: MI300X computes mxfp8 in fp8.
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

// AWQ and GPTQ quantize every linear layer of Qwen3-30B-A3B (Qwen/Qwen3-30B-A3B-GPTQ-Int4); Kimi-K2.5 and gpt-oss are
// published with their experts alone in 4 bits.
TEST(ServedFormats, AttentionIsInFourBitsWhereTheCheckpointHasItSo) {
  EXPECT_EQ(AttentionWeights("qwen3-30b-a3b", "int4"), Precision::kInt4);
  EXPECT_EQ(AttentionWeights("qwen3-8b", "int4"), Precision::kInt4);
  EXPECT_EQ(AttentionWeights("kimi-k2", "int4"), Precision::kBf16) << "moonshotai/Kimi-K2-Thinking";
  EXPECT_EQ(AttentionWeights("kimi-k2.5", "int4"), Precision::kBf16);
  EXPECT_EQ(AttentionWeights("gpt-oss-120b", "mxfp4"), Precision::kBf16);
}

// Kimi's own int4 has a 16-bit scale for each 32 weights: 384 experts of 3 x 7,168 x 2,048 in 60 layers are 1,014.7
// billion weights of 4.5 bits, 570.8 GB; its repository holds 594 GB, of which 23 are the rest in 16 bit.
TEST(ServedFormats, TheScalesOfInt4AreThoseOfThePublisher) {
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

// Of a layer: queries, keys and values 2,048 × 5,120 and output 4,096 × 2,048 weights, 18.9 M on one device.
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
