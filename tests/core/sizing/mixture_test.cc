// Sizing for several classes of requests together.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/sizing/sized.h"
#include "tests/support/answers.h"
#include "tests/support/random_scenarios.h"

namespace slipstick {
namespace {

const Assignments kFleet{"model=llama-3.1-8b", "cost.system.devices_per_host=1"};

Json ClassOf(const Json& weight, int prompt, int output) {
  return {{"weight", weight}, {"prompt_tokens", prompt}, {"output_tokens", output}};
}
Json QuestionOf(const Json& mixture) {
  Json question{{"requests_per_s", 40},
                {"peak_over_mean", 1.5},
                {"ttft", "600 ms"},
                {"tpot", "30 ms"},
                {"clusters", {"dgx-h100"}}};
  if (!mixture.is_null()) question["mixture"] = mixture;
  return question;
}
Json SizedMixture(const std::vector<Json>& mixture, const Json& more = Json::object()) {
  Json question = QuestionOf(Json(mixture));
  question.update(more);
  return First(kFleet, question);
}
Json Without(Json answer, const char* member) {
  answer.erase(member);
  if (answer.contains("two_pools")) answer["two_pools"].erase(member);
  return answer;
}
using testing::Random;
using testing::operator+;

const Json kChat = ClassOf(0.7, 1000, 300), kSummary = ClassOf(0.3, 8000, 200);

TEST(SizedMixture, OfOneClassIsThePlainQuestion) {
  for (const Json& more : std::vector<Json>{Json{{"percentile", "90"}, {"day", {1, 3}}, {"peak_over_mean", 1}},
                                            Json{{"prices", {{"input", "1 $/Mtoken"}, {"output", "3 $/Mtoken"}}}}}) {
    Json question = QuestionOf(nullptr);
    question.update(more);
    const Json plain = First(kFleet + Assignments{"serving.prompt=1000", "serving.output=300"}, question),
               mixed = SizedMixture(std::vector<Json>{kChat}, more);
    EXPECT_TRUE(plain["classes"].is_null());
    EXPECT_EQ(Without(plain, "classes"), Without(mixed, "classes"));
    const Json& only = mixed["classes"][0];
    EXPECT_EQ(only["share"], 1);
    EXPECT_EQ(only["ttft_s"], plain["at_peak"]["ttft_s"]);
    EXPECT_EQ(only["tpot_s"], plain["at_peak"]["tpot_s"]);
    EXPECT_EQ(only["requests_in_flight"], plain["at_peak"]["requests_in_flight"]);
    EXPECT_EQ(only["cost_share"], 1);
    EXPECT_EQ(only["token_share"], 1);
    EXPECT_EQ(only["usd_per_million_output_tokens"], plain["cost"]["usd_per_million_output_tokens"]);
    EXPECT_EQ(only["simulated"].is_null(), plain["simulated"].is_null());
    if (!plain["simulated"].is_null()) {
      EXPECT_EQ(only["simulated"]["ttft_s"], plain["simulated"]["ttft_s"]);
    }
  }
}

TEST(SizedMixture, JoinsClassesThatAreAlike) {
  const Json one = SizedMixture(std::vector<Json>{kChat}),
             two = SizedMixture({ClassOf(1, 1000, 300), ClassOf(3, 1000, 300)});
  EXPECT_EQ(Without(one, "classes"), Without(two, "classes"));
  EXPECT_EQ(two["classes"][0]["share"], 0.25);
  EXPECT_NEAR(two["classes"][1]["cost_share"].get<double>(), 0.75, 1e-12);
  EXPECT_EQ(two["classes"][0]["ttft_s"], one["classes"][0]["ttft_s"]);
  const Json apart = SizedMixture({kChat, kSummary}),
             split = SizedMixture({ClassOf(0.4, 1000, 300), kSummary, ClassOf(0.3, 1000, 300)});
  EXPECT_EQ(Without(apart, "classes"), Without(split, "classes"));
}

TEST(SizedMixture, DoesNotDependOnTheOrderOrOnTheSumOfTheWeights) {
  const Json one = SizedMixture({kChat, kSummary}), other = SizedMixture({kSummary, kChat}),
             scaled = SizedMixture({ClassOf(0.7 * 1024, 1000, 300), ClassOf(0.3 * 1024, 8000, 200)}),
             seven = SizedMixture({ClassOf(7, 1000, 300), ClassOf(3, 8000, 200)});
  EXPECT_EQ(Without(one, "classes"), Without(other, "classes"));
  EXPECT_EQ(one["classes"][0], other["classes"][1]);
  EXPECT_EQ(one["classes"][1], other["classes"][0]);
  EXPECT_EQ(one, scaled);
  EXPECT_EQ(one["deployment"], seven["deployment"]);
  EXPECT_NEAR(seven["at_peak"]["ttft_s"].get<double>() / one["at_peak"]["ttft_s"].get<double>(), 1, 1e-9);
}

// Little's law holds for each class, shares add up, and means weight every request equally.
TEST(SizedMixture, AddsUpOverItsClasses) {
  for (const char* percentile : {"mean", "90"}) {
    const Json mixed = SizedMixture({kChat, kSummary, ClassOf(0.2, 200, 900)}, {{"percentile", percentile}});
    double tokens = 0, cost = 0, ttft = 0, tpot = 0, in_flight = 0, usd = 0;
    Count requests = 0;
    for (const Json& one : mixed["classes"]) {
      const auto number = [&](const char* name) { return one[name].get<double>(); };
      EXPECT_NEAR(number("requests_per_s") * number("request_latency_s") /
                      (number("requests_in_flight") + number("requests_waiting")),
                  1, 1e-9);
      EXPECT_NEAR(number("request_latency_s"), number("ttft_s") + (number("output_tokens") - 1) * number("tpot_s"),
                  1e-9);
      EXPECT_NEAR(number("requests_per_s"), number("share") * 60, 1e-9);
      tokens += number("token_share"), cost += number("cost_share");
      ttft += number("share") * number("ttft_s"), tpot += number("share") * number("tpot_s");
      in_flight += number("requests_in_flight");
      // Cost per hour at the mean rate of 40 requests/s.
      usd += number("usd_per_million_output_tokens") * 1e-6 * 40 * number("share") * number("output_tokens") * 3600;
      if (std::string(percentile) == "90") requests += one["simulated"]["requests"].get<Count>();
    }
    EXPECT_NEAR(tokens, 1, 1e-12);
    EXPECT_NEAR(cost, 1, 1e-12);
    EXPECT_NEAR(ttft, mixed["at_peak"]["ttft_s"].get<double>(), 1e-9);
    EXPECT_NEAR(tpot, mixed["at_peak"]["tpot_s"].get<double>(), 1e-9);
    EXPECT_NEAR(in_flight / mixed["at_peak"]["requests_in_flight"].get<double>(), 1, 1e-9);
    EXPECT_NEAR(usd / mixed["cost"]["usd_per_hour"].get<double>(), 1, 1e-9);
    EXPECT_EQ(requests, mixed["simulated"].is_null() ? 0 : mixed["simulated"]["requests"].get<Count>());
    EXPECT_LE(mixed["at_peak"]["ttft_s"].get<double>(), 0.6);
  }
  // Of 1,200 requests, 700 have 1,300 tokens, 300 have 8,200 and 200 have 1,100: the first class has 25.3 % of all
  // tokens.
  const Json mixed = SizedMixture({ClassOf(700, 1000, 300), ClassOf(300, 8000, 200), ClassOf(200, 200, 900)});
  EXPECT_NEAR(mixed["classes"][0]["token_share"].get<double>(), 910.0 / 3590, 1e-9);
  EXPECT_NEAR(mixed["cost"]["usd_per_million_tokens"].get<double>() /
                  mixed["cost"]["usd_per_million_output_tokens"].get<double>(),
              (700 * 300 + 300 * 200 + 200 * 900) / 3590e3, 1e-9);
}

// Long prompts use more of the devices than their share of the output, and their first token comes later.
TEST(SizedMixture, GivesEachClassItsLatencyAndCost) {
  const Json mixed = SizedMixture({kChat, kSummary});
  const Json &chat = mixed["classes"][0], &summary = mixed["classes"][1];
  EXPECT_GT(summary["ttft_s"], chat["ttft_s"]);
  EXPECT_GT(summary["usd_per_million_output_tokens"], chat["usd_per_million_output_tokens"]);
  EXPECT_GT(summary["cost_share"], 0.3);
}

// A single class is sized by the closed form for one length, whose first tokens are earlier under load (open_loop.cc).
// With these targets, which other limits decide, that does not matter.
TEST(SizedMixture, TakesAPurchaseBetweenThoseOfItsClasses) {
  Random random(3);
  int held = 0;
  for (int i = 0; i < 30; ++i) {
    const Assignments scenario{"model=" + random.Of<std::string>({"llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b"}),
                               "serving.engine=" + random.Of<std::string>({"vllm", "sglang", "trtllm"}),
                               "cost.system.devices_per_host=1"};
    const Json chat = ClassOf(random.Of<double>({0.2, 1, 5}), random.Of<int>({100, 1000}), random.Of<int>({100, 400})),
               other = ClassOf(1, random.Of<int>({3000, 8000}), random.Of<int>({50, 300}));
    Json question{{"requests_per_s", random.Of<double>({2, 20, 100})},
                  {"tpot", random.Of<double>({0.03, 0.06})},
                  {"pools", "one"},
                  {"clusters", {random.Of<std::string>({"dgx-h100", "dgx-b200", "single-h200-sxm"})}}};
    const auto cost = [&](const std::vector<Json>& mixture) {
      question["mixture"] = mixture;
      return NumberAt(First(scenario, question), "cost.usd_per_hour").value_or(std::numeric_limits<double>::infinity());
    };
    const double one = cost(std::vector<Json>{chat}), two = cost(std::vector<Json>{other}), both = cost({chat, other});
    SCOPED_TRACE(question.dump() + " " + scenario[0] + " " + scenario[1]);
    EXPECT_LE(std::min(one, two), both * (1 + 1e-12));
    EXPECT_LE(both, std::max(one, two) * (1 + 1e-12));
    if (one != two && both < std::numeric_limits<double>::infinity()) ++held;
  }
  EXPECT_GT(held, 12);
}

TEST(SizedMixture, OpensTheScenarioOfItsMeanRequest) {
  const Json mixed = SizedMixture({kChat, kSummary});
  EXPECT_EQ(mixed["overrides"]["serving.prompt"], 3100);  // 0.7 x 1,000 + 0.3 x 8,000
  EXPECT_EQ(mixed["overrides"]["serving.output"], 270);
}

// Little's law for each class, and shares that add up, on two pools whose devices differ in price.
TEST(SizedMixture, AddsUpOverItsClassesOnTwoPools) {
  const Json pools = First(kFleet + Assignments{"serving.disaggregated.prefill_device=l40s"},
                           QuestionOf({kChat, kSummary}))["two_pools"];
  ASSERT_TRUE(pools["holds"].get<bool>()) << pools.dump();
  double cost = 0, ttft = 0, usd = 0;
  for (const Json& one : pools["classes"]) {
    const auto number = [&](const char* name) { return one[name].get<double>(); };
    EXPECT_NEAR(number("requests_per_s") * number("request_latency_s") /
                    (number("requests_in_flight") + number("requests_waiting")),
                1, 1e-9);
    cost += number("cost_share"), ttft += number("share") * number("ttft_s");
    usd += number("usd_per_million_output_tokens") * 1e-6 * 40 * number("share") * number("output_tokens") * 3600;
  }
  EXPECT_NEAR(cost, 1, 1e-12);
  EXPECT_NEAR(ttft, pools["at_peak"]["ttft_s"].get<double>(), 1e-9);
  EXPECT_NEAR(usd / pools["cost"]["usd_per_hour"].get<double>(), 1, 1e-9);
  EXPECT_GT(pools["classes"][1]["ttft_s"], pools["classes"][0]["ttft_s"]);
  EXPECT_EQ(pools["overrides"]["serving.prompt"], 3100);
}

TEST(SizedMixture, OfOneClassIsThePlainQuestionOnTwoPools) {
  const Json plain = First(kFleet + Assignments{"serving.prompt=1000", "serving.output=300"},
                           QuestionOf(nullptr))["two_pools"],
             mixed = SizedMixture(std::vector<Json>{kChat})["two_pools"];
  ASSERT_TRUE(plain["holds"].get<bool>()) << plain.dump();
  EXPECT_EQ(Without(plain, "classes"), Without(mixed, "classes"));
  EXPECT_EQ(mixed["classes"][0]["cost_share"], 1);
}

TEST(SizedMixture, IsAnIssueWhereItIsWrong) {
  const auto path_of = [](const Json& mixture, const Assignments& more = {}) {
    const Answer answer = SizeAnswer(R"({"version": 3})", kFleet + more, QuestionOf(mixture));
    return answer.issues.empty() ? "" : answer.issues[0].path;
  };
  EXPECT_EQ(path_of(Json::array({kChat, kSummary})), "");
  EXPECT_EQ(path_of(Json::array()), "mixture");
  EXPECT_EQ(path_of(Json::array({kChat, ClassOf(-1, 10, 10)})), "mixture.1.weight");
  EXPECT_EQ(path_of(Json::array({ClassOf(0, 10, 10)})), "mixture.0.weight");
  EXPECT_EQ(path_of(Json::array({ClassOf("much", 10, 10)})), "mixture.0.weight");
  EXPECT_EQ(path_of(Json::array({ClassOf(1, 0, 10)})), "mixture.0.prompt_tokens");
  EXPECT_EQ(path_of(Json::array({kChat, ClassOf(1, 10, 0)})), "mixture.1.output_tokens");
  EXPECT_EQ(path_of(Json::array({{{"weight", 1}, {"prompt_tokens", 10}}})), "mixture.0.output_tokens");
  EXPECT_EQ(path_of(Json::array({{{"weigth", 1}, {"prompt_tokens", 10}, {"output_tokens", 10}}})), "mixture.0.weigth");
  EXPECT_EQ(path_of("0.7:1000/300"), "mixture");
  EXPECT_EQ(path_of(Json::array({kChat, ClassOf(1, 131000, 100)})), "mixture.1.prompt_tokens");
  EXPECT_EQ(path_of(Json::array({ClassOf(1, 131000, 100)})), "mixture.0.prompt_tokens");
  EXPECT_EQ(path_of(Json::array({ClassOf(1, 10, 200000)})), "mixture.0.prompt_tokens");
  for (const int prompt : {1500, 15000})  // 1,024 positions: below them in the mean, and beyond them
    EXPECT_EQ(path_of(Json::array({ClassOf(1, 10, 10), ClassOf(1, prompt, 10)}), {"model=gpt2"}),
              "mixture.1.prompt_tokens");
  EXPECT_EQ(path_of(Json(std::vector<Json>(17, kChat))), "mixture");
  EXPECT_EQ(path_of(Json::array({kChat, kSummary}),
                    {"serving.sessions.turns=4", "serving.sessions.added=100", "serving.sessions.gap=10 s"}),
            "mixture");
  EXPECT_EQ(path_of(Json::array({kChat, kSummary}), {"serving.kv_offload={}"}), "mixture");
  EXPECT_EQ(path_of(Json::array({kChat, kSummary}), {"serving.prefix_hit=0.5", "serving.prefix_cache={}"}), "mixture");
  EXPECT_EQ(path_of(Json::array({kChat, kSummary}), {"serving.lengths=azure-conversation-2023"}), "mixture");
}

}  // namespace
}  // namespace slipstick
