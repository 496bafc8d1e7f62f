// Memory of a pipeline stage: weights, gradients, optimizer, activations in flight, buffers.
#pragma once

#include "core/training/training_report.h"
#include "core/training_stage/context.h"
#include "core/training_stage/layer_memory.h"
#include "core/training_stage/recompute_choice.h"
#include "core/training_stage/stage.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {

struct PipelineDegrees {
  Ratio stages = 1, chunks = 1, micro_batches = 1;
};
// Peak number of micro-batches whose activations stage `stage` holds, in units of the stage's layers. Under DualPipe it
// counts only micro-batches from the stage's own end; the device also holds the mirrored stage's.
Ratio PassesInFlight(const PipelineDegrees& pipeline, PipelineSchedule schedule, Ratio stage);

// Memory of the device whose own stage is stages[index].
TrainingMemory StageMemory(const MemoryTerms& terms, const std::vector<Stage>& stages, std::size_t index,
                           const RecomputeChoice& recompute);
// As StageMemory, for the most loaded stage, stages[index]; the explanation says why it is the most loaded.
TrainingMemory MemoryOfMostLoaded(const MemoryTerms& terms, const std::vector<Stage>& stages, std::size_t index,
                                  const RecomputeChoice& recompute);

// Bytes by which the most loaded stage exceeds device memory (capacity) or host memory, whichever is more; 0 if every
// stage fits.
Bytes BeyondMemory(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute,
                   Bytes capacity);
// Whether every stage fits into device memory (capacity) and into host memory.
bool Fits(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute, Bytes capacity);

}  // namespace slipstick
