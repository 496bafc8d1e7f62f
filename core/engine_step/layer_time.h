// Time of a pass of `rows` tokens outside attention: GEMMs, experts, element-wise kernels, exchanges, launch gaps, LM
// head.
#pragma once

#include <string_view>

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// Times per layer; the caller multiplies each by the number of layers that have the part.
struct LayerCost {
  Seconds projections;  // of a layer with attention
  Seconds recurrent;    // GEMMs of a layer with a recurrence
  Seconds mlp;          // of a dense layer
  Seconds experts;      // of an MoE layer, without the exchange of its tokens
  Seconds dispatch;     // sends tokens to the devices of their experts
  Seconds combine;      // returns their results
  Seconds inputs;       // embeddings of all layers, once per pass
  Seconds elementwise;  // norms, residual, activation
  Seconds reductions;
  Seconds gaps;
  Ratio operations = 0;  // launched by the host per layer, mean over the layers
};
// Adds every operator to `operators`, with the number of layers that have it.
LayerCost TimeLayer(const Deployment& deployment, Ratio rows, Phase phase, OperatorBreakdown& operators);

// LM head and sampling for `rows` sequences.
Seconds TimeHead(const Deployment& deployment, Ratio rows, bool waits_for_host, OperatorBreakdown& operators);

}  // namespace slipstick
