// Users who send the turns of sessions: each waits for the answer and a gap, and sends all that was said with his next
// addition.
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

  // Turns that fill the cache, with so many sessions.
  static double WarmTurns(double sessions);
  // So many sessions at once; each that ends is followed by another.
  void Close(Count sessions);
  // Turns of sessions that arrive at random.
  void Open(double turns_per_s);
  void Done(Seconds now, std::size_t request);
  // Turns to simulate, with those that fill the cache and do not count.
  [[nodiscard]] Count ToSimulate() const { return warming_up_ + load_.simulate->requests; }
  // Those that count: a stretch of time as long as they took.
  [[nodiscard]] const std::vector<std::size_t>& counted() const { return counted_; }

 private:
  // In the middle of a session, so that all are at different turns.
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
