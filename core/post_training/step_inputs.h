// Inputs of a step: of post-training itself, and the numbers of other parts that its formulas use.
#pragma once

#include "core/post_training/post_training.h"

namespace slipstick {

struct StepInputs {
  PostTraining asked;
  PostTrainingParts parts;
  Ratio trained_models{}, frozen_models{}, swapped_trainings{};  // swapped: moved to host memory to wait for their turn
  // From serving.
  Ratio prompt{}, output{}, prefix_hit{}, attention_dp{}, replica_devices{};
  // From training. model_ranks: devices of a data-parallel rank; copy_devices: devices that hold one copy of the
  // weights; pack_tokens: tokens of a micro-batch.
  Ratio devices{}, global_batch{}, model_ranks{}, copy_devices{}, pack_tokens{};
  Ratio parameters{};
  BytesPerSecond host_bandwidth{};
  BytesPerSecond sync_rate{};  // rate at which a device of the engine receives weights
};
StepInputs InputsOf(const PostTraining& asked, const PostTrainingParts& parts);  // learning.cc

// The devices of a step; if colocated, both pools are all devices.
struct Pools {
  Ratio generation, training;
};

}  // namespace slipstick
