#include "core/base/sum.h"
#include "core/workload/layer.h"
#include "core/workload/layer_counts.h"
#include "core/workload/model.h"

namespace slipstick {
namespace {

// Parameters of a layer's experts: all of them, and those that a token visits.
struct ExpertParameters {
  double all = 0, active = 0;
};

// Counts the parts of the model's layers one after the other.
class Counter {
 public:
  Counter(const Model& model, Trace& trace)
      : model_(model),
        trace_(trace),
        widths_(WholeWidths(model, trace)),
        all_(trace),
        active_(trace),
        small_(trace),
        last_layer_(trace) {}

  double AddMixer(std::string_view name, Mixer mixer, double layers, std::string_view layers_are) {
    const Trace::Scope scope(trace_, name);
    const double small_mixer = SmallElements(model_, mixer, widths_, trace_);
    trace_.Alias("small", small_mixer, "small_mixer");
    const double parameters = Add(name, MixerProducts(model_, mixer, widths_), small_mixer, layers, layers_are);
    if (mixer == Mixer::kFullAttention) last_layer_.Add(name, parameters, 1, "parameters");
    return parameters;
  }

  double AddMlp(double layers, std::string_view layers_are) {
    const Trace::Scope scope(trace_, "MLP");
    const double small_mlp = SmallElements(model_, FeedForward::kDense, widths_, trace_);
    trace_.Alias("small", small_mlp, "small_mlp");
    const double parameters =
        Add("MLP", FeedForwardProducts(model_, FeedForward::kDense, widths_), small_mlp, layers, layers_are);
    if (!model_.moe) last_layer_.Add("MLP", parameters, 1, "parameters");
    return parameters;
  }

  // Attention and MLP of the layers that share a KV cache.
  void AddSharedKv(double full, double window, double all) {
    const LayerWidths own = widths_;
    if (full > 0) AddMixer("attention, shared KV cache", Mixer::kSharedKv, full, "shared_kv_full_layers");
    if (window > 0)
      AddMixer("local attention, shared KV cache", Mixer::kSharedKvWindow, window, "shared_kv_window_layers");
    const Trace::Scope scope(trace_, "MLP, shared KV cache");
    widths_ = SharedKvWidths(own, trace_);
    const double small_mlp = SmallElements(model_, FeedForward::kDense, widths_, trace_);
    trace_.Alias("small", small_mlp, "small_mlp");
    Add("MLP, shared KV cache", FeedForwardProducts(model_, FeedForward::kDense, widths_), small_mlp, all,
        "shared_kv_layers");
    widths_ = own;
  }

  ExpertParameters AddExperts(double layers) {
    const Trace::Scope scope(trace_, "experts");
    const MatrixProducts products = FeedForwardProducts(model_, FeedForward::kExperts, widths_);
    const auto [matrices, expert] = ElementsOf(products, model_, widths_, "matrices", trace_);
    const double small_mlp = SmallElements(model_, FeedForward::kExperts, widths_, trace_);
    const double expert_biases = ExpertBiases(model_, widths_, trace_);
    const auto experts = static_cast<double>(model_.moe->experts), top_k = static_cast<double>(model_.moe->top_k);
    trace_.Input("experts", experts, "model.moe.experts");
    trace_.Input("top_k", top_k, "model.moe.top_k");
    FIGURE(trace_, all_experts, experts * expert, (Note{"Weights of all routed experts of a layer"}), experts, expert);
    FIGURE(trace_, chosen_experts, top_k * expert, (Note{"Weights of the experts that a token visits"}), top_k, expert);
    FIGURE(trace_, small, small_mlp + experts * expert_biases,
           (Note{"Small parameters of a layer's experts", "with all their biases"}), small_mlp, experts, expert_biases);
    FIGURE(trace_, parameters, matrices + all_experts + small,
           (Note{"Parameters of a layer's experts", "router and shared experts too"}), matrices, all_experts, small);
    AddToSums("router and shared experts", matrices, layers, "moe_layers");
    all_.Add("routed experts", all_experts, layers, "all_experts", "moe_layers");
    active_.Add("chosen experts", chosen_experts, layers, "chosen_experts", "moe_layers");
    small_.Add("experts", small, layers, "small", "moe_layers");
    last_layer_.Add("experts", parameters, 1, "parameters");
    const double visited = matrices + chosen_experts + small_mlp + top_k * expert_biases;
    idle_small_ += (experts - top_k) * expert_biases * layers;
    return {parameters, visited};
  }

  // Norms, the last of the model too. A layer without an MLP has no norm for it.
  double AddNorms(double norm_elements, double mlp_layers) {
    const double layers = static_cast<double>(model_.layers),
                 norms_per_layer = static_cast<double>(model_.norms.per_layer);
    trace_.Input("norms_per_layer", norms_per_layer, "model.norms_per_layer");
    FIGURE(trace_, layer_norms, norms_per_layer * norm_elements, (Note{"Parameters of a layer's norms"}),
           norms_per_layer, norm_elements);
    FIGURE(
        trace_, norms, layers * layer_norms - (layers - mlp_layers) * norm_elements + norm_elements,
        (Note{"Parameters of the norms", "with the one before the LM head; a layer without an MLP has no norm for it"}),
        layers, layer_norms, mlp_layers, norm_elements);
    last_layer_.Add("layer_norms", layer_norms, 1, "layer_norms");
    return norms;
  }

  // Without a layer's embedding none is computed with: a term of zero.
  void NameLayerEmbedding(double layers) {
    if (model_.layer_embeddings.width > 0) return;
    trace_.Input("layer_embedding", 0.0, "model.layer_embedding");
    all_.Add("layer embeddings", 0.0, layers, "layer_embedding", "layers");
    active_.Add("layer embeddings", 0.0, layers, "layer_embedding", "layers");
  }

  // Of all layers; what a token computes with.
  double AllMatrices() const {
    return all_.Total("all_matrices", Note{"Weights in the GEMMs of the layers", "all experts"});
  }
  double ActiveMatrices() const {
    return active_.Total("active_matrices",
                         Note{"Weights in the GEMMs of the layers", "of the experts, those active for a token"});
  }
  double Small() const {
    return small_.Total("small_parameters", Note{"Biases and other small parameters of the layers"});
  }
  double IdleSmall() const { return idle_small_; }
  double LastLayer() const { return last_layer_.Total("last_layer", Note{"Parameters of the last layer"}); }

 private:
  // Part whose small parameters are the figure "small".
  double Add(std::string_view name, const MatrixProducts& products, double small, double layers,
             std::string_view layers_are) {
    const double matrices = ElementsOf(products, model_, widths_, "matrices", trace_).all_tokens;
    FIGURE(trace_, parameters, matrices + small, (Note{"Parameters of this part of a layer"}), matrices, small);
    AddToSums(name, matrices, layers, layers_are);
    small_.Add(name, small, layers, "small", layers_are);
    return parameters;
  }
  void AddToSums(std::string_view name, double matrices, double layers, std::string_view layers_are) {
    all_.Add(name, matrices, layers, "matrices", layers_are);
    active_.Add(name, matrices, layers, "matrices", layers_are);
  }

  const Model& model_;
  Trace& trace_;
  LayerWidths widths_;
  ListedSum<double> all_, active_;  // in GEMMs
  ListedSum<double> small_;         // beside GEMMs and norms
  double idle_small_ = 0;           // of them, in experts that a token does not visit
  ListedSum<double> last_layer_;
};

// Tables of all layers, and the norm of the projection that is added to their rows.
double LayerTables(const Model& model, Trace& trace) {
  const auto layers = static_cast<double>(model.layers),
             layer_embedding = static_cast<double>(model.layer_embeddings.width);
  const double layer_rows = LayerRows(model, trace);
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  FIGURE(trace, layer_tables, layers * layer_rows * layer_embedding + layer_embedding,
         (Note{"Parameters of the layers' embeddings", "with the norm of the projection that is added to a row"}),
         layers, layer_rows, layer_embedding);
  return layer_tables;
}

// Tables at the ends of the model.
void CountEnds(const Model& model, double norm_elements, ParameterCount& count, Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden), vocab = static_cast<double>(model.vocab);
  const bool has_positions = model.positions.encoding == Position::kLearned;
  const double positions = has_positions ? static_cast<double>(model.positions.rows) : 0;
  const double embedding_norms = model.norms.after_embedding ? 1 : 0;
  const double head_tables = model.tied_embeddings ? 0 : 1, head_biases = model.head_bias ? 1 : 0;
  trace.Input("positions", positions, has_positions ? "model.max_positions" : "model.position");
  trace.Input("embedding_norms", embedding_norms, "model.embedding_norm");
  trace.Input("head_tables", head_tables, "model.tied_embeddings");
  trace.Input("head_biases", head_biases, "model.head_bias");
  constexpr Note kEmbedding{"Parameters of the embedding", "with learned positions and its norm"};
  if (model.layer_embeddings.width > 0) {
    const double layer_tables = LayerTables(model, trace);
    FIGURE(trace, embedding, (vocab + positions) * hidden + embedding_norms * norm_elements + layer_tables,
           (Note{kEmbedding.title, "with learned positions, its norm and the tables of the layers"}), vocab, positions,
           hidden, embedding_norms, norm_elements, layer_tables);
    count.embedding = embedding;
    count.layer_tables = layer_tables;
  } else {
    FIGURE(trace, embedding, (vocab + positions) * hidden + embedding_norms * norm_elements, kEmbedding, vocab,
           positions, hidden, embedding_norms, norm_elements);
    count.embedding = embedding;
  }
  FIGURE(trace, lm_head, head_tables * vocab * hidden + head_biases * vocab,
         (Note{"Parameters of the LM head", "none where it is tied"}), head_tables, vocab, hidden, head_biases);
  count.head = lm_head;
}

// Attention and MLPs where the last layers share the KV cache of those before them.
void CountSharing(const LayerCounts& layers, Counter& counter, ParameterCount& count, Trace& trace) {
  const auto [own_full_layers, own_window_layers, shared_kv_full_layers] = SplitBySharedKv(layers, trace);
  const double own_dense_layers = OwnDenseLayers(layers, trace);
  if (own_full_layers > 0)
    count.attention_per_layer =
        counter.AddMixer("attention", Mixer::kFullAttention, own_full_layers, "own_full_layers");
  if (own_window_layers > 0)
    counter.AddMixer("local attention", Mixer::kWindow, own_window_layers, "own_window_layers");
  count.dense_mlp_per_layer = counter.AddMlp(own_dense_layers, "own_dense_layers");
  counter.AddSharedKv(shared_kv_full_layers, layers.shared_kv_window, layers.shared_kv);
}

}  // namespace

ParameterCount CountParameters(const Model& model, Trace& trace) {
  const Trace::Scope scope(trace, "parameters");
  ParameterCount count;
  const LayerCounts layers = CountLayers(model, trace);
  Counter counter(model, trace);
  const double attention_layers = layers.attention, window_layers = layers.window;
  if (model.SharesKv()) {
    CountSharing(layers, counter, count, trace);
  } else if (model.HasWindowHeads()) {
    FIGURE(trace, full_layers, attention_layers - window_layers, (Note{"Layers that attend to all tokens"}),
           attention_layers, window_layers);
    count.attention_per_layer = counter.AddMixer("attention", Mixer::kFullAttention, full_layers, "full_layers");
    counter.AddMixer("local attention", Mixer::kWindow, window_layers, "window_layers");
  } else {
    count.attention_per_layer =
        counter.AddMixer("attention", Mixer::kFullAttention, attention_layers, "attention_layers");
  }
  if (model.linear_attention)
    count.linear_attention_per_layer =
        counter.AddMixer("recurrence", Mixer::kRecurrence, layers.recurrent, "recurrent_layers");
  if (!model.SharesKv()) count.dense_mlp_per_layer = counter.AddMlp(OwnDenseLayers(layers, trace), "own_dense_layers");
  if (model.moe) {
    const ExpertParameters experts = counter.AddExperts(layers.moe);
    count.moe_per_layer = experts.all;
    count.moe_active_per_layer = experts.active;
  }
  const double norm_elements = NormElements(model, trace),
               norms = counter.AddNorms(norm_elements, layers.moe + layers.dense);
  count.norms_per_layer = static_cast<double>(model.norms.per_layer) * norm_elements;
  count.final_norm = norm_elements;
  CountEnds(model, norm_elements, count, trace);
  counter.NameLayerEmbedding(static_cast<double>(model.layers));
  const double all_matrices = counter.AllMatrices(), active_matrices = counter.ActiveMatrices();
  const double small_parameters = counter.Small(), last_layer = counter.LastLayer(), embedding = count.embedding,
               lm_head = count.head;
  FIGURE(trace, total_parameters, all_matrices + embedding + lm_head + norms + small_parameters,
         (Note{"Parameters of the model", "MTP modules apart"}), all_matrices, embedding, lm_head, norms,
         small_parameters);
  const auto mtp_layers = static_cast<double>(model.mtp_layers), hidden = static_cast<double>(model.hidden);
  FIGURE(
      trace, mtp_parameters, mtp_layers * (2 * hidden * hidden + 3 * norm_elements + last_layer),
      (Note{"Parameters of the MTP modules", "a layer like the last, the projection of two streams, three norms each"}),
      mtp_layers, hidden, norm_elements, last_layer);
  count.matrices = all_matrices;
  count.active_matrices = active_matrices;
  count.total = total_parameters;
  count.active = total_parameters - (all_matrices - active_matrices) - counter.IdleSmall() - count.layer_tables;
  count.mtp = mtp_parameters;
  return count;
}

ParameterCount CountParameters(const Model& model) {
  Trace off = Trace::Off();
  return CountParameters(model, off);
}

}  // namespace slipstick
