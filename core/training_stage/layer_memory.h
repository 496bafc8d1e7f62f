// Activations that the layers of a stage keep for the backward pass.
#pragma once

#include "core/training_stage/context.h"
#include "core/training_stage/recompute_choice.h"
#include "core/training_stage/stage.h"

namespace slipstick {

// Bytes that one layer keeps for the backward pass of one micro-batch on one device.
//   unfused attention: Korthikanti et al. 2022, table 2, exactly: 10·h/t' + 24·h/t + 5·a·s/t per token (f = 4h,
//                      plain MLP)
//   flash attention:   both norms' inputs, inputs of both blocks, Q, K, V and output, log-sum-exp, gate, up and their
//                      product
Bytes LayerActivations(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan);
// Bytes that a fully recomputed layer keeps: its input.
Bytes LayerCheckpoint(const TrainingContext& context);

struct MemoryTerms {
  const TrainingContext& context;
  const LayerWorks& works;
};
struct KeptActivations {
  Bytes layers;             // per micro-batch, under selective recomputation
  Bytes largest;            // of one layer
  Bytes context;            // keys and values of all context-parallel ranks that a layer gathers, and their gradients
  Bytes working;            // largest set that recomputation restores while a layer runs backward
  Ratio largest_layer = 0;  // parameters of one layer on the device
};
KeptActivations KeptBy(const MemoryTerms& terms, const Stage& stage, const RecomputeChoice& recompute);

// Whether the backward pass restores any activations.
bool Restores(const RecomputeChoice& recompute);

}  // namespace slipstick
