// Answers with their computing time.
#pragma once

#include <chrono>
#include <utility>

#include "core/scenario/answer.h"
#include "core/scenario/request.h"

namespace slipstick {

using Clock = std::chrono::steady_clock;

// The report as an answer, with the seconds since `start`.
inline Answer TimedAnswer(Json report, Clock::time_point start) {
  report["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
  return {JsonText(report), {}};
}
// An answer with the seconds since `start`, unless it has issues.
inline Answer Timed(Answer answer, Clock::time_point start) {
  return answer.issues.empty() ? TimedAnswer(*ParseJson(answer.text), start) : std::move(answer);
}

}  // namespace slipstick
