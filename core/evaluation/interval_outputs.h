// The intervals of a report.
#pragma once

#include <tuple>

#include "core/base/output.h"
#include "core/evaluation/intervals.h"

namespace slipstick {

template <class Quantity>
struct Outputs<Interval<Quantity>> {
  using Owner = Interval<Quantity>;
  static constexpr auto rows = std::tuple{
      Output("low", &Owner::low, "Low end"),
      Output("high", &Owner::high, "High end"),
      Output("level", &Owner::level, "Level").In("%"),
      Output("rows", &Owner::rows, "Published runs most like this one"),
      Output("nearest", &Owner::nearest, "Nearest published run"),
      Output("why", &Owner::why, "What the interval says"),
  };
};

template <>
struct Outputs<TypicalRun> {
  using R = TypicalRun;
  static constexpr auto rows = std::tuple{
      Output("step_time_s", &R::step_time, "Step time, typical of production runs").SmallerIsBetter(),
      Output("tokens_per_s", &R::tokens_per_s, "Throughput (tokens/s), typical of production runs").LargerIsBetter(),
      Output("model_flops_utilization", &R::model_flops_utilization, "MFU, typical of production runs")
          .In("%")
          .LargerIsBetter(),
      Output("rows", &R::rows, "Published whole runs"),
      Output("why", &R::why, "What it says"),
  };
};

}  // namespace slipstick
