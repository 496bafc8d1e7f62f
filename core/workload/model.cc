#include "core/workload/model.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/fix.h"

namespace slipstick {

namespace {

// Whether `index` is one of `chosen` indices spread evenly over [0, all), the last one at the end.
bool IsChosen(Count index, Count chosen, Count all) { return (index + 1) * chosen / all > index * chosen / all; }

// Sets a member to the nearest divisors of `whole` below and above `value`.
Fixes NearestDivisors(const std::string& path, Count whole, Count value) {
  std::vector<Count> divisors;
  for (Count below = std::min(value, whole); below >= 1 && divisors.empty(); --below) {
    if (whole % below == 0) divisors.push_back(below);
  }
  for (Count above = value + 1; above <= whole; ++above) {
    if (whole % above != 0) continue;
    divisors.push_back(above);
    break;
  }
  return SetToEach(path, divisors);
}

}  // namespace

Ratio LinearAttention::ConvolvedChannels() const {
  const Ratio keys = Ratio(KeyHeads()) * Ratio(state);
  return min(1, Ratio(convolution)) * (kind == LinearAttentionKind::kMamba ? Inner() : Inner() + 2 * keys);
}

Ratio LinearAttention::InputColumns() const {
  const Ratio keys = Ratio(KeyHeads()) * Ratio(state), decays = heads, rank = head_dim;
  switch (kind) {
    case LinearAttentionKind::kMamba:
      return 2 * Inner();  // values and their gate
    case LinearAttentionKind::kMamba2:
      return 2 * Inner() + 2 * keys + decays;  // with B, C and the step sizes
    case LinearAttentionKind::kGatedDelta:
      return 2 * Inner() + 2 * keys + 2 * decays;  // with keys, queries, strengths and decays
    case LinearAttentionKind::kKimiDelta:
      // The decay and, unless it is full, the gate through ranks of a head's width.
      return Inner() + 2 * keys + decays + rank + (full_gate ? Inner() : rank);
    case LinearAttentionKind::kLightning:
      return 2 * Inner() + 2 * keys;
  }
  return 2 * Inner();
}

bool Model::IsLinearAttention(Count layer) const {
  return linear_attention && !IsChosen(layer, layers - LinearAttentionLayers(), layers);
}
bool Model::HasMlp(Count layer) const { return IsChosen(layer, mlp_layers > 0 ? mlp_layers : layers, layers); }

bool Model::HasWindowHeads() const {
  return HasWindows() && (window.kv_heads > 0 || window.head_dim > 0 || keys_as_values);
}

Ratio Model::Chosen(double number, std::string_view member) const {
  const Node* node = Ratio(layers).node();
  if (node == nullptr) [[likely]]
    return number;
  return Ratio::FromBase(number, node->tape->Input("model." + std::string(member), number, Ratio::kDimension));
}

namespace {

void ValidateIndexer(const Model& model, const std::string& path, Issues& issues) {
  if (!model.mla && !model.compressed && model.indexer->block == 0) {
    issues.push_back({path + ".indexer",
                      "Needs latent attention (MLA), with whose compressed queries it scores, or a block of tokens",
                      {LeaveOut(path + ".indexer"), SetTo(path + ".indexer.block", Count{128})}});
  }
  if ((model.mla || model.compressed) && model.indexer->block > 0) {
    issues.push_back({path + ".indexer.block",
                      "Must be 0 under latent or compressed attention",
                      {SetTo(path + ".indexer.block", Count{0})}});
  }
  const Count attending = model.layers - model.LinearAttentionLayers();
  if (model.indexer->layers > attending) {
    issues.push_back({path + ".indexer.layers",
                      "At most " + std::to_string(attending) + ", the layers with attention",
                      {SetTo(path + ".indexer.layers", Count{0})}});
  }
}

// Layers that share a KV cache need an earlier layer of their kind that has one.
void ValidateSharedKv(const Model& model, const std::string& path, Issues& issues) {
  const std::string member = path + ".kv_shared_layers";
  if (model.mla || model.linear_attention || model.indexer || model.moe || model.mtp_layers > 0 ||
      model.mlp_layers > 0) {
    issues.push_back(
        {member,
         "Must be 0 with latent or linear attention, an indexer, experts, MTP modules or layers without an MLP",
         {SetTo(member, Count{0})}});
    return;
  }
  const Count period = model.window.tokens > 0 ? std::max<Count>(1, model.window.global_every) : 1;
  if (model.shared_kv.layers + period > model.layers) {
    issues.push_back({member,
                      "At most " + std::to_string(std::max<Count>(0, model.layers - period)) +
                          ": every kind of attention needs a layer with keys and values before them",
                      {SetTo(member, std::max<Count>(0, model.layers - period))}});
  }
}

void ValidateCompressed(const Model& model, const std::string& path, Issues& issues) {
  const std::string member = path + ".compressed";
  if (model.mla || model.linear_attention || model.window.tokens > 0 || model.SharesKv() || model.attention_gate) {
    issues.push_back(
        {member,
         "Excludes latent and linear attention, sliding windows, shared KV caches and a gate on the attention output",
         {LeaveOut(member)}});
    return;
  }
  const Count heavy = model.compressed->heavy_layers, most = std::max<Count>(1, model.layers - heavy);
  if (!model.indexer) {
    issues.push_back(
        {path + ".indexer", "Is required: it selects entries of the compressed history", {LeaveOut(member)}});
  } else if (model.indexer->layers == 0 || model.indexer->layers + heavy > model.layers) {
    issues.push_back({path + ".indexer.layers",
                      "Must be the layers whose entries it selects: 1 to " + std::to_string(most) +
                          ", the others being heavily compressed",
                      {SetTo(path + ".indexer.layers", most)}});
  }
  if (model.heads % model.compressed->output_groups != 0) {
    issues.push_back({member + ".output_groups", "Must divide the heads, " + std::to_string(model.heads),
                      NearestDivisors(member + ".output_groups", model.heads, model.compressed->output_groups)});
  }
}

}  // namespace

void ValidateAndFillDefaults(Model& model, const std::string& path, Issues& issues) {
  const auto text = [](Count count) { return std::to_string(count); };
  if (!model.head_dim && model.hidden % model.heads != 0) {
    issues.push_back({path + ".head_dim",
                      "is required: hidden " + text(model.hidden) + " is not a multiple of heads " + text(model.heads),
                      {SetTo(path + ".head_dim", std::max<Count>(1, model.hidden / model.heads))}});
    return;
  }
  model.head_dim = model.HeadDim();
  model.kv_heads = model.KvHeads();
  if (model.heads % *model.kv_heads != 0) {
    issues.push_back({path + ".kv_heads", "Must divide the heads, " + text(model.heads),
                      NearestDivisors(path + ".kv_heads", model.heads, *model.kv_heads)});
  }
  if (model.window.kv_heads > 0 && model.heads % model.window.kv_heads != 0) {
    issues.push_back({path + ".window_kv_heads", "Must divide the heads, " + text(model.heads),
                      NearestDivisors(path + ".window_kv_heads", model.heads, model.window.kv_heads)});
  }
  if (model.vision && model.vision->hidden % model.vision->heads != 0) {
    issues.push_back({path + ".vision.heads", "Must divide the hidden size, " + text(model.vision->hidden),
                      NearestDivisors(path + ".vision.heads", model.vision->hidden, model.vision->heads)});
  }
  if (model.compressed) ValidateCompressed(model, path, issues);
  if (model.indexer) ValidateIndexer(model, path, issues);
  if (model.linear_attention && model.linear_attention->layers > model.layers) {
    issues.push_back({path + ".linear.layers",
                      "At most " + text(model.layers) + ", the layers of the model",
                      {SetTo(path + ".linear.layers", model.layers)}});
  }
  if (model.linear_attention && model.linear_attention->heads % model.linear_attention->KeyHeads() != 0) {
    issues.push_back({path + ".linear.key_heads",
                      "Must divide its " + text(model.linear_attention->heads) + " value heads",
                      NearestDivisors(path + ".linear.key_heads", model.linear_attention->heads,
                                      model.linear_attention->key_heads)});
  }
  if (model.SharesKv()) ValidateSharedKv(model, path, issues);
  const bool mixes_mlps = model.moe && (model.moe->dense_layers > 0 || model.moe->moe_every > 1);
  if (model.mlp_layers > model.layers || (model.mlp_layers > 0 && mixes_mlps)) {
    issues.push_back({path + ".mlp_layers",
                      mixes_mlps
                          ? std::string("Must be 0: where some layers have no MLP, all others have experts or none has")
                          : "At most " + text(model.layers) + ", the layers of the model",
                      {SetTo(path + ".mlp_layers", mixes_mlps ? Tally(0) : model.layers)}});
  }
  if (model.moe) {
    Moe& moe = *model.moe;
    if (moe.expert_ffn == 0) moe.expert_ffn = model.ffn;
    if (moe.shared_ffn == 0) moe.shared_ffn = moe.shared_experts * moe.expert_ffn;
    if (moe.top_k > moe.experts) {
      issues.push_back({path + ".moe.top_k",
                        "At most " + text(moe.experts) + ", the experts of a layer",
                        {SetTo(path + ".moe.top_k", moe.experts)}});
    }
    if (moe.dense_layers > model.layers) {
      issues.push_back({path + ".moe.dense_layers",
                        "At most " + text(model.layers) + ", the layers of the model",
                        {SetTo(path + ".moe.dense_layers", model.layers)}});
    }
  }
}

}  // namespace slipstick
