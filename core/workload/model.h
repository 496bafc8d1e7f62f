// The model that is trained or served: a dense or mixture-of-experts transformer decoder.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "core/base/field.h"
#include "core/base/issue.h"

namespace slipstick {

enum class Position { kRope, kLearned, kAlibi };
template <>
struct EnumNames<Position> {
  static constexpr std::array<std::pair<Position, std::string_view>, 3> names{
      {{Position::kRope, "rope"}, {Position::kLearned, "learned"}, {Position::kAlibi, "alibi"}}};
};

enum class Norm { kRms, kLayer, kLayerWithoutBias };
template <>
struct EnumNames<Norm> {
  static constexpr std::array<std::pair<Norm, std::string_view>, 3> names{
      {{Norm::kRms, "rms"}, {Norm::kLayer, "layer"}, {Norm::kLayerWithoutBias, "layer_without_bias"}}};
};

// What the norms of queries and keys span: each head alone with weights that the heads share, or all heads together.
enum class QkNorm { kNone, kHead, kAllHeads };
template <>
struct EnumNames<QkNorm> {
  static constexpr std::array<std::pair<QkNorm, std::string_view>, 3> names{
      {{QkNorm::kNone, "none"}, {QkNorm::kHead, "head"}, {QkNorm::kAllHeads, "all_heads"}}};
};

enum class Biases { kNone, kQkv, kAttention, kMlp, kAll };
template <>
struct EnumNames<Biases> {
  static constexpr std::array<std::pair<Biases, std::string_view>, 5> names{
      {{Biases::kNone, "none"}, {Biases::kQkv, "qkv"}, {Biases::kAttention, "attention"}, {Biases::kMlp, "mlp"}, {Biases::kAll, "all"}}};
};

struct Moe {
  Count experts = 8;
  Count top_k = 2;
  Count shared_experts = 0;
  Count expert_ffn = 0;    // of one routed expert; 0 until Complete() copies the model's ffn
  Count shared_ffn = 0;    // of all shared experts together; 0 until Complete() derives it
  Count dense_layers = 0;  // leading layers with a dense MLP
  Count moe_every = 1;     // of the layers after them, every n-th has experts
  bool router_bias = false;
  bool shared_gate = false;    // the shared experts' output is scaled by a gate of its own (Qwen2-MoE)
  double imbalance = 1;        // busiest device's tokens / mean
  Count node_limit = 0;        // nodes that a token's experts may lie on; 0: any
  double capacity_factor = 0;  // tokens an expert takes at most, over the mean; 0: dropless
};

struct Mla {
  Count q_lora_rank = 0;  // 0: queries are projected directly
  Count kv_lora_rank = 512;
  Count nope_head_dim = 128;
  Count rope_head_dim = 64;
  Count value_head_dim = 128;
};

// Layers that mix tokens by a recurrence with a state of fixed size in place of attention over a cache.
enum class LinearKind {
  kMamba,       // selective state space, a state a channel (Jamba)
  kMamba2,      // state space duality, a state a head (Nemotron-H)
  kGatedDelta,  // gated delta rule (Qwen3-Next)
  kKimiDelta,   // the same with a decay a channel (Kimi-Linear)
  kLightning    // linear attention with a fixed decay a head (MiniMax-Text-01)
};
template <>
struct EnumNames<LinearKind> {
  static constexpr std::array<std::pair<LinearKind, std::string_view>, 5> names{{{LinearKind::kMamba, "mamba"},
                                                                                 {LinearKind::kMamba2, "mamba2"},
                                                                                 {LinearKind::kGatedDelta, "gated_delta"},
                                                                                 {LinearKind::kKimiDelta, "kimi_delta"},
                                                                                 {LinearKind::kLightning, "lightning"}}};
};

struct LinearLayers {
  LinearKind kind = LinearKind::kMamba2;
  Count layers = 1;       // so many of the model's; the others attend, spread evenly
  Count heads = 64;       // heads of values; heads x head_dim is the inner width
  Count key_heads = 0;    // heads of keys and queries, groups of B and C; 0: as many as heads
  Count head_dim = 64;    // width of a head's value
  Count state = 128;      // width of a key: a head's state is head_dim x state
  Count convolution = 4;  // tokens that the short convolution before it sees; 0: none
  Count step_rank = 0;    // of the step size's projection (Mamba-1)

  [[nodiscard]] Count KeyHeads() const { return key_heads > 0 ? key_heads : heads; }
  [[nodiscard]] Count Inner() const { return heads * head_dim; }
  [[nodiscard]] Count ConvolvedChannels() const;  // that the short convolution runs over
  [[nodiscard]] Count InputColumns() const;       // outputs of the projection into the layer
  [[nodiscard]] Count StateElements() const;      // that a sequence keeps: recurrence and convolution
};

struct Model {
  std::string preset;
  std::string name = "custom";
  Count layers = 0;
  Count hidden = 0;
  Count heads = 0;
  std::optional<Count> kv_heads;  // default: heads
  std::optional<Count> head_dim;  // default: hidden / heads
  Count ffn = 0;
  bool gated = true;
  Count vocab = 0;
  bool tied_embeddings = false;
  bool parallel_attention = false;
  Position position = Position::kRope;
  Count max_positions = 0;  // rows of a learned position table; 0: the sequence trained or served
  Norm norm = Norm::kRms;
  Count norms_per_layer = 2;
  bool embedding_norm = false;
  QkNorm qk_norm = QkNorm::kNone;
  Biases biases = Biases::kNone;
  bool head_bias = false;        // the output matrix adds a bias (GPT-J, Phi)
  bool attention_sinks = false;  // a learned logit a head (gpt-oss)
  std::optional<Moe> moe;
  std::optional<Mla> mla;
  bool attention_gate = false;  // the queries' projection also makes a gate of the output (Qwen3-Next)
  std::optional<LinearLayers> linear;
  Count mlp_layers = 0;      // layers that have an MLP, spread evenly; 0: all (Nemotron-H: as many as its MLP blocks)
  Count sliding_window = 0;  // tokens a local layer attends to; 0: all
  Count global_every = 0;    // every n-th layer attends to all; 0: none does where there is a window
  Count mtp_layers = 0;      // extra multi-token-prediction modules
  Count context = 0;         // longest context its publisher supports, to show; limits nothing

  // Shapes with the defaults resolved.
  [[nodiscard]] Count KvHeads() const { return kv_heads.value_or(heads); }
  [[nodiscard]] Count HeadDim() const { return head_dim.value_or(heads > 0 ? hidden / heads : 0); }
  [[nodiscard]] Count MoeLayers() const;  // layers with experts
  [[nodiscard]] Count LinearLayerCount() const { return linear ? linear->layers : 0; }
  [[nodiscard]] Count AttentionLayers() const { return layers - LinearLayerCount(); }
  [[nodiscard]] Count MlpLayers() const { return mlp_layers > 0 ? mlp_layers : layers; }  // with experts or without
  [[nodiscard]] bool IsLinear(Count layer) const;                                         // by place, from 0
  [[nodiscard]] bool HasMlp(Count layer) const;
  [[nodiscard]] Count WindowLayers() const;  // layers that attend to the window only
};

// Parameters, exact to the published checkpoints (tests/core/workload/model_test.cc).
struct ParameterCount {
  double embedding = 0;  // token table, positions, embedding norm
  double head = 0;       // output matrix of its own, 0 if tied, and its bias
  double attention_per_layer = 0;
  double linear_per_layer = 0;  // of a layer with a recurrence in place of attention
  double dense_mlp_per_layer = 0;
  double moe_per_layer = 0;         // router, all experts, shared experts
  double moe_active_per_layer = 0;  // router, top_k experts, shared experts
  double norms_per_layer = 0;
  double final_norm = 0;
  double mtp = 0;
  double total = 0;            // without the MTP modules, as checkpoints are counted
  double active = 0;           // touched by one token, embedding and head included
  double matrices = 0;         // in matrix products of the layers, all experts
  double active_matrices = 0;  // the same, top_k experts
};
ParameterCount CountParameters(const Model& model);

// Fills in what follows from the rest (kv_heads, head_dim, expert_ffn, shared_ffn) and reports contradictions.
void Complete(Model& model, const std::string& path, Issues& issues);

template <>
struct Schema<Moe> {
  static constexpr auto fields = std::tuple{
      Of("experts", &Moe::experts, "Routed experts in a layer").Between(2, 4096),
      Of("top_k", &Moe::top_k, "Routed experts a token visits").Between(1, 256),
      Of("shared_experts", &Moe::shared_experts, "Experts that every token visits").Between(0, 64),
      Of("expert_ffn", &Moe::expert_ffn, "Inner width of one routed expert").Between(0, 1 << 20).Derived(),
      Of("shared_ffn", &Moe::shared_ffn, "Inner width of all shared experts together").Between(0, 1 << 20).Derived().Advanced(),
      Of("dense_layers", &Moe::dense_layers, "Leading layers with a dense MLP").Between(0, 1024),
      Of("moe_every", &Moe::moe_every, "Of the other layers, every n-th has experts").Between(1, 64).Advanced(),
      Of("router_bias", &Moe::router_bias, "The router adds a bias an expert").Advanced(),
      Of("shared_gate", &Moe::shared_gate, "A gate scales what the shared experts add (Qwen2-MoE)").Advanced(),
      Of("imbalance", &Moe::imbalance, "Tokens of the busiest device over the mean").Between(1, 64).Advanced(),
      Of("node_limit", &Moe::node_limit, "Nodes that a token's experts may lie on; 0: any (DeepSeek's group-limited routing)")
          .Between(0, 4096)
          .Advanced(),
      Of("capacity_factor", &Moe::capacity_factor, "Most tokens an expert takes, over the mean; 0 drops none").Between(0, 64).Advanced()};
};
template <>
struct Schema<Mla> {
  static constexpr auto fields =
      std::tuple{Of("q_lora_rank", &Mla::q_lora_rank, "Rank of the query's compression; 0: none").Between(0, 1 << 16),
                 Of("kv_lora_rank", &Mla::kv_lora_rank, "Rank of the cached latent").Between(1, 1 << 16),
                 Of("nope_head_dim", &Mla::nope_head_dim, "Width of a head's part without positions").Between(1, 4096),
                 Of("rope_head_dim", &Mla::rope_head_dim, "Width of a head's rotary part, shared by the heads").Between(0, 4096),
                 Of("value_head_dim", &Mla::value_head_dim, "Width of a head's value").Between(1, 4096)};
};
template <>
struct Schema<LinearLayers> {
  static constexpr auto fields = std::tuple{
      Of("kind", &LinearLayers::kind, "Which recurrence"),
      Of("layers", &LinearLayers::layers, "Layers that have it; the others attend, spread evenly").Between(1, 4096),
      Of("heads", &LinearLayers::heads, "Heads of values").Between(1, 65536),
      Of("key_heads", &LinearLayers::key_heads, "Heads of keys and queries, groups of B and C; 0: as many as heads").Between(0, 65536),
      Of("head_dim", &LinearLayers::head_dim, "Width of a head's value").Between(1, 65536),
      Of("state", &LinearLayers::state, "Width of a key: a head keeps head_dim x state numbers").Between(1, 65536),
      Of("convolution", &LinearLayers::convolution, "Tokens that the short convolution before it sees; 0: none").Between(0, 64),
      Of("step_rank", &LinearLayers::step_rank, "Rank of the step size's projection (Mamba-1)").Between(0, 65536)};
};
template <>
struct Schema<Model> {
  static constexpr std::string_view preset_kind = "model";
  static constexpr auto fields = std::tuple{
      Of("preset", &Model::preset, "Catalogue entry that the other members override"),
      Of("name", &Model::name, "What to call it"),
      Of("layers", &Model::layers, "Transformer layers").Between(1, 4096).Required(),
      Of("hidden", &Model::hidden, "Width of the residual stream").Between(8, 1 << 20).Required(),
      Of("heads", &Model::heads, "Query heads").Between(1, 8192).Required(),
      Of("kv_heads", &Model::kv_heads, "Key and value heads; fewer than heads is grouped-query attention").Between(1, 8192).Derived(),
      Of("head_dim", &Model::head_dim, "Width of a head").Between(1, 8192).Derived(),
      Of("ffn", &Model::ffn, "Inner width of the MLP (of each of gate and up where gated)").Between(1, 1 << 22).Required(),
      Of("gated", &Model::gated, "The MLP has a gate (SwiGLU, GeGLU): three matrices in place of two"),
      Of("vocab", &Model::vocab, "Rows of the token table").Between(1, 1 << 24).Required(),
      Of("tied_embeddings", &Model::tied_embeddings, "The output matrix is the token table"),
      Of("parallel_attention", &Model::parallel_attention, "Attention and MLP side by side (GPT-J)").Advanced(),
      Of("position", &Model::position, "How positions are encoded").Advanced(),
      Of("max_positions", &Model::max_positions, "Rows of a learned position table; 0: as many as the sequence")
          .Between(0, 1 << 24)
          .Advanced(),
      Of("norm", &Model::norm, "RMS norm or layer norm").Advanced(),
      Of("norms_per_layer", &Model::norms_per_layer, "Norms in a layer").Between(0, 8).Advanced(),
      Of("embedding_norm", &Model::embedding_norm, "A norm after the embedding (BLOOM)").Advanced(),
      Of("qk_norm", &Model::qk_norm, "Queries and keys are normalised, by head (Qwen3, Gemma-3) or over all heads (OLMo-2)").Advanced(),
      Of("biases", &Model::biases, "Which linear layers add a bias").Advanced(),
      Of("head_bias", &Model::head_bias, "The output matrix adds a bias (GPT-J, Phi)").Advanced(),
      Of("attention_sinks", &Model::attention_sinks, "A learned logit a head takes attention from no token (gpt-oss)").Advanced(),
      Of("moe", &Model::moe, "Mixture of experts in place of the MLP"),
      Of("mla", &Model::mla, "Multi-head latent attention (DeepSeek)"),
      Of("attention_gate", &Model::attention_gate, "The queries' projection also makes a gate of the output (Qwen3-Next)").Advanced(),
      Of("linear", &Model::linear, "Layers with a recurrence of fixed state in place of attention (hybrid models)").Advanced(),
      Of("mlp_layers", &Model::mlp_layers, "Layers that have an MLP, spread evenly; 0: all").Between(0, 4096).Advanced(),
      Of("sliding_window", &Model::sliding_window, "Tokens that a local layer attends to; 0: all").Length().Between(0, 1 << 28).Advanced(),
      Of("global_every", &Model::global_every, "Every n-th layer attends to all; 0: no layer where there is a window")
          .Between(0, 1024)
          .Advanced(),
      Of("mtp_layers", &Model::mtp_layers, "Multi-token-prediction modules").Between(0, 16).Advanced(),
      Of("context", &Model::context, "Longest context its publisher supports; 0: not stated. Limits nothing")
          .Length()
          .Between(0, 1 << 28)
          .Advanced()};
};

}  // namespace slipstick
