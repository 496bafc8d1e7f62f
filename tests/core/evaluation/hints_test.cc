// Hints for training are true: the run that each of them names is as much faster as it says.
#include "core/evaluation/hints.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

Json ReportOf(const std::string& model, long devices, long batch) {
  const Result<Json> request = ReadRequest(
      "{}", {"version=3", "model=" + model, "cluster=dgx-h100", "cluster.devices=" + std::to_string(devices),
             "training.global_batch=" + std::to_string(batch), "training.mapping=auto", "serving=null", "cost=null"});
  EXPECT_TRUE(request);
  return Ask(*request, "*");
}

double PerSequence(const Json& report, long batch) {
  return report["training"]["step_time_s"].get<double>() / static_cast<double>(batch);
}

// Whether the report has such a hint. Sets `named` to its batch or device count and `by` to its gain.
bool Says(const Json& report, const char* format, long& named, double& by) {
  for (const Json& warning : report["warnings"]) {
    if (std::sscanf(warning.get<std::string>().c_str(), format, &named, &by) == 2) return true;
  }
  return false;
}

struct Asked {
  const char* model;
  long devices, batch;
};

TEST(TrainingHints, ANearBatchIsAsMuchFasterAsSaid) {
  for (const Asked& run : {Asked{"llama-3-8b", 72, 500}, Asked{"llama-3.1-70b", 200, 1001},
                           Asked{"llama-3-8b", 64, 509}, Asked{"qwen3-30b-a3b", 256, 448}}) {
    const Json asked = ReportOf(run.model, run.devices, run.batch);
    long batch = 0;
    double percent = 0;
    ASSERT_TRUE(Says(asked, "With a global batch of %ld, a sequence takes %lf %% less time", batch, percent));
    EXPECT_LE(std::abs(batch - run.batch) * 4, run.batch) << run.model;
    EXPECT_GE(percent, 5) << run.model;
    const double ratio = PerSequence(ReportOf(run.model, run.devices, batch), batch) / PerSequence(asked, run.batch);
    // Rounded to a percent. A walk that keeps the batch may find a mapping that is a little better.
    EXPECT_NEAR(100 * (1 - ratio), percent + 0.5, 1.1) << run.model;
  }
}

TEST(TrainingHints, ABatchThatDividesTheDevicesHasNone) {
  long batch = 0;
  double percent = 0;
  EXPECT_FALSE(
      Says(ReportOf("llama-3-8b", 64, 512), "With a global batch of %ld, a sequence takes %lf", batch, percent));
}

// Where the request states no batch, the mapping was chosen together with nearby batches, so there is no hint.
TEST(TrainingHints, ADefaultBatchHasNone) {
  const Result<Json> request = ReadRequest("{}", {"version=3", "model=llama-3-8b", "cluster=dgx-h100",
                                                  "cluster.devices=72", "training.mapping=auto", "serving=null"});
  ASSERT_TRUE(request);
  long batch = 0;
  double percent = 0;
  EXPECT_FALSE(Says(Ask(*request, "*"), "With a global batch of %ld, a sequence takes %lf", batch, percent));
}

TEST(TrainingHints, FewerDevicesThatSplitBetterAreAsMuchFasterAsSaid) {
  const Json asked = ReportOf("gpt3-175b", 1001, 1001);
  long devices = 0;
  double times = 0;
  ASSERT_TRUE(Says(asked,
                   "%*ld devices do not split evenly over servers and ranks: %ld devices train %lf times as fast",
                   devices, times));
  EXPECT_EQ(devices, 1000);  // 1001 is 7 x 11 x 13
  // The other run has a batch that 1,000 devices divide.
  EXPECT_NEAR(PerSequence(asked, 1001) / PerSequence(ReportOf("gpt3-175b", 1000, 1000), 1000), times, 0.1 * times);
}

}  // namespace
}  // namespace slipstick::testing
