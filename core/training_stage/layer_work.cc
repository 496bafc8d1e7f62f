#include "core/training_stage/layer_work.h"

#include "core/base/figure.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Scores of full attention under the causal mask.
Ratio CausalPairs(const TrainingRun& run, const TrainingShape& shape, Ratio rows, Ratio tile) {
  const Ratio attended = run.framework.compute.skips_masked_tiles ? shape.attended : shape.sequence;
  const Ratio in_documents =
      Figure("Scores within documents", rows * attended, "without a mask; all heads and sequences");
  return Figure("Scores that the causal mask leaves", in_documents * 0.5 * (1 + min(tile / attended, 1.0)),
                "the tiles on the diagonal are computed in full");
}

AttentionWork CoreWork(const Model& model, const TrainingRun& run, const Device& device, const TrainingShape& shape,
                       Mixer mixer, const LayerWidths& widths) {
  AttentionWork core{CoreOf(model, mixer, widths)};
  core.sequences = shape.micro_batch;
  core.queries = Figure("Tokens of a sequence on one device", shape.sequence / shape.context);
  const Ratio rows = core.sequences * core.heads * core.queries;
  if (mixer == Mixer::kRecurrence) {
    // The KV length at which attention would have the same number of FLOPs as the recurrence.
    core.is_recurrence = true;
    core.keys = RecurrencePairs(*model.linear_attention, core.queries) / (core.query_width + core.value_width);
    core.pairs = core.all_pairs = rows * core.keys;
    return core;
  }
  constexpr std::string_view kAllPairs = "Scores without a mask", kAll = "all heads and sequences";
  if (model.compressed) {
    // The effect of the causal mask and the selection, as an equivalent number of keys of full attention.
    const CompressedKeys seen = KeysOfCompressed(model, shape.attended);
    core.keys = seen.all;
    core.all_pairs = Figure(kAllPairs, rows * seen.all, kAll);
    core.pairs = Figure("Scores under the causal mask", rows * seen.causal,
                        "of the window and of entries, with those of the indexer");
    return core;
  }
  core.keys = shape.sequence;
  core.all_pairs = Figure(kAllPairs, rows * shape.sequence, kAll);
  const Ratio tile = device.architecture->attention.tile;
  core.pairs = CausalPairs(run, shape, rows, tile);
  if (IsLocal(mixer)) {
    core.pairs = Figure("Scores in the window", min(core.pairs, rows * (Ratio(model.window.tokens) + tile)),
                        "at its edge a tile of queries needs one more tile of keys");
  }
  return core;
}

// Share of rows that exceed the experts' capacity (over the mean load). Loads over the mean are assumed to be uniform
// between 2 - imbalance and imbalance. If imbalance exceeds 2, they are uniform between 0 and imbalance for 2 /
// imbalance of the experts, and 0 for the others.
Ratio DroppedShare(Ratio imbalance, Ratio capacity) {
  if (capacity <= 0) return min(0, capacity * imbalance);  // none if the capacity is unlimited
  if (capacity >= imbalance) return max(0, imbalance - capacity);
  if (imbalance <= 1) return 1 - capacity;
  const Ratio used = min(1.0, 2 / imbalance), least = max(0.0, 2 - imbalance), over = max(0.0, capacity - least);
  return max(0.0, 1 - used * (capacity - over * over / (2 * (imbalance - least))));
}

void RouteTokens(const Model& model, const TrainingRun& run, const TrainingShape& shape, LayerWork& work) {
  const Moe& moe = *model.moe;
  const Ratio top_k = moe.top_k, own_tokens = shape.sequence_parallel_tokens, capacity = moe.capacity_factor;
  const Ratio imbalance = moe.imbalance.value_or(run.framework.experts.imbalance);
  work.even_rows = Figure("Rows of the device's experts under even routing", own_tokens * top_k * shape.expert_tensor,
                          "under expert TP each rank gets the rows of the whole group");
  const Ratio limit =
      Figure("Limit of an expert's rows over the mean", capacity + (1 - ceil(min(1.0, capacity))) * imbalance,
             "its capacity; none where the capacity factor is 0");
  work.routed_rows = Figure("Rows of the busiest device's experts", work.even_rows * min(imbalance, limit));
  work.dispatched_tokens = Figure("Copies of its tokens that a device sends", own_tokens * top_k,
                                  "one per expert, as an all-to-all of permuted rows; NVIDIA/Megatron-LM, "
                                  "megatron/core/transformer/moe/token_dispatcher.py");
  work.dropped_share = Figure("Dropped share", DroppedShare(imbalance, capacity),
                              "of the routed rows: those above the experts' capacity");
}

LayerProduct WithRows(const Model& model, const TrainingShape& shape, const MatrixProduct& product,
                      const LayerWork& work) {
  switch (TraitsOf(product.id).rows) {
    case ProductRows::kTokens:
      return {product, shape.tokens};
    case ProductRows::kSequenceParallel:
      return {product, shape.sequence_parallel_tokens};
    case ProductRows::kRouted:
      break;
  }
  const Ratio groups = Figure("Experts on one device", Ratio(model.moe->experts) / shape.expert);
  return {product, Figure("Rows of an expert", work.routed_rows / groups, "mean over the busiest device"), groups};
}

// If only some layers have an MLP, every layer gets the mean; if those have experts, the others have no MLP.
Ratio ShareWithMlp(const Model& model, FeedForward feed_forward, LayerWidths& widths) {
  if (model.moe && model.mlp_layers > 0) {
    widths.mlp = 0;
    return feed_forward == FeedForward::kExperts ? 1 : 0;
  }
  const Ratio with_mlp = StatedOr(model.mlp_layers, model.layers);
  const Ratio share =
      Figure("Share of the layers with an MLP", with_mlp / Ratio(model.layers), "all where 0 are stated");
  widths.mlp =
      Figure("Mean inner width of a layer's MLP", widths.mlp * share, "on one device; every layer is given the mean");
  return share;
}

void CountLayerParameters(const Model& model, const TrainingShape& shape, LayerKind kind, const LayerWidths& widths,
                          LayerWork& work) {
  Ratio dense = 0, experts = 0;
  for (const LayerProduct& product : work.products) {
    const bool is_expert = TraitsOf(product.id).role == ProductRole::kExperts;
    (is_expert ? experts : dense) += product.groups * (product.outputs * product.inputs);
  }
  if (kind.feed_forward == FeedForward::kExperts)
    experts += Ratio(model.moe->experts) / shape.expert * ExpertBiases(model, widths);
  // A layer without an MLP has no norm for it.
  const Ratio norms = (Ratio(model.norms.per_layer) - (1 - work.mlp_share)) * NormElements(model);
  dense += norms + SmallElements(model, kind.mixer, widths) + SmallElements(model, kind.feed_forward, widths);
  work.weights.dense = Figure("Weights of the layer without its routed experts", dense, "on one device");
  work.weights.experts = Figure("Weights of the layer's routed experts", experts, "on one device");
}

}  // namespace

Ratio AdapterElements(const MatrixProducts& products, const Framework& framework) {
  Ratio elements = 0;
  for (const MatrixProduct& product : products) {
    if (IsAdapted(framework, TraitsOf(product.id).role))
      elements += Ratio(framework.lora_rank) * (product.inputs + product.outputs);
  }
  return Figure("Weights of the adapters of this part of a layer", elements);
}

LayerWork WorkOf(const Model& model, const TrainingRun& run, const TrainingShape& shape, const Device& device,
                 LayerKind kind) {
  LayerWork work;
  LayerWidths widths = WidthsOf(model, shape.tensor, shape.expert_tensor);
  if (SharesKv(kind.mixer)) widths = SharedKvWidths(widths);
  const MatrixProducts mixer = MixerProducts(model, kind.mixer, widths);
  const bool has_adapters = run.trainable == Trainable::kLora;
  Ratio mlp_adapters = 0;
  if (has_adapters)
    mlp_adapters = AdapterElements(FeedForwardProducts(model, kind.feed_forward, widths), run.framework);
  work.mlp_share = ShareWithMlp(model, kind.feed_forward, widths);
  if (has_adapters) {
    work.weights.adapters =
        Figure("Weights of a layer's adapters", AdapterElements(mixer, run.framework) + work.mlp_share * mlp_adapters,
               "where only some layers have an MLP, the mean");
  }
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  work.attention = CoreWork(model, run, device, shape, kind.mixer, widths);
  work.mlp_columns = has_experts ? widths.shared : widths.mlp;
  work.expert_columns = has_experts ? widths.expert : Ratio(0);
  if (has_experts) RouteTokens(model, run, shape, work);
  work.products.reserve(12);
  for (const MatrixProduct& product : mixer) work.products.push_back(WithRows(model, shape, product, work));
  for (const MatrixProduct& product : FeedForwardProducts(model, kind.feed_forward, widths))
    work.products.push_back(WithRows(model, shape, product, work));
  work.row_passes = RowPassesOf(model, kind, widths);
  CountLayerParameters(model, shape, kind, widths, work);
  return work;
}

}  // namespace slipstick
