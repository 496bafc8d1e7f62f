#include "core/workload/model.h"

#include <string>

namespace slipstick {

namespace {

// Whether a place is one of `chosen` spread evenly over `all`, the last of them at the end.
bool IsChosen(Count place, Count chosen, Count all) { return (place + 1) * chosen / all > place * chosen / all; }

}  // namespace

Count LinearLayers::ConvolvedChannels() const {
  if (convolution == 0) return 0;
  return kind == LinearKind::kMamba ? Inner() : Inner() + 2 * KeyHeads() * state;
}

Count LinearLayers::InputColumns() const {
  const Count keys = KeyHeads() * state;
  switch (kind) {
    case LinearKind::kMamba:
      return 2 * Inner();  // values and their gate
    case LinearKind::kMamba2:
      return 2 * Inner() + 2 * keys + heads;  // with B, C and the step sizes
    case LinearKind::kGatedDelta:
      return 2 * Inner() + 2 * keys + 2 * heads;  // with keys, queries, strengths and decays
    case LinearKind::kKimiDelta:
      return Inner() + 2 * keys + heads + 2 * head_dim;  // decay and gate through ranks of a head's width
    case LinearKind::kLightning:
      return 2 * Inner() + 2 * keys;
  }
  return 2 * Inner();
}

Count LinearLayers::StateElements() const { return Inner() * state + (convolution > 0 ? ConvolvedChannels() * (convolution - 1) : 0); }

bool Model::IsLinear(Count layer) const { return linear && !IsChosen(layer, AttentionLayers(), layers); }
bool Model::HasMlp(Count layer) const { return IsChosen(layer, MlpLayers(), layers); }

Count Model::MoeLayers() const {
  if (!moe) return 0;
  const Count after = layers - moe->dense_layers;
  return after <= 0 ? 0 : after / moe->moe_every;
}

Count Model::WindowLayers() const {
  if (sliding_window == 0) return 0;
  const Count attending = AttentionLayers();
  return global_every == 0 ? attending : attending - attending / global_every;
}

void Complete(Model& model, const std::string& path, Issues& issues) {
  const auto Text = [](Count count) { return std::to_string(count); };
  if (!model.head_dim && model.hidden % model.heads != 0) {
    issues.push_back({path + ".head_dim", "is needed: hidden " + Text(model.hidden) + " is not a multiple of heads " + Text(model.heads)});
    return;
  }
  model.head_dim = model.HeadDim();
  model.kv_heads = model.KvHeads();
  if (model.heads % *model.kv_heads != 0) {
    issues.push_back({path + ".kv_heads", "expected a divisor of heads " + Text(model.heads) + "; got " + Text(*model.kv_heads)});
  }
  if (model.linear && model.linear->layers > model.layers) {
    issues.push_back(
        {path + ".linear.layers", "expected at most the " + Text(model.layers) + " layers; got " + Text(model.linear->layers)});
  }
  if (model.linear && model.linear->heads % model.linear->KeyHeads() != 0) {
    issues.push_back({path + ".linear.key_heads",
                      "expected a divisor of its " + Text(model.linear->heads) + " heads; got " + Text(model.linear->key_heads)});
  }
  if (model.mlp_layers > model.layers || (model.mlp_layers > 0 && model.moe)) {
    issues.push_back({path + ".mlp_layers", model.moe
                                                ? std::string("expected 0: every layer of a mixture of experts has an MLP")
                                                : "expected at most the " + Text(model.layers) + " layers; got " + Text(model.mlp_layers)});
  }
  if (model.moe) {
    Moe& moe = *model.moe;
    if (moe.expert_ffn == 0) moe.expert_ffn = model.ffn;
    if (moe.shared_ffn == 0) moe.shared_ffn = moe.shared_experts * moe.expert_ffn;
    if (moe.top_k > moe.experts) {
      issues.push_back({path + ".moe.top_k", "expected at most the " + Text(moe.experts) + " experts; got " + Text(moe.top_k)});
    }
    if (moe.dense_layers > model.layers) {
      issues.push_back(
          {path + ".moe.dense_layers", "expected at most the " + Text(model.layers) + " layers; got " + Text(moe.dense_layers)});
    }
  }
}

ParameterCount CountParameters(const Model& model) {
  ParameterCount count;
  const auto h = static_cast<double>(model.hidden);
  const auto a = static_cast<double>(model.heads);
  const auto g = static_cast<double>(model.KvHeads());
  const auto d = static_cast<double>(model.HeadDim());
  const auto f = static_cast<double>(model.ffn);
  const auto v = static_cast<double>(model.vocab);
  const auto layers = static_cast<double>(model.layers);
  const double norm = model.norm == Norm::kLayer ? 2 * h : h;
  const double mlp_matrices = model.gated ? 3 : 2;

  double attention_matrices, attention_extra = 0;
  if (model.mla) {
    const auto q_rank = static_cast<double>(model.mla->q_lora_rank);
    const auto kv_rank = static_cast<double>(model.mla->kv_lora_rank);
    const auto nope = static_cast<double>(model.mla->nope_head_dim);
    const auto rope = static_cast<double>(model.mla->rope_head_dim);
    const auto value = static_cast<double>(model.mla->value_head_dim);
    const double query = q_rank > 0 ? h * q_rank + q_rank * a * (nope + rope) : h * a * (nope + rope);
    attention_matrices = query + h * (kv_rank + rope) + kv_rank * a * (nope + value) + a * value * h;
    attention_extra = q_rank + kv_rank;  // their norms
  } else {
    attention_matrices = (model.attention_gate ? 2 : 1) * h * a * d + 2 * h * g * d + a * d * h;
    const bool output_bias = model.biases == Biases::kAttention || model.biases == Biases::kAll;
    if (output_bias || model.biases == Biases::kQkv) attention_extra += a * d + 2 * g * d;
    if (output_bias) attention_extra += h;
    if (model.qk_norm == QkNorm::kHead) attention_extra += 2 * d;
    if (model.qk_norm == QkNorm::kAllHeads) attention_extra += (a + g) * d;
    if (model.attention_sinks) attention_extra += a;
  }
  const bool has_mlp_bias = model.biases == Biases::kMlp || model.biases == Biases::kAll;
  const double mlp_bias = has_mlp_bias ? (mlp_matrices - 1) * f + h : 0;
  const double mlp = mlp_matrices * h * f;

  count.attention_per_layer = attention_matrices + attention_extra;
  double linear_matrices = 0;
  if (model.linear) {
    const LinearLayers& linear = *model.linear;
    const auto inner = static_cast<double>(linear.Inner()), state = static_cast<double>(linear.state);
    const auto heads = static_cast<double>(linear.heads), rank = static_cast<double>(linear.step_rank);
    const auto convolved = static_cast<double>(linear.ConvolvedChannels() * linear.convolution);
    const auto channels = static_cast<double>(linear.ConvolvedChannels());
    const auto head_dim = static_cast<double>(linear.head_dim);
    linear_matrices = h * static_cast<double>(linear.InputColumns()) + inner * h;
    double extra = convolved;
    switch (linear.kind) {
      case LinearKind::kMamba:  // convolution and its bias, step's bias, A, D, norms of step, B and C (Jamba)
        linear_matrices += inner * (rank + 2 * state) + rank * inner;
        extra += channels + inner + inner * state + inner + rank + 2 * state;
        break;
      case LinearKind::kMamba2:  // convolution's bias, step's bias, A, D, norm
        extra += channels + 3 * heads + inner;
        break;
      case LinearKind::kGatedDelta:  // step's bias, A, norm of a head
        extra += 2 * heads + head_dim;
        break;
      case LinearKind::kKimiDelta:  // decay and gate expanded, decay's bias, A, norm of a head
        linear_matrices += 2 * head_dim * inner;
        extra += inner + heads + head_dim;
        break;
      case LinearKind::kLightning:  // norm
        extra += inner;
        break;
    }
    count.linear_per_layer = linear_matrices + extra;
  }
  count.dense_mlp_per_layer = mlp + mlp_bias;
  count.norms_per_layer = static_cast<double>(model.norms_per_layer) * norm;
  count.final_norm = norm;
  const double positions = model.position == Position::kLearned ? static_cast<double>(model.max_positions) : 0;
  count.embedding = v * h + positions * h + (model.embedding_norm ? norm : 0);
  count.head = (model.tied_embeddings ? 0 : v * h) + (model.head_bias ? v : 0);

  const auto moe_layers = static_cast<double>(model.MoeLayers());
  double moe_matrices = 0, moe_active = 0;
  if (model.moe) {
    const auto experts = static_cast<double>(model.moe->experts);
    const auto chosen = static_cast<double>(model.moe->top_k);
    const double expert = mlp_matrices * h * static_cast<double>(model.moe->expert_ffn);
    const double shared = mlp_matrices * h * static_cast<double>(model.moe->shared_ffn);
    const double router = h * experts;
    const double expert_bias = has_mlp_bias ? (mlp_matrices - 1) * static_cast<double>(model.moe->expert_ffn) + h : 0;
    const double router_bias = model.moe->router_bias ? experts : 0;
    const double shared_gate = model.moe->shared_gate ? h : 0;
    moe_matrices = experts * expert + shared + router;
    moe_active = chosen * expert + shared + router;
    count.moe_per_layer = moe_matrices + router_bias + shared_gate + experts * expert_bias;
    count.moe_active_per_layer = moe_active + router_bias + shared_gate + chosen * expert_bias;
  }
  const auto mlp_layers = static_cast<double>(model.MlpLayers());
  const double dense_layers = mlp_layers - moe_layers;
  const auto attention_layers = static_cast<double>(model.AttentionLayers()), linear_layers = layers - attention_layers;
  // A layer without an MLP lacks its norm too.
  const double norms = layers * count.norms_per_layer - (layers - mlp_layers) * norm;
  const double shared_by_all = attention_layers * count.attention_per_layer + linear_layers * count.linear_per_layer + norms +
                               dense_layers * count.dense_mlp_per_layer + count.final_norm + count.embedding + count.head;
  count.total = shared_by_all + moe_layers * count.moe_per_layer;
  count.active = shared_by_all + moe_layers * count.moe_active_per_layer;
  const double mixers = attention_layers * attention_matrices + linear_layers * linear_matrices;
  count.matrices = mixers + dense_layers * mlp + moe_layers * moe_matrices;
  count.active_matrices = mixers + dense_layers * mlp + moe_layers * moe_active;
  // A module: projection of two joined streams, its norms, and a layer like the last one.
  const double last_layer =
      count.attention_per_layer + count.norms_per_layer + (model.moe ? count.moe_per_layer : count.dense_mlp_per_layer);
  count.mtp = static_cast<double>(model.mtp_layers) * (2 * h * h + 3 * norm + last_layer);
  return count;
}

}  // namespace slipstick
