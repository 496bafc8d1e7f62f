// Time of all layers of a pass, with or without two-batch overlap.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/layer_time.h"
#include "core/engine_step/step.h"

namespace slipstick {

// Token mixing of one layer of each kind.
struct MixingCost {
  Seconds attention, window_attention, recurrence;
  Seconds context_exchange;
};

// Totals over all layers.
struct LayersCost {
  Seconds compute;            // everything but dispatch and combine
  Seconds experts;            // part of compute
  Seconds attention;          // part of compute: the operators before the experts in the same layers
  Seconds dispatch, combine;  // sends tokens to their experts, and results back
  Ratio operations = 0;       // launched by the host per layer, mean over the layers
};
LayersCost AllLayers(const Deployment& deployment, const LayerCost& one, const MixingCost& mixing);

struct LayersTime {
  Seconds time;
  Ratio operations = 0;
};

LayersTime InTurn(const LayersCost& whole, const Deployment& deployment, OperatorBreakdown& operators);

// Whether the engine may run two half batches in turn.
inline bool UsesTwoBatches(const Deployment& deployment) {
  return deployment.network.expert_exchange != nullptr &&
         deployment.load.mapping.overlap.ep.value_or(deployment.engine.communication.two_batch_overlap);
}

// Two-batch overlap: one half of the batch computes while the other half's tokens travel.
Seconds TwoBatches(const LayersCost& half, const Deployment& deployment, Phase phase);
LayersTime InTwoBatches(const LayersCost& half, Seconds time, OperatorBreakdown& operators);

// `layers_of(half, operators)` gives the layers of the whole pass or of half of it. An engine with two-batch overlap
// uses it only where it is faster: each half reads the weights again, and a host that launches operation by operation
// launches twice as many.
template <class LayersOf>
LayersTime TimeLayers(const LayersOf& layers_of, const Deployment& deployment, Phase phase, Seconds operation_launch,
                      OperatorBreakdown& operators) {
  const LayersCost whole = layers_of(false, operators);
  if (!UsesTwoBatches(deployment)) return InTurn(whole, deployment, operators);
  OperatorBreakdown half_operators;
  const LayersCost half = layers_of(true, half_operators);
  const Seconds launches = 2 * deployment.layers.total * half.operations * operation_launch,
                time = TwoBatches(half, deployment, phase);
  if (!(max(time, launches) < whole.compute + whole.dispatch + whole.combine))
    return InTurn(whole, deployment, operators);
  operators = half_operators;
  return InTwoBatches(half, time, operators);
}

}  // namespace slipstick
