// The numbers that a step's formulas take from its context.
#pragma once

#include "core/training_stage/context.h"

namespace slipstick {

struct StepTerms {
  explicit StepTerms(const TrainingContext& of);
  const TrainingRun& run;
  Ratio tensor, context, pipeline, chunks, data, expert, expert_tensor, micro_batches;
  Ratio tokens, own_tokens;  // tokens of a micro-batch on one device; of these, the ones whose residual stream it holds
  Ratio offloaded_gradients;
  BytesPerSecond host_bandwidth;
  Ratio pod_jitter, node_devices;  // relative slowdown of a step per doubling of the pods or nodes; devices per node
};

}  // namespace slipstick
