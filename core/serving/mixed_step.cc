#include "core/serving/attention_time.h"
#include "core/serving/exchange.h"
#include "core/serving/layer_time.h"
#include "core/serving/step_time.h"

namespace slipstick {

Seconds TimeOf(const MixedPass& pass, const Deployment& d, Trace& trace) {
  const Trace::Scope scope(trace, "mixed");
  const DecodePass& decode = pass.decode;
  const double decoded = decode.sequences * decode.checked, prompts = pass.prompts, tokens = pass.tokens;
  FIGURE(trace, rows, decoded + prompts * tokens, (Note{"Tokens of the step", "those decoded and those prefilled"}), decoded, prompts,
         tokens);
  Parts parts;
  const LayerCost one = TimeLayer(d, rows, Phase::kPrefill, parts, trace);
  const double layers = d.layers, window_layers = d.window_layers, full_layers = d.attention_layers - window_layers;
  const double moe_layers = d.moe_layers, dense_layers = d.dense_layers, attention_layers = d.attention_layers,
               linear_layers = d.linear_layers;
  const auto attention_of = [&](double window) {
    const Trace::Scope inner(trace, window > 0 ? "window_attention" : "attention");
    const Seconds reading = MeanDecodeAttention(d, decode.sequences, decode.context, decode.grown, decode.checked, window, trace).time;
    const Seconds prefilling = PrefillAttention(d, prompts, tokens, pass.cached, window, trace).time;
    FIGURE(trace, both, reading + prefilling, (Note{"Attention of a layer", "of the decoded tokens, then of the prompts"}), reading,
           prefilling);
    return both;
  };
  Seconds attention, window_attention;
  if (full_layers > 0) attention = attention_of(0);
  if (window_layers > 0) window_attention = attention_of(static_cast<double>(d.model.sliding_window));
  const Seconds context_exchange = ContextExchange(d, decoded, trace).time;
  Seconds recurrence;
  if (linear_layers > 0) {
    const Trace::Scope inner(trace, "recurrence");
    recurrence = DecodeRecurrence(d, decode.sequences, decode.checked, trace).time + PrefillRecurrence(d, prompts, tokens, trace).time;
  }
  const Seconds head = TimeHead(d, decoded + prompts, true, parts, trace);
  const Seconds projections = one.projections, recurrent = one.recurrent, mlp = one.mlp, experts = one.experts, elements = one.elements,
                reductions = one.reductions, gaps = one.gaps;
  const double own_sequences = decode.sequences;
  const Seconds engine_step = d.engine.step, engine_sequence = d.engine.sequence, prefill_step = d.engine.prefill_step;
  FIGURE(trace, device_time,
         layers * (elements + reductions + gaps) + attention_layers * (projections + context_exchange) +
             linear_layers * (recurrent + recurrence) + dense_layers * mlp + moe_layers * experts + full_layers * attention +
             window_layers * window_attention + head,
         (Note{"Mixed step on the devices", "every layer's kernels in turn"}), layers, elements, reductions, gaps, attention_layers,
         projections, context_exchange, linear_layers, recurrent, recurrence, dense_layers, mlp, moe_layers, experts, full_layers,
         attention, window_layers, window_attention, head);
  // Launches of the prefill delay its own first token only: the host runs ahead while other steps decode.
  const Seconds prefill_host = d.engine.prefill_host, host_sequence = d.engine.host_sequence;
  trace.Input("prefill_host", prefill_host, "serving.engine.prefill_host");
  FIGURE(trace, mixed_step,
         max(max(device_time, prefill_host) + engine_step + engine_sequence * own_sequences + prefill_step, host_sequence * own_sequences),
         (Note{"Mixed step", "the devices wait where the host takes longer to prepare it than they work; with the engine's costs"}),
         device_time, prefill_host, engine_step, engine_sequence, own_sequences, prefill_step, host_sequence);
  return mixed_step;
}

}  // namespace slipstick
