// Layers of a model by kind.
#pragma once

#include "core/base/trace.h"
#include "core/workload/model.h"

namespace slipstick {

// `window` layers are attention layers with a sliding window; `dense`: with an MLP in place of experts.
struct LayerCounts {
  double attention = 0, window = 0, recurrent = 0;
  double moe = 0, dense = 1;
  double shared_kv = 0, shared_kv_window = 0;  // attention layers that share a KV cache, those with a window among them
};

// Recorded as attention_layers, window_layers, recurrent_layers, moe_layers, dense_layers and, of both kinds of MLP, mlp_layers; where
// layers share a KV cache, shared_kv_layers and shared_kv_window_layers.
LayerCounts CountLayers(const Model& model, Trace& trace);

}  // namespace slipstick
