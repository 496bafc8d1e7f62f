// A training step and a serving pass by what bounds them.
#include "core/operators/time_by_bound.h"

#include <gtest/gtest.h>

#include <string>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/scenario/answer.h"

namespace slipstick {
namespace {

Json BoundReport(const std::string& changes) {
  Json request = *ParseJson(changes);
  request["version"] = 1;
  return *ParseJson(EvaluateAnswer(JsonText(request)).text);
}

double SumOfBounds(const Json& parts) {
  double sum = 0;
  for (const auto& [name, part] : parts.items()) sum += part.get<double>();
  return sum;
}

TEST(TimeByBound, SplitsInProportionToTheOperators) {
  TimeByBound operators;
  operators.Of(Bound::kCompute) = 1 * kS, operators.Of(Bound::kL2) = 2 * kS, operators.Of(Bound::kMemory) = 1 * kS;
  ByBound<Seconds> beside;
  beside.network = 3 * kS;
  const TimeByBound time = SplitByBound(8 * kS, SharesOf(operators), beside);
  EXPECT_EQ(time.compute, 2 * kS);
  EXPECT_EQ(time.l2, 4 * kS);
  EXPECT_EQ(time.memory, 2 * kS);
  EXPECT_EQ(time.network, 3 * kS);
  EXPECT_EQ(time.Total(), 11 * kS);
  EXPECT_EQ(SplitByBound(8 * kS, SharesOf({}), {}).compute, 8 * kS);
}

TEST(TimeByBound, AddsUpToTheStepAndToThePasses) {
  int answered = 0;
  for (const char* cluster : {"dgx-a100", "dgx-h100", "dgx-b200", "hgx-mi300x", "tpu-v5p-pod"}) {
    for (const char* model : {"llama-3.1-8b", "mixtral-8x7b"}) {
      const Json report = BoundReport(R"({"model": {"preset": ")" + std::string(model) +
                                      R"("}, "cluster": {"preset": ")" + cluster + R"("}})");
      if (report.contains("issues")) continue;
      ++answered;
      const Json &training = report["training"], &serving = report["serving"];
      const double step = training["step_time_s"].get<double>(), prefill = serving["prefill_s"].get<double>(),
                   decode = serving["decode_step_s"].get<double>();
      EXPECT_NEAR(SumOfBounds(training["time_by_bound"]), step, 1e-12 * step) << cluster << " " << model;
      EXPECT_NEAR(SumOfBounds(serving["time_by_bound"]["prefill"]), prefill, 1e-12 * prefill)
          << cluster << " " << model;
      EXPECT_NEAR(SumOfBounds(serving["time_by_bound"]["decode"]), decode, 1e-12 * decode) << cluster << " " << model;
    }
  }
  EXPECT_GE(answered, 8);
}

double SumOfLevels(const Json& levels) {
  double sum = 0;
  for (const Json& one : levels) sum += one["time_s"].get<double>();
  return sum;
}

// Each level's time is what groups wait for there; together they are the communication-bound part.
TEST(TimeByBound, ItsNetworkPartByLevel) {
  const Json report = BoundReport(
      R"({"model": {"preset": "llama-3.1-70b"}, "cluster": {"preset": "dgx-h100", "devices": 64},
          "training": {"mapping": {"tp": 8, "pp": 2, "virtual_stages": 1}, "recompute": "full"},
          "serving": {"devices": 16, "mapping": {"tp": 8, "pp": 2}}})");
  ASSERT_FALSE(report.contains("issues")) << report["issues"].dump();
  const Json &training = report["training"], &serving = report["serving"];
  const double network = training["time_by_bound"]["network"].get<double>();
  EXPECT_NEAR(SumOfLevels(training["network_by_level"]), network, 1e-12 * network);
  // Tensor parallelism in the node, data and pipeline parallelism between nodes.
  ASSERT_EQ(training["network_by_level"].size(), 2);
  EXPECT_EQ(training["network_by_level"][0]["level"], "NVLink 4");
  EXPECT_NEAR(training["network_by_level"][0]["time_s"].get<double>(), training["time_s"]["tp"].get<double>(),
              1e-12 * network);
  for (const char* pass : {"prefill", "decode"}) {
    const double bound = serving["time_by_bound"][pass]["network"].get<double>();
    EXPECT_NEAR(SumOfLevels(serving["network_by_level"][pass]), bound, 1e-12 * bound) << pass;
    ASSERT_EQ(serving["network_by_level"][pass].size(), 2) << pass;
    EXPECT_EQ(serving["network_by_level"][pass][1]["level"], "InfiniBand NDR") << pass;
  }
}

// An L2 of 1 TB/s bounds every product of an H100, in training and in serving.
TEST(TimeByBound, ASlowCacheTakesMostOfIt) {
  const Json report =
      BoundReport(R"({"cluster": {"preset": "dgx-h100", "device": {"caches": [{}, {"bandwidth": "1 TB/s"}]}}})");
  ASSERT_FALSE(report.contains("issues")) << report["issues"].dump();
  const auto share_of_l2 = [](const Json& parts) { return parts["l2"].get<double>() / SumOfBounds(parts); };
  EXPECT_GT(share_of_l2(report["training"]["time_by_bound"]), 0.8);
  EXPECT_GT(share_of_l2(report["serving"]["time_by_bound"]["prefill"]), 0.6);
  EXPECT_GT(share_of_l2(report["serving"]["time_by_bound"]["decode"]), 0.6);
}

// Unfused attention on an A100 does two products of a head's 128 columns per score in the forward pass: 512 FLOP take
// 1.6 ps at 312 TFLOP/s. It also reads and writes the score at least four times in 16 bits: 8 bytes take 3.9 ps at 2.04
// TB/s. Fused attention keeps the scores on the chip.
TEST(TimeByBound, MemoryBoundsUnfusedAttention) {
  const auto bounds = [](bool fused) {
    const Json report = BoundReport(
        R"({"model": {"preset": "gpt3-13b"}, "cluster": {"preset": "dgx-a100", "devices": 8}, "serving": null,
      "training": {"sequence": 8192, "global_batch": 8, "recompute": "none", "mapping": {"tp": 8}, "flash_attention": )" +
        std::string(fused ? "true" : "false") + "}}");
    EXPECT_FALSE(report.contains("issues")) << report["issues"].dump();
    return report["training"]["time_by_bound"];
  };
  const Json unfused = bounds(false), fused = bounds(true);
  EXPECT_GT(unfused["memory"].get<double>(), 4 * fused["memory"].get<double>());
  EXPECT_GT(unfused["memory"].get<double>() - fused["memory"].get<double>(),
            0.5 * (SumOfBounds(unfused) - SumOfBounds(fused)));
}

}  // namespace
}  // namespace slipstick
