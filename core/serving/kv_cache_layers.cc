#include "core/serving/kv_cache_layers.h"

#include "core/operators/sparse_attention.h"

namespace slipstick {

Bytes StatesOfSequence(const Deployment& deployment, Trace& trace) {
  const double stage_recurrent = deployment.layers.on_stage.recurrent, state_share = deployment.shapes.state_share,
               state_elements = deployment.shapes.state_elements;
  const Bytes state_element = ElementSize(deployment.load.precision.state);
  trace.Input("state_element", state_element, "serving.precision.state");
  FIGURE(trace, device_state, stage_recurrent * state_share * state_elements * state_element,
         (Note{"Recurrent state of a sequence on one device", ""}), stage_recurrent, state_share, state_elements, state_element);
  return device_state;
}

double CachedLayers(const Deployment& deployment, BytesPerToken layer_kv_cache, Trace& trace) {
  const double stage_attention = deployment.layers.on_stage.attention;
  if (!deployment.load.speculative) {
    trace.Alias("cached_layers", stage_attention, "stage_attention");
    return stage_attention;
  }
  const auto modules = static_cast<double>(deployment.load.speculative->modules);
  const double draft_kv_cache = deployment.load.speculative->draft_kv_cache, tp = deployment.mapping.tp;
  const Bytes half = 2.0 * kB;
  trace.Input("modules", modules, "serving.speculative.modules");
  trace.Input("draft_kv_cache", draft_kv_cache, "serving.speculative.draft_kv_cache");
  FIGURE(trace, cached_layers, stage_attention + modules + draft_kv_cache * half / (tp * layer_kv_cache * (1 * kToken)),
         (Note{"Layers with a KV cache on the stage",
               "the model's, MTP modules that draft, and a draft model's KV cache in 16 bit as so many layers"}),
         stage_attention, modules, draft_kv_cache, half, tp, layer_kv_cache);
  return cached_layers;
}

double CachedWindows(const Deployment& deployment, Trace& trace) {
  const double stage_window = deployment.layers.on_stage.window;
  if (!deployment.model.HasWindows()) {
    trace.Alias("cached_windows", stage_window, "stage_window");
    return stage_window;
  }
  const double decode_kv_heads = deployment.shapes.decode_kv_heads, decode_window_kv_heads = deployment.shapes.decode_window_kv_heads,
               head_dim = deployment.shapes.head_dim, window_head_dim = deployment.shapes.window_head_dim;
  trace.Input("head_dim", head_dim, "model.head_dim");
  FIGURE(trace, cached_windows, stage_window * decode_window_kv_heads * window_head_dim / (decode_kv_heads * head_dim),
         (Note{"Layers with a sliding window on the stage", "as so many layers with the KV heads of the others"}), stage_window,
         decode_window_kv_heads, window_head_dim, decode_kv_heads, head_dim);
  return cached_windows;
}

Bytes IndexKey(const Deployment& deployment, Trace& trace) {
  const auto index_dim = static_cast<double>(deployment.model.indexer->head_dim);
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  return IndexKeyBytes(index_dim, trace);
}

double IndexColumns(const Deployment& deployment, Trace& trace) {
  if (!deployment.model.indexer) {
    trace.Input("index_columns", 0.0, "model.indexer");
    return 0;
  }
  const auto index_dim = static_cast<double>(deployment.model.indexer->head_dim);
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  const double index_share = IndexShare(deployment.model, trace);
  FIGURE(trace, index_columns, index_share * index_dim, (Note{"Elements of the indexer's key", "mean over the layers"}), index_share,
         index_dim);
  return index_columns;
}

BytesPerToken KvCacheOfLayer(const Deployment& deployment, Trace& trace) {
  const Bytes kv_element = ElementSize(deployment.formats.kv_cache);
  const double context_ranks = deployment.mapping.context_ranks;
  trace.Input("kv_element", kv_element, "serving.precision.kv_cache");
  constexpr Note kNote{"KV cache of a layer and token on one device", "context parallelism splits it"};
  if (deployment.model.mla) {
    const auto latent = static_cast<double>(deployment.model.mla->kv_lora_rank);
    const auto rotary = static_cast<double>(deployment.model.mla->rope_head_dim);
    trace.Input("latent", latent, "model.mla.kv_lora_rank");
    trace.Input("rotary", rotary, "model.mla.rope_head_dim");
    if (deployment.model.indexer) {
      const Bytes key = IndexKey(deployment, trace);
      const double index_share = IndexShare(deployment.model, trace);
      FIGURE(trace, layer_kv_cache, ((latent + rotary) * kv_element + index_share * key) / context_ranks / (1 * kToken),
             (Note{"KV cache of a layer and token on one device", "with the indexer's key; context parallelism splits it"}), latent, rotary,
             kv_element, index_share, key, context_ranks);
      return layer_kv_cache;
    }
    FIGURE(trace, layer_kv_cache, (latent + rotary) / context_ranks * kv_element / (1 * kToken), kNote, latent, rotary, context_ranks,
           kv_element);
    return layer_kv_cache;
  }
  const double decode_kv_heads = deployment.shapes.decode_kv_heads, head_dim = deployment.shapes.head_dim;
  trace.Input("head_dim", head_dim, "model.head_dim");
  const double index_columns = IndexColumns(deployment, trace);
  FIGURE(trace, layer_kv_cache, (2 * decode_kv_heads * head_dim + index_columns) / context_ranks * kv_element / (1 * kToken), kNote,
         decode_kv_heads, head_dim, index_columns, context_ranks, kv_element);
  return layer_kv_cache;
}

double PagedTokens(double page_tokens, double block, Trace& trace) {
  FIGURE(trace, paged_tokens, ceil(page_tokens / block - 1e-9) * block, (Note{"Tokens in whole pages", "of the KV cache"}), page_tokens,
         block);
  return paged_tokens;
}

}  // namespace slipstick
