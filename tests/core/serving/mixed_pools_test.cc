// Several classes of requests on two pools: by hand, and against their queues simulated request by request.
#include "core/serving/mixed_pools.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "core/serving/phase_time.h"
#include "core/serving/two_pools.h"
#include "tests/core/serving/served.h"
#include "tests/support/random_scenarios.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;
using Mixture = std::vector<RequestClass>;

Scenario OnPools(const Assignments& more, const Mixture& mixture) {
  Result<Scenario> scenario = ScenarioOf(
      Assignments{"cluster=dgx-h100", "model=llama-3.1-8b", "serving.engine=vllm", "serving.mapping.tp=1"} + more);
  for (const Issue& issue : scenario.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  scenario->serving->mixture = mixture;
  return *scenario;
}
ServingReport ServePools(const Assignments& more, const Mixture& mixture = {}) {
  const Scenario scenario = OnPools(more, mixture);
  return EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, false);
}
Assignments Pools(int prefill, int decode, double rate) {
  return {"serving.disaggregated.prefill_devices=" + std::to_string(prefill),
          "serving.disaggregated.decode_devices=" + std::to_string(decode),
          "serving.devices=" + std::to_string(prefill + decode), "serving.mapping.replicas=" + std::to_string(decode),
          "serving.requests_per_s=" + std::to_string(rate)};
}
Assignments Lengths(int prompt, int output) {
  return {"serving.prompt=" + std::to_string(prompt), "serving.output=" + std::to_string(output)};
}

TEST(MixedPools, OfClassesThatAreAlikeAreThoseOfOneClass) {
  for (const double rate : {2, 12, 20, 1000}) {
    const Assignments pools = Pools(3, 2, rate) + Lengths(2000, 200);
    const ServingReport one = ServePools(pools), two = ServePools(pools, {{0.3, 2000, 200}, {0.7, 2000, 200}});
    const auto same = [rate](auto a, auto b, const char* what) { EXPECT_NEAR(a / b, 1, 1e-6) << what << rate; };
    same(one.ttft, two.ttft, "ttft");
    same(one.tpot, two.tpot, "tpot");
    same(one.request_latency, two.request_latency, "request_latency");
    same(one.requests_per_s, two.requests_per_s, "requests_per_s");
    same(one.requests_in_flight, two.requests_in_flight, "requests_in_flight");
    same(one.energy_per_token, two.energy_per_token, "energy_per_token");
    same(one.pools->prefill.energy, two.pools->prefill.energy, "pools->prefill.energy");
    same(one.pools->decode.device_seconds, two.pools->decode.device_seconds, "pools->decode.device_seconds");
    same(one.kv_cache, two.kv_cache, "kv_cache");
    EXPECT_EQ(one.infeasible.size(), two.infeasible.size());
    EXPECT_NEAR(two.classes[0].device_time.prefill, 0.3, 1e-9);
    EXPECT_NEAR(two.classes[1].device_time.decode, 0.7, 1e-9);
  }
}

// A saturated pool serves one class after another: the shares of its time add up to one.
TEST(MixedPools, HaveTheSlowerPoolsCapacity) {
  const Assignments few_prefill = Pools(1, 7, 1e6), few_decode = Pools(7, 1, 1e6);
  for (const Assignments& pools : {few_prefill, few_decode}) {
    const bool prefills = pools == few_prefill;
    const auto [chat, summary] =
        prefills ? std::pair(Lengths(1000, 30), Lengths(8000, 20)) : std::pair(Lengths(100, 1000), Lengths(500, 500));
    const double chats = ServePools(pools + chat).requests_per_s,
                 summaries = ServePools(pools + summary).requests_per_s;
    const ServingReport mixed = ServePools(
        pools, prefills ? Mixture{{0.6, 1000, 30}, {0.4, 8000, 20}} : Mixture{{0.6, 100, 1000}, {0.4, 500, 500}});
    EXPECT_EQ(mixed.infeasible.front().reason, "rate");
    EXPECT_NEAR(mixed.requests_per_s * (0.6 / chats + 0.4 / summaries), 1, prefills ? 1e-3 : 0.1) << prefills;
  }
}

// One prefill server, with decode slots for all: W = rate E[S^2] / (2 (1 - rho)) (Pollaczek and Khinchine).
TEST(MixedPools, WaitByPollaczekAndKhinchineForOnePrefillServer) {
  const Mixture mixture{{0.9, 500, 20}, {0.1, 16000, 20}};
  const auto of = [](double rate) { return Pools(1, 7, rate); };
  const double small = 1 / ServePools(of(1e6) + Lengths(500, 20)).requests_per_s,
               large = 1 / ServePools(of(1e6) + Lengths(16000, 20)).requests_per_s, rate = 8;
  const double rho = rate * (0.9 * small + 0.1 * large);
  ASSERT_GT(rho, 0.4);
  ASSERT_LT(rho, 0.9);
  const double wait = rate * (0.9 * small * small + 0.1 * large * large) / (2 * (1 - rho));
  const ServingReport quiet = ServePools(of(0.001), mixture), busy = ServePools(of(rate), mixture);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_NEAR((busy.classes[i].ttft - quiet.classes[i].ttft).base(), wait, 0.02 * wait) << i;
}

// Simulates the queues: requests arrive at random, are prefilled first come, first served, and then decode in the steps
// of the one decode group until their last token.
struct PlayedMean {
  double ttft = 0, tpot = 0, requests = 0;
};
class PlayedPools {
 public:
  PlayedPools(const Scenario& scenario, std::size_t servers)
      : classes_(scenario.model, scenario.cluster, *scenario.serving, nullptr), servers_(servers) {
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const Deployment& of = classes_[i].deployment;
      constexpr double kSlots = 256;
      const PrefillTimes prefill = TimePrefillPool(classes_[i].met, kSlots, DecodeOf(classes_[i].met, kSlots)).times;
      prefill_.push_back(prefill.shared.base());
      beside_.push_back((TimeRequest(of) + prefill.first - prefill.shared).base() + HandOverTime(of).base());
    }
  }

  std::vector<PlayedMean> Play(double rate) {
    testing::Random random(7);
    const auto uniform = [&random] { return (static_cast<double>(random.Below(1u << 30)) + 0.5) / (1u << 30); };
    constexpr int kRequests = 20'000;
    using Entry = std::pair<double, std::size_t>;  // time at which a request may decode
    std::priority_queue<double, std::vector<double>, std::greater<>> free;
    for (std::size_t i = 0; i < servers_; ++i) free.push(0);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entering;
    std::vector<double> came;
    std::vector<std::size_t> kind;
    double now = 0;
    for (std::size_t i = 0; i < kRequests; ++i) {
      now -= std::log(uniform()) / rate;
      const std::size_t of = uniform() < classes_[0].of.weight ? 0 : 1;
      const double start = std::max(now, free.top());
      free.pop();
      free.push(start + prefill_[of]);
      entering.emplace(start + prefill_[of] + beside_[of], i);
      came.push_back(now);
      kind.push_back(of);
    }
    return Decode(std::move(entering), came, kind);
  }

 private:
  template <class Entering>
  std::vector<PlayedMean> Decode(Entering entering, const std::vector<double>& came,
                                 const std::vector<std::size_t>& kind) {
    struct Running {
      std::size_t request;
      Count left;
      double first = 0;
    };
    std::vector<Running> running;
    std::vector<PlayedMean> played(2);
    double now = 0;
    while (!entering.empty() || !running.empty()) {
      if (running.empty()) now = std::max(now, entering.top().first);
      for (; !entering.empty() && entering.top().first <= now; entering.pop())
        running.push_back({entering.top().second, classes_[kind[entering.top().second]].load.output});
      double step = 0;
      for (const Running& one : running) step += StepOf(kind[one.request], running.size()) / Number(running.size());
      now += step;
      for (Running& one : running) {
        if (one.first == 0) one.first = now;
        if (--one.left > 0) continue;
        PlayedMean& of = played[kind[one.request]];
        of.ttft += one.first - came[one.request];
        of.tpot += (now - one.first) / Number(classes_[kind[one.request]].load.output - 1);
        of.requests += 1;
      }
      std::erase_if(running, [](const Running& one) { return one.left == 0; });
    }
    for (PlayedMean& one : played) one.ttft /= one.requests, one.tpot /= one.requests;
    return played;
  }
  static double Number(auto count) { return static_cast<double>(count); }
  double StepOf(std::size_t of, std::size_t sequences) {
    double& step = steps_[{of, sequences}];
    if (step == 0) step = DecodeOf(classes_[of].deployment, Number(sequences)).token.base();
    return step;
  }

  TrafficClasses classes_;
  std::size_t servers_;
  std::vector<double> prefill_, beside_;
  std::map<std::pair<std::size_t, std::size_t>, double> steps_;
};

// A request enters decoding between two steps: the closed form leaves out this wait of half a step.
TEST(MixedPools, AgreeWithTheirSimulatedQueues) {
  for (const Mixture& mixture :
       {Mixture{{0.7, 1000, 300}, {0.3, 8000, 200}}, Mixture{{0.5, 200, 600}, {0.5, 4000, 50}}}) {
    for (const int prefillers : {1, 3}) {
      const double capacity = ServePools(Pools(prefillers, 1, 1e6), mixture).requests_per_s;
      for (const double occupied : {0.3, 0.6, 0.8}) {
        const double rate = occupied * capacity;
        SCOPED_TRACE(std::to_string(mixture[0].prompt_tokens) + " on " + std::to_string(prefillers) + " + 1 at " +
                     std::to_string(occupied));
        const Scenario scenario = OnPools(Pools(prefillers, 1, rate), mixture);
        const ServingReport closed = EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, false);
        const std::vector<PlayedMean> played = PlayedPools(scenario, static_cast<std::size_t>(prefillers)).Play(rate);
        for (std::size_t i = 0; i < 2; ++i) {
          const ServedClass& one = closed.classes[i];
          EXPECT_NEAR((one.ttft + one.tpot / 2).base() / played[i].ttft, 1, 0.1) << i;
          EXPECT_NEAR(one.tpot.base() / played[i].tpot, 1, 0.1) << i;
          EXPECT_NEAR(one.of.weight * closed.requests_per_s * one.latency.base() / (one.in_flight + one.waiting), 1,
                      1e-9)
              << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace slipstick
