// Between training and generation: new weights go to the engine, and models take turns in device memory.
#pragma once

#include "core/post_training/learning.h"

namespace slipstick {

struct HandOver {
  Seconds weight_sync, engine_switch;
  Bytes weights;  // of the whole model, in the format that is sent
  Bytes host;     // per device: models that wait in host memory
};
HandOver TimeHandOver(const StepInputs& inputs, const Pools& pools, const Learning& learning);

}  // namespace slipstick
