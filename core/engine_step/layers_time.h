// Time of all layers of a pass, with or without two-batch overlap.
#pragma once

#include "core/base/trace.h"
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
  Seconds attention;          // part of compute: what precedes the experts in their layers
  Seconds dispatch, combine;  // tokens to their experts and back
  double operations = 0;      // launched by the host per layer, mean over the layers
};
LayersCost AllLayers(const Deployment& deployment, const LayerCost& one, const MixingCost& mixing, Trace& trace);

struct LayersTime {
  Seconds time;
  double operations = 0;
};

LayersTime InTurn(const LayersCost& whole, const Deployment& deployment, OperatorBreakdown& operators, Trace& trace);

// Whether the engine may run two half batches in turn.
inline bool UsesTwoBatches(const Deployment& deployment) {
  return deployment.network.expert_exchange != nullptr &&
         deployment.load.mapping.overlap.ep.value_or(deployment.engine.communication.two_batch_overlap);
}

// Two-batch overlap: one half of the batch computes while the other half's tokens travel.
Seconds TwoBatches(const LayersCost& half, const Deployment& deployment, Phase phase, Trace& trace);

// `layers_of(half, operators, trace)` gives the layers of the whole pass or of half of it. An engine with two-batch
// overlap uses it where it gains: each half reads the weights again, and a host that launches operation by operation
// has twice as many to launch.
template <class LayersOf>
LayersTime TimeLayers(const LayersOf& layers_of, const Deployment& deployment, Phase phase, Seconds operation_launch,
                      OperatorBreakdown& operators, Trace& trace) {
  const LayersCost whole = layers_of(false, operators, trace);
  if (!UsesTwoBatches(deployment)) {
    return InTurn(whole, deployment, operators, trace);
  }
  Trace off = Trace::Off();
  OperatorBreakdown half_operators;
  const LayersCost half = layers_of(true, half_operators, off);
  const Seconds launches = 2 * deployment.layers.total * half.operations * operation_launch;
  if (!(max(TwoBatches(half, deployment, phase, off), launches) < whole.compute + whole.dispatch + whole.combine)) {
    return InTurn(whole, deployment, operators, trace);
  }
  const Seconds time = [&] {
    const Trace::Scope scope(trace, "half");
    OperatorBreakdown traced;
    return TwoBatches(layers_of(true, traced, trace), deployment, phase, trace);
  }();
  operators = half_operators;
  const double halves_of_batch = 2;
  CONSTANTS(trace, "serving.two_batches", "both halves of the batch run every operator", halves_of_batch);
  operators.Repeat(halves_of_batch, "halves_of_batch", trace);
  KernelTime exposed;
  exposed.time = max(time - 2 * half.compute, Seconds{});
  exposed.bound = Bound::kNetwork;
  operators.Add("exposed expert exchange", exposed, 1);
  const double operations = half.operations;
  FIGURE(trace, both_operations, 2 * operations,
         (Note{"Operations that the host launches per layer", "of both halves"}), operations);
  trace.Alias("operations", both_operations, "both_operations");
  return {time, both_operations};
}

}  // namespace slipstick
