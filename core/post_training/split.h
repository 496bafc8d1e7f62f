// A step on a given split of the devices, and all possible splits.
#pragma once

#include <vector>

#include "core/post_training/hand_over.h"
#include "core/post_training/learning.h"
#include "core/post_training/rollout.h"

namespace slipstick {

struct SplitStep {
  DeviceSplit split;
  Rollouts rollouts;
  Learning learning;
  HandOver hand_over;
  PostTrainingTime time;
  Seconds learned;  // scoring, training and swapping
};
SplitStep StepOn(const StepInputs& inputs, const Samples& sampled, const Pools& pools);

// Every way to assign whole replicas to generation and whole copies of the training mapping to training.
std::vector<DeviceSplit> SplitsOf(const TrainingRun& training, const ServingLoad& serving, Count devices);

// The fastest split that fits, and the splits that were compared, by generation devices.
struct BestSplit {
  DeviceSplit best;
  std::vector<DeviceSplit> compared;
};
BestSplit FindBestSplit(const StepInputs& inputs, const Samples& sampled, const std::vector<DeviceSplit>& splits);

}  // namespace slipstick
