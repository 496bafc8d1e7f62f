#include "core/simulation/scheduler.h"

#include <algorithm>
#include <limits>

namespace slipstick {

// Memory that a request holds without its shared blocks, plus the part of its future output that admission reserves.
Bytes Scheduler::Charge(const SimulatedRequest& request) const {
  const double coming = static_cast<double>(request.output - request.generated);
  const Bytes all = room_.bytes_of(request.prompt + request.generated + static_cast<Count>(rules_.reserved * coming));
  return blocks_ ? max(Bytes{}, all - static_cast<double>(request.used_blocks) * room_.blocks->bytes) : all;
}

Bytes Scheduler::Held() const {
  return blocks_ ? charged_ + static_cast<double>(blocks_->used()) * room_.blocks->bytes : charged_;
}

bool Scheduler::CanAdmit(std::size_t request) const {
  if (static_cast<double>(Running()) >= rules_.max_sequences) return false;
  // A single request always runs: there is no other to wait for.
  const Bytes needed = Held() + Charge(At(request));
  if (Running() == 0 || needed <= room_.room) return true;
  if (!blocks_) return false;
  if (shared_.request != request || shared_.version != blocks_->version())
    shared_ = {request, blocks_->version(), blocks_->FindUsed(At(request).blocks)};
  return needed - static_cast<double>(shared_.blocks) * room_.blocks->bytes <= room_.room;
}

Count Scheduler::PartOf(const SimulatedRequest& request, double budget) const {
  const Count left = request.to_prefill - request.prefilled;
  if (static_cast<double>(left) <= budget) return left;
  if (rules_.splits_prompts) return max(0.0, budget) >= 1 ? static_cast<Count>(budget) : 0;
  // A prompt longer than any step gets a step of its own.
  return parts_.empty() && budget >= rules_.step_tokens ? left : 0;
}

bool Scheduler::CanPrefill(Seconds seen) const {
  if (std::any_of(prefilling_.begin(), prefilling_.end(), [&](std::size_t one) { return At(one).ready <= seen; }))
    return true;
  return !waiting_.empty() && At(waiting_.front()).ready <= seen && CanAdmit(waiting_.front());
}

void Scheduler::Preempt(Seconds now) {
  while (Held() > room_.room && Running() > 1) {
    std::vector<std::size_t>& latest = prefilling_.empty() ? decoding_ : prefilling_;
    const std::size_t victim = latest.back();
    latest.pop_back();
    SimulatedRequest& request = At(victim);
    charged_ -= Charge(request);
    request.to_prefill = blocks_ ? 0 : request.prompt + request.generated - request.cached;  // 0: looks up again
    request.prefilled = 0;
    ReleaseBlocks(request);
    waiting_.push_front(victim);
    if (counts_.preemptions++ == 0) counts_.first_preemption = now;
  }
}

// Whether prompts that have arrived wait for more to come.
bool Scheduler::IsCollecting(Seconds seen) {
  if (rules_.collect_steps == 0 || !prefilling_.empty() || decoding_.empty() || !CanPrefill(seen)) return false;
  double tokens = 0;
  for (const std::size_t request : waiting_) {
    if (At(request).ready <= seen) tokens += static_cast<double>(At(request).prompt - At(request).cached);
  }
  if (tokens >= rules_.collect_tokens || collected_steps_ >= rules_.collect_steps) {
    collected_steps_ = 0;
    return false;
  }
  ++collected_steps_;
  return true;
}

void Scheduler::LookUp(SimulatedRequest& request) const {
  if (blocks_) {
    const FoundBlocks found = blocks_->Find(request.blocks);
    const auto tokens = static_cast<double>(room_.blocks->tokens);
    request.found = {tokens * static_cast<double>(found.device), tokens * static_cast<double>(found.host),
                     tokens * static_cast<double>(found.ssd), room_.blocks->bytes / tokens};
    request.cached = std::min(request.prompt - 1, found.All() * room_.blocks->tokens);
  }
  if (!contexts_ || request.session < 0) return;
  request.found = contexts_->Find(request.session);
  const double tokens = static_cast<double>(room_.contexts->system) + request.found.All();
  request.cached = std::min({request.prompt - 1, request.reusable, static_cast<Count>(tokens)});
}

void Scheduler::TakeFound(Seconds now, SimulatedRequest& request) {
  const Bytes host = request.found.host * request.found.token, ssd = request.found.ssd * request.found.token;
  if (contexts_) contexts_->Drop(request.session);
  if (!rules_.load_apart) {
    from_host_ += host;
    from_ssd_ += ssd;
  } else if (host + ssd > Bytes{}) {
    request.ready = link_free_ = max(now, link_free_) + rules_.load_apart(host, ssd);
  }
}

void Scheduler::PlanPrefills(Seconds now, Seconds seen, double budget) {
  const auto take = [&](std::size_t request, Count tokens) {
    parts_.push_back({request, tokens});
    budget -= static_cast<double>(tokens);
  };
  bool is_full = false;
  for (const std::size_t request : prefilling_) {
    if (At(request).ready > now) continue;
    const Count tokens = PartOf(At(request), budget);
    if (tokens == 0) {
      is_full = true;
      break;
    }
    take(request, tokens);
  }
  while (!waiting_.empty() && !is_full) {
    const std::size_t request = waiting_.front();
    SimulatedRequest& next = At(request);
    if (next.ready > seen || !CanAdmit(request)) break;
    const bool is_new = next.to_prefill == 0;
    if (is_new) {
      LookUp(next);
      next.to_prefill = next.prompt + next.generated - next.cached;
    }
    const Count tokens = PartOf(next, budget);
    if (tokens == 0) {
      if (is_new) next.to_prefill = 0;
      break;
    }
    if (is_new && (blocks_ || (contexts_ && next.session >= 0))) TakeFound(now, next);
    if (next.hit < 0) next.hit = next.cached;
    if (next.generated == 0) next.admitted = now;
    waiting_.pop_front();
    prefilling_.push_back(request);
    charged_ += Charge(next);
    Publish(next);
    if (next.ready <= now) take(request, tokens);
  }
  if (waiting_.empty() || At(waiting_.front()).ready > seen) return;
  const HeldBack why = CanAdmit(waiting_.front())                              ? HeldBack::kStepTokens
                       : static_cast<double>(Running()) < rules_.max_sequences ? HeldBack::kMemory
                                                                               : HeldBack::kSequences;
  ++counts_.held_back[static_cast<std::size_t>(why)];
}

// Makes the whole blocks of the prompt available to others; they are then no longer the request's own.
void Scheduler::Publish(SimulatedRequest& request) {
  if (!blocks_) return;
  const Count known = std::min(request.prompt, request.cached + request.prefilled);
  const Count whole = std::min(static_cast<Count>(request.blocks.size()), known / room_.blocks->tokens);
  charged_ -= Charge(request);
  for (; request.used_blocks < whole; ++request.used_blocks)
    blocks_->Use(request.blocks[static_cast<std::size_t>(request.used_blocks)]);
  charged_ += Charge(request);
}

void Scheduler::ReleaseBlocks(SimulatedRequest& request) {
  if (!blocks_) return;
  blocks_->Release(request.blocks.first(static_cast<std::size_t>(request.used_blocks)));
  request.used_blocks = 0;
}

// Evicts unused blocks or contexts until the rest fits into `room`.
void Scheduler::KeepIdleIn(Bytes room) {
  if (contexts_) contexts_->FitInto(room);
  const auto whole = [this](Bytes bytes) { return static_cast<Count>(max(Bytes{}, bytes) / room_.blocks->bytes); };
  if (blocks_) blocks_->KeepIdle(whole(room), whole(room_.blocks->host), whole(room_.blocks->ssd));
}

StepWork Scheduler::Work() const {
  StepWork work;
  work.decoded = static_cast<double>(decoded_.size());
  work.running = static_cast<double>(decoding_.size());
  for (const std::size_t request : decoded_)
    work.context += static_cast<double>(At(request).prompt + At(request).generated);
  if (work.decoded > 0) work.context /= work.decoded;
  work.from_host = from_host_;
  work.from_ssd = from_ssd_;
  work.prompts = static_cast<double>(parts_.size());
  if (work.prompts <= 0) return work;
  double tokens = 0, scores = 0;  // attention reads the tokens before a part and, on average, half of the part
  for (const Part& part : parts_) {
    const SimulatedRequest& request = At(part.request);
    const auto own = static_cast<double>(part.tokens), before = static_cast<double>(request.cached + request.prefilled);
    tokens += own;
    scores += own * (before + own / 2);
  }
  work.tokens = tokens / work.prompts;
  work.cached = max(0.0, scores / tokens - work.tokens / 2);
  return work;
}

StepWork Scheduler::Plan(Seconds now, Seconds seen, bool decodes) {
  parts_.clear();
  decoded_.clear();
  from_host_ = from_ssd_ = Bytes{};
  Preempt(now);
  const bool prefills = !IsCollecting(seen) && (!rules_.prefills_first || CanPrefill(seen));
  if (decodes && !(rules_.prefills_first && prefills)) {
    for (const std::size_t request : decoding_) {
      if (At(request).ready <= now) decoded_.push_back(request);
    }
  }
  if (prefills) PlanPrefills(now, seen, rules_.step_tokens);
  KeepIdleIn(room_.room - Held());
  counts_.most_held = max(counts_.most_held, Held());
  return Work();
}

void Scheduler::Finish(Seconds end, Seconds first, std::vector<std::size_t>& done) {
  const std::size_t before = done.size();
  for (const std::size_t request : decoded_) {
    SimulatedRequest& one = At(request);
    charged_ -= Charge(one);
    ++one.generated;
    if (one.generated >= one.output) {
      one.last = end;
      done.push_back(request);
    } else {
      charged_ += Charge(one);
    }
  }
  for (const Part& part : parts_) {
    SimulatedRequest& one = At(part.request);
    one.prefilled += part.tokens;
    Publish(one);
    if (one.prefilled < one.to_prefill) continue;
    charged_ -= Charge(one);
    if (one.generated == 0) one.first = first;
    ++one.generated;
    one.ready = first;
    if (one.generated >= one.output) {
      one.last = first;
      done.push_back(part.request);
    } else {
      charged_ += Charge(one);
      decoding_.push_back(part.request);
    }
  }
  const auto is_done = [&](std::size_t request) { return At(request).generated >= At(request).output; };
  std::erase_if(decoding_, is_done);
  std::erase_if(prefilling_, [&](std::size_t request) { return At(request).prefilled >= At(request).to_prefill; });
  for (std::size_t i = before; i < done.size(); ++i) {
    SimulatedRequest& one = At(done[i]);
    ReleaseBlocks(one);
    if (contexts_ && one.session >= 0) contexts_->Keep(one.session, one.prompt + one.output);
  }
  KeepIdleIn(room_.room - Held());
}

Seconds Scheduler::NextReady(Seconds now) const {
  Seconds next = Seconds::FromBase(std::numeric_limits<double>::infinity());
  for (const std::vector<std::size_t>* running : {&prefilling_, &decoding_}) {
    for (const std::size_t request : *running) {
      if (At(request).ready > now) next = min(next, At(request).ready);
    }
  }
  return next;
}

}  // namespace slipstick
