// Activations of a pipeline stage: layers of the micro-batches in flight, the working set of one layer, embedding and head.
#pragma once

#include "core/training/layer_memory.h"
#include "core/training/training_report.h"

namespace slipstick {

// Peak number of micro-batches, in units of the stage's layers, whose activations stage `stage` holds.
double PassesInFlight(const TrainingShape& shape, PipelineSchedule schedule, double stage);

// Sets memory.activations and returns the layers' activations in flight, those in host memory included.
Bytes AddActivations(const MemoryTerms& terms, const Stage& stage, double index, const KeptActivations& kept,
                     const RecomputeChoice& recompute, TrainingMemory& memory, Trace& trace);

}  // namespace slipstick
