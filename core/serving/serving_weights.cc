// Weights of the most loaded device.
#include "core/base/sum.h"
#include "core/serving/served_product.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

// Biases and norms inside attention.
double SmallOfAttention(const Deployment& deployment, Trace& trace) {
  const Model& model = deployment.model;
  const double small_elements = SmallElements(model, Mixer::kFullAttention, deployment.shapes.widths);
  if (!trace.on()) return small_elements;
  constexpr Note kNote{"Biases and norms inside attention", "on one device"};
  if (model.mla) {
    const auto q_lora_rank = static_cast<double>(model.mla->q_lora_rank), kv_lora_rank = static_cast<double>(model.mla->kv_lora_rank);
    trace.Record("small_elements", "q_lora_rank + kv_lora_rank", small_elements, kNote, "q_lora_rank, kv_lora_rank", q_lora_rank,
                 kv_lora_rank);
    return small_elements;
  }
  const bool biased = model.biases == Biases::kAttention || model.biases == Biases::kAll;
  const double input_biases = biased || model.biases == Biases::kQkv ? 1 : 0, output_biases = biased ? 1 : 0,
               head_norms = model.norms.queries_and_keys == QkNorm::kHead ? 2 : 0,
               all_norms = model.norms.queries_and_keys == QkNorm::kAllHeads ? 1 : 0, sinks = model.attention_sinks ? 1 : 0;
  const double rank_heads = deployment.shapes.widths.heads, rank_kv_heads = deployment.shapes.widths.kv_heads,
               head_dim = deployment.shapes.head_dim, hidden = deployment.shapes.hidden;
  for (const std::string_view symbol : {"input_biases", "output_biases"}) {
    trace.Input(symbol, symbol == "input_biases" ? input_biases : output_biases, "model.biases");
  }
  trace.Input("head_norms", head_norms, "model.qk_norm");
  trace.Input("all_norms", all_norms, "model.qk_norm");
  trace.Input("sinks", sinks, "model.attention_sinks");
  trace.Input("head_dim", head_dim, "model.head_dim");
  trace.Record("small_elements",
               "input_biases * (rank_heads + 2 * rank_kv_heads) * head_dim + output_biases * hidden + head_norms * head_dim + all_norms * "
               "(rank_heads + rank_kv_heads) * head_dim + sinks * rank_heads",
               small_elements, kNote,
               "input_biases, rank_heads, rank_kv_heads, head_dim, output_biases, hidden, head_norms, all_norms, sinks", input_biases,
               rank_heads, rank_kv_heads, head_dim, output_biases, hidden, head_norms, all_norms, sinks);
  return small_elements;
}

constexpr Note kGemmWeights{"Weights of the GEMMs", "on one device"};

// GEMM weights in their format, small tensors in 16 bit. Every rank holds the full down-projections of MLA.
Bytes AttentionWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "attention");
  const double matrices =
      ElementsOf(deployment.model, deployment.shapes.widths, deployment.shapes.attention, "matrices", kGemmWeights, trace);
  const double small_elements = SmallOfAttention(deployment, trace);
  const Bytes weight_size = ElementSize(deployment.formats.attention_weights), half = 2.0 * kB;
  trace.Input("weight_size", weight_size, "serving.precision.weights");
  FIGURE(trace, attention_layer, matrices * weight_size + small_elements * half,
         (Note{"Weights of attention in a layer", "biases and norms in 16 bit"}), matrices, weight_size, small_elements, half);
  return attention_layer;
}

Bytes RecurrentWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "recurrence");
  const double matrices =
      ElementsOf(deployment.model, deployment.shapes.widths, deployment.shapes.recurrence, "matrices", kGemmWeights, trace);
  const double small_elements = SmallElements(deployment.model, Mixer::kRecurrence, deployment.shapes.widths);
  const Bytes weight_size = ElementSize(deployment.formats.attention_weights), half = 2.0 * kB;
  trace.Input("weight_size", weight_size, "serving.precision.weights");
  FIGURE(trace, recurrent_layer, matrices * weight_size + small_elements * half,
         (Note{"Weights of a recurrence", "convolution, decays and norms in 16 bit"}), matrices, weight_size, small_elements, half);
  return recurrent_layer;
}

Bytes MlpWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "mlp");
  const double matrices = ElementsOf(deployment.model, deployment.shapes.widths, deployment.shapes.mlp, "matrices", kGemmWeights, trace);
  const double small_elements = SmallElements(deployment.model, FeedForward::kDense, deployment.shapes.widths);
  const Bytes weight_size = ElementSize(deployment.formats.mlp_weights), half = 2.0 * kB;
  trace.Input("weight_size", weight_size, "serving.precision.weights");
  FIGURE(trace, mlp_layer, matrices * weight_size + small_elements * half, (Note{"Weights of a dense MLP", "biases in 16 bit"}), matrices,
         weight_size, small_elements, half);
  return mlp_layer;
}

Bytes ExpertWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  const double held_experts = deployment.shapes.experts, ep = deployment.mapping.ep;
  FIGURE(trace, rank_experts, held_experts / ep, (Note{"Experts on one device", "with redundant copies"}), held_experts, ep);
  const double small_elements = SmallElements(deployment.model, FeedForward::kExperts, deployment.shapes.widths),
               expert_biases = ExpertBiases(deployment.model, deployment.shapes.widths);
  const Bytes half = 2.0 * kB;
  FIGURE(trace, small_bytes, (small_elements + rank_experts * expert_biases) * half, (Note{"Biases and gates of the experts", "in 16 bit"}),
         small_elements, rank_experts, expert_biases, half);
  ListedSum<Bytes> sum(trace);
  sum.Add("small_bytes", small_bytes);
  for (const MatrixProduct& product : deployment.shapes.expert_mlp) {
    const ServedProduct& served = ServedAs(product.id);
    const ProductRole role = TraitsOf(product.id).role;
    const Bytes bytes = [&] {
      const Trace::Scope inner(trace, served.scope);
      const double elements = ElementsOf(deployment.model, deployment.shapes.widths, product, trace);
      const double copies = role == ProductRole::kExperts ? rank_experts : 1;
      const Bytes weight_size = role == ProductRole::kWide ? 2.0 * kB : ElementSize(deployment.formats.mlp_weights);
      if (role == ProductRole::kExperts) trace.Alias("copies", copies, "rank_experts");
      if (role != ProductRole::kWide) trace.Input("weight_size", weight_size, "serving.precision.weights");
      FIGURE(trace, weight_bytes, copies * elements * weight_size, (Note{"Weights of the GEMM", "of all experts on one device"}), copies,
             elements, weight_size);
      return weight_bytes;
    }();
    trace.Alias(served.symbol, bytes, "weight_bytes");
    sum.Add(served.symbol, bytes);
  }
  constexpr Note kNote{"Weights of the experts of a layer", "with router and shared experts"};
  if (deployment.shapes.widths.shared > 0) return sum.Total("experts_layer", kNote);
  const Bytes routed_layer = sum.Total("routed_layer", {"Weights of the routed experts of a layer", "with the router"});
  const double rank_shared = deployment.shapes.widths.shared, hidden = deployment.shapes.hidden;
  const Bytes weight_size = ElementSize(deployment.formats.mlp_weights);
  FIGURE(trace, experts_layer, routed_layer + rank_shared * hidden * weight_size, kNote, routed_layer, rank_shared, hidden, weight_size);
  return experts_layer;
}

// Norms over the residual stream of a layer.
Bytes NormWeights(const Deployment& deployment, Trace& trace) {
  const double norm_elements = NormElements(deployment.model), hidden = deployment.shapes.hidden, norm_vectors = norm_elements / hidden;
  const auto norms_per_layer = static_cast<double>(deployment.model.norms.per_layer);
  const Bytes half = 2.0 * kB;
  trace.Input("norm_vectors", norm_vectors, "model.norm");
  FIGURE(trace, small_layer, norms_per_layer * (norm_vectors * hidden) * half, (Note{"Norms of a layer", "in 16 bit"}), norms_per_layer,
         norm_vectors, hidden, half);
  return small_layer;
}

// The most loaded stage holds the embedding or the head; a single stage holds both, or one copy if they are tied.
Bytes EndWeights(const Deployment& deployment, Trace& trace) {
  const bool has_positions = deployment.model.positions.encoding == Position::kLearned;
  const double positions = has_positions ? static_cast<double>(deployment.model.positions.rows) : 0;
  trace.Input("positions", positions, has_positions ? "model.max_positions" : "model.position");
  const double rank_vocab = deployment.shapes.widths.vocab, hidden = deployment.shapes.hidden;
  const Bytes head_element = ElementSize(deployment.formats.head_weights);
  trace.Input("head_element", head_element, "serving.precision.weights");
  FIGURE(trace, embedding, (rank_vocab + positions) * hidden * head_element, (Note{"Embedding on one device", "with learned positions"}),
         rank_vocab, positions, hidden, head_element);
  FIGURE(trace, head, rank_vocab * hidden * head_element, (Note{"LM head on one device", ""}), rank_vocab, hidden, head_element);
  if (deployment.mapping.pp <= 1 && !deployment.model.tied_embeddings) {
    FIGURE(trace, ends, embedding + head, (Note{"Embedding and LM head", "a single stage holds both"}), embedding, head);
    return ends;
  }
  FIGURE(trace, ends, max(embedding, head), (Note{"Embedding or LM head", "one copy if they are tied; each on a stage of its own"}),
         embedding, head);
  return ends;
}

}  // namespace

Bytes WeightsOf(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "weights");
  const LayerCounts& stage = deployment.layers.on_stage;
  const double stage_layers = deployment.layers.per_stage, stage_recurrent = stage.recurrent, stage_moe = stage.moe,
               stage_dense = stage.dense;
  ListedSum<Bytes> sum(trace);
  if (stage_recurrent > 0) {
    FIGURE(trace, attention_layer_count, stage_layers - stage_recurrent, (Note{"Layers with attention on the stage", ""}), stage_layers,
           stage_recurrent);
    sum.Add("attention_layer", AttentionWeights(deployment, trace), attention_layer_count);
    trace.Alias("recurrent_layer_count", stage_recurrent, "stage_recurrent");
    sum.Add("recurrent_layer", RecurrentWeights(deployment, trace), stage_recurrent);
  } else {
    trace.Alias("attention_layer_count", stage_layers, "stage_layers");
    sum.Add("attention_layer", AttentionWeights(deployment, trace), stage_layers);
  }
  trace.Alias("small_layer_count", stage_layers, "stage_layers");
  sum.Add("small_layer", NormWeights(deployment, trace), stage_layers);
  if (stage_moe > 0) {
    FIGURE(trace, mlp_layer_count, min(stage_layers - stage_moe, stage_dense), (Note{"Layers with a dense MLP on the stage", ""}),
           stage_layers, stage_moe, stage_dense);
    sum.Add("mlp_layer", MlpWeights(deployment, trace), mlp_layer_count);
    trace.Alias("experts_layer_count", stage_moe, "stage_moe");
    sum.Add("experts_layer", ExpertWeights(deployment, trace), stage_moe);
  } else {
    trace.Alias("mlp_layer_count", stage_dense, "stage_dense");
    sum.Add("mlp_layer", MlpWeights(deployment, trace), stage_dense);
  }
  sum.Add("ends", EndWeights(deployment, trace));
  return sum.Total(
      "weights", {"Weights per device", "of the most loaded pipeline stage, in their storage formats", "", "serving.memory_bytes.weights"});
}

}  // namespace slipstick
