// How the queue of a played trace went: who waited, and from when on it only grew.
#pragma once

#include <optional>
#include <vector>

#include "core/simulation/event_loop.h"

namespace slipstick {

// Means over a stretch of time.
struct TraceMoment {
  Seconds from;
  double arrivals_per_s = 0, waiting = 0, running = 0;  // requests
};

struct TraceQueue {
  // The arrival of the first request from which on every one waits longer than the mean request takes once it runs, if
  // these are more than run at once in the mean.
  std::optional<Seconds> grows_from;
  std::vector<TraceMoment> moments;  // of equal length
};

// Of requests that are all done.
TraceQueue QueueOf(const std::vector<SimulatedRequest>& requests, const SimulatedSystem& system);

}  // namespace slipstick
