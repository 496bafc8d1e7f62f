// The queue while a trace was played: how many requests waited, and since when the queue only grew.
#pragma once

#include <optional>
#include <vector>

#include "core/simulation/event_loop.h"

namespace slipstick {

// Means over a time interval.
struct TraceMoment {
  Seconds from;
  double arrivals_per_s = 0, waiting = 0, running = 0;  // requests
};

struct TraceQueue {
  // The arrival of the first request from which on all requests wait longer than one of mean length runs that meets few
  // others, if these are more requests than run at once on average.
  std::optional<Seconds> grows_from;
  std::vector<TraceMoment> moments;  // of equal length
};

// All requests must be done.
TraceQueue QueueOf(const std::vector<SimulatedRequest>& requests, const SimulatedSystem& system);

}  // namespace slipstick
