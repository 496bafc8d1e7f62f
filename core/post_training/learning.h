// What a step does with its samples: forward passes that score them, and the updates of the training part.
#pragma once

#include <vector>

#include "core/base/trace.h"
#include "core/post_training/post_training.h"
#include "core/post_training/rollout.h"
#include "core/training/training_report.h"

namespace slipstick {

struct Learning {
  Seconds pass;      // one forward pass over all samples
  Seconds training;  // of the policy, and of the critic where there is one
  double updates = 1;
  TrainingReport update;  // one of them
  Issues issues;          // the mapping does not divide the devices
};
Learning TimeLearning(const PostTraining& asked, const PostTrainingParts& parts, Count devices, const Samples& sampled,
                      Trace& trace);

// Devices that hold one copy of the weights.
Count DevicesPerCopy(const Model& model, const TrainingMapping& mapping);

}  // namespace slipstick
