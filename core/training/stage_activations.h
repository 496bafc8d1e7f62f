// Activations of a pipeline stage: layers of the micro-batches in flight, the working set of one layer, embedding and
// head.
#pragma once

#include "core/training/step_terms.h"
#include "core/training/training_report.h"
#include "core/training_stage/layer_memory.h"

namespace slipstick {

struct PipelineDegrees {
  Ratio stages = 1, chunks = 1, micro_batches = 1;
};
// Peak number of micro-batches, in units of the stage's layers, whose activations stage `stage` holds. Under DualPipe
// those that come from its own end; the device holds the mirrored stage's too.
Ratio PassesInFlight(const PipelineDegrees& pipeline, PipelineSchedule schedule, Ratio stage);

// What a device keeps of its layers.
struct StageActivations {
  Bytes in_flight;         // of all micro-batches, those in host memory included
  Bytes largest, working;  // of one layer: kept, and restored by recomputation
  Ratio passes;            // micro-batches in flight
  Ratio stage_layers;      // of the device's own stage
  Ratio largest_layer;     // parameters of one layer on the device
};
// Sets memory.activations. `index`: of the device's own stage, from 0; `reusable`: room that activations take of the
// gradients.
StageActivations AddActivations(const MemoryTerms& terms, const StepTerms& step, const DeviceStages& device,
                                Ratio index, const RecomputeChoice& recompute, Bytes reusable, TrainingMemory& memory);

}  // namespace slipstick
