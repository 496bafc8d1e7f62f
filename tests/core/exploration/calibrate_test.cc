// Calibration by synthetic measurements: computed from scenarios with other parameters, they give those parameters
// back.
#include "core/exploration/calibrate.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::Assignments;
using testing::Find;

double FigureIn(const Assignments& assignments, const std::string& path) {
  return Find(*ParseJson(EvaluateAnswer(R"({"version": 1})", assignments).text), path)->get<double>();
}

Json Calibrate(const Json& measured) {
  return *ParseJson(CalibrateAnswer(JsonText(Json{{"request", Json{{"version", 1}}}, {"measured", measured}})).text);
}

const Json* InputOf(const Json& measured, std::string_view path) {
  for (const Json& one : measured["inputs"]) {
    if (one["path"] == path) return &one;
  }
  return nullptr;
}

TEST(Calibrate, FindsTheEfficiencyThatAStepWasMadeWith) {
  const double slower = FigureIn({"cluster.device.efficiency.matrix=0.7"}, "training.step_time_s");
  const Json answer = Calibrate({{{"figure", "training.step_time_s"}, {"value", slower}}});
  const Json& one = answer["measured"][0];
  EXPECT_NEAR(one["error"].get<double>(), FigureIn({}, "training.step_time_s") / slower - 1, 1e-12);
  const Json* matrix = InputOf(one, "cluster.device.efficiency.matrix");
  ASSERT_NE(matrix, nullptr);
  EXPECT_NEAR((*matrix)["to"].get<double>(), 0.7, 1e-6);
  EXPECT_EQ(answer["calibrated"]["inputs"][0]["path"], "cluster.device.efficiency.matrix");  // it moves the step most
  EXPECT_NEAR(answer["calibrated"]["computed"][0].get<double>(), slower, 1e-6 * slower);
}

// A token takes longer by the scheduler's time: the scheduler would have to be twice as slow.
TEST(Calibrate, SaysByHowMuchATermWouldHaveToBeOff) {
  const double scheduler = FigureIn({}, "serving.tpot_parts_s.scheduler"), token = FigureIn({}, "serving.tpot_s");
  const Json slower = Calibrate({{{"figure", "serving.tpot_s"}, {"value", token + scheduler}}});
  double share = 0;
  bool is_found = false;
  for (const Json& term : slower["measured"][0]["terms"]) {
    share += term["share"].get<double>();
    if (term["path"] != "serving.tpot_parts_s.scheduler") continue;
    EXPECT_NEAR(term["factor"].get<double>(), 2, 1e-9);
    is_found = true;
  }
  EXPECT_TRUE(is_found);
  EXPECT_NEAR(share, 1, 1e-9);
  // The scheduler alone cannot explain a gain of more than its own time.
  const Json faster = Calibrate({{{"figure", "serving.tpot_s"}, {"value", token - 2 * scheduler}}});
  for (const Json& term : faster["measured"][0]["terms"]) {
    if (term["path"] == "serving.tpot_parts_s.scheduler") {
      EXPECT_TRUE(term["factor"].is_null());
    }
  }
}

TEST(Calibrate, MemoryIsExplainedByTheReserve) {
  const double total = FigureIn({}, "serving.memory_bytes.total");
  const Json answer = Calibrate({{{"figure", "serving.memory_bytes.total"}, {"value", total + 5e8}}});
  const Json* reserve = InputOf(answer["measured"][0], "serving.engine.memory.reserve");
  ASSERT_NE(reserve, nullptr);
  EXPECT_NEAR((*reserve)["to"].get<double>() - (*reserve)["from"].get<double>(), 5e8, 1e6);
}

TEST(Calibrate, TwoFiguresTakeOneInputEach) {
  const Assignments other{"cluster.device.efficiency.stream=0.7", "serving.engine.request=0.016"};
  const double token = FigureIn(other, "serving.tpot_s"), first = FigureIn(other, "serving.ttft_s");
  const Json answer =
      Calibrate({{{"figure", "serving.tpot_s"}, {"value", token}}, {{"figure", "serving.ttft_s"}, {"value", first}}});
  const Json& calibrated = answer["calibrated"];
  ASSERT_EQ(calibrated["inputs"].size(), 2U);
  EXPECT_NE(calibrated["inputs"][0]["path"], calibrated["inputs"][1]["path"]);
  EXPECT_NEAR(calibrated["computed"][0].get<double>(), token, 1e-3 * token);
  EXPECT_NEAR(calibrated["computed"][1].get<double>(), first, 1e-3 * first);
}

TEST(Calibrate, NoInputIsProposedBeyondItsRange) {
  const double step = FigureIn({}, "training.step_time_s");
  const Json answer = Calibrate({{{"figure", "training.step_time_s"}, {"value", step / 50}}});
  for (const Json& input : answer["measured"][0]["inputs"]) {
    EXPECT_TRUE(input["to"].is_null()) << input["path"];
  }
  EXPECT_TRUE(answer["calibrated"].is_null());
}

// A gigabyte takes a tenth longer than computed in a ring of eight: the link's bandwidth is a tenth less.
TEST(Calibrate, ACollectiveIsExplainedByItsLink) {
  const Json ring{{"kind", "all_gather"}, {"bytes", 1e9}, {"ranks", 8}};
  const Json base = Calibrate({{{"collective", ring}, {"value", 1}}});
  const double computed = base["measured"][0]["computed"].get<double>();
  const Json answer = Calibrate({{{"collective", ring}, {"value", 1.1 * computed}}});
  const Json* fraction = InputOf(answer["measured"][0], "cluster.networks.0.bandwidth_fraction");
  ASSERT_NE(fraction, nullptr);
  EXPECT_NEAR((*fraction)["to"].get<double>() / (*fraction)["from"].get<double>(), 1 / 1.1,
              0.02);  // except for its latency
}

TEST(Calibrate, AnInvalidMeasurementIsAnIssue) {
  EXPECT_FALSE(CalibrateAnswer("{}").issues.empty());
  EXPECT_FALSE(CalibrateAnswer(R"({"measured": [{"figure": "serving.tpot_s", "value": -1}]})").issues.empty());
  EXPECT_FALSE(CalibrateAnswer(R"({"measured": [{"figure": "serving.no_such_s", "value": 1}]})").issues.empty());
  EXPECT_FALSE(CalibrateAnswer(R"({"measured": [{"collective": {"kind": "all_reduce"}, "value": 1}]})").issues.empty());
  EXPECT_FALSE(
      CalibrateAnswer(R"({"request": {"model": "no-such"}, "measured": [{"figure": "serving.tpot_s", "value": 1}]})")
          .issues.empty());
}

}  // namespace
}  // namespace slipstick
