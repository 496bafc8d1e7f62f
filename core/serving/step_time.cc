#include "core/serving/step_time.h"

#include "core/serving/attention_time.h"
#include "core/serving/exchange.h"
#include "core/serving/layer_split.h"
#include "core/serving/layer_time.h"
#include "core/serving/whole_layer.h"

namespace slipstick {
namespace {

KernelTime HostTime(Seconds time) {
  KernelTime kernel;
  kernel.time = time;
  kernel.bound = Bound::kLatency;
  return kernel;
}

Seconds FullAttention(const KernelTime& kernel, Trace& trace) {
  const Seconds time = kernel.time;
  FIGURE(trace, attention, time, (Note{"Attention of a layer", "over the whole context"}), time);
  return attention;
}
Seconds WindowAttention(const KernelTime& kernel, Trace& trace) {
  const Seconds time = kernel.time;
  FIGURE(trace, window_attention, time, (Note{"Attention of a layer with a window", ""}), time);
  return window_attention;
}

}  // namespace

Seconds Parts::TimeOf() const {
  Seconds sum;
  for (const StepPart& part : *this) sum += part.count * part.kernel.time;
  return sum;
}

Bound Parts::BoundOf() const {
  std::array<Seconds, 4> by{};
  for (const StepPart& part : *this) by[static_cast<std::size_t>(part.kernel.bound)] += part.count * part.kernel.time;
  std::size_t most = 0;
  for (std::size_t i = 1; i < by.size(); ++i) {
    if (by[i] > by[most]) most = i;
  }
  return static_cast<Bound>(most);
}

Flops Parts::FlopsOf() const {
  Flops sum;
  for (const StepPart& part : *this) sum += part.count * part.kernel.flops;
  return sum;
}

Bytes Parts::BytesOf() const {
  Bytes sum;
  for (const StepPart& part : *this) sum += part.count * part.kernel.bytes;
  return sum;
}

PassCost TimeOf(const PrefillPass& pass, const Deployment& d, Trace& trace) {
  const Trace::Scope scope(trace, "prefill");
  if (d.engine.composition == Composition::kWholeLayer) return WholeLayerPrefill(pass, d, trace);
  if (d.engine.composition == Composition::kLayerSplit) return LayerSplitPrefill(pass, d, trace);
  PassCost step;
  const double rows = pass.sequences * pass.tokens;
  const double layers = d.layers, window_layers = d.window_layers, full_layers = d.attention_layers - window_layers;
  const double moe_layers = d.moe_layers, dense_layers = d.dense_layers, attention_layers = d.attention_layers,
               linear_layers = d.linear_layers;
  const auto window = static_cast<double>(d.model.sliding_window);
  const LayerCost one = TimeLayer(d, rows, Phase::kPrefill, step.parts, trace);
  Seconds attention, window_attention;
  if (full_layers > 0) {
    const Trace::Scope inner(trace, "attention");
    const KernelTime kernel = PrefillAttention(d, pass.sequences, pass.tokens, pass.cached, 0, trace);
    step.parts.Add("attention", kernel, full_layers);
    attention = FullAttention(kernel, trace);
  }
  if (window_layers > 0) {
    const Trace::Scope inner(trace, "window_attention");
    const KernelTime kernel = PrefillAttention(d, pass.sequences, pass.tokens, pass.cached, window, trace);
    step.parts.Add("attention in a window", kernel, window_layers);
    window_attention = WindowAttention(kernel, trace);
  }
  Seconds recurrence;
  if (linear_layers > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const KernelTime kernel = PrefillRecurrence(d, pass.sequences, pass.tokens, trace);
    step.parts.Add("recurrence", kernel, linear_layers);
    recurrence = kernel.time;
  }
  const Seconds head = TimeHead(d, pass.sequences, true, step.parts, trace);
  const KernelTime hop = StageHop(d, rows, trace);
  const double hops = d.pp - 1;
  step.parts.Add("next stage", hop, hops);
  const Seconds hop_time = hop.time;
  const Seconds projections = one.projections, recurrent = one.recurrent, mlp = one.mlp, experts = one.experts, elements = one.elements,
                reductions = one.reductions, gaps = one.gaps;
  FIGURE(trace, device_time,
         layers * (elements + reductions + gaps) + attention_layers * projections + linear_layers * (recurrent + recurrence) +
             dense_layers * mlp + moe_layers * experts + full_layers * attention + window_layers * window_attention + head +
             hops * hop_time,
         (Note{"Prefill on the devices", "every layer's kernels in turn"}), layers, elements, reductions, gaps, attention_layers,
         projections, linear_layers, recurrent, recurrence, dense_layers, mlp, moe_layers, experts, full_layers, attention, window_layers,
         window_attention, head, hops, hop_time);
  const Seconds operation_launch = d.operation_launch, prefill_host = d.engine.prefill_host;
  const double operations = one.operations;
  if (d.graphs) trace.Input("operation_launch", operation_launch, "serving.engine.prefill_launch");
  trace.Input("prefill_host", prefill_host, "serving.engine.prefill_host");
  FIGURE(trace, pass_time, max(device_time, prefill_host, layers * operations * operation_launch),
         (Note{"Prefill pass", "the devices wait where the host prepares and launches more slowly than they work"}), device_time,
         prefill_host, layers, operations, operation_launch);
  if (pass_time > device_time) step.parts.Add("waiting for launches", HostTime(pass_time - device_time), 1);
  step.time = pass_time;
  // Stages work on other prompts meanwhile: the slowest sets the pace.
  const Seconds stage = (device_time - head - hops * hop_time) * (d.stage_layers / layers) + head + (d.pp > 1 ? hop_time : Seconds{});
  step.occupancy = max(stage, prefill_host, d.stage_layers * operations * operation_launch);
  return step;
}

PassCost TimeOf(const DecodePass& pass, const Deployment& d, Trace& trace) {
  const Trace::Scope scope(trace, "decode");
  if (d.engine.composition == Composition::kWholeLayer) return WholeLayerDecode(pass, d, trace);
  if (d.engine.composition == Composition::kLayerSplit) return LayerSplitDecode(pass, d, trace);
  PassCost step;
  // A pipeline runs as many groups of the sequences as it has stages, each group in another stage.
  const double groups = min(d.pp, max(1.0, pass.sequences));
  const double sequences = pass.sequences / groups;
  const double rows = sequences * pass.checked;
  const double layers = d.layers, window_layers = d.window_layers, full_layers = d.attention_layers - window_layers;
  const double moe_layers = d.moe_layers, dense_layers = d.dense_layers, attention_layers = d.attention_layers,
               linear_layers = d.linear_layers;
  const auto window = static_cast<double>(d.model.sliding_window);
  const LayerCost one = TimeLayer(d, rows, Phase::kDecode, step.parts, trace);
  Seconds attention, window_attention;
  if (full_layers > 0) {
    const Trace::Scope inner(trace, "attention");
    const KernelTime kernel = MeanDecodeAttention(d, sequences, pass.context, pass.grown, pass.checked, 0, trace);
    step.parts.Add("attention", kernel, full_layers);
    attention = FullAttention(kernel, trace);
  }
  if (window_layers > 0) {
    const Trace::Scope inner(trace, "window_attention");
    const KernelTime kernel = MeanDecodeAttention(d, sequences, pass.context, pass.grown, pass.checked, window, trace);
    step.parts.Add("attention in a window", kernel, window_layers);
    window_attention = WindowAttention(kernel, trace);
  }
  const KernelTime exchange = ContextExchange(d, rows, trace);
  const Seconds context_exchange = exchange.time;
  step.parts.Add("parts of contexts", exchange, attention_layers);
  Seconds recurrence;
  if (linear_layers > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const KernelTime kernel = DecodeRecurrence(d, sequences, pass.checked, trace);
    step.parts.Add("recurrence", kernel, linear_layers);
    recurrence = kernel.time;
  }
  const Seconds head = TimeHead(d, rows, !d.graphs, step.parts, trace);
  const KernelTime hop = StageHop(d, rows, trace);
  const double hops = d.pp - 1;
  step.parts.Add("next stage", hop, hops);
  const Seconds hop_time = hop.time;
  const Seconds engine_step = d.engine.step, engine_sequence = d.engine.sequence;
  // Every attention group has a scheduler of its own, which works beside the others'.
  const double own_sequences = pass.sequences;
  trace.Input("engine_step", engine_step, "serving.engine.step");
  trace.Input("engine_sequence", engine_sequence, "serving.engine.sequence");
  step.parts.Add("engine, a step", HostTime(engine_step), 1);
  step.parts.Add("engine, a sequence", HostTime(engine_sequence), own_sequences);
  const Seconds projections = one.projections, recurrent = one.recurrent, mlp = one.mlp, experts = one.experts, elements = one.elements,
                reductions = one.reductions, gaps = one.gaps;
  // Uneven stages: with every stage busy the fullest one sets the pace.
  const double stretch = 1 + (d.stage_layers * d.pp / layers - 1) * (groups - 1) / max(1.0, d.pp - 1);
  FIGURE(trace, layers_time,
         layers * (elements + reductions + gaps) + attention_layers * (projections + context_exchange) +
             linear_layers * (recurrent + recurrence) + dense_layers * mlp + moe_layers * experts + full_layers * attention +
             window_layers * window_attention,
         (Note{"All layers", "their kernels in turn"}), layers, elements, reductions, gaps, attention_layers, projections, context_exchange,
         linear_layers, recurrent, recurrence, dense_layers, mlp, moe_layers, experts, full_layers, attention, window_layers,
         window_attention);
  const Seconds host_sequence = d.engine.host_sequence;
  trace.Input("host_sequence", host_sequence, "serving.engine.host_sequence");
  if (stretch > 1) step.parts.Add("waiting for the fullest stage", HostTime((stretch - 1) * layers_time), 1);
  FIGURE(trace, device_step, stretch * layers_time + head + hops * hop_time + engine_step + engine_sequence * own_sequences,
         (Note{"Decode step of the devices", "layers, head, and what they wait for the engine"}), stretch, layers_time, head, hops,
         hop_time, engine_step, engine_sequence, own_sequences);
  FIGURE(trace, step_time, max(device_step, host_sequence * own_sequences),
         (Note{"Decode step", "the devices', or the host's work on every sequence beside it"}), device_step, host_sequence, own_sequences);
  if (step_time > device_step) step.parts.Add("waiting for the host", HostTime(step_time - device_step), 1);
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

}  // namespace slipstick
