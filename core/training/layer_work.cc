#include "core/training/layer_work.h"

namespace slipstick {
namespace {

AttentionWork CoreWork(const Model& model, const TrainingShape& shape, Mixer mixer, const LayerWidths& widths) {
  AttentionWork core{CoreOf(model, mixer, widths)};
  core.sequences = shape.micro_batch;
  core.queries = shape.sequence / shape.context;
  const double rows = core.sequences * core.heads * core.queries;
  if (mixer == Mixer::kRecurrence) {
    // The KV length at which attention would have the recurrence's arithmetic.
    core.is_recurrence = true;
    core.keys = RecurrencePairs(*model.linear_attention, core.queries) / (core.query_width + core.value_width);
    core.pairs = core.all_pairs = rows * core.keys;
    return core;
  }
  core.keys = shape.sequence;
  core.all_pairs = rows * core.keys;
  core.pairs = core.all_pairs * 0.5 * (1 + min(128 / core.keys, 1.0));  // the 128 x 128 tiles on the diagonal are computed in full
  // At the edge of the window a tile of queries needs one more tile of keys.
  if (mixer == Mixer::kWindow) core.pairs = min(core.pairs, rows * (static_cast<double>(model.window.tokens) + 128));
  return core;
}

// Share of rows above the experts' capacity (over the mean load). Loads over the mean are taken as uniform between 2 - imbalance
// and imbalance; above an imbalance of 2, as uniform between 0 and imbalance for 2 / imbalance of the experts, and 0 for the others.
double DroppedShare(double imbalance, double capacity) {
  if (capacity <= 0 || capacity >= imbalance) return 0;
  if (imbalance <= 1) return 1 - capacity;
  const double used = min(1.0, 2 / imbalance), least = max(0.0, 2 - imbalance), over = max(0.0, capacity - least);
  return max(0.0, 1 - used * (capacity - over * over / (2 * (imbalance - least))));
}

void RouteTokens(const Model& model, const TrainingRun& run, const TrainingShape& shape, LayerWork& work) {
  const Moe& moe = *model.moe;
  const auto top_k = static_cast<double>(moe.top_k);
  const double imbalance = moe.imbalance > 1 ? moe.imbalance : run.framework.experts.imbalance;
  // Under expert_tp each rank of a group gets the rows of the whole group.
  work.even_rows = shape.sequence_parallel_tokens * top_k * shape.expert_tensor;
  work.routed_rows = work.even_rows * (moe.capacity_factor > 0 ? min(imbalance, moe.capacity_factor) : imbalance);
  work.dropped_share = DroppedShare(imbalance, moe.capacity_factor);
  work.dispatched_tokens = shape.sequence_parallel_tokens * ExpertCopies(moe, shape.expert);
}

void AddProducts(const Model& model, const TrainingShape& shape, const MatrixProducts& products, LayerWork& work) {
  for (const MatrixProduct& product : products) {
    switch (TraitsOf(product.id).rows) {
      case ProductRows::kTokens:
        work.products.push_back({product, shape.tokens});
        break;
      case ProductRows::kSequenceParallel:
        work.products.push_back({product, shape.sequence_parallel_tokens});
        break;
      case ProductRows::kRouted: {
        const double held = static_cast<double>(model.moe->experts) / shape.expert;
        work.products.push_back({product, work.routed_rows / held, held});
        break;
      }
    }
  }
}

// Low-rank adapters beside the mixer's GEMMs.
double AdapterParameters(const TrainingRun& run, const MatrixProducts& products) {
  double parameters = 0;
  if (run.trainable != Trainable::kLora) return 0;
  for (const MatrixProduct& product : products) {
    parameters += static_cast<double>(run.framework.lora_rank) * (product.inputs + product.outputs);
  }
  return parameters;
}

}  // namespace

LayerWork WorkOf(const Model& model, const TrainingRun& run, const TrainingShape& shape, LayerKind kind) {
  LayerWork work;
  LayerWidths widths = WidthsOf(model, shape.tensor, shape.expert_tensor);
  // Where only some layers have an MLP, every layer is given the mean.
  const double mlp_share = static_cast<double>(model.MlpLayers()) / static_cast<double>(model.layers);
  widths.mlp *= mlp_share;
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  work.attention = CoreWork(model, shape, kind.mixer, widths);
  work.mlp_columns = has_experts ? widths.shared : widths.mlp;
  work.expert_columns = has_experts ? widths.expert : 0;
  if (has_experts) RouteTokens(model, run, shape, work);
  const MatrixProducts mixer = MixerProducts(model, kind.mixer, widths);
  work.products.reserve(12);
  AddProducts(model, shape, mixer, work);
  AddProducts(model, shape, FeedForwardProducts(model, kind.feed_forward, widths), work);
  work.row_passes = RowPassesOf(model, kind, widths);
  work.adapter_parameters = AdapterParameters(run, mixer);
  for (const LayerProduct& product : work.products) {
    const bool is_expert = TraitsOf(product.id).role == ProductRole::kExperts;
    (is_expert ? work.expert_parameters : work.dense_parameters) += product.groups * product.Elements();
  }
  if (has_experts) work.expert_parameters += static_cast<double>(model.moe->experts) / shape.expert * ExpertBiases(model, widths);
  const double norms = static_cast<double>(model.norms.per_layer) - (1 - mlp_share);  // a layer without an MLP has no norm for it
  work.dense_parameters +=
      norms * NormElements(model) + SmallElements(model, kind.mixer, widths) + SmallElements(model, kind.feed_forward, widths);
  return work;
}

}  // namespace slipstick
