// Between training and generation: new weights to the engine, and models that take turns in device memory.
#pragma once

#include "core/base/trace.h"
#include "core/post_training/post_training.h"
#include "core/training/training_report.h"

namespace slipstick {

struct HandOver {
  Seconds weight_sync, engine_switch;
  Bytes weights;  // of the whole model, as they are sent
  Bytes host;     // that waits in host memory, per device
};
HandOver TimeHandOver(const PostTraining& asked, const PostTrainingParts& parts, const DeviceSplit& split,
                      const TrainingMemory& memory, Trace& trace);

}  // namespace slipstick
