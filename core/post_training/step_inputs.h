// What a step rests on: what is asked, and of the other parts the numbers that its formulas name.
#pragma once

#include "core/post_training/post_training.h"

namespace slipstick {

struct StepInputs {
  PostTraining asked;
  PostTrainingParts parts;
  // Serving.
  Ratio prompt{}, output{}, prefix_hit{}, attention_dp{}, replica_devices{};
  // Training. model_ranks: devices of a data-parallel rank; copy_devices: those that hold one copy of the weights;
  // pack_tokens: tokens of a micro-batch.
  Ratio devices{}, global_batch{}, model_ranks{}, copy_devices{}, pack_tokens{};
  Ratio parameters{};
  BytesPerSecond host_bandwidth{};
  BytesPerSecond sync_rate{};  // at which a device of the engine takes weights
};
StepInputs InputsOf(const PostTraining& asked, const PostTrainingParts& parts);  // learning.cc

// The devices of a step; colocated, all of them twice.
struct Pools {
  Ratio generation, training;
};

}  // namespace slipstick
