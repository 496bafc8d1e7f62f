// Intervals in the report.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/scenario/answer.h"

namespace slipstick {
namespace {

Json ReportWith(const std::vector<std::string>& assignments) {
  Result<Json> report = ParseJson(EvaluateAnswer(R"({"version": 1})", assignments).text);
  return report ? std::move(*report) : Json();
}

double At(const Json& report, const std::string& path) { return NumberAt(report, path).value_or(-1); }

double HalfWidth(const Json& report, const std::string& interval, const std::string& answer) {
  return (At(report, interval + ".high") - At(report, interval + ".low")) / 2 / At(report, answer);
}

TEST(Intervals, ExistForEveryHeadlineFigureAndContainIt) {
  const Json report = ReportWith({});
  for (const auto& [interval, answer] :
       {std::pair<std::string, std::string>{"training.step_time_interval", "training.step_time_s"},
        {"training.memory_interval", "training.memory_bytes.total"},
        {"serving.tpot_interval", "serving.tpot_s"},
        {"serving.ttft_interval", "serving.ttft_s"},
        {"serving.throughput_interval", "serving.tokens_per_s"},
        {"serving.memory_interval", "serving.memory_bytes.total"},
        {"cost.device_interval", "cost.device_usd"}}) {
    EXPECT_GT(At(report, interval + ".low"), 0) << interval;
    EXPECT_LE(At(report, interval + ".low"), At(report, answer)) << interval;
    EXPECT_GE(At(report, interval + ".high"), At(report, answer)) << interval;
    EXPECT_EQ(At(report, interval + ".level"), 0.9) << interval;
  }
  EXPECT_EQ((*MemberAt(report, "serving.tpot_interval.rows")).size(), 5U);
  EXPECT_NE(TextOf(*MemberAt(report, "serving.tpot_interval.why")).find("If ten people measured"), std::string::npos);
}

// The prices of a device that is cut into dies are drawn for these dies, so that some draws are cheaper than the answer.
TEST(Intervals, OfADeviceCutIntoDiesLieAroundItsOwnCost) {
  const Json report = ReportWith({"cluster.device.design=h100-like", "partition.chiplets=4"});
  EXPECT_LT(At(report, "cost.device_interval.low"), 0.99 * At(report, "cost.device_usd"));
  EXPECT_GT(At(report, "cost.device_interval.high"), 1.01 * At(report, "cost.device_usd"));
}

// The text states the same ends as the numbers.
TEST(Intervals, StateTheirEndsInPercent) {
  const Json report = ReportWith({});
  for (const auto& [interval, answer] :
       {std::pair<std::string, std::string>{"training.step_time_interval", "training.step_time_s"},
        {"serving.tpot_interval", "serving.tpot_s"}}) {
    const auto percent = [&, path = interval, at = At(report, answer)](const std::string& end) {
      return std::to_string(std::lround(100 * std::abs(At(report, path + end) / at - 1)));
    };
    EXPECT_NE(TextOf(*MemberAt(report, interval + ".why"))
                  .find("between " + percent(".low") + " % less and " + percent(".high") + " % more"),
              std::string::npos)
        << interval;
  }
}

// Others measure slower than predicted more often, and by more, than faster.
TEST(Intervals, ReachFurtherTowardsSlower) {
  const Json report = ReportWith({});
  for (const auto& [interval, answer] :
       {std::pair<std::string, std::string>{"training.step_time_interval", "training.step_time_s"},
        {"serving.tpot_interval", "serving.tpot_s"},
        {"serving.ttft_interval", "serving.ttft_s"}}) {
    EXPECT_GT(At(report, interval + ".high") / At(report, answer), At(report, answer) / At(report, interval + ".low"))
        << interval;
  }
}

// The evidence has no run of experts under SGLang on CDNA, but some on Blackwell.
TEST(Intervals, CombinationsThatWereNotMeasuredAreLessCertain) {
  const auto with = [](const std::string& cluster) {
    return ReportWith({"model=deepseek-v3.1", "cluster=" + cluster, "training=null", "serving.devices=8",
                       "serving.batch=16", "serving.engine=sglang", "serving.mapping.tp=8"});
  };
  const Json known = with("dgx-b200"), unknown = with("hgx-mi300x");
  EXPECT_GT(HalfWidth(unknown, "serving.tpot_interval", "serving.tpot_s"),
            HalfWidth(known, "serving.tpot_interval", "serving.tpot_s"));
  EXPECT_NE(TextOf(*MemberAt(unknown, "serving.tpot_interval.why")).find("No published run has"), std::string::npos);
  EXPECT_EQ(TextOf(*MemberAt(known, "serving.tpot_interval.why")).find("No published run has"), std::string::npos);
}

TEST(Intervals, APlainCommandIsLessCertainThanATunedRun) {
  const Json stock = ReportWith({"serving.tuning=stock"}), tuned = ReportWith({});
  for (const std::string figure : {"serving.tpot", "serving.ttft"}) {
    EXPECT_GT(HalfWidth(stock, figure + "_interval", figure + "_s"),
              HalfWidth(tuned, figure + "_interval", figure + "_s"))
        << figure;
  }
  // The tuning affects memory only through the choice of the nearest runs, which is the same where the step is.
  const Json one_stock = ReportWith({"serving.tuning=stock", "serving.batch=1"}), one = ReportWith({"serving.batch=1"});
  EXPECT_NEAR(At(one_stock, "serving.memory_interval.high") / At(one, "serving.memory_interval.high"), 1, 0.02);
}

// Whole runs are slower than tuned steps: Llama 3 405B on 16,384 H100 reported 41 % (arXiv 2407.21783, Table 4).
TEST(Intervals, ATypicalRunIsSlowerThanATunedStep) {
  const Json report = ReportWith({});
  const double gap = At(report, "training.typical.step_time_s") / At(report, "training.step_time_s");
  EXPECT_GT(gap, 1);
  EXPECT_LT(gap, 1.5);
  EXPECT_NEAR(At(report, "training.typical.tokens_per_s") * gap, At(report, "training.tokens_per_s"),
              1e-6 * At(report, "training.tokens_per_s"));
  EXPECT_GE((*MemberAt(report, "training.typical.rows")).size(), 10U);
}

// Images have intervals made as those of other figures are.
TEST(Intervals, ExistForTheTimeTheRateAndTheCostOfAnImage) {
  const Json report = ReportWith({"version=3", "cluster=dgx-h100", "diffusion.model=flux.1-dev"});
  const double time = At(report, "diffusion.latency_s"), low = At(report, "diffusion.latency_interval.low"),
               high = At(report, "diffusion.latency_interval.high");
  EXPECT_LT(low, time);
  EXPECT_GT(high / time, time / low);  // wider towards slower
  const double rate = At(report, "diffusion.items_per_hour");
  EXPECT_NEAR(At(report, "diffusion.items_per_hour_interval.low"), rate * time / high, 1e-9 * rate);
  EXPECT_NEAR(At(report, "diffusion.items_per_hour_interval.high"), rate * time / low, 1e-9 * rate);
  const double cost = At(report, "diffusion.cost_usd");
  EXPECT_NEAR(At(report, "diffusion.cost_interval.low"), cost * low / time, 1e-9 * cost);
  EXPECT_NEAR(At(report, "diffusion.cost_interval.high"), cost * high / time, 1e-9 * cost);
  const std::string why(TextOf(*MemberAt(report, "diffusion.latency_interval.why")));
  EXPECT_NE(why.find("49 published runs of 5 publishers"), std::string::npos) << why;
  EXPECT_EQ(TextOf(*MemberAt(report, "diffusion.latency_interval.nearest")).find("xdit-flux-h100"), 0U);
  EXPECT_EQ(MemberAt(report, "diffusion.memory_interval"), nullptr);  // only one memory figure is published
}

TEST(Intervals, AnImageWithoutPricesHasNoIntervalOfCost) {
  const Json report = ReportWith({"version=3", "cluster=dgx-h100", "diffusion.model=flux.1-dev", "cost=null"});
  EXPECT_TRUE(MemberAt(report, "diffusion.cost_interval")->is_null());
  EXPECT_GT(At(report, "diffusion.latency_interval.low"), 0);
}

// exp(-0.11) and exp(0.12) times the measured time: core/presets/distances, "repeated".
TEST(Intervals, AMeasuredImageIsAsCertainAsRepeatedRuns) {
  Result<Json> report =
      ParseJson(EvaluateAnswer(R"({"version": 3, "measured": [{"path": "diffusion.latency_s", "value": "7 s"}]})",
                               {"cluster=dgx-h100", "diffusion.model=flux.1-dev"})
                    .text);
  ASSERT_TRUE(report);
  EXPECT_NEAR(At(*report, "diffusion.latency_s"), 7, 0.035);
  EXPECT_NEAR(At(*report, "diffusion.latency_interval.low") / 7, 0.896, 0.006);
  EXPECT_NEAR(At(*report, "diffusion.latency_interval.high") / 7, 1.127, 0.006);
}

}  // namespace
}  // namespace slipstick
