// The classes of requests of a sizing question.
#pragma once

#include <optional>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/scenario/scenario.h"
#include "core/sizing/question.h"
#include "core/sizing/replica_judge.h"

namespace slipstick {

// Classes as a load needs them: classes with equal lengths joined, in ascending order, with weights of sum 1. Empty if
// one class or none is left: all requests are then alike.
std::vector<RequestClass> MixtureOf(const std::vector<RequestClass>& classes);
// Mean lengths as inputs of the scenario.
Json LengthsOf(const std::vector<RequestClass>& classes);

struct MeanLengths {
  double prompt = 0, output = 0;  // tokens per request
};
MeanLengths MeanLengthsOf(const ServingLoad& load);

// The reasons why a request for a scenario, or the scenario, cannot have these classes, whatever their lengths.
Issues CheckMixture(const Json& request);
Issues CheckClasses(const std::vector<RequestClass>& classes, const Scenario& scenario);

// Latencies and use of each class of the question, in its order. `at_peak`: the load of the deployment there;
// `figures`: its report, for a question whose classes are all alike.
struct ClassesAtPeak {
  const Scenario& at_peak;
  const Json& figures;
  std::optional<Verdict> simulated;
  double mean_requests_per_s = 1;
  DollarsPerSecond cost;
  ByPass<double> cost_of_pass{1, 1};  // shares of the devices that prefill and of those that decode; one pool does both
};
Json ClassesAnswer(const SizeQuestion& question, const ClassesAtPeak& peak);

}  // namespace slipstick
