// Widths of a layer, whole and on one device: stated once for their values and their explanation.
#include <string_view>

#include "core/workload/layer.h"

namespace slipstick {
namespace {

// Columns of the recurrence's input projection on all ranks: values and gates, keys and queries, step sizes or decays.
void ExplainColumns(const LinearAttention& linear, double all_columns, Trace& trace) {
  if (!trace.on()) return;
  const LinearAttentionKind kind = linear.kind;
  const bool has_keys = kind != LinearAttentionKind::kMamba;
  const bool is_delta = kind == LinearAttentionKind::kKimiDelta, full_gate = !is_delta || linear.full_gate;
  const double inner_parts = full_gate ? 2 : 1, key_parts = has_keys ? 2 : 0;
  const double head_parts = kind == LinearAttentionKind::kGatedDelta                                          ? 2
                            : kind == LinearAttentionKind::kMamba2 || kind == LinearAttentionKind::kKimiDelta ? 1
                                                                                                              : 0;
  const double rank_parts = !is_delta ? 0 : full_gate ? 1 : 2;
  const std::string_view kind_is = "model.linear.kind", gate_is = is_delta ? "model.linear.full_gate" : kind_is;
  const auto all_heads = static_cast<double>(linear.heads), all_key_heads = static_cast<double>(linear.KeyHeads());
  const auto head_dim = static_cast<double>(linear.head_dim), state = static_cast<double>(linear.state);
  trace.Input("inner_parts", inner_parts, gate_is);
  trace.Input("key_parts", key_parts, kind_is);
  trace.Input("head_parts", head_parts, kind_is);
  trace.Input("rank_parts", rank_parts, gate_is);
  trace.Input("state", state, "model.linear.state");
  trace.Record(
      "all_columns",
      "inner_parts * all_heads * head_dim + key_parts * all_key_heads * state + head_parts * all_heads + rank_parts * "
      "head_dim",
      all_columns,
      Note{"Columns of the recurrence's input projection", "values and gates, keys and queries, step sizes or decays"},
      "inner_parts, all_heads, head_dim, key_parts, all_key_heads, state, head_parts, rank_parts", inner_parts,
      all_heads, head_dim, key_parts, all_key_heads, state, head_parts, rank_parts);
}

// Heads of layers with a sliding window: as stated, or those of the others.
void NameWindowHeads(const Model& model, const LayerWidths& whole, Trace& trace) {
  const double stated_kv_heads = static_cast<double>(model.window.kv_heads),
               stated_head_dim = static_cast<double>(model.window.head_dim);
  const double kv_heads = whole.kv_heads, head_dim = static_cast<double>(model.HeadDim());
  trace.Input("stated_kv_heads", stated_kv_heads, "model.window_kv_heads");
  trace.Input("stated_head_dim", stated_head_dim, "model.window_head_dim");
  trace.Input("head_dim", head_dim, "model.head_dim");
  trace.Record("window_kv_heads", "stated_kv_heads + max(0, 1 - stated_kv_heads) * kv_heads", whole.window_kv_heads,
               Note{"KV heads of a local layer", "as stated, or those of the others"}, "stated_kv_heads, kv_heads",
               stated_kv_heads, kv_heads);
  trace.Record("window_head_dim", "stated_head_dim + max(0, 1 - stated_head_dim) * head_dim",
               static_cast<double>(model.WindowHeadDim()),
               Note{"Head dimension of a local layer", "as stated, or that of the others"}, "stated_head_dim, head_dim",
               stated_head_dim, head_dim);
}

// Names the whole layer's widths.
void NameWidths(const Model& model, const LayerWidths& whole, Trace& trace) {
  if (!trace.on()) return;
  trace.Input("heads", whole.heads, "model.heads");
  trace.Input("kv_heads", whole.kv_heads, "model.kv_heads");
  trace.Input("ffn", whole.mlp, "model.ffn");
  trace.Input("vocab", whole.vocab, "model.vocab");
  if (model.HasWindows()) NameWindowHeads(model, whole, trace);
  if (model.SharesKv()) {
    const double ffn = whole.mlp, stated_shared_kv_ffn = static_cast<double>(model.shared_kv.ffn);
    trace.Input("stated_shared_kv_ffn", stated_shared_kv_ffn, "model.kv_shared_ffn");
    trace.Record("shared_kv_mlp", "stated_shared_kv_ffn + max(0, 1 - stated_shared_kv_ffn) * ffn", whole.shared_kv_mlp,
                 Note{"Inner width of the MLP of a layer that shares a KV cache", "as stated, or that of the others"},
                 "stated_shared_kv_ffn, ffn", stated_shared_kv_ffn, ffn);
  }
  if (model.layer_embeddings.width > 0) trace.Input("layer_embedding", whole.layer_inputs, "model.layer_embedding");
  if (model.moe) {
    const double shared_width = whole.shared, expert_ffn = whole.expert, shared_ffn = shared_width;
    const auto shared_experts = static_cast<double>(model.moe->shared_experts);
    trace.Input("expert_ffn", expert_ffn, "model.moe.expert_ffn");
    trace.Input("shared_ffn", shared_ffn, "model.moe.shared_ffn");
    trace.Record(
        "shared_width", "shared_ffn + max(0, 1 - shared_ffn) * shared_experts * expert_ffn", shared_width,
        Note{"Inner width of all shared experts", "as stated, or the routed experts' width times their number"},
        "shared_ffn, shared_experts, expert_ffn", shared_ffn, shared_experts, expert_ffn);
  }
  if (model.linear_attention) {
    const LinearAttention& linear = *model.linear_attention;
    trace.Input("all_heads", whole.recurrent_heads, "model.linear.heads");
    trace.Input("all_key_heads", whole.recurrent_key_heads,
                linear.key_heads > 0 ? "model.linear.key_heads" : "model.linear.heads");
    trace.Input("head_dim", static_cast<double>(linear.head_dim), "model.linear.head_dim");
    ExplainColumns(linear, whole.recurrent_columns, trace);
  }
}

// The convolved columns, the gates and the decays of the recurrence are split as its heads are.
void SplitRecurrence(const LinearAttention& linear, double tp, LayerWidths& widths, Trace& trace) {
  const double all_heads = widths.recurrent_heads, all_key_heads = widths.recurrent_key_heads,
               all_columns = widths.recurrent_columns;
  const auto head_dim = static_cast<double>(linear.head_dim);
  FIGURE(trace, recurrent_heads, ceil(all_heads / tp), (Note{"Value heads of the recurrence on one device"}), all_heads,
         tp);
  FIGURE(trace, recurrent_key_heads, ceil(all_key_heads / tp), (Note{"Key heads of the recurrence on one device"}),
         all_key_heads, tp);
  FIGURE(trace, recurrent_columns, all_columns / tp,
         (Note{"Columns of the recurrence's input projection on one device"}), all_columns, tp);
  FIGURE(trace, recurrent_inner, recurrent_heads * head_dim, (Note{"Output width of the recurrence on one device"}),
         recurrent_heads, head_dim);
  widths.recurrent_heads = recurrent_heads, widths.recurrent_key_heads = recurrent_key_heads;
  widths.recurrent_columns = recurrent_columns, widths.recurrent_inner = recurrent_inner;
}

}  // namespace

LayerWidths WholeWidths(const Model& model) {
  LayerWidths widths;
  widths.heads = static_cast<double>(model.heads);
  widths.kv_heads = static_cast<double>(model.KvHeads());
  widths.window_kv_heads = static_cast<double>(model.WindowKvHeads());
  widths.mlp = static_cast<double>(model.ffn);
  widths.shared_kv_mlp = static_cast<double>(model.SharedKvFfn());
  widths.layer_inputs = static_cast<double>(model.layer_embeddings.width);
  widths.vocab = static_cast<double>(model.vocab);
  if (model.moe) {
    widths.shared = static_cast<double>(model.moe->shared_ffn);
    widths.expert = static_cast<double>(model.moe->expert_ffn);
  }
  if (model.linear_attention) {
    widths.recurrent_heads = static_cast<double>(model.linear_attention->heads);
    widths.recurrent_key_heads = static_cast<double>(model.linear_attention->KeyHeads());
    widths.recurrent_inner = static_cast<double>(model.linear_attention->Inner());
    widths.recurrent_columns = static_cast<double>(model.linear_attention->InputColumns());
  }
  return widths;
}

LayerWidths WholeWidths(const Model& model, Trace& trace) {
  const LayerWidths widths = WholeWidths(model);
  if (!trace.on()) return widths;
  NameWidths(model, widths, trace);
  trace.Alias("rank_heads", widths.heads, "heads");
  trace.Alias("rank_kv_heads", widths.kv_heads, "kv_heads");
  trace.Alias("rank_mlp", widths.mlp, "ffn");
  trace.Alias("rank_vocab", widths.vocab, "vocab");
  if (model.HasWindows()) trace.Alias("rank_window_kv_heads", widths.window_kv_heads, "window_kv_heads");
  if (model.SharesKv()) trace.Alias("rank_shared_kv_mlp", widths.shared_kv_mlp, "shared_kv_mlp");
  if (model.layer_embeddings.width > 0) trace.Alias("rank_layer_inputs", widths.layer_inputs, "layer_embedding");
  if (model.moe) {
    trace.Alias("rank_shared", widths.shared, "shared_width");
    trace.Alias("rank_expert", widths.expert, "expert_ffn");
  }
  if (model.linear_attention) {
    trace.Alias("recurrent_heads", widths.recurrent_heads, "all_heads");
    trace.Alias("recurrent_key_heads", widths.recurrent_key_heads, "all_key_heads");
    trace.Alias("recurrent_columns", widths.recurrent_columns, "all_columns");
    const double all_heads = widths.recurrent_heads, head_dim = static_cast<double>(model.linear_attention->head_dim);
    trace.Record("recurrent_inner", "all_heads * head_dim", widths.recurrent_inner,
                 Note{"Output width of the recurrence"}, "all_heads, head_dim", all_heads, head_dim);
  }
  return widths;
}

LayerWidths WidthsOf(const Model& model, double tp, double expert_tp, Trace& trace) {
  constexpr Note kWidth{"Width on one device", "of the most loaded tensor-parallel rank: whole heads, whole columns"};
  LayerWidths widths = WholeWidths(model);
  NameWidths(model, widths, trace);
  const double heads = widths.heads, kv_heads = widths.kv_heads, ffn = widths.mlp, vocab = widths.vocab;
  FIGURE(trace, rank_heads, ceil(heads / tp), (Note{"Query heads on one device", kWidth.note}), heads, tp);
  FIGURE(trace, rank_kv_heads, ceil(kv_heads / tp), (Note{"KV heads on one device", kWidth.note}), kv_heads, tp);
  FIGURE(trace, rank_mlp, ceil(ffn / tp), (Note{"Inner width of the MLP on one device", kWidth.note}), ffn, tp);
  FIGURE(trace, rank_vocab, ceil(vocab / tp), (Note{"Vocabulary on one device", kWidth.note}), vocab, tp);
  widths.heads = rank_heads, widths.kv_heads = rank_kv_heads, widths.mlp = rank_mlp, widths.vocab = rank_vocab;
  if (model.HasWindows()) {
    const double window_kv_heads = widths.window_kv_heads;
    FIGURE(trace, rank_window_kv_heads, ceil(window_kv_heads / tp),
           (Note{"KV heads of a local layer on one device", kWidth.note}), window_kv_heads, tp);
    widths.window_kv_heads = rank_window_kv_heads;
  }
  if (model.SharesKv()) {
    const double shared_kv_mlp = widths.shared_kv_mlp;
    FIGURE(trace, rank_shared_kv_mlp, ceil(shared_kv_mlp / tp),
           (Note{"Inner width of the MLP of a layer that shares a KV cache, on one device", kWidth.note}),
           shared_kv_mlp, tp);
    widths.shared_kv_mlp = rank_shared_kv_mlp;
  }
  if (model.layer_embeddings.width > 0) {
    const double layer_embedding = widths.layer_inputs;
    FIGURE(trace, rank_layer_inputs, layer_embedding / tp,
           (Note{"Columns of a layer's embedding that one device projects", "gathered by all ranks"}), layer_embedding,
           tp);
    widths.layer_inputs = rank_layer_inputs;
  }
  if (model.moe) {
    const double shared_width = widths.shared, expert_ffn = widths.expert;
    FIGURE(trace, rank_shared, ceil(shared_width / tp),
           (Note{"Inner width of the shared experts on one device", kWidth.note}), shared_width, tp);
    FIGURE(trace, rank_expert, expert_ffn / expert_tp, (Note{"Inner width of a routed expert on one device"}),
           expert_ffn, expert_tp);
    widths.shared = rank_shared, widths.expert = rank_expert;
  }
  if (model.linear_attention) SplitRecurrence(*model.linear_attention, tp, widths, trace);
  return widths;
}

LayerWidths WidthsOf(const Model& model, double tp, double expert_tp) {
  Trace off = Trace::Off();
  return WidthsOf(model, tp, expert_tp, off);
}

LayerWidths SharedKvWidths(const LayerWidths& widths, Trace& trace) {
  LayerWidths wide = widths;
  wide.mlp = widths.shared_kv_mlp;
  trace.Alias("rank_mlp", wide.mlp, "rank_shared_kv_mlp");
  return wide;
}

}  // namespace slipstick
