// Replayed requests: hit rates and queues by hand, latencies against the closed forms.
#include "core/simulation/trace_run.h"

#include <string>
#include <vector>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

const Assignments kServed{"cluster=dgx-h100",     "model=llama-3.1-70b", "serving.devices=8",
                          "serving.mapping.tp=8", "serving.prompt=1000", "serving.output=300"};

Seconds At(double seconds) { return Seconds::FromBase(seconds); }

struct Traced {
  double at;
  Count prompt, output;
  std::vector<std::uint32_t> blocks = {};
  Count session = -1;
  std::optional<double> delay = {};
};

RequestTrace TraceOf(const std::vector<Traced>& requests) {
  RequestTrace trace;
  trace.has_times = true;
  for (const Traced& one : requests) {
    TracedRequest request;
    if (one.delay) {
      request.delay = At(*one.delay);
    } else {
      request.arrival = At(one.at);
    }
    request.prompt = one.prompt;
    request.output = one.output;
    request.blocks = one.blocks;
    request.session = one.session;
    if (!one.blocks.empty()) trace.block = 512;
    trace.sessions = std::max(trace.sessions, one.session + 1);
    trace.requests.push_back(request);
  }
  return trace;
}

PlayedTrace Play(const RequestTrace& trace, const Assignments& assignments = kServed) {
  const Result<Scenario> scenario = ScenarioOf(assignments);
  EXPECT_TRUE(scenario);
  TraceRun run(scenario->model, scenario->cluster, *scenario->serving, trace);
  while (run.Step(1000)) {
  }
  EXPECT_FALSE(run.has_failed());
  EXPECT_EQ(run.done(), 1);
  return run.Result();
}

// Of prompts with 1500, 1400 and 900 tokens, the second finds two blocks of 512 and the third one.
TEST(TraceRun, CountsTheHitsOfBlocks) {
  const PlayedTrace played =
      Play(TraceOf({{0, 1500, 10, {0, 1, 2}}, {60, 1400, 10, {0, 1, 3}}, {120, 900, 10, {0, 4}}}));
  EXPECT_NEAR(played.hit_rate, (1024.0 + 512) / (1500 + 1400 + 900), 1e-12);
}

// Each turn finds the prompt and the answer of the previous turn. A turn that begins anew finds nothing; one that keeps
// only the prompt finds the prompt.
TEST(TraceRun, CountsTheHitsOfSessions) {
  const PlayedTrace played = Play(TraceOf({{0, 1000, 100, {}, 0},
                                           {60, 1500, 100, {}, 0},
                                           {120, 1550, 50, {}, 0},
                                           {180, 300, 50, {}, 0},
                                           {190, 2000, 50, {}, 1}}));
  EXPECT_NEAR(played.hit_rate, (1100.0 + 1500) / (1000 + 1500 + 1550 + 300 + 2000), 1e-12);
}

// Requests that are far apart have the times of a single request.
TEST(TraceRun, RequestsFarApartAreServedAlone) {
  const ServingReport alone = Serve(kServed + Assignments{"serving.concurrency=1"});
  const PlayedTrace played = Play(TraceOf({{0, 1000, 300}, {100, 1000, 300}, {200, 1000, 300}}));
  EXPECT_NEAR(played.served.ttft / alone.ttft, 1, 0.02);
  EXPECT_NEAR(played.served.tpot / alone.tpot, 1, 0.02);
  EXPECT_NEAR(played.served.request_latency / alone.request_latency, 1, 0.02);
  EXPECT_FALSE(played.queue.grows_from);
  EXPECT_NEAR(played.duration.base(), 200 + alone.request_latency.base(), 0.02 * alone.request_latency.base());
}

// The integral of the requests in the system, as the event loop counts it, agrees with their latencies.
TEST(TraceRun, HoldsLittlesLaw) {
  std::vector<Traced> requests;
  for (int i = 0; i < 300; ++i) requests.push_back({0.15 * i, 200 + 37 * (i % 50), 20 + 11 * (i % 30), {}, i % 40});
  const PlayedTrace played = Play(TraceOf(requests));
  EXPECT_NEAR(played.served.requests_per_s * played.served.request_latency.base() / played.in_system, 1, 1e-9);
}

// A turn is sent half a second after the previous answer, or at its own time if that is later.
TEST(TraceRun, TurnsWaitForTheAnswer) {
  const PlayedTrace one = Play(TraceOf({{0, 1000, 300, {}, 0}}));
  const double latency = one.duration.base();
  const PlayedTrace delayed = Play(TraceOf({{0, 1000, 300, {}, 0}, {0, 5000, 1, {}, 0, 0.5}}));
  const PlayedTrace early = Play(TraceOf({{0, 1000, 300, {}, 0}, {0.1, 5000, 1, {}, 0}}));
  EXPECT_NEAR(delayed.duration.base() - early.duration.base(), 0.5, 0.02);
  EXPECT_GT(early.duration.base(), latency);
  EXPECT_GT(Play(TraceOf({{0, 1000, 300, {}, 0}, {100, 5000, 1, {}, 0}})).duration.base(), 100);
  EXPECT_FALSE(early.queue.grows_from);
}

TEST(TraceRun, LeavesOutWhatDoesNotFit) {
  const PlayedTrace played = Play(TraceOf({{0, 1000, 10}, {1, 200'000'000, 10}}));
  EXPECT_EQ(played.too_long, 1);
  EXPECT_EQ(played.served.requests, 1);
}

// Arrivals at twice the capacity grow the queue, at half of it they do not.
TEST(TraceRun, SaysWhetherTheQueueGrows) {
  const Assignments few = kServed + Assignments{"serving.max_requests=64"};
  const double most = Serve(few + Assignments{"serving.requests_per_s=1e6"}).requests_per_s;
  for (const double load : {0.5, 2.0}) {
    std::vector<Traced> requests;
    for (int i = 0; i < 3000; ++i) requests.push_back({i / (load * most), 1000, 300});
    const PlayedTrace played = Play(TraceOf(requests), few);
    EXPECT_EQ(played.queue.grows_from.has_value(), load > 1) << load;
    if (load > 1) {
      EXPECT_EQ(played.bound, HeldBack::kSequences);
    }
    EXPECT_LE(played.kv_cache_peak, played.kv_cache_room);
  }
}

SimulatedSystem Immediate() {
  SimulatedSystem system;
  system.room = {Bytes::FromBase(1), [](Count) { return Bytes{}; }};
  return system;
}

// Two arrive and one is served per second: the i-th waits i / 2 seconds, longer than it runs from the fourth on.
TEST(TraceQueue, GrowsFromTheFirstThatWaitsLongerThanItRuns) {
  std::vector<SimulatedRequest> requests(10);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].sent = At(0.5 * static_cast<double>(i));
    requests[i].admitted = At(static_cast<double>(i));
    requests[i].last = At(static_cast<double>(i) + 1);
  }
  const TraceQueue queue = QueueOf(requests, Immediate());
  ASSERT_TRUE(queue.grows_from);
  EXPECT_EQ(queue.grows_from->base(), 1.5);
  const double length = 10.0 / static_cast<double>(queue.moments.size());
  double arrivals = 0, waiting = 0, running = 0;
  for (const TraceMoment& one : queue.moments) {
    arrivals += one.arrivals_per_s * length;
    waiting += one.waiting * length;
    running += one.running * length;
  }
  EXPECT_NEAR(arrivals, 10, 1e-9);
  EXPECT_NEAR(waiting, 22.5, 1e-9);  // 0 + 0.5 + … + 4.5
  EXPECT_NEAR(running, 10, 1e-9);
  EXPECT_NEAR(queue.moments.back().running, 1, 1e-9);
}

// One arrives per second and 0.8 are served. The first runs alone, for 1 s; the others run 40 s beside each other, longer
// than any waits, which is 0.25 s more for each.
TEST(TraceQueue, OverloadThatStretchesEveryRequestIsGrowth) {
  std::vector<SimulatedRequest> requests(100);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto number = static_cast<double>(i);
    requests[i].sent = At(number);
    requests[i].admitted = At(1.25 * number);
    requests[i].last = requests[i].admitted + At(i == 0 ? 1 : 40);
  }
  const TraceQueue queue = QueueOf(requests, Immediate());
  ASSERT_TRUE(queue.grows_from);
  EXPECT_EQ(queue.grows_from->base(), 5);  // waits 1.25 s
}

// After a burst no request waits longer than the mean one runs.
TEST(TraceQueue, ABurstThatIsServedIsNoGrowth) {
  std::vector<SimulatedRequest> requests(10);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const double at = i < 5 ? 0.1 * static_cast<double>(i) : 20 + static_cast<double>(i);
    requests[i].sent = At(at);
    requests[i].admitted = At(i < 5 ? 3.0 * static_cast<double>(i) : at);
    requests[i].last = requests[i].admitted + At(1);
  }
  EXPECT_FALSE(QueueOf(requests, Immediate()).grows_from);
}

}  // namespace
}  // namespace slipstick
