// GEMMs of a layer: the outputs and inputs of each, stated once for their values and their explanation.
#include "core/workload/layer.h"

namespace slipstick {
namespace {

constexpr Note kOutputs{"Outputs of the GEMM", "on one device"};
constexpr Note kInputs{"Inputs of the GEMM", "on one device"};

MatrixProduct AttentionProduct(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace) {
  const bool is_local = id >= ProductId::kWindowQueryKeyValue && id <= ProductId::kWindowAttentionOut;
  const auto hidden = static_cast<double>(model.hidden),
             head_dim = static_cast<double>(is_local ? model.WindowHeadDim() : model.HeadDim());
  const double rank_heads = widths.heads, rank_kv_heads = is_local ? widths.window_kv_heads : widths.kv_heads;
  trace.Input("hidden", hidden, "model.hidden");
  if (id == ProductId::kAttentionOut || id == ProductId::kWindowAttentionOut) {
    const double value_head_dim = model.mla ? static_cast<double>(model.mla->value_head_dim) : head_dim;
    if (model.mla) trace.Input("value_head_dim", value_head_dim, "model.mla.value_head_dim");
    if (!model.mla) BindHeadDim("value_head_dim", value_head_dim, is_local, trace);
    trace.Alias("outputs", hidden, "hidden");
    FIGURE(trace, inputs, rank_heads * value_head_dim, kInputs, rank_heads, value_head_dim);
    return {id, hidden, inputs};
  }
  const double query_parts = model.attention_gate ? 2 : 1;  // queries, and their gates
  trace.Input("query_parts", query_parts, "model.attention_gate");
  BindHeadDim("head_dim", head_dim, is_local, trace);
  trace.Alias("inputs", hidden, "hidden");
  if (id == ProductId::kQuery || id == ProductId::kWindowQuery) {
    FIGURE(trace, outputs, query_parts * rank_heads * head_dim, kOutputs, query_parts, rank_heads, head_dim);
    return {id, outputs, hidden};
  }
  if (is_local) trace.Alias("rank_kv_heads", rank_kv_heads, "rank_window_kv_heads");
  const double key_value_parts = model.keys_as_values && !is_local ? 1 : 2;
  trace.Input("key_value_parts", key_value_parts, "model.keys_as_values");
  FIGURE(trace, outputs, (query_parts * rank_heads + key_value_parts * rank_kv_heads) * head_dim, kOutputs, query_parts,
         rank_heads, key_value_parts, rank_kv_heads, head_dim);
  return {id, outputs, hidden};
}

MatrixProduct LatentProduct(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto q_lora_rank = static_cast<double>(model.mla->q_lora_rank),
             kv_lora_rank = static_cast<double>(model.mla->kv_lora_rank);
  const auto nope_head_dim = static_cast<double>(model.mla->nope_head_dim),
             rope_head_dim = static_cast<double>(model.mla->rope_head_dim);
  const auto value_head_dim = static_cast<double>(model.mla->value_head_dim);
  const double rank_heads = widths.heads;
  switch (id) {
    case ProductId::kQueryDown:
      trace.Alias("outputs", q_lora_rank, "q_lora_rank");
      trace.Alias("inputs", hidden, "hidden");
      return {id, q_lora_rank, hidden};
    case ProductId::kKeyValueDown: {
      trace.Alias("inputs", hidden, "hidden");
      FIGURE(trace, outputs, kv_lora_rank + rope_head_dim, kOutputs, kv_lora_rank, rope_head_dim);
      return {id, outputs, hidden};
    }
    case ProductId::kKeyValueUp: {
      trace.Alias("inputs", kv_lora_rank, "kv_lora_rank");
      FIGURE(trace, outputs, rank_heads * (nope_head_dim + value_head_dim), kOutputs, rank_heads, nope_head_dim,
             value_head_dim);
      return {id, outputs, kv_lora_rank};
    }
    case ProductId::kLatentGate: {
      trace.Alias("inputs", hidden, "hidden");
      FIGURE(trace, outputs, rank_heads * value_head_dim, kOutputs, rank_heads, value_head_dim);
      return {id, outputs, hidden};
    }
    default: {  // queries
      const double inputs = id == ProductId::kQueryUp ? q_lora_rank : hidden;
      trace.Alias("inputs", inputs, id == ProductId::kQueryUp ? "q_lora_rank" : "hidden");
      FIGURE(trace, outputs, rank_heads * (nope_head_dim + rope_head_dim), kOutputs, rank_heads, nope_head_dim,
             rope_head_dim);
      return {id, outputs, inputs};
    }
  }
}

// Of both parts of a layer: weights before it, after it, and from each residual stream to each.
MatrixProduct StreamProduct(const Model& model, Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden), streams = static_cast<double>(model.compressed->streams);
  trace.Input("hidden", hidden, "model.hidden");
  trace.Input("streams", streams, "model.compressed.streams");
  FIGURE(trace, outputs, 2 * streams * (2 + streams), kOutputs, streams);
  FIGURE(trace, inputs, streams * hidden, kInputs, streams, hidden);
  return {ProductId::kStreams, outputs, inputs};
}

// Every rank has all of the indexer's projections: nothing is split. Where not all layers select, each is given the
// mean.
MatrixProduct IndexerProduct(ProductId id, const Model& model, Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden),
             q_lora_rank = static_cast<double>(model.mla          ? model.mla->q_lora_rank
                                               : model.compressed ? model.compressed->q_lora_rank
                                                                  : Tally(0));
  if (model.compressed) trace.Input("q_lora_rank", q_lora_rank, "model.compressed.q_lora_rank");
  const auto index_heads = static_cast<double>(model.indexer->heads),
             index_dim = static_cast<double>(model.indexer->head_dim);
  trace.Input("index_heads", index_heads, "model.indexer.heads");
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  const bool is_compressed = id == ProductId::kIndexQuery && q_lora_rank > 0;
  const double inputs = is_compressed ? q_lora_rank : hidden;
  trace.Alias("inputs", inputs, is_compressed ? "q_lora_rank" : "hidden");
  const double index_share = IndexShare(model, trace);
  if (id == ProductId::kIndexQuery) {
    FIGURE(trace, outputs, index_share * index_heads * index_dim, kOutputs, index_share, index_heads, index_dim);
    return {id, outputs, inputs};
  }
  if (model.compressed) {
    FIGURE(trace, outputs, index_share * (4 * index_dim + index_heads),
           (Note{"Outputs of the GEMM", "two rows and two weights of an entry's key, and the weights of the heads"}),
           index_share, index_dim, index_heads);
    return {id, outputs, inputs};
  }
  // A block's score is its best head's: no weights for the heads.
  const double head_weights = model.mla ? index_heads : 0;
  trace.Input("head_weights", head_weights, model.mla ? "model.indexer.heads" : "model.indexer.block");
  FIGURE(trace, outputs, index_share * (index_dim + head_weights), kOutputs, index_share, index_dim, head_weights);
  return {id, outputs, inputs};
}

MatrixProduct RecurrentProduct(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace) {
  const LinearAttention& linear = *model.linear_attention;
  const auto hidden = static_cast<double>(model.hidden), step_rank = static_cast<double>(linear.step_rank);
  const auto state = static_cast<double>(linear.state), gate_rank = static_cast<double>(linear.head_dim);
  const double recurrent_inner = widths.recurrent_inner, recurrent_columns = widths.recurrent_columns;
  trace.Input("gate_rank", gate_rank, "model.linear.head_dim");
  trace.Input("state", state, "model.linear.state");
  trace.Input("step_rank", step_rank, "model.linear.step_rank");
  const auto product = [&](double outputs, std::string_view outputs_are, double inputs, std::string_view inputs_are) {
    trace.Alias("outputs", outputs, outputs_are);
    trace.Alias("inputs", inputs, inputs_are);
    return MatrixProduct{id, outputs, inputs};
  };
  if (id == ProductId::kRecurrentIn) return product(recurrent_columns, "recurrent_columns", hidden, "hidden");
  if (id == ProductId::kRecurrentOut) return product(hidden, "hidden", recurrent_inner, "recurrent_inner");
  if (id == ProductId::kStepsUp) return product(recurrent_inner, "recurrent_inner", step_rank, "step_rank");
  if (id != ProductId::kStepsAndStates) return product(recurrent_inner, "recurrent_inner", gate_rank, "gate_rank");
  trace.Alias("inputs", recurrent_inner, "recurrent_inner");
  FIGURE(trace, outputs, step_rank + 2 * state, kOutputs, step_rank, state);
  return {id, outputs, recurrent_inner};
}

MatrixProduct FeedForwardProduct(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace) {
  const bool is_dense = id == ProductId::kMlpIn || id == ProductId::kMlpOut;
  const bool is_routed = id == ProductId::kExpertsIn || id == ProductId::kExpertsOut;
  const auto hidden = static_cast<double>(model.hidden);
  const double inner = is_dense ? widths.mlp : is_routed ? widths.expert : widths.shared;
  const double up_parts = model.gated ? 2 : 1;  // gate and up
  trace.Input("hidden", hidden, "model.hidden");
  trace.Input("up_parts", up_parts, "model.gated");
  trace.Alias("inner", inner, is_dense ? "rank_mlp" : is_routed ? "rank_expert" : "rank_shared");
  const bool has_own_rows = is_routed || id == ProductId::kExpertsDown || id == ProductId::kExpertsUp;
  const double routed_width = has_own_rows ? RoutedWidth(model, trace) : 0,
               row_width = is_routed ? routed_width : hidden;
  const std::string_view row_width_is = is_routed ? "routed_width" : "hidden";
  if (id == ProductId::kExpertsDown || id == ProductId::kExpertsUp) {
    const bool is_down = id == ProductId::kExpertsDown;
    trace.Alias("outputs", is_down ? routed_width : hidden, is_down ? "routed_width" : "hidden");
    trace.Alias("inputs", is_down ? hidden : routed_width, is_down ? "hidden" : "routed_width");
    return is_down ? MatrixProduct{id, routed_width, hidden} : MatrixProduct{id, hidden, routed_width};
  }
  if (id == ProductId::kMlpOut || id == ProductId::kExpertsOut || id == ProductId::kSharedOut) {
    trace.Alias("outputs", row_width, row_width_is);
    trace.Alias("inputs", inner, "inner");
    return {id, row_width, inner};
  }
  trace.Alias("inputs", row_width, row_width_is);
  if (id == ProductId::kRouter) {
    const auto experts = static_cast<double>(model.moe->experts);
    trace.Input("outputs", experts, "model.moe.experts");
    return {id, experts, hidden};
  }
  FIGURE(trace, outputs, up_parts * inner, kOutputs, up_parts, inner);
  return {id, outputs, row_width};
}

// Embeddings of layers: the residual stream gates a row of as many columns, which is projected back and added.
MatrixProduct LayerEmbeddingProduct(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden),
             layer_embedding = static_cast<double>(model.layer_embeddings.width);
  const double rank_layer_inputs = widths.layer_inputs;
  trace.Input("hidden", hidden, "model.hidden");
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  if (id == ProductId::kLayerOut) {
    trace.Alias("outputs", hidden, "hidden");
    trace.Alias("inputs", layer_embedding, "layer_embedding");
    return {id, hidden, layer_embedding};
  }
  const bool is_gate = id == ProductId::kLayerGate;
  const double outputs = is_gate ? layer_embedding : rank_layer_inputs;
  trace.Alias("outputs", outputs, is_gate ? "layer_embedding" : "rank_layer_inputs");
  trace.Alias("inputs", hidden, "hidden");
  return {id, outputs, hidden};
}

// Products of a part of the layer, one after the other.
class Collector {
 public:
  Collector(const Model& model, const LayerWidths& widths) : model_(model), widths_(widths) {}
  void Add(ProductId id) { products_.Add(ProductOf(id, model_, widths_, off_)); }
  void AddLayerEmbedding() {
    if (model_.layer_embeddings.width == 0) return;
    Add(ProductId::kLayerInputs);
    Add(ProductId::kLayerGate);
    Add(ProductId::kLayerOut);
  }
  [[nodiscard]] const MatrixProducts& products() const { return products_; }

 private:
  const Model& model_;
  const LayerWidths& widths_;
  Trace off_ = Trace::Off();
  MatrixProducts products_;
};

MatrixProducts AttentionProducts(const Model& model, Mixer mixer, const LayerWidths& widths) {
  Collector collect(model, widths);
  if (SharesKv(mixer)) {
    const bool has_own_heads = IsLocal(mixer) && model.HasWindowHeads();
    collect.Add(has_own_heads ? ProductId::kWindowQuery : ProductId::kQuery);
    collect.Add(has_own_heads ? ProductId::kWindowAttentionOut : ProductId::kAttentionOut);
    return collect.products();
  }
  if (mixer == Mixer::kWindow && model.HasWindowHeads()) {
    collect.Add(ProductId::kWindowQueryKeyValue);
    collect.Add(ProductId::kWindowAttentionOut);
    return collect.products();
  }
  if (model.compressed) {
    for (const ProductId id :
         {ProductId::kQueryDown, ProductId::kQueryUp, ProductId::kKeyValueDown, ProductId::kCompressor,
          ProductId::kIndexQuery, ProductId::kIndexKey, ProductId::kAttentionGroups, ProductId::kAttentionOut}) {
      collect.Add(id);
    }
    if (model.compressed->streams > 1) collect.Add(ProductId::kStreams);
    return collect.products();
  }
  if (!model.mla) {
    collect.Add(ProductId::kQueryKeyValue);
    if (model.indexer) {
      collect.Add(ProductId::kIndexQuery);
      collect.Add(ProductId::kIndexKey);
    }
    collect.Add(ProductId::kAttentionOut);
    return collect.products();
  }
  if (model.mla->q_lora_rank > 0) {
    collect.Add(ProductId::kQueryDown);
    collect.Add(ProductId::kQueryUp);
  } else {
    collect.Add(ProductId::kQuery);
  }
  collect.Add(ProductId::kKeyValueDown);
  collect.Add(ProductId::kKeyValueUp);
  if (model.indexer) {
    collect.Add(ProductId::kIndexQuery);
    collect.Add(ProductId::kIndexKey);
  }
  if (model.attention_gate) collect.Add(ProductId::kLatentGate);
  collect.Add(ProductId::kAttentionOut);
  return collect.products();
}

MatrixProducts RecurrentProducts(const Model& model, const LayerWidths& widths) {
  const LinearAttention& linear = *model.linear_attention;
  Collector collect(model, widths);
  collect.Add(ProductId::kRecurrentIn);
  collect.Add(ProductId::kRecurrentOut);
  if (linear.kind == LinearAttentionKind::kMamba) {
    collect.Add(ProductId::kStepsAndStates);
    if (linear.step_rank > 0) collect.Add(ProductId::kStepsUp);
  } else if (linear.kind == LinearAttentionKind::kKimiDelta) {
    collect.Add(ProductId::kDecaysUp);
    if (!linear.full_gate) collect.Add(ProductId::kGatesUp);
  }
  return collect.products();
}

}  // namespace

double IndexShare(const Model& model, Trace& trace) {
  const auto index_layers = static_cast<double>(model.indexer->layers),
             attending_layers = static_cast<double>(model.AttentionLayers());
  if (index_layers <= 0) {
    const double index_share = 1;
    trace.Input("index_share", index_share, "model.indexer.layers");
    return index_share;
  }
  trace.Input("index_layers", index_layers, "model.indexer.layers");
  trace.Input("attending_layers", attending_layers, model.linear_attention ? "model.linear.layers" : "model.layers");
  FIGURE(
      trace, index_share, index_layers / attending_layers,
      (Note{"Share of the layers that select tokens", "the others reuse a selection; every layer is given the mean"}),
      index_layers, attending_layers);
  return index_share;
}

double LayerRows(const Model& model, Trace& trace) {
  const auto stated_rows = static_cast<double>(model.layer_embeddings.rows), vocab = static_cast<double>(model.vocab);
  trace.Input("stated_rows", stated_rows, "model.layer_embedding_rows");
  trace.Input("vocab", vocab, "model.vocab");
  FIGURE(trace, layer_rows, stated_rows + max(0.0, 1 - stated_rows) * vocab,
         (Note{"Rows of a layer's embeddings", "as stated, or the vocabulary"}), stated_rows, vocab);
  return layer_rows;
}

double RoutedWidth(const Model& model, Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden), latent = static_cast<double>(model.moe->latent);
  trace.Input("hidden", hidden, "model.hidden");
  trace.Input("latent", latent, "model.moe.latent");
  FIGURE(trace, routed_width, latent + max(0.0, 1 - latent) * hidden,
         (Note{"Width of the rows of routed experts", "as stated, or the hidden size"}), latent, hidden);
  return routed_width;
}

MatrixProduct ProductOf(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace) {
  if (id == ProductId::kIndexQuery || id == ProductId::kIndexKey) return IndexerProduct(id, model, trace);
  if (id == ProductId::kStreams) return StreamProduct(model, trace);
  if (model.compressed && id <= ProductId::kAttentionOut) return CompressedProduct(id, model, widths, trace);
  if (id <= ProductId::kWindowAttentionOut) {
    const bool is_latent = model.mla && id < ProductId::kAttentionOut;
    return is_latent ? LatentProduct(id, model, widths, trace) : AttentionProduct(id, model, widths, trace);
  }
  if (id <= ProductId::kGatesUp) return RecurrentProduct(id, model, widths, trace);
  if (id < ProductId::kLayerInputs) return FeedForwardProduct(id, model, widths, trace);
  if (id != ProductId::kHead) return LayerEmbeddingProduct(id, model, widths, trace);
  const auto hidden = static_cast<double>(model.hidden);
  trace.Alias("outputs", widths.vocab, "rank_vocab");
  trace.Alias("inputs", hidden, "hidden");
  return {id, widths.vocab, hidden};
}

MatrixProducts MixerProducts(const Model& model, Mixer mixer, const LayerWidths& widths) {
  return mixer == Mixer::kRecurrence ? RecurrentProducts(model, widths) : AttentionProducts(model, mixer, widths);
}

MatrixProducts FeedForwardProducts(const Model& model, FeedForward feed_forward, const LayerWidths& widths) {
  Collector collect(model, widths);
  if (feed_forward == FeedForward::kDense) {
    if (widths.mlp > 0) {
      collect.Add(ProductId::kMlpIn);
      collect.Add(ProductId::kMlpOut);
    }
    collect.AddLayerEmbedding();
    return collect.products();
  }
  collect.Add(ProductId::kRouter);
  collect.Add(ProductId::kExpertsIn);
  collect.Add(ProductId::kExpertsOut);
  if (widths.shared > 0) {
    collect.Add(ProductId::kSharedIn);
    collect.Add(ProductId::kSharedOut);
  }
  if (model.moe->latent > 0) {
    collect.Add(ProductId::kExpertsDown);
    collect.Add(ProductId::kExpertsUp);
  }
  collect.AddLayerEmbedding();
  return collect.products();
}

MatrixProduct HeadProduct(const Model& model, const LayerWidths& widths) {
  Trace off = Trace::Off();
  return ProductOf(ProductId::kHead, model, widths, off);
}

}  // namespace slipstick
