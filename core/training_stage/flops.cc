#include "core/training_stage/flops.h"

#include "core/base/sum.h"
#include "core/training_stage/layer_work.h"
#include "core/training_stage/shape.h"
#include "core/workload/layer_counts.h"

namespace slipstick {
namespace {

constexpr std::string_view kFlopsSource =
    "Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022, appendix A";

}  // namespace

double AdapterParameters(const Model& model, const Framework& framework, Trace& trace) {
  const LayerCounts layers = CountLayers(model, trace);
  const LayerWidths widths = WholeWidths(model, trace);
  ListedSum<double> adapters(trace);
  const auto add = [&](std::string_view name, const MatrixProducts& products, const LayerWidths& own, double count,
                       std::string_view count_is) {
    const Trace::Scope scope(trace, name);
    adapters.Add(name, AdapterElements(model, products, own, framework, "part_adapters", trace), count, "part_adapters",
                 count_is);
  };
  const auto add_mixer = [&](std::string_view name, Mixer mixer, double count, std::string_view count_is) {
    if (count > 0) add(name, MixerProducts(model, mixer, widths), widths, count, count_is);
  };
  const auto add_mlp = [&](std::string_view name, FeedForward feed_forward, const LayerWidths& own, double count,
                           std::string_view count_is) {
    if (count > 0) add(name, FeedForwardProducts(model, feed_forward, own), own, count, count_is);
  };
  if (model.SharesKv()) {
    const auto [own_full, own_window, shared_full] = SplitBySharedKv(layers, trace);
    add_mixer("attention", Mixer::kFullAttention, own_full, "own_full_layers");
    add_mixer("local attention", Mixer::kWindow, own_window, "own_window_layers");
    add_mixer("attention, shared KV cache", Mixer::kSharedKv, shared_full, "shared_kv_full_layers");
    add_mixer("local attention, shared KV cache", Mixer::kSharedKvWindow, layers.shared_kv_window,
              "shared_kv_window_layers");
    const Trace::Scope scope(trace, "shared_kv");
    add_mlp("MLP, shared KV cache", FeedForward::kDense, SharedKvWidths(widths, trace), layers.shared_kv,
            "shared_kv_layers");
  } else {
    const double attention_layers = layers.attention, window_layers = layers.window;
    FIGURE(trace, full_layers, attention_layers - window_layers, (Note{"Layers with full attention"}), attention_layers,
           window_layers);
    add_mixer("attention", Mixer::kFullAttention, full_layers, "full_layers");
    add_mixer("local attention", Mixer::kWindow, window_layers, "window_layers");
  }
  add_mixer("recurrence", Mixer::kRecurrence, layers.recurrent, "recurrent_layers");
  add_mlp("MLP", FeedForward::kDense, widths, OwnDenseLayers(layers, trace), "own_dense_layers");
  add_mlp("experts", FeedForward::kExperts, widths, layers.moe, "moe_layers");
  return adapters.Total("adapters", Note{"Weights of all low-rank adapters"});
}

double AdapterParameters(const Model& model, const Framework& framework) {
  Trace off = Trace::Off();
  return AdapterParameters(model, framework, off);
}

namespace {

double HeadColumns(const Model& model, Mixer mixer, Trace& trace) {
  const MixerCore core = CoreOf(model, mixer, WholeWidths(model));
  const double heads = core.heads, query_width = core.query_width, value_width = core.value_width;
  trace.Input("heads", heads, "model.heads");
  if (model.mla) {
    const auto nope_head_dim = static_cast<double>(model.mla->nope_head_dim),
               rope_head_dim = static_cast<double>(model.mla->rope_head_dim);
    trace.Record("query_width", "nope_head_dim + rope_head_dim", query_width, Note{"Width of a query"},
                 "nope_head_dim, rope_head_dim", nope_head_dim, rope_head_dim);
    trace.Input("value_width", value_width, "model.mla.value_head_dim");
  } else {
    BindHeadDim("query_width", query_width, IsLocal(mixer), trace);
    BindHeadDim("value_width", value_width, IsLocal(mixer), trace);
  }
  FIGURE(trace, head_columns, heads * (query_width + value_width),
         (Note{"Multiply-adds per pair of tokens, all heads"}), heads, query_width, value_width);
  return head_columns;
}

// Of all layers that attend to all tokens, and of all with a window.
struct LayerColumns {
  double full = 0, window = 0;
};
LayerColumns ColumnsOfLayers(const Model& model, double full_layers, double window_layers, Trace& trace) {
  const double head_columns = HeadColumns(model, Mixer::kFullAttention, trace);
  const double window_head_columns = [&] {
    const Trace::Scope scope(trace, "local");
    return model.HasWindows() ? HeadColumns(model, Mixer::kWindow, trace) : head_columns;
  }();
  trace.Alias("window_head_columns", window_head_columns, "head_columns");
  FIGURE(trace, full_columns, head_columns * full_layers,
         (Note{"Multiply-adds per pair of tokens, all layers that attend to all tokens"}), head_columns, full_layers);
  FIGURE(trace, window_columns, window_head_columns * window_layers,
         (Note{"Multiply-adds per pair of tokens, all layers with a sliding window"}), window_head_columns,
         window_layers);
  return {full_columns, window_columns};
}

// Multiply-adds per token of the recurrences.
double RecurrentPairs(const LinearAttention& linear, double attended, Trace& trace) {
  const auto recurrent_layers = static_cast<double>(linear.layers), recurrent_heads = static_cast<double>(linear.heads);
  const double head_pairs = RecurrencePairs(linear, attended);
  const auto head_dim = static_cast<double>(linear.head_dim), state = static_cast<double>(linear.state);
  if (trace.on()) {
    trace.Input("recurrent_heads", recurrent_heads, "model.linear.heads");
    trace.Input("head_dim", head_dim, "model.linear.head_dim");
    trace.Input("state", state, "model.linear.state");
    const Note note{"Multiply-adds per token and head of a recurrence", "in a chunk of 128 tokens, and with the state",
                    "Dao and Gu 2024"};
    if (linear.kind == LinearAttentionKind::kMamba) {
      trace.Record("head_pairs", "3 * head_dim * state", head_pairs, note, "head_dim, state", head_dim, state);
    } else {
      trace.Record("head_pairs", "min(attended, 128) * (state + head_dim) + 2 * head_dim * state", head_pairs, note,
                   "attended, state, head_dim", attended, state, head_dim);
    }
  }
  FIGURE(trace, recurrent, recurrent_layers * recurrent_heads * head_pairs,
         (Note{"Multiply-adds per token of the recurrences"}), recurrent_layers, recurrent_heads, head_pairs);
  return recurrent;
}

// FLOPs per token of attention over the full square, and of the recurrences.
Flops CoreFlops(const Model& model, double full_columns, double window_columns, double attended, double seen,
                Trace& trace) {
  constexpr Note kNote{"Attention FLOPs per token, forward",
                       "QK and PV products over the full square, without the causal mask", kFlopsSource};
  if (!model.linear_attention) {
    FIGURE(trace, core_flops, 2 * kFlop * (full_columns * attended + window_columns * seen), kNote, full_columns,
           attended, window_columns, seen);
    return core_flops;
  }
  const double recurrent = RecurrentPairs(*model.linear_attention, attended, trace);
  FIGURE(trace, core_flops, 2 * kFlop * (full_columns * attended + window_columns * seen + recurrent), kNote,
         full_columns, attended, window_columns, seen, recurrent);
  return core_flops;
}

// Of attention and recurrences, per token, forward; the causal mask hides a part of it.
struct AttentionFlops {
  Flops core, masked;
};

// Attention to a compressed history: its keys in place of the context.
AttentionFlops CompressedAttention(const Model& model, double attended, double attention_layers, Trace& trace) {
  trace.Alias("attention_layers", attention_layers, "full_layers");
  const double head_columns = HeadColumns(model, Mixer::kFullAttention, trace);
  const CompressedKeys keys = KeysOfCompressed(model, attended, trace);
  const double all_keys = keys.all, causal_keys = keys.causal;
  FIGURE(trace, core_flops, 2 * kFlop * attention_layers * head_columns * all_keys,
         (Note{"Attention FLOPs per token, forward",
               "with the window, the entries and the indexer's scores at the end of a document"}),
         attention_layers, head_columns, all_keys);
  FIGURE(trace, masked_flops, 2 * kFlop * attention_layers * head_columns * (all_keys - causal_keys),
         (Note{"Attention FLOPs per token that the causal mask hides, forward", ""}), attention_layers, head_columns,
         all_keys, causal_keys);
  return {core_flops, masked_flops};
}

AttentionFlops AttentionOverSquares(const Model& model, double attended, double full_layers, double window_layers,
                                    Trace& trace) {
  const auto sliding_window = static_cast<double>(model.window.tokens);
  const auto [full_columns, window_columns] = ColumnsOfLayers(model, full_layers, window_layers, trace);
  FIGURE(trace, seen, min(attended, sliding_window), (Note{"Tokens that a layer with a window attends to"}), attended,
         sliding_window);
  const Flops core_flops = CoreFlops(model, full_columns, window_columns, attended, seen, trace);
  FIGURE(trace, masked_flops,
         2 * kFlop * (full_columns * (attended / 2) + window_columns * (seen * seen / (2 * attended))),
         (Note{"Attention FLOPs per token that the causal mask hides, forward",
               "half of the square; with a window of w tokens, the triangle at the start of a document"}),
         full_columns, attended, window_columns, seen);
  return {core_flops, masked_flops};
}

// Per token, forward.
struct TokenFlops {
  Flops core, layers, head, masked;
};
TokenFlops CountTokenFlops(const Model& model, double attended, Trace& trace) {
  const ParameterCount count = CountParameters(model, trace);
  const auto hidden = static_cast<double>(model.hidden), vocabulary = static_cast<double>(model.vocab);
  const auto layers = static_cast<double>(model.layers), modules = static_cast<double>(model.mtp_layers);
  const double active_matrices = count.active_matrices;
  const LayerCounts counted = CountLayers(model, trace);
  const double attention_layers = counted.attention, window_layers = counted.window;
  FIGURE(trace, full_layers, attention_layers - window_layers, (Note{"Layers with full attention"}), attention_layers,
         window_layers);
  const auto [core_flops, masked_flops] =
      model.compressed ? CompressedAttention(model, attended, full_layers, trace)
                       : AttentionOverSquares(model, attended, full_layers, window_layers, trace);
  trace.Input("modules", modules, "model.mtp_layers");
  trace.Input("vocabulary", vocabulary, "model.vocab");
  FIGURE(trace, layer_flops, 2 * kFlop * active_matrices + core_flops,
         (Note{"FLOPs of all layers per token, forward", "of the experts, those active for a token", kFlopsSource}),
         active_matrices, core_flops);
  FIGURE(
      trace, head_flops,
      2 * kFlop * hidden * vocabulary * (1 + modules) + modules * (layer_flops / layers + 4 * kFlop * hidden * hidden),
      (Note{"FLOPs of the LM head per token, forward", "MTP modules included", kFlopsSource}), hidden, vocabulary,
      modules, layer_flops, layers);
  return {core_flops, layer_flops, head_flops, masked_flops};
}

// FLOPs of the run's passes that recomputation does again, as inputs of the formula.
void BindRecompute(const TrainingRun& run, const RecomputeChoice& recompute, double share, double core_again,
                   Trace& trace) {
  const bool is_selective = run.recompute == Recompute::kSelective;
  trace.Input("full_share", recompute.full_share, InputOfFullShare(recompute));
  trace.Input("share", share, is_selective ? "training.framework.compute.selective_share" : "training.recompute");
  trace.Input("core_again", core_again, "training.recompute");
}

}  // namespace

StepFlops CountFlops(const Model& model, const TrainingRun& run, const RecomputeChoice& recompute, Trace& trace) {
  Trace::Scope scope(trace, "flops");
  const auto sequence = static_cast<double>(run.sequence), global_batch = static_cast<double>(run.global_batch);
  const auto [core_flops, layer_flops, head_flops, masked_flops] = CountTokenFlops(model, ShapeOf(run).attended, trace);
  const bool lora = run.trainable == Trainable::kLora;
  FIGURE(trace, step_tokens, global_batch * sequence, (Note{"Tokens of a step"}), global_batch, sequence);
  // Frozen weights need no weight gradient; the attention core's backward pass is twice its forward pass in any case.
  const double passes = lora ? 2 : 3;
  const double adapters = lora ? AdapterParameters(model, run.framework, trace) : 0;
  trace.Input("passes", passes, "training.trainable");
  if (!lora) trace.Input("adapters", adapters, "training.trainable");
  FIGURE(trace, model_flops,
         step_tokens * (passes * (layer_flops + head_flops - core_flops) + 3 * (core_flops + 2 * kFlop * adapters)),
         (Note{"Model FLOPs per step",
               "forward pass, input gradients, gradients of trained weights; attention over the full square",
               kFlopsSource, "training.model_flops_per_step"}),
         step_tokens, passes, layer_flops, head_flops, core_flops, adapters);
  const auto modules = static_cast<double>(model.mtp_layers), layers = static_cast<double>(model.layers);
  FIGURE(trace, module_share, modules / layers, (Note{"MTP modules over the layers"}), modules, layers);
  FIGURE(trace, model_flops_causal, model_flops - step_tokens * (3 + passes * module_share) * masked_flops,
         (Note{"Model FLOPs per step, causal attention",
               "attention cut by the causal mask, as FlashAttention and Llama 3 count it", "",
               "training.model_flops_per_step_causal"}),
         model_flops, step_tokens, passes, module_share, masked_flops);
  const double full_share = recompute.full_share, share = recompute.selective.share;
  const double core_again = recompute.selective.core && !run.flash_attention ? 3 : 0;
  if (trace.on()) BindRecompute(run, recompute, share, core_again, trace);
  FIGURE(trace, hardware_flops,
         model_flops + step_tokens * (full_share * layer_flops +
                                      (1 - full_share) * (share * layer_flops + core_again * core_flops)),
         (Note{"Hardware FLOPs per step",
               "recomputation included; selective: the published form counts the core's three passes again",
               kFlopsSource}),
         model_flops, step_tokens, full_share, layer_flops, share, core_again, core_flops);
  return {model_flops, model_flops_causal, hardware_flops};
}

}  // namespace slipstick
