// Properties of the requests of a trace that do not depend on the server.
#pragma once

#include "core/replay/question.h"
#include "core/simulation/request_trace.h"

namespace slipstick {

struct TraceLengths {
  double mean = 0;  // tokens
  Count p50 = 0, p90 = 0, p99 = 0, longest = 0;
};

struct TraceSummary {
  Count requests = 0, sessions = 0;
  Seconds span;               // from the first arrival to the last known one
  double requests_per_s = 0;  // 0: all come at once
  TraceLengths prompt, output;
  double prompt_tokens_per_s = 0, output_tokens_per_s = 0;
  Count block = 0;           // tokens of a block of hash_ids; 0: no request has any
  double best_hit_rate = 0;  // of the prompt tokens, if a single memory kept everything
};
TraceSummary SummaryOf(const RequestTrace& trace);

// Sets each request's arrival: the trace's, scaled; if it has no times or
// equal ones, random at a given rate, or all at once.
void SetArrivals(RequestTrace& trace, const ReplayQuestion& question);

}  // namespace slipstick
