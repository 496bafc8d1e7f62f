// TTFT and TPOT by component.
#include "core/serving/latency_parts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/scenario/answer.h"

namespace slipstick {
namespace {

Json ServedWith(const std::string& serving, const std::string& rest = "") {
  return (*ParseJson(
      EvaluateAnswer(R"({"version": 1, "training": null, "serving": {)" + serving + "}" + rest + "}").text))["serving"];
}

double SumOf(const Json& parts) {
  double sum = 0;
  for (const auto& [name, part] : parts.items()) {
    EXPECT_GE(part.get<double>(), 0) << name;
    sum += part.get<double>();
  }
  return sum;
}

TEST(LatencyParts, AddUpUnderEveryLoadAndEngine) {
  int answered = 0;
  for (const char* load :
       {R"("batch": 1)", R"("batch": 32)", R"("concurrency": 900)", R"("requests_per_s": 2)",
        R"("requests_per_s": 900)", R"("waves": 4, "concurrency": 64)",
        R"("mapping": {"tp": 4}, "disaggregated": {"prefill_devices": 4})",
        R"("mapping": {"tp": 4}, "requests_per_s": 2, "disaggregated": {"prefill_devices": 4})",
        R"("speculative": {"draft_tokens": 3})", R"("prefill_chunk": 512)", R"("mapping": {"tp": 4, "pp": 2})",
        R"("engine": {"preset": "roofline"})", R"("engine": {"preset": "llama-cpp"})"}) {
    for (const char* model : {"llama-3.1-70b", "mixtral-8x7b"}) {
      const Json report = ServedWith(load, R"(, "model": {"preset": ")" + std::string(model) + R"("})");
      if (report.is_null()) continue;
      ++answered;
      const double tpot = report["tpot_s"].get<double>(), ttft = report["ttft_s"].get<double>();
      EXPECT_NEAR(SumOf(report["tpot_parts_s"]), tpot, 1e-12 * tpot) << model << " " << load;
      EXPECT_NEAR(SumOf(report["ttft_parts_s"]), ttft, 1e-12 * ttft) << model << " " << load;
    }
  }
  EXPECT_GE(answered, 20);
}

TEST(LatencyParts, AreThoseOfTheLoad) {
  const Json alone = ServedWith(R"("batch": 1)");
  EXPECT_EQ(alone["tpot_parts_s"]["prefill"], 0);  // there are no other prefills
  EXPECT_EQ(alone["ttft_parts_s"]["others"], 0);
  EXPECT_EQ(alone["ttft_parts_s"]["queue"], 0);
  const Json full = ServedWith(R"("batch": 32)");
  EXPECT_DOUBLE_EQ(full["tpot_parts_s"]["prefill"].get<double>(),
                   full["tpot_s"].get<double>() - full["decode_step_s"].get<double>());
  const Json pools = ServedWith(R"("mapping": {"tp": 4}, "disaggregated": {"prefill_devices": 4})");
  EXPECT_EQ(pools["tpot_parts_s"]["prefill"], 0);  // prefill has its own pool
  EXPECT_GT(pools["ttft_parts_s"]["transfer"], 0);
  EXPECT_EQ(pools["ttft_parts_s"]["first_step"], pools["tpot_s"]);
}

// One device has no communication, and a decode step of one sequence is nearly all reading of weights.
TEST(LatencyParts, OfOneDeviceAreItsWeights) {
  const Json report =
      ServedWith(R"("batch": 1, "engine": {"preset": "roofline"})",
                 R"(, "model": {"preset": "llama-3.1-8b"}, "cluster": {"preset": "single-h100-sxm5-80gb"})");
  ASSERT_FALSE(report.is_null());
  EXPECT_EQ(report["tpot_parts_s"]["communication"], 0);
  EXPECT_GT(report["tpot_parts_s"]["gemm"].get<double>(), 0.9 * report["tpot_s"].get<double>());
}

TEST(LatencyParts, DistinguishOperators) {
  KernelTime product, exchange, norm;
  product.flops = 1 * kFlop;
  exchange.bound = Bound::kNetwork;
  norm.bound = Bound::kLatency;
  EXPECT_EQ(WorkOf({"QKV projection", product, 1}), Work::kGemm);
  EXPECT_EQ(WorkOf({"attention", product, 1}), Work::kAttention);
  EXPECT_EQ(WorkOf({"all-reduce", exchange, 1}), Work::kCommunication);
  EXPECT_EQ(WorkOf({"norms, activation, residual", norm, 1}), Work::kSmallKernels);
  EXPECT_EQ(WorkOf({"scheduler overhead per step", norm, 1}), Work::kScheduler);
}

}  // namespace
}  // namespace slipstick
