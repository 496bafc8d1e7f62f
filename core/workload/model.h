// The model: a dense, mixture-of-experts or hybrid transformer decoder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/tally.h"
#include "core/workload/precision.h"

namespace slipstick {

// A stated count, or another one if it is 0.
inline Ratio StatedOr(Ratio stated, Ratio otherwise) { return stated + max(0, 1 - stated) * otherwise; }

enum class Position { kRope, kLearned, kAlibi };
ENUM_NAMES(Position, {kRope, "rope"}, {kLearned, "learned"}, {kAlibi, "alibi"});

enum class Norm { kRms, kLayer, kLayerWithoutBias };
ENUM_NAMES(Norm, {kRms, "rms"}, {kLayer, "layer"}, {kLayerWithoutBias, "layer_without_bias"});

// Norm of queries and keys: weights shared by all heads, weights per head, or one norm over all heads together.
enum class QkNorm { kNone, kHead, kEachHead, kAllHeads };
ENUM_NAMES(QkNorm, {kNone, "none"}, {kHead, "head"}, {kEachHead, "each_head"}, {kAllHeads, "all_heads"});

enum class Biases { kNone, kQkv, kAttention, kMlp, kAll };
ENUM_NAMES(Biases, {kNone, "none"}, {kQkv, "qkv"}, {kAttention, "attention"}, {kMlp, "mlp"}, {kAll, "all"});

struct Moe {
  Tally experts = 8;
  Tally top_k = 2;
  Tally shared_experts = 0;
  Tally expert_ffn = 0;  // of one routed expert; 0: the model's ffn
  Tally shared_ffn = 0;  // of all shared experts together; 0: shared_experts · expert_ffn
  // width to which tokens are projected before dispatch (Nemotron 3, Kimi K3); 0: the hidden size
  Tally latent = 0;
  Tally dense_layers = 0;  // leading layers with a dense MLP
  Tally moe_every = 1;     // after these layers, every n-th layer is an MoE layer
  bool router_bias = false;
  bool shared_gate = false;  // a gate scales the output of the shared experts (Qwen2-MoE)
  std::optional<Ratio>
      imbalance{};            // tokens of the busiest device over the mean; 1: even; absent: depends on the software
  Tally node_limit = 0;       // maximum nodes with experts of one token; 0: no limit
  Ratio capacity_factor = 0;  // maximum tokens per expert over the mean; 0: dropless
  bool block_scales = true;   // fp8 weights have one scale per 128 x 128 block; false: one per tensor or channel
  Tally int4_group = 0;       // weights per 16-bit scale if only the experts are published in int4; 0: if not
  friend bool operator==(const Moe&, const Moe&) = default;
};

struct Mla {
  Tally q_lora_rank = 0;  // 0: queries are projected directly
  Tally kv_lora_rank = 512;
  Tally nope_head_dim = 128;
  Tally rope_head_dim = 64;
  Tally value_head_dim = 128;
  friend bool operator==(const Mla&, const Mla&) = default;
};

// Lightning indexer of sparse attention (DeepSeek-V3.2): it scores every token of the context for a query with small
// heads of its own; the attention core attends only to the top_k best. Its queries come from the compressed queries of
// latent attention, and one key per token is cached. Without latent attention (MiniMax-M3) each KV head has one indexer
// head, which selects whole blocks for it.
struct Indexer {
  Tally heads = 64;
  Tally head_dim = 128;
  Tally top_k = 2048;
  Tally block = 0;   // tokens that are selected together; 0: single tokens, with latent attention
  Tally layers = 0;  // attention layers that select; the others reuse a selection (GLM-5.2) or attend to all tokens
                     // (MiniMax-M3); 0: all
  friend bool operator==(const Indexer&, const Indexer&) = default;
};

// Attention to a compressed history (DeepSeek V4): one row per token or entry is key and value of all heads. Every
// layer attends to the tokens of a window. Beyond the window, layers with an indexer attend to the entries that it
// selects, each of `ratio` tokens; heavily compressed layers attend to all entries of `heavy_ratio` tokens; other
// layers to nothing.
struct CompressedAttention {
  Tally q_lora_rank = 1024;
  Tally rope_head_dim = 64;  // of a row: always in 16 bit, whatever the format of the KV cache
  Tally window = 128;
  Tally ratio = 4;
  Tally heavy_ratio = 128;
  Tally heavy_layers = 20;
  Tally output_groups = 8;   // groups of heads, each projected separately
  Tally output_rank = 1024;  // width to which each group is projected before the joint projection
  // copies of the residual stream that hyper-connections mix around each part of a layer; 1: a plain residual stream
  Tally streams = 1;
  std::optional<Precision> weights;  // of the published checkpoint, except for narrower routed experts
  friend bool operator==(const CompressedAttention&, const CompressedAttention&) = default;
};

// Layers with linear attention or a state-space model: a recurrence with a fixed-size state instead of a KV cache.
enum class LinearAttentionKind {
  kMamba,       // selective state space, one state per channel (Jamba)
  kMamba2,      // state-space duality, one state per head (Nemotron-H)
  kGatedDelta,  // gated delta rule (Qwen3-Next)
  kKimiDelta,   // gated delta rule with one decay per channel (Kimi-Linear)
  kLightning    // linear attention with a fixed decay per head (MiniMax-Text-01)
};
ENUM_NAMES(LinearAttentionKind, {kMamba, "mamba"}, {kMamba2, "mamba2"}, {kGatedDelta, "gated_delta"},
           {kKimiDelta, "kimi_delta"}, {kLightning, "lightning"});

struct LinearAttention {
  LinearAttentionKind kind = LinearAttentionKind::kMamba2;
  Tally layers = 1;        // number of such layers, spread evenly; the others have softmax attention
  Tally heads = 64;        // value heads; heads · head_dim is the inner width
  Tally key_heads = 0;     // key and query heads (groups of B and C); 0: equal to heads
  Tally head_dim = 64;     // of values
  Tally state = 128;       // width of a key: the state of a head is head_dim x state
  Tally convolution = 4;   // kernel size of the short convolution; 0: none
  Tally step_rank = 0;     // rank of the step-size projection (Mamba-1)
  bool full_gate = false;  // Kimi delta attention: projects the output gate from the residual stream in full rank (Kimi
                           // K3)

  [[nodiscard]] Tally KeyHeads() const { return key_heads > 0 ? key_heads : heads; }
  [[nodiscard]] Ratio Inner() const { return Ratio(heads) * Ratio(head_dim); }
  [[nodiscard]] Ratio ConvolvedChannels() const;  // channels of the short convolution
  [[nodiscard]] Ratio InputColumns() const;       // output width of the input projection
  friend bool operator==(const LinearAttention&, const LinearAttention&) = default;
};

struct Positions {
  Position encoding = Position::kRope;
  Tally rows = 0;  // of a learned position table; 0: the sequence length of training or serving
  friend bool operator==(const Positions&, const Positions&) = default;
};

struct Norms {
  Norm kind = Norm::kRms;
  Tally per_layer = 2;
  bool after_embedding = false;
  QkNorm queries_and_keys = QkNorm::kNone;
  friend bool operator==(const Norms&, const Norms&) = default;
};

struct SlidingWindow {
  Tally tokens = 0;        // number of tokens that a local layer attends to; 0: all
  Tally global_every = 0;  // every n-th layer attends to all tokens; 0: all layers are local if there is a window
  Tally kv_heads = 0;      // of the local layers (Gemma 4); 0: as in the other layers
  Tally head_dim = 0;      // of the local layers; 0: as in the other layers
  friend bool operator==(const SlidingWindow&, const SlidingWindow&) = default;
};

// The last layers of the model may have no keys and values of their own: they attend to those of the last earlier layer
// of their kind (Gemma 4 E2B, Gemma 3n).
struct SharedKv {
  Tally layers = 0;
  Tally ffn = 0;  // MLP width of these layers; 0: as in the other layers
  friend bool operator==(const SharedKv&, const SharedKv&) = default;
};

// A table per layer, whose row for the token is gated into the layer's output (Gemma 4 E2B, Gemma 3n).
struct LayerEmbeddings {
  Tally width = 0;  // 0: none
  Tally rows = 0;   // of each table; 0: the vocabulary
  friend bool operator==(const LayerEmbeddings&, const LayerEmbeddings&) = default;
};

// Image encoder: a vision transformer whose patches all attend to each other, and projectors that turn each square of
// merge x merge patches into a token of the language model.
struct Vision {
  Tally layers = 27;
  Tally hidden = 1152;
  Tally heads = 16;
  Tally ffn = 4304;
  bool gated = false;
  Tally patch = 16;      // side of a patch in pixels
  Tally merge = 2;       // patches along each side of a token
  Tally projectors = 1;  // two layers each; Qwen3-VL has three more, for the outputs of inner layers
  friend bool operator==(const Vision&, const Vision&) = default;
};

struct Model {
  std::string preset;
  std::string name = "custom";
  Tally layers = 0;
  Tally hidden = 0;
  Tally heads = 0;
  std::optional<Tally> kv_heads;  // default: heads
  std::optional<Tally> head_dim;  // default: hidden / heads
  Tally ffn = 0;
  bool gated = true;
  Tally vocab = 0;
  bool tied_embeddings = false;
  bool parallel_attention = false;
  Positions positions;
  Norms norms;
  Biases biases = Biases::kNone;
  bool head_bias = false;        // the LM head has a bias (GPT-J, Phi)
  bool attention_sinks = false;  // a learned logit per head (gpt-oss)
  std::optional<Moe> moe;
  std::optional<Mla> mla;
  std::optional<Indexer> indexer;
  std::optional<CompressedAttention> compressed;
  // gate on the attention output: from the query projection (Qwen3-Next), or a separate one with MLA (Kimi K3)
  bool attention_gate = false;
  std::optional<LinearAttention> linear_attention;
  Tally mlp_layers = 0;  // layers with an MLP, spread evenly; 0: all (Nemotron-H: as many as its MLP blocks)
  SlidingWindow window;
  // layers that attend to all tokens project no values: the keys before norm and rotation replace them (Gemma 4)
  bool keys_as_values = false;
  SharedKv shared_kv;
  LayerEmbeddings layer_embeddings;
  Tally mtp_layers = 0;  // multi-token-prediction modules
  std::optional<Vision> vision;
  std::optional<Precision> weights;  // of the published checkpoint, if narrower than 16 bit; the default of serving
  Tally context = 0;                 // longest context that the publisher supports; a longer one causes a warning

  // With defaults resolved.
  [[nodiscard]] Tally KvHeads() const { return kv_heads.value_or(heads); }
  [[nodiscard]] Tally HeadDim() const { return head_dim.value_or(heads > 0 ? Tally(hidden / heads) : Tally(0)); }
  [[nodiscard]] bool HasWindows() const { return window.tokens > 0 && !mla; }
  [[nodiscard]] bool HasWindowHeads() const;  // local layers have projections of a different shape
  [[nodiscard]] Ratio WindowKvHeads() const { return StatedOr(window.kv_heads, KvHeads()); }
  [[nodiscard]] Ratio WindowHeadDim() const { return StatedOr(window.head_dim, HeadDim()); }
  [[nodiscard]] bool SharesKv() const { return shared_kv.layers > 0; }
  [[nodiscard]] Ratio SharedKvFfn() const { return StatedOr(shared_kv.ffn, ffn); }
  // Maximum pipeline stages: layers that share a KV cache must be on the device that has it.
  [[nodiscard]] Count MostStages() const { return SharesKv() ? Tally(1) : layers; }
  [[nodiscard]] Tally LinearAttentionLayers() const { return linear_attention ? linear_attention->layers : Tally(0); }
  [[nodiscard]] Ratio AttentionLayers() const { return Ratio(layers) - Ratio(LinearAttentionLayers()); }
  [[nodiscard]] Ratio MlpLayers() const { return StatedOr(mlp_layers, layers); }  // with experts or without
  [[nodiscard]] bool IsLinearAttention(Count layer) const;                        // by index, from 0
  [[nodiscard]] bool HasMlp(Count layer) const;
  // The number for the switch or choice `member`, with that input's node if this model has nodes.
  [[nodiscard]] Ratio Chosen(double number, std::string_view member) const;
  // Number of matrices at the input of an MLP: up and, if gated, the gate.
  [[nodiscard]] Ratio UpParts() const { return 1 + Chosen(gated ? 1 : 0, "gated"); }
  friend bool operator==(const Model&, const Model&) = default;
};

// Parameters, exact to the published checkpoints (tests/core/workload/model_test.cc).
struct ParameterCount {
  Ratio embedding = 0;     // token table, positions, embedding norm; tables of the layers
  Ratio layer_tables = 0;  // part of embedding
  Ratio head = 0;          // includes its bias; 0 if tied
  Ratio attention_per_layer = 0;
  Ratio linear_attention_per_layer = 0;  // of a layer with linear attention
  Ratio dense_mlp_per_layer = 0;
  Ratio moe_per_layer = 0;         // router, all experts, shared experts
  Ratio moe_active_per_layer = 0;  // router, top_k experts, shared experts
  Ratio norms_per_layer = 0;
  Ratio final_norm = 0;
  Ratio mtp_module = 0;
  Ratio total = 0;            // without MTP modules, as published, and without a vision encoder
  Ratio active = 0;           // per token, including embedding and head, without tables of the layers
  Ratio matrices = 0;         // in the layers' GEMMs, all experts
  Ratio active_matrices = 0;  // in the layers' GEMMs, top_k experts
};
ParameterCount CountParameters(const Model& model);

// Reports contradictions, with the nearest valid values; fills kv_heads, head_dim, expert_ffn and shared_ffn.
void ValidateAndFillDefaults(Model& model, const std::string& path, Issues& issues);

FIELDS_OF(Moe);
FIELDS_OF(Mla);
FIELDS_OF(Indexer);
FIELDS_OF(CompressedAttention);
FIELDS_OF(LinearAttention);
FIELDS_OF(Vision);
template <>
struct Schema<Model> {
  static constexpr std::string_view preset_kind = "model";
  static const Fields fields;
};

}  // namespace slipstick
