// Time of engines' kernels in addition to their products: looping over all experts on the device, and quantizing
// operands.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

std::vector<std::string> On(const std::string& model, const std::string& cluster, int devices,
                            const std::string& engine) {
  const std::string all = std::to_string(devices);
  return {"model=" + model,
          "cluster=" + cluster,
          "cluster.devices=" + all,
          "serving.engine=" + engine,
          "serving.devices=" + all,
          "serving.mapping.tp=" + all,
          "serving.batch=4",
          "serving.prompt=1000",
          "serving.output=100",
          "serving.precision.weights=fp8",
          "serving.precision.activations=fp8"};
}

Seconds Step(const std::vector<std::string>& assignments, const std::string& more) {
  return Serve(assignments + std::vector<std::string>{more}).decode_step;
}

// Each of 8 H200 holds a part of all 256 experts of 58 layers: 0.28 us each, 4.157 ms per step, whichever are hit.
TEST(ExpertKernels, BlockScaledExpertsTakeTimeEvenIfNotHit) {
  const std::vector<std::string> hopper = On("deepseek-v3", "dgx-h200", 8, "trtllm");
  const std::string blocks = "model.moe.block_scales=true", anywhere = "serving.engine.on=[]";
  EXPECT_NEAR(In(Step(hopper, blocks) - Step(hopper, anywhere), kMs), 58 * 256 * 0.28e-3, 1e-6);
  EXPECT_EQ(Step(hopper, blocks), Step(hopper, "serving.output=100"));
  const std::vector<std::string> blackwell = On("deepseek-v3", "dgx-b200", 8, "trtllm");
  EXPECT_EQ(Step(blackwell, blocks), Step(blackwell, anywhere));
}

// ai-dynamo/aiconfigurator MoE tables at 095f58a, H100: an eighth of each of DeepSeek-V3's experts in fp8 blocks takes
// 2.81 ms for 4,096 tokens in TensorRT-LLM's kernels and 1.35 in Triton's. One token reads as many weights in either.
TEST(ExpertKernels, AnEngineRunsTheFasterOfItsLibraries) {
  const auto experts = [](const std::string& engine, const std::string& more) {
    const std::vector<std::string> scenario =
        On("deepseek-v3", "dgx-h100", 8, engine) +
        std::vector<std::string>{"serving.mapping.ep=1", "serving.prompt=4096", "serving.tuning=tuned", more};
    for (const ServedOperator& one : Serve(scenario, true).operators.prefill) {
      if (one.name == "experts") return one.time;
    }
    return Seconds{};
  };
  const std::string trtllm_alone = "serving.engine.expert_library=trtllm";
  const Seconds two = experts("sglang", "serving.batch=1"), one = experts("sglang", trtllm_alone),
                trtllm = experts("trtllm", "serving.batch=1");
  EXPECT_LT(two, one);
  EXPECT_GT(trtllm / two, 1.4);
  EXPECT_LT(trtllm / two, 2.81 / 1.35);
  const std::vector<std::string> single =
      On("deepseek-v3", "dgx-h100", 8, "sglang") + std::vector<std::string>{"serving.batch=1"};
  EXPECT_LE(Step(single, "serving.prompt=1000"), Step(single, trtllm_alone));
  EXPECT_GT(Step(single, "serving.prompt=1000"), 0.99 * Step(single, trtllm_alone));
}

// Four products in each of 32 layers on H100, each with a kernel of 1.9 us that finds block scales; the LM head stays
// in 16 bit.
TEST(ExpertKernels, SeparateKernelsQuantizeTheOperands) {
  const std::vector<std::string> dense = On("llama-3.1-8b", "single-h100-sxm5-80gb", 1, "vllm");
  const std::string apart = "serving.engine.quantizes_apart=true", fused = "serving.engine.quantizes_apart=false";
  EXPECT_NEAR(In(Step(dense, apart) - Step(dense, fused), kUs), 32 * 4 * 1.9, 1e-6);
  const std::string wide = "serving.precision.activations=bf16";
  EXPECT_EQ(Serve(dense + std::vector<std::string>{"serving.precision.weights=bf16", wide, apart}).decode_step,
            Serve(dense + std::vector<std::string>{"serving.precision.weights=bf16", wide, fused}).decode_step);
  // A100 has no fp8: it converts the weights and computes in 16 bit.
  const std::vector<std::string> ampere = On("llama-3.1-8b", "single-a100-sxm4-80gb", 1, "vllm");
  EXPECT_EQ(Step(ampere, apart), Step(ampere, fused));
}

}  // namespace
}  // namespace slipstick
