#include "core/workload/layer_counts.h"

namespace slipstick {
namespace {

double AttentionLayers(const Model& model, double layers, double recurrent_layers, Trace& trace) {
  if (!model.linear_attention) {
    trace.Alias("attention_layers", layers, "layers");
    return layers;
  }
  trace.Input("recurrent_layers", recurrent_layers, "model.linear.layers");
  FIGURE(trace, attention_layers, layers - recurrent_layers,
         (Note{"Layers with attention", "the others have a recurrence"}), layers, recurrent_layers);
  return attention_layers;
}

double WindowLayers(const Model& model, double attention_layers, Trace& trace) {
  const auto sliding_window = static_cast<double>(model.window.tokens),
             global_every = static_cast<double>(model.window.global_every);
  trace.Input("sliding_window", sliding_window, "model.sliding_window");
  if (global_every <= 0) {
    FIGURE(trace, window_layers, min(1, sliding_window) * attention_layers,
           (Note{"Layers with a sliding window", "all that attend, if there is one"}), sliding_window,
           attention_layers);
    return window_layers;
  }
  trace.Input("global_every", global_every, "model.global_every");
  FIGURE(trace, window_layers, min(1, sliding_window) * (attention_layers - floor(attention_layers / global_every)),
         (Note{"Layers with a sliding window", "every n-th attends to all tokens"}), sliding_window, attention_layers,
         global_every);
  return window_layers;
}

// Of the last layers, those with a sliding window: without the whole periods' last ones.
void CountSharedKv(const Model& model, LayerCounts& counts, Trace& trace) {
  const auto shared_kv_layers = static_cast<double>(model.shared_kv.layers), layers = static_cast<double>(model.layers);
  const auto sliding_window = static_cast<double>(model.window.tokens),
             global_every = static_cast<double>(model.window.global_every);
  constexpr Note kNote{"Layers with a sliding window that share a KV cache",
                       "of the last layers, all but every n-th of the model"};
  trace.Input("shared_kv_layers", shared_kv_layers, "model.kv_shared_layers");
  if (!model.SharesKv()) return;
  counts.shared_kv = shared_kv_layers;
  if (global_every <= 0) {
    FIGURE(trace, shared_kv_window_layers, min(1, sliding_window) * shared_kv_layers, kNote, sliding_window,
           shared_kv_layers);
    counts.shared_kv_window = shared_kv_window_layers;
    return;
  }
  FIGURE(trace, shared_kv_window_layers,
         min(1, sliding_window) *
             (shared_kv_layers - floor(layers / global_every) + floor((layers - shared_kv_layers) / global_every)),
         kNote, sliding_window, shared_kv_layers, layers, global_every);
  counts.shared_kv_window = shared_kv_window_layers;
}

}  // namespace

LayerCounts CountLayers(const Model& model, Trace& trace) {
  LayerCounts counts;
  const auto layers = static_cast<double>(model.layers), stated_mlp_layers = static_cast<double>(model.mlp_layers);
  trace.Input("layers", layers, "model.layers");
  counts.recurrent = static_cast<double>(model.LinearAttentionLayers());
  counts.attention = AttentionLayers(model, layers, counts.recurrent, trace);
  counts.window = WindowLayers(model, counts.attention, trace);
  CountSharedKv(model, counts, trace);
  trace.Input("stated_mlp_layers", stated_mlp_layers, "model.mlp_layers");
  FIGURE(trace, mlp_layers, stated_mlp_layers + max(0, 1 - stated_mlp_layers) * layers,
         (Note{"Layers with an MLP or experts", "all where 0 are stated"}), stated_mlp_layers, layers);
  if (!model.moe) {
    trace.Alias("dense_layers", mlp_layers, "mlp_layers");
    counts.dense = mlp_layers;
    return counts;
  }
  const auto leading_layers = static_cast<double>(model.moe->dense_layers),
             moe_every = static_cast<double>(model.moe->moe_every);
  trace.Input("leading_layers", leading_layers, "model.moe.dense_layers");
  trace.Input("moe_every", moe_every, "model.moe.moe_every");
  FIGURE(trace, moe_layers, max(0, floor((mlp_layers - leading_layers) / moe_every)),
         (Note{"Layers with experts", "every n-th after the leading dense ones"}), mlp_layers, leading_layers,
         moe_every);
  FIGURE(trace, dense_layers, mlp_layers - moe_layers, (Note{"Layers with a dense MLP", "the others have experts"}),
         mlp_layers, moe_layers);
  counts.moe = moe_layers;
  counts.dense = dense_layers;
  return counts;
}

LayersByKv SplitBySharedKv(const LayerCounts& layers, Trace& trace) {
  const double attention_layers = layers.attention, window_layers = layers.window, shared_kv_layers = layers.shared_kv,
               shared_kv_window_layers = layers.shared_kv_window;
  FIGURE(trace, shared_kv_full_layers, shared_kv_layers - shared_kv_window_layers,
         (Note{"Layers that attend to all tokens and share a KV cache"}), shared_kv_layers, shared_kv_window_layers);
  FIGURE(trace, own_full_layers, attention_layers - window_layers - shared_kv_full_layers,
         (Note{"Layers that attend to all tokens, with a KV cache of their own"}), attention_layers, window_layers,
         shared_kv_full_layers);
  FIGURE(trace, own_window_layers, window_layers - shared_kv_window_layers,
         (Note{"Layers with a sliding window and a KV cache of their own"}), window_layers, shared_kv_window_layers);
  return {own_full_layers, own_window_layers, shared_kv_full_layers};
}

double OwnDenseLayers(const LayerCounts& layers, Trace& trace) {
  const double dense_layers = layers.dense, shared_kv_layers = layers.shared_kv;
  FIGURE(trace, own_dense_layers, dense_layers - shared_kv_layers, (Note{"Layers with an MLP that share no KV cache"}),
         dense_layers, shared_kv_layers);
  return own_dense_layers;
}

}  // namespace slipstick
