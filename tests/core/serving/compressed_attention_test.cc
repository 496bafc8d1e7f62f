// Attention to a compressed history (DeepSeek V4), against published figures.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

std::vector<std::string> AtAMillion(const std::string& model, const std::string& format) {
  return {"model=" + model,
          "cluster=dgx-b200",
          "serving.engine=vllm",
          "serving.devices=8",
          "serving.mapping.tp=8",
          "serving.batch=1",
          "serving.prompt=1048064",
          "serving.output=512",
          "serving.precision.weights=mxfp4",
          "serving.precision.kv_cache=" + format};
}

// vLLM, "DeepSeek V4 in vLLM" (2026-04-24): a sequence of a million tokens takes 9.62 GiB in 16 bit, 83.9 for V3.2;
// users who calculate the same for V4-Flash get 6.72. On top come 2 x 4 x 2 x 640 numbers in fp32 in each layer that
// selects and 2 x 128 x 512 in the others.
TEST(CompressedAttention, HoldsAMillionTokensAsPublished) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  EXPECT_NEAR(Serve(AtAMillion("deepseek-v4-pro", "bf16")).kv_cache.base() / kGiB,
              9.62 + (30 * 40960 + 31 * 524288) / kGiB, 0.01);
  EXPECT_NEAR(Serve(AtAMillion("deepseek-v4-flash", "bf16")).kv_cache.base() / kGiB,
              6.72 + (21 * 40960 + 20 * 524288) / kGiB, 0.01);
}

// DeepSeek-V4's report: at a million tokens its models hold 10 % and 7 % of the KV cache of V3.2, which has 656 bytes
// per token and 132 per key in each of 61 layers (fp8, as vLLM and FlashMLA keep it).
TEST(CompressedAttention, HoldsTheShareOfV32ThatIsPublished) {
  const double v32 = 61 * (656 + 132) * 1048576.0;
  EXPECT_NEAR(Serve(AtAMillion("deepseek-v4-pro", "fp8")).kv_cache.base() / v32, 0.10, 0.01);
  EXPECT_NEAR(Serve(AtAMillion("deepseek-v4-flash", "fp8")).kv_cache.base() / v32, 0.07, 0.01);
}

// DeepSeek-V4's report: a token at a million tokens takes 27 % and 10 % of the FLOPs of V3.2. All operators of V4-Flash
// are 12 % of V3.2's here; which operators the report leaves out or weighs differently is unknown, so its two points
// lie within the tolerance.
TEST(CompressedAttention, ComputesTheShareOfV32ThatIsPublished) {
  const auto flops = [](const std::string& model) {
    const ServingReport report =
        Serve({"model=" + model, "cluster=dgx-b200", "serving.engine=vllm", "serving.devices=1", "serving.mapping.tp=1",
               "serving.batch=1", "serving.prompt=1048064", "serving.output=512"},
              true);
    double sum = 0;
    for (const ServedOperator& one : report.operators.decode) sum += one.flops.base() * one.count;
    return sum;
  };
  const double v32 = flops("deepseek-v3.2");
  EXPECT_NEAR(flops("deepseek-v4-pro") / v32, 0.27, 0.015);
  EXPECT_NEAR(flops("deepseek-v4-flash") / v32, 0.10, 0.025);
}

}  // namespace
}  // namespace slipstick
