// Weights of the most loaded device.
#include <type_traits>

#include "core/base/sum.h"
#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/served_product.h"
#include "core/serving/kv_cache.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

// Weights of a mixer or a dense MLP in a layer: those of its GEMMs in their format, small tensors in 16 bit.
template <class Part>
Bytes PartWeights(const Deployment& deployment, Part part, const MatrixProducts& products, std::string_view symbol,
                  const Note& note, Trace& trace, bool is_shared_kv_mlp = false) {
  const Trace::Scope scope(trace, note.title);
  const LayerWidths widths =
      is_shared_kv_mlp ? SharedKvWidths(deployment.shapes.widths, trace) : deployment.shapes.widths;
  const double matrices = ElementsOf(products, deployment.model, widths, "matrices", trace).all_tokens;
  const double small_elements = SmallElements(deployment.model, part, widths, trace);
  constexpr bool kIsMixer = std::is_same_v<Part, Mixer>;
  const ServedFormats& formats = deployment.formats;
  const Precision weights = kIsMixer ? formats.attention_weights : formats.mlp_weights;
  const Bytes weight_size = ElementSize(weights), half = 2.0 * kB;
  trace.Alias("small_elements", small_elements, kIsMixer ? "small_mixer" : "small_mlp");
  BindWeightSize("weight_size", weights, kIsMixer && formats.keeps_attention, deployment, trace);
  const Bytes part_weights = matrices * weight_size + small_elements * half;
  trace.Record(symbol, "matrices * weight_size + small_elements * half", part_weights, note,
               "matrices, weight_size, small_elements, half", matrices, weight_size, small_elements, half);
  return part_weights;
}

Bytes AttentionWeights(const Deployment& deployment, Trace& trace) {
  return PartWeights(deployment, Mixer::kFullAttention, deployment.shapes.attention, "attention_layer",
                     {"Weights of attention in a layer", "biases and norms in 16 bit"}, trace);
}

Bytes LocalAttentionWeights(const Deployment& deployment, Trace& trace) {
  return PartWeights(deployment, Mixer::kWindow, deployment.shapes.window_attention, "local_attention_layer",
                     {"Weights of attention in a layer with a sliding window", "biases and norms in 16 bit"}, trace);
}

Bytes RecurrentWeights(const Deployment& deployment, Trace& trace) {
  return PartWeights(deployment, Mixer::kRecurrence, deployment.shapes.recurrence, "recurrent_layer",
                     {"Weights of a recurrence", "convolution, decays and norms in 16 bit"}, trace);
}

Bytes MlpWeights(const Deployment& deployment, Trace& trace) {
  return PartWeights(deployment, FeedForward::kDense, deployment.shapes.mlp, "mlp_layer",
                     {"Weights of a dense MLP", "biases in 16 bit"}, trace);
}

// Attention and MLP of the layers that share a KV cache; returns the layers that have one.
StageLayers AddSharedKvWeights(const Deployment& deployment, ListedSum<Bytes>& sum, Trace& trace) {
  const RankShapes& shapes = deployment.shapes;
  const double shared_kv_layers = deployment.layers.shared_kv,
               shared_kv_window_layers = deployment.layers.shared_kv_window;
  const double shared_kv_full_layers = SplitBySharedKv(deployment.layers, trace).shared_full;
  if (shared_kv_full_layers > 0) {
    sum.Add("shared_attention_layer",
            PartWeights(deployment, Mixer::kSharedKv, shapes.shared_kv_attention, "shared_attention_layer",
                        {"Weights of attention in a layer that shares a KV cache", "norms in 16 bit"}, trace),
            shared_kv_full_layers, "", "shared_kv_full_layers");
  }
  if (shared_kv_window_layers > 0) {
    sum.Add("shared_local_layer",
            PartWeights(deployment, Mixer::kSharedKvWindow, shapes.shared_kv_window_attention, "shared_local_layer",
                        {"Weights of local attention in a layer that shares a KV cache", "norms in 16 bit"}, trace),
            shared_kv_window_layers, "", "shared_kv_window_layers");
  }
  sum.Add("shared_kv_mlp_layer",
          PartWeights(deployment, FeedForward::kDense, shapes.shared_kv_mlp, "shared_kv_mlp_layer",
                      {"Weights of the MLP of a layer that shares a KV cache", "biases in 16 bit"}, trace, true),
          shared_kv_layers, "", "shared_kv_layers");
  return CachedOnStage(deployment, trace);
}

// Of a layer; the mean where some layers' experts are in host memory.
double ExpertsOnDevice(const Deployment& deployment, double held_experts, double ep, Trace& trace) {
  constexpr Note kNote{"Experts on one device", "with redundant copies"};
  if (!deployment.load.host_experts) {
    FIGURE(trace, rank_experts, held_experts / ep, kNote, held_experts, ep);
    return rank_experts;
  }
  const double moe_layers = deployment.layers.moe, host_layers = HostLayers(deployment, trace);
  FIGURE(trace, rank_experts, held_experts / ep * (1 - host_layers / moe_layers), kNote, held_experts, ep, host_layers,
         moe_layers);
  return rank_experts;
}

Bytes ExpertWeights(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "experts");
  const double held_experts = deployment.shapes.experts, ep = deployment.mapping.ep;
  const double rank_experts = ExpertsOnDevice(deployment, held_experts, ep, trace);
  const LayerWidths& widths = deployment.shapes.widths;
  const double small_mlp = SmallElements(deployment.model, FeedForward::kExperts, widths, trace),
               expert_biases = ExpertBiases(deployment.model, widths, trace);
  const Bytes half = 2.0 * kB;
  FIGURE(trace, small_bytes, (small_mlp + rank_experts * expert_biases) * half,
         (Note{"Biases and gates of the experts", "in 16 bit"}), small_mlp, rank_experts, expert_biases, half);
  ListedSum<Bytes> sum(trace);
  sum.Add("small_bytes", small_bytes);
  for (const MatrixProduct& product : deployment.shapes.expert_mlp) {
    const ServedProduct& served = ServedAs(product.id);
    const ProductRole role = TraitsOf(product.id).role;
    const Bytes bytes = [&] {
      const Trace::Scope inner(trace, served.scope);
      if (trace.on()) ProductOf(product.id, deployment.model, widths, trace);
      const double outputs = product.outputs, inputs = product.inputs;
      FIGURE(trace, elements, outputs * inputs, (Note{"Weights of the GEMM", "on one device"}), outputs, inputs);
      const Bytes weight_size = role == ProductRole::kWide ? 2.0 * kB : ElementSize(deployment.formats.mlp_weights);
      BindSize("weight_size", weight_size, role == ProductRole::kWide, "serving.precision.weights", trace);
      if (role != ProductRole::kExperts) {
        FIGURE(trace, weight_bytes, elements * weight_size, (Note{"Weights of the GEMM", ""}), elements, weight_size);
        return weight_bytes;
      }
      FIGURE(trace, weight_bytes, rank_experts * elements * weight_size,
             (Note{"Weights of the GEMM", "of all experts on one device"}), rank_experts, elements, weight_size);
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
  FIGURE(trace, experts_layer, routed_layer + rank_shared * hidden * weight_size, kNote, routed_layer, rank_shared,
         hidden, weight_size);
  return experts_layer;
}

// Norms over the residual stream of a layer.
Bytes NormWeights(const Deployment& deployment, Trace& trace) {
  const double norm_elements = NormElements(deployment.model, trace);
  const auto norms_per_layer = static_cast<double>(deployment.model.norms.per_layer);
  const Bytes half = 2.0 * kB;
  FIGURE(trace, small_layer, norms_per_layer * norm_elements * half, (Note{"Norms of a layer", "in 16 bit"}),
         norms_per_layer, norm_elements, half);
  return small_layer;
}

// The most loaded stage holds the embedding or the head; a single stage holds both, or one copy if they are tied.
Bytes EndWeights(const Deployment& deployment, Trace& trace) {
  const bool has_positions = deployment.model.positions.encoding == Position::kLearned;
  const double positions = has_positions ? static_cast<double>(deployment.model.positions.rows) : 0;
  trace.Input("positions", positions, has_positions ? "model.max_positions" : "model.position");
  const double rank_vocab = deployment.shapes.widths.vocab, hidden = deployment.shapes.hidden;
  const Bytes head_element = ElementSize(deployment.formats.head_weights);
  BindWeightSize("head_element", deployment.formats.head_weights, deployment.formats.keeps_head, deployment, trace);
  FIGURE(trace, embedding, (rank_vocab + positions) * hidden * head_element,
         (Note{"Embedding on one device", "with learned positions"}), rank_vocab, positions, hidden, head_element);
  FIGURE(trace, head, rank_vocab * hidden * head_element, (Note{"LM head on one device", ""}), rank_vocab, hidden,
         head_element);
  if (deployment.mapping.pp <= 1 && !deployment.model.tied_embeddings) {
    FIGURE(trace, ends, embedding + head, (Note{"Embedding and LM head", "a single stage holds both"}), embedding,
           head);
    return ends;
  }
  FIGURE(trace, ends, max(embedding, head),
         (Note{"Embedding or LM head", "one copy if they are tied; each on a stage of its own"}), embedding, head);
  return ends;
}

// Tables of the layers' embeddings, split over the ranks by row and kept as the embedding is; on the first stage.
Bytes LayerTableWeights(const Deployment& deployment, Trace& trace) {
  const auto layers = static_cast<double>(deployment.model.layers),
             layer_embedding = static_cast<double>(deployment.model.layer_embeddings.width);
  const double layer_rows = LayerRows(deployment.model, trace), tp = deployment.mapping.tp;
  const Bytes table_element = ElementSize(deployment.formats.head_weights);
  BindWeightSize("table_element", deployment.formats.head_weights, deployment.formats.keeps_head, deployment, trace);
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  FIGURE(trace, layer_tables, layers * (ceil(layer_rows / tp) * layer_embedding) * table_element,
         (Note{"Embeddings of the layers on one device", "a table each, split over the tensor-parallel devices"}),
         layers, layer_rows, tp, layer_embedding, table_element);
  return layer_tables;
}

// Weights of what drafts, beside the LM head: a draft model in 16 bit, split over the tensor-parallel devices, and MTP
// modules, each a layer like the model's last and a projection of two streams.
Bytes DraftWeights(const Deployment& deployment, Bytes attention_layer, Bytes small_layer, Bytes last_mlp,
                   std::string_view last_mlp_is, Trace& trace) {
  const Speculative& speculative = *deployment.load.speculative;
  const auto modules = static_cast<double>(speculative.modules);
  const double draft_parameters = speculative.draft_parameters, tp = deployment.mapping.tp,
               hidden = deployment.shapes.hidden;
  const Bytes half = 2.0 * kB;
  trace.Input("modules", modules, "serving.speculative.modules");
  trace.Input("draft_parameters", draft_parameters, "serving.speculative.draft_parameters");
  trace.Alias("last_mlp", last_mlp, last_mlp_is);
  FIGURE(
      trace, drafts,
      draft_parameters * half / tp + modules * (attention_layer + small_layer + last_mlp + 2 * hidden * hidden * half),
      (Note{"Weights of what drafts",
            "a draft model in 16 bit over the tensor-parallel devices; MTP modules like the last layer"}),
      draft_parameters, half, tp, modules, attention_layer, small_layer, last_mlp, hidden);
  return drafts;
}

// Attention of the stage's layers that project keys and values; returns the weights of attention in a layer without a
// window.
Bytes AddAttentionWeights(const Deployment& deployment, double attending_layers, double stage_window,
                          ListedSum<Bytes>& sum, Trace& trace) {
  const Bytes attention_layer = AttentionWeights(deployment, trace);
  if (stage_window > 0) {
    FIGURE(trace, attention_layer_count, attending_layers - stage_window,
           (Note{"Layers without a sliding window on the stage", ""}), attending_layers, stage_window);
    trace.Alias("local_attention_layer_count", stage_window, "stage_window");
    sum.Add("local_attention_layer", LocalAttentionWeights(deployment, trace), stage_window);
    sum.Add("attention_layer", attention_layer, attention_layer_count);
    return attention_layer;
  }
  trace.Alias("attention_layer_count", attending_layers, "attending_layers");
  sum.Add("attention_layer", attention_layer, attending_layers);
  return attention_layer;
}

// Mixers of the stage; returns the weights of attention in a layer without a window.
Bytes AddMixerWeights(const Deployment& deployment, ListedSum<Bytes>& sum, Trace& trace) {
  const double stage_layers = deployment.layers.per_stage, stage_recurrent = deployment.layers.on_stage.recurrent;
  const bool has_window_heads = deployment.model.HasWindowHeads();
  if (deployment.model.SharesKv()) {
    const StageLayers cached = AddSharedKvWeights(deployment, sum, trace);
    trace.Alias("attending_layers", cached.attention, "cached_attention");
    trace.Alias("stage_window", cached.window, "cached_window");
    return AddAttentionWeights(deployment, cached.attention, has_window_heads ? cached.window : 0, sum, trace);
  }
  if (stage_recurrent > 0) {
    FIGURE(trace, attending_layers, stage_layers - stage_recurrent, (Note{"Layers with attention on the stage", ""}),
           stage_layers, stage_recurrent);
    trace.Alias("recurrent_layer_count", stage_recurrent, "stage_recurrent");
    sum.Add("recurrent_layer", RecurrentWeights(deployment, trace), stage_recurrent);
  } else {
    trace.Alias("attending_layers", stage_layers, "stage_layers");
  }
  const double stage_window = has_window_heads ? deployment.layers.on_stage.window : Ratio(0);
  return AddAttentionWeights(deployment, stage_layers - stage_recurrent, stage_window, sum, trace);
}

}  // namespace

Bytes WeightsOf(const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "weights");
  const LayerCounts& stage = deployment.layers.on_stage;
  const double stage_layers = deployment.layers.per_stage, stage_moe = stage.moe, stage_dense = stage.dense;
  ListedSum<Bytes> sum(trace);
  const Bytes attention_layer = AddMixerWeights(deployment, sum, trace);
  trace.Alias("small_layer_count", stage_layers, "stage_layers");
  const Bytes small_layer = NormWeights(deployment, trace);
  sum.Add("small_layer", small_layer, stage_layers);
  const Bytes mlp_layer = MlpWeights(deployment, trace),
              experts_layer = stage_moe > 0 ? ExpertWeights(deployment, trace) : Bytes{};
  if (stage_moe > 0) {
    FIGURE(trace, mlp_layer_count, min(stage_layers - stage_moe, stage_dense),
           (Note{"Layers with a dense MLP on the stage", ""}), stage_layers, stage_moe, stage_dense);
    sum.Add("mlp_layer", mlp_layer, mlp_layer_count);
    trace.Alias("experts_layer_count", stage_moe, "stage_moe");
    sum.Add("experts_layer", experts_layer, stage_moe);
  } else if (deployment.model.SharesKv()) {
    const double mlp_layer_count = OwnDenseLayers(deployment.layers, trace);
    trace.Alias("mlp_layer_count", mlp_layer_count, "own_dense_layers");
    sum.Add("mlp_layer", mlp_layer, mlp_layer_count);
  } else {
    trace.Alias("mlp_layer_count", stage_dense, "stage_dense");
    sum.Add("mlp_layer", mlp_layer, stage_dense);
  }
  if (deployment.load.adapters) sum.Add("adapter_weights", AdapterWeights(deployment, trace));
  if (deployment.model.vision) sum.Add("encoder_weights", EncoderWeights(deployment, trace));
  if (deployment.load.speculative) {
    const bool has_experts = stage_moe > 0;
    sum.Add("drafts", DraftWeights(deployment, attention_layer, small_layer, has_experts ? experts_layer : mlp_layer,
                                   has_experts ? "experts_layer" : "mlp_layer", trace));
  }
  if (deployment.model.layer_embeddings.width > 0) sum.Add("layer_tables", LayerTableWeights(deployment, trace));
  sum.Add("ends", EndWeights(deployment, trace));
  return sum.Total("weights", {"Weights per device", "of the most loaded pipeline stage, in their storage formats", "",
                               "serving.memory_bytes.weights"});
}

}  // namespace slipstick
