// Time of the attention core of a training layer: forward and backward, flash or unfused, or of the recurrence in its
// place.
#pragma once

#include "core/operators/kernel.h"
#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"

namespace slipstick {

// FLOPs are those that the kernels execute. Keys and values pass L2 once per tile of 128 queries, an SM once per
// fragment of queries.
struct CoreTime {
  KernelTime forward, backward;
};
// Flash attention or the unfused form, as the run asks; each pass of flash is capped at the unfused time.
// Mean error over 100 measured kernels of A100 and H100: flash 2.4 to 5.4 %, unfused 10 %.
CoreTime TimeCore(const TrainingContext& context, const AttentionWork& work);

// Flash attention alone.
CoreTime TimeFlash(const TrainingContext& context, const AttentionWork& work);

// Whether the framework preset has attention kernels for the device's architecture.
bool HasOwnAttention(const TrainingContext& context);

}  // namespace slipstick
