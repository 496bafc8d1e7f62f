// A day in parts of equal length, and what a deployment does in each.
#pragma once

#include <vector>

#include "core/sizing/deployment_search.h"
#include "core/sizing/question.h"

namespace slipstick {

// The highest rate over the mean: of the day, or the question's own.
double PeakOverMean(const SizeQuestion& question);

struct PartOfDay {
  double requests_per_s = 0;
  double utilization = 0;    // of the working replicas
  Count needed_devices = 0;  // within the targets, with the spare replicas
};
// As the question's rates go.
std::vector<PartOfDay> DayOf(const SizingProblem& problem, const SizedDeployment& sized, const SizeQuestion& question,
                             double mean_requests_per_s);

}  // namespace slipstick
