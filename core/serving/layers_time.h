// All layers of a pass: what they compute, what their experts' tokens wait for, and two half batches that take turns.
#pragma once

#include "core/base/trace.h"
#include "core/serving/deployment.h"
#include "core/serving/layer_time.h"
#include "core/serving/step_time.h"

namespace slipstick {

// What mixes the tokens of a sequence, in one layer of each kind.
struct MixingCost {
  Seconds attention, window_attention, recurrence;
  Seconds context_exchange;
};

// Of all layers together.
struct LayersCost {
  Seconds compute;            // everything but the exchange of tokens between experts
  Seconds experts;            // of it, experts
  Seconds attention;          // of it, what precedes the experts in their layers
  Seconds dispatch, combine;  // tokens to their experts and back
  double operations = 0;      // that the host launches in a layer, mean over the layers
};
LayersCost AllLayers(const Deployment& d, const LayerCost& one, const MixingCost& mixing, Trace& trace);

struct LayersTime {
  Seconds time;
  double operations = 0;
};

LayersTime InTurn(const LayersCost& whole, const Deployment& d, Parts& parts, Trace& trace);

// Two halves of the batch: one computes while the other's tokens travel.
Seconds TwoBatches(const LayersCost& half, const Deployment& d, Phase phase, Trace& trace);

// `layers_of(half, parts, trace)` gives the layers of the whole pass or of half of it. An engine that overlaps two batches does so
// where it gains: each half streams the weights again, and a host that launches operation by operation has twice as many to launch.
template <class LayersOf>
LayersTime TimeLayers(const LayersOf& layers_of, const Deployment& d, Phase phase, Seconds operation_launch, Parts& parts, Trace& trace) {
  const LayersCost whole = layers_of(false, parts, trace);
  if (!d.engine.communication.two_batch_overlap || d.exchange == nullptr) return InTurn(whole, d, parts, trace);
  Trace off = Trace::Off();
  Parts half_parts;
  const LayersCost half = layers_of(true, half_parts, off);
  const Seconds launches = 2 * d.layers * half.operations * operation_launch;
  if (!(max(TwoBatches(half, d, phase, off), launches) < whole.compute + whole.dispatch + whole.combine))
    return InTurn(whole, d, parts, trace);
  const Trace::Scope scope(trace, "half");
  Parts traced;
  const Seconds time = TwoBatches(layers_of(true, traced, trace), d, phase, trace);
  parts = half_parts;
  parts.Repeat(2);
  KernelTime exposed;
  exposed.time = max(time - 2 * half.compute, Seconds{});
  exposed.bound = Bound::kNetwork;
  parts.Add("exposed expert exchange", exposed, 1);
  return {time, 2 * half.operations};
}

}  // namespace slipstick
