#include "core/training/flops.h"

#include "core/training/layer_work.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2022, appendix A";

}  // namespace

double AdapterParameters(const Model& model, double rank) {
  TrainingRun run;
  run.trainable = Trainable::kLora;
  run.framework.lora_rank = static_cast<Count>(rank);
  run.mapping.dp = 1;
  return static_cast<double>(model.layers) * WorkOf(model, run, ShapeOf(run), {}).adapter_parameters;
}

StepFlops CountFlops(const Model& model, const TrainingRun& run, const RecomputeChoice& recompute, Trace& trace) {
  Trace::Scope scope(trace, "flops");
  const ParameterCount count = CountParameters(model);
  const auto hidden = static_cast<double>(model.hidden), vocabulary = static_cast<double>(model.vocab);
  const auto sequence = static_cast<double>(run.sequence), layers = static_cast<double>(model.layers);
  const auto window_layers = static_cast<double>(model.WindowLayers()),
             full_layers = static_cast<double>(model.AttentionLayers()) - window_layers;
  const LayerWidths whole = WholeWidths(model);
  const double recurrent = model.linear_attention ? static_cast<double>(model.LinearAttentionLayers()) * whole.recurrent_heads *
                                                        RecurrencePairs(*model.linear_attention, sequence)
                                                  : 0;
  const double seen = min(sequence, static_cast<double>(model.window.tokens));
  const MixerCore core = CoreOf(model, Mixer::kFullAttention, whole);
  const double head_columns = core.heads * (core.query_width + core.value_width);
  const double tokens = static_cast<double>(run.global_batch) * sequence;
  const double matrices = count.active_matrices;
  const auto modules = static_cast<double>(model.mtp_layers);
  const Flops pair = 2 * kFlop;
  FIGURE(trace, core_flops, pair * (head_columns * (full_layers * sequence + window_layers * seen) + recurrent),
         (Note{"Attention FLOPs per token, forward", "QK and PV products over the full square, without the causal mask", kSource}), pair,
         head_columns, full_layers, sequence, window_layers, seen, recurrent);
  FIGURE(trace, layer_flops, pair * matrices + core_flops,
         (Note{"FLOPs of all layers per token, forward", "of the experts, those active for a token", kSource}), pair, matrices, core_flops);
  FIGURE(trace, head_flops, pair * hidden * vocabulary * (1 + modules) + modules * (layer_flops / layers + 2 * pair * hidden * hidden),
         (Note{"FLOPs of the LM head per token, forward", "MTP modules included", kSource}), pair, hidden, vocabulary, modules, layer_flops,
         layers);
  // Frozen weights need no weight gradient; the attention core's backward pass is twice its forward pass in any case.
  const double passes = run.trainable == Trainable::kLora ? 2 : 3;
  const double adapters = run.trainable == Trainable::kLora ? AdapterParameters(model, static_cast<double>(run.framework.lora_rank)) : 0;
  FIGURE(trace, model_flops, tokens * (passes * (layer_flops + head_flops - core_flops) + 3 * (core_flops + pair * adapters)),
         (Note{"Model FLOPs per step", "forward pass, input gradients, gradients of trained weights; attention over the full square",
               kSource, "training.model_flops_per_step"}),
         tokens, passes, layer_flops, head_flops, core_flops, pair, adapters);
  const double module_share = modules / layers;
  FIGURE(trace, masked_flops, pair * head_columns * (full_layers * (sequence / 2) + window_layers * (seen * seen / (2 * sequence))),
         (Note{"Attention FLOPs per token that the causal mask hides, forward",
               "half of the square; with a window of w tokens, the triangle at the start of the sequence"}),
         pair, head_columns, full_layers, sequence, window_layers, seen);
  FIGURE(trace, model_flops_causal, model_flops - tokens * (3 + passes * module_share) * masked_flops,
         (Note{"Model FLOPs per step, causal attention", "attention cut by the causal mask, as FlashAttention and Llama 3 count it", "",
               "training.model_flops_per_step_causal"}),
         model_flops, tokens, passes, module_share, masked_flops);
  const double full_share = recompute.full_share, share = recompute.selective.share;
  const double core_again = recompute.selective.core && !run.flash_attention ? 3 : 0;
  FIGURE(trace, hardware_flops,
         model_flops + tokens * (full_share * layer_flops + (1 - full_share) * (share * layer_flops + core_again * core_flops)),
         (Note{"Hardware FLOPs per step", "recomputation included; selective: the published form counts the core's three passes again",
               kSource}),
         model_flops, tokens, full_share, layer_flops, share, core_again, core_flops);
  return {model_flops, model_flops_causal, hardware_flops};
}

}  // namespace slipstick
