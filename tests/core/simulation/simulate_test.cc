// Simulated scenarios against the closed forms where both apply, and laws that hold under any load.
#include "core/simulation/simulate.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/simulation/random.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

SimulatedServing Simulated(const Assignments& assignments) {
  const Result<Scenario> scenario = ScenarioOf(assignments);
  if (!scenario) {
    for (const Issue& issue : scenario.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
    return {};
  }
  const SimulationAnswer answer = Simulate(scenario->model, scenario->cluster, *scenario->serving);
  EXPECT_TRUE(answer.served.has_value()) << answer.warning;
  return answer.served.value_or(SimulatedServing{});
}

const Assignments kLlama{"cluster=dgx-h100",
                         "model=llama-3.1-70b",
                         "serving.devices=8",
                         "serving.mapping.tp=8",
                         "serving.prompt=1000",
                         "serving.output=300",
                         "serving.simulate.requests=2000"};
// Lengths with a small spread: requests of equal length stay together forever.
const Assignments kSpread{"serving.lengths.prompt.kind=uniform", "serving.lengths.prompt.variation=0.3",
                          "serving.lengths.output.kind=uniform", "serving.lengths.output.variation=0.3"};

TEST(Simulation, AgreesWithTheClosedFormsInAClosedLoop) {
  for (const std::string engine : {"vllm", "sglang", "trtllm"}) {
    for (const std::string concurrency : {"1", "8", "32", "128"}) {
      // Where prompts have steps of their own, they do not share the weights with decoded tokens, though the closed
      // forms assume it for any engine.
      if (engine == "sglang" && concurrency == "128") continue;
      const Assignments load =
          kLlama + kSpread + Assignments{"serving.engine=" + engine, "serving.concurrency=" + concurrency};
      const ServingReport closed = Serve(load);
      const SimulatedServing simulated = Simulated(load);
      EXPECT_NEAR(simulated.tpot / closed.tpot, 1, 0.05) << engine << " " << concurrency;
      EXPECT_NEAR(simulated.request_latency / closed.request_latency, 1, 0.05) << engine << " " << concurrency;
      EXPECT_NEAR(simulated.requests_per_s / closed.requests_per_s, 1, 0.05) << engine << " " << concurrency;
    }
  }
}

// An engine that splits prompts fills each step with the tokens of the next ones, whole or not.
TEST(Simulation, AgreesWithTheClosedFormsWherePromptsAreSplit) {
  for (const std::string prompt : {"1024", "1025", "1400"}) {
    const Assignments load{"cluster=dgx-a100",       "model=qwen3-30b-a3b",
                           "serving.engine=vllm",    "serving.devices=1",
                           "serving.mapping.tp=1",   "serving.output=1",
                           "serving.batch=32",       "serving.prompt=" + prompt,
                           "serving.concurrency=32", "serving.simulate.requests=1000"};
    EXPECT_NEAR(Serve(load).requests_per_s / Simulated(load).requests_per_s, 1, 0.05) << prompt;
  }
}

// Each request prefills at one of 8 attention groups, which step together.
TEST(Simulation, AgreesWithTheClosedFormsOnFirstTokensUnderDataParallelAttention) {
  const Assignments groups{"cluster=dgx-h200",
                           "model=deepseek-v3",
                           "serving.devices=8",
                           "serving.mapping.tp=1",
                           "serving.mapping.attention_dp=8",
                           "serving.mapping.ep=8",
                           "serving.precision.weights=fp8",
                           "serving.prompt=4000",
                           "serving.output=500",
                           "serving.engine=vllm",
                           "serving.simulate.requests=400"};
  for (const std::string rate : {"0.01", "0.1", "0.5", "1"}) {
    const Assignments load = groups + Assignments{"serving.requests_per_s=" + rate};
    EXPECT_NEAR(Serve(load).ttft / Simulated(load).ttft, 1, 0.25) << rate;
  }
}

// Outputs of very different lengths: in both, running requests hold more than the mean request.
TEST(Simulation, AgreesWithTheClosedFormsOnSpreadOutputs) {
  const Assignments spread{"serving.lengths.output.kind=lognormal", "serving.lengths.output.variation=1.2",
                           "serving.lengths.prompt.kind=uniform", "serving.lengths.prompt.variation=0.3"};
  for (const char* output : {"300", "1500"}) {
    const Assignments load = kLlama + spread +
                             Assignments{"serving.engine=vllm", "serving.concurrency=128",
                                         std::string("serving.output=") + output, "serving.simulate.requests=8000"};
    EXPECT_NEAR(Simulated(load).tpot / Serve(load).tpot, 1, 0.03) << output;
  }
}

// A chunk limits the prompt tokens of a step, even if prompts are whole.
TEST(Simulation, AgreesWithTheClosedFormsWithChunks) {
  const Assignments small{"cluster=dgx-h100", "model=llama-3.1-8b", "serving.devices=1", "serving.mapping.tp=1",
                          "serving.simulate.requests=2000"};
  for (const std::string engine : {"vllm", "trtllm"}) {
    for (const std::string prompt : {"64", "128", "250"}) {
      const Assignments load =
          small + Assignments{"serving.engine=" + engine, "serving.prompt=" + prompt, "serving.output=16",
                              "serving.prefill_chunk=256", "serving.concurrency=128"};
      EXPECT_NEAR(Simulated(load).requests_per_s / Serve(load).requests_per_s, 1, 0.15)
          << engine << " prompt " << prompt;
    }
  }
}

TEST(Simulation, AgreesWithTheClosedFormsUnderALowRate) {
  for (const char* engine : {"vllm", "sglang", "trtllm", "ideal"}) {
    const Assignments load =
        kLlama + Assignments{std::string("serving.engine=") + engine, "serving.requests_per_s=0.02"};
    const ServingReport closed = Serve(load);
    const SimulatedServing simulated = Simulated(load);
    EXPECT_NEAR(simulated.ttft / closed.ttft, 1, 0.05) << engine;
    EXPECT_NEAR(simulated.tpot / closed.tpot, 1, 0.05) << engine;
    EXPECT_NEAR(simulated.request_latency / closed.request_latency, 1, 0.05) << engine;
    EXPECT_NEAR(simulated.requests_per_s / closed.requests_per_s, 1, 0.05) << engine;
  }
}

std::string OneOf(const Assignments& values, Random& random) {
  return values[static_cast<std::size_t>(random.Uniform() * static_cast<double>(values.size()))];
}

double CapacityOf(const Assignments& served) {
  return Serve(served + Assignments{"serving.requests_per_s=100000"}).requests_per_s;
}

// Closed form over simulation, at an arrival rate.
struct OverPlayed {
  explicit OverPlayed(const Assignments& served, double rate) : text(std::to_string(rate) + " requests/s: ") {
    const Assignments at = served + Assignments{"serving.requests_per_s=" + std::to_string(rate)};
    const ServingReport closed = Serve(at);
    const SimulatedServing played = Simulated(at);
    first = closed.ttft / played.ttft, token = closed.tpot / played.tpot;
    for (const std::string& part : served) text += part + " ";
  }
  double first, token;
  std::string text;
};

// Poisson arrivals at 0.3 to 0.8 of the capacity: first tokens wait for steps that hold others' prompts.
TEST(Simulation, AgreesWithTheClosedFormAtRandomArrivals) {
  Random random(7);
  int within = 0, all = 0;
  for (int i = 0; i < 16; ++i) {
    const Assignments drawn{"cluster=single-h100-sxm5-80gb",
                            "model=llama-3.1-8b",
                            "serving.engine=" + OneOf({"vllm", "trtllm"}, random),
                            "serving.prompt=" + OneOf({"200", "1000", "4000", "8000"}, random),
                            "serving.output=" + OneOf({"64", "200"}, random),
                            "serving.simulate.requests=4000"};
    const double capacity = CapacityOf(drawn);
    for (const double load : {0.3, 0.5, 0.7, 0.8}) {
      const auto [first, token, text] = OverPlayed(drawn, load * capacity);
      EXPECT_NEAR(first, 1, load < 0.6 ? 0.2 : 0.25) << text;
      EXPECT_NEAR(token, 1, 0.25) << text;
      within += std::abs(first - 1) < 0.1 ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(within, 0.8 * all);
}

// In an engine that prefills first (SGLang), passes over short prompts hold few of them, and decoding waits for many
// passes. From 0.1 to 0.7 of the capacity, where a cycle takes up to five decode steps.
TEST(Simulation, AgreesWithTheClosedFormWherePrefillsComeFirst) {
  int within = 0, all = 0;
  for (const std::string prompt : {"64", "200", "500", "1000"}) {
    for (const std::string output : {"64", "200"}) {
      const Assignments served{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b",
                               "serving.engine=sglang",         "serving.prompt=" + prompt,
                               "serving.output=" + output,      "serving.simulate.requests=4000"};
      const double capacity = CapacityOf(served);
      for (const double load : {0.1, 0.3, 0.5, 0.6, 0.7}) {
        const auto [first, token, text] = OverPlayed(served, load * capacity);
        EXPECT_NEAR(first, 1, load < 0.6 ? 0.05 : 0.2) << text;
        EXPECT_NEAR(token, 1, load < 0.6 ? 0.05 : 0.2) << text;
        within += std::abs(token - 1) < 0.1 && std::abs(first - 1) < 0.1 ? 1 : 0;
        ++all;
      }
    }
  }
  EXPECT_GE(within, 0.9 * all);
}

// How many random loads from 0.75 to 0.9 of the capacity agree within 10 %; none may be further off than a bound.
struct NearCapacity {
  struct Loads {
    std::uint64_t seed;
    int count;
    Assignments engines, prompts, outputs;
  };
  NearCapacity(const Loads& loads, double first_bound, double token_bound) {
    Random random(loads.seed);
    for (int i = 0; i < loads.count; ++i) {
      Assignments drawn{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b"};
      drawn.push_back("serving.engine=" + (loads.engines.size() > 1 ? OneOf(loads.engines, random) : loads.engines[0]));
      drawn.push_back("serving.prompt=" + OneOf(loads.prompts, random));
      drawn.push_back("serving.output=" + OneOf(loads.outputs, random));
      drawn.emplace_back("serving.simulate.requests=6000");
      const double capacity = CapacityOf(drawn), load = 0.75 + 0.15 * random.Uniform();
      const auto [first, token, text] = OverPlayed(drawn, load * capacity);
      EXPECT_NEAR(first, 1, first_bound) << text;
      EXPECT_NEAR(token, 1, token_bound) << text;
      firsts += std::abs(first - 1) < 0.1 ? 1 : 0;
      tokens += std::abs(token - 1) < 0.1 ? 1 : 0;
    }
  }
  int firsts = 0, tokens = 0;
};

// Near the capacity requests begin to decode together, which lengthens steps. Two cases are left out. With prompts of
// 200 to 300 tokens and 30 of output, of which a pass holds many, a token takes a third too long in the closed form.
// For few slots its queue is too long (Qwen3-14B with 4,000 tokens).
TEST(Simulation, AgreesWithTheClosedFormNearCapacityWherePrefillsComeFirst) {
  constexpr int kLoads = 20;
  const NearCapacity agree({46, kLoads, {"sglang"}, {"1000", "2000", "4000", "6000"}, {"30", "100", "200", "400"}}, 0.2,
                           0.15);
  EXPECT_GE(agree.tokens, 0.9 * kLoads);
  EXPECT_GE(agree.firsts, 0.8 * kLoads);
}

// Where prompts share the decode steps, requests that arrive in a long step also begin to decode together. Prompts of
// 4,000 tokens and more fill vLLM's steps before its slots.
TEST(Simulation, AgreesWithTheClosedFormNearCapacityWherePromptsShareSteps) {
  constexpr int kLoads = 24;
  const NearCapacity agree({31, kLoads, {"vllm", "trtllm"}, {"300", "1000", "2000", "5000"}, {"30", "100", "300"}},
                           0.25, 0.2);
  EXPECT_GE(agree.tokens, 0.85 * kLoads);
  EXPECT_GE(agree.firsts, 0.75 * kLoads);
}

// Requests of one length wait for few slots half as long as with exponential times. Means of three runs, since a queue
// fluctuates.
TEST(Simulation, AgreesWithTheClosedFormInTheQueueForFewSlots) {
  int within = 0, all = 0;
  for (const std::string engine : {"vllm", "sglang", "trtllm"}) {
    for (const std::string slots : {"1", "2", "4", "8"}) {
      const Assignments served{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b",  "serving.engine=" + engine,
                               "serving.max_requests=" + slots, "serving.prompt=1000", "serving.output=32",
                               "serving.simulate.requests=6000"};
      const double capacity = CapacityOf(served);
      for (const double load : {0.4, 0.7}) {
        const Assignments at = served + Assignments{"serving.requests_per_s=" + std::to_string(load * capacity)};
        Seconds played;
        for (const std::string seed : {"1", "2", "3"})
          played += Simulated(at + Assignments{"serving.simulate.seed=" + seed}).ttft / 3;
        const double first = Serve(at).ttft / played;
        EXPECT_NEAR(first, 1, 0.15) << engine << ", " << slots << " slots, " << load << " of the capacity";
        within += std::abs(first - 1) < 0.1 ? 1 : 0;
        ++all;
      }
    }
  }
  EXPECT_GE(within, 0.8 * all);
}

// All requests sent at once, more than run at once, or in streams of three. Outputs are of one length, so requests that
// start together end together. Where prompts come first, every batch decodes without a pause; the closed form assumes
// this of the first batch only.
TEST(Simulation, AgreesWithTheClosedFormWhereAllStartTogether) {
  for (const std::string engine : {"vllm", "sglang", "trtllm"}) {
    for (const auto& [concurrency, waves] :
         {std::pair<std::string, std::string>{"150", "1"}, {"300", "1"}, {"1000", "1"}, {"300", "3"}}) {
      const Assignments load = kLlama + Assignments{"serving.engine=" + engine, "serving.max_requests=128",
                                                    "serving.concurrency=" + concurrency, "serving.waves=" + waves};
      const ServingReport closed = Serve(load);
      const SimulatedServing simulated = Simulated(load);
      EXPECT_NEAR(closed.ttft / simulated.ttft, 1, 0.25) << engine << " " << concurrency << " " << waves;
      if (engine == "sglang") continue;
      EXPECT_NEAR(closed.tpot / simulated.tpot, 1, 0.2) << engine << " " << concurrency << " " << waves;
    }
  }
}

// Engines that look for requests every 30 steps, or collect prompts for 20 steps: the closed form's first token waits
// as long.
TEST(Simulation, CollectsPromptsAsTheClosedFormsSay) {
  for (const std::string setting : {"receive_interval=30", "collect_steps=20"}) {
    for (const std::string concurrency : {"4", "16", "64"}) {
      const Assignments load =
          kLlama + kSpread +
          Assignments{"serving.engine=trtllm", "serving.engine." + setting, "serving.concurrency=" + concurrency};
      const ServingReport closed = Serve(load);
      const SimulatedServing simulated = Simulated(load);
      EXPECT_NEAR(simulated.ttft / closed.ttft, 1, 0.15) << setting << " " << concurrency;
      EXPECT_NEAR(simulated.request_latency / closed.request_latency, 1, 0.05) << setting << " " << concurrency;
    }
  }
}

// 37.5 requests/s on eight replicas, 460 at once: the few that are counted meet a full server.
TEST(Simulation, FillsTheServerBeforeItCounts) {
  const Assignments load{"model=llama-3.1-8b",          "cluster=dgx-h100",    "serving.devices=8",
                         "serving.mapping.tp=1",        "serving.prompt=1000", "serving.output=1000",
                         "serving.requests_per_s=37.5", "serving.engine=vllm"};
  const SimulatedServing few = Simulated(load + Assignments{"serving.simulate.requests=200"}),
                         many = Simulated(load + Assignments{"serving.simulate.requests=5000"});
  EXPECT_NEAR(few.tpot / many.tpot, 1, 0.03);
  EXPECT_NEAR(few.requests_in_flight / many.requests_in_flight, 1, 0.1);
}

TEST(Simulation, HoldsLittlesLaw) {
  for (const char* load : {"serving.concurrency=40", "serving.requests_per_s=3", "serving.batch=16"}) {
    const SimulatedServing simulated = Simulated(kLlama + kSpread + Assignments{load});
    EXPECT_NEAR(simulated.requests_per_s * simulated.request_latency.base() /
                    (simulated.requests_in_flight + simulated.requests_waiting),
                1, 1e-12)
        << load;
  }
  const SimulatedServing closed = Simulated(kLlama + kSpread + Assignments{"serving.concurrency=40"});
  EXPECT_NEAR(closed.requests_in_flight + closed.requests_waiting, 40, 1e-9);
}

TEST(Simulation, FollowsItsSeedOnly) {
  const Assignments load = kLlama + kSpread + Assignments{"serving.requests_per_s=3"};
  const SimulatedServing a = Simulated(load), b = Simulated(load),
                         c = Simulated(load + Assignments{"serving.simulate.seed=2"});
  EXPECT_EQ(a.ttft, b.ttft);
  EXPECT_EQ(a.latency_percentiles.p99, b.latency_percentiles.p99);
  EXPECT_NE(a.ttft, c.ttft);
  EXPECT_NEAR(a.ttft / c.ttft, 1, 0.1);
}

TEST(Simulation, IsNotQuickerUnderMoreLoad) {
  for (const char* engine : {"vllm", "sglang", "trtllm"}) {
    SimulatedServing before;
    for (const char* rate : {"0.5", "2", "4", "6", "8"}) {
      const SimulatedServing now = Simulated(
          kLlama + kSpread +
          Assignments{std::string("serving.engine=") + engine, std::string("serving.requests_per_s=") + rate});
      EXPECT_GT(now.ttft, 0.98 * before.ttft) << engine << " " << rate;
      EXPECT_GT(now.tpot, before.tpot) << engine << " " << rate;
      EXPECT_GT(now.requests_in_flight, before.requests_in_flight) << engine << " " << rate;
      EXPECT_LE(now.ttft_percentiles.p50, now.ttft_percentiles.p90);
      EXPECT_LE(now.ttft_percentiles.p90, now.ttft_percentiles.p99);
      before = now;
    }
  }
}

// The same rate in bursts: requests queue behind each other.
TEST(Simulation, WaitsLongerInBursts) {
  const Assignments load = kLlama + Assignments{"serving.requests_per_s=4"};
  const SimulatedServing even = Simulated(load);
  const SimulatedServing bursts =
      Simulated(load + Assignments{"serving.arrivals.kind=gamma", "serving.arrivals.burstiness=0.1"});
  EXPECT_GT(bursts.ttft, 1.2 * even.ttft);
  EXPECT_GT(bursts.ttft_percentiles.p99, 1.5 * even.ttft_percentiles.p99);
}

// Prompts found completely in the prefix cache leave one token to compute.
TEST(Simulation, SkipsWhatThePrefixCacheHolds) {
  const Assignments load =
      kLlama + Assignments{"serving.engine=ideal", "serving.prompt=8000", "serving.requests_per_s=0.5"};
  EXPECT_LT(Simulated(load + Assignments{"serving.prefix_hit=0.9"}).ttft, 0.25 * Simulated(load).ttft);
}

// Four requests run. 36 of 40 streams wait, so a request waits nine times as long as it runs.
TEST(Simulation, QueuesBeyondTheSlots) {
  const SimulatedServing simulated =
      Simulated(kLlama + kSpread + Assignments{"serving.concurrency=40", "serving.max_requests=4"});
  EXPECT_NEAR(simulated.requests_waiting, 36, 0.5);
  EXPECT_NEAR((simulated.ttft / simulated.request_latency), 0.9, 0.01);
}

// Memory for few sequences: an engine that reserves whole outputs never preempts; one that does not preempts some and
// runs more.
TEST(Simulation, PreemptsWhereOutputsAreNotReserved) {
  const Assignments load{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b",  "serving.devices=1",
                         "serving.prompt=1000",           "serving.output=4000", "serving.concurrency=400",
                         "serving.simulate.requests=500", "serving.engine=vllm"};
  const SimulatedServing preempting = Simulated(load);
  EXPECT_GT(preempting.preemptions, 0);
  const SimulatedServing reserving = Simulated(load + Assignments{"serving.engine.memory.output_reserved=1"});
  EXPECT_EQ(reserving.preemptions, 0);
  EXPECT_GT(preempting.requests_in_flight, 1.2 * reserving.requests_in_flight);
}

TEST(Simulation, RunsABenchmarkOfWaves) {
  const SimulatedServing simulated =
      Simulated(kLlama + kSpread + Assignments{"serving.concurrency=16", "serving.waves=5"});
  EXPECT_EQ(simulated.requests, 80);
  EXPECT_LT(simulated.requests_in_flight + simulated.requests_waiting, 16)
      << "at the end streams have nothing left to send";
  EXPECT_GT(simulated.requests_in_flight + simulated.requests_waiting, 14);
}

TEST(Simulation, SaysWhyItIsNotThere) {
  const Result<Scenario> pools =
      ScenarioOf({"cluster=dgx-h100", "model=llama-3.1-8b", "serving.disaggregated.prefill_devices=4",
                  "serving.disaggregated.decode_devices=4", "serving.mapping.tp=4", "serving.simulate.requests=100"});
  ASSERT_TRUE(pools);
  const SimulationAnswer answer = Simulate(pools->model, pools->cluster, *pools->serving);
  EXPECT_FALSE(answer.served.has_value());
  EXPECT_EQ(answer.warning, "serving.simulate: separate pools are not simulated");
}

}  // namespace
}  // namespace slipstick
