// Draws the length of a prompt or an output.
#pragma once

#include "core/engine_step/request_stream.h"
#include "core/simulation/random.h"

namespace slipstick {

// Draws whole tokens, at least one. `mean`: for every kind but quantiles.
Count DrawLength(const LengthDistribution& distribution, double mean, Random& random);
// The quantile of the length at `share`, not rounded to whole tokens; above 0 and below 1.
double LengthAtShare(const LengthDistribution& distribution, double mean, double share);
// Time between two arrivals over its mean.
double DrawGap(const Arrivals& arrivals, Random& random);

}  // namespace slipstick
