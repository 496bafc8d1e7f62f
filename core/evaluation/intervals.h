// Intervals of the headline figures: each would hold nine of ten measurements of a system like this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diffusion/diffusion.h"
#include "core/economics/cost.h"
#include "core/evidence/neighbors.h"
#include "core/scenario/scenario.h"
#include "core/serving/serving.h"
#include "core/training/training_report.h"

namespace slipstick {

template <class Quantity>
struct Interval {
  Quantity low{}, high{};
  double level = 0;                    // share of measurements inside the interval
  std::vector<std::string_view> rows;  // ids of the published runs most like this one
  std::string_view nearest;            // the first of them
  std::string why;
};

// The step time that whole production runs reach.
struct TypicalRun {
  Seconds step_time;
  TokensPerSecond tokens_per_s;
  Ratio model_flops_utilization = 0;
  std::vector<std::string_view> rows;
  std::string why;
};

struct TrainingIntervals {
  Interval<Seconds> step_time;
  Interval<Bytes> memory;
  std::string_view memory_verdict;  // "fits", "tight", "may_not_fit" or "does_not_fit"
  std::string memory_warning;  // of the two middle verdicts, if the interval contains the capacity; otherwise empty
  TypicalRun typical;
};
TrainingIntervals IntervalsOf(const Scenario& scenario, const TrainingReport& report, Tape* tape);

struct ServingIntervals {
  Interval<Seconds> tpot, ttft;
  Interval<TokensPerSecond> throughput;
  Interval<Bytes> memory;
};
ServingIntervals IntervalsOf(const Scenario& scenario, const ServingReport& report);

struct DiffusionIntervals {
  Interval<Seconds> latency;
  Interval<Ratio> items_per_hour;
  std::optional<Interval<Dollars>> cost;  // per image or clip, from its time; absent without a price
};
DiffusionIntervals IntervalsOf(const Scenario& scenario, const DiffusionReport& report,
                               const std::optional<Dollars>& price);

// Monte Carlo over the uncertain inputs of cost.
Interval<Dollars> DeviceCostInterval(const Scenario& scenario, const CostReport& report);

}  // namespace slipstick
