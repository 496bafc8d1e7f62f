#include "core/sizing/day.h"

#include <algorithm>
#include <numeric>

namespace slipstick {
namespace {

double MeanOf(const std::vector<double>& rates) {
  return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

}  // namespace

double PeakOverMean(const SizeQuestion& question) {
  if (question.day.empty()) return question.peak_over_mean;
  return *std::max_element(question.day.begin(), question.day.end()) / MeanOf(question.day);
}

std::vector<double> RatesOf(const SizeQuestion& question, double mean_requests_per_s) {
  std::vector<double> rates;
  for (const double relative : question.day) rates.push_back(mean_requests_per_s * relative / MeanOf(question.day));
  return rates;
}

std::vector<PartOfDay> DayOf(const SizingProblem& problem, const SizedDeployment& sized, const SizeQuestion& question,
                             double mean_requests_per_s) {
  ReplicaJudge judge(problem.scenario, problem.purchases, problem.targets);
  judge.Choose(sized.choice);
  std::vector<PartOfDay> day;
  for (const double rate : RatesOf(question, mean_requests_per_s)) {
    const Count needed = rate > 0 ? judge.FewestReplicas(sized.bought, sized.needed, rate) : 0;
    const double utilization = rate > 0 ? judge.Judge(sized.bought, sized.working, rate).utilization : 0;
    day.push_back({rate, utilization, (needed + problem.spare_replicas) * sized.devices_per_replica});
  }
  return day;
}

}  // namespace slipstick
