// How far a deployment is from the limits of its question, at the peak and in each part of the day.
#pragma once

#include <string_view>
#include <vector>

#include "core/sizing/deployment_search.h"
#include "core/sizing/question.h"

namespace slipstick {

struct Headroom {
  double requests_per_s = 0;      // the highest rate within the targets
  std::string_view breaks_first;  // what fails first beyond that rate: "rate", "ttft", "tpot"
  Count needed_at_peak = 1;       // working replicas
  Count needed_at_mean = 1;
  double utilization_at_peak = 0, utilization_at_mean = 0;  // of the working replicas
};
// `mean_requests_per_s` must be at most the problem's rate, which is the peak.
Headroom HeadroomOf(const SizingProblem& problem, const SizedDeployment& sized, double mean_requests_per_s);

// The deployment in each part of the question's day.
struct PartOfDay {
  double requests_per_s = 0;
  double utilization = 0;    // of the working replicas
  Count needed_devices = 0;  // devices that meet the targets, including the spare replicas
};
// One entry per rate in the question's day.
std::vector<PartOfDay> DayOf(const SizingProblem& problem, const SizedDeployment& sized, const SizeQuestion& question,
                             double mean_requests_per_s);

}  // namespace slipstick
