// Time of the attention core of a training layer: forward and backward, flash or unfused, or of the recurrence in its
// place.
#pragma once

#include "core/operators/kernel.h"
#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"

namespace slipstick {

struct CoreTime {
  Seconds forward, backward;
  Flops forward_flops, backward_flops;  // as the kernels execute them
  Bytes forward_bytes, backward_bytes;  // to and from memory
  Bytes forward_l2, backward_l2;        // between L2 and the SMs: keys and values once per tile of 128 queries
  Bytes forward_l1, backward_l1;        // inside an SM: keys and values once per fragment of queries
  Bound forward_bound = Bound::kCompute, backward_bound = Bound::kCompute;
};
// Flash attention or the unfused form, as the run asks; each pass of flash is capped at the unfused time.
// Mean error over 100 measured kernels of A100 and H100: flash 2.4 to 5.4 %, unfused 10 %.
CoreTime TimeCore(const TrainingContext& context, const AttentionWork& work);

// Flash attention alone.
CoreTime TimeFlash(const TrainingContext& context, const AttentionWork& work);

// Whether the framework preset has attention kernels for the device's architecture.
bool HasOwnAttention(const TrainingContext& context);

}  // namespace slipstick
