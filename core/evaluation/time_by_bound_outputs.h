// A time by what bounds it, as reports of training and serving write it.
#pragma once

#include <tuple>

#include "core/base/output.h"
#include "core/operators/time_by_bound.h"

namespace slipstick {

template <>
struct Outputs<TimeByBound> {
  static constexpr auto rows = std::tuple{
      Output("compute", &TimeByBound::compute, "Compute-bound"),
      Output("l1", &TimeByBound::l1, "Bound by L1, shared memory or the intake of the SMs"),
      Output("l2", &TimeByBound::l2, "Bound by the L2 cache"),
      Output("memory", &TimeByBound::memory, "Memory-bandwidth-bound"),
      Output("network", &TimeByBound::network, "Communication-bound"),
      Output("latency", &TimeByBound::latency, "Latency-bound"),
      Output("bubble", &TimeByBound::bubble, "Pipeline bubble"),
  };
};

}  // namespace slipstick
