// What a step's formulas read of its context.
#pragma once

#include "core/training_stage/context.h"

namespace slipstick {

struct StepTerms {
  explicit StepTerms(const TrainingContext& of);
  const TrainingRun& run;
  Ratio tensor, context, pipeline, chunks, data, expert, expert_tensor, micro_batches;
  Ratio tokens, own_tokens;  // of a micro-batch on one device, and of them those whose residual stream it holds
  Ratio offloaded_gradients;
  BytesPerSecond host_bandwidth;
  Ratio pod_jitter, node_devices;         // slow-down of a step per doubling of the pods or nodes; devices of a node
  [[nodiscard]] Ratio DataRanks() const;  // that hold the same dense weights
  [[nodiscard]] Ratio ExpertDataRanks() const;  // that hold the same experts
  // Ranks that split a state which ZeRO shards from stage `from` on, of those that hold the same weights.
  [[nodiscard]] Ratio ShardsFrom(int from, Ratio data_ranks) const;
};

}  // namespace slipstick
