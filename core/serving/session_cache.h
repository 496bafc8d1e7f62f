// Which contexts of idle sessions a cache still holds: least recently used by Che's approximation (Che, Tung and Wang,
// "Hierarchical Web Caching Systems", IEEE JSAC 2002). Plain formulas of numbers that remember.
//
// A context enters when its turn is answered and leaves when the next turn is admitted, or when others need the room.
// All of them stay as long, a time T at which the mean bytes held are the capacity:
//
//   capacity = turns/s * (returning * E[min(idle, T)] + last * T)
//
// The context of a last turn never comes back. The tiers are one list: the latest are in device memory, older ones in
// host memory, then on SSD.
#pragma once

#include "core/base/quantity.h"
#include "core/engine_step/sessions.h"

namespace slipstick {

// Of an attention group, in steady state; bytes per device.
struct IdleContexts {
  Hertz turns;
  Seconds gap;            // mean, exponential
  Seconds wait;           // of a turn, until it is admitted
  Bytes returning, last;  // that a mean turn leaves: of a session that goes on, and of one that has ended
};

// How long an idle context stays in so much memory; at most kForever.
inline constexpr Seconds kForever = Seconds::FromBase(1e9);
Seconds StayIn(Bytes capacity, const IdleContexts& contexts);
// Share of the turns after the first that come before their context is gone.
Ratio ReturningWithin(Seconds stay, const IdleContexts& contexts);
// Mean bytes that a session waits with and comes back for.
Bytes UsefulWithin(Seconds stay, const IdleContexts& contexts);

// Tokens of a mean turn.
struct SessionTokens {
  Ratio prompt;   // of all turns
  Ratio system;   // found by each
  Ratio earlier;  // turns of the same session, found by those whose context is there
};
SessionTokens TokensOfTurns(const Sessions& sessions, Ratio output);
// Share of the prompt tokens that is found.
Ratio HitRate(const SessionTokens& tokens, Ratio returning);

}  // namespace slipstick
