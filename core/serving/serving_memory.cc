#include "core/serving/serving_memory.h"

#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/prompt_tokens.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr Count kLongest = 1'000'000'000;

// Host memory for the KV cache, per device: what the load offers, of what prefixes and experts leave. Only a single
// device has experts there, so that its replica's are its own.
Bytes HostRoom(const Deployment& deployment, Trace& trace) {
  const Bytes offered = deployment.load.kv_offload->capacity, host_memory = deployment.device.host.memory;
  const bool has_experts = deployment.load.host_experts.has_value();
  const Bytes host_weights = has_experts ? HostWeights(deployment, trace) : Bytes{},
              kept_in_host = KeptPrefixesOf(deployment, trace).host;
  trace.Input("offered", offered, "serving.kv_offload.capacity");
  trace.Input("host_memory", host_memory, "cluster.device.host.memory");
  if (!has_experts) trace.Input("host_weights", host_weights, "serving.host_experts");
  if (!deployment.load.prefix_cache) trace.Input("kept_in_host", kept_in_host, "serving.prefix_cache");
  FIGURE(trace, host_room, min(offered, max(0 * kB, host_memory - host_weights - kept_in_host)),
         (Note{"Host memory for the KV cache", "per device, beside experts and cached prefixes"}), offered, host_memory,
         host_weights, kept_in_host);
  return host_room;
}

// Memory for the KV cache, in device and host.
Bytes RoomOf(const KvCacheBudget& budget, Trace& trace) {
  const Bytes room = budget.Room();
  if (!(budget.host > Bytes{})) {
    trace.Alias("room", room, "kv_cache_budget");
    return room;
  }
  const Bytes kv_cache_budget = budget.kv_cache, host_room = budget.host;
  FIGURE(trace, room_with_host, kv_cache_budget + host_room,
         (Note{"Memory for the KV cache", "of the device and of the host"}), kv_cache_budget, host_room);
  trace.Alias("room", room, "room_with_host");
  return room;
}

}  // namespace

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
  const double host_share = deployment.load.prefix_cache->host_share,
               ssd_share = deployment.load.prefix_cache->ssd_share;
  const Bytes prefix = PrefixBytes(deployment, cached, trace);
  trace.Input("prefixes", prefixes, "serving.prefix_cache.prefixes");
  FIGURE(trace, kept_in_host, prefixes * prefix * host_share,
         (Note{"Prefixes kept in host memory", "per device", "", "serving.prefix_cache.host_bytes"}), prefixes, prefix,
         host_share);
  FIGURE(trace, kept_on_ssd, prefixes * prefix * ssd_share,
         (Note{"Prefixes kept on SSD", "per device", "", "serving.prefix_cache.ssd_bytes"}), prefixes, prefix,
         ssd_share);
  FIGURE(trace, kept_on_device, prefixes * prefix * (1 - host_share - ssd_share),
         (Note{"Prefixes kept in device memory", "beside those of running requests", "",
               "serving.prefix_cache.device_bytes"}),
         prefixes, prefix, host_share, ssd_share);
  return {kept_on_device, kept_in_host, kept_on_ssd};
}

KeptPrefixes IdlePrefixesOf(const Deployment& deployment, Trace& trace) {
  const double idle_sessions = deployment.load.idle_sessions.value_or(0);
  if (!(idle_sessions > 0) || (!(deployment.load.prefix_hit > 0) && !trace.on())) return {};
  const Trace::Scope scope(trace, "idle_sessions");
  trace.Input("idle_sessions", idle_sessions, "serving.idle_sessions");
  const double cached = ComputedTokens(deployment.load, trace).cached;
  constexpr Note kNote{"Prefixes of waiting sessions in device memory", "for each running request"};
  if (!deployment.load.prefix_cache) {
    trace.Alias("held_tokens", cached, "cached");
    const Bytes prefix = KvCacheOfSequence(deployment, cached, trace);
    trace.Alias("prefix", prefix, "kv_cache_of_sequence");
    FIGURE(trace, idle_on_device, idle_sessions * prefix, kNote, idle_sessions, prefix);
    return {idle_on_device, {}, {}};
  }
  const double host_share = deployment.load.prefix_cache->host_share,
               ssd_share = deployment.load.prefix_cache->ssd_share;
  const Bytes prefix = PrefixBytes(deployment, cached, trace);
  FIGURE(trace, idle_in_host, idle_sessions * prefix * host_share,
         (Note{"Prefixes of waiting sessions in host memory", "for each running request"}), idle_sessions, prefix,
         host_share);
  FIGURE(trace, idle_on_ssd, idle_sessions * prefix * ssd_share,
         (Note{"Prefixes of waiting sessions on SSD", "for each running request"}), idle_sessions, prefix, ssd_share);
  FIGURE(trace, idle_on_device, idle_sessions * prefix * (1 - host_share - ssd_share), kNote, idle_sessions, prefix,
         host_share, ssd_share);
  return {idle_on_device, idle_in_host, idle_on_ssd};
}

KvCacheBudget KvCacheBudgetOf(const Deployment& deployment, Trace& trace) {
  const MemoryBudget& rule = deployment.engine.memory;
  KvCacheBudget budget;
  const Bytes visible = UsableMemory(deployment.device);
  trace.Input("visible", visible, "cluster.device.memory.usable");
  const Bytes weights = WeightsOf(deployment, trace);
  const Bytes activations = ActivationsOf(deployment, trace);
  const Bytes workspace = WorkspaceOf(deployment, trace);
  const double share = rule.share;
  trace.Input("share", share, "serving.engine.memory.share");
  constexpr std::string_view kTitle = "KV-cache budget";
  switch (rule.rule) {
    case BudgetRule::kShareOfDevice: {
      FIGURE(trace, kv_cache_budget, max(0 * kB, share * visible - weights - activations - workspace),
             (Note{kTitle, "the engine's share of device memory, less weights, activations and workspace"}), share,
             visible, weights, activations, workspace);
      budget.kv_cache = kv_cache_budget;
      break;
    }
    case BudgetRule::kShareOfFree: {
      FIGURE(trace, kv_cache_budget, max(0 * kB, share * (visible - weights - activations - workspace)),
             (Note{kTitle, "the engine's share of the memory left free by weights, activations and workspace"}), share,
             visible, weights, activations, workspace);
      budget.kv_cache = kv_cache_budget;
      break;
    }
    case BudgetRule::kShareOfStart: {
      FIGURE(trace, kv_cache_budget,
             max(0 * kB, min(share * (visible - workspace), visible - workspace - activations) - weights),
             (Note{kTitle,
                   "the engine's share of the memory free at its start, less weights; activations fit in the rest"}),
             share, visible, workspace, activations, weights);
      budget.kv_cache = kv_cache_budget;
      break;
    }
  }
  if (deployment.load.prefix_cache) {
    const Bytes before_prefixes = budget.kv_cache, kept_on_device = KeptPrefixesOf(deployment, trace).device;
    trace.Alias("before_prefixes", before_prefixes, "kv_cache_budget");
    FIGURE(trace, kv_cache_budget, max(0 * kB, before_prefixes - kept_on_device),
           (Note{"KV-cache budget of running requests", "less the prefixes that are kept beside theirs"}),
           before_prefixes, kept_on_device);
    budget.prefixes = before_prefixes - kv_cache_budget;
    budget.kv_cache = kv_cache_budget;
  }
  if (deployment.load.kv_offload && budget.kv_cache > Bytes{}) budget.host = HostRoom(deployment, trace);
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

Bytes KvCacheOfRequest(const Deployment& deployment, double prompt, double output, Trace& trace) {
  const double output_reserved = deployment.engine.memory.output_reserved;
  trace.Input("output_reserved", output_reserved, "serving.engine.memory.output_reserved");
  FIGURE(trace, held_tokens, prompt + max(output / 2, output_reserved * output),
         (Note{"Tokens that a running request holds",
               "its prompt and half of its output in the mean, or what the engine reserves of it"}),
         prompt, output, output_reserved);
  const Bytes kv_cache_of_request = KvCacheOfSequence(deployment, held_tokens, trace);
  trace.Alias("kv_cache_of_request", kv_cache_of_request, "kv_cache_of_sequence");
  return kv_cache_of_request;
}

Bytes KvCacheAtEnd(const Deployment& deployment, double prompt, double output, Trace& trace) {
  FIGURE(trace, held_tokens, prompt + output, (Note{"Tokens of a request at its end", ""}), prompt, output);
  const Bytes kv_cache_at_end = KvCacheOfSequence(deployment, held_tokens, trace);
  trace.Alias("kv_cache_at_end", kv_cache_at_end, "kv_cache_of_sequence");
  return kv_cache_at_end;
}

// With the prefixes of the sessions that wait for it.
Bytes KvCacheWithIdle(const Deployment& deployment, Bytes kv_cache_of_request, Trace& trace) {
  const Bytes idle_on_device = IdlePrefixesOf(deployment, trace).device;
  if (!(deployment.load.idle_sessions.value_or(0) > 0)) {
    trace.Alias("kept_per_request", kv_cache_of_request, "kv_cache_of_request");
    return kv_cache_of_request;
  }
  FIGURE(trace, kept_per_request, kv_cache_of_request + idle_on_device,
         (Note{"KV cache kept per running request", "its own, and the prefixes of the sessions that wait"}),
         kv_cache_of_request, idle_on_device);
  return kept_per_request;
}

SessionMemory SessionMemoryOf(const Deployment& deployment, const KvCacheBudget& budget, Trace& trace) {
  const auto system_prompt = static_cast<double>(deployment.load.sessions->system_prompt),
             prompt = static_cast<double>(deployment.load.prompt), output = static_cast<double>(deployment.load.output);
  trace.Input("held_tokens", system_prompt, "serving.sessions.system_prompt");
  const Bytes system_kv_cache = KvCacheOfSequence(deployment, system_prompt, trace);
  trace.Alias("system_kv_cache", system_kv_cache, "kv_cache_of_sequence");
  const Bytes kv_cache_of_request = KvCacheOfRequest(deployment, prompt, output, trace);
  const Bytes room = RoomOf(budget, trace);
  FIGURE(trace, session_room, max(0 * kB, room - system_kv_cache),
         (Note{"KV cache beside the shared system prompt", "of running requests and idle contexts"}), room,
         system_kv_cache);
  FIGURE(trace, own_kv_cache, max(0 * kB, kv_cache_of_request - system_kv_cache),
         (Note{"KV cache of a running request", "beside the shared system prompt, mean over the turns"}),
         kv_cache_of_request, system_kv_cache);
  return {system_kv_cache, session_room, own_kv_cache};
}

namespace {

// Requests of sessions share their system prompt; the last turn must fit.
double TurnsThatFit(const Deployment& deployment, const KvCacheBudget& budget, double output, Trace& trace) {
  const auto longest_prompt = static_cast<double>(LongestPrompt(*deployment.load.sessions, deployment.load.output));
  trace.Procedure("prompt", longest_prompt, Note{"Prompt of the last turn", "counted from the sessions"}, "output",
                  output);
  const Bytes kv_cache_at_end = KvCacheAtEnd(deployment, longest_prompt, output, trace);
  trace.Input("prompt", static_cast<double>(deployment.load.prompt), "serving.prompt");
  const auto [system_kv_cache, session_room, own_kv_cache] = SessionMemoryOf(deployment, budget, trace);
  const Ratio engine_limit = EngineLimit(deployment, trace);
  const double attention_dp = deployment.mapping.attention_dp;
  const Bytes room = RoomOf(budget, trace);
  FIGURE(trace, group_batch,
         min(floor(session_room / max(own_kv_cache, 1 * kB) + 1e-9), engine_limit,
             floor(room / kv_cache_at_end + 1e-9) * engine_limit),
         (Note{"Maximum concurrent sequences of an attention group",
               "whole sequences; at most the engine's limit; none if one does not fit to its end"}),
         session_room, own_kv_cache, engine_limit, room, kv_cache_at_end);
  FIGURE(trace, max_batch, attention_dp * group_batch,
         (Note{"Maximum concurrent sequences",
               "whole sequences, each with what a running request holds; at most the engine's limit", "",
               "serving.max_batch"}),
         attention_dp, group_batch);
  return max_batch / attention_dp;
}

}  // namespace

double BatchThatFits(const Deployment& deployment, const KvCacheBudget& budget, double prompt, double output,
                     Trace& trace) {
  if (deployment.load.sessions) return TurnsThatFit(deployment, budget, output, trace);
  const Bytes kv_cache_at_end = KvCacheAtEnd(deployment, prompt, output, trace);
  const Bytes kv_cache_of_request = KvCacheOfRequest(deployment, prompt, output, trace);
  const Bytes kept_per_request = KvCacheWithIdle(deployment, kv_cache_of_request, trace);
  const Ratio engine_limit = EngineLimit(deployment, trace);
  const double attention_dp = deployment.mapping.attention_dp;
  const Bytes room = RoomOf(budget, trace);
  FIGURE(trace, group_batch,
         min(floor(room / kept_per_request + 1e-9), engine_limit, floor(room / kv_cache_at_end + 1e-9) * engine_limit),
         (Note{"Maximum concurrent sequences of an attention group",
               "whole sequences; at most the engine's limit; none if one does not fit to its end"}),
         room, kept_per_request, engine_limit, kv_cache_at_end);
  FIGURE(trace, max_batch, attention_dp * group_batch,
         (Note{"Maximum concurrent sequences",
               "whole sequences, each with what a running request holds; at most the engine's limit", "",
               "serving.max_batch"}),
         attention_dp, group_batch);
  return max_batch / attention_dp;
}

// Memory for the KV cache of a single sequence.
Bytes ContextRoom(const Deployment& deployment, const KvCacheBudget& budget, Trace& trace) {
  const Bytes room = RoomOf(budget, trace);
  if (deployment.model.compressed) {
    const double stage_attention = deployment.layers.on_stage.attention,
                 held_tokens = static_cast<double>(deployment.model.compressed->window);
    trace.Input("held_tokens", held_tokens, "model.compressed.window");
    const Bytes layer_fixed = CompressedFixed(deployment, held_tokens, trace);
    FIGURE(trace, context_room, max(room - stage_attention * layer_fixed, 0 * kB),
           (Note{"KV cache of a single sequence", "beside its windows"}), room, stage_attention, layer_fixed);
    return context_room;
  }
  if (deployment.layers.recurrent <= 0) {
    trace.Alias("context_room", room, "room");
    return room;
  }
  const Bytes device_state = StatesOfSequence(deployment, trace);
  FIGURE(trace, context_room, max(room - device_state, 0 * kB),
         (Note{"KV cache of a single sequence", "beside its recurrent state"}), room, device_state);
  return context_room;
}

// Tokens of a layer that full windows leave to the layers whose KV cache grows.
double GrowingTokens(double layer_tokens, double window_tokens, Trace& trace) {
  if (window_tokens <= 0) {
    trace.Alias("growing_tokens", layer_tokens, "layer_tokens");
    return layer_tokens;
  }
  FIGURE(trace, growing_tokens, layer_tokens - window_tokens,
         (Note{"Tokens that fit beside the full windows", "if one layer had all the room"}), layer_tokens,
         window_tokens);
  return growing_tokens;
}

// The context whose pages fill what full windows leave of the room.
double LongestContext(Bytes context_room, BytesPerToken layer_kv_cache, double window_tokens, double growing,
                      double block, Trace& trace) {
  const double longest = static_cast<double>(kLongest);
  CONSTANTS(trace, "serving.context", "no context is longer", longest);
  FIGURE(trace, layer_tokens, context_room / (layer_kv_cache * (1 * kToken)),
         (Note{"Tokens that fit", "if one layer had all the room"}), context_room, layer_kv_cache);
  const double growing_tokens = GrowingTokens(layer_tokens, window_tokens, trace);
  FIGURE(
      trace, max_context, min(longest, max(0.0, floor(growing_tokens / (growing * block) + 1e-9) * block)),
      (Note{"Maximum context", "of a single sequence, in whole pages; sliding-window layers hold at most their window",
            "", "serving.max_context"}),
      longest, growing_tokens, growing, block);
  return max_context;
}

double ContextThatFits(const Deployment& deployment, const KvCacheBudget& budget, Trace& trace) {
  const BytesPerToken layer_kv_cache = KvCacheOfLayer(deployment, trace);
  const auto block = static_cast<double>(deployment.engine.memory.block);
  const Bytes context_room = ContextRoom(deployment, budget, trace);
  const auto [cached_attention, cached_window] = CachedOnStage(deployment, trace);
  const double cached_layers = CachedLayers(deployment, cached_attention, layer_kv_cache, trace);
  const auto sliding_window = static_cast<double>(deployment.model.window.tokens);
  const double cached_windows = CachedWindows(deployment, cached_window, trace);
  FIGURE(trace, all_layers, cached_layers - cached_window + cached_windows,
         (Note{"Layers with a KV cache", "as so many with the KV heads of those that attend to all tokens"}),
         cached_layers, cached_window, cached_windows);
  double growing = all_layers, full_windows = 0;
  const double layer_room = context_room / (layer_kv_cache * (1 * kToken));
  if (cached_window > 0 && layer_room > sliding_window * all_layers) {
    trace.Alias("page_tokens", sliding_window, "sliding_window");
    const double window_pages = PagedTokens(sliding_window, block, trace),
                 window_share = deployment.engine.memory.window_share;
    trace.Alias("window_pages", window_pages, "paged_tokens");
    trace.Input("window_share", window_share, "serving.engine.memory.window_share");
    constexpr Note kNote{"Layers whose KV cache grows with the context",
                         "those with a window by the engine's share, where that is more"};
    if (window_share * (layer_room - cached_windows * window_pages) >
        (cached_layers - cached_window) * sliding_window) {
      FIGURE(trace, growing_layers, cached_layers - cached_window + window_share * cached_windows, kNote, cached_layers,
             cached_window, window_share, cached_windows);
      growing = growing_layers;
    } else {
      FIGURE(trace, growing_layers, cached_layers - cached_window, kNote, cached_layers, cached_window);
      FIGURE(trace, window_tokens, cached_windows * window_pages, (Note{"Tokens of full windows", "all layers"}),
             cached_windows, window_pages);
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
