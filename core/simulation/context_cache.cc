#include "core/simulation/context_cache.h"

#include "core/base/units.h"

namespace slipstick {

FoundContext ContextCache::Find(Count session) const {
  const auto found = contexts_.find(session);
  if (found == contexts_.end()) return {};
  const Context& context = found->second;
  return {context.tokens[kDevice], context.tokens[kHost], context.tokens[kSsd], context.token};
}

void ContextCache::Drop(Count session) {
  const auto found = contexts_.find(session);
  if (found == contexts_.end()) return;
  const Context& context = found->second;
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    held_[tier] -= context.tokens[tier] * context.token;
    by_use_[tier].erase({context.order, session});
  }
  contexts_.erase(found);
}

void ContextCache::Keep(Count session, Count tokens) {
  Drop(session);
  const Count own = tokens - memory_.system;
  if (own <= 0) return;
  Context& context = contexts_[session];
  context.order = ++uses_;
  context.token = own_bytes_(tokens) / static_cast<double>(own);
  context.tokens[kDevice] = static_cast<double>(own);
  held_[kDevice] += static_cast<double>(own) * context.token;
  by_use_[kDevice].insert({context.order, session});
}

// Moves tokens from a tier to the next lower one, or out of the lowest.
void ContextCache::Move(Count session, Context& context, std::size_t tier, double tokens) {
  context.tokens[tier] -= tokens;
  held_[tier] -= tokens * context.token;
  if (!(context.tokens[tier] > 0)) by_use_[tier].erase({context.order, session});
  if (tier + 1 < kTiers) {
    context.tokens[tier + 1] += tokens;
    held_[tier + 1] += tokens * context.token;
    by_use_[tier + 1].insert({context.order, session});
  } else if (!(context.tokens[kDevice] + context.tokens[kHost] + context.tokens[kSsd] > 0)) {
    contexts_.erase(session);
  }
}

void ContextCache::FitInto(Bytes device) {
  const std::array<Bytes, kTiers> room{max(Bytes{}, device), memory_.host, memory_.ssd};
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    const bool is_there = room[tier] > Bytes{};
    const Bytes rounding = 1 * kB;
    while (!by_use_[tier].empty() && (!is_there || held_[tier] > room[tier] + rounding)) {
      const Count session = by_use_[tier].begin()->second;
      Context& context = contexts_.at(session);
      const double all = context.tokens[tier];
      const bool gives_part = is_there && all * context.token > held_[tier] - room[tier];
      Move(session, context, tier, gives_part ? double{(held_[tier] - room[tier]) / context.token} : all);
    }
  }
}

}  // namespace slipstick
