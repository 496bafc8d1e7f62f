// The update of the trained weights at the end of a step, by the device or by its host.
#pragma once

#include "core/training_stage/context.h"

namespace slipstick {

// Trained parameters of a stage on one device, and the ranks that share their optimizer state.
struct TrainedParameters {
  double dense = 0, experts = 0;
  double dense_shards = 1, expert_shards = 1;
  [[nodiscard]] double OfShard() const { return dense / dense_shards + experts / expert_shards; }
};

struct UpdateTime {
  Seconds accumulation;  // adding 16-bit gradients into their fp32 copy, all micro-batches
  Seconds optimizer;     // update of the rank's shard, gradient norm, zeroing of gradients
};
UpdateTime UpdateWeights(const TrainingContext& context, const TrainedParameters& trained, Trace& trace);

// On the host link, the part of it that nothing hides, and an update by the host.
struct HostTime {
  Seconds link, exposed, update;
};
// Optimizer state in host memory: streamed through the device for its update, or updated by the host.
HostTime UpdateOffloaded(const TrainingContext& context, const TrainedParameters& trained, Seconds device_update,
                         Trace& trace);

}  // namespace slipstick
