// Sessions simulated turn by turn, against their closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/simulation/random.h"
#include "core/simulation/simulate.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

struct Both {
  ServingReport closed;
  SimulatedServing played;
  double gap = 0;
};
Both BothOf(const Assignments& load) {
  Both both;
  const Result<Scenario> scenario = ScenarioOf(load);
  if (!scenario) {
    for (const Issue& issue : scenario.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
    return both;
  }
  both.closed = EvaluateServing(scenario->model, scenario->cluster, *scenario->serving, false);
  const SimulationAnswer answer = Simulate(scenario->model, scenario->cluster, *scenario->serving);
  EXPECT_TRUE(answer.served.has_value()) << answer.warning;
  if (answer.served) both.played = *answer.served;
  both.gap = scenario->serving->sessions->gap.base();
  return both;
}

const Assignments kAgents{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b",
                          "serving.engine=vllm",           "serving.output=200",
                          "serving.sessions.turns=10",     "serving.sessions.system_prompt=4000",
                          "serving.sessions.added=1000",   "serving.sessions.gap=30 s",
                          "serving.simulate.requests=4000"};

// Little's law, for the sessions (each is in a turn or in a gap) and for the requests in the system.
TEST(PlayedSessions, HoldLittlesLaw) {
  for (const char* sessions : {"16", "64", "200"}) {
    const SimulatedServing played =
        BothOf(kAgents + Assignments{std::string("serving.concurrency=") + sessions}).played;
    EXPECT_NEAR(played.requests_per_s * (played.request_latency.base() + 30) / std::stod(sessions), 1, 0.06)
        << sessions;
    EXPECT_NEAR(
        played.requests_per_s * played.request_latency.base() / (played.requests_in_flight + played.requests_waiting),
        1, 1e-9)
        << sessions;
  }
}

TEST(PlayedSessions, FindAllButWhatIsAddedWhereNothingIsEvicted) {
  const SimulatedServing played = BothOf(kAgents + Assignments{"serving.concurrency=8"}).played;
  EXPECT_NEAR(played.sessions->hit_rate, 1 - 1000.0 / 10400, 0.005);
}

// One of ten turns prefills the session's document; all prefill what they add.
TEST(PlayedSessions, PrefillADocumentOnceASession) {
  const SimulatedServing played =
      BothOf(kAgents + Assignments{"serving.concurrency=8", "serving.sessions.opening=20000"}).played;
  EXPECT_NEAR(played.sessions->hit_rate, 1 - (1000 + 20000 / 10.) / (10400 + 20000), 0.01);
}

TEST(PlayedSessions, SayThatTheRouterHasNoEffect) {
  const auto warning = [](const char* router) {
    const Result<Scenario> scenario =
        ScenarioOf(kAgents + Assignments{"serving.concurrency=16", "serving.simulate.router=" + std::string(router)});
    EXPECT_TRUE(scenario);
    return Simulate(scenario->model, scenario->cluster, *scenario->serving).warning;
  };
  EXPECT_NE(warning("round_robin").find("serving.simulate.router has no effect"), std::string::npos);
  EXPECT_EQ(warning("least_loaded"), "");
}

TEST(PlayedSessions, FollowTheirSeedOnly) {
  const Assignments load = kAgents + Assignments{"serving.concurrency=64"};
  const SimulatedServing one = BothOf(load).played, again = BothOf(load).played,
                         other = BothOf(load + Assignments{"serving.simulate.seed=2"}).played;
  EXPECT_EQ(one.sessions->hit_rate, again.sessions->hit_rate);
  EXPECT_EQ(one.ttft, again.ttft);
  EXPECT_NE(one.ttft, other.ttft);
}

TEST(PlayedSessions, AreTooManyToPlayBeyondABound) {
  const Result<Scenario> scenario = ScenarioOf(kAgents + Assignments{"serving.concurrency=16000000"});
  ASSERT_TRUE(scenario);
  const SimulationAnswer answer = Simulate(scenario->model, scenario->cluster, *scenario->serving);
  EXPECT_FALSE(answer.served);
  EXPECT_NE(answer.warning.find("too many sessions"), std::string::npos);
}

// Contexts are loaded over a slow link. Under vLLM tokens come as fast as over a fast link, and no more contexts return
// than the link carries: 131,072 bytes per token of a mean prompt of 10,400.
TEST(PlayedSessions, LoadContextsWhileOthersDecode) {
  const Assignments tiers =
      kAgents + Assignments{"serving.concurrency=192", "serving.prefix_cache.host_capacity=200 GB",
                            "serving.prefix_cache.ssd_capacity=0 GB"};
  const auto over = [&](const char* link, const char* apart) {
    return BothOf(tiers + Assignments{std::string("serving.prefix_cache.host_link=") + link,
                                      std::string("serving.engine.loads_apart=") + apart});
  };
  const Both fast = over("600 GB/s", "true"), slow = over("8 GB/s", "true"), together = over("8 GB/s", "false");
  ASSERT_TRUE(slow.played.sessions);
  EXPECT_GT(slow.played.sessions->host_hit_rate, 0.3);
  EXPECT_LT(slow.played.tpot / fast.played.tpot, 1.1);
  EXPECT_GT(together.played.tpot / fast.played.tpot, 1.5);
  EXPECT_GT(slow.played.requests_per_s, together.played.requests_per_s);
  for (const ServingReport& closed : {slow.closed, fast.closed}) {
    const double host_bytes = closed.sessions->host_hit_rate * 10400 * 131072;
    const double link = &closed == &slow.closed ? 8e9 : 600e9;
    EXPECT_LE(closed.requests_per_s * host_bytes, link);
  }
  EXPECT_LE(slow.played.requests_per_s * slow.played.sessions->host_hit_rate * 10400 * 131072, 8e9);
  EXPECT_NEAR(slow.closed.requests_per_s / slow.played.requests_per_s, 1, 0.1);
  EXPECT_NEAR(slow.closed.tpot / slow.played.tpot, 1, 0.1);
}

// Some loads evict contexts or spend much of their time on prefill: there a turn waits for long steps caused by the
// evicted contexts of others.
TEST(PlayedSessions, AgreeWithTheClosedFormOnTwentyLoads) {
  Random random(46);
  const auto one = [&](const std::vector<std::string>& values) {
    return values[static_cast<std::size_t>(random.Uniform() * static_cast<double>(values.size()))];
  };
  int evicting = 0, busy = 0, within = 0;
  for (int i = 0; i < 20; ++i) {
    Assignments drawn{"serving.engine=" + one({"vllm", "sglang", "trtllm"}),
                      "serving.sessions.turns=" + one({"4", "8", "16"}),
                      "serving.sessions.system_prompt=" + one({"0", "2000", "8000"}),
                      "serving.sessions.added=" + one({"300", "1000", "2000"}),
                      "serving.output=" + one({"100", "300"}),
                      "serving.sessions.gap=" + one({"20 s", "60 s", "120 s"}),
                      "serving.concurrency=" + one({"16", "32", "64", "96", "128", "192"}),
                      "serving.simulate.seed=" + std::to_string(i),
                      "serving.simulate.requests=12000"};
    if (random.Uniform() < 0.3)
      drawn.insert(drawn.end(), {"serving.prefix_cache.host_capacity=40 GB", "serving.prefix_cache.ssd_capacity=0 GB"});
    const Both both = BothOf(kAgents + drawn);
    std::string load;
    for (const std::string& text : drawn) load += text + " ";
    ASSERT_TRUE(both.closed.sessions && both.played.sessions) << load;
    const double closed = both.closed.sessions->hit_rate, played = both.played.sessions->hit_rate;
    EXPECT_NEAR(closed, played, 0.1 * played + 0.02) << load;
    EXPECT_NEAR(both.closed.requests_per_s / both.played.requests_per_s, 1, 0.1) << load;
    double off = 0;
    for (const double ratio :
         {both.closed.ttft / both.played.ttft, both.closed.sessions->reentry_ttft / both.played.sessions->reentry_ttft,
          both.closed.tpot / both.played.tpot, both.closed.request_latency / both.played.request_latency})
      off = std::max(off, std::abs(ratio - 1));
    EXPECT_LT(off, 0.3) << load;
    within += off < 0.1 ? 1 : 0;
    evicting += played < both.closed.sessions->best_hit_rate - 0.02 ? 1 : 0;
    busy += both.closed.tpot > 1.25 * both.closed.decode_step ? 1 : 0;
  }
  EXPECT_GE(within, 19) << "in one, whose prefills take nearly all the time, tokens come a quarter too slowly";
  EXPECT_GE(evicting, 5);
  EXPECT_GE(busy, 5) << "prefills take more than a fifth of the time";
}

}  // namespace
}  // namespace slipstick
