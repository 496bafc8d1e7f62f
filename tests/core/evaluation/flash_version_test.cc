// The version of FlashAttention as an input of a step and of a prefill.
#include <gtest/gtest.h>

#include <string>

#include "core/api/api.h"
#include "core/base/json.h"

namespace slipstick {
namespace {

double FigureOf(const std::string& cluster, const std::string& changes, const std::string& part,
                const std::string& figure) {
  const std::string request =
      "{\"model\": \"llama-3.1-8b\", \"cluster\": {\"preset\": \"" + cluster + "\", \"devices\": 8}, " + changes + "}";
  const Json report = *ParseJson(EvaluateAnswer(request).text);
  EXPECT_TRUE(report.contains(part)) << report.dump();
  return report[part][figure].get<double>();
}
double StepOf(const std::string& cluster, const std::string& version) {
  return FigureOf(cluster,
                  "\"serving\": null, \"training\": {\"sequence\": 8192, \"global_batch\": 64, \"framework\": "
                  "{\"compute\": {\"flash_version\": " +
                      version + "}}}",
                  "training", "step_time_s");
}
double PrefillOf(const std::string& cluster, const std::string& version) {
  return FigureOf(cluster,
                  "\"training\": null, \"serving\": {\"prompt\": 32768, \"output\": 16, \"batch\": 1, \"engine\": "
                  "{\"preset\": \"vllm\", "
                  "\"flash_version\": " +
                      version + "}}",
                  "serving", "prefill_s");
}

TEST(FlashVersionInput, AStepAndAPrefillFollowTheKernels) {
  for (const auto& time : {StepOf, PrefillOf}) {
    const double own = time("dgx-h100", "null"), one = time("dgx-h100", "\"flash1\""),
                 two = time("dgx-h100", "\"flash2\""), three = time("dgx-h100", "\"flash3\"");
    EXPECT_GT(one, two * 1.01);
    EXPECT_GT(two, three * 1.01);
    EXPECT_DOUBLE_EQ(three, own);
    // FlashAttention-3 does not exist for Ampere.
    EXPECT_GT(time("dgx-a100", "\"flash1\""), time("dgx-a100", "\"flash2\"") * 1.01);
    EXPECT_DOUBLE_EQ(time("dgx-a100", "\"flash2\""), time("dgx-a100", "\"flash3\""));
  }
}

}  // namespace
}  // namespace slipstick
