// What a report says beside its figures: what was computed in place of what was asked, and what no measurement set.
#pragma once

#include <string>
#include <vector>

#include "core/serving/deployment.h"

namespace slipstick {

// Number formats that a load asks for and its devices or its engine do not compute in, each in a sentence.
std::vector<std::string> SubstitutionsOf(const Deployment& d);
// Paths of inputs that the figures use and a rule set, not a measurement.
std::vector<std::string> AssumedInputs(const Deployment& d);

}  // namespace slipstick
