// The learning part of a step: forward passes that score the samples, and the updates of the training part.
#pragma once

#include <vector>

#include "core/post_training/rollout.h"
#include "core/training/training_report.h"

namespace slipstick {

struct Learning {
  Seconds pass;           // one forward pass over all samples
  Seconds training;       // of the policy, and of the critic if there is one
  Ratio updates = 1;      // per epoch
  TrainingReport update;  // a single update
  Bytes weights;          // per device, those in host memory too
  Issues issues;          // set if the mapping does not divide the devices
};
Learning TimeLearning(const StepInputs& inputs, Ratio devices, const Samples& sampled);

}  // namespace slipstick
