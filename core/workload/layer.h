// What a layer computes of a token, on one of the devices that share it: stated once, timed by training and by serving in their ways.
//
// A layer is a mixer, which joins the tokens of a sequence, and a feed-forward part. Devices share it as Megatron's do (Shoeybi et al.
// 2019; Korthikanti et al. 2022): column-parallel inputs, row-parallel outputs, experts on groups of their own.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/workload/layer_kind.h"
#include "core/workload/model.h"

namespace slipstick {

// What one device holds of a layer's widths, and of the output matrix's.
struct LayerWidths {
  double heads = 1, kv_heads = 1;
  double mlp = 0, shared = 0, expert = 0;  // inner widths of a dense MLP, of all shared experts, of one routed expert
  double recurrent_heads = 0, recurrent_key_heads = 0;
  double recurrent_inner = 0, recurrent_columns = 0;  // that the recurrence yields, and that it takes in
  double vocab = 0;
};
// Of a layer that is not shared.
LayerWidths WholeWidths(const Model& model);
// Of the fullest of `ranks`: whole heads, of which each has one at least, and whole columns of the MLP; `expert_ranks` share an expert.
LayerWidths WidthsOf(const Model& model, double ranks, double expert_ranks);

enum class ProductId {
  kQueryKeyValue,
  kQuery,  // of latent attention without a compression of its queries
  kQueryDown,
  kQueryUp,
  kKeyValueDown,
  kKeyValueUp,
  kAttentionOut,
  kRecurrentIn,
  kRecurrentOut,
  kStepsAndStates,  // of channels: the steps' compression, B and C
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
  kHead
};

// What a product belongs to. Adapters lie beside the mixer's; the wide ones stay in 16 bit.
enum class ProductRole { kMixer, kMlp, kExperts, kWide };
// The rows of a product: all tokens that the device sees, those of them whose residual stream it keeps, or those routed to its experts.
enum class ProductRows { kTokens, kSequenceParallel, kRouted };

struct ProductTraits {
  std::string_view name;
  ProductRole role;
  ProductRows rows = ProductRows::kTokens;
};
const ProductTraits& TraitsOf(ProductId id);

// y = x·w of a token, or of a row that an expert gets.
struct MatrixProduct {
  ProductId id = ProductId::kHead;
  double outputs = 0, inputs = 0;
  [[nodiscard]] double Elements() const { return outputs * inputs; }
};

// A mixer's or a feed-forward part's, in the order in which they run.
class MatrixProducts {
 public:
  void Add(ProductId id, double outputs, double inputs) { products_[size_++] = {id, outputs, inputs}; }
  [[nodiscard]] const MatrixProduct* begin() const { return products_.data(); }
  [[nodiscard]] const MatrixProduct* end() const { return products_.data() + size_; }
  [[nodiscard]] const MatrixProduct* Find(ProductId id) const;  // null: it has none
  [[nodiscard]] double Elements() const;                        // of all weights; of experts, one's

 private:
  std::array<MatrixProduct, 6> products_{};
  std::size_t size_ = 0;
};
MatrixProducts MixerProducts(const Model& model, Mixer mixer, const LayerWidths& widths);
MatrixProducts FeedForwardProducts(const Model& model, FeedForward feed_forward, const LayerWidths& widths);
MatrixProduct HeadProduct(const Model& model, const LayerWidths& widths);

// Elements beside the matrices, of which a device has those of the widths it holds: biases, norms inside a mixer, what a recurrence
// keeps a head and channel. Of experts, what all tokens pass.
double SmallElements(const Model& model, Mixer mixer, const LayerWidths& widths);
double SmallElements(const Model& model, FeedForward feed_forward, const LayerWidths& widths);
// Of one routed expert: its matrices, its biases.
double ExpertElements(const Model& model, const LayerWidths& widths);
double ExpertBiases(const Model& model, const LayerWidths& widths);
// Of one norm over the residual stream.
double NormElements(const Model& model);

// A pass over rows of 16-bit elements that touches every operand once: bytes an element, where nothing is fused. Routing apart.
struct RowPass {
  std::string_view name;
  ProductRows rows = ProductRows::kTokens;
  double columns = 0;                // elements of a row
  double forward = 0, backward = 0;  // bytes
  bool is_light = false;             // the lightest recomputation repeats it: norms and activation functions
};
inline constexpr std::size_t kRowPasses = 5;
std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths);
// Bytes an element of the inner width of an MLP, forward and backward.
struct ActivationBytes {
  double forward, backward;
};
ActivationBytes ActivationOf(const Model& model);

// Times that a layer adds to the residual stream, each after a norm and a sum over the tensor parallel ranks.
double ResidualAdditions(const Model& model);
// Copies of a token that leave it for its experts where each of `ranks` holds its share of them: one a rank that has any of them.
double ExpertCopies(const Moe& moe, double ranks);

// Tokens that a recurrence computes at once.
inline double RecurrenceChunk(double tokens) { return min(tokens, 128.0); }
// Multiplications of a head's recurrence a token: with those of its chunk, and with the state that it reads and adds to (Dao and Gu 2024,
// arXiv 2405.21060); of channels, with the state alone.
double RecurrencePairs(const LinearAttention& linear, double tokens);

// Where tokens meet: attention's scores and sums, or a recurrence.
struct MixerCore {
  double heads = 0, kv_heads = 0;
  double query_width = 0, value_width = 0;  // of a head
  double columns = 0;                       // elements of a token that go in and come out
};
MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths);

}  // namespace slipstick
