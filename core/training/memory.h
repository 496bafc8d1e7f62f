// Memory of a pipeline stage: weights, gradients, optimizer, activations in flight, buffers.
#pragma once

#include "core/training/context.h"
#include "core/training/layer_time.h"
#include "core/training/stage.h"
#include "core/training/training.h"

namespace slipstick {

// What a run recomputes: the plan of every layer, and the share of the layers that are repeated whole instead.
struct RecomputeChoice {
  RecomputePlan rest;
  double full_share = 0;
  friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};
// Of none, selective and full; auto begins at none.
RecomputeChoice ChoiceFor(const TrainingRun& run);

// Bytes a parameter that do not depend on the mapping.
struct StateBytes {
  double weights = 2, gradients = 4, optimizer = 12;
  double adapter_weights = 2;  // of low-rank adapters, which are trained: `weights` are then of those that stay frozen
};
StateBytes StateBytesOf(const TrainingContext& context);

// Bytes that one layer keeps for the backward pass of one micro-batch on one device, whatever is recomputed or not.
//   no flash attention: Korthikanti et al. 2022, table 2, to the byte: 10·h/t' + 24·h/t + 5·a·s/t a token (f = 4h, plain)
//   flash attention: two norm inputs, inputs of both blocks, Q, K, V and output, log-sum-exp, gate, up and product
Bytes LayerActivations(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan);
// What stays of a layer that is recomputed whole: its input.
Bytes LayerCheckpoint(const TrainingContext& context);

// Passes of a stage (in units of the stage's layers) whose activations are held at once.
double PassesInFlight(const TrainingShape& shape, PipelineSchedule schedule, double stage);

struct MemoryTerms {
  const TrainingContext& context;
  const LayerWorks& works;
};
TrainingMemory StageMemory(const MemoryTerms& terms, const Stage& stage, double index, const RecomputeChoice& recompute, Trace& trace);

// Every stage, in the device's memory and in its share of the host's.
bool Fits(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute, Bytes capacity);

}  // namespace slipstick
