// A step that decodes and prefills together.

#include <gtest/gtest.h>

#include <string>

#include "core/engine_step/attention_time.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/step_time.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// Under vLLM, 100 sequences of 4,100 tokens decode in a step with part of a prompt.
struct MixedStep {
  bool mixes_attention;
  Seconds time, together, apart;  // by the preset; decoded tokens in the prompts' call; in a call of their own
  Seconds own_kernel;             // of the decoded tokens, per layer
};
MixedStep StepOf(const std::string& model, const std::string& cluster) {
  const Result<Scenario> scenario =
      ScenarioOf({"model=" + model, "cluster=" + cluster, "serving.engine=vllm", "serving.mapping.tp=1"});
  EXPECT_TRUE(scenario);
  Deployment deployment = Deploy(scenario->model, scenario->cluster, *scenario->serving);
  MixedPass pass;
  pass.decode = {100, 4100};
  pass.prompts.tokens = 1948;
  MixedStep step;
  step.mixes_attention = deployment.mixes_attention;
  step.own_kernel = MeanDecodeAttention(deployment, pass.decode, false).time;
  step.time = TimeOf(pass, deployment);
  deployment.mixes_attention = true;
  step.together = TimeOf(pass, deployment);
  deployment.mixes_attention = false;
  step.apart = TimeOf(pass, deployment);
  return step;
}

// FlashAttention-2 computes 64 rows for one query of each of 32 heads of 128: 2 * 64 * 256 * 100 * 32 * 4100 FLOP at
// 0.45 of 312 TFLOP/s take 3.06 ms in each of 32 layers, in place of a decode kernel.
TEST(MixedSteps, DecodeInThePromptsKernelOnAmpere) {
  const MixedStep step = StepOf("llama-3.1-8b", "single-a100-sxm4-80gb");
  EXPECT_EQ(step.time, step.together);
  EXPECT_NEAR(In(step.together - step.apart, kMs), 32 * (3.0621 - In(step.own_kernel, kMs)), 0.01);
}

TEST(MixedSteps, DecodeInTheirOwnKernelElsewhere) {
  EXPECT_TRUE(StepOf("llama-3.1-8b", "single-l40s").mixes_attention);
  EXPECT_FALSE(StepOf("llama-3.1-8b", "single-h100-sxm5-80gb").mixes_attention);
  const MixedStep sinks = StepOf("gpt-oss-20b", "single-a100-sxm4-80gb");  // Triton's kernel
  EXPECT_EQ(sinks.together, sinks.apart);
}

// A plain command's factor on experts was measured on decode steps, so it applies to the decode part of a step.
TEST(MixedSteps, APlainCommandsFactorAppliesToTheDecodePart) {
  const Result<Scenario> scenario =
      ScenarioOf({"model=qwen3-30b-a3b", "cluster=single-h100-sxm5-80gb", "serving.engine=vllm"});
  ASSERT_TRUE(scenario);
  Deployment deployment = Deploy(scenario->model, scenario->cluster, *scenario->serving);
  MixedPass pass;
  pass.decode = {100, 4100};
  pass.prompts.tokens = 8000;
  const Seconds decode = TimeOf(pass.decode, deployment).time, tuned = TimeOf(pass, deployment);
  deployment.step_factor = 1.5;
  EXPECT_NEAR(In(TimeOf(pass, deployment) - tuned, kMs), 0.5 * In(decode, kMs), 1e-9);
  EXPECT_GT(tuned, 2 * decode);
}

}  // namespace
}  // namespace slipstick
