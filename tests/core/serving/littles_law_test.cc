// Under every load, requests/s x latency = requests in flight and waiting, latency = TTFT + (output - 1) x TPOT, no
// request waits twice for the same prefill, and a feasible load is served.
#include <cmath>
#include <map>
#include <random>

#include "tests/core/serving/served.h"
#include "tests/support/explained.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::string One(std::initializer_list<const char*> values) { return *(values.begin() + random_() % values.size()); }

 private:
  std::mt19937 random_;
};

struct DrawnLoad {
  Assignments assignments;
  double output = 1;
  double concurrency = 0, requests_per_s = 0, batch = 0;
  bool starts_together = false;
};

// A random load: batch, largest batch, concurrency, benchmark rounds or arrivals; with pools, DP attention, replicas or
// a request limit.
DrawnLoad AnyLoad(unsigned seed) {
  Draw draw(seed);
  const std::string tp = draw.One({"1", "2", "4"}), output = draw.One({"1", "2", "16", "200", "1000"});
  DrawnLoad drawn{{"cluster=" + draw.One({"dgx-h100", "dgx-a100", "dgx-b200"}),
                   "model=" + draw.One({"llama-3.1-8b", "mixtral-8x7b"}),
                   "serving.engine=" + draw.One({"vllm", "sglang", "trtllm", "trtllm-0.9", "ideal", "lmdeploy"}),
                   "serving.prompt=" + draw.One({"1", "100", "1024", "9000"}), "serving.output=" + output,
                   "serving.precision.weights=fp8", "serving.mapping.tp=" + tp},
                  std::stod(output)};
  const auto add = [&](const std::string& assignment) { drawn.assignments.push_back(assignment); };
  const std::string shape = draw.One({"replicas", "pools", "attention_dp"});
  if (shape == "pools") {
    add("serving.disaggregated.prefill_devices=4");
    add("serving.disaggregated.decode_devices=4");
  } else {
    add("serving.devices=8");
    if (shape == "attention_dp") add("serving.mapping.attention_dp=2");
  }
  const std::string load = draw.One({"batch", "max", "concurrency", "waves", "arrivals"});
  const std::string number = draw.One({"1", "3", "16", "50", "128", "700"});
  if (load == "batch") add("serving.batch=" + number), drawn.batch = std::stod(number);
  if (load == "max") add("serving.batch=max");
  if (load == "concurrency" || load == "waves")
    add("serving.concurrency=" + number), drawn.concurrency = std::stod(number);
  if (load == "waves") add("serving.waves=" + draw.One({"1", "2", "8"})), drawn.starts_together = true;
  if (load == "arrivals") add("serving.requests_per_s=" + number), drawn.requests_per_s = std::stod(number);
  if (draw.One({"no", "no", "yes"}) == "yes") add("serving.max_requests=" + draw.One({"1", "20"}));
  return drawn;
}

std::string Described(const Assignments& assignments) {
  std::string text;
  for (const std::string& one : assignments) text += one + ' ';
  return text;
}

TEST(LittlesLaw, HoldsUnderEveryLoad) {
  int feasible = 0, overloaded = 0, waiting = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const DrawnLoad drawn = AnyLoad(seed);
    SCOPED_TRACE(Described(drawn.assignments));
    const ServingReport report = Serve(drawn.assignments);
    const double there = report.requests_in_flight + report.requests_waiting;
    ASSERT_GT(there, 0);
    EXPECT_NEAR(report.requests_per_s * report.request_latency.base() / there, 1, 1e-9);
    EXPECT_NEAR((report.ttft + (drawn.output - 1) * report.tpot) / report.request_latency, 1, 1e-9);
    EXPECT_GE(report.ttft * (1 + 1e-9), report.prefill);
    EXPECT_GE(report.requests_waiting, -1e-9 * there);
    // Streams that start together and queue wait less on average than they would later on.
    if (drawn.concurrency > 0 && !(drawn.starts_together && report.requests_waiting > 0)) {
      EXPECT_NEAR(there / drawn.concurrency, 1, 1e-9);
    }
    EXPECT_TRUE(drawn.concurrency == 0 || there <= drawn.concurrency * (1 + 1e-9));
    const bool is_served = report.infeasible.empty();
    if (drawn.requests_per_s > 0 && is_served) {
      EXPECT_NEAR(report.requests_per_s / drawn.requests_per_s, 1, 1e-9);
    }
    if (drawn.requests_per_s > 0 && !is_served) {
      EXPECT_LE(report.requests_per_s, drawn.requests_per_s * (1 + 1e-9));
    }
    feasible += is_served ? 1 : 0;
    overloaded += drawn.requests_per_s > 0 && !is_served ? 1 : 0;
    waiting += report.requests_waiting > 1e-6 ? 1 : 0;
  }
  EXPECT_GT(feasible, 1000);
  EXPECT_GT(overloaded, 50);
  EXPECT_GT(waiting, 100);
}

const Assignments kOneReplica{"cluster=dgx-h100",     "model=llama-3.1-70b", "serving.engine=vllm", "serving.devices=8",
                              "serving.mapping.tp=8", "serving.prompt=2048", "serving.output=256"};

TEST(Batch, IsTheNumberOfRequestsInFlight) {
  for (const auto& [batch, concurrency] :
       std::map<std::string, std::string>{{"1", "1"}, {"2", "2"}, {"32", "32"}, {"100", "100"}}) {
    const ServingReport a = Serve(kOneReplica + Assignments{"serving.batch=" + batch});
    const ServingReport b = Serve(kOneReplica + Assignments{"serving.concurrency=" + concurrency});
    EXPECT_EQ(a.ttft, b.ttft) << batch;
    EXPECT_EQ(a.tpot, b.tpot) << batch;
    EXPECT_EQ(a.tokens_per_s, b.tokens_per_s) << batch;
    EXPECT_NEAR(a.requests_in_flight, std::stod(batch), 1e-9) << batch;
    EXPECT_NEAR(a.requests_waiting, 0, 1e-9) << batch;
  }
  const ServingReport most = Serve(kOneReplica + Assignments{"serving.batch=max"});
  EXPECT_NEAR(most.requests_in_flight, static_cast<double>(most.max_batch), 1e-9);
  const ServingReport same = Serve(kOneReplica + Assignments{"serving.concurrency=" + std::to_string(most.max_batch)});
  EXPECT_EQ(most.ttft, same.ttft);
}

TEST(Batch, OfTwoReplicasIsTwiceInFlight) {
  const Assignments load{"cluster=dgx-h100", "model=llama-3.1-70b", "serving.engine=vllm", "serving.devices=8",
                         "serving.mapping.tp=4"};
  EXPECT_NEAR(Serve(load + Assignments{"serving.batch=16"}).requests_in_flight, 32, 1e-9);
}

// The first figure with the title in the explanation of a scenario.
double FigureOf(const Assignments& assignments, std::string_view title) {
  const std::vector<FigureRecord> figures = ExplainedServing(assignments);
  const FigureRecord* found = Titled(figures, title);
  return found != nullptr ? found->value : std::nan("");
}

// By hand: each other request is prefilled once per cycle. The prefills not included in TPOT delay the first token,
// each by at least the decode stall and at most an isolated prefill.
TEST(ClosedLoopCycle, WaitsForEveryPrefillOnce) {
  for (const char* output : {"2", "16", "256", "4000"}) {
    for (const char* batch : {"2", "8", "60"}) {
      const Assignments load =
          kOneReplica + Assignments{std::string("serving.output=") + output, std::string("serving.batch=") + batch};
      const ServingReport report = Serve(load);
      const double steps = std::stod(output) - 1, others = std::stod(batch) - 1;
      const double stall = FigureOf(load, "Decode stall per prompt"), step = report.decode_step.base(),
                   prefill = report.prefill.base();
      // vLLM handles a request and 2,048 tokens; the request waits for half a step and for the step launched ahead.
      const double alone = 0.008 + 2048 * 2.5e-6 + 1.5 * step + prefill;
      const double between = steps * (report.tpot.base() - step) / stall, before = others - between;
      const double wait = report.ttft.base() - alone;
      EXPECT_GT(before, 0) << output << " " << batch;
      EXPECT_GE(wait, before * stall * (1 - 1e-9)) << output << " " << batch;
      EXPECT_LE(wait, before * prefill * (1 + 1e-9)) << output << " " << batch;
    }
  }
}

// An engine that looks for requests every 31 steps sees a new one 15 steps later on average than one that looks every
// step.
TEST(ClosedLoopCycle, WaitsForTheNextLook) {
  const Assignments often = kOneReplica + Assignments{"serving.batch=8"},
                    seldom = often + Assignments{"serving.engine.receive_interval=31"};
  const double first = Serve(seldom).ttft.base() - FigureOf(seldom, "Waiting for others' prefills"),
               before = Serve(often).ttft.base() - FigureOf(often, "Waiting for others' prefills");
  EXPECT_NEAR(first - before, 15 * Serve(often).decode_step.base(), 1e-9);
  EXPECT_NEAR(FigureOf(seldom, "Others' prefills before the first token"), 7.0 * 31 / 256, 1e-12)
      << "others that come between two looks";
}

// Of 32 requests with 256 output tokens, 31 are already running, so 31/256 of a request arrives per step. In the 20
// steps after the first one 2.42 others arrive, which wait 10 steps on average: 20 * (1 + 1.21) / (1 + 2.42) = 12.92.
// Where two prompts of 2,048 tokens are enough, the second ends the wait.
TEST(ClosedLoopCycle, WaitsWhilePromptsAreCollected) {
  const Assignments load = kOneReplica + Assignments{"serving.batch=32", "serving.engine.collect_steps=20"};
  EXPECT_NEAR(FigureOf(load, "Steps that a collected request waits for"), 12.92, 0.005);
  EXPECT_NEAR(FigureOf(load + Assignments{"serving.engine.collect_share=0.5"}, "Steps for which prompts are collected"),
              256.0 / 31, 1e-9);
  EXPECT_NEAR(FigureOf(load, "Steps that an arriving request waits for"),
              1.5 + FigureOf(load, "Steps that a collected request waits for"), 1e-12);
}

// Requests admitted together end together: 32 of them are eight groups of four, since a step of 8,192 tokens takes four
// prompts of 2,000. The first group waits for no other prefill, each of the other seven for the group before it: 3.5
// requests on average, more than the 28 others send in a step of 256.
TEST(ClosedLoopCycle, WaitsForTheGroupBefore) {
  const Assignments load{"cluster=dgx-h100",           "model=llama-3.1-70b",  "serving.engine=trtllm",
                         "serving.devices=8",          "serving.mapping.tp=8", "serving.prompt=2000",
                         "serving.output=256",         "serving.batch=32",     "serving.engine.prefill_tokens=8192",
                         "serving.engine.graphs=false"};
  EXPECT_NEAR(FigureOf(load, "Requests prefilled in the same pass"), 4, 1e-12);
  EXPECT_NEAR(FigureOf(load, "Others' prefills before the first token"), 3.5, 1e-12);
  // The other three of its group are prefilled in the same pass.
  EXPECT_NEAR(FigureOf(load, "Other prompts in the same pass"), 3 * FigureOf(load, "Prefill time per prompt"), 1e-12);
}

// With one output token an engine only prefills, and never faster than one prompt after another.
TEST(ClosedLoopCycle, NeverPrefillsFasterThanOneByOne) {
  for (const char* concurrency : {"1", "2", "10", "100", "1000"}) {
    const ServingReport report =
        Serve({"cluster=dgx-h100", "model=llama-3.1-8b", "serving.engine=ideal", "serving.devices=1",
               "serving.prompt=9000", "serving.output=1", std::string("serving.concurrency=") + concurrency});
    const double busy = report.requests_per_s * report.prefill.base();
    EXPECT_LE(busy, 1.001) << concurrency << ": a prompt beside a decoded token is computed a little faster than alone";
    if (std::stod(concurrency) >= 100) {
      EXPECT_GT(busy, 0.97) << concurrency;
    }
  }
}

// Streams of one request each start together. Of the 31 other prefills, half come before and half after the first token
// of the mean request, and it waits once for each. A step takes four prompts, which end together, so 3/2 of the other
// three come before it as well.
TEST(Waves, WaitOnceForEachPrefill) {
  const Assignments load = kOneReplica + Assignments{"serving.concurrency=32", "serving.waves=1"};
  const ServingReport report = Serve(load);
  const double shared = FigureOf(load, "Prefill time per prompt"), stall = FigureOf(load, "Decode stall per prompt"),
               handling = FigureOf(load, "Request handling and the step in progress");
  const double step = report.decode_step.base(), alone = handling + report.prefill.base();
  EXPECT_NEAR(report.ttft.base(), alone + 17 * shared, 1e-9);
  EXPECT_NEAR(report.tpot.base(), step + 14 * stall / 255, 1e-12);
}

// All prompts fit in one step, so every first token waits for all of them.
TEST(Waves, EndTheirFirstPassTogether) {
  const Assignments load = kOneReplica + Assignments{"serving.concurrency=4", "serving.waves=1"};
  const double shared = FigureOf(load, "Prefill time per prompt"),
               handling = FigureOf(load, "Request handling and the step in progress");
  const ServingReport report = Serve(load);
  EXPECT_NEAR(report.ttft.base(), handling + report.prefill.base() + 3 * shared, 1e-9);
  EXPECT_NEAR(report.tpot.base(), report.decode_step.base(), 1e-12);
}

TEST(Waves, LeaveTheTotalTimeAsItIs) {
  const ServingReport steady = Serve(kOneReplica + Assignments{"serving.concurrency=64"});
  for (const char* waves : {"1", "2", "8"}) {
    const ServingReport report =
        Serve(kOneReplica + Assignments{"serving.concurrency=64", std::string("serving.waves=") + waves});
    EXPECT_NEAR(report.request_latency / steady.request_latency, 1, 0.05)
        << waves << ": prompts that come together share a pass";
    EXPECT_GT(report.ttft, steady.ttft) << waves;
    EXPECT_LT(report.tpot, steady.tpot) << waves;
  }
}

const Assignments kPools{"cluster=dgx-h100",
                         "model=llama-3.1-70b",
                         "serving.engine=vllm",
                         "serving.mapping.tp=4",
                         "serving.prompt=9000",
                         "serving.output=256",
                         "serving.disaggregated.prefill_devices=4",
                         "serving.disaggregated.decode_devices=4"};

// A prompt fills a pass, so a prefill group serves one prompt per prefill time.
TEST(Pools, ServeNoMoreThanTheSlowerOne) {
  const double capacity = 1 / Serve(kPools + Assignments{"serving.requests_per_s=0.01"}).prefill.base();
  const ServingReport below = Serve(kPools + Assignments{"serving.requests_per_s=" + std::to_string(0.9 * capacity)});
  EXPECT_TRUE(below.infeasible.empty());
  EXPECT_NEAR(below.requests_per_s / (0.9 * capacity), 1, 1e-5);
  const ServingReport over = Serve(kPools + Assignments{"serving.requests_per_s=100"});
  ASSERT_EQ(over.infeasible.size(), 1U);
  EXPECT_EQ(over.infeasible[0].reason, "rate");
  EXPECT_TRUE(over.infeasible[0].message.starts_with("Overloaded: 100 requests/s arrive, capacity is "))
      << over.infeasible[0].message;
  EXPECT_NEAR(over.requests_per_s / capacity, 1, 1e-9);
  const ServingReport crowd = Serve(kPools + Assignments{"serving.concurrency=2000"});
  EXPECT_NEAR(crowd.requests_per_s / capacity, 1, 1e-9);
}

TEST(Pools, QueueBeforeTheyAreFull) {
  const double capacity = 1 / Serve(kPools + Assignments{"serving.requests_per_s=0.01"}).prefill.base();
  Seconds before;
  for (const double share : {0.01, 0.3, 0.6, 0.9, 0.98}) {
    const ServingReport report =
        Serve(kPools + Assignments{"serving.requests_per_s=" + std::to_string(share * capacity)});
    EXPECT_GT(report.ttft, before) << share;
    before = report.ttft;
  }
}

bool Warns(const ServingReport& report, std::string_view text) {
  for (const std::string& warning : report.warnings) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(Warnings, NameThePoolThatIdles) {
  EXPECT_TRUE(Warns(Serve(kPools + Assignments{"serving.concurrency=64"}), "the decode pool is idle at least "));
  EXPECT_TRUE(Warns(Serve(kPools + Assignments{"serving.prompt=16", "serving.output=2000", "serving.max_requests=8",
                                               "serving.concurrency=64"}),
                    "the prefill pool is idle at least "));
  EXPECT_TRUE(Serve(kOneReplica + Assignments{"serving.concurrency=64"}).warnings.empty());
}

TEST(Warnings, SayThatAFirstTokenIsMostlyQueue) {
  const ServingReport crowd = Serve(kOneReplica + Assignments{"serving.concurrency=64", "serving.max_requests=4"});
  EXPECT_TRUE(Warns(crowd, "of the time to first token is spent in a queue: 60 of 64 requests wait, the others run"));
  EXPECT_NEAR(crowd.requests_waiting, 60, 1e-9);
}

TEST(Warnings, DoNotDescribeTimesOfWhatCannotRun) {
  const ServingReport refused =
      Serve(kOneReplica + Assignments{"serving.concurrency=64", "serving.max_requests=4", "model=llama-3.1-405b"});
  EXPECT_FALSE(refused.infeasible.empty());
  EXPECT_FALSE(Warns(refused, "of the time to first token"));
}

TEST(StaticBatch, IsOnePrefillAndThenSteps) {
  const ServingReport one = Serve(kOneReplica + Assignments{"serving.batch=1"});
  const ServingReport many = Serve(kOneReplica + Assignments{"serving.batch=32"});
  EXPECT_EQ(one.static_ttft, one.prefill);
  EXPECT_EQ(many.static_tpot, many.decode_step);
  EXPECT_EQ(many.static_latency, many.static_ttft + 256 * many.static_tpot);
  EXPECT_GT(many.static_ttft, 20 * one.static_ttft)
      << "2,048 tokens fill the device: 32 prompts take about as many times as long";
  EXPECT_LT(many.static_ttft, 33 * one.static_ttft);
}

}  // namespace
}  // namespace slipstick
