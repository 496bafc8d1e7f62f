// Idle contexts in the KV cache, by hand.
#include "core/serving/session_cache.h"

#include <gtest/gtest.h>

#include <cmath>

namespace slipstick {
namespace {

Seconds S(double seconds) { return Seconds::FromBase(seconds); }
Bytes B(double bytes) { return Bytes::FromBase(bytes); }
IdleContexts Contexts(double turns, double gap, double wait, double returning, double last) {
  return {Hertz::FromBase(turns), S(gap), S(wait), B(returning), B(last)};
}

// Turns with a system prompt of 100 tokens, 10 added and 5 answered: prompts of 110, 125 and 140 tokens, of which 0, 15
// and 30 come from earlier turns.
TEST(SessionCache, CountsTheTokensOfTurns) {
  const SessionTokens tokens = TokensOfTurns({3, 100, 0, 10, Seconds()}, 5);
  EXPECT_DOUBLE_EQ(tokens.prompt, 125);
  EXPECT_DOUBLE_EQ(tokens.earlier, 15);
  EXPECT_DOUBLE_EQ(HitRate(tokens, 1), 115.0 / 125);
  EXPECT_DOUBLE_EQ(HitRate(tokens, 0), 100.0 / 125);
}

// With an opening of 60 tokens per session: prompts of 170, 185 and 200, of which 0, 75 and 90 come from earlier turns.
TEST(SessionCache, FindsAnOpeningFromTheSecondTurnOn) {
  const SessionTokens tokens = TokensOfTurns({3, 100, 60, 10, Seconds()}, 5);
  EXPECT_DOUBLE_EQ(tokens.prompt, 185);
  EXPECT_DOUBLE_EQ(tokens.earlier, 55);
  EXPECT_DOUBLE_EQ(HitRate(tokens, 1), 155.0 / 185);
  EXPECT_DOUBLE_EQ(HitRate(tokens, 0), 100.0 / 185);
}

// Contexts whose session has ended stay until new ones fill the room: 100 bytes at 2 x 5 per second.
TEST(SessionCache, KeepsEndedSessionsForTheRoomOverTheRate) {
  EXPECT_NEAR(StayIn(B(100), Contexts(2, 10, 0, 0, 5)).base(), 10, 1e-9);
}

// One context of a byte arrives per second and returns after 10 s on average: 10 x (1 - exp(-T/10)) bytes are held.
TEST(SessionCache, FillsAsReturnsAreExponential) {
  const IdleContexts contexts = Contexts(1, 10, 0, 1, 0);
  const Seconds stay = StayIn(B(10 * (1 - std::exp(-0.7))), contexts);
  EXPECT_NEAR(stay.base(), 7, 1e-6);
  EXPECT_NEAR(ReturningWithin(stay, contexts), 1 - std::exp(-0.7), 1e-9);
  EXPECT_NEAR(UsefulWithin(stay, contexts).base(), 10 * (1 - std::exp(-0.7)), 1e-6);
  EXPECT_EQ(StayIn(B(10.5), contexts), kForever) << "ten are all that wait";
}

// The next turn first waits 3 s for admission: no context returns earlier, and all are held until then.
TEST(SessionCache, HoldsContextsOfTurnsThatWaitForTheirAdmission) {
  const IdleContexts contexts = Contexts(1, 10, 3, 1, 0);
  EXPECT_NEAR(StayIn(B(2), contexts).base(), 2, 1e-9);
  EXPECT_EQ(ReturningWithin(S(2), contexts), 0.0);
  EXPECT_NEAR(StayIn(B(3 + 10 * (1 - std::exp(-0.5))), contexts).base(), 8, 1e-6);
  EXPECT_NEAR(ReturningWithin(S(8), contexts), 1 - std::exp(-0.5), 1e-9);
}

TEST(SessionCache, FindsAllOrNoneWithoutAGap) {
  const IdleContexts contexts = Contexts(1, 0, 3, 1, 1);
  EXPECT_EQ(ReturningWithin(S(2), contexts), 0.0);
  EXPECT_EQ(ReturningWithin(S(4), contexts), 1.0);
}

}  // namespace
}  // namespace slipstick
