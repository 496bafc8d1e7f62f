// Engines with constant step times, by hand.
#include "core/simulation/event_loop.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/simulation/random.h"

namespace slipstick {
namespace {

Seconds S(double seconds) { return Seconds::FromBase(seconds); }

// A step takes one second, and a token takes one byte.
SimulatedSystem OneSecondSteps() {
  SimulatedSystem system;
  system.room = {Bytes::FromBase(1e9), [](Count held) { return Bytes::FromBase(static_cast<double>(held)); }};
  system.step_time = [](const StepWork&) { return SimulatedStep{S(1), S(1)}; };
  return system;
}

struct Sent {
  double at;
  Count prompt, output;
};

struct Times {
  std::vector<double> first, last;
  SimulationCounts counts;
};

Times TimesOf(const SimulatedSystem& system, const std::vector<Sent>& requests) {
  EventLoop loop(system);
  for (const Sent& one : requests) loop.Send(S(one.at), {one.prompt, one.output, 0, true});
  EXPECT_TRUE(loop.Run(static_cast<Count>(requests.size()), [](Seconds, std::size_t) {}, 1'000'000));
  Times times;
  for (const SimulatedRequest& request : loop.requests()) {
    times.first.push_back(request.first.base());
    times.last.push_back(request.last.base());
  }
  times.counts = loop.counts();
  return times;
}

using Values = std::vector<double>;
const std::vector<Sent> kThree{{0, 10, 3}, {0, 10, 3}, {0, 10, 3}};

// One prompt per step, together with the decode: request k has its first token after k + 1 steps and two more after two
// further steps.
TEST(Schedule, MixesAPromptWithEveryDecodeStep) {
  SimulatedSystem system = OneSecondSteps();
  system.rules.step_tokens = 10;
  const Times times = TimesOf(system, kThree);
  EXPECT_EQ(times.first, (Values{1, 2, 3}));
  EXPECT_EQ(times.last, (Values{3, 4, 5}));
  EXPECT_EQ(times.counts.steps, 5);
}

// Three steps of prompts, then two of decoding.
TEST(Schedule, PrefillsFirst) {
  SimulatedSystem system = OneSecondSteps();
  system.rules.step_tokens = 10;
  system.rules.prefills_first = true;
  const Times times = TimesOf(system, kThree);
  EXPECT_EQ(times.first, (Values{1, 2, 3}));
  EXPECT_EQ(times.last, (Values{5, 5, 5}));
}

// Steps of 15 tokens: one prompt and half of the second, then its other half and the third.
TEST(Schedule, SplitsAPromptOverSteps) {
  SimulatedSystem system = OneSecondSteps();
  system.rules.step_tokens = 15;
  EXPECT_EQ(TimesOf(system, kThree).first, (Values{1, 2, 2}));
  system.rules.splits_prompts = false;
  EXPECT_EQ(TimesOf(system, kThree).first, (Values{1, 2, 3}));
  system.rules.step_tokens = 20;
  EXPECT_EQ(TimesOf(system, kThree).first, (Values{1, 1, 2}));
}

// A prompt longer than a step is split over three steps, or runs whole in a step of its own.
TEST(Schedule, SplitsALongPromptOrRunsItWhole) {
  SimulatedSystem system = OneSecondSteps();
  system.rules.step_tokens = 10;
  const std::vector<Sent> long_prompts{{0, 25, 1}, {0, 25, 1}};
  EXPECT_EQ(TimesOf(system, long_prompts).first, (Values{3, 5}));
  system.rules.splits_prompts = false;
  EXPECT_EQ(TimesOf(system, long_prompts).first, (Values{1, 2}));
}

// A request that arrives during a step waits for it, and for the step launched before its arrival.
TEST(Schedule, WaitsForStepsLaunchedAhead) {
  SimulatedSystem system = OneSecondSteps();
  const std::vector<Sent> requests{{0, 10, 6}, {0.5, 10, 1}};
  EXPECT_EQ(TimesOf(system, requests).first[1], 2);
  system.steps_ahead = 1;
  EXPECT_EQ(TimesOf(system, requests).first[1], 3);
  EXPECT_EQ(TimesOf(system, {{0, 10, 1}, {5, 10, 1}}).first[1], 6) << "nothing is launched while the engine is idle";
}

// The engine looks for requests at 0, 4 and 8: a request of 0.5 s runs in the step that begins at 4.
TEST(Schedule, LooksForRequestsAtIntervals) {
  SimulatedSystem system = OneSecondSteps();
  system.receive_interval = 4;
  EXPECT_EQ(TimesOf(system, {{0, 10, 20}, {0.5, 10, 1}, {3.5, 10, 1}, {4.5, 10, 1}}).first, (Values{1, 5, 5, 9}));
}

// The second request waits for three steps or until prompts have 25 tokens; on an idle engine none waits.
TEST(Schedule, CollectsPrompts) {
  SimulatedSystem system = OneSecondSteps();
  system.rules.collect_steps = 3;
  system.rules.collect_tokens = 25;
  EXPECT_EQ(TimesOf(system, {{0, 10, 20}, {0.5, 10, 1}, {2.5, 10, 1}}).first, (Values{1, 5, 5}))
      << "passed over at 1, 2 and 3";
  EXPECT_EQ(TimesOf(system, {{0, 10, 20}, {0.5, 10, 1}, {1.5, 15, 1}}).first, (Values{1, 3, 3})) << "25 tokens at 2";
  EXPECT_EQ(TimesOf(system, {{0, 10, 1}, {5, 10, 1}}).first, (Values{1, 6}));
}

TEST(Schedule, HandlesARequestBeforeItMayRun) {
  SimulatedSystem system = OneSecondSteps();
  system.handling = S(0.25);
  EXPECT_EQ(TimesOf(system, {{1, 10, 2}}).first, (Values{2.25}));
  EXPECT_EQ(TimesOf(system, {{1, 10, 2}}).last, (Values{3.25}));
}

// First tokens leave half a second after their step: the request decodes in the next step that begins after that.
TEST(Schedule, DecodesARequestAfterItsFirstToken) {
  SimulatedSystem system = OneSecondSteps();
  system.step_time = [](const StepWork& work) { return SimulatedStep{S(1), S(work.prompts > 0 ? 1.5 : 0)}; };
  const Times times = TimesOf(system, {{0, 10, 4}, {1, 10, 2}});
  EXPECT_EQ(times.first, (Values{1.5, 2.5}));
  EXPECT_EQ(times.last, (Values{5, 4})) << "the first request decodes from 2 on, the second from 3 on";
}

// Two prompts of 10 tokens in 25 bytes. After three tokens each they hold 26: the later one is preempted, waits for the
// end of the other at 6, and computes its 13 tokens again.
TEST(Memory, PreemptsTheLatest) {
  SimulatedSystem system = OneSecondSteps();
  system.room.room = Bytes::FromBase(25);
  const Times times = TimesOf(system, {{0, 10, 6}, {0, 10, 6}});
  EXPECT_EQ(times.first, (Values{1, 1}));
  EXPECT_EQ(times.last, (Values{6, 9}));
  EXPECT_EQ(times.counts.groups.preemptions, 1);
}

TEST(Memory, KeepsRoomForWholeOutputsInstead) {
  SimulatedSystem system = OneSecondSteps();
  system.room.room = Bytes::FromBase(25);
  system.rules.reserved = 1;
  const Times times = TimesOf(system, {{0, 10, 6}, {0, 10, 6}});
  EXPECT_EQ(times.first, (Values{1, 7}));
  EXPECT_EQ(times.last, (Values{6, 12}));
  EXPECT_EQ(times.counts.groups.preemptions, 0);
}

TEST(Memory, LimitsRunningSequences) {
  SimulatedSystem system = OneSecondSteps();
  system.rules.max_sequences = 2;
  EXPECT_EQ(TimesOf(system, kThree).first, (Values{1, 1, 4}));
}

// A step with a prompt takes two seconds. Two replicas step independently; two groups of one replica wait for each
// other.
TEST(Replicas, StepAloneAndGroupsTogether) {
  SimulatedSystem system = OneSecondSteps();
  system.step_time = [](const StepWork& work) {
    return work.prompts > 0 ? SimulatedStep{S(2), S(2)} : SimulatedStep{S(1), S(0)};
  };
  const std::vector<Sent> requests{{0, 10, 4}, {1, 10, 2}};
  system.replicas = 2;
  Times times = TimesOf(system, requests);
  EXPECT_EQ(times.first, (Values{2, 3}));
  EXPECT_EQ(times.last, (Values{5, 4}));
  system.replicas = 1;
  system.groups = 2;
  times = TimesOf(system, requests);
  EXPECT_EQ(times.first, (Values{2, 4}));
  EXPECT_EQ(times.last, (Values{6, 5})) << "the first request decodes from 2 to 4 beside the other's prompt";
  system.rules.prefills_first = true;
  times = TimesOf(system, requests);
  EXPECT_EQ(times.last, (Values{7, 5})) << "from 2 to 4 it does not decode at all";
}

// A step takes a second per token of the mean prompt. Of two groups one has the only prompt, of 10 tokens, while the
// other decodes: the step takes 5 seconds, but the prompt's first token comes after the 10 of its own group.
TEST(Replicas, AFirstTokenWaitsForThePassOfItsOwnGroup) {
  SimulatedSystem system = OneSecondSteps();
  system.step_time = [](const StepWork& work) {
    const Seconds time = S(work.prompts > 0 ? work.prompts * work.tokens : 1);
    return SimulatedStep{time, time};
  };
  system.groups = 2;
  const Times times = TimesOf(system, {{0, 4, 100}, {4.5, 10, 2}});
  EXPECT_EQ(times.first, (Values{4, 15})) << "alone, its group computes its 4 tokens";
}

// One replica has a long request; the third request arrives when the second is done.
TEST(Replicas, BehindARouter) {
  SimulatedSystem system = OneSecondSteps();
  system.replicas = 2;
  system.rules.max_sequences = 1;
  const std::vector<Sent> requests{{0, 10, 100}, {0, 10, 1}, {5, 10, 1}};
  system.router = Router::kLeastLoaded;
  EXPECT_EQ(TimesOf(system, requests).first[2], 6);
  system.router = Router::kRoundRobin;
  EXPECT_EQ(TimesOf(system, requests).first[2], 101) << "behind the long one";
}

// The integral of the requests in the system, over all events, is the sum of their times in it.
TEST(LittlesLaw, HoldsFromEmptyToEmpty) {
  Random random(7);
  for (int seed = 0; seed < 50; ++seed) {
    SimulatedSystem system = OneSecondSteps();
    system.step_time = [](const StepWork& work) {
      const double time = 1 + 0.01 * work.decoded + 0.1 * work.prompts * work.tokens;
      return SimulatedStep{S(time), S(time + 0.3)};
    };
    system.room.room = Bytes::FromBase(100 + 400 * random.Uniform());
    system.rules.step_tokens = 30;
    system.rules.prefills_first = random.Uniform() < 0.5;
    system.rules.splits_prompts = random.Uniform() < 0.5;
    system.rules.reserved = random.Uniform();
    system.rules.max_sequences = 8;
    system.steps_ahead = seed % 3;
    system.handling = S(random.Uniform());
    system.replicas = 1 + seed % 2;
    system.groups = 1 + seed % 4;
    std::vector<Sent> requests;
    for (int i = 0; i < 100; ++i) {
      requests.push_back({100 * random.Uniform(), 1 + static_cast<Count>(40 * random.Uniform()),
                          1 + static_cast<Count>(20 * random.Uniform())});
    }
    const Times times = TimesOf(system, requests);
    double in_system = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_GE(times.first[i], requests[i].at + system.handling.base()) << seed;
      EXPECT_GE(times.last[i], times.first[i]) << seed;
      in_system += times.last[i] - requests[i].at;
    }
    EXPECT_NEAR(times.counts.requests_time.base() / in_system, 1, 1e-12) << seed;
  }
}

}  // namespace
}  // namespace slipstick
