// Random arrivals by hand: steps of 10 ms that only decode, four prompts per second.
#include "core/serving/random_arrivals.h"

#include <gtest/gtest.h>

#include <string>

#include "core/engine_step/deployment.h"
#include "core/serving/phase_time.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

constexpr double kMillisecond = 1e-3;

ArrivingPrompts Prompts(Seconds service, double square_ms2) {
  ArrivingPrompts prompts;
  prompts.added = prompts.service = prompts.pass = service;
  prompts.square_service = square_ms2 * (1e-3 * kS) * (1e-3 * kS);
  prompts.beside = 1 * kS;
  return prompts;
}

class RandomCycles : public ::testing::Test {
 protected:
  // `engine` launches a step ahead of the running one.
  RequestCycle CycleUnder(const char* engine, const RandomArrivals& arrivals, const ArrivingPrompts& prompts) {
    const Result<Scenario> scenario =
        ScenarioOf({"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", std::string("serving.engine=") + engine,
                    "serving.prompt=1000", "serving.output=101"});
    EXPECT_TRUE(scenario);
    const Deployment deployment = Deploy(scenario->model, scenario->cluster, *scenario->serving);
    handling_ = deployment.engine.overhead.per_request * deployment.load.tuning.host +
                1000 * deployment.engine.overhead.per_prompt_token;
    DecodeTimes decode;
    decode.token = 10e-3 * kS;
    return RandomCycle(deployment, arrivals, decode, 55e-3 * kS, prompts);
  }
  Seconds handling_;
};

// Prefills of 50 ms take a fifth of the time, so a mean step is 10 / 0.8 = 12.5 ms, and the step that an arrival falls
// into 12.5 + 4 x 0.05^2 / (1 - 0.2^2) = 22.92 ms. The request waits for half of it and for a mean step launched ahead.
// Its own step holds 10 ms of decode, its 50 ms, and the 4.58 ms that arrived in the 22.92 ms. The 52.08 ms beyond a
// mean step prolong the following steps by 0.2 / 0.8 of that.
TEST_F(RandomCycles, WaitForTheStepThatTheyFallInto) {
  const RequestCycle cycle = CycleUnder("vllm", {4 / (1 * kS), 30}, Prompts(50e-3 * kS, 2500));
  EXPECT_NEAR((cycle.handling - handling_).base(), (22.9167 / 2 + 12.5) * kMillisecond, 1e-6);
  EXPECT_NEAR(cycle.prefill_wait.base(), (10 + 50 + 4.5833 - 55) * kMillisecond, 1e-6);
  EXPECT_NEAR(cycle.tpot.base(), (12.5 + 52.0833 * 0.25 / 100) * kMillisecond, 1e-6);
  EXPECT_NEAR((cycle.time - cycle.alone - cycle.prefill_wait - 100 * cycle.tpot).base(), 0, 1e-12);
}

// Half of the prompts take 10 ms and half 90 ms: the work is the same, the mean square 82 / 50 of it.
TEST_F(RandomCycles, WaitLongerWherePrefillsDiffer) {
  const RequestCycle alike = CycleUnder("vllm", {4 / (1 * kS), 30}, Prompts(50e-3 * kS, 2500)),
                     mixed = CycleUnder("vllm", {4 / (1 * kS), 30}, Prompts(50e-3 * kS, 4100));
  const double longer = 4 * 1600e-6 / 0.96;
  EXPECT_NEAR((mixed.handling - alike.handling).base(), longer / 2, 1e-9);
  EXPECT_NEAR((mixed.prefill_wait - alike.prefill_wait).base(), 0.2 * longer, 1e-9);
}

// An engine that prefills before it decodes: 10 / 1.2 + 10.42 = 18.75 ms. The request's own step decodes nothing and is
// as long as its prefill alone. A step decodes if none arrived in the one before, which took 10 ms (an arrival with
// 0.0392) or 50 ms (0.1813): that is 0.8187 / (0.0392 + 0.8187) of the steps, so a mean step takes 12.5 x 0.9543 =
// 11.93 ms.
TEST_F(RandomCycles, WaitForNoDecodingWhereTheEnginePrefillsFirst) {
  const RequestCycle cycle = CycleUnder("sglang", {4 / (1 * kS), 30}, Prompts(50e-3 * kS, 2500));
  EXPECT_NEAR((cycle.handling - handling_).base(), (18.75 / 2 + 11.929) * kMillisecond, 1e-6);
  EXPECT_NEAR(cycle.prefill_wait.base(), 0, 1e-12);
}

// Prefills of 50 ms, four per second, take a fifth of the time: a request begins to decode with 1 / 0.8^2 = 1.5625
// requests including itself, in addition to the 30 running. In the third case 0.1 of 10 running requests end in 10 +
// 0.1 x 50 ms and no more can arrive: prefill takes a third of the time, 2.25 begin together. The count in decode steps
// is the same where prompts share the decode steps.
TEST(OwnSequences, HoldTheRequestsThatBeginTogether) {
  struct Case {
    const char* engine;
    double arrivals, running, slots, sequences;
  };
  for (const Case& one : {Case{"sglang", 4, 30, 256, 31.5625}, Case{"sglang", 4, 30, 31, 31},
                          Case{"sglang", 1000, 10, 256, 12.25}, Case{"vllm", 4, 30, 256, 31.5625}}) {
    const Result<Scenario> scenario =
        ScenarioOf({"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", std::string("serving.engine=") + one.engine,
                    "serving.prompt=1000", "serving.output=100"});
    const Deployment deployment = Deploy(scenario->model, scenario->cluster, *scenario->serving);
    DecodeTimes met = TimeDecode(deployment, one.running);
    met.token = 10e-3 * kS;
    const Ratio own =
        OwnSequences(deployment, {one.arrivals / (1 * kS), one.running}, one.slots, met, Prompts(50e-3 * kS, 2500));
    EXPECT_NEAR(own.base(), one.sequences, 1e-9) << one.engine;
  }
}

TEST_F(RandomCycles, HaveNoOtherWorkOnAnIdleEngine) {
  const RequestCycle cycle = CycleUnder("vllm", {0 / (1 * kS), 0}, Prompts(50e-3 * kS, 2500));
  EXPECT_NEAR((cycle.alone + cycle.prefill_wait - handling_).base(), 55 * kMillisecond, 1e-12);
  EXPECT_NEAR(cycle.tpot.base(), 10 * kMillisecond, 1e-12);
}

// A request that waited for a slot starts when another ends. With twenty others, 0.2 of them arrive in each of 101
// steps: one as each of them ends.
TEST_F(RandomCycles, AreEvenlySpacedAfterWaitingForASlot) {
  const RequestCycle cycle = CycleUnder("vllm", {4 / (1 * kS), 20, 1}, Prompts(50e-3 * kS, 2500));
  EXPECT_NEAR((cycle.handling - handling_).base(), 0, 1e-12);
  EXPECT_NEAR(cycle.prefill_wait.base(), (10 + 50 + 20.0 / 101 * 50 - 55) * kMillisecond, 1e-6);
  EXPECT_NEAR(cycle.tpot.base(), (10 + 20.0 / 101 * 50) * kMillisecond, 1e-6);
}

// Turns that all find their context prefill only their additions, and so are nearly equal. Turns that never find it
// also prefill contexts of 0 to 1,800 tokens, whose spread raises the mean square.
TEST(ArrivingTurns, PrefillTheTokensThatTheyDoNotFind) {
  const auto of = [](const char* hit) {
    Result<Scenario> scenario =
        ScenarioOf({"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=vllm", "serving.output=100",
                    "serving.sessions.turns=10", "serving.sessions.system_prompt=0", "serving.sessions.added=100",
                    "serving.sessions.gap=30 s", "serving.concurrency=4"});
    EXPECT_TRUE(scenario);
    scenario->serving->prefix_hit = std::stod(hit);
    const Deployment deployment = Deploy(scenario->model, scenario->cluster, *scenario->serving);
    return ArrivingAt(deployment, 4, TimeDecode(deployment, 4));
  };
  const ArrivingPrompts found = of("0.9"), lost = of("0");  // 900 of 1,000 tokens found
  EXPECT_NEAR(found.square_service / (found.service * found.service), 1, 1e-3);
  EXPECT_GT(lost.service, 3 * found.service);
  EXPECT_GT(lost.square_service / (lost.service * lost.service), 1.1);
}

}  // namespace
}  // namespace slipstick
