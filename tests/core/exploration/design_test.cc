// A designed chip pays for the links that it lacks, and a design knows which way is better.
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
