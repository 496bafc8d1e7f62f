#include "core/engine_step/mixed_step.h"

#include "core/engine_step/as_run.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/layers_time.h"
#include "core/engine_step/prompt_exchange.h"

namespace slipstick {

namespace {

LayersCost MixedLayers(double sequences, double prompts, const MixedPass& pass, const Deployment& deployment,
                       OperatorBreakdown& operators, Trace& trace) {
  const DecodePass& decode = pass.decode;
  const double checked = decode.checked, tokens = pass.tokens;
  FIGURE(trace, decoded, sequences * checked, (Note{"Tokens decoded in the step", ""}), sequences, checked);
  const double prefill_cp = deployment.mapping.prefill_cp;
  FIGURE(trace, rows, decoded + prompts * tokens / prefill_cp,
         (Note{"Tokens of the step on one device", "decoded and prefilled"}), decoded, prompts, tokens, prefill_cp);
  const LayerCost one = TimeLayer(deployment, rows, Phase::kPrefill, operators, trace);
  Seconds prefilled;
  const auto attention_of = [&](double window) {
    const Trace::Scope inner(trace, window > 0 ? "window_attention" : "attention");
    const Seconds reading =
        MeanDecodeAttention(deployment, sequences, decode.context, decode.grown, decode.checked, window, trace).time;
    trace.Alias("reading", reading, decode.grown > 0 ? "mean_attention" : "time");
    trace.Alias("sequences", prompts, "prompts");
    const Seconds prefilling = PrefillAttention(deployment, prompts, tokens, pass.cached, window, trace).time;
    trace.Alias("prefilling", prefilling, "time");
    prefilled = prefilling;
    trace.Alias("prefilled", prefilled, "prefilling");
    FIGURE(trace, both, reading + prefilling,
           (Note{"Attention per layer", "of the decoded tokens, then of the prompts"}), reading, prefilling);
    return both;
  };
  MixingCost mixing;
  if (deployment.layers.full > 0) mixing.attention = attention_of(0);
  trace.Alias("attention", mixing.attention, "both");
  if (deployment.layers.window > 0) {
    mixing.window_attention = attention_of(static_cast<double>(deployment.model.window.tokens));
    trace.Alias("window_attention", mixing.window_attention, "both");
  }
  const Seconds decoding_exchange = ContextExchange(deployment, decoded, trace).time;
  mixing.context_exchange = decoding_exchange;
  if (deployment.mapping.prefill_cp > 1) {
    trace.Alias("decoding_exchange", decoding_exchange, "context_exchange");
    trace.Alias("sequences", prompts, "prompts");
    const Seconds prompt_exchange =
        PromptExchangeTime(deployment, prompts, tokens, pass.cached, prefilled, "prefilled", trace).time;
    FIGURE(trace, context_exchange, decoding_exchange + prompt_exchange,
           (Note{"Context-parallel exchange per layer", "of the decoded tokens and of the prompts"}), decoding_exchange,
           prompt_exchange);
    mixing.context_exchange = context_exchange;
  }
  if (deployment.layers.recurrent > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const Seconds reading = DecodeRecurrence(deployment, sequences, decode.checked, trace).time;
    trace.Alias("reading", reading, "recurrence");
    trace.Alias("sequences", prompts, "prompts");
    const Seconds prefilling = PrefillRecurrence(deployment, prompts, tokens, trace).time;
    trace.Alias("prefilling", prefilling, "recurrence");
    FIGURE(trace, recurrence, reading + prefilling,
           (Note{"Recurrence per layer", "of the decoded tokens, then of the prompts"}), reading, prefilling);
    mixing.recurrence = recurrence;
  }
  return AllLayers(deployment, one, mixing, trace);
}

}  // namespace

Seconds TimeOf(const MixedPass& pass, const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "mixed");
  const DecodePass& decode = pass.decode;
  OperatorBreakdown operators;
  const auto layers_of = [&](bool half, OperatorBreakdown& into, Trace& t) {
    if (!half) return MixedLayers(decode.sequences, pass.prompts, pass, deployment, into, t);
    const double sequences = decode.sequences, prompts = pass.prompts;
    FIGURE(t, half_sequences, 0.5 * sequences, (Note{"Half the sequences", ""}), sequences);
    FIGURE(t, half_prompts, 0.5 * prompts, (Note{"Half the prompts", ""}), prompts);
    t.Alias("sequences", half_sequences, "half_sequences");
    t.Alias("prompts", half_prompts, "half_prompts");
    return MixedLayers(half_sequences, half_prompts, pass, deployment, into, t);
  };
  const Seconds layers_time = TimeLayers(layers_of, deployment, Phase::kPrefill, Seconds{}, operators, trace).time;
  const double own_sequences = decode.sequences, checked = decode.checked, prompts = pass.prompts;
  trace.Alias("own_sequences", own_sequences, "sequences");
  FIGURE(trace, last_rows, own_sequences * checked + prompts,
         (Note{"Tokens of the LM head", "decoded, and the last of each prompt"}), own_sequences, checked, prompts);
  trace.Alias("rows", last_rows, "last_rows");
  Seconds head = TimeHead(deployment, last_rows, true, operators, trace);
  if (deployment.load.images) head = WithImages(deployment, prompts, "prompts", pass.tokens, head, operators, trace);
  const Seconds engine_step = deployment.launch.step, engine_sequence = deployment.launch.per_sequence,
                prefill_step = deployment.engine.overhead.prefill_step;
  FIGURE(trace, device_time, layers_time + head, (Note{"Mixed step on the devices", "kernel after kernel"}),
         layers_time, head);
  // Launching a prefill delays only its own first token: the host runs ahead while other steps decode.
  const Seconds prefill_host = deployment.engine.overhead.prefill_step_host,
                host_sequence = deployment.engine.overhead.per_sequence_host;
  FIGURE(trace, mixed_step,
         max(max(device_time, prefill_host) + engine_step + engine_sequence * own_sequences + prefill_step,
             host_sequence * own_sequences),
         (Note{"Mixed step", "device time, or host preparation if longer, with the engine's overheads"}), device_time,
         prefill_host, engine_step, engine_sequence, own_sequences, prefill_step, host_sequence);
  return StepAsRun(mixed_step, "mixed_step", deployment.engine, deployment.step_factor, trace);
}

}  // namespace slipstick
