// A day in parts of equal length, and the deployment's state in each part.
#pragma once

#include <vector>

#include "core/sizing/deployment_search.h"
#include "core/sizing/question.h"

namespace slipstick {

// The peak rate over the mean rate: of the day, or as stated in the question.
double PeakOverMean(const SizeQuestion& question);

// Rate in each part of the question's day.
std::vector<double> RatesOf(const SizeQuestion& question, double mean_requests_per_s);

struct PartOfDay {
  double requests_per_s = 0;
  double utilization = 0;    // of the working replicas
  Count needed_devices = 0;  // devices that meet the targets, including the spare replicas
};
// One entry per rate in the question's day.
std::vector<PartOfDay> DayOf(const SizingProblem& problem, const SizedDeployment& sized, const SizeQuestion& question,
                             double mean_requests_per_s);

}  // namespace slipstick
