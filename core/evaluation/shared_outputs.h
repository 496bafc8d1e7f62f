// Outputs that several parts of a report have: intervals, choices, collectives, times by bound.
#pragma once

#include <tuple>

#include "core/base/output.h"
#include "core/collectives/collective.h"
#include "core/evaluation/intervals.h"
#include "core/operators/time_by_bound.h"
#include "core/search/chosen.h"

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

// Choices of a tuner, in training and serving.
template <>
struct Outputs<Chosen> {
  // Writes a word that is itself JSON, such as true, unchanged.
  static Json ValueOf(const Chosen& one) {
    if (one.word.empty()) return one.number;
    if (one.word == "true" || one.word == "false") return one.word == "true";
    return one.word;
  }
  static constexpr auto rows = std::tuple{
      Output("path", &Chosen::path, "Input"),
      Output("value", &ValueOf, "Chosen value"),
      Output("why", &Chosen::why, "Reason"),
  };
};

// The collectives of a training or serving report.
template <>
struct Outputs<CollectiveUse> {
  static constexpr auto rows = std::tuple{
      Output("group", &CollectiveUse::group, "Group of ranks"),
      Output("pattern", &CollectiveUse::pattern, "Pattern"),
      Output("ranks", &CollectiveUse::ranks, "Ranks"),
      Output("bytes", &CollectiveUse::bytes, "Message size"),
      Output("algorithm", &CollectiveUse::algorithm, "Algorithm"),
      Output("time_s", &CollectiveUse::time, "Time"),
      Output("level", &CollectiveUse::level, "Slowest network level"),
  };
};
template <>
struct Outputs<NetworkLevelTime> {
  static constexpr auto rows = std::tuple{
      Output("level", &NetworkLevelTime::level, "Network level"),
      Output("time_s", &NetworkLevelTime::time, "Communication-bound on a network level"),
  };
};

// A time by bound, for reports of training and serving.
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
