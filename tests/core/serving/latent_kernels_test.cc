// Latent attention by engine: which kernel decodes which heads.
#include "core/engine_step/attention_time.h"
#include "core/engine_step/deployment.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

Seconds DecodeAttentionOf(const std::string& engine, const std::string& cluster, const std::string& head_dim) {
  const Result<Scenario> scenario =
      ScenarioOf({"model=glm-4.7-flash", "model.mla.nope_head_dim=" + head_dim, "cluster=" + cluster,
                  "serving.engine=" + engine, "serving.devices=1", "serving.mapping.tp=1"});
  EXPECT_TRUE(scenario);
  return MeanDecodeAttention(Deploy(scenario->model, scenario->cluster, *scenario->serving), {64, 2500}, false).time;
}

// The 20 heads of GLM-4.7-Flash are 192 wide. On Blackwell SGLang decodes them in Triton's kernel: 64 sequences of
// 2,500 tokens are 2 * 32 * 1,088 * 160,000 FLOP at 0.011 of 2,250 TFLOP/s, 0.45 ms.
TEST(LatentKernels, SglangUsesTritonsForWideHeadsOnBlackwell) {
  EXPECT_NEAR(In(DecodeAttentionOf("sglang", "single-b200-sxm", "192"), kUs), 450, 25);
  EXPECT_LT(In(DecodeAttentionOf("sglang", "single-b200-sxm", "128"), kUs), 90);
  EXPECT_LT(In(DecodeAttentionOf("sglang", "single-h100-sxm5-80gb", "192"), kUs), 150);
  EXPECT_LT(In(DecodeAttentionOf("vllm", "single-b200-sxm", "192"), kUs), 90);
}

}  // namespace
}  // namespace slipstick
