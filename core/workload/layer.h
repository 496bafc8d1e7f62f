// Shapes of a layer's GEMMs, elementwise passes and attention on one device; training and serving time them in their
// own ways.
//
// A layer is a mixer (attention or a recurrence) and a feed-forward part, split as in Megatron (Shoeybi et al. 2019;
// Korthikanti et al. 2022): column-parallel inputs, row-parallel outputs, experts on groups of their own.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/workload/layer_kind.h"
#include "core/workload/model.h"

namespace slipstick {

// Widths of a layer and of the LM head on one device.
struct LayerWidths {
  Ratio heads = 1, kv_heads = 1;
  Ratio window_kv_heads = 1;              // in layers with a sliding window
  Ratio mlp = 0, shared = 0, expert = 0;  // inner widths: dense MLP, all shared experts, one routed expert
  Ratio shared_kv_mlp = 0;                // dense MLP of layers that share a KV cache
  Ratio layer_inputs = 0;                 // columns of a layer's embedding that are projected on this device
  Ratio recurrent_heads = 0, recurrent_key_heads = 0;
  Ratio recurrent_inner = 0, recurrent_columns = 0;  // of the recurrence: output width, input columns
  Ratio vocab = 0;
};
LayerWidths WholeWidths(const Model& model);
// Widths on the most loaded of `tp` ranks, with whole heads (at least one) and whole MLP columns; `expert_tp` ranks
// split each expert.
LayerWidths WidthsOf(const Model& model, Ratio tp, Ratio expert_tp);
// Widths in layers that share a KV cache.
LayerWidths SharedKvWidths(const LayerWidths& widths);

enum class ProductId {
  kQueryKeyValue,
  kQuery,  // latent attention without query compression, or layers that share a KV cache
  kQueryDown,
  kQueryUp,
  kKeyValueDown,
  kKeyValueUp,
  kCompressor,  // rows and their weights, from which entries of several tokens are computed
  kIndexQuery,
  kIndexKey,         // keys of the indexer and the weights of its heads
  kLatentGate,       // gate on the output of latent attention
  kAttentionGroups,  // outputs of groups of heads, each group separately
  kAttentionOut,
  kWindowQueryKeyValue,  // for sliding-window layers with heads of their own
  kWindowQuery,          // for sliding-window layers that share a KV cache
  kWindowAttentionOut,
  kStreams,  // weights of hyper-connections, before and after both parts of a layer
  kRecurrentIn,
  kRecurrentOut,
  kStepsAndStates,  // Mamba-1: step-size compression, B and C
  kStepsUp,
  kDecaysUp,
  kGatesUp,
  kMlpIn,
  kMlpOut,
  kRouter,
  kExpertsIn,
  kExpertsOut,
  kSharedIn,
  kSharedOut,
  kExpertsDown,  // to the width of latent experts
  kExpertsUp,
  kLayerInputs,  // from the embedding; added to a row of each layer's table
  kLayerGate,
  kLayerOut,
  kHead
};

// Part of the layer. Low-rank adapters apply to kMixer and, if requested, to kMlp; kWide stays in 16 bits in every
// recipe.
enum class ProductRole { kMixer, kMlp, kExperts, kWide };
// Rows of a GEMM: all tokens of the device; tokens whose residual stream it holds under sequence parallelism; or rows
// routed to experts.
enum class ProductRows { kTokens, kSequenceParallel, kRouted };

struct ProductTraits {
  std::string_view name;
  ProductRole role;
  ProductRows rows = ProductRows::kTokens;
};
const ProductTraits& TraitsOf(ProductId id);

// y = x·w per row.
struct MatrixProduct {
  ProductId id = ProductId::kHead;
  Ratio outputs = 0, inputs = 0;
  [[nodiscard]] Ratio Elements() const { return outputs * inputs; }  // weights
};
MatrixProduct ProductOf(ProductId id, const Model& model, const LayerWidths& widths);

// GEMMs of a mixer or of a feed-forward part, in execution order.
class MatrixProducts {
 public:
  void Add(const MatrixProduct& product) { products_[size_++] = product; }
  [[nodiscard]] const MatrixProduct* begin() const { return products_.data(); }
  [[nodiscard]] const MatrixProduct* end() const { return products_.data() + size_; }
  [[nodiscard]] const MatrixProduct* Find(ProductId id) const;  // null: there is none

 private:
  std::array<MatrixProduct, 10> products_{};
  std::size_t size_ = 0;
};
MatrixProducts MixerProducts(const Model& model, Mixer mixer, const LayerWidths& widths);
MatrixProducts FeedForwardProducts(const Model& model, FeedForward feed_forward, const LayerWidths& widths);
MatrixProduct HeadProduct(const Model& model, const LayerWidths& widths);

// Weights of GEMMs: those that all tokens use, and those of one routed expert.
struct MatrixElements {
  Ratio all_tokens = 0, expert = 0;
};
MatrixElements ElementsOf(const MatrixProducts& products);

// Parameters outside the GEMMs, at the device's widths: biases, norms inside a mixer, per-head and per-channel
// parameters of a recurrence. For an MoE layer, without the routed experts.
Ratio SmallElements(const Model& model, Mixer mixer, const LayerWidths& widths);
Ratio SmallElements(const Model& model, FeedForward feed_forward, const LayerWidths& widths);
// Biases of one routed expert.
Ratio ExpertBiases(const Model& model, const LayerWidths& widths);
// Parameters of one norm over the residual stream.
Ratio NormElements(const Model& model);

// An unfused elementwise pass over rows of 16-bit elements that touches every operand once. Routing is not included.
struct RowPass {
  ProductRows rows = ProductRows::kTokens;
  Ratio columns = 0;                // elements per row
  Ratio forward = 0, backward = 0;  // bytes per element
  bool is_light = false;            // norms and activation functions, which the lightest recomputation repeats
};
inline constexpr std::size_t kRowPasses = 5;
std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths);
// Memory traffic of the activation function, in bytes per inner element of the MLP.
struct ActivationBytes {
  Ratio forward, backward;
};
ActivationBytes ActivationOf(const Model& model);

// Additions to the residual stream per layer; each follows a norm and a sum over the TP ranks.
Ratio ResidualAdditions(const Model& model);
// Norms per layer before an addition to the residual stream (Gemma 2 and 3, GLM-4, Grok-1: of the outputs of attention
// and MLP). Kernels fuse an addition with the norm after it; the norms before it remain separate kernels (vLLM,
// model_executor/models/gemma2.py).
Ratio NormsBeforeAdditions(const Model& model);

// Share of the attention layers that have an indexer; every layer gets the mean.
Ratio IndexShare(const Model& model);

// A projection of compressed attention; see ProductOf.
MatrixProduct CompressedProduct(ProductId id, const Model& model, const LayerWidths& widths);
// Share of the layers that attend to all entries of a compressed history.
Ratio HeavyShare(const Model& model);

// Keys that a token's heads attend to, mean over the layers of compressed attention: for the last of `attended` tokens,
// and the mean over all under the causal mask. Indexer scores count as an equivalent number of keys.
struct CompressedKeys {
  Ratio all = 0, causal = 0;
};
CompressedKeys KeysOfCompressed(const Model& model, Ratio attended);

// Rows of each layer's table of embeddings: as stated, or the vocabulary.
Ratio LayerRows(const Model& model);

// Width of the rows of routed experts: of the residual stream, or of its projection (latent experts).
Ratio RoutedWidth(const Model& model);

// Tokens per chunk of a recurrence.
inline Ratio RecurrenceChunk(Ratio tokens) { return min(tokens, 128); }
// Multiply-adds per token and head: within the chunk, and with the state that is read and updated (Dao and Gu 2024,
// arXiv 2405.21060); for Mamba-1 only with the state.
Ratio RecurrencePairs(const LinearAttention& linear, Ratio tokens);

// The attention core or the recurrence, without its projections.
struct MixerCore {
  Ratio heads = 0, kv_heads = 0;
  Ratio query_width = 0, value_width = 0;  // per head
  Ratio columns = 0;                       // elements per token read and written
};
MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths);

}  // namespace slipstick
