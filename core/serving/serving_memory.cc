#include "core/serving/serving_memory.h"

#include "core/engine_step/prompt_tokens.h"
#include "core/operators/efficiency.h"
#include "core/operators/sparse_attention.h"
#include "core/serving/kv_cache_layers.h"

namespace slipstick {
namespace {

constexpr Count kLongest = 1'000'000'000;
constexpr double kLogitBytes = 10;  // 16-bit gathered logits, fp32 copy, fp32 probabilities

// Memory for the KV cache, in device and host.
Bytes RoomOf(const KvCacheBudget& budget, Trace& trace) {
  const Bytes room = budget.Room();
  if (!(budget.host > Bytes{})) {
    trace.Alias("room", room, "kv_cache_budget");
    return room;
  }
  const Bytes kv_cache_budget = budget.kv_cache, host_memory = budget.host;
  trace.Input("host_memory", host_memory, "serving.kv_offload.capacity");
  FIGURE(trace, room_with_host, kv_cache_budget + host_memory, (Note{"Memory for the KV cache", "of the device and of the host"}),
         kv_cache_budget, host_memory);
  trace.Alias("room", room, "room_with_host");
  return room;
}

}  // namespace

BytesPerToken KvCachePerToken(const Deployment& deployment, Trace& trace) {
  // Recurrent layers have a state of fixed size instead.
  const double attention_layers = deployment.layers.attention;
  const Bytes kv_element = ElementSize(deployment.formats.kv_cache);
  trace.Input("kv_element", kv_element, "serving.precision.kv_cache");
  if (deployment.model.mla) {
    const auto latent = static_cast<double>(deployment.model.mla->kv_lora_rank);
    const auto rotary = static_cast<double>(deployment.model.mla->rope_head_dim);
    trace.Input("latent", latent, "model.mla.kv_lora_rank");
    trace.Input("rotary", rotary, "model.mla.rope_head_dim");
    if (deployment.model.indexer) {
      const Bytes key = IndexKey(deployment, trace);
      const double index_share = IndexShare(deployment.model, trace);
      FIGURE(trace, kv_cache_per_token, attention_layers * ((latent + rotary) * kv_element + index_share * key) / (1 * kToken),
             (Note{"KV cache per token", "latent and rotary part and the indexer's key, all layers of the model", "DeepSeek-V3.2-Exp, 2025",
                   "serving.kv_cache_bytes_per_token"}),
             attention_layers, latent, rotary, kv_element, index_share, key);
      return kv_cache_per_token;
    }
    FIGURE(trace, kv_cache_per_token, attention_layers * (latent + rotary) * kv_element / (1 * kToken),
           (Note{"KV cache per token", "latent and rotary part, all layers of the model", "DeepSeek-V2, arXiv 2405.04434",
                 "serving.kv_cache_bytes_per_token"}),
           attention_layers, latent, rotary, kv_element);
    return kv_cache_per_token;
  }
  const double kv_heads = static_cast<double>(deployment.model.KvHeads()), head_dim = deployment.shapes.head_dim;
  trace.Input("kv_heads", kv_heads, "model.kv_heads");
  trace.Input("head_dim", head_dim, "model.head_dim");
  if (deployment.model.HasWindows()) {
    const double full_layers = deployment.layers.full, window_layers = deployment.layers.window,
                 window_kv_heads = static_cast<double>(deployment.model.WindowKvHeads()),
                 window_head_dim = deployment.shapes.window_head_dim;
    FIGURE(trace, kv_cache_per_token,
           2 * (full_layers * kv_heads * head_dim + window_layers * window_kv_heads * window_head_dim) * kv_element / (1 * kToken),
           (Note{"KV cache per token", "keys and values of every KV head in all layers of the model, local layers with their own", "",
                 "serving.kv_cache_bytes_per_token"}),
           full_layers, kv_heads, head_dim, window_layers, window_kv_heads, window_head_dim, kv_element);
    return kv_cache_per_token;
  }
  const double index_columns = IndexColumns(deployment, trace);
  FIGURE(trace, kv_cache_per_token, attention_layers * (2 * kv_heads * head_dim + index_columns) * kv_element / (1 * kToken),
         (Note{"KV cache per token", "keys and values of every KV head, and an indexer's key, in all layers of the model", "",
               "serving.kv_cache_bytes_per_token"}),
         attention_layers, kv_heads, head_dim, index_columns, kv_element);
  return kv_cache_per_token;
}

Bytes KvCacheOfSequence(const Deployment& deployment, double held_tokens, Trace& trace) {
  const BytesPerToken layer_kv_cache = KvCacheOfLayer(deployment, trace);
  const double stage_window = deployment.layers.on_stage.window, cached_layers = CachedLayers(deployment, layer_kv_cache, trace);
  const auto sliding_window = static_cast<double>(deployment.model.window.tokens),
             block = static_cast<double>(deployment.engine.memory.block);
  trace.Alias("page_tokens", held_tokens, "held_tokens");
  const double full_pages = PagedTokens(held_tokens, block, trace);
  trace.Alias("full_pages", full_pages, "paged_tokens");
  const double window_share = deployment.engine.memory.window_share;
  trace.Input("window_share", window_share, "serving.engine.memory.window_share");
  FIGURE(trace, window_held, max(min(held_tokens, sliding_window), window_share * held_tokens),
         (Note{"Tokens that a layer with a sliding window holds", "at least the engine's share of all"}), held_tokens, sliding_window,
         window_share);
  trace.Alias("page_tokens", window_held, "window_held");
  const double window_pages = PagedTokens(window_held, block, trace);
  trace.Alias("window_pages", window_pages, "paged_tokens");
  const double cached_windows = CachedWindows(deployment, trace);
  FIGURE(trace, kv_cache_of_layers,
         layer_kv_cache * ((cached_layers - stage_window) * full_pages + cached_windows * window_pages) * (1 * kToken),
         (Note{"KV cache of a sequence on one device", "whole pages"}), layer_kv_cache, cached_layers, stage_window, full_pages,
         cached_windows, window_pages);
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

Bytes PrefixBytes(const Deployment& deployment, double cached, Trace& trace) {
  trace.Alias("held_tokens", cached, "cached");
  const Bytes prefix = KvCacheOfSequence(deployment, cached, trace);
  trace.Alias("prefix", prefix, "kv_cache_of_sequence");
  trace.Input("host_share", deployment.load.prefix_cache->host_share, "serving.prefix_cache.host_share");
  trace.Input("ssd_share", deployment.load.prefix_cache->ssd_share, "serving.prefix_cache.ssd_share");
  return prefix;
}

KeptPrefixes KeptPrefixesOf(const Deployment& deployment, Trace& trace) {
  if (!deployment.load.prefix_cache) return {};
  const Trace::Scope scope(trace, "kept_prefixes");
  const auto prefixes = static_cast<double>(deployment.load.prefix_cache->prefixes);
  const double cached = ComputedTokens(deployment.load, trace).cached;
  const double host_share = deployment.load.prefix_cache->host_share, ssd_share = deployment.load.prefix_cache->ssd_share;
  const Bytes prefix = PrefixBytes(deployment, cached, trace);
  trace.Input("prefixes", prefixes, "serving.prefix_cache.prefixes");
  FIGURE(trace, kept_in_host, prefixes * prefix * host_share,
         (Note{"Prefixes kept in host memory", "per device", "", "serving.prefix_cache.host_bytes"}), prefixes, prefix, host_share);
  FIGURE(trace, kept_on_ssd, prefixes * prefix * ssd_share,
         (Note{"Prefixes kept on SSD", "per device", "", "serving.prefix_cache.ssd_bytes"}), prefixes, prefix, ssd_share);
  FIGURE(trace, kept_on_device, prefixes * prefix * (1 - host_share - ssd_share),
         (Note{"Prefixes kept in device memory", "beside those of running requests", "", "serving.prefix_cache.device_bytes"}), prefixes,
         prefix, host_share, ssd_share);
  return {kept_on_device, kept_in_host, kept_on_ssd};
}

KvCacheBudget KvCacheBudgetOf(const Deployment& deployment, Trace& trace) {
  const MemoryBudget& rule = deployment.engine.memory;
  KvCacheBudget budget;
  const Bytes visible = UsableMemory(deployment.device);
  trace.Input("visible", visible, "cluster.device.memory.usable");
  const Bytes weights = WeightsOf(deployment, trace);
  const auto activation_tokens = static_cast<double>(rule.activation_tokens);
  const double hidden = deployment.shapes.hidden, rank_mlp = deployment.shapes.widths.mlp;
  const auto logit_sequences = static_cast<double>(rule.logit_sequences), vocab = static_cast<double>(deployment.model.vocab);
  const Bytes logit = kLogitBytes * kB, half = 2.0 * kB;
  CONSTANTS(trace, "serving.activations", "16-bit gathered logits, fp32 copy, fp32 probabilities", logit);
  FIGURE(trace, activations, max(2 * activation_tokens * (hidden + rank_mlp) * half, logit_sequences * vocab * logit),
         (Note{"Activations",
               "of the largest step that the engine reserves memory for: residual stream and MLP width, or the gathered "
               "logits",
               "", "serving.memory_bytes.activations"}),
         activation_tokens, hidden, rank_mlp, half, logit_sequences, vocab, logit);
  const Bytes reserve = rule.reserve, parallel_reserve = rule.reserve_parallel;
  const double tp = deployment.mapping.tp;
  trace.Input("parallel_reserve", parallel_reserve, "serving.engine.memory.reserve_parallel");
  FIGURE(trace, workspace, reserve + min(1.0, tp - 1) * parallel_reserve,
         (Note{"Workspace", "context, communication buffers of several ranks, graphs, as in the engine's logs", "",
               "serving.memory_bytes.workspace"}),
         reserve, tp, parallel_reserve);
  const double share = rule.share;
  trace.Input("share", share, "serving.engine.memory.share");
  if (rule.rule == BudgetRule::kShareOfDevice) {
    FIGURE(trace, kv_cache_budget, max(0 * kB, share * visible - weights - activations - workspace),
           (Note{"KV-cache budget", "the engine's share of device memory, less weights, activations and workspace"}), share, visible,
           weights, activations, workspace);
    budget.kv_cache = kv_cache_budget;
  } else {
    FIGURE(trace, kv_cache_budget, max(0 * kB, share * (visible - weights - activations - workspace)),
           (Note{"KV-cache budget", "the engine's share of the memory left free by weights, activations and workspace"}), share, visible,
           weights, activations, workspace);
    budget.kv_cache = kv_cache_budget;
  }
  if (deployment.load.prefix_cache) {
    const Bytes before_prefixes = budget.kv_cache, kept_on_device = KeptPrefixesOf(deployment, trace).device;
    trace.Alias("before_prefixes", before_prefixes, "kv_cache_budget");
    FIGURE(trace, kv_cache_budget, max(0 * kB, before_prefixes - kept_on_device),
           (Note{"KV-cache budget of running requests", "less the prefixes that are kept beside theirs"}), before_prefixes, kept_on_device);
    budget.prefixes = before_prefixes - kv_cache_budget;
    budget.kv_cache = kv_cache_budget;
  }
  if (deployment.load.kv_offload && budget.kv_cache > Bytes{}) budget.host = deployment.load.kv_offload->capacity;
  budget.capacity = visible;
  budget.weights = weights;
  budget.activations = activations;
  budget.workspace = workspace;
  return budget;
}

// The engine's own limit of running sequences, or the load's.
double EngineLimit(const Deployment& deployment, Trace& trace) {
  const std::optional<Count> requested = deployment.load.max_requests;
  const auto engine_limit = static_cast<double>(requested.value_or(deployment.engine.scheduler.max_sequences));
  trace.Input("engine_limit", engine_limit, requested ? "serving.max_requests" : "serving.engine.max_sequences");
  return engine_limit;
}

double BatchThatFits(const Deployment& deployment, const KvCacheBudget& budget, double prompt, double output, Trace& trace) {
  const double output_reserved = deployment.engine.memory.output_reserved;
  trace.Input("output_reserved", output_reserved, "serving.engine.memory.output_reserved");
  FIGURE(trace, held_tokens, prompt + output_reserved * output,
         (Note{"Tokens that a request holds on admission", "with the part of its output that the engine reserves"}), prompt,
         output_reserved, output);
  const Bytes kv_cache_of_request = KvCacheOfSequence(deployment, held_tokens, trace);
  trace.Alias("kv_cache_of_request", kv_cache_of_request, "kv_cache_of_sequence");
  const double engine_limit = EngineLimit(deployment, trace), attention_dp = deployment.mapping.attention_dp;
  const Bytes room = RoomOf(budget, trace);
  FIGURE(trace, group_batch, min(floor(room / kv_cache_of_request + 1e-9), engine_limit),
         (Note{"Maximum concurrent sequences of an attention group", "whole sequences; at most the engine's limit"}), room,
         kv_cache_of_request, engine_limit);
  FIGURE(trace, max_batch, attention_dp * group_batch,
         (Note{"Maximum concurrent sequences",
               "whole sequences, with the fraction of the output that the engine reserves on admission; at most the engine's limit", "",
               "serving.max_batch"}),
         attention_dp, group_batch);
  return max_batch / attention_dp;
}

// Memory for the KV cache of a single sequence.
Bytes ContextRoom(const Deployment& deployment, const KvCacheBudget& budget, Trace& trace) {
  const Bytes room = RoomOf(budget, trace);
  if (deployment.layers.recurrent <= 0) {
    trace.Alias("context_room", room, "room");
    return room;
  }
  const Bytes device_state = StatesOfSequence(deployment, trace);
  FIGURE(trace, context_room, max(room - device_state, 0 * kB), (Note{"KV cache of a single sequence", "beside its recurrent state"}), room,
         device_state);
  return context_room;
}

// Tokens of a layer that full windows leave to the layers whose KV cache grows.
double GrowingTokens(double layer_tokens, double window_tokens, Trace& trace) {
  if (window_tokens <= 0) {
    trace.Alias("growing_tokens", layer_tokens, "layer_tokens");
    return layer_tokens;
  }
  FIGURE(trace, growing_tokens, layer_tokens - window_tokens,
         (Note{"Tokens that fit beside the full windows", "if one layer had all the room"}), layer_tokens, window_tokens);
  return growing_tokens;
}

// The context whose pages fill what full windows leave of the room.
double LongestContext(Bytes context_room, BytesPerToken layer_kv_cache, double window_tokens, double growing, double block, Trace& trace) {
  const double longest = static_cast<double>(kLongest);
  CONSTANTS(trace, "serving.context", "no context is longer", longest);
  FIGURE(trace, layer_tokens, context_room / (layer_kv_cache * (1 * kToken)), (Note{"Tokens that fit", "if one layer had all the room"}),
         context_room, layer_kv_cache);
  const double growing_tokens = GrowingTokens(layer_tokens, window_tokens, trace);
  FIGURE(trace, max_context, min(longest, max(0.0, floor(growing_tokens / (growing * block) + 1e-9) * block)),
         (Note{"Maximum context", "of a single sequence, in whole pages; sliding-window layers hold at most their window", "",
               "serving.max_context"}),
         longest, growing_tokens, growing, block);
  return max_context;
}

double ContextThatFits(const Deployment& deployment, const KvCacheBudget& budget, Trace& trace) {
  const BytesPerToken layer_kv_cache = KvCacheOfLayer(deployment, trace);
  const auto block = static_cast<double>(deployment.engine.memory.block);
  const Bytes context_room = ContextRoom(deployment, budget, trace);
  const double stage_window = deployment.layers.on_stage.window, cached_layers = CachedLayers(deployment, layer_kv_cache, trace);
  const auto sliding_window = static_cast<double>(deployment.model.window.tokens);
  const double cached_windows = CachedWindows(deployment, trace);
  FIGURE(trace, all_layers, cached_layers - stage_window + cached_windows,
         (Note{"Layers with a KV cache", "as so many with the KV heads of those that attend to all tokens"}), cached_layers, stage_window,
         cached_windows);
  double growing = all_layers, full_windows = 0;
  const double layer_room = context_room / (layer_kv_cache * (1 * kToken));
  if (stage_window > 0 && layer_room > sliding_window * all_layers) {
    trace.Alias("page_tokens", sliding_window, "sliding_window");
    const double window_pages = PagedTokens(sliding_window, block, trace), window_share = deployment.engine.memory.window_share;
    trace.Alias("window_pages", window_pages, "paged_tokens");
    trace.Input("window_share", window_share, "serving.engine.memory.window_share");
    constexpr Note kNote{"Layers whose KV cache grows with the context", "those with a window by the engine's share, where that is more"};
    if (window_share * (layer_room - cached_windows * window_pages) > (cached_layers - stage_window) * sliding_window) {
      FIGURE(trace, growing_layers, cached_layers - stage_window + window_share * cached_windows, kNote, cached_layers, stage_window,
             window_share, cached_windows);
      growing = growing_layers;
    } else {
      FIGURE(trace, growing_layers, cached_layers - stage_window, kNote, cached_layers, stage_window);
      FIGURE(trace, window_tokens, cached_windows * window_pages, (Note{"Tokens of full windows", "all layers"}), cached_windows,
             window_pages);
      growing = growing_layers;
      full_windows = window_tokens;
    }
    trace.Alias("growing", growing, "growing_layers");
  } else {
    trace.Alias("growing", growing, "all_layers");
  }
  // If every layer has a window, any length fits.
  if (growing <= 0) return static_cast<double>(kLongest);
  return LongestContext(context_room, layer_kv_cache, full_windows, growing, block, trace);
}

}  // namespace slipstick
