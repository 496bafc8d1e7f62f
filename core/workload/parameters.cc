#include "core/base/figure.h"
#include "core/workload/layer.h"
#include "core/workload/layer_counts.h"
#include "core/workload/model.h"

namespace slipstick {
namespace {

// Counts the parts of the model's layers one after the other.
class Counter {
 public:
  explicit Counter(const Model& model) : model_(model), widths_(WholeWidths(model)) {}

  Ratio AddMixer(Mixer mixer, Ratio layers) {
    const Ratio parameters = Add(MixerProducts(model_, mixer, widths_), SmallElements(model_, mixer, widths_), layers);
    if (mixer == Mixer::kFullAttention) last_layer_ += parameters;
    return parameters;
  }

  Ratio AddMlp(Ratio layers) {
    const Ratio parameters = AddMlpOf(widths_, layers);
    if (!model_.moe) last_layer_ += parameters;
    return parameters;
  }

  // Attention and MLP of the layers that share a KV cache.
  void AddSharedKv(Ratio full, Ratio window, Ratio all) {
    if (full > 0) AddMixer(Mixer::kSharedKv, full);
    if (window > 0) AddMixer(Mixer::kSharedKvWindow, window);
    AddMlpOf(SharedKvWidths(widths_), all);
  }

  // Counts all experts of a layer, and the experts that a token uses.
  void AddExperts(Ratio layers, ParameterCount& count) {
    const auto [matrices, expert] = ElementsOf(FeedForwardProducts(model_, FeedForward::kExperts, widths_));
    const Ratio small_mlp = SmallElements(model_, FeedForward::kExperts, widths_),
                expert_biases = ExpertBiases(model_, widths_);
    const Ratio experts = model_.moe->experts, top_k = model_.moe->top_k;
    const Ratio all_experts = Figure("Weights of all routed experts", experts * expert, "of a layer"),
                chosen_experts = Figure("Weights of the chosen experts", top_k * expert, "that a token visits");
    const Ratio small = small_mlp + experts * expert_biases;
    AddMatrices(matrices, layers);
    all_ += all_experts * layers;
    active_ += chosen_experts * layers;
    small_ += small * layers;
    idle_small_ += (experts - top_k) * expert_biases * layers;
    count.moe_per_layer = Figure("Parameters of a layer's experts", matrices + all_experts + small,
                                 "router and shared experts too, with all biases");
    count.moe_active_per_layer = matrices + chosen_experts + small_mlp + top_k * expert_biases;
    last_layer_ += count.moe_per_layer;
  }

  // Norms, including the final one. A layer without an MLP has no norm for it.
  Ratio AddNorms(Ratio norm_elements, Ratio mlp_layers) {
    const Ratio layers = model_.layers, of_layer = Ratio(model_.norms.per_layer) * norm_elements;
    last_layer_ += of_layer;
    return Figure("Parameters of the norms", layers * of_layer - (layers - mlp_layers) * norm_elements + norm_elements,
                  "with the one before the LM head; a layer without an MLP has no norm for it");
  }

  // GEMM weights of all layers, and those that a token uses.
  Ratio AllMatrices() const { return Figure("GEMM weights of the layers", all_ + NoLayerEmbedding(), "all experts"); }
  Ratio ActiveMatrices() const {
    return Figure("Active GEMM weights of the layers", active_ + NoLayerEmbedding(),
                  "of the experts, those active for a token");
  }
  Ratio Small() const { return Figure("Small parameters of the layers", small_, "biases and others"); }
  Ratio IdleSmall() const { return idle_small_; }
  Ratio LastLayer() const { return Figure("Parameters of the last layer", last_layer_); }

 private:
  Ratio Add(const MatrixProducts& products, Ratio small, Ratio layers) {
    const Ratio matrices = ElementsOf(products).all_tokens;
    AddMatrices(matrices, layers);
    small_ += small * layers;
    return matrices + small;
  }
  Ratio AddMlpOf(const LayerWidths& widths, Ratio layers) {
    return Add(FeedForwardProducts(model_, FeedForward::kDense, widths),
               SmallElements(model_, FeedForward::kDense, widths), layers);
  }
  void AddMatrices(Ratio matrices, Ratio layers) {
    all_ += matrices * layers;
    active_ += matrices * layers;
  }
  // A term of zero that depends on the width, for models without layer embeddings.
  [[nodiscard]] Ratio NoLayerEmbedding() const {
    const Ratio width = model_.layer_embeddings.width;
    return width > 0 ? Ratio(0) : width * Ratio(model_.layers);
  }

  const Model& model_;
  LayerWidths widths_;
  Ratio all_ = 0, active_ = 0;  // in GEMMs
  Ratio small_ = 0;             // outside GEMMs and norms
  Ratio idle_small_ = 0;        // part of these in experts that a token does not use
  Ratio last_layer_ = 0;
};

// Tables of all layers, and the norm of the projection that is added to their rows.
Ratio LayerTables(const Model& model) {
  const Ratio width = model.layer_embeddings.width;
  if (width <= 0) return 0;
  return Figure("Parameters of the layers' embeddings", Ratio(model.layers) * LayerRows(model) * width + width,
                "with the norm of the projection that is added to a row");
}

// Tables at the ends of the model.
void CountEnds(const Model& model, Ratio norm_elements, ParameterCount& count) {
  const Ratio hidden = model.hidden, vocab = model.vocab;
  const Ratio positions =
      model.positions.encoding == Position::kLearned ? Ratio(model.positions.rows) : model.Chosen(0, "position");
  const Ratio norms = model.Chosen(model.norms.after_embedding ? 1 : 0, "embedding_norm"),
              tied = model.Chosen(model.tied_embeddings ? 1 : 0, "tied_embeddings"),
              head_biases = model.Chosen(model.head_bias ? 1 : 0, "head_bias");
  count.layer_tables = LayerTables(model);
  count.embedding =
      Figure("Parameters of the embedding", (vocab + positions) * hidden + norms * norm_elements + count.layer_tables,
             "with learned positions, its norm and the tables of the layers");
  count.head =
      Figure("Parameters of the LM head", (1 - tied) * vocab * hidden + head_biases * vocab, "none where it is tied");
}

// Counts attention and MLPs if the last layers share the KV cache of earlier ones.
void CountSharing(const LayerCounts& layers, Counter& counter, ParameterCount& count) {
  const auto [own_full, own_window, shared_full] = SplitBySharedKv(layers);
  if (own_full > 0) count.attention_per_layer = counter.AddMixer(Mixer::kFullAttention, own_full);
  if (own_window > 0) counter.AddMixer(Mixer::kWindow, own_window);
  count.dense_mlp_per_layer = counter.AddMlp(OwnDenseLayers(layers));
  counter.AddSharedKv(shared_full, layers.shared_kv_window, layers.shared_kv);
}

void CountLayerParts(const Model& model, const LayerCounts& layers, Counter& counter, ParameterCount& count) {
  if (model.SharesKv()) {
    CountSharing(layers, counter, count);
  } else if (model.HasWindowHeads()) {
    count.attention_per_layer = counter.AddMixer(Mixer::kFullAttention, layers.attention - layers.window);
    counter.AddMixer(Mixer::kWindow, layers.window);
  } else {
    count.attention_per_layer = counter.AddMixer(Mixer::kFullAttention, layers.attention);
  }
  if (model.linear_attention) count.linear_attention_per_layer = counter.AddMixer(Mixer::kRecurrence, layers.recurrent);
  if (!model.SharesKv()) count.dense_mlp_per_layer = counter.AddMlp(OwnDenseLayers(layers));
  if (model.moe) counter.AddExperts(layers.moe, count);
}

}  // namespace

ParameterCount CountParameters(const Model& model) {
  ParameterCount count;
  const LayerCounts layers = CountLayers(model);
  Counter counter(model);
  CountLayerParts(model, layers, counter, count);
  const Ratio norm_elements = NormElements(model), norms = counter.AddNorms(norm_elements, layers.moe + layers.dense);
  count.norms_per_layer = Ratio(model.norms.per_layer) * norm_elements;
  count.final_norm = norm_elements;
  CountEnds(model, norm_elements, count);
  count.matrices = counter.AllMatrices();
  count.active_matrices = counter.ActiveMatrices();
  count.total = Figure("Parameters of the model",
                       count.matrices + count.embedding + count.head + norms + counter.Small(), "MTP modules apart");
  count.active = count.total - (count.matrices - count.active_matrices) - counter.IdleSmall() - count.layer_tables;
  const Ratio hidden = model.hidden;
  count.mtp_module =
      Figure("Parameters of an MTP module", 2 * hidden * hidden + 3 * norm_elements + counter.LastLayer(),
             "a layer like the last, the projection of two streams, three norms");
  return count;
}

}  // namespace slipstick
