#include "core/serving/serving_memory.h"

#include <algorithm>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr Count kLongest = 1'000'000'000;
constexpr double kLogitBytes = 10;  // 16-bit gathered logits, fp32 copy, fp32 probabilities

// GEMM weights in their format, small tensors in 16 bit. Every rank holds the full down-projections of MLA.
Bytes AttentionWeights(const Deployment& deployment) {
  return deployment.shapes.attention.Elements() * ElementSize(deployment.formats.attention_weights) +
         SmallElements(deployment.model, Mixer::kFullAttention, deployment.shapes.widths) * 2.0 * kB;
}

Bytes RecurrentWeights(const Deployment& deployment) {
  if (deployment.layers.recurrent <= 0) return {};
  return deployment.shapes.recurrence.Elements() * ElementSize(deployment.formats.attention_weights) +
         SmallElements(deployment.model, Mixer::kRecurrence, deployment.shapes.widths) * 2.0 * kB;
}

Bytes ExpertWeights(const Deployment& deployment) {
  if (!deployment.model.moe) return {};
  const double held = deployment.shapes.experts / deployment.mapping.ep;
  Bytes bytes = (SmallElements(deployment.model, FeedForward::kExperts, deployment.shapes.widths) +
                 held * ExpertBiases(deployment.model, deployment.shapes.widths)) *
                2.0 * kB;
  for (const MatrixProduct& product : deployment.shapes.expert_mlp) {
    const ProductRole role = TraitsOf(product.id).role;
    const double copies = role == ProductRole::kExperts ? held : 1;
    bytes += copies * product.Elements() * (role == ProductRole::kWide ? 2.0 * kB : ElementSize(deployment.formats.mlp_weights));
  }
  return bytes;
}

// Layers of a kind on the most loaded stage.
double OnStage(const Deployment& deployment, double layers) {
  return layers > 0 ? min(deployment.layers.per_stage, ceil(layers / deployment.mapping.pp)) : 0;
}

// Recurrent state per sequence on one rank, independent of the sequence length.
Bytes StatesOfSequence(const Deployment& deployment) {
  if (deployment.layers.recurrent <= 0) return {};
  const double share = deployment.shapes.widths.recurrent_inner / static_cast<double>(deployment.model.linear_attention->Inner());
  return OnStage(deployment, deployment.layers.recurrent) * share *
         static_cast<double>(deployment.model.linear_attention->StateElements()) * ElementSize(deployment.load.precision.state);
}

double Pages(double tokens, Count block) {
  const auto size = static_cast<double>(block);
  return std::ceil(tokens / size - 1e-9) * size;
}

BytesPerToken KvCacheOfLayer(const Deployment& deployment) {
  const double elements = deployment.model.mla
                              ? static_cast<double>(deployment.model.mla->kv_lora_rank + deployment.model.mla->rope_head_dim)
                              : 2 * deployment.shapes.decode_kv_heads * deployment.shapes.head_dim;
  return elements / deployment.mapping.cp * ElementSize(deployment.formats.kv_cache) / (1 * kToken);
}

}  // namespace

Bytes WeightsOf(const Deployment& deployment, Trace& trace) {
  const double stage = deployment.layers.per_stage, hidden = deployment.shapes.hidden;
  // MoE layers are spread evenly over the stages, to within one layer.
  const double moe_stage = OnStage(deployment, deployment.layers.moe);
  const double recurrent_stage = min(OnStage(deployment, deployment.layers.recurrent), stage), attention_stage = stage - recurrent_stage;
  const Bytes recurrent_layer = RecurrentWeights(deployment);
  const Bytes attention_layer = AttentionWeights(deployment);
  const Bytes small_layer = static_cast<double>(deployment.model.norms.per_layer) * NormElements(deployment.model) * 2.0 * kB;
  const Bytes mlp_layer = deployment.shapes.mlp.Elements() * ElementSize(deployment.formats.mlp_weights) +
                          SmallElements(deployment.model, FeedForward::kDense, deployment.shapes.widths) * 2.0 * kB;
  const Bytes experts_layer = ExpertWeights(deployment);
  const double positions =
      deployment.model.positions.encoding == Position::kLearned ? static_cast<double>(deployment.model.positions.rows) : 0;
  const Bytes embedding = (deployment.shapes.widths.vocab + positions) * hidden * ElementSize(deployment.formats.head_weights);
  const Bytes head = deployment.shapes.widths.vocab * hidden * ElementSize(deployment.formats.head_weights);
  const bool single_stage = deployment.mapping.pp <= 1;
  // The most loaded stage holds the embedding or the head; a single stage holds both, or one copy if they are tied.
  const Bytes ends = single_stage && !deployment.model.tied_embeddings ? embedding + head : max(embedding, head);
  const double dense_stage = min(stage - moe_stage, OnStage(deployment, deployment.layers.dense));
  FIGURE(trace, weights,
         attention_stage * attention_layer + recurrent_stage * recurrent_layer + stage * small_layer + dense_stage * mlp_layer +
             moe_stage * experts_layer + ends,
         (Note{"Weights per device", "of the most loaded pipeline stage, in their storage formats", "", "serving.memory_bytes.weights"}),
         attention_stage, attention_layer, recurrent_stage, recurrent_layer, stage, small_layer, dense_stage, mlp_layer, moe_stage,
         experts_layer, ends);
  return weights;
}

BytesPerToken KvCachePerToken(const Deployment& deployment, Trace& trace) {
  const double layers = deployment.layers.total, recurrent_layers = deployment.layers.recurrent;
  trace.Input("layers", layers, "model.layers");
  if (deployment.model.linear_attention) trace.Input("recurrent_layers", recurrent_layers, "model.linear.layers");
  FIGURE(trace, caching_layers, layers - recurrent_layers,
         (Note{"Layers with a KV cache", "recurrent layers have a state of fixed size instead"}), layers, recurrent_layers);
  const Bytes element = ElementSize(deployment.formats.kv_cache);
  trace.Input("element", element, "serving.precision.kv_cache");
  const Tokens token = 1 * kToken;
  if (deployment.model.mla) {
    const auto latent = static_cast<double>(deployment.model.mla->kv_lora_rank);
    const auto rotary = static_cast<double>(deployment.model.mla->rope_head_dim);
    trace.Input("latent", latent, "model.mla.kv_lora_rank");
    trace.Input("rotary", rotary, "model.mla.rope_head_dim");
    FIGURE(trace, kv_cache_per_token, caching_layers * (latent + rotary) * element / token,
           (Note{"KV cache per token", "latent and rotary part, all layers of the model", "DeepSeek-V2, arXiv 2405.04434",
                 "serving.kv_cache_bytes_per_token"}),
           caching_layers, latent, rotary, element, token);
    return kv_cache_per_token;
  }
  const auto kv_heads = static_cast<double>(deployment.model.KvHeads());
  const double head_dim = deployment.shapes.head_dim;
  trace.Input("kv_heads", kv_heads, "model.kv_heads");
  trace.Input("head_dim", head_dim, "model.head_dim");
  FIGURE(
      trace, kv_cache_per_token, 2 * caching_layers * kv_heads * head_dim * element / token,
      (Note{"KV cache per token", "keys and values of every KV head in all layers of the model", "", "serving.kv_cache_bytes_per_token"}),
      caching_layers, kv_heads, head_dim, element, token);
  return kv_cache_per_token;
}

Bytes KvCacheOfSequence(const Deployment& deployment, double tokens) {
  const Count block = deployment.engine.memory.block;
  const BytesPerToken layer = KvCacheOfLayer(deployment);
  const double windows = OnStage(deployment, deployment.layers.window), attending = OnStage(deployment, deployment.layers.attention);
  const auto window = static_cast<double>(deployment.model.window.tokens);
  const double full = Pages(tokens, block);
  const double cut = windows > 0 ? Pages(std::min(tokens, window), block) : 0;
  return layer * ((attending - windows) * full + windows * cut) * (1 * kToken) + StatesOfSequence(deployment);
}

Bytes StateOfSequence(const Deployment& deployment, Trace& trace) {
  if (!deployment.model.linear_attention) return {};
  const double recurrent_layers = deployment.layers.recurrent,
               elements = static_cast<double>(deployment.model.linear_attention->StateElements());
  const Bytes element = ElementSize(deployment.load.precision.state);
  trace.Input("recurrent_layers", recurrent_layers, "model.linear.layers");
  trace.Input("element", element, "serving.precision.state");
  FIGURE(trace, state_of_sequence, recurrent_layers * elements * element,
         (Note{"Recurrent state per sequence", "all recurrent layers; independent of the sequence length", "",
               "serving.state_bytes_per_sequence"}),
         recurrent_layers, elements, element);
  return state_of_sequence;
}

KvCacheBudget KvCacheBudgetOf(const Deployment& deployment, Trace& trace) {
  const MemoryBudget& rule = deployment.engine.memory;
  KvCacheBudget budget;
  const Bytes visible = UsableMemory(deployment.device);
  trace.Input("visible", visible, "cluster.device.memory.usable");
  const Bytes weights = WeightsOf(deployment, trace);
  const auto activation_tokens = static_cast<double>(rule.activation_tokens);
  const double hidden = deployment.shapes.hidden, inner = deployment.shapes.widths.mlp;
  const auto sequences = static_cast<double>(rule.logit_sequences);
  const double vocabulary = static_cast<double>(deployment.model.vocab);
  const Bytes logit = kLogitBytes * kB;
  const Bytes element = 2.0 * kB;
  FIGURE(trace, activations, max(2 * activation_tokens * (hidden + inner) * element, sequences * vocabulary * logit),
         (Note{"Activations",
               "of the largest step that the engine reserves memory for: residual stream and MLP width, or the gathered "
               "logits",
               "", "serving.memory_bytes.activations"}),
         activation_tokens, hidden, inner, element, sequences, vocabulary, logit);
  const Bytes reserve = rule.reserve;
  const Bytes parallel_reserve = deployment.mapping.tp > 1 ? rule.reserve_parallel : 0 * kB;
  FIGURE(trace, workspace, reserve + parallel_reserve,
         (Note{"Workspace", "context, communication buffers and graphs, as in the engine's logs", "", "serving.memory_bytes.workspace"}),
         reserve, parallel_reserve);
  const double share = rule.share;
  trace.Input("share", share, "serving.engine.memory.share");
  const Bytes none = 0 * kB;
  if (rule.rule == BudgetRule::kShareOfDevice) {
    FIGURE(trace, kv_cache_budget, max(none, share * visible - weights - activations - workspace),
           (Note{"KV-cache budget", "the engine's share of device memory, less weights, activations and workspace"}), none, share, visible,
           weights, activations, workspace);
    budget.kv_cache = kv_cache_budget;
  } else {
    FIGURE(trace, kv_cache_budget, max(none, share * (visible - weights - activations - workspace)),
           (Note{"KV-cache budget", "the engine's share of the memory left free by weights, activations and workspace"}), none, share,
           visible, weights, activations, workspace);
    budget.kv_cache = kv_cache_budget;
  }
  if (deployment.load.kv_offload && budget.kv_cache > Bytes{}) budget.host = deployment.load.kv_offload->capacity;
  budget.capacity = visible;
  budget.weights = weights;
  budget.activations = activations;
  budget.workspace = workspace;
  return budget;
}

double BatchThatFits(const Deployment& deployment, const KvCacheBudget& budget, double prompt, double output, Trace& trace) {
  const double output_reserved = deployment.engine.memory.output_reserved;
  trace.Input("output_reserved", output_reserved, "serving.engine.memory.output_reserved");
  const Bytes kv_cache_of_request = KvCacheOfSequence(deployment, prompt + output_reserved * output);
  const double engine_limit = static_cast<double>(deployment.load.max_requests.value_or(deployment.engine.scheduler.max_sequences));
  const double groups = deployment.mapping.attention_dp;
  const Bytes kv_cache_budget = budget.Room();
  FIGURE(trace, max_batch, groups * min(floor(kv_cache_budget / kv_cache_of_request + 1e-9), engine_limit),
         (Note{"Maximum concurrent sequences",
               "whole sequences, with the fraction of the output that the engine reserves on admission; at most the engine's limit", "",
               "serving.max_batch"}),
         groups, kv_cache_budget, kv_cache_of_request, engine_limit);
  return max_batch / groups;
}

double ContextThatFits(const Deployment& deployment, const KvCacheBudget& budget, Trace& trace) {
  const Bytes layer_token = KvCacheOfLayer(deployment) * (1 * kToken);
  const auto block = static_cast<double>(deployment.engine.memory.block);
  const Bytes kv_cache_budget = max(budget.Room() - StatesOfSequence(deployment), 0 * kB);
  const double windows = OnStage(deployment, deployment.layers.window);
  const auto window = static_cast<double>(deployment.model.window.tokens);
  double growing = OnStage(deployment, deployment.layers.attention), full_windows = 0;
  if (windows > 0 && kv_cache_budget / (layer_token * growing) > window) {
    growing -= windows;
    full_windows = windows * Pages(window, deployment.engine.memory.block);
  }
  // If every layer has a window, any length fits.
  if (growing <= 0) return static_cast<double>(kLongest);
  const double longest = static_cast<double>(kLongest);
  FIGURE(trace, max_context,
         min(longest, max(0.0, floor((kv_cache_budget / layer_token - full_windows) / (growing * block) + 1e-9) * block)),
         (Note{"Maximum context", "of a single sequence, in whole pages; sliding-window layers hold at most their window", "",
               "serving.max_context"}),
         longest, kv_cache_budget, layer_token, full_windows, growing, block);
  return max_context;
}

}  // namespace slipstick
