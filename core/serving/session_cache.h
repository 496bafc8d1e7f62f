// The contexts of idle sessions that a cache still holds: least recently used, by Che's approximation (Che, Tung and
// Wang, "Hierarchical Web Caching Systems", IEEE JSAC 2002). The formulas are plain; results keep their nodes.
//
// A context enters when its turn is answered and leaves when the next turn is admitted, or when others need the room.
// All contexts stay for the same time T, at which the mean bytes held equal the capacity:
//
//   capacity = turns/s * (returning * E[min(idle, T)] + last * T)
//
// The context of a last turn is never used again. The tiers form one list: the latest contexts are in device memory,
// older ones in host memory, then on SSD.
#pragma once

#include "core/base/quantity.h"
#include "core/engine_step/sessions.h"

namespace slipstick {

// Idle contexts of an attention group, in steady state; bytes per device.
struct IdleContexts {
  Hertz turns;
  Seconds gap;            // mean time between turns, exponential
  Seconds wait;           // until a turn is admitted
  Bytes returning, last;  // mean context left per turn: of a session that goes on, and of one that has ended
};

// How long an idle context stays in a cache of this capacity; at most kForever.
inline constexpr Seconds kForever = Seconds::FromBase(1e9);
Seconds StayIn(Bytes capacity, const IdleContexts& contexts);
// Share of the turns after the first that come before their context is evicted.
Ratio ReturningWithin(Seconds stay, const IdleContexts& contexts);
// Mean bytes held for sessions that will use them again.
Bytes UsefulWithin(Seconds stay, const IdleContexts& contexts);

// Mean tokens per turn.
struct SessionTokens {
  Ratio prompt;   // mean over all turns
  Ratio system;   // system prompt, found by every turn
  Ratio earlier;  // of earlier turns of the session, found if its context is still cached
};
SessionTokens TokensOfTurns(const Sessions& sessions, Ratio output);
// Prefix-cache hit rate: share of the prompt tokens.
Ratio HitRate(const SessionTokens& tokens, Ratio returning);

}  // namespace slipstick
