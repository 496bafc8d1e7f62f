// What a step does with its samples: forward passes that score them, and the updates of the training part.
#pragma once

#include <vector>

#include "core/post_training/rollout.h"
#include "core/training/training_report.h"

namespace slipstick {

struct Learning {
  Seconds pass;           // one forward pass over all samples
  Seconds training;       // of the policy, and of the critic where there is one
  Ratio updates = 1;      // of an epoch
  TrainingReport update;  // one of them
  Issues issues;          // the mapping does not divide the devices
};
Learning TimeLearning(const StepInputs& inputs, Ratio devices, const Samples& sampled);

}  // namespace slipstick
