// Users who send the turns of sessions: each waits for the answer and a gap, and then sends the whole conversation with
// an addition.
#pragma once

#include <vector>

#include "core/engine_step/serving_load.h"
#include "core/simulation/event_loop.h"
#include "core/simulation/random.h"

namespace slipstick {

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

}  // namespace slipstick
