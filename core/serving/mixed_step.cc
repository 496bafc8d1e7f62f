#include "core/serving/attention_time.h"
#include "core/serving/exchange.h"
#include "core/serving/layers_time.h"
#include "core/serving/step_time.h"

namespace slipstick {

namespace {

LayersCost MixedLayers(double sequences, double prompts, const MixedPass& pass, const Deployment& d, Parts& parts, Trace& trace) {
  const DecodePass& decode = pass.decode;
  const double decoded = sequences * decode.checked, tokens = pass.tokens;
  FIGURE(trace, rows, decoded + prompts * tokens, (Note{"Tokens of the step", "those decoded and those prefilled"}), decoded, prompts,
         tokens);
  const LayerCost one = TimeLayer(d, rows, Phase::kPrefill, parts, trace);
  const auto attention_of = [&](double window) {
    const Trace::Scope inner(trace, window > 0 ? "window_attention" : "attention");
    const Seconds reading = MeanDecodeAttention(d, sequences, decode.context, decode.grown, decode.checked, window, trace).time;
    const Seconds prefilling = PrefillAttention(d, prompts, tokens, pass.cached, window, trace).time;
    FIGURE(trace, both, reading + prefilling, (Note{"Attention of a layer", "of the decoded tokens, then of the prompts"}), reading,
           prefilling);
    return both;
  };
  MixingCost mixing;
  if (d.attention_layers > d.window_layers) mixing.attention = attention_of(0);
  if (d.window_layers > 0) mixing.window_attention = attention_of(static_cast<double>(d.model.window.tokens));
  mixing.context_exchange = ContextExchange(d, decoded, trace).time;
  if (d.linear_layers > 0) {
    const Trace::Scope inner(trace, "recurrence");
    mixing.recurrence = DecodeRecurrence(d, sequences, decode.checked, trace).time;
    mixing.recurrence += PrefillRecurrence(d, prompts, tokens, trace).time;
  }
  return AllLayers(d, one, mixing, trace);
}

}  // namespace

Seconds TimeOf(const MixedPass& pass, const Deployment& d, Trace& trace) {
  const Trace::Scope scope(trace, "mixed");
  const DecodePass& decode = pass.decode;
  Parts parts;
  const auto layers_of = [&](bool half, Parts& into, Trace& t) {
    const double share = half ? 0.5 : 1;
    return MixedLayers(share * decode.sequences, share * pass.prompts, pass, d, into, t);
  };
  const Seconds layers_time = TimeLayers(layers_of, d, Phase::kPrefill, Seconds{}, parts, trace).time;
  const Seconds head = TimeHead(d, decode.sequences * decode.checked + pass.prompts, true, parts, trace);
  const double own_sequences = decode.sequences;
  const Seconds engine_step = d.engine.overhead.step, engine_sequence = d.engine.overhead.per_sequence,
                prefill_step = d.engine.overhead.prefill_step;
  FIGURE(trace, device_time, layers_time + head, (Note{"Mixed step on the devices", "every layer's kernels in turn"}), layers_time, head);
  // Launches of the prefill delay its own first token only: the host runs ahead while other steps decode.
  const Seconds prefill_host = d.engine.overhead.prefill_step_host, host_sequence = d.engine.overhead.per_sequence_host;
  trace.Input("prefill_host", prefill_host, "serving.engine.prefill_host");
  FIGURE(trace, mixed_step,
         max(max(device_time, prefill_host) + engine_step + engine_sequence * own_sequences + prefill_step, host_sequence * own_sequences),
         (Note{"Mixed step", "the devices wait where the host takes longer to prepare it than they work; with the engine's costs"}),
         device_time, prefill_host, engine_step, engine_sequence, own_sequences, prefill_step, host_sequence);
  return mixed_step;
}

}  // namespace slipstick
