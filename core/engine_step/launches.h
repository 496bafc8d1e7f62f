// Operations that the host launches per layer of a pass, and the resulting gaps between kernels.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

struct LayerKernels {
  Ratio halves = 2;            // residual additions, each after an all-reduce
  Ratio elementwise = 0;       // norms, residual, activation
  bool reduces_apart = false;  // an all-reduce is a separate launch
};

struct LayerLaunches {
  Ratio operations = 0;  // launched by the host, mean over the layers
  Seconds gaps;          // between kernels
};

// A prefill of few tokens replays piecewise graphs of everything between the token mixing of two layers, if the engine
// captures such graphs.
LayerLaunches LaunchesOf(const Deployment& deployment, Ratio rows, Phase phase, const LayerKernels& kernels);

}  // namespace slipstick
