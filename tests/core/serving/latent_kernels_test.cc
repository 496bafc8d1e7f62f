// The kernel with which each engine decodes latent attention.
#include "core/engine_step/attention_time.h"
#include "core/engine_step/deployment.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

Seconds DecodeAttentionOf(const std::string& engine, const std::string& cluster, const DecodePass& pass,
                          const std::string& head_dim = "192") {
  const Result<Scenario> scenario =
      ScenarioOf({"model=glm-4.7-flash", "model.mla.nope_head_dim=" + head_dim, "cluster=" + cluster,
                  "serving.engine=" + engine, "serving.devices=1", "serving.mapping.tp=1"});
  EXPECT_TRUE(scenario);
  return MeanDecodeAttention(Deploy(scenario->model, scenario->cluster, *scenario->serving), pass, false).time;
}

// GLM-4.7-Flash has 20 heads with 192 dimensions each. SGLang decodes them with Triton's kernel on Blackwell: 64 sequences
// of 2,500 tokens need 2 * 32 * 1,088 * 160,000 FLOP. At 100 FLOP per cycle on each of 148 SMs and 1.85 GHz, that is
// 0.41 ms.
TEST(LatentKernels, SglangUsesTritonsKernelForWideHeadsOnBlackwell) {
  const DecodePass pass{64, 2500};
  EXPECT_NEAR(In(DecodeAttentionOf("sglang", "single-b200-sxm", pass), kUs), 420, 25);
  EXPECT_LT(In(DecodeAttentionOf("sglang", "single-b200-sxm", pass, "128"), kUs), 90);
  EXPECT_LT(In(DecodeAttentionOf("sglang", "single-h100-sxm5-80gb", pass), kUs), 150);
  EXPECT_LT(In(DecodeAttentionOf("vllm", "single-b200-sxm", pass), kUs), 90);
}

// On compute capabilities 8 and 12, vLLM and SGLang have only Triton's kernel. TensorRT-LLM's kernel, which the family of
// kernels describes, processes a sequence on one SM, 89 ns per token. Triton's divides 131,072 tokens into 256 splits,
// which use all 188 SMs: 2 * 32 * 1,088 FLOP per token, at 100 FLOP per cycle and SM and 2.6 GHz, take 0.19 ms. For 1,024
// tokens, vLLM makes 2 splits and SGLang 32; with two blocks of heads each, 4 and 64 SMs work.
TEST(LatentKernels, TritonsKernelSplitsASequence) {
  const std::string rtx = "single-rtx-pro-6000";
  const DecodePass pass{1, 131072}, brief{1, 1024};
  EXPECT_NEAR(In(DecodeAttentionOf("vllm", rtx, pass), kUs), 206, 10);
  EXPECT_NEAR(In(DecodeAttentionOf("sglang", rtx, pass), kUs), 206, 10);
  EXPECT_NEAR(In(DecodeAttentionOf("trtllm", rtx, pass), kUs), 131072 * 0.089, 100);
  EXPECT_LT(10 * DecodeAttentionOf("vllm", "single-a100-sxm4-80gb", pass),
            DecodeAttentionOf("trtllm", "single-a100-sxm4-80gb", pass));
  EXPECT_NEAR(In(DecodeAttentionOf("vllm", rtx, brief), kUs), 6 + 68.5, 2);
  EXPECT_NEAR(In(DecodeAttentionOf("sglang", rtx, brief), kUs), 6 + 4.3 + 0.6, 1);
}

}  // namespace
}  // namespace slipstick
