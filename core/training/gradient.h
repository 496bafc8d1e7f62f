// The end of a step: gradients are reduced over the data-parallel ranks, weights are updated and gathered.
#pragma once

#include <optional>
#include <vector>

#include "core/base/quantity.h"
#include "core/training_stage/context.h"
#include "core/training_stage/held_weights.h"
#include "core/training_stage/stage.h"
#include "core/training_stage/stage_time.h"
#include "core/training_stage/training_run.h"

namespace slipstick {

struct GradientExchange {
  Seconds link, exposed;
  Seconds accumulation;             // adding 16-bit gradients into their fp32 copy, all micro-batches
  Seconds host_link, host_exposed;  // offloaded optimizer state, both directions at once
  Seconds optimizer;                // update of the rank's shard, gradient norm, zeroing of gradients
};
// The stage whose passes hide the reduction: the first stage, whose backward pass is the last of a step. With several
// chunks or postponed weight gradients, further passes follow at the pace of the slowest stage, and waiting for that
// stage hides communication, too.
const StageTime& HidingStage(const TrainingContext& context, const std::vector<StageTime>& stages);

// For the device whose exchange takes longest. `stages`: the stages whose passes may hide the reduction.
GradientExchange ExchangeGradients(const TrainingContext& context, const std::vector<Stage>& plan,
                                   const std::vector<StageTime>& stages);

// Trained weights of a device, and the ranks that share their optimizer state.
struct TrainedWeights {
  HeldWeights weights;
  Shards shards;
  [[nodiscard]] Ratio OfShard() const { return PerRank(weights, shards); }
};

// The update of the trained weights at the end of a step, by the device or by its host.
struct WeightUpdate {
  TrainedWeights trained;
  bool owns_shard = false;                    // the device clips and zeroes only the gradients of its shard
  bool separate_accumulation = false;         // 16-bit gradients are added into an fp32 copy
  Ratio state_traffic;                        // bytes of optimizer state per parameter that the update reads and writes
  Ratio optimizer_bytes;                      // bytes of optimizer state per parameter
  Ratio offloaded;                            // share of the optimizer state in host memory
  std::optional<BytesPerSecond> host_update;  // memory bandwidth of an update by the host; absent: the device updates
  Ratio micro_batches;
  BytesPerSecond stream_rate, host_bandwidth;
};
// Bytes of optimizer state per parameter that the update reads and writes.
double StateTraffic(Optimizer optimizer);

struct UpdateTime {
  Seconds accumulation;  // adding 16-bit gradients into their fp32 copy, all micro-batches
  Seconds optimizer;     // update of the rank's shard, gradient norm, zeroing of gradients
};
UpdateTime UpdateWeights(const WeightUpdate& update);

// Time on the host link, its exposed part, and the time of an update by the host.
struct HostTime {
  Seconds link, exposed, update;
};
// Optimizer state in host memory: it is streamed through the device for the update, or updated by the host.
HostTime UpdateOffloaded(const WeightUpdate& update, Seconds device_update);

}  // namespace slipstick
