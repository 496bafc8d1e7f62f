// Sessions of ten turns on one H100. Llama-3.1-8B caches 131,072 bytes per token in 16 bit.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/evaluation/evaluate.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

using Texts = std::vector<std::string>;
constexpr double kToken = 131072;

// Turn k has 4,000 tokens of system prompt, 1,000 k added and 200 (k - 1) answered: 10,400 on average.
Texts WithSessions(const Texts& more) {
  Texts all{"training=null",
            "cluster=single-h100-sxm5-80gb",
            "model=llama-3.1-8b",
            "serving.precision.weights=bf16",
            "serving.engine=vllm",
            "serving.output=200",
            "serving.sessions.turns=10",
            "serving.sessions.system_prompt=4000",
            "serving.sessions.added=1000",
            "serving.sessions.gap=30 s"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
Json Answer(const Texts& assignments) { return Ask(*ReadRequest(R"({"version": 3})", assignments), ""); }
Issues IssuesOf(const Texts& assignments) {
  return ParseScenario(*ReadRequest(R"({"version": 3})", assignments)).issues;
}

TEST(Sessions, FindAllButWhatIsAddedWhereNothingIsEvicted) {
  const Json one = Answer(WithSessions({"serving.concurrency=1"}));
  EXPECT_EQ(Number(one, "scenario.serving.prompt"), 10400);
  EXPECT_NEAR(Number(one, "serving.sessions.hit_rate"), 1 - 1000.0 / 10400, 1e-9);
  EXPECT_NEAR(Number(one, "serving.sessions.best_hit_rate"), 1 - 1000.0 / 10400, 1e-12);
}

// Little's law: a session is either in its turn or in its gap.
TEST(Sessions, SendATurnPerTurnTimeAndGap) {
  for (const double sessions : {1.0, 16.0, 128.0, 512.0}) {
    const Json answer = Answer(WithSessions({"serving.concurrency=" + std::to_string(static_cast<int>(sessions))}));
    const double rate = Number(answer, "serving.requests_per_s"), latency = Number(answer, "serving.request_latency_s");
    EXPECT_NEAR(rate * (latency + 30) / sessions, 1, 1e-4) << sessions;
    EXPECT_NEAR(
        rate * latency / (Number(answer, "serving.requests_in_flight") + Number(answer, "serving.requests_waiting")), 1,
        1e-9)
        << sessions;
    EXPECT_NEAR(Number(answer, "serving.sessions.sessions_per_s"), rate / 10, 1e-4 * rate) << sessions;
  }
}

TEST(Sessions, FindLessTheMoreThereAre) {
  double before = 1;
  for (const char* sessions : {"16", "64", "128", "256"}) {
    const Json answer = Answer(WithSessions({std::string("serving.concurrency=") + sessions}));
    const double hit = Number(answer, "serving.sessions.hit_rate");
    EXPECT_LE(hit, before) << sessions;
    EXPECT_GE(hit, 4000.0 / 10400 - 1e-9) << "the system prompt is always there";
    before = hit;
    double less = 0;
    for (const Json& size : answer["serving"]["sessions"]["sizes"]) {
      EXPECT_GE(size["hit_rate"].get<double>(), less);
      less = size["hit_rate"].get<double>();
    }
  }
  EXPECT_LT(before, 0.6);
}

// Contexts evicted from the device are found in host memory, and their first token comes sooner than after another
// prefill.
TEST(Sessions, FindInHostMemoryWhatTheDeviceEvicted) {
  const Json device = Answer(WithSessions({"serving.concurrency=128"})),
             host = Answer(WithSessions({"serving.concurrency=128", "serving.prefix_cache.ssd_capacity=0 GB"}));
  EXPECT_GT(Number(host, "serving.sessions.host_hit_rate"), 0.1);
  EXPECT_EQ(Number(host, "serving.sessions.ssd_hit_rate"), 0);
  EXPECT_NEAR(Number(host, "serving.sessions.device_hit_rate") + Number(host, "serving.sessions.host_hit_rate"),
              Number(host, "serving.sessions.hit_rate"), 1e-9);
  EXPECT_LT(Number(host, "serving.sessions.reentry_ttft_s"), Number(device, "serving.sessions.reentry_ttft_s"));
}

// Host memory alone, unless the request mentions an SSD. 1 GB per device holds few contexts.
TEST(Sessions, HaveAnSsdOnlyIfTheRequestMentionsOne) {
  const auto ssd_hits = [](const char* version, const std::vector<std::string>& more) {
    std::vector<std::string> tiers{"serving.concurrency=256", "serving.prefix_cache.host_capacity=1 GB"};
    tiers.insert(tiers.end(), more.begin(), more.end());
    return Number(Ask(*ReadRequest(version, WithSessions(tiers)), ""), "serving.sessions.ssd_hit_rate");
  };
  EXPECT_EQ(ssd_hits(R"({"version": 3})", {}), 0);
  EXPECT_GT(ssd_hits(R"({"version": 3})", {"serving.prefix_cache.ssd_capacity=3840 GB"}), 0.05);
  EXPECT_GT(ssd_hits(R"({"version": 3})", {"serving.prefix_cache.ssd_bandwidth=6 GB/s"}), 0.05);
  EXPECT_GT(ssd_hits(R"({"version": 2})", {}), 0.05) << "links keep their meaning";
}

// On average a request holds 10,400 prompt tokens and half of its output, 4,000 of them shared, in pages of 16.
TEST(Sessions, StoreTheirSystemPromptOnce) {
  const Json shared = Answer(WithSessions({"serving.concurrency=512"})),
             own = Answer(
                 WithSessions({"serving.concurrency=512", "serving.sessions.system_prompt=0",
                               "serving.sessions.added=1727"}));  // prompts of the same length, 10,398.5 on average
  const double most = Number(own, "serving.max_batch");
  EXPECT_NEAR(Number(shared, "serving.max_batch"), (most * 10500 - 4000) / 6500, 2);
  EXPECT_NEAR(Number(shared, "serving.kv_cache_bytes"), (4000 + Number(shared, "serving.max_batch") * 6512) * kToken,
              0.01 * Number(shared, "serving.kv_cache_bytes"));
}

TEST(Sessions, CostTheirOutputTokens) {
  const Json answer = Answer(WithSessions({"serving.concurrency=16"}));
  EXPECT_NEAR(Number(answer, "serving.session_usd"), 2000e-6 * Number(answer, "serving.cost_usd_per_million_tokens"),
              1e-12);
  EXPECT_EQ(Number(answer, "serving.sessions.output_tokens"), 2000);
}

TEST(Sessions, TakeTheirRateWhereItIsGiven) {
  const Json answer = Answer(WithSessions({"serving.requests_per_s=2"}));
  EXPECT_NEAR(Number(answer, "serving.sessions.sessions_per_s"), 0.2, 1e-9);
  EXPECT_NEAR(Number(answer, "serving.sessions.waiting"), 0.2 * 9 * 30, 1e-6);
}

TEST(Sessions, ExcludeInputsThatFollowFromThem) {
  for (const char* other : {"serving.prefix_hit=0.5", "serving.idle_sessions=2", "serving.prompt=2000",
                            "serving.prefix_cache.host_share=0.5", "serving.waves=2"}) {
    const Issues issues = IssuesOf(WithSessions({other}));
    ASSERT_EQ(issues.size(), 1U) << other;
    ASSERT_EQ(issues[0].fixes.size(), 2U) << other;
    for (const Fix& fix : issues[0].fixes) {
      const Json mended = WithFix(*ReadRequest(R"({"version": 3})", WithSessions({other})), fix);
      EXPECT_TRUE(ParseScenario(mended)) << other << " " << fix.change.path;
    }
  }
}

// The resolved scenario states the prompt and gives the same answer.
TEST(Sessions, AreAnsweredTheSameFromTheResolvedScenario) {
  const Json answer = Answer(WithSessions({"serving.concurrency=64"}));
  const Json again = Ask(*CompleteRequest(answer["scenario"]), "");
  EXPECT_EQ(answer["serving"]["sessions"], again["serving"]["sessions"]);
}

TEST(Sessions, WarnThatTheirLastTurnDoesNotFit) {
  const Json answer = Answer(WithSessions({"serving.concurrency=4", "serving.sessions.turns=1000"}));
  EXPECT_FALSE(answer["serving"]["feasible"].get<bool>());
  EXPECT_NE(answer["serving"]["infeasible"].dump().find("one request needs"), std::string::npos);
}

// Every figure of the sessions has an explanation; that of the hit rate leads to the memory and the gap.
TEST(Sessions, AreExplained) {
  const Json report =
      Ask(*ReadRequest(R"({"version": 3})", WithSessions({"serving.concurrency=128", "serving.prefix_cache={}"})), "*");
  std::set<std::string> figures, origins;
  for (const Json& figure : report["explanations"]) {
    figures.insert(figure["path"].get<std::string>());
    for (const Json& term : figure["terms"]) {
      EXPECT_FALSE(term["origin"].get<std::string>().empty() &&
                   figure["path"].get<std::string>().starts_with("serving.sessions"))
          << figure["path"] << " " << term["symbol"];
      origins.insert(term["origin"].get<std::string>());
    }
  }
  for (const auto& [key, value] : report["serving"]["sessions"].items()) {
    if (!value.is_number()) continue;
    EXPECT_TRUE(figures.contains("serving.sessions." + key)) << key;
  }
  for (const char* input :
       {"serving.sessions.gap", "serving.sessions.turns", "serving.sessions.added", "serving.sessions.system_prompt",
        "serving.prefix_cache.host_capacity", "serving.concurrency"})
    EXPECT_TRUE(origins.contains(input)) << input;
}

}  // namespace
}  // namespace slipstick::testing
