// The question about recorded requests: their rate, and the latency targets.
#pragma once

#include <optional>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/sizing/question.h"

namespace slipstick {

struct ReplayQuestion {
  double speed = 1;                      // factor on the trace's arrival rate
  std::optional<double> requests_per_s;  // mean arrival rate, replaces the trace's
  std::optional<Seconds> ttft, tpot;
  Percentile percentile = Percentile::k99;
};
FIELDS_OF(ReplayQuestion);

// `json` may have a member "request", which is ignored.
Result<ReplayQuestion> ReadReplayQuestion(Json json);

}  // namespace slipstick
