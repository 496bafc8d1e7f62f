// The question on recorded requests: how fast they come, and what users expect.
#pragma once

#include <optional>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/sizing/question.h"

namespace slipstick {

struct ReplayQuestion {
  double speed = 1;                      // of the arrivals, over that of the trace
  std::optional<double> requests_per_s;  // mean arrival rate, in place of the trace's
  std::optional<Seconds> ttft, tpot;
  Percentile percentile = Percentile::k99;
};
FIELDS_OF(ReplayQuestion);

// `json` may hold a member "request", which is not read.
Result<ReplayQuestion> ReadReplayQuestion(Json json);

}  // namespace slipstick
