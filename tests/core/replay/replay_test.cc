// Replaying a file of requests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/replay/replay_job.h"
#include "core/text/answer_text.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

const Assignments kSmall{"model=llama-3.1-8b", "cluster=dgx-h100", "serving.devices=1", "cluster.devices=1"};

// `count` requests of 500 + 100 tokens, one every `seconds`.
std::string Every(double seconds, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "{\"timestamp\":" + std::to_string(1000 * seconds * i) + ",\"input_length\":500,\"output_length\":100}\n";
  }
  return text;
}

Answer Replayed(const Assignments& assignments, const Json& question, const std::string& trace) {
  return RunJob<ReplayJob>("", assignments, question, {}, trace);
}

Json AnswerOf(const std::string& trace, const Assignments& assignments, const Json& question = Json::object()) {
  const Answer answer = Replayed(assignments, question, trace);
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}

double At(const Json& json, std::string_view path) { return NumberAt(json, path).value_or(-1); }

TEST(Replay, DescribesTheTrace) {
  const Json answer = AnswerOf(
      "{\"timestamp\":0,\"input_length\":1500,\"output_length\":10,\"hash_ids\":[0,1,2]}\n"
      "{\"timestamp\":60000,\"input_length\":1400,\"output_length\":20,\"hash_ids\":[0,1,3]}\n"
      "{\"timestamp\":120000,\"input_length\":900,\"output_length\":30,\"hash_ids\":[0,4]}\n",
      kSmall);
  EXPECT_EQ(answer["format"], "mooncake");
  EXPECT_EQ(At(answer, "trace.requests"), 3);
  EXPECT_EQ(At(answer, "trace.span_s"), 120);
  EXPECT_NEAR(At(answer, "trace.requests_per_s"), 2.0 / 120, 1e-12);
  EXPECT_NEAR(At(answer, "trace.prompt.mean"), 3800.0 / 3, 1e-9);
  EXPECT_EQ(At(answer, "trace.prompt.p50"), 1400);
  EXPECT_EQ(At(answer, "trace.output.longest"), 30);
  EXPECT_EQ(At(answer, "trace.block"), 512);
  EXPECT_NEAR(At(answer, "trace.best_hit_rate"), 1536.0 / 3800, 1e-12);
  EXPECT_NEAR(At(answer, "played.hit_rate"), 1536.0 / 3800, 1e-12);
  EXPECT_EQ(At(answer, "needed.replicas"), 1);
  EXPECT_TRUE(answer["breaks"].is_null());
  EXPECT_EQ(At(answer, "done"), 1);
}

// Of a prompt that repeats completely, one token is computed again.
TEST(Replay, ARepeatedPromptHitsExceptForOneToken) {
  const std::string twice = "\"input_length\":1024,\"output_length\":1,\"hash_ids\":[0,1]}\n";
  const Json answer = AnswerOf("{\"timestamp\":0," + twice + "{\"timestamp\":60000," + twice, kSmall);
  EXPECT_NEAR(At(answer, "trace.best_hit_rate"), 1023.0 / 2048, 1e-12);
  EXPECT_NEAR(At(answer, "played.hit_rate"), 1023.0 / 2048, 1e-12);
}

TEST(Replay, ScalesTheArrivals) {
  EXPECT_NEAR(At(AnswerOf(Every(1, 11), kSmall, {{"speed", 4}}), "trace.span_s"), 2.5, 1e-9);
  EXPECT_NEAR(At(AnswerOf(Every(1, 11), kSmall, {{"requests_per_s", 5}}), "trace.span_s"), 2, 1e-9);
  EXPECT_FALSE(Replayed(kSmall, {{"requests_per_s", 5}, {"speed", 2}}, Every(1, 2)).issues.empty());
  const Json untimed = AnswerOf("{\"input_lens\":[9,9,9],\"output_lens\":[2,2,2]}", kSmall);
  EXPECT_EQ(At(untimed, "trace.span_s"), 0);
  EXPECT_TRUE(untimed["needed"].is_null()) << "all at once, without targets: nothing to find";
  EXPECT_GT(At(AnswerOf("{\"input_lens\":[9,9,9],\"output_lens\":[2,2,2],\"request_rate\":2}", kSmall), "trace.span_s"),
            0);
}

// The first rows of Mooncake's toolagent_trace.jsonl all have the time 0: a rate spreads them as those without a time.
TEST(Replay, SpreadsRequestsOfOneTime) {
  std::string equal, turns;
  for (int i = 0; i < 2000; ++i) {
    equal += "{\"timestamp\":0,\"input_length\":500,\"output_length\":10}\n";
    // Sessions of two turns: each is two requests.
    const std::string session = "{\"session_id\":" + std::to_string(i / 2) + ",";
    turns +=
        session + (i % 2 == 0 ? "\"timestamp\":0" : "\"delay\":100") + ",\"input_length\":500,\"output_length\":10}\n";
  }
  for (const std::string& trace : {equal, turns}) {
    const Json spread = AnswerOf(trace, kSmall, {{"requests_per_s", 20}});
    EXPECT_NEAR(At(spread, "trace.span_s"), 100, 10);
    EXPECT_NEAR(At(spread, "trace.requests_per_s"), 20, 2);
    EXPECT_NE(spread["notes"].dump().find("All times of the file are equal"), std::string::npos);
  }
  EXPECT_EQ(At(AnswerOf(equal, kSmall), "trace.span_s"), 0);
}

// The answer about other replica counts holds when the scenario has them: `needed` replicas hold, one fewer does not.
TEST(Replay, FindsTheFewestReplicas) {
  const std::string trace = Every(0.01, 3000);
  const Json question{{"ttft", 0.1}, {"tpot", 0.02}};
  const Json answer = AnswerOf(trace, kSmall, question);
  EXPECT_EQ(answer["holds"], false);
  EXPECT_TRUE(answer["breaks"].is_object());
  const auto needed = static_cast<Count>(At(answer, "needed.replicas"));
  ASSERT_GT(needed, 1);
  for (const Count replicas : {needed - 1, needed}) {
    const std::string count = std::to_string(replicas);
    const Json own = AnswerOf(trace,
                              {"model=llama-3.1-8b", "cluster=dgx-h100", "serving.devices=" + count,
                               "cluster.devices=" + count, "serving.mapping.tp=1", "serving.mapping.replicas=" + count},
                              question);
    EXPECT_EQ(own["holds"], replicas == needed) << count;
    EXPECT_EQ(At(own, "needed.replicas"), static_cast<double>(needed));
  }
}

TEST(Replay, SaysWhenNoNumberOfReplicasHolds) {
  const Json answer = AnswerOf(Every(1, 5), kSmall, {{"ttft", 1e-6}});
  EXPECT_TRUE(answer["needed"].is_null());
  EXPECT_FALSE(answer["message"].get<std::string>().empty());
}

// 900,000 tokens of 131,072 bytes are 118 GB, more than an H100 has: half of the requests are never answered.
TEST(Replay, RequestsThatDoNotFitAreNotHeld) {
  std::string trace;
  for (int i = 0; i < 20; ++i) {
    trace += "{\"timestamp\":" + std::to_string(1000 * i) +
             ",\"input_length\":" + std::string(i % 2 == 0 ? "500" : "900000") + ",\"output_length\":100}\n";
  }
  const Json answer = AnswerOf(trace, kSmall, {{"ttft", "1 s"}});
  EXPECT_EQ(At(answer, "played.too_long"), 10);
  EXPECT_EQ(answer["holds"], false);
  EXPECT_TRUE(answer["needed"].is_null());
  for (const std::string& text : {answer["message"].get<std::string>(), ReplayText(JsonText(answer), false)}) {
    EXPECT_NE(text.find("10 of 20 requests do not fit"), std::string::npos) << text;
  }
  EXPECT_NE(answer["notes"].dump().find("10 of 20 requests are longer than the context of"), std::string::npos);
}

// The same requests as sessions and as blocks of 512 tokens, in more memory than a device has: host memory finds both.
TEST(Replay, TiersServeBlocksAndSessionsAlike) {
  std::string blocks, sessions;
  for (int turn = 0; turn < 4; ++turn) {
    for (int session = 0; session < 60; ++session) {
      const int tokens = 8192 + 2048 * turn;
      const std::string lengths = "\"timestamp\":" + std::to_string(60'000 * turn + 900 * session) +
                                  ",\"input_length\":" + std::to_string(tokens) + ",\"output_length\":100";
      std::string ids;
      for (int i = 0; i < tokens / 512; ++i) ids += (i > 0 ? "," : "") + std::to_string(1000 * session + i);
      blocks += "{" + lengths + ",\"hash_ids\":[" + ids + "]}\n";
      sessions += "{\"session_id\":" + std::to_string(session) + "," + lengths + "}\n";
    }
  }
  // 60 contexts of up to 14,336 tokens of 131,072 bytes are 113 GB.
  const auto hits = [](const std::string& trace, const Assignments& more) {
    Assignments assignments = kSmall;
    assignments.insert(assignments.end(), more.begin(), more.end());
    return At(AnswerOf(trace, assignments), "played.hit_rate");
  };
  const Assignments host{"serving.prefix_cache.host_capacity=200 GB"};
  const double best = (8192 + 10'240 + 12'288) / (8192.0 + 10'240 + 12'288 + 14'336);
  EXPECT_LT(hits(blocks, {}), 0.5 * best);
  EXPECT_NEAR(hits(blocks, host), best, 0.02);
  EXPECT_NEAR(hits(sessions, host), best, 0.02);
}

// A benchmark without times keeps its number of requests in flight: with requests of one length that is a closed loop,
// whose requests in the system are as many until the last ones.
TEST(Replay, KeepsTheConcurrencyOfABenchmark) {
  std::string inputs, outputs;
  for (int i = 0; i < 400; ++i) {
    inputs += (i > 0 ? "," : "") + std::to_string(1000);
    outputs += (i > 0 ? "," : "") + std::to_string(i < 8 ? 25 * (i + 1) : 200);
  }
  const std::string file = "{\"request_rate\":\"inf\",\"max_concurrency\":8,\"input_lens\":[" + inputs +
                           "],\"output_lens\":[" + outputs + "]}";
  const Json answer = AnswerOf(file, kSmall);
  EXPECT_NEAR(At(answer, "played.in_system"), 8, 0.2);
  EXPECT_LT(At(answer, "played.ttft_percentiles_s.p99"), 8 * At(answer, "played.ttft_percentiles_s.p50"));
  EXPECT_NEAR(At(AnswerOf(file, kSmall, {{"requests_per_s", "0.5"}}), "trace.requests_per_s"), 0.5, 0.1)
      << "a rate that is asked for replaces it";
}

// An eighth of a DGX is not for sale.
TEST(Replay, BuysWholeServers) {
  const Json answer =
      AnswerOf(Every(1, 50), {"model=llama-3.1-8b", "cluster=dgx-h100", "serving.mapping.tp=1", "serving.devices=8"});
  EXPECT_EQ(At(answer, "needed.devices"), 1);
  EXPECT_EQ(At(answer, "needed.bought_devices"), 8);
  const Json report = *ParseJson(EvaluateAnswer(R"({"cluster": "dgx-h100"})").text);
  EXPECT_NEAR(At(answer, "needed.usd_per_hour") / (8 * At(report, "cost.device_hour_usd")), 1, 1e-9);
}

TEST(Replay, RefusesWhatItCannotPlay) {
  EXPECT_FALSE(Replayed({"serving=null"}, Json::object(), Every(1, 2)).issues.empty());
  EXPECT_FALSE(Replayed(kSmall, {{"ttft", "5 kg"}}, Every(1, 2)).issues.empty());
  EXPECT_FALSE(Replayed(kSmall, Json::object(), "{").issues.empty());
  EXPECT_FALSE(Replayed(kSmall, Json::object(), "{\"timestamp\":0,\"input_length\":200000000,\"output_length\":1}")
                   .issues.empty());
}

// Replays in steps, as the page does.
TEST(Replay, SaysHowFarItIs) {
  ReplaySteps steps("{\"request\":{\"model\":\"llama-3.1-8b\"}}", Every(0.1, 200));
  ASSERT_TRUE(steps.issues().empty()) << steps.issues();
  double before = 0;
  int told = 0;
  while (steps.Step(100)) {
    const Json report = *ParseJson(steps.Report());
    if (told++ == 0) before = At(report, "done");
    EXPECT_LE(At(report, "done"), 1);
  }
  EXPECT_GT(told, 2);
  EXPECT_LT(before, 1);
  EXPECT_EQ(At(*ParseJson(steps.Report()), "trace.requests"), 200);
  EXPECT_FALSE(ReplaySteps("{}", std::string("x")).issues().empty());
}

}  // namespace
}  // namespace slipstick
