// A solved input has the same answer as a request that states it: the inputs that follow it do so at every value.
#include "core/exploration/solve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/base/quantity.h"
#include "core/base/type_path.h"
#include "core/scenario/scenario.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::Assignments;
using testing::operator+;

constexpr double kMonth = 30 * 86400.0;

double TimeToTrain(const Assignments& run, Count devices) {
  const Assignments sized = run + Assignments{"cluster.devices=" + std::to_string(devices)};
  return (*ParseJson(EvaluateAnswer("", sized, "", false).text))["training"]["time_to_train_s"].get<double>();
}

TEST(Solve, FewestDevicesForADateAreThoseOfTheAnswerWithThem) {
  const Assignments run{"version=3", "serving=null", "training.tokens=2 Ttoken"};
  const Json answer =
      *ParseJson(SolveAnswer("", run, "cluster.devices=8:32768:8", "training.time_to_train_s<=2592000 s").text);
  ASSERT_TRUE(answer["value"].is_number()) << JsonText(answer);
  const Count fewest = answer["value"].get<Count>();
  EXPECT_DOUBLE_EQ(answer["figure"]["value"].get<double>(), TimeToTrain(run, fewest));
  EXPECT_LE(TimeToTrain(run, fewest), kMonth);
  // The time does not fall evenly with the count: 704 to 776 fail, 696 holds, and all smaller ones fail.
  for (Count devices = 512; devices < fewest; devices += 8) EXPECT_GT(TimeToTrain(run, devices), kMonth) << devices;
}

// 1,031 is a prime: with it the run takes longer than with 664, which a bisection from 8 to 2,055 would never try.
TEST(Solve, FewestDevicesDoNotDependOnTheRange) {
  const Assignments run{"version=3", "model=llama-3.1-8b", "cluster=dgx-h100", "serving=null"};
  std::vector<Count> fewest;
  for (const std::string range : {"8:16384", "8:4096", "64:1024"}) {
    const Json answer =
        *ParseJson(SolveAnswer("", run, "cluster.devices=" + range, "training.time_to_train_s<=2592000 s").text);
    EXPECT_EQ(answer["which"], "smallest") << JsonText(answer);
    fewest.push_back(answer["value"].get<Count>());
    ASSERT_TRUE(answer.contains("fails_at")) << JsonText(answer);
    const Count failing = answer["fails_at"].get<Count>();
    EXPECT_GT(failing, fewest.back());
    EXPECT_GT(TimeToTrain(run, failing), kMonth);
  }
  EXPECT_EQ(fewest, std::vector<Count>(3, fewest[0]));
  EXPECT_LE(TimeToTrain(run, fewest[0]), kMonth);
  for (Count fewer = fewest[0] - 60; fewer < fewest[0]; ++fewer) EXPECT_GT(TimeToTrain(run, fewer), kMonth) << fewer;
}

// A date needs many devices and a budget few, so neither end of the range meets both.
TEST(Solve, ADateAndABudgetHoldBetweenTheEnds) {
  const Assignments run{"version=3", "model=llama-3.1-8b", "cluster=dgx-h100", "serving=null"};
  const auto solved = [&](const std::string& until) {
    return *ParseJson(SolveAnswer("", run, "cluster.devices=8:16384:8", until).text);
  };
  const std::string date = "training.time_to_train_s<=2592000 s", budget = "training.cost_usd<=";
  const Json both = solved(date + "," + budget + "1.5e6");
  ASSERT_TRUE(both["value"].is_number()) << JsonText(both);
  EXPECT_EQ(both["which"], "smallest");
  EXPECT_EQ(both["value"], solved(date)["value"]);
  const auto cost = [&](const Json& devices) {
    const Assignments sized = run + Assignments{"cluster.devices=" + JsonText(devices)};
    return (*ParseJson(EvaluateAnswer("", sized, "", false).text))["training"]["cost_usd"].get<double>();
  };
  EXPECT_LE(cost(both["largest"]), 1.5e6);
  EXPECT_GT(cost(both["largest"].get<Count>() + 8), 1.5e6);
  EXPECT_EQ(solved(date + "," + budget + "1e5")["which"], "none");
}

TEST(Solve, ABatchPerReplicaTakesThePlaceOfTheDefaultsTotal) {
  const Assignments run{"version=3", "training=null", "cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b"};
  const auto held = [&](const std::string& path) {
    return (*ParseJson(SolveAnswer("", run, path + "=1:2048", "serving.tpot_s<=20 ms").text))["value"];
  };
  const Json batch = held("serving.batch");
  ASSERT_TRUE(batch.is_number());
  EXPECT_LT(batch.get<Count>(), 2048);
  EXPECT_EQ(batch, held("serving.concurrency"));  // with one replica the batch is the total
}

struct Question {
  Assignments run;
  std::string range, until;
  SolveOptions options = {};
};

// The defaults keep their values while the input moves; setting the input alone would move some of them, so the answer
// lists them.
TEST(Solve, ARequestWithTheValueAndTheHeldInputsHasTheSameFigure) {
  SearchSpec search;
  search.part = "serving";
  const std::vector<Question> questions{
      {{"version=3"}, "serving.prompt=1k:4M", "serving.feasible>=1"},
      {{"version=3", "training=null"}, "serving.output=128:1M", "serving.feasible>=1"},
      {{"version=3", "training=null", "cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b"},
       "serving.batch=1:2048",
       "serving.tpot_s<=20 ms"},
      {{"version=3", "serving=null"}, "training.sequence=512:2M", "training.feasible>=1"},
      {{"version=3", "serving=null"}, "training.global_batch=64:8192", "training.step_time_s<=5 s"},
      {{"version=3", "training=null"}, "cluster.device.memory.bandwidth=1 TB/s:30 TB/s", "serving.tpot_s<=20 ms"},
      {{"version=3", "training=null"}, "model.layers=8:160", "serving.tpot_s<=30 ms"},
      {{"version=2"}, "serving.prompt=1k:4M", "serving.feasible>=1"},
      {{"version=1"}, "cluster.devices=8:4096:8", "training.time_to_train_s<=200 day"},
      {{"version=3", "training=null"}, "serving.prompt=1k:1M", "serving.ttft_s<=1 s", {{}, search}},
  };
  int holding = 0;
  for (const Question& question : questions) {
    SCOPED_TRACE(question.range);
    const Json answer =
        *ParseJson(SolveAnswer("", question.run, question.range, question.until, question.options).text);
    ASSERT_TRUE(answer["value"].is_number()) << JsonText(answer);
    Assignments edited = question.run;
    const auto write = [&](const std::string& path, const Json& value) {
      edited.push_back(path + "=" + (value.is_string() ? value.get<std::string>() : JsonText(value)));
    };
    for (const char* written : {"mapping", "held"}) {
      if (!answer.contains(written)) continue;
      for (const auto& [path, value] : answer[written].items()) write(path, value);
    }
    holding += answer["held"].empty() ? 0 : 1;
    const std::string path = answer["path"].get<std::string>();
    const FieldFacts& facts = FieldAt<Scenario>(path)->facts;
    write(path, IsQuantityAt<Scenario>(path)
                    ? Json(JsonText(answer["value"].get<double>() / facts.unit_factor) + " " + std::string(facts.unit))
                    : answer["value"]);
    const Json report = *ParseJson(EvaluateAnswer("", edited, "", false).text);
    const Json* figure = MemberAt(report, answer["figure"]["path"].get<std::string>());
    ASSERT_NE(figure, nullptr) << JsonText(report);
    const double shown = figure->is_boolean() ? (figure->get<bool>() ? 1.0 : 0.0) : figure->get<double>();
    EXPECT_NEAR(shown, answer["figure"]["value"].get<double>(), 1e-9 * shown) << JsonText(answer);
  }
  EXPECT_GE(holding, 2);
}

// Each rate has its own mapping: 44 requests/s, which the automatic mapping serves, are not too many.
TEST(Solve, AnAutomaticMappingFollowsEveryUnknown) {
  const Assignments run{"version=3",        "training=null",       "model=gpt-oss-120b",
                        "cluster=dgx-h100", "serving.prompt=2000", "serving.output=500"};
  Assignments at = run;
  at.push_back("serving.requests_per_s=44");
  ASSERT_TRUE((*ParseJson(EvaluateAnswer("", at, "", false).text))["serving"]["feasible"]);
  const Json answer = *ParseJson(SolveAnswer("", run, "serving.requests_per_s=1:100", "serving.feasible>=1", {}).text);
  EXPECT_GE(answer["value"], 44);
  EXPECT_TRUE(answer["held"].empty()) << JsonText(answer["held"]);
}

// Each value halves the bracket. 2,047 batches are fewer than 2^11; for a range of 2.19 TB/s, a billionth of 4 TB/s is
// more than the 2^29th part. The first value adds one.
TEST(Solve, SaysHowManyValuesItWillTry) {
  const Assignments run{"version=3", "training=null", "cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b"};
  struct Expected {
    std::string range;
    Count of;
  };
  for (const auto& [range, of] : {Expected{"serving.batch=1:2048", 1 + 11},
                                  Expected{"cluster.device.memory.bandwidth=1.81 TB/s:4 TB/s", 1 + 30}}) {
    std::vector<SolveProgress> progress;
    SolveOptions options;
    options.on_progress = [&](const SolveProgress& one) { progress.push_back(one); };
    SolveAnswer("", run, range, "serving.tpot_s<=10 ms", options);
    ASSERT_FALSE(progress.empty()) << range;
    EXPECT_EQ(progress.front().tried, 1) << range;
    EXPECT_EQ(progress.front().of, of) << range;
  }
}

// Goodput by Daly is interval / (MTBF * exp(recovery / MTBF) * (exp((interval + stall) / MTBF) - 1)). It is highest at
// the optimal interval and falls on both sides, so a wall time above the least is reached before and after the optimum.
TEST(Solve, ABoundThatHoldsAtBothEndsOnlyDoesNotHoldEverywhere) {
  const Assignments run{"version=3", "serving=null"};
  const Json plain = (*ParseJson(EvaluateAnswer("", run, "", false).text))["training"]["run"];
  const double mtbf = plain["mean_time_between_interruptions_s"].get<double>();
  const double stall = plain["checkpoint_stall_s"].get<double>(), best = plain["daly_interval_s"].get<double>();
  const auto relative_wall = [&](double interval) { return std::expm1((interval + stall) / mtbf) / interval; };
  const double bound = plain["wall_time_s"].get<double>() * relative_wall(best / 4) / relative_wall(best);
  double after = best;  // beyond the optimum, with the wall time of a quarter of the optimum
  for (double step = best; step > 1e-9; step /= 2)
    while (relative_wall(after + step) < relative_wall(best / 4)) after += step;

  const auto solved = [&](const std::string& range, double at_least) {
    return *ParseJson(SolveAnswer("", run, "training.interruptions.checkpoint_interval=" + range,
                                  "training.run.wall_time_s>=" + JsonText(at_least))
                          .text);
  };
  const Json ends = solved("60 s:60000 s", bound);
  EXPECT_EQ(ends["which"], "ends") << JsonText(ends);
  EXPECT_NEAR(ends["value"].get<double>(), best / 4, 1e-3);
  EXPECT_NEAR(ends["again"].get<double>(), after, 1e-3);
  EXPECT_NEAR(ends["figure"]["value"].get<double>(), bound, 1e-6 * bound);
  // From there on the bound holds at all values. A bound below the least wall time holds everywhere.
  const Json beyond = solved(JsonText(after + 1) + " s:60000 s", bound);
  EXPECT_EQ(beyond["which"], "everywhere") << JsonText(beyond);
  EXPECT_FALSE(beyond.contains("again"));
  EXPECT_EQ(solved("60 s:60000 s", 0.99 * plain["wall_time_s"].get<double>())["which"], "everywhere");
}

TEST(Solve, TriesOnlyCountsOfTheRange) {
  const Assignments run{"version=3", "training=null", "cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b"};
  std::vector<SolveProgress> progress;
  SolveOptions options;
  options.on_progress = [&](const SolveProgress& one) { progress.push_back(one); };
  const Json answer = *ParseJson(SolveAnswer("", run, "serving.prompt=96:160:32", "serving.tpot_s<=1 s", options).text);
  EXPECT_EQ(answer["which"], "everywhere") << JsonText(answer);
  EXPECT_EQ(progress.size(), 3U);  // 96, 128 and 160
}

const Assignments kServing{"version=3", "training=null", "cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b"};

Json SolvedBatch(const std::string& until) {
  return *ParseJson(SolveAnswer("", kServing, "serving.batch=1:128", until).text);
}

TEST(Solve, ABoundHasTheDimensionOfItsFigure) {
  const auto message = [](const std::string& until) {
    const Answer answer = SolveAnswer("", kServing, "serving.batch=1:128", until);
    return answer.issues.empty() ? "none" : answer.issues[0].path + ": " + answer.issues[0].message;
  };
  EXPECT_EQ(message("serving.tpot_s<=80 GB"), "serving.tpot_s: Enter a number in s, not in B");
  EXPECT_EQ(message("serving.feasible>=1 s"), "serving.feasible: Enter a number without a unit, not in s");
  EXPECT_EQ(message("serving.feasible>=1,serving.cost_usd_per_million_tokens<=2 $/Mtoken"),
            "serving.cost_usd_per_million_tokens: Enter a number in $, not in $/token");
  EXPECT_EQ(message("serving.tpot_s<=serving.tokens_per_s"),
            "until: serving.tpot_s and serving.tokens_per_s have different units");
  EXPECT_EQ(message("serving.foo<=3"), "until: Unknown output serving.foo");
  EXPECT_EQ(message(""), "until: Enter a condition, such as serving.tpot_s<=20 ms");
  EXPECT_EQ(message("serving.tpot_s<=8 ms"), "none");
  EXPECT_EQ(SolvedBatch("serving.tpot_s<=8 ms")["value"], SolvedBatch("serving.tpot_s<=0.008")["value"]);
}

// The report states emissions in tonnes, and shares as fractions.
TEST(Solve, ABoundIsInTheUnitOfTheReport) {
  const auto solved = [](const std::string& until) {
    const Assignments run{"version=3", "serving=null"};
    return (*ParseJson(SolveAnswer("", run, "training.tokens=1 Gtoken:15 Ttoken", until).text))["value"];
  };
  EXPECT_EQ(solved("training.tco2<=5 t"), solved("training.tco2<=5"));
  EXPECT_EQ(solved("training.tco2<=5000 kg"), solved("training.tco2<=5"));
  EXPECT_EQ(solved("training.tco2<=5,training.model_flops_utilization>=10 %"), solved("training.tco2<=5"));
}

TEST(Solve, ACommaBeforeADigitGroupsThousands) {
  const Json answer = SolvedBatch("serving.tokens_per_s>=1,450 token/s");
  ASSERT_TRUE(answer["value"].is_number()) << JsonText(answer);
  EXPECT_EQ(answer["value"], SolvedBatch("serving.tokens_per_s>=1450")["value"]);
  const Json both = SolvedBatch("serving.tokens_per_s>=1,450 token/s,serving.feasible>=1");
  EXPECT_EQ(both["figures"].size(), 2U) << JsonText(both);
}

TEST(Solve, AReasonHasTitlesAndUnits) {
  const Assignments run{"version=3", "serving=null"};
  const Json answer = *ParseJson(
      SolveAnswer("", run, "training.tokens=1 Gtoken:15 Ttoken", "training.model_flops_utilization>=90 %").text);
  const std::string reason = answer["reason"].get<std::string>();
  EXPECT_TRUE(reason.starts_with("The condition holds at neither end: Model FLOPs utilization")) << reason;
  EXPECT_NE(reason.find(" % at 1 Gtoken; "), std::string::npos) << reason;
  EXPECT_TRUE(reason.ends_with(" % at 15,000 Gtoken")) << reason;
}

// Mistral-7B has a context of 32,768 tokens, and a window of 4,096, so that a longer prompt fits on one RTX 4090.
TEST(Solve, WarnsAsTheReportOfItsAnswerDoes) {
  const Assignments run{"version=3", "model=mistral-7b", "cluster=single-rtx-4090", "training=null", "serving.batch=1"};
  const auto answer = [&](const std::string& range) {
    return *ParseJson(SolveAnswer("", run, "serving.prompt=" + range, "serving.feasible>=1").text);
  };
  EXPECT_FALSE(answer("1k:16k").contains("warnings")) << JsonText(answer("1k:16k"));
  const Json beyond = answer("1k:64k");
  ASSERT_TRUE(beyond.contains("warnings")) << JsonText(beyond);
  EXPECT_NE(beyond["warnings"][0].get<std::string>().find("32,768"), std::string::npos);
}

}  // namespace
}  // namespace slipstick
