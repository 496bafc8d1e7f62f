#include "core/training_stage/flops.h"

#include "core/base/figure.h"
#include "core/training_stage/layer_work.h"
#include "core/training_stage/shape.h"
#include "core/workload/layer_counts.h"

namespace slipstick {
namespace {

constexpr std::string_view kFlopsSource =
    "Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022, appendix A";

// Calls visit(products, layers) for every kind of mixer and of feed-forward part.
template <class Visit>
void VisitProducts(const Model& model, const Visit& visit) {
  const LayerCounts layers = CountLayers(model);
  const LayerWidths widths = WholeWidths(model);
  const auto add_mixer = [&](Mixer mixer, Ratio count) {
    if (count > 0) visit(MixerProducts(model, mixer, widths), count);
  };
  const auto add_mlp = [&](FeedForward feed_forward, const LayerWidths& own, Ratio count) {
    if (count > 0) visit(FeedForwardProducts(model, feed_forward, own), count);
  };
  if (model.SharesKv()) {
    const auto [own_full, own_window, shared_full] = SplitBySharedKv(layers);
    add_mixer(Mixer::kFullAttention, own_full);
    add_mixer(Mixer::kWindow, own_window);
    add_mixer(Mixer::kSharedKv, shared_full);
    add_mixer(Mixer::kSharedKvWindow, layers.shared_kv_window);
    add_mlp(FeedForward::kDense, SharedKvWidths(widths), layers.shared_kv);
  } else {
    add_mixer(Mixer::kFullAttention, layers.attention - layers.window);
    add_mixer(Mixer::kWindow, layers.window);
  }
  add_mixer(Mixer::kRecurrence, layers.recurrent);
  add_mlp(FeedForward::kDense, widths, OwnDenseLayers(layers));
  add_mlp(FeedForward::kExperts, widths, layers.moe);
}

}  // namespace

Flops NewtonSchulzFlops(const Model& model) {
  constexpr int kIterations = 5;
  Flops flops;
  VisitProducts(model, [&](const MatrixProducts& products, Ratio layers) {
    for (const MatrixProduct& product : products) {
      const bool is_expert = TraitsOf(product.id).role == ProductRole::kExperts;
      const Ratio matrices = is_expert ? layers * Ratio(model.moe->experts) : layers;
      const Ratio m = min(product.inputs, product.outputs), n = max(product.inputs, product.outputs);
      // X·Xᵀ, its square, and the product of a polynomial of it with X
      flops += matrices * kIterations * (4 * m * m * n + 2 * m * m * m) * kFlop;
    }
  });
  return Figure("FLOPs of the Newton-Schulz iterations", flops);
}

Ratio AdapterParameters(const Model& model, const Framework& framework) {
  Ratio adapters = 0;
  VisitProducts(model, [&](const MatrixProducts& products, Ratio layers) {
    adapters += AdapterElements(products, framework) * layers;
  });
  return Figure("Weights of all low-rank adapters", adapters);
}

namespace {

// Multiply-adds per pair of tokens, over all heads.
Ratio HeadColumns(const Model& model, Mixer mixer) {
  const MixerCore core = CoreOf(model, mixer, WholeWidths(model));
  return Figure("Multiply-adds per pair of tokens", core.heads * (core.query_width + core.value_width), "all heads");
}

// Multiply-adds per token of the recurrences.
Ratio RecurrentPairs(const LinearAttention& linear, Ratio attended) {
  const Ratio head_pairs = Figure("Multiply-adds per token and head of a recurrence", RecurrencePairs(linear, attended),
                                  "in a chunk of 128 tokens, and with the state", "Dao and Gu 2024");
  return Figure("Multiply-adds per token of the recurrences", Ratio(linear.layers) * Ratio(linear.heads) * head_pairs);
}

// FLOPs of attention and recurrences, per token, forward; `masked`: the part that the causal mask hides.
struct AttentionFlops {
  Flops core, masked;
};

constexpr std::string_view kMasked = "Attention FLOPs per token that the causal mask hides, forward";

// Attention to a compressed history: its keys replace the context.
AttentionFlops CompressedAttention(const Model& model, Ratio attended, Ratio attention_layers) {
  const Ratio head_columns = HeadColumns(model, Mixer::kFullAttention);
  const CompressedKeys keys = KeysOfCompressed(model, attended);
  return {Figure("Attention FLOPs per token, forward", 2 * kFlop * attention_layers * head_columns * keys.all,
                 "with the window, the entries and the indexer's scores at the end of a document"),
          Figure(kMasked, 2 * kFlop * attention_layers * head_columns * (keys.all - keys.causal))};
}

AttentionFlops AttentionOverSquares(const Model& model, Ratio attended, Ratio full_layers, Ratio window_layers) {
  const Ratio head_columns = HeadColumns(model, Mixer::kFullAttention);
  const Ratio window_head_columns = model.HasWindows() ? HeadColumns(model, Mixer::kWindow) : head_columns;
  const Ratio full_columns = head_columns * full_layers, window_columns = window_head_columns * window_layers;
  const Ratio seen = Figure("Tokens that a layer with a window attends to", min(attended, Ratio(model.window.tokens)));
  Ratio pairs = full_columns * attended + window_columns * seen;
  if (model.linear_attention) pairs += RecurrentPairs(*model.linear_attention, attended);
  return {Figure("Attention FLOPs per token, forward", 2 * kFlop * pairs,
                 "QK and PV products over the full square, without the causal mask; and the recurrences", kFlopsSource),
          Figure(kMasked, 2 * kFlop * (full_columns * (attended / 2) + window_columns * (seen * seen / (2 * attended))),
                 "half of the square; with a window of w tokens, the triangle at the start of a document")};
}

// FLOPs per token, forward.
struct TokenFlops {
  Flops core, layers, head, masked;
};
TokenFlops CountTokenFlops(const Model& model, Ratio attended, Ratio modules) {
  const Ratio hidden = model.hidden, vocabulary = model.vocab, layers = model.layers;
  const LayerCounts counted = CountLayers(model);
  const Ratio full_layers = counted.attention - counted.window;
  const auto [core, masked] = model.compressed ? CompressedAttention(model, attended, full_layers)
                                               : AttentionOverSquares(model, attended, full_layers, counted.window);
  const Flops of_layers =
      Figure("FLOPs of all layers per token, forward", 2 * kFlop * CountParameters(model).active_matrices + core,
             "of the experts, those active for a token", kFlopsSource);
  const Flops of_head = Figure(
      "FLOPs of the LM head per token, forward",
      2 * kFlop * hidden * vocabulary * (1 + modules) + modules * (of_layers / layers + 4 * kFlop * hidden * hidden),
      "MTP modules included", kFlopsSource);
  return {core, of_layers, of_head, masked};
}

}  // namespace

StepFlops CountFlops(const Model& model, const TrainingRun& run, const RecomputeChoice& recompute) {
  const Ratio modules = MtpModules(model, run);
  const auto [core, layers, head, masked] = CountTokenFlops(model, ShapeOf(run).attended, modules);
  const bool lora = run.trainable == Trainable::kLora;
  const Ratio tokens = Figure("Tokens of a step", Ratio(run.global_batch) * Ratio(run.sequence));
  // Frozen weights need no weight gradient; the attention core's backward pass has twice the FLOPs of its forward pass.
  const double passes = lora ? 2 : 3;
  const Ratio adapters = lora ? AdapterParameters(model, run.framework) : Ratio(0);
  StepFlops step;
  step.model = Figure(
      "Model FLOPs per step", tokens * (passes * (layers + head - core) + 3 * (core + 2 * kFlop * adapters)),
      "forward pass, input gradients, gradients of trained weights; attention over the full square", kFlopsSource);
  const Ratio module_share = modules / Ratio(model.layers);
  step.model_causal =
      Figure("Model FLOPs per step, causal attention", step.model - tokens * (3 + passes * module_share) * masked,
             "attention cut by the causal mask, as FlashAttention and Llama 3 count it");
  const Ratio full_share = recompute.full_share, share = recompute.selective.share;
  const double core_again = recompute.selective.core > 0 && !run.flash_attention ? 3 : 0;
  step.hardware = Figure(
      "Hardware FLOPs per step",
      step.model + tokens * (full_share * layers + (1 - full_share) * (share * layers + core_again * core)),
      "recomputation included; selective: the published form counts the core's three passes again", kFlopsSource);
  return step;
}

}  // namespace slipstick
