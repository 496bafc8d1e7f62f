#include "core/serving/serving_memory.h"

#include <algorithm>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr Count kLongest = 1'000'000'000;
constexpr double kLogitBytes = 10;  // 16 bit gathered, fp32 copy, fp32 probabilities

// Matrices in their format, what lies beside them in 16 bit. Compressions of latent attention are needed whole by every rank.
Bytes AttentionWeights(const Deployment& d) {
  return d.attention.Elements() * ElementSize(d.attention_weights) + SmallElements(d.model, Mixer::kFullAttention, d.widths) * 2.0 * kB;
}

Bytes RecurrentWeights(const Deployment& d) {
  if (d.linear_layers <= 0) return {};
  return d.recurrence.Elements() * ElementSize(d.attention_weights) + SmallElements(d.model, Mixer::kRecurrence, d.widths) * 2.0 * kB;
}

Bytes ExpertWeights(const Deployment& d) {
  if (!d.model.moe) return {};
  const double held = d.experts / d.ep;
  Bytes bytes = (SmallElements(d.model, FeedForward::kExperts, d.widths) + held * ExpertBiases(d.model, d.widths)) * 2.0 * kB;
  for (const MatrixProduct& product : d.expert_mlp) {
    const ProductRole role = TraitsOf(product.id).role;
    const double copies = role == ProductRole::kExperts ? held : 1;
    bytes += copies * product.Elements() * (role == ProductRole::kWide ? 2.0 * kB : ElementSize(d.mlp_weights));
  }
  return bytes;
}

// Layers of a kind that the fullest stage holds.
double OfStage(const Deployment& d, double layers) { return layers > 0 ? min(d.stage_layers, ceil(layers / d.pp)) : 0; }

// What layers with a recurrence keep of a sequence on one rank, whatever its length.
Bytes StatesOfSequence(const Deployment& d) {
  if (d.linear_layers <= 0) return {};
  const double share = d.widths.recurrent_inner / static_cast<double>(d.model.linear_attention->Inner());
  return OfStage(d, d.linear_layers) * share * static_cast<double>(d.model.linear_attention->StateElements()) *
         ElementSize(d.load.precision.state);
}

double Pages(double tokens, Count block) {
  const auto size = static_cast<double>(block);
  return std::ceil(tokens / size - 1e-9) * size;
}

BytesPerToken KvCacheOfLayer(const Deployment& d) {
  const double elements =
      d.model.mla ? static_cast<double>(d.model.mla->kv_lora_rank + d.model.mla->rope_head_dim) : 2 * d.core_kv_heads * d.head_dim;
  return elements / d.cp * ElementSize(d.cache) / (1 * kToken);
}

}  // namespace

Bytes WeightsOf(const Deployment& d, Trace& trace) {
  const double stage = d.stage_layers, h = d.hidden;
  // Layers with experts are spread evenly over the stages, within one.
  const double moe_stage = OfStage(d, d.moe_layers);
  const double recurrent_stage = min(OfStage(d, d.linear_layers), stage), attention_stage = stage - recurrent_stage;
  const Bytes recurrent_layer = RecurrentWeights(d);
  const Bytes attention_layer = AttentionWeights(d);
  const Bytes small_layer = static_cast<double>(d.model.norms.per_layer) * NormElements(d.model) * 2.0 * kB;
  const Bytes mlp_layer = d.mlp.Elements() * ElementSize(d.mlp_weights) + SmallElements(d.model, FeedForward::kDense, d.widths) * 2.0 * kB;
  const Bytes experts_layer = ExpertWeights(d);
  const double positions = d.model.positions.encoding == Position::kLearned ? static_cast<double>(d.model.positions.rows) : 0;
  const Bytes embedding = (d.widths.vocab + positions) * h * ElementSize(d.head_weights);
  const Bytes head = d.widths.vocab * h * ElementSize(d.head_weights);
  const bool together = d.pp <= 1;
  // The fullest stage holds one end of the model; a single stage holds both, once where they are tied.
  const Bytes ends = together && !d.model.tied_embeddings ? embedding + head : max(embedding, head);
  const double dense_stage = min(stage - moe_stage, OfStage(d, d.dense_layers));
  FIGURE(trace, weights,
         attention_stage * attention_layer + recurrent_stage * recurrent_layer + stage * small_layer + dense_stage * mlp_layer +
             moe_stage * experts_layer + ends,
         (Note{"Weights of one device", "The fullest pipeline stage, in the formats they are kept in", "", "serving.memory_bytes.weights"}),
         attention_stage, attention_layer, recurrent_stage, recurrent_layer, stage, small_layer, dense_stage, mlp_layer, moe_stage,
         experts_layer, ends);
  return weights;
}

BytesPerToken KvCachePerToken(const Deployment& d, Trace& trace) {
  const double layers = d.layers, recurrent_layers = d.linear_layers;
  trace.Input("layers", layers, "model.layers");
  if (d.model.linear_attention) trace.Input("recurrent_layers", recurrent_layers, "model.linear.layers");
  FIGURE(trace, caching_layers, layers - recurrent_layers, (Note{"Layers that keep a cache", "a recurrence keeps a state of fixed size"}),
         layers, recurrent_layers);
  const Bytes element = ElementSize(d.cache);
  trace.Input("element", element, "serving.precision.kv_cache");
  const Tokens token = 1 * kToken;
  if (d.model.mla) {
    const auto latent = static_cast<double>(d.model.mla->kv_lora_rank);
    const auto rotary = static_cast<double>(d.model.mla->rope_head_dim);
    trace.Input("latent", latent, "model.mla.kv_lora_rank");
    trace.Input("rotary", rotary, "model.mla.rope_head_dim");
    FIGURE(trace, cache_per_token, caching_layers * (latent + rotary) * element / token,
           (Note{"Cache of a token", "Latent and rotary part, all layers of the model", "DeepSeek-V2, arXiv 2405.04434",
                 "serving.kv_cache_bytes_per_token"}),
           caching_layers, latent, rotary, element, token);
    return cache_per_token;
  }
  const auto kv_heads = static_cast<double>(d.model.KvHeads());
  const double head_dim = d.head_dim;
  trace.Input("kv_heads", kv_heads, "model.kv_heads");
  trace.Input("head_dim", head_dim, "model.head_dim");
  FIGURE(trace, cache_per_token, 2 * caching_layers * kv_heads * head_dim * element / token,
         (Note{"Cache of a token", "Keys and values of every KV head in all layers of the model", "", "serving.kv_cache_bytes_per_token"}),
         caching_layers, kv_heads, head_dim, element, token);
  return cache_per_token;
}

Bytes KvCacheOfSequence(const Deployment& d, double tokens) {
  const Count block = d.engine.memory.block;
  const BytesPerToken layer = KvCacheOfLayer(d);
  const double windows = OfStage(d, d.window_layers), attending = OfStage(d, d.attention_layers);
  const auto window = static_cast<double>(d.model.window.tokens);
  const double full = Pages(tokens, block);
  const double cut = windows > 0 ? Pages(std::min(tokens, window), block) : 0;
  return layer * ((attending - windows) * full + windows * cut) * (1 * kToken) + StatesOfSequence(d);
}

Bytes StateOfSequence(const Deployment& d, Trace& trace) {
  if (!d.model.linear_attention) return {};
  const double recurrent_layers = d.linear_layers, elements = static_cast<double>(d.model.linear_attention->StateElements());
  const Bytes element = ElementSize(d.load.precision.state);
  trace.Input("recurrent_layers", recurrent_layers, "model.linear.layers");
  trace.Input("element", element, "serving.precision.state");
  FIGURE(trace, state_of_sequence, recurrent_layers * elements * element,
         (Note{"States of a sequence", "of all layers with a recurrence, whatever the sequence's length", "",
               "serving.state_bytes_per_sequence"}),
         recurrent_layers, elements, element);
  return state_of_sequence;
}

KvCacheBudget KvCacheBudgetOf(const Deployment& d, Trace& trace) {
  const MemoryBudget& rule = d.engine.memory;
  KvCacheBudget budget;
  const Bytes visible = UsableMemory(d.device);
  trace.Input("visible", visible, "cluster.device.memory.usable");
  const Bytes weights = WeightsOf(d, trace);
  const auto activation_tokens = static_cast<double>(rule.activation_tokens);
  const double hidden = d.hidden, inner = d.widths.mlp;
  const auto sequences = static_cast<double>(rule.logit_sequences);
  const double vocabulary = static_cast<double>(d.model.vocab);
  const Bytes logit = kLogitBytes * kB;
  const Bytes element = 2.0 * kB;
  FIGURE(trace, activations, max(2 * activation_tokens * (hidden + inner) * element, sequences * vocabulary * logit),
         (Note{"Activations",
               "Of the largest step that the engine sizes its memory for: the residual stream and the MLP's inner width, or "
               "the logits where it gathers them",
               "", "serving.memory_bytes.activations"}),
         activation_tokens, hidden, inner, element, sequences, vocabulary, logit);
  const Bytes reserve = rule.reserve;
  const Bytes more = d.tp > 1 ? rule.reserve_parallel : 0 * kB;
  FIGURE(trace, workspace, reserve + more,
         (Note{"Workspace", "Context, communication buffers and graphs: what the engine's logs show beside its tensors", "",
               "serving.memory_bytes.workspace"}),
         reserve, more);
  const double share = rule.share;
  trace.Input("share", share, "serving.engine.memory.share");
  const Bytes none = 0 * kB;
  if (rule.rule == BudgetRule::kShareOfDevice) {
    FIGURE(trace, cache_budget, max(none, share * visible - weights - activations - workspace),
           (Note{"Memory left for the cache", "The engine's share of the device, less what else it holds"}), none, share, visible, weights,
           activations, workspace);
    budget.kv_cache = cache_budget;
  } else {
    FIGURE(trace, cache_budget, max(none, share * (visible - weights - activations - workspace)),
           (Note{"Memory left for the cache", "The engine's share of what the rest leaves free"}), none, share, visible, weights,
           activations, workspace);
    budget.kv_cache = cache_budget;
  }
  if (d.load.kv_offload && budget.kv_cache > Bytes{}) budget.host = d.load.kv_offload->capacity;
  budget.capacity = visible;
  budget.weights = weights;
  budget.activations = activations;
  budget.workspace = workspace;
  return budget;
}

double BatchThatFits(const Deployment& d, const KvCacheBudget& budget, double prompt, double output, Trace& trace) {
  const double output_reserved = d.engine.memory.output_reserved;
  trace.Input("output_reserved", output_reserved, "serving.engine.memory.output_reserved");
  const Bytes cache_of_request = KvCacheOfSequence(d, prompt + output_reserved * output);
  // Beyond that the engine's own limit.
  const double engine_limit = static_cast<double>(d.load.max_requests.value_or(d.engine.scheduler.max_sequences));
  const double groups = d.attention_dp;
  const Bytes cache_budget = budget.Room();
  FIGURE(trace, max_batch, groups * min(floor(cache_budget / cache_of_request + 1e-9), engine_limit),
         (Note{"Sequences that fit at once",
               "whole ones, with the share of the output that the engine reserves when it admits a request, at most the engine's own limit",
               "", "serving.max_batch"}),
         groups, cache_budget, cache_of_request, engine_limit);
  return max_batch / groups;
}

double ContextThatFits(const Deployment& d, const KvCacheBudget& budget, Trace& trace) {
  const Bytes layer_token = KvCacheOfLayer(d) * (1 * kToken);
  const auto block = static_cast<double>(d.engine.memory.block);
  const Bytes cache_budget = max(budget.Room() - StatesOfSequence(d), 0 * kB);
  const double windows = OfStage(d, d.window_layers);
  const auto window = static_cast<double>(d.model.window.tokens);
  double growing = OfStage(d, d.attention_layers), full_windows = 0;
  if (windows > 0 && cache_budget / (layer_token * growing) > window) {
    growing -= windows;
    full_windows = windows * Pages(window, d.engine.memory.block);
  }
  // Nothing grows where every layer has a window: any length fits. The figure stops at what a count can say.
  if (growing <= 0) return static_cast<double>(kLongest);
  const double longest = static_cast<double>(kLongest);
  FIGURE(trace, max_context, min(longest, max(0.0, floor((cache_budget / layer_token - full_windows) / (growing * block) + 1e-9) * block)),
         (Note{"Longest sequence that fits", "alone, in whole pages; window layers hold their window, the others grow", "",
               "serving.max_context"}),
         longest, cache_budget, layer_token, full_windows, growing, block);
  return max_context;
}

}  // namespace slipstick
