#include "core/serving/kv_cache.h"

#include <utility>

#include "core/engine_step/kernel_terms.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

Bytes IndexKey(const Deployment& deployment, Trace& trace) {
  const auto index_dim = static_cast<double>(deployment.model.indexer->head_dim);
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  return IndexKeyBytes(index_dim, trace);
}

// Elements that latent attention caches per token: recorded as latent and rotary.
std::pair<double, double> LatentElements(const Mla& mla, Trace& trace) {
  const auto latent = static_cast<double>(mla.kv_lora_rank), rotary = static_cast<double>(mla.rope_head_dim);
  trace.Input("latent", latent, "model.mla.kv_lora_rank");
  trace.Input("rotary", rotary, "model.mla.rope_head_dim");
  return {latent, rotary};
}

// Elements of the indexer's key beside KV heads, in the KV cache's format; mean over the layers.
double IndexColumns(const Deployment& deployment, Trace& trace) {
  if (!deployment.model.indexer) {
    trace.Input("index_columns", 0.0, "model.indexer");
    return 0;
  }
  const auto index_dim = static_cast<double>(deployment.model.indexer->head_dim);
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  const double index_share = IndexShare(deployment.model, trace);
  FIGURE(trace, index_columns, index_share * index_dim, (Note{"Elements of the indexer's key", "mean over the layers"}),
         index_share, index_dim);
  return index_columns;
}

// Where layers share a KV cache: of those that have one, both kinds.
BytesPerToken SharedKvPerToken(const Deployment& deployment, Bytes kv_element, Trace& trace) {
  const double kv_heads = static_cast<double>(deployment.model.KvHeads()), head_dim = deployment.shapes.head_dim;
  const LayersByKv layers = SplitBySharedKv(deployment.layers, trace);
  const double own_full_layers = layers.own_full, own_window_layers = layers.own_window;
  constexpr Note kNote{"KV cache per token", "keys and values of the layers that do not share those of an earlier one",
                       "", "serving.kv_cache_bytes_per_token"};
  if (!deployment.model.HasWindows()) {
    FIGURE(trace, kv_cache_per_token, 2 * own_full_layers * kv_heads * head_dim * kv_element / (1 * kToken), kNote,
           own_full_layers, kv_heads, head_dim, kv_element);
    return kv_cache_per_token;
  }
  const double window_kv_heads = static_cast<double>(deployment.model.WindowKvHeads()),
               window_head_dim = deployment.shapes.window_head_dim;
  FIGURE(trace, kv_cache_per_token,
         2 * (own_full_layers * kv_heads * head_dim + own_window_layers * window_kv_heads * window_head_dim) *
             kv_element / (1 * kToken),
         kNote, own_full_layers, kv_heads, head_dim, own_window_layers, window_kv_heads, window_head_dim, kv_element);
  return kv_cache_per_token;
}

}  // namespace

StageLayers CachedOnStage(const Deployment& deployment, Trace& trace) {
  const double stage_attention = deployment.layers.on_stage.attention, stage_window = deployment.layers.on_stage.window,
               shared_kv_layers = deployment.layers.shared_kv,
               shared_kv_window_layers = deployment.layers.shared_kv_window;
  FIGURE(
      trace, cached_attention, stage_attention - shared_kv_layers,
      (Note{"Layers with a KV cache on the stage", "of their own; layers that share one are on the stage that has it"}),
      stage_attention, shared_kv_layers);
  if (!deployment.model.SharesKv()) {
    trace.Alias("cached_window", stage_window, "stage_window");
    return {cached_attention, stage_window};
  }
  FIGURE(trace, cached_window, stage_window - shared_kv_window_layers,
         (Note{"Layers with a sliding window and a KV cache on the stage", "of their own"}), stage_window,
         shared_kv_window_layers);
  return {cached_attention, cached_window};
}

// Recurrent state per sequence on one device, independent of the sequence length.
Bytes StatesOfSequence(const Deployment& deployment, Trace& trace) {
  const double stage_recurrent = deployment.layers.on_stage.recurrent, state_share = deployment.shapes.state_share,
               state_elements = deployment.shapes.state_elements;
  const Bytes state_element = ElementSize(deployment.load.precision.state);
  trace.Input("state_element", state_element, "serving.precision.state");
  FIGURE(trace, device_state, stage_recurrent * state_share * state_elements * state_element,
         (Note{"Recurrent state of a sequence on one device", ""}), stage_recurrent, state_share, state_elements,
         state_element);
  return device_state;
}

// Layers whose KV cache grows with the context, on the most loaded stage: the model's that attend, MTP modules that
// draft, and a separate draft model, in layers of the same KV cache.
double CachedLayers(const Deployment& deployment, double cached_attention, BytesPerToken layer_kv_cache, Trace& trace) {
  if (!deployment.load.speculative) {
    trace.Alias("cached_layers", cached_attention, "cached_attention");
    return cached_attention;
  }
  const auto modules = static_cast<double>(deployment.load.speculative->modules);
  const double draft_kv_cache = deployment.load.speculative->draft_kv_cache, tp = deployment.mapping.tp;
  const Bytes half = 2.0 * kB;
  trace.Input("modules", modules, "serving.speculative.modules");
  trace.Input("draft_kv_cache", draft_kv_cache, "serving.speculative.draft_kv_cache");
  FIGURE(trace, cached_layers,
         cached_attention + modules + draft_kv_cache * half / (tp * layer_kv_cache * (1 * kToken)),
         (Note{"Layers with a KV cache on the stage",
               "the model's, MTP modules that draft, and a draft model's KV cache in 16 bit as so many layers"}),
         cached_attention, modules, draft_kv_cache, half, tp, layer_kv_cache);
  return cached_layers;
}

// Layers with a sliding window on the stage, as so many layers with the others' KV heads.
double CachedWindows(const Deployment& deployment, double cached_window, Trace& trace) {
  if (!deployment.model.HasWindows()) {
    trace.Alias("cached_windows", cached_window, "cached_window");
    return cached_window;
  }
  const double decode_kv_heads = deployment.shapes.decode_kv_heads,
               decode_window_kv_heads = deployment.shapes.decode_window_kv_heads, head_dim = deployment.shapes.head_dim,
               window_head_dim = deployment.shapes.window_head_dim;
  trace.Input("head_dim", head_dim, "model.head_dim");
  FIGURE(trace, cached_windows, cached_window * decode_window_kv_heads * window_head_dim / (decode_kv_heads * head_dim),
         (Note{"Layers with a sliding window on the stage", "as so many layers with the KV heads of the others"}),
         cached_window, decode_window_kv_heads, window_head_dim, decode_kv_heads, head_dim);
  return cached_windows;
}

// KV cache of a layer and token on one rank.
BytesPerToken KvCacheOfLayer(const Deployment& deployment, Trace& trace) {
  const Bytes kv_element = ElementSize(deployment.formats.kv_cache);
  const double context_ranks = deployment.mapping.context_ranks;
  trace.Input("kv_element", kv_element, "serving.precision.kv_cache");
  constexpr Note kNote{"KV cache of a layer and token on one device", "context parallelism splits it"};
  if (deployment.model.compressed) {
    const BytesPerToken layer_growth = CompressedGrowth(deployment, trace);
    FIGURE(trace, layer_kv_cache, layer_growth / context_ranks, kNote, layer_growth, context_ranks);
    return layer_kv_cache;
  }
  if (deployment.model.mla) {
    const auto [latent, rotary] = LatentElements(*deployment.model.mla, trace);
    if (deployment.model.indexer) {
      const Bytes key = IndexKey(deployment, trace);
      const double index_share = IndexShare(deployment.model, trace);
      FIGURE(trace, layer_kv_cache, ((latent + rotary) * kv_element + index_share * key) / context_ranks / (1 * kToken),
             (Note{"KV cache of a layer and token on one device",
                   "with the indexer's key; context parallelism splits it"}),
             latent, rotary, kv_element, index_share, key, context_ranks);
      return layer_kv_cache;
    }
    FIGURE(trace, layer_kv_cache, (latent + rotary) / context_ranks * kv_element / (1 * kToken), kNote, latent, rotary,
           context_ranks, kv_element);
    return layer_kv_cache;
  }
  const double decode_kv_heads = deployment.shapes.decode_kv_heads, head_dim = deployment.shapes.head_dim;
  trace.Input("head_dim", head_dim, "model.head_dim");
  const double index_columns = IndexColumns(deployment, trace);
  FIGURE(trace, layer_kv_cache,
         (2 * decode_kv_heads * head_dim + index_columns) / context_ranks * kv_element / (1 * kToken), kNote,
         decode_kv_heads, head_dim, index_columns, context_ranks, kv_element);
  return layer_kv_cache;
}

// Tokens in the whole pages that hold `page_tokens`.
double PagedTokens(double page_tokens, double block, Trace& trace) {
  FIGURE(trace, paged_tokens, ceil(page_tokens / block - 1e-9) * block,
         (Note{"Tokens in whole pages", "of the KV cache"}), page_tokens, block);
  return paged_tokens;
}

BytesPerToken KvCachePerToken(const Deployment& deployment, Trace& trace) {
  // Recurrent layers have a state of fixed size instead.
  const double attention_layers = deployment.layers.attention;
  const Bytes kv_element = ElementSize(deployment.formats.kv_cache);
  trace.Input("kv_element", kv_element, "serving.precision.kv_cache");
  if (deployment.model.mla) {
    const auto [latent, rotary] = LatentElements(*deployment.model.mla, trace);
    if (deployment.model.indexer) {
      const Bytes key = IndexKey(deployment, trace);
      const double index_share = IndexShare(deployment.model, trace);
      FIGURE(trace, kv_cache_per_token,
             attention_layers * ((latent + rotary) * kv_element + index_share * key) / (1 * kToken),
             (Note{"KV cache per token", "latent and rotary part and the indexer's key, all layers of the model",
                   "DeepSeek-V3.2-Exp, 2025", "serving.kv_cache_bytes_per_token"}),
             attention_layers, latent, rotary, kv_element, index_share, key);
      return kv_cache_per_token;
    }
    FIGURE(trace, kv_cache_per_token, attention_layers * (latent + rotary) * kv_element / (1 * kToken),
           (Note{"KV cache per token", "latent and rotary part, all layers of the model",
                 "DeepSeek-V2, arXiv 2405.04434", "serving.kv_cache_bytes_per_token"}),
           attention_layers, latent, rotary, kv_element);
    return kv_cache_per_token;
  }
  if (deployment.model.compressed) {
    const BytesPerToken layer_growth = CompressedGrowth(deployment, trace);
    FIGURE(trace, kv_cache_per_token, attention_layers * layer_growth,
           (Note{"KV cache per token",
                 "entries of several tokens and their keys, all layers of the model; beside it a window of fixed size",
                 "", "serving.kv_cache_bytes_per_token"}),
           attention_layers, layer_growth);
    return kv_cache_per_token;
  }
  const double kv_heads = static_cast<double>(deployment.model.KvHeads()), head_dim = deployment.shapes.head_dim;
  trace.Input("kv_heads", kv_heads, "model.kv_heads");
  trace.Input("head_dim", head_dim, "model.head_dim");
  if (deployment.model.SharesKv()) return SharedKvPerToken(deployment, kv_element, trace);
  if (deployment.model.HasWindows()) {
    const double full_layers = deployment.layers.full, window_layers = deployment.layers.window,
                 window_kv_heads = static_cast<double>(deployment.model.WindowKvHeads()),
                 window_head_dim = deployment.shapes.window_head_dim;
    FIGURE(trace, kv_cache_per_token,
           2 * (full_layers * kv_heads * head_dim + window_layers * window_kv_heads * window_head_dim) * kv_element /
               (1 * kToken),
           (Note{"KV cache per token",
                 "keys and values of every KV head in all layers of the model, local layers with their own", "",
                 "serving.kv_cache_bytes_per_token"}),
           full_layers, kv_heads, head_dim, window_layers, window_kv_heads, window_head_dim, kv_element);
    return kv_cache_per_token;
  }
  const double index_columns = IndexColumns(deployment, trace);
  FIGURE(
      trace, kv_cache_per_token,
      attention_layers * (2 * kv_heads * head_dim + index_columns) * kv_element / (1 * kToken),
      (Note{"KV cache per token", "keys and values of every KV head, and an indexer's key, in all layers of the model",
            "", "serving.kv_cache_bytes_per_token"}),
      attention_layers, kv_heads, head_dim, index_columns, kv_element);
  return kv_cache_per_token;
}

Bytes KvCacheOfSequence(const Deployment& deployment, double held_tokens, Trace& trace) {
  const BytesPerToken layer_kv_cache = KvCacheOfLayer(deployment, trace);
  const auto [cached_attention, cached_window] = CachedOnStage(deployment, trace);
  const double cached_layers = CachedLayers(deployment, cached_attention, layer_kv_cache, trace);
  const auto sliding_window = static_cast<double>(deployment.model.window.tokens),
             block = static_cast<double>(deployment.engine.memory.block);
  trace.Alias("page_tokens", held_tokens, "held_tokens");
  const double full_pages = PagedTokens(held_tokens, block, trace);
  trace.Alias("full_pages", full_pages, "paged_tokens");
  const double window_share = deployment.engine.memory.window_share;
  trace.Input("window_share", window_share, "serving.engine.memory.window_share");
  FIGURE(trace, window_held, max(min(held_tokens, sliding_window), window_share * held_tokens),
         (Note{"Tokens that a layer with a sliding window holds", "at least the engine's share of all"}), held_tokens,
         sliding_window, window_share);
  trace.Alias("page_tokens", window_held, "window_held");
  const double window_pages = PagedTokens(window_held, block, trace);
  trace.Alias("window_pages", window_pages, "paged_tokens");
  const double cached_windows = CachedWindows(deployment, cached_window, trace);
  FIGURE(trace, kv_cache_of_layers,
         layer_kv_cache * ((cached_layers - cached_window) * full_pages + cached_windows * window_pages) * (1 * kToken),
         (Note{"KV cache of a sequence on one device", "whole pages"}), layer_kv_cache, cached_layers, cached_window,
         full_pages, cached_windows, window_pages);
  if (deployment.model.compressed) {
    const Bytes layer_fixed = CompressedFixed(deployment, held_tokens, trace);
    FIGURE(trace, kv_cache_of_sequence, kv_cache_of_layers + cached_layers * layer_fixed,
           (Note{"KV cache of a sequence on one device", "with the windows, whatever its length"}), kv_cache_of_layers,
           cached_layers, layer_fixed);
    return kv_cache_of_sequence;
  }
  if (deployment.layers.recurrent <= 0) {
    trace.Alias("kv_cache_of_sequence", kv_cache_of_layers, "kv_cache_of_layers");
    return kv_cache_of_layers;
  }
  const Bytes device_state = StatesOfSequence(deployment, trace);
  FIGURE(trace, kv_cache_of_sequence, kv_cache_of_layers + device_state,
         (Note{"KV cache and recurrent state of a sequence on one device", ""}), kv_cache_of_layers, device_state);
  return kv_cache_of_sequence;
}

Bytes StateOfSequence(const Deployment& deployment, Trace& trace) {
  if (!deployment.model.linear_attention) return {};
  const double recurrent_layers = deployment.layers.recurrent, state_elements = deployment.shapes.state_elements;
  const Bytes state_element = ElementSize(deployment.load.precision.state);
  trace.Input("state_element", state_element, "serving.precision.state");
  FIGURE(trace, state_of_sequence, recurrent_layers * state_elements * state_element,
         (Note{"Recurrent state per sequence", "all recurrent layers; independent of the sequence length", "",
               "serving.state_bytes_per_sequence"}),
         recurrent_layers, state_elements, state_element);
  return state_of_sequence;
}

}  // namespace slipstick
