// Layers of a model by kind.
#pragma once

#include "core/workload/model.h"

namespace slipstick {

// `window`: attention layers with a sliding window; `dense`: layers with an MLP instead of experts.
struct LayerCounts {
  Ratio attention = 0, window = 0, recurrent = 0;
  Ratio moe = 0, dense = 1;
  Ratio shared_kv = 0, shared_kv_window = 0;  // attention layers that share a KV cache; of these, layers with a window
};
LayerCounts CountLayers(const Model& model);

// Attention layers with their own KV cache, with and without a window, and layers without a window that share one.
struct LayersByKv {
  Ratio own_full = 0, own_window = 0, shared_full = 0;
};
LayersByKv SplitBySharedKv(const LayerCounts& layers);
// Layers with a dense MLP that share no KV cache.
Ratio OwnDenseLayers(const LayerCounts& layers);

}  // namespace slipstick
