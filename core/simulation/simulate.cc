#include "core/simulation/simulate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine_step/host_link.h"
#include "core/engine_step/step_limits.h"
#include "core/serving/phase_time.h"
#include "core/serving/serving_memory.h"
#include "core/simulation/event_loop.h"
#include "core/simulation/lengths.h"
#include "core/simulation/session_users.h"
#include "core/simulation/step_times.h"

namespace slipstick {
namespace {

constexpr Count kMostSteps = 1 << 23, kMostTurns = 400'000;

// Bytes of a sequence by its pages, each computed once, with the prefixes of the sessions that wait for it, beside what
// all share.
std::function<Bytes(Count)> BytesByPage(const Deployment& deployment, Bytes shared) {
  struct Pages {
    const Deployment& deployment;
    Count block;
    Bytes beside;
    std::vector<Bytes> bytes;
  };
  const Bytes beside = IdlePrefixesOf(deployment).device - shared;
  const auto pages = std::make_shared<Pages>(Pages{deployment, deployment.engine.memory.block, beside, {}});
  return [pages](Count held_tokens) {
    const auto page = static_cast<std::size_t>((held_tokens + pages->block - 1) / pages->block);
    if (pages->bytes.size() <= page) pages->bytes.resize(2 * page + 1, Bytes::FromBase(-1));
    Bytes& bytes = pages->bytes[page];
    if (bytes < Bytes{}) {
      const auto tokens = static_cast<double>(page * static_cast<std::size_t>(pages->block));
      bytes = max(Bytes{}, pages->beside + KvCacheOfSequence(pages->deployment, tokens));
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

// Of the turns that count.
SimulatedSessions SessionsOf(const EventLoop& loop, const std::vector<std::size_t>& counted) {
  SimulatedSessions sessions;
  std::vector<Seconds> reentry_ttft;
  double prompts = 0;
  for (const std::size_t i : counted) {
    const SimulatedRequest& one = loop.requests()[i];
    prompts += static_cast<double>(one.prompt);
    sessions.hit_rate += static_cast<double>(one.cached);
    sessions.host_hit_rate += one.found.host;
    sessions.ssd_hit_rate += one.found.ssd;
    if (one.turn > 1) reentry_ttft.push_back(one.first - one.sent);
  }
  for (double* tokens : {&sessions.hit_rate, &sessions.host_hit_rate, &sessions.ssd_hit_rate}) *tokens /= prompts;
  sessions.device_hit_rate = sessions.hit_rate - sessions.host_hit_rate - sessions.ssd_hit_rate;
  sessions.reentry_ttft = MeanOf(reentry_ttft);
  return sessions;
}

// Time that the load of contexts adds to a step (core/serving/prefix_cache.cc).
Seconds LoadOf(const StepWork& work, Seconds step, const Deployment& deployment) {
  if (!deployment.load.prefix_cache || !(work.from_host + work.from_ssd > Bytes{})) return {};
  const PrefixCache& tiers = *deployment.load.prefix_cache;
  const Seconds load =
      max((work.from_host + work.from_ssd) / RateOfCopies(tiers.host_link, deployment.engine.communication),
          work.from_ssd / tiers.ssd_bandwidth);
  const double layers = deployment.layers.per_stage;
  return tiers.by_layer ? max(load / layers, load - step * (1 - 1 / layers)) : load;
}

std::vector<std::size_t> Measured(const EventLoop& loop) {
  std::vector<std::size_t> measured;
  for (std::size_t i = 0; i < loop.requests().size(); ++i) {
    if (loop.requests()[i].is_measured) measured.push_back(i);
  }
  return measured;
}

SimulatedServing Summary(const EventLoop& loop, const std::vector<std::size_t>& measured, const ServingLoad& load,
                         double streams) {
  const EngineOverhead& overhead = load.engine.overhead;
  const Seconds handling = HandlingOf(load);
  SimulatedServing served;
  std::vector<Seconds> ttft, tpot, latency;
  Seconds waited, last, earliest = Seconds::FromBase(std::numeric_limits<double>::infinity());
  for (const std::size_t i : measured) {
    const SimulatedRequest& request = loop.requests()[i];
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
  const Hertz rate = load.requests_per_s || load.sessions ? (requests - 1) / (last - earliest)
                     : load.waves                         ? requests / last
                                                          : streams / served.request_latency;
  served.requests_per_s = rate * (1 * kS);
  served.tokens_per_s = rate * served.output * (1 * kToken);
  served.requests_waiting = rate * waited / requests;
  served.requests_in_flight = rate * served.request_latency - served.requests_waiting;
  served.requests = static_cast<Count>(requests);
  const SimulationCounts counts = loop.counts();
  served.preemptions = counts.preemptions;
  served.steps = counts.steps;
  if (load.sessions) served.sessions = SessionsOf(loop, measured);
  return served;
}

Count StreamsOf(const Deployment& deployment, double max_sequences) {
  const ServingLoad& load = deployment.load;
  if (load.concurrency) return *load.concurrency;
  const auto replicas = static_cast<Count>(deployment.mapping.replicas);
  if (!load.batch.max) return load.batch.count * replicas;
  return static_cast<Count>(std::llround(max(1.0, max_sequences) * deployment.mapping.attention_dp)) * replicas;
}

KvCacheRoom RoomOf(const Deployment& deployment, const KvCacheBudget& budget) {
  const ServingLoad& load = deployment.load;
  if (!load.sessions) return {budget.Room(), BytesByPage(deployment, Bytes{})};
  const SessionMemory memory = SessionMemoryOf(deployment, budget);
  ContextMemory contexts{load.sessions->system_prompt, {}, {}};
  if (load.prefix_cache) {
    contexts.host = min(load.prefix_cache->host_capacity, deployment.device.host.memory);
    contexts.ssd = load.prefix_cache->ssd_capacity;
  }
  return {memory.room, BytesByPage(deployment, memory.system), contexts};
}

constexpr const char* kTooLong =
    "serving.simulate: the simulation would take too many steps; simulate fewer or shorter requests";

SimulationAnswer SendRequests(const ServingLoad& load, Count streams, EventLoop& loop) {
  Users users(load, loop);
  const bool is_open = load.requests_per_s.has_value();
  if (is_open) {
    users.Open(*load.requests_per_s / (1 * kS));
  } else {
    users.Close(streams);
  }
  const Count measured = load.waves && !is_open ? streams * *load.waves : load.simulate->requests;
  const auto send_next = [&](Seconds now, std::size_t) { is_open ? void() : users.SendNext(now); };
  if (!loop.Run(measured, send_next, kMostSteps)) return {std::nullopt, kTooLong};
  return {Summary(loop, Measured(loop), load, static_cast<double>(streams)), ""};
}

SimulationAnswer PlaySessions(const ServingLoad& load, Count sessions, EventLoop& loop) {
  const double gap = load.sessions->gap / (1 * kS),
               waiting = load.requests_per_s ? *load.requests_per_s * gap : Ratio(sessions);
  if (SessionUsers::WarmTurns(waiting) > static_cast<double>(kMostTurns))
    return {std::nullopt,
            "serving.simulate: too many sessions at once to simulate; simulate fewer replicas and their share"};
  SessionUsers users(load, loop);
  if (load.requests_per_s) {
    users.Open(*load.requests_per_s);
  } else {
    users.Close(sessions);
  }
  const auto done = [&](Seconds now, std::size_t request) { users.Done(now, request); };
  if (!loop.Run(users.ToSimulate(), done, kMostSteps)) return {std::nullopt, kTooLong};
  if (users.counted().size() < 2) return {std::nullopt, kTooLong};
  return {Summary(loop, users.counted(), load, static_cast<double>(sessions)), ""};
}

}  // namespace

SimulationAnswer Simulate(const Model& model, const Cluster& cluster, const ServingLoad& load) {
  if (load.disaggregated) return {std::nullopt, "serving.simulate: separate pools are not simulated"};
  Deployment deployment = Deploy(model, cluster, load);
  const KvCacheBudget budget = KvCacheBudgetOf(deployment);
  const double max_sequences = BatchThatFits(deployment, budget, load.prompt, load.output);
  if (max_sequences < 1) return {std::nullopt, "serving.simulate: no request fits"};
  StepTimes times(model, cluster, load, budget.kv_cache);
  SimulatedSystem system;
  system.rules = RulesOf(load, deployment.device);
  system.room = RoomOf(deployment, budget);
  system.step_time = [&](const StepWork& work) {
    SimulatedStep step = times.Of(work);
    const Seconds load_time = LoadOf(work, step.time, deployment);
    return SimulatedStep{step.time + load_time, step.first + load_time};
  };
  system.handling = HandlingOf(load);
  system.token_handling = load.engine.overhead.per_prompt_token;
  system.steps_ahead = static_cast<Count>(deployment.launch.steps_ahead);
  system.receive_interval = load.engine.scheduler.receive_interval;
  system.replicas = static_cast<Count>(deployment.mapping.replicas);
  system.groups = static_cast<Count>(deployment.mapping.attention_dp);
  system.router = load.simulate->router;
  EventLoop loop(system);
  const Count streams = StreamsOf(deployment, max_sequences);
  return load.sessions ? PlaySessions(load, streams, loop) : SendRequests(load, streams, loop);
}

}  // namespace slipstick
