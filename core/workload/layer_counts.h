// Layers of a model by kind.
#pragma once

#include "core/base/trace.h"
#include "core/workload/model.h"

namespace slipstick {

// `window` layers are attention layers with a sliding window; `dense`: with an MLP in place of experts.
struct LayerCounts {
  double attention = 0, window = 0, recurrent = 0;
  double moe = 0, dense = 1;
};

// Recorded as attention_layers, window_layers, recurrent_layers, moe_layers, dense_layers and, of both kinds of MLP, mlp_layers.
LayerCounts CountLayers(const Model& model, Trace& trace);

}  // namespace slipstick
