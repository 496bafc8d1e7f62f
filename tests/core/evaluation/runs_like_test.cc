// The runs behind an interval, for the setting of a published run and by hand.
#include "core/evaluation/runs_like.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::Assignments;
using testing::Find;
using testing::operator+;

Json EvidenceOf(const Assignments& assignments, std::string_view figure) {
  Result<Json> answer = ParseJson(EvidenceAnswer(R"({"version": 1})", assignments, figure).text);
  return answer ? std::move(*answer) : Json();
}

// Llama-3.1-70B in fp8 on four H100 under vLLM, as InferenceMAX ran it: 23.407 ms per token
// (core/presets/evidence/inferencemax.json).
constexpr std::string_view kRun = "llama-3.1-70b-h100-sxm-vllm-fp8-1024x8192-c64-tp4-tpot";
const Assignments kItsSetting{"model=llama-3.1-70b",
                              "cluster=dgx-h100",
                              "cluster.devices=4",
                              "training=null",
                              "serving.prompt=922",
                              "serving.output=7373",
                              "serving.concurrency=64",
                              "serving.waves=10",
                              "serving.devices=4",
                              "serving.engine=vllm",
                              "serving.mapping.tp=4",
                              "serving.precision.weights=fp8",
                              "serving.precision.activations=fp8",
                              "serving.precision.kv_cache=bf16"};

TEST(RunsLike, ARunIsNearestToItsOwnSetting) {
  const Json answer = EvidenceOf(kItsSetting, "serving.tpot_s");
  const Json& nearest = answer["runs"][0];
  EXPECT_EQ(nearest["id"], kRun);
  EXPECT_EQ(nearest["source"], "inferencemax");
  EXPECT_NEAR(nearest["distance"].get<double>(), 0, 1e-3);
  EXPECT_NEAR(nearest["measured"].get<double>(), 0.023407, 2e-6);
  EXPECT_NEAR(nearest["computed"].get<double>(), answer["value"].get<double>(), 1e-5 * answer["value"].get<double>());
  EXPECT_NEAR(nearest["error"].get<double>(), nearest["computed"].get<double>() / nearest["measured"].get<double>() - 1,
              1e-12);
  EXPECT_NEAR(nearest["here"].get<double>(), 0.023407, 1e-5);  // corrected by its own error, its own measurement
  EXPECT_EQ(answer["is_far"], false);
}

TEST(RunsLike, TheIntervalEqualsTheReports) {
  Result<Json> report = ParseJson(EvaluateAnswer(R"({"version": 1})").text);
  for (const auto& [figure, interval] :
       {std::pair<std::string, std::string>{"training.step_time_s", "training.step_time_interval"},
        {"training.memory_bytes.total", "training.memory_interval"},
        {"serving.tpot_s", "serving.tpot_interval"},
        {"serving.ttft_s", "serving.ttft_interval"},
        {"serving.tokens_per_s", "serving.throughput_interval"},
        {"serving.memory_bytes.total", "serving.memory_interval"}}) {
    const Json answer = EvidenceOf({}, figure);
    EXPECT_EQ(answer["interval"], interval);
    for (const char* end : {"low", "high"}) EXPECT_EQ(answer[end], *Find(*report, interval + "." + end)) << interval;
    EXPECT_EQ(EvidenceOf({}, interval), answer);
    double share = 0, distance = 0;
    for (const Json& run : answer["runs"]) {
      share += run["share"].get<double>();
      EXPECT_GE(run["distance"].get<double>(), distance) << run["id"];
      distance = run["distance"].get<double>();
    }
    EXPECT_GT(share, 0);
    EXPECT_LT(share, 1 + 1e-9);
  }
}

const Json* TraitOf(const Json& answer, std::string_view trait) {
  for (const Json& one : answer["differences"]) {
    if (one["trait"] == trait) return &one;
  }
  return nullptr;
}

// A prompt of 128 k tokens is sixteen times the longest of the nearest runs: the trait is named, with what it widens.
TEST(RunsLike, NamesTheTraitsThatTheRunsLack) {
  const Json near = EvidenceOf(kItsSetting, "serving.tpot_s");
  for (const Json& one : near["differences"]) EXPECT_EQ(one["widens"], 0) << one["trait"];
  const Json far = EvidenceOf(kItsSetting + Assignments{"serving.prompt=131072"}, "serving.tpot_s");
  const Json* length = TraitOf(far, "length");
  ASSERT_NE(length, nullptr);
  EXPECT_EQ((*length)["yours"], 131072);
  EXPECT_LT((*length)["runs"][1], 131072);
  EXPECT_NE((*length)["widens"], 0);
}

double HalfWidth(const Json& interval) { return (interval["high"].get<double>() - interval["low"].get<double>()) / 2; }

TEST(RunsLike, OwnRunsNarrowTheInterval) {
  const Json answer = EvidenceOf({}, "serving.tpot_s");
  ASSERT_EQ(answer["own"].size(), 2U);
  EXPECT_LE(HalfWidth(answer["own"][0]), HalfWidth(answer));
  EXPECT_LT(HalfWidth(answer["own"][1]), HalfWidth(answer["own"][0]));
}

TEST(RunsLike, WholeRunsGiveTheTypicalRate) {
  Result<Json> report = ParseJson(EvaluateAnswer(R"({"version": 1})").text);
  const Json answer = EvidenceOf({}, "training.typical");
  EXPECT_EQ(answer["runs"].size(), Find(*report, "training.typical.rows")->size());
  EXPECT_NEAR(answer["typical"].get<double>(), Find(*report, "training.typical.step_time_s")->get<double>(), 1e-9);
}

TEST(RunsLike, AFigureWithoutAnIntervalIsAnIssue) {
  EXPECT_FALSE(EvidenceAnswer(R"({"version": 1})", {}, "serving.energy_j_per_token").issues.empty());
  EXPECT_FALSE(EvidenceAnswer(R"({"version": 1})", {"training=null"}, "training.step_time_s").issues.empty());
  EXPECT_FALSE(EvidenceAnswer(R"({"version": 1})", {"serving=null"}, "serving.tpot_s").issues.empty());
}

// The runs of a file of plain commands are computed as such: where no step is launched ahead, a decode step of a dense
// model takes 40 us longer for each of its 16 sequences (core/presets/tunings/stock.json).
TEST(Measurements, AFileSaysHowItsEnginesWereRun) {
  const auto computed = [](std::string_view tuning) {
    const Json file{{"publisher", "We"},
                    {"campaign", "a test"},
                    {"source", "our notes"},
                    {"tuning", tuning},
                    {"rows",
                     {{{"id", "one"},
                       {"figure", "serving.decode_step_s"},
                       {"value", 0.01},
                       {"model", "llama-3.1-8b"},
                       {"cluster", {{"preset", "single-h100-sxm5-80gb"}}},
                       {"serving",
                        {{"prompt", 1024},
                         {"output", 128},
                         {"batch", 16},
                         {"engine", {{"preset", "vllm"}, {"steps_ahead", 0}}}}}}}}};
    const Result<Json> answer = ParseJson(MeasurementsAnswer("ours", JsonText(file)).text);
    return (*answer)["runs"][0]["computed"].get<double>();
  };
  EXPECT_NEAR(computed("stock") - computed("tuned"), 16 * 40e-6, 1e-12);
}

// Where a file states twice the computed value, the answer is half of it.
TEST(Measurements, AFileIsComputedAgain) {
  Result<Json> report =
      ParseJson(EvaluateAnswer(R"({"version": 1})",
                               {"cluster=dgx-h100", "cluster.devices=8", "model=llama-3.1-8b", "training=null",
                                "serving.devices=8", "serving.batch=16", "serving.engine=vllm", "serving.prompt=1024",
                                "serving.output=128", "serving.mapping.tp=8", "serving.precision.weights=bf16",
                                "serving.precision.activations=bf16", "serving.precision.kv_cache=bf16"})
                    .text);
  const double computed = Find(*report, "serving.tpot_s")->get<double>();
  const Json file{{"publisher", "We"},
                  {"campaign", "a test"},
                  {"source", "our notes"},
                  {"rows",
                   {{{"id", "one"},
                     {"figure", "serving.tpot_s"},
                     {"value", 2 * computed},
                     {"model", "llama-3.1-8b"},
                     {"cluster", {{"preset", "dgx-h100"}, {"devices", 8}}},
                     {"serving",
                      {{"prompt", 1024},
                       {"output", 128},
                       {"batch", 16},
                       {"devices", 8},
                       {"engine", "vllm"},
                       {"mapping", {{"tp", 8}}},
                       {"precision", {{"weights", "bf16"}, {"activations", "bf16"}, {"kv_cache", "bf16"}}}}}},
                    {{"id", "two"}, {"figure", "serving.tpot_s"}, {"value", 1}, {"model", "no-such-model"}}}}};
  const Result<Json> answer = ParseJson(MeasurementsAnswer("ours", JsonText(file)).text);
  ASSERT_EQ((*answer)["runs"].size(), 1U);
  const Json& run = (*answer)["runs"][0];
  EXPECT_EQ((*answer)["name"], "We, a test");
  EXPECT_NEAR(run["error"].get<double>(), -0.5, 1e-9);
  EXPECT_NEAR(run["computed"].get<double>(), computed, 1e-9);
  EXPECT_EQ(run["kind"], "output_token");
  EXPECT_EQ(run["device"], "h100-sxm5-80gb");
  EXPECT_EQ((*answer)["issues"].size(), 1U);
  EXPECT_FALSE(MeasurementsAnswer("ours", "no JSON").issues.empty());
}

// A pasted text may be anything.
TEST(Measurements, EachInvalidRowHasItsOwnIssue) {
  for (const char* rows : {"5", "null", R"("a")", R"({"id": "one"})"}) {
    EXPECT_FALSE(MeasurementsAnswer("ours", std::string(R"({"rows": )") + rows + "}").issues.empty()) << rows;
  }
  const Answer answer = MeasurementsAnswer(
      "ours",
      R"({"whole_runs": "yes", "tuning": 4, "models": [], "rows": [5, null, [], {}, {"value": "1", "figure": "serving.tpot_s"},
                  {"figure": 3, "serving": 1, "model": {"preset": 7}}]})");
  const Result<Json> json = ParseJson(answer.text);
  ASSERT_TRUE(json) << answer.text;
  EXPECT_TRUE((*json)["runs"].empty());
  EXPECT_EQ((*json)["issues"].size(), 9U) << answer.text;  // six rows; publisher, campaign and source
}

}  // namespace
}  // namespace slipstick
