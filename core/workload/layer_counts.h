// Layers of a model by kind.
#pragma once

#include "core/workload/model.h"

namespace slipstick {

// `window` layers are attention layers with a sliding window; `dense`: with an MLP in place of experts.
struct LayerCounts {
  Ratio attention = 0, window = 0, recurrent = 0;
  Ratio moe = 0, dense = 1;
  Ratio shared_kv = 0, shared_kv_window = 0;  // attention layers that share a KV cache, those with a window among them
};
LayerCounts CountLayers(const Model& model);

// Layers with attention that have a KV cache of their own, of both kinds, and those that see all tokens and share one.
struct LayersByKv {
  Ratio own_full = 0, own_window = 0, shared_full = 0;
};
LayersByKv SplitBySharedKv(const LayerCounts& layers);
// Layers with a dense MLP that share no KV cache.
Ratio OwnDenseLayers(const LayerCounts& layers);

}  // namespace slipstick
