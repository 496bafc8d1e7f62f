#include "core/simulation/session_users.h"

#include <cmath>

#include "core/simulation/lengths.h"

namespace slipstick {
namespace {

// Turns per session before any is counted. A context that would only be evicted after more turns is used again before
// that with a probability of 1 - exp(-4).
constexpr Count kWarmTurns = 4;

}  // namespace

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

}  // namespace slipstick
