// Widths of a layer, whole and on one device.
#include "core/base/figure.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

constexpr std::string_view kFullestRank = "of the most loaded tensor-parallel rank: whole heads, whole columns";

// The convolved columns, gates and decays of a recurrence are split like its heads.
void SplitRecurrence(const LinearAttention& linear, Ratio tp, LayerWidths& widths) {
  widths.recurrent_heads =
      Figure("Recurrent heads", ceil(widths.recurrent_heads / tp), "value heads of the recurrence on one device");
  widths.recurrent_key_heads =
      Figure("Recurrent key heads", ceil(widths.recurrent_key_heads / tp), "key heads of the recurrence on one device");
  widths.recurrent_columns =
      Figure("Recurrent columns", widths.recurrent_columns / tp, "of the recurrence's input projection on one device");
  widths.recurrent_inner = Figure("Recurrent width", widths.recurrent_heads * Ratio(linear.head_dim),
                                  "output width of the recurrence on one device");
}

}  // namespace

LayerWidths WholeWidths(const Model& model) {
  constexpr std::string_view kAsOthers = "of a local layer: as stated, or as in the others";
  LayerWidths widths;
  widths.heads = model.heads;
  widths.kv_heads = model.KvHeads();
  widths.window_kv_heads = Figure("Local KV heads", model.WindowKvHeads(), kAsOthers);
  widths.mlp = model.ffn;
  widths.shared_kv_mlp = Figure("MLP width with a shared KV cache", model.SharedKvFfn(),
                                "of a layer that shares one: as stated, or as in the others");
  widths.layer_inputs = model.layer_embeddings.width;
  widths.vocab = model.vocab;
  if (const auto& moe = model.moe) {
    widths.expert = moe->expert_ffn;
    widths.shared =
        Figure("Width of the shared experts", StatedOr(moe->shared_ffn, Ratio(moe->shared_experts) * widths.expert),
               "as stated, or the routed experts' width times their number");
  }
  if (const auto& linear = model.linear_attention) {
    widths.recurrent_heads = linear->heads;
    widths.recurrent_key_heads = linear->KeyHeads();
    widths.recurrent_inner = Figure("Width of the recurrence", linear->Inner(), "its output, on all devices");
    widths.recurrent_columns = Figure("Columns of the recurrence", linear->InputColumns(),
                                      "of its input projection: values and gates, keys and queries, step sizes or "
                                      "decays");
  }
  return widths;
}

LayerWidths WidthsOf(const Model& model, Ratio tp, Ratio expert_tp) {
  LayerWidths widths = WholeWidths(model);
  widths.heads = Figure("Rank heads", ceil(widths.heads / tp), kFullestRank);
  widths.kv_heads = Figure("Rank KV heads", ceil(widths.kv_heads / tp), kFullestRank);
  widths.mlp = Figure("Rank MLP width", ceil(widths.mlp / tp), kFullestRank);
  widths.vocab = Figure("Rank vocabulary", ceil(widths.vocab / tp), kFullestRank);
  if (model.HasWindows())
    widths.window_kv_heads = Figure("Rank KV heads of a local layer", ceil(widths.window_kv_heads / tp), kFullestRank);
  if (model.SharesKv())
    widths.shared_kv_mlp =
        Figure("Rank MLP width with a shared KV cache", ceil(widths.shared_kv_mlp / tp), kFullestRank);
  if (model.layer_embeddings.width > 0)
    widths.layer_inputs = Figure("Rank columns of a layer's embedding", widths.layer_inputs / tp,
                                 "projected on one device, gathered by all ranks");
  if (model.moe) {
    widths.shared = Figure("Rank width of the shared experts", ceil(widths.shared / tp), kFullestRank);
    widths.expert = Figure("Rank width of an expert", widths.expert / expert_tp, "of a routed one, on one device");
  }
  if (model.linear_attention) SplitRecurrence(*model.linear_attention, tp, widths);
  return widths;
}

LayerWidths SharedKvWidths(const LayerWidths& widths) {
  LayerWidths wide = widths;
  wide.mlp = widths.shared_kv_mlp;
  return wide;
}

}  // namespace slipstick
