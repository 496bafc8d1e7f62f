// Memory of a pipeline stage: weights, gradients, optimizer, activations in flight, buffers.
#pragma once

#include "core/training/context.h"
#include "core/training/recompute_choice.h"
#include "core/training/stage.h"
#include "core/training/training_report.h"

namespace slipstick {

// Bytes per parameter.
struct StateBytes {
  double weights = 2, gradients = 4, optimizer = 12;
  double adapter_weights = 2;  // of low-rank adapters; `weights` are then the frozen ones
};
StateBytes StateBytesOf(const TrainingContext& context);

// Bytes that one layer keeps for the backward pass of one micro-batch on one device.
//   unfused attention: Korthikanti et al. 2022, table 2, exactly: 10·h/t' + 24·h/t + 5·a·s/t per token (f = 4h, plain MLP)
//   flash attention: both norms' inputs, inputs of both blocks, Q, K, V and output, log-sum-exp, gate, up and their product
Bytes LayerActivations(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan);
// Bytes that a fully recomputed layer keeps: its input.
Bytes LayerCheckpoint(const TrainingContext& context);

// Peak number of micro-batches, in units of the stage's layers, whose activations stage `stage` holds.
double PassesInFlight(const TrainingShape& shape, PipelineSchedule schedule, double stage);

struct MemoryTerms {
  const TrainingContext& context;
  const LayerWorks& works;
};
// `index`: of the stage, from 0.
TrainingMemory StageMemory(const MemoryTerms& terms, const Stage& stage, double index, const RecomputeChoice& recompute, Trace& trace);

// Whether every stage fits into device memory (capacity) and into host memory.
bool Fits(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute, Bytes capacity);

}  // namespace slipstick
