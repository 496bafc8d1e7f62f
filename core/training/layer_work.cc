#include "core/training/layer_work.h"

#include <cmath>

namespace slipstick {
namespace {

void AddAttention(const Model& model, const TrainingShape& shape, LayerKind kind, LayerWork& work) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto all_heads = static_cast<double>(model.heads);
  const auto width = static_cast<double>(model.HeadDim());
  const double tensor = shape.tensor;
  AttentionWork& core = work.attention;
  core.heads = all_heads / tensor;
  core.sequences = shape.micro_batch;
  core.queries = shape.sequence / shape.context;
  core.keys = shape.sequence;
  if (model.mla) {
    const auto nope = static_cast<double>(model.mla->nope_head_dim);
    const auto rope = static_cast<double>(model.mla->rope_head_dim);
    const auto value = static_cast<double>(model.mla->value_head_dim);
    const auto query_rank = static_cast<double>(model.mla->q_lora_rank);
    const auto kv_rank = static_cast<double>(model.mla->kv_lora_rank);
    core.kv_heads = core.heads;
    core.query_width = nope + rope;
    core.value_width = value;
    // The down projections are not split: each tensor-parallel rank computes them for the tokens it keeps.
    if (query_rank > 0) {
      work.Add({"query down projection", shape.own_tokens, query_rank, hidden});
      work.Add({"query up projection", shape.tokens, core.heads * (nope + rope), query_rank});
    } else {
      work.Add({"query projection", shape.tokens, core.heads * (nope + rope), hidden});
    }
    work.Add({"key and value down projection", shape.own_tokens, kv_rank + rope, hidden});
    work.Add({"key and value up projection", shape.tokens, core.heads * (nope + value), kv_rank});
    work.Add({"attention output", shape.tokens, hidden, core.heads * value});
    work.attention_columns = 2 * core.heads * (core.query_width + core.value_width);
  } else {
    core.kv_heads = max(static_cast<double>(model.KvHeads()), tensor) / tensor;
    core.query_width = width;
    core.value_width = width;
    work.Add(
        {"query, key, value projection", shape.tokens, ((model.attention_gate ? 2 : 1) * core.heads + 2 * core.kv_heads) * width, hidden});
    work.Add({"attention output", shape.tokens, hidden, core.heads * width});
    work.attention_columns = 2 * width * (core.heads + core.kv_heads);
  }
  const double rows = core.sequences * core.heads * core.queries;
  core.all_pairs = rows * core.keys;
  core.pairs = core.all_pairs * 0.5 * (1 + min(128 / core.keys, 1.0));  // tiles of 128 on the diagonal are computed whole
  // A tile of queries at the edge of a window meets one tile of keys more.
  if (kind.mixer == Mixer::kWindow) core.pairs = min(core.pairs, rows * (static_cast<double>(model.sliding_window) + 128));
}

// A layer with a recurrence, in chunks: a token is multiplied with those of its chunk and with the state, as attention over as
// many keys would be.
void AddLinear(const Model& model, const TrainingShape& shape, LayerWork& work) {
  constexpr double kChunk = 128;
  const LinearLayers& linear = *model.linear;
  const auto hidden = static_cast<double>(model.hidden), inner = static_cast<double>(linear.Inner()) / shape.tensor;
  const double columns = static_cast<double>(linear.InputColumns()) / shape.tensor;
  AttentionWork& core = work.attention;
  core.heads = static_cast<double>(linear.heads) / shape.tensor;
  core.kv_heads = static_cast<double>(linear.KeyHeads()) / shape.tensor;
  core.query_width = static_cast<double>(linear.state);
  core.value_width = static_cast<double>(linear.head_dim);
  core.sequences = shape.micro_batch;
  core.queries = shape.sequence / shape.context;
  core.keys = min(shape.sequence, kChunk + static_cast<double>(linear.state));
  core.pairs = core.all_pairs = core.sequences * core.heads * core.queries * core.keys;
  work.Add({"recurrent layer, in", shape.tokens, columns, hidden});
  work.Add({"recurrent layer, out", shape.tokens, hidden, inner});
  work.attention_columns = columns + inner;
}

void AddMlp(const Model& model, std::string_view in, std::string_view out, double rows, double inner, LayerWork& work) {
  const auto hidden = static_cast<double>(model.hidden);
  work.Add({in, rows, model.gated ? 2 * inner : inner, hidden, 1, ProductRole::kMlp});
  work.Add({out, rows, hidden, inner, 1, ProductRole::kMlp});
  work.mlp_columns = inner;
}

// Where only some layers have an MLP, each counts its share of them.
double MlpWidth(const Model& model) {
  return static_cast<double>(model.ffn) * static_cast<double>(model.MlpLayers()) / static_cast<double>(model.layers);
}

// Rows over the experts' capacity where the busiest has `imbalance` times the mean and loads lie evenly below it: between
// 2 - imbalance and imbalance, or, past 2, some experts with none and the others between 0 and imbalance.
double DroppedShare(double imbalance, double capacity) {
  if (capacity <= 0 || capacity >= imbalance) return 0;
  if (imbalance <= 1) return 1 - capacity;
  const double used = min(1.0, 2 / imbalance), least = max(0.0, 2 - imbalance), over = max(0.0, capacity - least);
  return max(0.0, 1 - used * (capacity - over * over / (2 * (imbalance - least))));
}

void AddExperts(const Model& model, const TrainingRun& run, const TrainingShape& shape, LayerWork& work) {
  const Moe& moe = *model.moe;
  const auto hidden = static_cast<double>(model.hidden);
  const auto top_k = static_cast<double>(moe.top_k);
  const double imbalance = moe.imbalance > 1 ? moe.imbalance : run.framework.experts.imbalance;
  // A device's tokens go to top_k experts each; with experts split over expert_tp, each of those ranks sees the group's rows.
  const double even_rows = shape.own_tokens * top_k * shape.expert_tensor;
  const double rows = even_rows * (moe.capacity_factor > 0 ? min(imbalance, moe.capacity_factor) : imbalance);
  const double local_experts = static_cast<double>(moe.experts) / shape.expert;
  work.expert_columns = static_cast<double>(moe.expert_ffn) / shape.expert_tensor;
  work.even_rows = even_rows;
  work.routed_rows = rows;
  work.dropped_share = DroppedShare(imbalance, moe.capacity_factor);
  work.dispatched_tokens = shape.own_tokens * shape.expert * (1 - std::pow(1 - 1 / shape.expert, top_k));
  work.Add({"router", shape.own_tokens, static_cast<double>(moe.experts), hidden, 1, ProductRole::kRouter});
  work.Add({"experts, in", rows / local_experts, (model.gated ? 2 : 1) * work.expert_columns, hidden, local_experts, ProductRole::kExpert});
  work.Add({"experts, out", rows / local_experts, hidden, work.expert_columns, local_experts, ProductRole::kExpert});
  if (moe.shared_ffn > 0) {
    AddMlp(model, "shared experts, in", "shared experts, out", shape.tokens, static_cast<double>(moe.shared_ffn) / shape.tensor, work);
  }
}

}  // namespace

LayerWork WorkOf(const Model& model, const TrainingRun& run, const TrainingShape& shape, LayerKind kind) {
  LayerWork work;
  if (kind.mixer == Mixer::kRecurrence) {
    AddLinear(model, shape, work);
  } else {
    AddAttention(model, shape, kind, work);
  }
  const bool lora = run.trainable == Trainable::kLora;
  const auto rank = static_cast<double>(run.framework.lora_rank);
  for (int i = 0; lora && i < work.product_count; ++i) {
    const LayerProduct& product = work.products[static_cast<std::size_t>(i)];
    work.adapter_parameters += rank * (product.inputs + product.outputs);
  }
  if (kind.feed_forward == FeedForward::kExperts) {
    AddExperts(model, run, shape, work);
  } else {
    AddMlp(model, "MLP, in", "MLP, out", shape.tokens, MlpWidth(model) / shape.tensor, work);
  }
  const auto hidden = static_cast<double>(model.hidden);
  for (int i = 0; i < work.product_count; ++i) {
    const LayerProduct& product = work.products[static_cast<std::size_t>(i)];
    const double elements = product.groups * product.inputs * product.outputs;
    (product.role == ProductRole::kExpert ? work.expert_parameters : work.dense_parameters) += elements;
  }
  const double norm_width = model.norm == Norm::kLayer ? 2 * hidden : hidden;
  work.dense_parameters += static_cast<double>(model.norms_per_layer) * norm_width;
  const bool output_bias = model.biases == Biases::kAttention || model.biases == Biases::kAll;
  if (output_bias || model.biases == Biases::kQkv)
    work.dense_parameters += (work.attention.heads + 2 * work.attention.kv_heads) * work.attention.query_width;
  if (output_bias) work.dense_parameters += hidden;
  if (model.biases == Biases::kMlp || model.biases == Biases::kAll) {
    work.dense_parameters += hidden + (model.gated ? 2 : 1) * work.mlp_columns;
  }
  if (kind.mixer == Mixer::kRecurrence) return work;  // its small tensors are left out
  if (model.qk_norm == QkNorm::kHead) work.dense_parameters += 2 * work.attention.query_width;
  if (model.qk_norm == QkNorm::kAllHeads) {
    work.dense_parameters += (work.attention.heads + work.attention.kv_heads) * work.attention.query_width;
  }
  return work;
}

}  // namespace slipstick
