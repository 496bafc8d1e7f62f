// Activations of a pipeline stage: layers of the micro-batches in flight, the working set of one layer, embedding and
// head.
#pragma once

#include "core/training/training_report.h"
#include "core/training_stage/layer_memory.h"

namespace slipstick {

// Peak number of micro-batches, in units of the stage's layers, whose activations stage `stage` holds. Under DualPipe
// those that come from its own end; the device holds the mirrored stage's too.
double PassesInFlight(const TrainingShape& shape, PipelineSchedule schedule, double stage);

struct HeldActivations {
  Bytes in_flight;           // of the layers, those in host memory included
  double largest_layer = 0;  // parameters of one layer on the device
};
// Sets memory.activations. `index`: of the device's own stage, from 0; `reusable`: room that activations take of the
// gradients.
HeldActivations AddActivations(const MemoryTerms& terms, const DeviceStages& device, double index,
                               const RecomputeChoice& recompute, Bytes reusable, TrainingMemory& memory, Trace& trace);

}  // namespace slipstick
