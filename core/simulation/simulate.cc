#include "core/simulation/simulate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine_step/step_limits.h"
#include "core/serving/phase_time.h"
#include "core/serving/serving_memory.h"
#include "core/simulation/event_loop.h"
#include "core/simulation/lengths.h"
#include "core/simulation/step_times.h"

namespace slipstick {
namespace {

constexpr Count kMostSteps = 1 << 23;

// Bytes of a sequence by its pages, each computed once, with the prefixes of the sessions that wait for it.
std::function<Bytes(Count)> BytesByPage(const Deployment& deployment) {
  struct Pages {
    const Deployment& deployment;
    Count block;
    Bytes idle;
    std::vector<Bytes> bytes;
  };
  Trace no_trace = Trace::Off();
  const Bytes idle = IdlePrefixesOf(deployment, no_trace).device;
  const auto pages = std::make_shared<Pages>(Pages{deployment, deployment.engine.memory.block, idle, {}});
  return [pages](Count held_tokens) {
    const auto page = static_cast<std::size_t>((held_tokens + pages->block - 1) / pages->block);
    if (pages->bytes.size() <= page) pages->bytes.resize(2 * page + 1, Bytes::FromBase(-1));
    Bytes& bytes = pages->bytes[page];
    if (bytes < Bytes{}) {
      Trace off = Trace::Off();
      const auto tokens = static_cast<double>(page * static_cast<std::size_t>(pages->block));
      bytes = pages->idle + KvCacheOfSequence(pages->deployment, tokens, off);
    }
    return bytes;
  };
}

// In the closed forms a sequence holds `output_reserved` of its output. Where admission keeps room for a share r of
// every coming output, a sequence in the middle of its own holds 1/2 + r/2 of it.
double ReservedShare(const Engine& engine) { return max(0.0, 2 * engine.memory.output_reserved - 1); }

SchedulerRules RulesOf(const ServingLoad& load, const Device& device) {
  const EngineScheduler& scheduler = load.engine.scheduler;
  SchedulerRules rules;
  rules.step_tokens = static_cast<double>(StepTokensOf(load, device).tokens);
  rules.prefills_first = scheduler.prefills_first;
  rules.splits_prompts = SplitsPrompts(load);
  rules.collect_steps = scheduler.collect_steps;
  rules.collect_tokens = scheduler.collect_share * rules.step_tokens;
  rules.max_sequences = static_cast<double>(load.max_requests.value_or(scheduler.max_sequences));
  rules.reserved = ReservedShare(load.engine);
  return rules;
}

// Draws requests and sends them.
class Users {
 public:
  Users(const ServingLoad& load, EventLoop& loop)
      : load_(load), loop_(loop), random_(static_cast<std::uint64_t>(load.simulate->seed)) {}

  // A constant number of streams; each sends the next request when one is done.
  void Close(Count streams) {
    // In a steady state streams are anywhere in their outputs: the first requests end at any time, and those that
    // follow them meet the crowd of the start. Neither count.
    const bool is_steady = !load_.waves;
    keeps_sending_ = is_steady;
    warming_up_ = is_steady ? streams : 0;
    left_ = is_steady ? load_.simulate->requests : streams * (*load_.waves - 1);
    for (Count i = 0; i < streams; ++i) {
      SentRequest request = Draw();
      if (is_steady) {
        request.is_measured = false;
        request.output = 1 + static_cast<Count>(random_.Uniform() * static_cast<double>(request.output));
      }
      loop_.Send(Seconds{}, request);
    }
  }
  void SendNext(Seconds now) {
    if (left_ <= 0 && !keeps_sending_) return;
    SentRequest request = Draw();
    request.is_measured = warming_up_ <= 0 && left_ > 0;
    --(warming_up_ > 0 ? warming_up_ : left_);
    loop_.Send(now, request);
  }

  // Arrivals at a rate; a fifth more than count come before and after those that do.
  void Open(Hertz rate) {
    const Count run = load_.simulate->requests, spare = run / 5;
    const Arrivals arrivals = load_.arrivals.value_or(Arrivals{});
    Seconds at;
    for (Count i = 0; i < run + 2 * spare; ++i) {
      at += DrawGap(arrivals, random_) / rate;
      SentRequest request = Draw();
      request.is_measured = i >= spare && i < run + spare;
      loop_.Send(at, request);
    }
  }

 private:
  SentRequest Draw() {
    const RequestLengths lengths = load_.lengths.value_or(RequestLengths{});
    SentRequest request;
    request.prompt = DrawLength(lengths.prompt, static_cast<double>(load_.prompt), random_);
    request.output = DrawLength(lengths.output, static_cast<double>(load_.output), random_);
    const auto computed = static_cast<Count>(std::ceil(static_cast<double>(request.prompt) * (1 - load_.prefix_hit)));
    request.cached = request.prompt - std::max<Count>(1, computed);
    return request;
  }

  const ServingLoad& load_;
  EventLoop& loop_;
  Random random_;
  Count warming_up_ = 0, left_ = 0;
  bool keeps_sending_ = false;
};

Seconds MeanOf(const std::vector<Seconds>& times) {
  Seconds sum;
  for (const Seconds time : times) sum += time;
  return times.empty() ? sum : sum / static_cast<double>(times.size());
}

// The smallest time that is not below that share of all.
Percentiles PercentilesOf(std::vector<Seconds> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at = [&](std::size_t percent) { return times[(times.size() * percent + 99) / 100 - 1]; };
  return {at(50), at(90), at(99)};
}

Seconds HandlingOf(const ServingLoad& load) {
  return HostFactor(load.tuning, load.engine) * load.engine.overhead.per_request;
}

SimulatedServing Summary(const EventLoop& loop, const ServingLoad& load, double streams) {
  const EngineOverhead& overhead = load.engine.overhead;
  const Seconds handling = HandlingOf(load);
  SimulatedServing served;
  std::vector<Seconds> ttft, tpot, latency;
  Seconds waited, last, earliest = Seconds::FromBase(std::numeric_limits<double>::infinity());
  for (const SimulatedRequest& request : loop.requests()) {
    if (!request.is_measured) continue;
    ttft.push_back(request.first - request.sent);
    latency.push_back(request.last - request.sent);
    if (request.output > 1) tpot.push_back((request.last - request.first) / static_cast<double>(request.output - 1));
    const Seconds handled = handling + static_cast<double>(request.prompt) * overhead.per_prompt_token;
    waited += max(Seconds{}, request.admitted - request.sent - handled);
    earliest = min(earliest, request.last);
    last = max(last, request.last);
    served.prompt += static_cast<double>(request.prompt);
    served.output += static_cast<double>(request.output);
  }
  const auto requests = static_cast<double>(ttft.size());
  served.prompt /= requests;
  served.output /= requests;
  served.ttft = MeanOf(ttft);
  served.tpot = MeanOf(tpot);
  served.request_latency = MeanOf(latency);
  served.ttft_percentiles = PercentilesOf(std::move(ttft));
  served.tpot_percentiles = PercentilesOf(std::move(tpot));
  served.latency_percentiles = PercentilesOf(std::move(latency));
  // Streams that send at once what follows; a benchmark from its first request to its last; arrivals as their requests
  // end.
  const Hertz rate = load.requests_per_s ? (requests - 1) / (last - earliest)
                     : load.waves        ? requests / last
                                         : streams / served.request_latency;
  served.requests_per_s = rate * (1 * kS);
  served.tokens_per_s = rate * served.output * (1 * kToken);
  served.requests_waiting = rate * waited / requests;
  served.requests_in_flight = rate * served.request_latency - served.requests_waiting;
  served.requests = static_cast<Count>(requests);
  const SimulationCounts counts = loop.counts();
  served.preemptions = counts.preemptions;
  served.steps = counts.steps;
  return served;
}

Count StreamsOf(const Deployment& deployment, double max_sequences) {
  const ServingLoad& load = deployment.load;
  if (load.concurrency) return *load.concurrency;
  const auto replicas = static_cast<Count>(deployment.mapping.replicas);
  if (!load.batch.max) return load.batch.count * replicas;
  return static_cast<Count>(std::llround(max(1.0, max_sequences) * deployment.mapping.attention_dp)) * replicas;
}

}  // namespace

SimulationAnswer Simulate(const Model& model, const Cluster& cluster, const ServingLoad& load) {
  if (load.disaggregated) return {std::nullopt, "serving.simulate: separate pools are not simulated"};
  Trace off = Trace::Off();
  Deployment deployment = Deploy(model, cluster, load);
  const KvCacheBudget budget = KvCacheBudgetOf(deployment, off);
  const double max_sequences =
      BatchThatFits(deployment, budget, static_cast<double>(load.prompt), static_cast<double>(load.output), off);
  if (max_sequences < 1) return {std::nullopt, "serving.simulate: no request fits"};
  StepTimes times(model, cluster, load, budget.kv_cache);
  SimulatedSystem system;
  system.rules = RulesOf(load, deployment.device);
  system.room = {budget.Room(), BytesByPage(deployment)};
  system.step_time = [&](const StepWork& work) { return times.Of(work); };
  system.handling = HandlingOf(load);
  system.token_handling = load.engine.overhead.per_prompt_token;
  system.steps_ahead = static_cast<Count>(deployment.launch.steps_ahead);
  system.receive_interval = load.engine.scheduler.receive_interval;
  system.replicas = static_cast<Count>(deployment.mapping.replicas);
  system.groups = static_cast<Count>(deployment.mapping.attention_dp);
  system.router = load.simulate->router;
  EventLoop loop(system);
  Users users(load, loop);
  const Count streams = StreamsOf(deployment, max_sequences);
  const bool is_open = load.requests_per_s.has_value();
  if (is_open) {
    users.Open(*load.requests_per_s / (1 * kS));
  } else {
    users.Close(streams);
  }
  const Count measured = load.waves && !is_open ? streams * *load.waves : load.simulate->requests;
  const bool is_done = loop.Run(measured, [&](Seconds now) { is_open ? void() : users.SendNext(now); }, kMostSteps);
  if (!is_done)
    return {std::nullopt,
            "serving.simulate: the simulation would take too many steps; simulate fewer or shorter requests"};
  return {Summary(loop, load, static_cast<double>(streams)), ""};
}

}  // namespace slipstick
