// Between training and generation: new weights to the engine, and models that take turns in device memory.
#pragma once

#include "core/post_training/step_inputs.h"
#include "core/training/training_report.h"

namespace slipstick {

struct HandOver {
  Seconds weight_sync, engine_switch;
  Bytes weights;  // of the whole model, as they are sent
  Bytes host;     // that waits in host memory, per device
};
HandOver TimeHandOver(const StepInputs& inputs, const Pools& pools, const TrainingMemory& memory);

}  // namespace slipstick
