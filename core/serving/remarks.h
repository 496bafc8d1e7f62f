// Remarks of a report: number formats that replace the requested ones, and inputs that were assumed.
#pragma once

#include <string>
#include <vector>

#include "core/engine_step/deployment.h"

namespace slipstick {

// Why engines refuse to split the experts so; empty if they do not: fp8 checkpoints have a scale per block of weights.
std::string CutExperts(const Deployment& deployment);
// One sentence per requested number format that the devices or the engine do not compute in.
std::vector<std::string> SubstitutionsOf(const Deployment& deployment);
// Paths of the inputs in use that were set by a rule, not a measurement.
std::vector<std::string> AssumedInputs(const Deployment& deployment);

}  // namespace slipstick
