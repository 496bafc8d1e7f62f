// A designed chip pays for what it lacks.
#include "core/exploration/design.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/base/json.h"

namespace slipstick {
namespace {

const std::vector<std::string> kChip{"cluster.device.design=h100-like", "model=llama-3.1-8b", "cluster=dgx-h100",
                                     "cluster.devices=8"};

Json Evaluated(std::vector<std::string> assignments) {
  assignments.insert(assignments.begin(), kChip.begin(), kChip.end());
  return *ParseJson(EvaluateAnswer("", assignments, "").text);
}

TEST(ChipWithoutLinks, ExchangesNothing) {
  const std::string no_links = "cluster.device.design.area_split.network=0.001";
  const Json joined = Evaluated({no_links, "training=null", "serving.devices=8", "serving.mapping.tp=8"});
  EXPECT_EQ(joined["technology"]["links"], 0);
  EXPECT_EQ(joined["serving"]["feasible"], false);
  EXPECT_EQ(joined["serving"]["infeasible"][0]["reason"], "network");
  // Alone it needs none.
  const Json alone = Evaluated({no_links, "training=null", "serving.devices=8", "serving.mapping.tp=1"});
  EXPECT_EQ(alone["serving"]["feasible"], true) << alone["serving"]["infeasible"];
  // No mapping of several devices trains.
  const Json trained = Evaluated({no_links, "serving=null"});
  EXPECT_EQ(trained["training"]["feasible"], false);
  EXPECT_EQ(trained["training"]["infeasible"].back()["reason"], "network");
}

// Its tiles read their operands from memory: slower with every slice less, and by no more than the memory is slower
// than the L2.
TEST(ChipWithLessL2, IsSlowerAndNeverFallsOffACliff) {
  double before = 0;
  for (const char* share : {"0.1445", "0.08", "0.04", "0.02", "0.01", "0.005", "0.001"}) {
    const Json report = Evaluated({"serving=null", "training.mapping.tp=2", "training.mapping.pp=1",
                                   "cluster.device.design.area_split.l2=" + std::string(share)});
    ASSERT_TRUE(report["training"].is_object()) << share << report;
    const double time = report["training"]["step_time_s"].get<double>();
    EXPECT_GE(time, before * (1 - 1e-9)) << share;
    if (before > 0) {
      EXPECT_LE(time, 4 * before) << share;
    }
    before = time;
  }
}

TEST(Design, MakesLargerWhatIsBetterLarger) {
  for (const char* figure : {"serving.tokens_per_s", "training.step_time_s"}) {
    std::vector<std::string> assignments = kChip;
    assignments.push_back("training.mapping.tp=2");
    const Json found = *ParseJson(DesignAnswer("", assignments, figure).text);
    ASSERT_TRUE(found.contains("objective")) << figure << found;
    const double start = found["start"].get<double>(), best = found["objective"].get<double>();
    if (std::string(figure) == "serving.tokens_per_s") {
      EXPECT_GE(best, start);
    } else {
      EXPECT_LE(best, start);
    }
    for (const auto& [path, value] : found["overrides"].items()) assignments.push_back(path + "=" + value.dump());
    const Json report = *ParseJson(EvaluateAnswer("", assignments, "").text);
    EXPECT_GT(report["technology"]["links"], 0) << figure;
  }
}

}  // namespace
}  // namespace slipstick
