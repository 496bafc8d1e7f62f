// Layers of a model by kind.
#pragma once

#include "core/base/trace.h"
#include "core/workload/model.h"

namespace slipstick {

// `window` layers are attention layers with a sliding window; `dense`: with an MLP in place of experts.
struct LayerCounts {
  Ratio attention = 0, window = 0, recurrent = 0;
  Ratio moe = 0, dense = 1;
  Ratio shared_kv = 0, shared_kv_window = 0;  // attention layers that share a KV cache, those with a window among them
};

// Recorded as attention_layers, window_layers, recurrent_layers, moe_layers, dense_layers and, of both kinds of MLP,
// mlp_layers; where layers share a KV cache, shared_kv_layers and shared_kv_window_layers.
LayerCounts CountLayers(const Model& model, Trace& trace);

// Layers with attention that have a KV cache of their own, of both kinds, and those that see all tokens and share one;
// recorded as own_full_layers, own_window_layers and shared_kv_full_layers.
struct LayersByKv {
  Ratio own_full = 0, own_window = 0, shared_full = 0;
};
LayersByKv SplitBySharedKv(const LayerCounts& layers, Trace& trace);
// Layers with a dense MLP that share no KV cache; recorded as own_dense_layers.
double OwnDenseLayers(const LayerCounts& layers, Trace& trace);

}  // namespace slipstick
