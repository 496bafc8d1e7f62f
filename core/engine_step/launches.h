// What the host launches per layer of a pass, and the gaps that this leaves between kernels.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

struct LayerKernels {
  Ratio halves = 2;            // residual additions, each after an all-reduce
  Ratio elementwise = 0;       // norms, residual, activation
  bool reduces_apart = false;  // an all-reduce is a launch of its own
};

struct LayerLaunches {
  Ratio operations = 0;  // launched by the host, mean over the layers
  Seconds gaps;          // between kernels
};

// A prefill of few enough tokens replays graphs of what lies between two layers' token mixing, if the engine captures
// such pieces.
LayerLaunches LaunchesOf(const Deployment& deployment, Ratio rows, Phase phase, const LayerKernels& kernels);

}  // namespace slipstick
