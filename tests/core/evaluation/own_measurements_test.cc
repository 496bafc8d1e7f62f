// Answers calibrated by the user's own measurements: the measured figure comes back, the others follow, intervals
// narrow, and a measurement that no constant explains is an issue.
#include "core/evaluation/own_measurements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/exploration/sweep.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::Assignments;
using testing::Find;
using testing::Number;
using testing::operator+;

const Assignments kSmall{"version=3", "model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=8"};

Json Evaluated(const Assignments& assignments, const Json& measured = nullptr) {
  const Json request = measured.is_null() ? Json::object() : Json{{"measured", measured}};
  return *ParseJson(EvaluateAnswer(JsonText(request), assignments).text);
}

Json Measured(std::string_view path, const Json& value) { return Json{{"path", path}, {"value", value}}; }

// The answer with one measurement.
Json EvaluatedWith(std::string_view path, const Json& value) {
  return Evaluated(kSmall, Json::array({Measured(path, value)}));
}

// Measures a figure as `times` its computed value and checks that the answer returns the measurement.
Json Slowed(const Json& before, const std::string& path, double times) {
  const double measured = times * Number(before, path);
  Json after = EvaluatedWith(path, measured);
  EXPECT_NEAR(Number(after, path), measured, 0.005 * measured);
  return after;
}

double Width(const Json& report, const std::string& interval) {
  return Number(report, interval + ".high") / Number(report, interval + ".low");
}

bool HasWarning(const Json& report, std::string_view part) {
  return std::any_of(report["warnings"].begin(), report["warnings"].end(),
                     [part](const Json& one) { return TextOf(one).find(part) != std::string::npos; });
}

TEST(OwnMeasurements, ATokenTimeComesBackAndMovesTheOtherAnswers) {
  const Json before = Evaluated(kSmall);
  const Json after = Slowed(before, "serving.tpot_s", 1.15);
  // A machine that decodes slower serves fewer tokens, each at a higher cost.
  EXPECT_LT(Number(after, "serving.tokens_per_s"), Number(before, "serving.tokens_per_s"));
  EXPECT_GT(Number(after, "serving.cost_usd_per_million_tokens"),
            Number(before, "serving.cost_usd_per_million_tokens"));
  EXPECT_GE(Number(after, "training.step_time_s"), Number(before, "training.step_time_s"));
  // The constant that explains it is named, with its value before and after.
  const Json& own = after["scenario"]["measured"][0];
  EXPECT_NEAR(Number(own, "computed"), Number(before, "serving.tpot_s"), 1e-9);
  const std::string input = TextOf(own["input"]);
  EXPECT_NEAR(Number(after["scenario"], input), Number(own, "to"), 1e-12);
  EXPECT_NEAR(Number(before["scenario"], input), Number(own, "from"), 1e-12);
  EXPECT_NE(Number(own, "to"), Number(own, "from"));
  EXPECT_TRUE(HasWarning(after, "Moved to your measurement"));
  EXPECT_TRUE(HasWarning(after, input));
  EXPECT_EQ(own["system"], "h100-sxm5-80gb, vllm");
}

TEST(OwnMeasurements, AStepTimeMovesTrainingAndThePrefillOfServing) {
  const Json before = Evaluated(kSmall);
  const Json after = Slowed(before, "training.step_time_s", 1.2);
  EXPECT_GT(Number(after, "training.cost_usd"), Number(before, "training.cost_usd"));
  EXPECT_GT(Number(after, "serving.ttft_s"), Number(before, "serving.ttft_s"));
  EXPECT_LT(Number(after, "training.model_flops_utilization"), Number(before, "training.model_flops_utilization"));
}

// One machine's 16-bit and fp8 GEMMs use the same tensor cores: their efficiencies move by the same factor.
TEST(OwnMeasurements, AStepMeasuredInBf16MovesServingInFp8) {
  const Assignments fp8 = kSmall + Assignments{"serving.precision.weights=fp8", "serving.precision.activations=fp8"};
  const std::string step = "training.step_time_s", matrix = "scenario.cluster.device.efficiency.matrix";
  const Json before = Evaluated(fp8);
  const Json after = Evaluated(fp8, Json::array({Measured(step, 1.2 * Number(before, step))}));
  EXPECT_EQ(after["scenario"]["measured"][0]["input"], "cluster.device.efficiency.matrix");
  const double factor = Number(after, matrix) / Number(before, matrix);
  EXPECT_LT(factor, 0.9);
  EXPECT_NEAR(Number(after, matrix + "_fp8") / Number(before, matrix + "_fp8"), factor, 1e-9);
  EXPECT_GT(Number(after, "serving.prefill_s"), 1.05 * Number(before, "serving.prefill_s"));
  // The factor is applied once, however often the scenario is read.
  const Json again = *ParseJson(EvaluateAnswer(JsonText(after["scenario"]), {}).text);
  EXPECT_NEAR(Number(again, matrix + "_fp8"), Number(after, matrix + "_fp8"), 1e-9);
  EXPECT_NEAR(Number(again, matrix), Number(after, matrix), 1e-9);
}

TEST(OwnMeasurements, TheMeasuredFigureIsAsCertainAsRepeatedRuns) {
  const Json before = Evaluated(kSmall);
  const double slower = 1.1 * Number(before, "serving.tpot_s");
  const Json after = EvaluatedWith("serving.tpot_s", slower);
  EXPECT_LT(Width(after, "serving.tpot_interval") - 1, (Width(before, "serving.tpot_interval") - 1) / 2);
  EXPECT_LE(Number(after, "serving.tpot_interval.low"), slower);
  EXPECT_GE(Number(after, "serving.tpot_interval.high"), slower);
  EXPECT_NE(TextOf(*Find(after, "serving.tpot_interval.why")).find("You measured it"), std::string::npos);
  // The step with another sequence length is more certain than without a measurement, and less certain than the
  // measured step.
  const std::string at = "version=3&model=llama-3.1-8b&cluster=dgx-h100&cluster.devices=8";
  const std::string step = "training.step_time_interval";
  const Assignments longer = kSmall + Assignments{"training.sequence=4096"};
  const double measured = 1.1 * Number(before, "training.step_time_s");
  const Json here = EvaluatedWith("training.step_time_s", measured);
  const Json elsewhere =
      Evaluated(longer, Json::array({Json{{"path", "training.step_time_s"}, {"value", measured}, {"at", at}}}));
  EXPECT_LT(Width(elsewhere, step), Width(Evaluated(longer), step));
  EXPECT_GT(Width(elsewhere, step), Width(here, step));
}

TEST(OwnMeasurements, TextsHaveTheUnitOfTheFigure) {
  const double seconds = 1.1 * Number(Evaluated(kSmall), "serving.tpot_s");
  const double token = Number(EvaluatedWith("serving.tpot_s", seconds), "serving.tpot_s");
  const Json as_text = EvaluatedWith("serving.tpot_s", std::to_string(1e3 * seconds) + " ms");
  EXPECT_NEAR(Number(as_text, "serving.tpot_s"), token, 1e-4 * token);
  const Json wrong = EvaluatedWith("serving.tpot_s", "21 GB");
  EXPECT_EQ(wrong["issues"][0]["path"], "measured.0.value");
  EXPECT_NE(TextOf(wrong["issues"][0]["message"]).find("in s"), std::string::npos);
}

TEST(OwnMeasurements, AWholeRunIsMeasuredToo) {
  const Json before = Evaluated(kSmall);
  const Json after = Slowed(before, "training.time_to_train_s", 1.1);
  EXPECT_LT(Width(after, "training.step_time_interval"), Width(before, "training.step_time_interval"));
}

// A run slower than any kernel explains moves how the engine is run.
TEST(OwnMeasurements, AMuchSlowerRunMovesTheTuning) {
  const Json after = Slowed(Evaluated(kSmall), "serving.tpot_s", 2);
  EXPECT_EQ(after["scenario"]["measured"][0]["input"], "serving.tuning.dense");
}

// A GPU cannot read its memory faster than its data sheet says, so no efficiency explains a hundredth of the time.
TEST(OwnMeasurements, AMeasurementThatNoConstantExplainsIsAnIssueWithAWorkingFix) {
  const double computed = Number(Evaluated(kSmall), "serving.tpot_s");
  const Json wrong = EvaluatedWith("serving.tpot_s", computed / 100);
  ASSERT_TRUE(wrong.contains("issues"));
  const Json& issue = wrong["issues"][0];
  EXPECT_EQ(issue["path"], "measured.0.value");
  EXPECT_NE(TextOf(issue["message"]).find("within its bounds"), std::string::npos);
  ASSERT_FALSE(issue["fixes"].empty());
  const double nearest = issue["fixes"][0]["value"].get<double>();
  EXPECT_LT(nearest, computed);
  const Json fixed = EvaluatedWith("serving.tpot_s", nearest);
  EXPECT_NEAR(Number(fixed, "serving.tpot_s"), nearest, 0.005 * nearest);
}

TEST(OwnMeasurements, SeveralMeasurementsSetOneConstantEach) {
  const Json before = Evaluated(kSmall);
  const double token = 1.1 * Number(before, "serving.tpot_s"), step = 1.15 * Number(before, "training.step_time_s"),
               first = 1.2 * Number(before, "serving.ttft_s");
  const Json after =
      Evaluated(kSmall, Json::array({Measured("serving.tpot_s", token), Measured("training.step_time_s", step),
                                     Measured("serving.ttft_s", first)}));
  EXPECT_NEAR(Number(after, "serving.tpot_s"), token, 0.005 * token);
  EXPECT_NEAR(Number(after, "training.step_time_s"), step, 0.005 * step);
  EXPECT_NEAR(Number(after, "serving.ttft_s"), first, 0.005 * first);
  const Json& list = after["scenario"]["measured"];
  EXPECT_NE(list[0]["input"], list[1]["input"]);
  EXPECT_NE(list[0]["input"], list[2]["input"]);
}

TEST(OwnMeasurements, MemoryAndPriceAreMeasuredToo) {
  const Json before = Evaluated(kSmall);
  const double used = Number(before, "serving.memory_bytes.total") + 5e8,
               hour = 1.2 * Number(before, "cost.device_hour_usd");
  const Json after = Evaluated(
      kSmall, Json::array({Measured("serving.memory_bytes.total", used), Measured("cost.device_hour_usd", hour)}));
  EXPECT_NEAR(Number(after, "serving.memory_bytes.total"), used, 0.005 * used);
  EXPECT_NEAR(Number(after, "cost.device_hour_usd"), hour, 0.005 * hour);
  EXPECT_GT(Number(after, "training.cost_usd"), Number(before, "training.cost_usd"));
}

// A price per token moves the price of the GPU; the time per token stays.
TEST(OwnMeasurements, APricePerTokenMovesThePriceOfTheDevice) {
  const std::string path = "serving.cost_usd_per_million_tokens";
  const Json before = Evaluated(kSmall);
  const double dearer = 1.2 * Number(before, path);
  const Json after = EvaluatedWith(path, dearer);
  EXPECT_NEAR(Number(after, path), dearer, 0.005 * dearer);
  EXPECT_EQ(after["scenario"]["measured"][0]["input"], "cost.device.price");
  EXPECT_EQ(Number(after, "serving.tpot_s"), Number(before, "serving.tpot_s"));
}

// The report's scenario is a request with the same answer.
TEST(OwnMeasurements, TheResolvedScenarioAnswersTheSame) {
  const double slower = 1.1 * Number(Evaluated(kSmall), "serving.tpot_s");
  const Json after = EvaluatedWith("serving.tpot_s", slower);
  const Json again = *ParseJson(EvaluateAnswer(JsonText(after["scenario"]), {}).text);
  for (const char* path : {"serving.tpot_s", "serving.ttft_s", "training.step_time_s", "serving.tpot_interval.low"}) {
    EXPECT_NEAR(Number(again, path), Number(after, path), 1e-6 * Number(after, path)) << path;
  }
  EXPECT_EQ(again["scenario"]["measured"][0]["input"], after["scenario"]["measured"][0]["input"]);
  EXPECT_NEAR(Number(again, "scenario.measured.0.from"), Number(after, "scenario.measured.0.from"), 1e-9);
}

TEST(OwnMeasurements, AnotherDeviceOrEngineIsNotMoved) {
  const std::string at = "version=3&model=llama-3.1-8b&cluster=dgx-h100&cluster.devices=8";
  const double slower = 1.1 * Number(Evaluated(kSmall), "serving.tpot_s");
  const Json own = Json::array({Json{{"path", "serving.tpot_s"}, {"value", slower}, {"at", at}}});
  for (const char* other : {"cluster=dgx-b200", "serving.engine=sglang"}) {
    const Assignments changed = kSmall + Assignments{other, "cluster.devices=8"};
    const Json moved = Evaluated(changed, own), plain = Evaluated(changed);
    EXPECT_EQ(Number(moved, "serving.tpot_s"), Number(plain, "serving.tpot_s")) << other;
    EXPECT_EQ(Width(moved, "serving.tpot_interval"), Width(plain, "serving.tpot_interval")) << other;
    EXPECT_TRUE(HasWarning(moved, "does not apply here")) << other;
  }
}

// A sweep starts from the calibrated machine: at the measured point it answers the measurement.
TEST(OwnMeasurements, OtherVerbsUseTheSameMachine) {
  const Json before = Evaluated(kSmall + Assignments{"serving.batch=32"});
  const double slower = 1.1 * Number(before, "serving.tpot_s");
  const Json request{{"measured", Json::array({Measured("serving.tpot_s", slower)})}};
  const std::string csv = SweepAnswer(JsonText(request), kSmall + Assignments{"serving.batch=32"},
                                      {"serving.batch=16,32"}, {"serving.tpot_s"}, {}, "")
                              .text;
  const std::size_t second = csv.rfind("32,");
  ASSERT_NE(second, std::string::npos);
  EXPECT_NEAR(std::stod(csv.substr(second + 3)), slower, 0.005 * slower);
  const std::size_t first = csv.find("16,");
  ASSERT_NE(first, std::string::npos);
  EXPECT_LT(std::stod(csv.substr(first + 3)), 0.99 * slower);
}

TEST(OwnMeasurements, AnInvalidMeasurementIsAnIssue) {
  EXPECT_EQ(Evaluated(kSmall, "fast")["issues"][0]["path"], "measured");
  EXPECT_EQ(Evaluated(kSmall, Json::array({1}))["issues"][0]["path"], "measured.0.path");
  EXPECT_EQ(EvaluatedWith("serving.tpot", 1)["issues"][0]["path"], "measured.0.path");
  EXPECT_EQ(EvaluatedWith("serving.tpot_s", -1)["issues"][0]["path"], "measured.0.value");
  EXPECT_EQ(EvaluatedWith("serving.tpot_s", Json())["issues"][0]["path"], "measured.0.value");
  for (const Json& value : {Json(""), Json("soon"), Json("0"), Json("-5 ms"), Json("nan"), Json("inf"), Json("1e999"),
                            Json("21 ms ms"), Json(0), Json(true), Json::array({1}), Json::object()}) {
    const Json wrong = EvaluatedWith("serving.tpot_s", value);
    ASSERT_TRUE(wrong.contains("issues")) << value;
    EXPECT_EQ(wrong["issues"][0]["path"], "measured.0.value") << value;
  }
  for (const double extreme : {1e-300, 1e300}) {
    const Json wrong = EvaluatedWith("serving.tpot_s", extreme);
    ASSERT_TRUE(wrong.contains("issues")) << extreme;
    EXPECT_EQ(wrong["issues"][0]["path"], "measured.0.value") << extreme;
  }
  const Json input = Json::array({Json{{"path", "serving.tpot_s"}, {"value", 0.01}, {"input", "model.layers"}}});
  EXPECT_EQ(Evaluated(kSmall, input)["issues"][0]["path"], "measured.0.input");
  const Json at = Json::array({Json{{"path", "serving.tpot_s"}, {"value", 0.01}, {"at", "model=no-such"}}});
  EXPECT_EQ(Evaluated(kSmall, at)["issues"][0]["path"], "measured.0.at");
  // A part that is off has no figures.
  const Assignments off = kSmall + Assignments{"serving=null"};
  EXPECT_EQ(Evaluated(off, Json::array({Measured("serving.tpot_s", 0.01)}))["issues"][0]["path"], "measured.0.path");
}

}  // namespace
}  // namespace slipstick
