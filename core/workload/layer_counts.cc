#include "core/workload/layer_counts.h"

#include "core/base/figure.h"

namespace slipstick {
namespace {

// Layers with a window. Every n-th layer attends to all tokens, or none does; without a window all layers do.
Ratio WindowLayers(const SlidingWindow& window, Ratio attention) {
  const Ratio every = window.global_every, has_window = min(1, Ratio(window.tokens));
  return Figure("Window layers",
                has_window * (window.global_every > 0 ? attention - floor(attention / every) : attention),
                "with a sliding window; every n-th attends to all tokens");
}

// Layers with a sliding window among the last layers, which share a KV cache: all but every n-th layer of the model.
Ratio SharedKvWindowLayers(const Model& model) {
  const Ratio shared = model.shared_kv.layers, layers = model.layers, every = model.window.global_every,
              has_window = min(1, Ratio(model.window.tokens));
  return Figure(
      "Window layers that share a KV cache",
      has_window *
          (model.window.global_every > 0 ? shared - floor(layers / every) + floor((layers - shared) / every) : shared),
      "of the last layers, all but every n-th of the model");
}

}  // namespace

LayerCounts CountLayers(const Model& model) {
  LayerCounts counts;
  counts.recurrent = model.LinearAttentionLayers();
  counts.attention = model.AttentionLayers();
  if (model.linear_attention)
    counts.attention = Figure("Attention layers", counts.attention, "the others have a recurrence");
  counts.window = WindowLayers(model.window, counts.attention);
  counts.shared_kv = model.shared_kv.layers;
  if (model.SharesKv()) counts.shared_kv_window = SharedKvWindowLayers(model);
  const Ratio mlp = Figure("MLP layers", model.MlpLayers(), "with an MLP or experts; all where 0 are stated");
  counts.dense = mlp;
  if (!model.moe) return counts;
  const Ratio leading = model.moe->dense_layers, every = model.moe->moe_every;
  counts.moe = Figure("MoE layers", max(0, floor((mlp - leading) / every)),
                      "with experts: every n-th after the leading dense ones");
  counts.dense = Figure("Dense layers", mlp - counts.moe, "with a dense MLP; the others have experts");
  return counts;
}

LayersByKv SplitBySharedKv(const LayerCounts& layers) {
  LayersByKv by_kv;
  by_kv.shared_full = Figure("Full layers that share a KV cache", layers.shared_kv - layers.shared_kv_window,
                             "those that attend to all tokens");
  by_kv.own_full = Figure("Full layers with a KV cache", layers.attention - layers.window - by_kv.shared_full,
                          "of their own; those that attend to all tokens");
  by_kv.own_window = Figure("Window layers with a KV cache", layers.window - layers.shared_kv_window, "of their own");
  return by_kv;
}

Ratio OwnDenseLayers(const LayerCounts& layers) {
  return Figure("MLP layers with a KV cache", layers.dense - layers.shared_kv, "that share none");
}

}  // namespace slipstick
