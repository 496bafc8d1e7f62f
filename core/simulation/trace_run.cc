#include "core/simulation/trace_run.h"

#include <algorithm>

namespace slipstick {
namespace {

constexpr Count kMostTraceSteps = 1 << 27;

Count MeanPromptOf(const RequestTrace& trace) {
  double tokens = 0;
  for (const TracedRequest& one : trace.requests) tokens += static_cast<double>(one.prompt);
  return static_cast<Count>(tokens / static_cast<double>(trace.requests.size()));
}

// The same deployment, caching what the requests of the trace share.
const SimulatedSystem& WithCache(SimulatedDeployment& deployment, const RequestTrace& trace) {
  if (trace.block > 0) {
    deployment.KeepBlocks(trace.block, MeanPromptOf(trace));
  } else if (trace.sessions > 0) {
    deployment.KeepContexts();
  }
  return deployment.system();
}

}  // namespace

TraceRun::TraceRun(const Model& model, const Cluster& cluster, const ServingLoad& load, const RequestTrace& trace)
    : trace_(trace), deployment_(model, cluster, load), loop_(WithCache(deployment_, trace)) {
  const SimulatedSystem& system = deployment_.system();
  const std::size_t all = trace.requests.size();
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  turns_.assign(all, Turn{});
  std::vector<std::size_t> latest(static_cast<std::size_t>(trace.sessions), kNone);
  for (std::size_t i = 0; i < all; ++i) {
    const TracedRequest& one = trace.requests[i];
    if (system.room.bytes_of(one.prompt + one.output) > system.room.room) {
      ++too_long_;
      continue;
    }
    std::size_t* before = one.session < 0 ? nullptr : &latest[static_cast<std::size_t>(one.session)];
    if (before == nullptr || *before == kNone) {
      first_.push_back(i);
    } else {
      turns_[*before].next = i;
      turns_[i].number = turns_[*before].number + 1;
      turns_[i].reusable = ReusableOf(trace.requests[*before], one);
    }
    if (before != nullptr) *before = i;
  }
  left_ = playable();
  const std::size_t at_once = trace.most_at_once ? static_cast<std::size_t>(*trace.most_at_once) : first_.size();
  while (sent_ < std::min(at_once, first_.size())) SendFirst(Seconds{});
}

void TraceRun::SendFirst(Seconds now) {
  if (sent_ == first_.size()) return;
  const std::size_t traced = first_[sent_++];
  Send(traced, max(now, trace_.requests[traced].arrival.value_or(Seconds{})));
}

void TraceRun::Send(std::size_t traced, Seconds at) {
  const TracedRequest& one = trace_.requests[traced];
  SentRequest request;
  request.prompt = one.prompt;
  request.output = one.output;
  request.session = one.session;
  request.group = one.session;
  request.turn = turns_[traced].number;
  request.reusable = turns_[traced].reusable;
  request.blocks = one.blocks;
  traced_.push_back(traced);
  loop_.Send(at, request);
}

void TraceRun::Done(Seconds now, std::size_t request) {
  --left_;
  const SimulatedRequest& one = loop_.requests()[request];
  if (limit_) {
    const auto tokens = static_cast<double>(std::max<Count>(1, one.output - 1));
    if (limit_->ttft && one.first - one.sent > *limit_->ttft) ++missed_ttft_;
    if (limit_->tpot && (one.last - one.first) / tokens > *limit_->tpot) ++missed_tpot_;
  }
  const std::size_t next = turns_[traced_[request]].next;
  if (next == Turn{}.next) return SendFirst(now);
  const TracedRequest& turn = trace_.requests[next];
  const Seconds ready = now + turn.delay.value_or(Seconds{});
  Send(next, turn.arrival ? max(*turn.arrival, ready) : ready);
}

bool TraceRun::Step(Count steps) {
  if (left_ <= 0 || has_failed_) return false;
  const auto done = [this](Seconds now, std::size_t request) { Done(now, request); };
  loop_.Run(left_, done, loop_.counts().steps + steps);
  const bool misses = limit_ && std::max(missed_ttft_, missed_tpot_) > limit_->most_misses;
  has_failed_ = misses || loop_.counts().steps > kMostTraceSteps;
  return left_ > 0 && !has_failed_;
}

double TraceRun::done() const {
  const Count all = playable();
  return all > 0 ? static_cast<double>(all - left_) / static_cast<double>(all) : 1;
}

PlayedTrace TraceRun::Result() const {
  const std::vector<SimulatedRequest>& requests = loop_.requests();
  std::vector<std::size_t> all(requests.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  PlayedTrace played;
  played.served = SummaryOf(loop_, all);
  const SimulationCounts counts = loop_.counts();
  played.duration = counts.end;
  SetRate(played.served, static_cast<double>(all.size()) / played.duration);
  played.in_system = counts.requests_time / played.duration;
  double prompts = 0, hits = 0;
  for (const SimulatedRequest& one : requests) {
    prompts += static_cast<double>(one.prompt);
    hits += static_cast<double>(one.hit);
  }
  played.hit_rate = hits / prompts;
  if (trace_.sessions > 0 && trace_.block == 0) played.served.sessions = SessionsOf(loop_, all);
  played.kv_cache_room = deployment_.system().room.room;
  played.kv_cache_peak = counts.groups.most_held;
  played.too_long = too_long_;
  played.queue = QueueOf(requests, deployment_.system());
  if (counts.groups.preemptions > 0) played.first_preemption = counts.groups.first_preemption;
  const auto& held = counts.groups.held_back;
  const auto most = std::max_element(held.begin(), held.end());
  if (*most > 0) played.bound = static_cast<HeldBack>(most - held.begin());
  return played;
}

}  // namespace slipstick
