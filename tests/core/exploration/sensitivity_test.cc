// Exact elasticities equal those of small steps, on every golden request.
#include "core/exploration/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "golden_requests.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

constexpr double kSmall = 1e-4;

Json Inputs(const std::string& request, const std::string& figure, double share) {
  const Json answer = *ParseJson(SensitivityAnswer(request, {}, figure, share).text);
  return answer.contains("inputs") ? answer["inputs"] : Json::array();
}

std::map<std::string, double> ElasticitiesOver(double share, const std::string& request, const std::string& figure) {
  std::map<std::string, double> found;
  for (const Json& one : Inputs(request, figure, share)) {
    if (one["elasticity"].is_number()) found[TextOf(one["path"])] = one["elasticity"].get<double>();
  }
  return found;
}

bool IsNear(double exact, double stepped) { return std::abs(exact - stepped) < 0.01 + 0.01 * std::abs(stepped); }

class ExactElasticities : public ::testing::TestWithParam<GoldenRequest> {};

// Counts are left out: they have no small step. At a corner (a power limit that is just reached) the slope of either
// side is exact. A figure that moves in steps, as dies per wafer do, has the slope of a line through several of them;
// it spans little, so that nothing else jumps, such as automatic recomputation.
TEST_P(ExactElasticities, AreThoseOfSmallSteps) {
  const std::string request = JsonText(WithVersion(*ParseJson(GetParam().text)));
  int compared = 0, in_steps = 0;
  for (const std::string figure : {"training.step_time_s", "training.memory_bytes.total", "serving.tpot_s",
                                   "serving.ttft_s", "serving.memory_bytes.total", "cost.device_usd",
                                   "serving.cost_usd_per_million_tokens", "diffusion.latency_s"}) {
    std::map<std::string, double> over_two, over_five, over_ten;
    const Json answer = *ParseJson(SensitivityAnswer(request, {}, figure, kSmall).text);
    if (!answer.contains("inputs")) continue;
    const double value = answer["value"].get<double>();
    for (const Json& one : answer["inputs"]) {
      const double at = one["value"].get<double>(), below = one["low"].get<double>();
      if (!(std::abs(below / at - (1 - kSmall)) < 1e-9)) continue;  // a count, or no valid step
      const double exact = one["exact_elasticity"].is_number() ? one["exact_elasticity"].get<double>() : 0;
      const double up = (one["high_figure"].get<double>() / value - 1) / kSmall,
                   down = (1 - one["low_figure"].get<double>() / value) / kSmall;
      ++compared;
      if (IsNear(exact, up) || IsNear(exact, down)) continue;
      ++in_steps;
      const std::string path = TextOf(one["path"]);
      if (over_five.empty()) {
        over_two = ElasticitiesOver(0.02, request, figure);
        over_five = ElasticitiesOver(0.05, request, figure);
        over_ten = ElasticitiesOver(0.1, request, figure);
      }
      EXPECT_TRUE(std::abs(exact - over_two[path]) < 0.05 || std::abs(exact - over_five[path]) < 0.05 ||
                  std::abs(exact - over_ten[path]) < 0.05)
          << figure << " by " << path << ": " << exact << ", up " << up << ", down " << down << ", over 2 % "
          << over_two[path] << ", over 5 % " << over_five[path] << ", over 10 % " << over_ten[path];
    }
  }
  EXPECT_GT(compared, 20);
  EXPECT_LE(in_steps, 0.1 * compared);
}

INSTANTIATE_TEST_SUITE_P(OfGoldenRequests, ExactElasticities, ::testing::ValuesIn(GoldenRequests()),
                         [](const auto& info) { return std::string(info.param.name); });

// The module's price adds to those of the other parts, so a percent of it moves the sum by its share.
TEST(Sensitivity, WithoutStepsGivesExactElasticitiesAlone) {
  const Json answer = *ParseJson(SensitivityAnswer(R"({"version": 1})", {}, "cost.device_usd", 0).text);
  double last = 1e9, of_module = 0;
  for (const Json& one : answer["inputs"]) {
    EXPECT_FALSE(one.contains("elasticity"));
    if (!one["exact_elasticity"].is_number()) continue;
    const double exact = one["exact_elasticity"].get<double>();
    EXPECT_LE(std::abs(exact), last);
    last = std::abs(exact);
    if (TextOf(one["path"]) == "cost.device.module") of_module = exact * answer["value"].get<double>();
  }
  EXPECT_NEAR(of_module, 435, 1e-6);
}

TEST(Sensitivity, NeedsAFigureOfTheReport) {
  const auto issue = [](std::string_view figure) {
    return SensitivityAnswer(R"({"version": 1})", {}, figure, 0).issues.at(0);
  };
  EXPECT_EQ(issue("").message, "Name a figure of the report, such as serving.tpot_s");
  EXPECT_EQ(issue("serving.tpot").message, "Unknown output serving.tpot");
  EXPECT_EQ(issue("serving.tpot").path, "figure");
}

TEST(Sensitivity, OfServingLeavesOutThePostTrainingThatRestsOnIt) {
  const std::string request = R"({"version": 1, "post_training": {}})";
  EXPECT_GT(Inputs(request, "serving.tpot_s", 0.1).size(), 5u);
  EXPECT_GT(Inputs(request, "training.step_time_s", 0.1).size(), 5u);
}

}  // namespace
}  // namespace slipstick::testing
