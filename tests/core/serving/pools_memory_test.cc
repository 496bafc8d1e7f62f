// A prefill pool must hold its weights and the KV cache of the prompts that it prefills.
#include <string>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

const Assignments kModel{"model=llama-3.1-70b", "cluster=dgx-h100", "cluster.devices=16",
                         "serving.precision.weights=fp8", "serving.precision.activations=fp8"};

// TP 8 decodes and leaves room for any of these prompts.
ServingReport OnPools(Count prompt, const Assignments& prefill) {
  return Serve(kModel +
               Assignments{"serving.prompt=" + std::to_string(prompt), "serving.output=2", "serving.mapping.tp=8",
                           "serving.disaggregated.prefill_devices=8", "serving.disaggregated.decode_devices=8",
                           "serving.requests_per_s=0.001"} +
               prefill);
}

std::string WhyNot(const ServingReport& report) {
  return report.infeasible.empty() ? "" : report.infeasible.front().message;
}

// 80 layers of 8 KV heads of 128 in 16 bit: 327,680 bytes per token. One H100 with 72.7 GB of fp8 weights keeps about
// 1.3 GiB, some 4,000 tokens: as many as one pool on the same device says.
TEST(PrefillPools, HoldThePromptsThatTheirDeviceAloneHolds) {
  const Assignments one_device{"serving.disaggregated.prefill_mapping.tp=1"};
  const ServingReport alone = Serve(
      kModel + Assignments{"serving.devices=1", "serving.prompt=1000", "serving.output=1", "serving.concurrency=1"});
  EXPECT_GT(alone.max_context, 3'000);
  EXPECT_LT(alone.max_context, 6'000);
  EXPECT_EQ(WhyNot(OnPools(static_cast<Count>(alone.max_context), one_device)), "");
  EXPECT_NE(WhyNot(OnPools(static_cast<Count>(alone.max_context) + 1, one_device)), "");

  const ServingReport much = OnPools(30'000, one_device);
  ASSERT_EQ(much.infeasible.size(), 1U);
  EXPECT_EQ(much.infeasible[0].reason, "memory");
  const double missing_tokens = 30'000 - static_cast<double>(alone.max_context);
  EXPECT_NEAR(327'680 * missing_tokens / (1 << 30), 7.85, 0.05);
  EXPECT_NE(much.infeasible[0].message.find("lacks 7.8"), std::string::npos) << much.infeasible[0].message;
}

// Two devices hold 36 GB of weights each and half of 9.8 GB.
TEST(PrefillPools, HoldLongPromptsOnMoreDevices) {
  EXPECT_EQ(WhyNot(OnPools(30'000, {"serving.disaggregated.prefill_mapping.tp=2"})), "");
  // 1 M tokens are 328 GB: 41 GB on each of eight devices, but 164 GB on each of two.
  EXPECT_EQ(WhyNot(OnPools(1'000'000, {"serving.disaggregated.prefill_mapping.tp=8"})), "");
  EXPECT_NE(WhyNot(OnPools(1'000'000, {"serving.disaggregated.prefill_mapping.tp=2"})), "");
}

// Each of two stages works on a prompt of its own: half as long as the longest that both stages hold alone.
TEST(PrefillPools, HoldAPromptPerStage) {
  const Assignments unsplit{"serving.prefill_chunk=131072"}, stages{"serving.mapping.tp=1", "serving.mapping.pp=2"};
  const ServingReport alone =
      Serve(kModel + unsplit + stages +
            Assignments{"serving.devices=2", "serving.prompt=1000", "serving.output=1", "serving.concurrency=1"});
  const Count half = static_cast<Count>(alone.max_context) / 2;
  const Assignments pool{"serving.disaggregated.prefill_mapping.tp=1", "serving.disaggregated.prefill_mapping.pp=2"};
  EXPECT_EQ(WhyNot(OnPools(half - 100, unsplit + pool)), "");
  EXPECT_NE(WhyNot(OnPools(half + 100, unsplit + pool)), "");
  // In chunks of 2,048 tokens one prompt is on both stages.
  EXPECT_EQ(WhyNot(OnPools(half + 100, pool + Assignments{"serving.prefill_chunk=2048"})), "");
}

}  // namespace
}  // namespace slipstick
