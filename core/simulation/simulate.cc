#include "core/simulation/simulate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/serving/serving.h"
#include "core/serving/serving_memory.h"
#include "core/simulation/event_loop.h"
#include "core/simulation/lengths.h"
#include "core/simulation/random.h"
#include "core/simulation/simulated_deployment.h"

namespace slipstick {
namespace {

// Users who send the turns of sessions: each waits for the answer and a gap, and then sends the whole conversation with
// an addition.
class SessionUsers {
 public:
  SessionUsers(const ServingLoad& load, EventLoop& loop)
      : load_(load), sessions_(*load.sessions), loop_(loop), random_(static_cast<std::uint64_t>(load.simulate->seed)) {}

  // Number of turns that fill the cache, for this number of sessions.
  static double WarmTurns(double sessions);
  // A constant number of concurrent sessions; each that ends is replaced by another.
  void Close(Count sessions);
  // Sessions arrive at random, with this rate of turns.
  void Open(double turns_per_s);
  void Done(Seconds now, std::size_t request);
  // Number of turns to simulate, including those that fill the cache and are not counted.
  [[nodiscard]] Count ToSimulate() const { return warming_up_ + load_.simulate->requests; }
  // The turns that ended after those that fill the cache.
  [[nodiscard]] const std::vector<std::size_t>& counted() const { return counted_; }

 private:
  // Begins a session in the middle, so that sessions are at different turns.
  void BeginWithin(Count group, Count first_turn);
  void SendTurn(Seconds at, Count session, Count group, Count turn, Count context);
  Seconds DrawnGap() { return random_.Exponential() * sessions_.gap; }

  const ServingLoad& load_;
  const Sessions& sessions_;
  EventLoop& loop_;
  Random random_;
  Count next_session_ = 0, warming_up_ = 0, done_ = 0;
  bool is_closed_ = true;
  std::vector<std::size_t> counted_;
};

// Turns per session before any is counted. A context that would only be evicted after more turns is used again before
// that with a probability of 1 - exp(-4).
constexpr Count kWarmTurns = 4;

double SessionUsers::WarmTurns(double sessions) { return static_cast<double>(kWarmTurns) * sessions; }

void SessionUsers::SendTurn(Seconds at, Count session, Count group, Count turn, Count context) {
  const RequestLengths lengths = load_.lengths.value_or(RequestLengths{});
  SentRequest request;
  request.prompt = context + DrawLength(lengths.prompt, static_cast<double>(Count{sessions_.added}), random_);
  request.output = DrawLength(lengths.output, static_cast<double>(load_.output), random_);
  request.session = session;
  request.group = group;
  request.turn = turn;
  loop_.Send(at, request);
}

void SessionUsers::BeginWithin(Count group, Count first_turn) {
  const Count turn =
      first_turn + static_cast<Count>(random_.Uniform() * static_cast<double>(sessions_.turns - first_turn + 1));
  SendTurn(DrawnGap(), next_session_++, group, turn, ContextAfter<Count>(sessions_, load_.output, turn - 1));
}

void SessionUsers::Close(Count sessions) {
  warming_up_ = kWarmTurns * sessions;
  for (Count i = 0; i < sessions; ++i) BeginWithin(i, 1);
}

void SessionUsers::Open(double turns_per_s) {
  is_closed_ = false;
  const Count turns = sessions_.turns;
  const double later = static_cast<double>(turns - 1) / static_cast<double>(turns);
  const auto waiting = static_cast<Count>(std::llround(turns_per_s * later * (sessions_.gap / (1 * kS))));
  warming_up_ = kWarmTurns * waiting + load_.simulate->requests / 5;
  for (Count i = 0; i < waiting; ++i) BeginWithin(i, 2);
  // Half as many more as are needed on average, so that they do not run out.
  const Count arrive = 50 + 3 * ToSimulate() / turns / 2;
  const Arrivals arrivals = load_.arrivals.value_or(Arrivals{});
  Seconds at;
  for (Count i = 0; i < arrive; ++i) {
    at += DrawGap(arrivals, random_) * static_cast<double>(turns) / turns_per_s * (1 * kS);
    SendTurn(at, next_session_, next_session_, 1, ContextAfter<Count>(sessions_, load_.output, 0));
    ++next_session_;
  }
}

void SessionUsers::Done(Seconds now, std::size_t request) {
  if (++done_ > warming_up_) counted_.push_back(request);
  const SimulatedRequest& one = loop_.requests()[request];
  const Count context = one.prompt + one.output;
  if (one.turn < sessions_.turns) {
    SendTurn(now + DrawnGap(), one.session, one.group, one.turn + 1, context);
  } else if (is_closed_) {
    SendTurn(now + DrawnGap(), next_session_++, one.group, 1, ContextAfter<Count>(sessions_, load_.output, 0));
  }
}

constexpr Count kMostSteps = 1 << 23, kMostTurns = 400'000;

// Draws requests and sends them.
class Users {
 public:
  Users(const ServingLoad& load, EventLoop& loop)
      : load_(load), loop_(loop), random_(static_cast<std::uint64_t>(load.simulate->seed)) {}

  // A constant number of streams; each sends its next request when the previous one is done.
  void Close(Count streams) {
    // In a steady state, streams are at random positions in their outputs, so the first requests end at random times.
    // These, and the requests that follow while the streams still move together, are not counted.
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

  // Random arrivals at a rate; a fifth more requests run before and after the counted ones, and no fewer than it takes
  // to fill the server with the `in_flight` requests of the steady state, and to keep it full.
  void Open(Hertz rate, double in_flight) {
    constexpr Count kFills = 3;  // batches grow, and with them the time of a request, so that one fill is too few
    const auto full = static_cast<Count>(std::ceil(in_flight));
    const Count run = load_.simulate->requests, before = std::max(run / 5, kFills * full),
                after = std::max(run / 5, full);
    const Arrivals arrivals = load_.arrivals.value_or(Arrivals{});
    Seconds at;
    for (Count i = 0; i < before + run + after; ++i) {
      at += DrawGap(arrivals, random_) / rate;
      SentRequest request = Draw();
      request.is_measured = i >= before && i < before + run;
      loop_.Send(at, request);
    }
  }

 private:
  SentRequest Draw() {
    const RequestLengths lengths = load_.lengths.value_or(RequestLengths{});
    SentRequest request;
    Count prompt = load_.prompt, output = load_.output;
    if (!load_.mixture.empty()) {
      request.kind = DrawClass();
      const RequestClass& one = load_.mixture[static_cast<std::size_t>(request.kind)];
      prompt = one.prompt_tokens, output = one.output_tokens;
    }
    request.prompt = DrawLength(lengths.prompt, static_cast<double>(prompt), random_);
    request.output = DrawLength(lengths.output, static_cast<double>(output), random_);
    const auto computed = static_cast<Count>(std::ceil(static_cast<double>(request.prompt) * (1 - load_.prefix_hit)));
    request.cached = request.prompt - std::max<Count>(1, computed);
    return request;
  }

  Count DrawClass() {
    const auto last = static_cast<Count>(load_.mixture.size()) - 1;
    double left = random_.Uniform();
    Count kind = 0;
    while (kind < last && left >= load_.mixture[static_cast<std::size_t>(kind)].weight)
      left -= load_.mixture[static_cast<std::size_t>(kind++)].weight;
    return kind;
  }

  const ServingLoad& load_;
  EventLoop& loop_;
  Random random_;
  Count warming_up_ = 0, left_ = 0;
  bool keeps_sending_ = false;
};

std::vector<std::size_t> Measured(const EventLoop& loop) {
  std::vector<std::size_t> measured;
  for (std::size_t i = 0; i < loop.requests().size(); ++i) {
    if (loop.requests()[i].is_measured) measured.push_back(i);
  }
  return measured;
}

// Throughput: with streams, from the steady cycle, because each sends its next request at once; in a benchmark, over
// the time from the first request to the last; with random arrivals, over the times at which requests end.
SimulatedServing Summary(const EventLoop& loop, const std::vector<std::size_t>& measured, const ServingLoad& load,
                         double streams) {
  SimulatedServing served = SummaryOf(loop, measured);
  Seconds last, earliest = Seconds::FromBase(std::numeric_limits<double>::infinity());
  for (const std::size_t i : measured) {
    earliest = min(earliest, loop.requests()[i].last);
    last = max(last, loop.requests()[i].last);
  }
  const auto requests = static_cast<double>(served.requests);
  SetRate(served, load.requests_per_s || load.sessions ? (requests - 1) / (last - earliest)
                  : load.waves                         ? requests / last
                                                       : streams / served.request_latency);
  if (load.sessions) served.sessions = SessionsOf(loop, measured);
  if (!load.mixture.empty()) served.classes = ClassesOf(loop, measured, load.mixture.size());
  return served;
}

Count StreamsOf(const Deployment& deployment, double max_sequences) {
  const ServingLoad& load = deployment.load;
  if (load.concurrency) return *load.concurrency;
  const auto replicas = static_cast<Count>(deployment.mapping.replicas);
  if (!load.batch.max) return load.batch.count * replicas;
  return static_cast<Count>(std::llround(max(1.0, max_sequences) * deployment.mapping.attention_dp)) * replicas;
}

constexpr const char* kTooLong =
    "serving.simulate: the simulation would take too many steps; simulate fewer or shorter requests";

constexpr const char* kSessionsStay =
    "serving.simulate.router has no effect: all turns of a session go to the replica that has its context";

// `in_flight`: requests in the steady state of random arrivals.
SimulationAnswer SendRequests(const ServingLoad& load, Count streams, double in_flight, EventLoop& loop) {
  Users users(load, loop);
  const bool is_open = load.requests_per_s.has_value();
  if (is_open) {
    users.Open(*load.requests_per_s / (1 * kS), in_flight);
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
  SimulatedDeployment simulated(model, cluster, load);
  const double max_sequences = BatchThatFits(simulated.deployment(), simulated.budget(), load.prompt, load.output);
  if (max_sequences < 1) return {std::nullopt, "serving.simulate: no request fits"};
  EventLoop loop(simulated.system());
  const Count streams = StreamsOf(simulated.deployment(), max_sequences);
  if (load.sessions) {
    SimulationAnswer answer = PlaySessions(load, streams, loop);
    if (answer.served && load.simulate->router != SimulationRun().router) answer.warning = kSessionsStay;
    return answer;
  }
  const double in_flight =
      load.requests_per_s ? EvaluateServing(model, cluster, load, false).requests_in_flight : Ratio(0);
  return SendRequests(load, streams, in_flight, loop);
}

}  // namespace slipstick
