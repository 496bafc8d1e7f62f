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

// As a load has them: equal ones joined, in ascending order, with weights of sum 1. Of one class, or none, none are
// left: all requests are alike.
std::vector<RequestClass> MixtureOf(const std::vector<RequestClass>& classes);
// Mean lengths as inputs of the scenario.
Json LengthsOf(const std::vector<RequestClass>& classes);

struct MeanLengths {
  double prompt = 0, output = 0;  // tokens of a request
};
MeanLengths MeanLengthsOf(const ServingLoad& load);

// Why a request for a scenario, or the scenario, whatever its lengths, cannot have the classes.
Issues CheckMixture(const Json& request);
Issues CheckClasses(const std::vector<RequestClass>& classes, const Scenario& scenario);

// What each class of the question sees and takes, in its order. `at_peak`: the load of the deployment there;
// `figures`: its report, for a question whose classes are all alike.
struct ClassesAtPeak {
  const Scenario& at_peak;
  const Json& figures;
  std::optional<Verdict> simulated;
  double mean_requests_per_s = 1;
  DollarsPerSecond cost;
};
Json ClassesAnswer(const SizeQuestion& question, const ClassesAtPeak& peak);

}  // namespace slipstick
