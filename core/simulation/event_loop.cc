#include "core/simulation/event_loop.h"

#include <cmath>
#include <limits>

namespace slipstick {

EventLoop::EventLoop(const SimulatedSystem& system)
    : system_(system), replicas_(static_cast<std::size_t>(system.replicas)) {
  for (Replica& replica : replicas_) {
    for (Count i = 0; i < system.groups; ++i) replica.groups.emplace_back(system.rules, system.room, requests_);
  }
}

void EventLoop::Send(Seconds at, const SentRequest& request) {
  SimulatedRequest made{request};
  made.sent = at;
  made.ready = at + system_.handling + static_cast<double>(request.prompt) * system_.token_handling;
  requests_.push_back(made);
  Push(made.sent, EventKind::kSent, requests_.size() - 1);
  Push(made.ready, EventKind::kReady, requests_.size() - 1);
}

void EventLoop::CountUntil(Seconds now) {
  requests_time_ += static_cast<double>(in_system_) * (now - now_);
  now_ = now;
}

std::size_t EventLoop::ChooseGroup() {
  const std::size_t groups = static_cast<std::size_t>(system_.groups), all = replicas_.size() * groups;
  const std::size_t from = next_group_;
  next_group_ = (next_group_ + 1) % all;
  if (system_.router == Router::kRoundRobin) return from;
  std::size_t best = from, least = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t group = (from + i) % all, load = replicas_[group / groups].groups[group % groups].Load();
    if (load < least) best = group, least = load;
  }
  return best;
}

void EventLoop::Route(Seconds now, std::size_t request) {
  const std::size_t groups = static_cast<std::size_t>(system_.groups), all = replicas_.size() * groups;
  const SimulatedRequest& one = requests_[request];
  const std::size_t group = one.session < 0 ? ChooseGroup() : static_cast<std::size_t>(one.group) % all;
  replicas_[group / groups].groups[group % groups].Enqueue(request);
  Push(now, EventKind::kWake, group / groups);
}

// The groups of a replica step together: if the engine prefills first, no group decodes while another prefills. Their
// tokens spread over the experts of all groups, so a step takes as long as if every group had the mean work. Engines
// hold prompts back until other groups have some, too: those that have no request at all leave the work to the others.
EventLoop::ReplicaWork EventLoop::PlanStep(Seconds now, Seconds seen, Replica& replica) {
  bool prefills = false;
  for (const Scheduler& group : replica.groups) prefills = prefills || group.CanPrefill(seen);
  StepWork all, longest;
  all.prefilling_groups = 0;
  for (Scheduler& group : replica.groups) {
    if (group.Load() > 0) ++all.prefilling_groups;
    const StepWork work = group.Plan(now, seen, !(system_.rules.prefills_first && prefills));
    all.decoded += work.decoded;
    all.context += work.decoded * work.context;
    all.prompts += work.prompts;
    all.tokens += work.prompts * work.tokens;
    all.cached += work.prompts * work.tokens * work.cached;
    all.running += work.running;
    all.from_host += work.from_host;
    all.from_ssd += work.from_ssd;
    if (work.prompts * work.tokens > longest.prompts * longest.tokens)
      longest.prompts = work.prompts, longest.tokens = work.tokens, longest.cached = work.cached;
  }
  const auto groups = static_cast<double>(replica.groups.size());
  if (all.decoded > 0) all.context /= all.decoded;
  if (all.prompts > 0) {
    longest.prefilling_groups = std::ceil(all.tokens / (longest.prompts * longest.tokens));
    longest.running = all.running;
    all.cached /= all.tokens, all.tokens /= all.prompts;
  }
  all.decoded /= groups;
  if (all.prompts > 0) all.prompts /= all.prefilling_groups;
  all.from_host /= groups;
  all.from_ssd /= groups;
  return {all, longest};
}

void EventLoop::EndStep(Seconds now, std::size_t index) {
  Replica& replica = replicas_[index];
  std::vector<std::size_t> done;
  for (Scheduler& group : replica.groups) group.Finish(now, replica.ended, done);
  replica.is_running = false;
  for (const std::size_t request : done) Push(requests_[request].last, EventKind::kDone, request);
  Push(now, EventKind::kWake, index);
}

void EventLoop::BeginStep(Seconds now, std::size_t index) {
  Replica& replica = replicas_[index];
  if (replica.is_running) return;
  const auto ahead = static_cast<std::size_t>(system_.steps_ahead);
  // With steps launched ahead, the step was composed when the step `ahead` places before it began.
  const Seconds seen = ahead == 0 || replica.starts.empty() ? now : replica.starts.front();
  if (replica.is_idle || ++replica.unlooked >= system_.receive_interval) {
    replica.looked = seen;
    replica.unlooked = 0;
  }
  ReplicaWork work = PlanStep(now, replica.looked, replica);
  if (work.mean.IsEmpty()) work = PlanStep(now, now, replica);
  if (work.mean.IsEmpty()) {
    replica.starts.clear();
    replica.is_idle = true;
    const Seconds never = Seconds::FromBase(std::numeric_limits<double>::infinity());
    Seconds next = never;
    for (const Scheduler& group : replica.groups) next = min(next, group.NextReady(now));
    if (next < never) Push(next, EventKind::kWake, index);
    return;
  }
  replica.starts.push_back(now);
  if (replica.starts.size() > ahead) replica.starts.erase(replica.starts.begin());
  replica.is_running = true;
  replica.is_idle = false;
  SimulatedStep time = system_.step_time(work.mean);
  if (replica.groups.size() > 1 && work.longest.prompts > 0)
    time.first = max(time.first, system_.step_time(work.longest).first);
  replica.ended = now + max(time.first, time.time);
  ++steps_;
  Push(now + time.time, EventKind::kStepEnd, index);
}

bool EventLoop::Run(Count measured, const Done& done, Count most_steps) {
  while (measured > 0 && !events_.empty()) {
    if (steps_ > most_steps) return false;
    const Event event = events_.top();
    events_.pop();
    CountUntil(event.time);
    switch (event.kind) {
      case EventKind::kSent:
        ++in_system_;
        break;
      case EventKind::kReady:
        Route(event.time, event.index);
        break;
      case EventKind::kDone:
        --in_system_;
        if (requests_[event.index].is_measured) --measured;
        done(event.time, event.index);
        break;
      case EventKind::kStepEnd:
        EndStep(event.time, event.index);
        break;
      case EventKind::kWake:
        BeginStep(event.time, event.index);
    }
  }
  return true;
}

SimulationCounts EventLoop::counts() const {
  SimulationCounts counts;
  counts.end = now_;
  counts.requests_time = requests_time_;
  counts.steps = steps_;
  for (const Replica& replica : replicas_) {
    for (const Scheduler& group : replica.groups) {
      const GroupCounts& one = group.counts();
      GroupCounts& all = counts.groups;
      const bool is_first = all.preemptions == 0 || one.first_preemption < all.first_preemption;
      if (one.preemptions > 0 && is_first) all.first_preemption = one.first_preemption;
      all.preemptions += one.preemptions;
      all.most_held = max(all.most_held, one.most_held);
      for (std::size_t i = 0; i < kHeldBack; ++i) all.held_back[i] += one.held_back[i];
    }
  }
  return counts;
}

}  // namespace slipstick
