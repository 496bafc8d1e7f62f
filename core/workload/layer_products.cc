// GEMMs of a layer: the outputs and inputs of each.
#include "core/base/figure.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

MatrixProduct AttentionProduct(ProductId id, const Model& model, const LayerWidths& widths) {
  const bool is_local = id >= ProductId::kWindowQueryKeyValue && id <= ProductId::kWindowAttentionOut;
  const Ratio hidden = model.hidden, head_dim = is_local ? model.WindowHeadDim() : Ratio(model.HeadDim());
  if (id == ProductId::kAttentionOut || id == ProductId::kWindowAttentionOut)
    return {id, hidden, widths.heads * (model.mla ? Ratio(model.mla->value_head_dim) : head_dim)};
  const Ratio query_parts = 1 + model.Chosen(model.attention_gate ? 1 : 0, "attention_gate");  // and their gates
  if (id == ProductId::kQuery || id == ProductId::kWindowQuery)
    return {id, query_parts * widths.heads * head_dim, hidden};
  const Ratio kv_heads = is_local ? widths.window_kv_heads : widths.kv_heads;
  const Ratio key_value_parts = is_local ? Ratio(2) : 2 - model.Chosen(model.keys_as_values ? 1 : 0, "keys_as_values");
  return {id, (query_parts * widths.heads + key_value_parts * kv_heads) * head_dim, hidden};
}

MatrixProduct LatentProduct(ProductId id, const Model& model, const LayerWidths& widths) {
  const Ratio hidden = model.hidden, heads = widths.heads;
  const Ratio q_lora_rank = model.mla->q_lora_rank, kv_lora_rank = model.mla->kv_lora_rank;
  const Ratio nope = model.mla->nope_head_dim, rope = model.mla->rope_head_dim, value = model.mla->value_head_dim;
  switch (id) {
    case ProductId::kQueryDown:
      return {id, q_lora_rank, hidden};
    case ProductId::kKeyValueDown:
      return {id, kv_lora_rank + rope, hidden};
    case ProductId::kKeyValueUp:
      return {id, heads * (nope + value), kv_lora_rank};
    case ProductId::kLatentGate:
      return {id, heads * value, hidden};
    default:  // queries
      return {id, heads * (nope + rope), id == ProductId::kQueryUp ? q_lora_rank : hidden};
  }
}

// Hyper-connections around both parts of a layer: weights before it, after it, and from each residual stream to each.
MatrixProduct StreamProduct(const Model& model) {
  const Ratio streams = model.compressed->streams;
  return {ProductId::kStreams, 2 * streams * (2 + streams), streams * Ratio(model.hidden)};
}

// Every rank has the whole projections of the indexer. If not all layers select, each layer gets the mean.
MatrixProduct IndexerProduct(ProductId id, const Model& model) {
  const Ratio hidden = model.hidden, heads = model.indexer->heads, dim = model.indexer->head_dim;
  const Ratio index_share = IndexShare(model);
  if (id == ProductId::kIndexQuery) {
    const Ratio q_lora_rank = model.mla          ? Ratio(model.mla->q_lora_rank)
                              : model.compressed ? Ratio(model.compressed->q_lora_rank)
                                                 : Ratio(0);
    return {id, index_share * heads * dim, q_lora_rank > 0 ? q_lora_rank : hidden};
  }
  // Two rows and two weights for an entry's key, and the weights of the heads.
  if (model.compressed) return {id, index_share * (4 * dim + heads), hidden};
  // A block's score is the maximum over its heads, so there are no head weights.
  return {id, index_share * (model.mla ? dim + heads : dim), hidden};
}

MatrixProduct RecurrentProduct(ProductId id, const Model& model, const LayerWidths& widths) {
  const LinearAttention& linear = *model.linear_attention;
  const Ratio hidden = model.hidden, step_rank = linear.step_rank, state = linear.state, gate_rank = linear.head_dim;
  switch (id) {
    case ProductId::kRecurrentIn:
      return {id, widths.recurrent_columns, hidden};
    case ProductId::kRecurrentOut:
      return {id, hidden, widths.recurrent_inner};
    case ProductId::kStepsAndStates:
      return {id, step_rank + 2 * state, widths.recurrent_inner};
    case ProductId::kStepsUp:
      return {id, widths.recurrent_inner, step_rank};
    default:  // decays and gates
      return {id, widths.recurrent_inner, gate_rank};
  }
}

MatrixProduct FeedForwardProduct(ProductId id, const Model& model, const LayerWidths& widths) {
  const Ratio hidden = model.hidden;
  switch (id) {
    case ProductId::kMlpIn:
      return {id, model.UpParts() * widths.mlp, hidden};
    case ProductId::kMlpOut:
      return {id, hidden, widths.mlp};
    case ProductId::kSharedIn:
      return {id, model.UpParts() * widths.shared, hidden};
    case ProductId::kSharedOut:
      return {id, hidden, widths.shared};
    case ProductId::kExpertsIn:
      return {id, model.UpParts() * widths.expert, RoutedWidth(model)};
    case ProductId::kExpertsOut:
      return {id, RoutedWidth(model), widths.expert};
    case ProductId::kExpertsDown:
      return {id, RoutedWidth(model), hidden};
    case ProductId::kExpertsUp:
      return {id, hidden, RoutedWidth(model)};
    default:
      return {id, Ratio(model.moe->experts), hidden};  // router
  }
}

// Per-layer embeddings: the residual stream gates a table row of the same width; the result is projected back and
// added.
MatrixProduct LayerEmbeddingProduct(ProductId id, const Model& model, const LayerWidths& widths) {
  const Ratio hidden = model.hidden, width = model.layer_embeddings.width;
  if (id == ProductId::kLayerOut) return {id, hidden, width};
  return {id, id == ProductId::kLayerGate ? width : widths.layer_inputs, hidden};
}

MatrixProduct SidesOf(ProductId id, const Model& model, const LayerWidths& widths) {
  if (id == ProductId::kIndexQuery || id == ProductId::kIndexKey) return IndexerProduct(id, model);
  if (id == ProductId::kStreams) return StreamProduct(model);
  if (model.compressed && id <= ProductId::kAttentionOut) return CompressedProduct(id, model, widths);
  if (id <= ProductId::kWindowAttentionOut) {
    const bool is_latent = model.mla && id < ProductId::kAttentionOut;
    return is_latent ? LatentProduct(id, model, widths) : AttentionProduct(id, model, widths);
  }
  if (id <= ProductId::kGatesUp) return RecurrentProduct(id, model, widths);
  if (id < ProductId::kLayerInputs) return FeedForwardProduct(id, model, widths);
  if (id != ProductId::kHead) return LayerEmbeddingProduct(id, model, widths);
  return {id, widths.vocab, Ratio(model.hidden)};
}

// A side that is an input or a figure keeps its name.
Ratio Named(std::string_view title, Ratio side) {
  const bool is_computed = side.node() != nullptr && side.node()->label == nullptr;
  return is_computed ? Figure(title, side, "of the GEMM, on one device") : side;
}

// Collects the products of a part of the layer, in order.
class Collector {
 public:
  Collector(const Model& model, const LayerWidths& widths) : model_(model), widths_(widths) {}
  void Add(ProductId id) { products_.Add(ProductOf(id, model_, widths_)); }
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

Ratio IndexShare(const Model& model) {
  const Ratio index_layers = model.indexer->layers;
  if (index_layers > 0)
    return Figure("Index share", index_layers / model.AttentionLayers(),
                  "of the layers, those that select; the others reuse a selection; every layer is given the mean");
  return Procedure("Index share", Ratio(1), {InSteps(index_layers)}, "0 stands for all layers");
}

Ratio LayerRows(const Model& model) {
  return Figure("Rows of a layer's embeddings", StatedOr(model.layer_embeddings.rows, model.vocab),
                "as stated, or the vocabulary");
}

Ratio RoutedWidth(const Model& model) {
  return Figure("Routed width", StatedOr(model.moe->latent, model.hidden),
                "of the rows of routed experts: as stated, or the hidden size");
}

MatrixProduct ProductOf(ProductId id, const Model& model, const LayerWidths& widths) {
  const MatrixProduct product = SidesOf(id, model, widths);
  return {id, Named("Outputs", product.outputs), Named("Inputs", product.inputs)};
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
  return ProductOf(ProductId::kHead, model, widths);
}

}  // namespace slipstick
