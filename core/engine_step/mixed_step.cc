// Steps that decode and prefill at once.
#include "core/base/figure.h"
#include "core/engine_step/attention_time.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/layers_time.h"
#include "core/engine_step/step_time.h"

namespace slipstick {
namespace {

// Token mixing of the `decoded` tokens (total) and of the prompts.
MixingCost MixingOf(const MixedPass& pass, Ratio decoded, const Deployment& deployment) {
  const PrefillPass& prompts = pass.prompts;
  MixingCost mixing;
  Seconds prefilled;  // time in the kind of attention added last
  const auto attention_of = [&](bool is_local) {
    const Seconds reading = MixedDecodeAttention(deployment, pass.decode, is_local);
    prefilled = PrefillAttention(deployment, prompts, is_local).time;
    return Figure("Attention per layer", reading + prefilled, "of the decoded tokens, then of the prompts");
  };
  if (deployment.layers.full > 0) mixing.attention = attention_of(false);
  if (deployment.layers.window > 0) mixing.window_attention = attention_of(true);
  mixing.context_exchange = ContextExchange(deployment, decoded).time;
  if (deployment.mapping.prefill_cp > 1)
    mixing.context_exchange = Figure("Context-parallel exchange per layer",
                                     mixing.context_exchange + PromptExchangeTime(deployment, prompts, prefilled).time,
                                     "of the decoded tokens and of the prompts");
  if (deployment.layers.recurrent > 0)
    mixing.recurrence =
        Figure("Recurrence per layer",
               DecodeRecurrence(deployment, pass.decode).time + PrefillRecurrence(deployment, prompts).time,
               "of the decoded tokens, then of the prompts");
  return mixing;
}

LayersCost MixedLayers(const MixedPass& pass, const Deployment& deployment, OperatorBreakdown& operators) {
  const Ratio decoded = Figure("Tokens decoded in the step", pass.decode.sequences * pass.decode.checked);
  const Ratio rows = Figure("Tokens of the step on one device",
                            decoded + pass.prompts.sequences * pass.prompts.tokens / deployment.mapping.prefill_cp,
                            "decoded and prefilled");
  const LayerCost one = TimeLayer(deployment, rows, Phase::kPrefill, operators);
  return AllLayers(deployment, one, MixingOf(pass, decoded, deployment));
}

MixedPass HalfOf(const MixedPass& pass) {
  MixedPass half = pass;
  half.decode.sequences = Figure("Half the sequences", 0.5 * pass.decode.sequences);
  half.prompts.sequences = Figure("Half the prompts", 0.5 * pass.prompts.sequences);
  return half;
}

// A plain command adds as much time to a mixed step as to a decode-only step; its prompts take no longer.
Seconds AsRun(Seconds tuned_step, const MixedPass& pass, const Deployment& deployment) {
  const bool takes_no_longer = deployment.step_factor == Ratio(1) && deployment.tape() == nullptr;
  if (deployment.engine.plain || takes_no_longer) return tuned_step;
  const Seconds decode = CompositionOf(deployment.engine).decode(pass.decode, deployment).time;
  return Figure("Mixed step as the engine is run", tuned_step + decode * (deployment.step_factor - 1),
                "as much longer than that of a tuned run as a step that only decodes");
}

}  // namespace

Seconds TimeOf(const MixedPass& pass, const Deployment& deployment) {
  OperatorBreakdown operators;
  const auto layers_of = [&](bool half, OperatorBreakdown& into) {
    return MixedLayers(half ? HalfOf(pass) : pass, deployment, into);
  };
  const Seconds layers = TimeLayers(layers_of, deployment, Phase::kPrefill, Seconds{}, operators).time;
  const Ratio sequences = pass.decode.sequences;
  const Ratio last_rows = Figure("Tokens of the LM head", sequences * pass.decode.checked + pass.prompts.sequences,
                                 "decoded, and the last of each prompt");
  Seconds head = TimeHead(deployment, last_rows, true, operators);
  if (deployment.load.images)
    head = WithImages(deployment, pass.prompts.sequences, pass.prompts.tokens, head, operators);
  const LaunchOverheads& launch = deployment.launch;
  const EngineOverhead& overhead = deployment.engine.overhead;
  const Seconds device_time = Figure("Mixed step on the devices", layers + head, "kernel after kernel");
  // Launching a prefill delays only its own first token: the host runs ahead while other steps decode.
  const Seconds step = Figure("Mixed step",
                              max(max(device_time, overhead.prefill_step_host) + launch.step +
                                      launch.per_sequence * sequences + overhead.prefill_step,
                                  launch.per_sequence_host * sequences),
                              "device time, or host preparation if longer, with the engine's overheads");
  return AsRun(step, pass, deployment);
}

}  // namespace slipstick
