#include "core/serving/step_time.h"

#include "core/serving/attention_time.h"
#include "core/serving/exchange.h"
#include "core/serving/layer_split.h"
#include "core/serving/layers_time.h"
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

// Half the prompts, or each half of one: the mean of the two, which attention is linear in.
PrefillPass HalfOf(const PrefillPass& pass) {
  if (pass.sequences >= 2) return {pass.sequences / 2, pass.tokens, pass.cached};
  return {pass.sequences, pass.tokens / 2, pass.cached + pass.tokens / 4};
}

LayersCost PrefillLayers(const PrefillPass& pass, const Deployment& d, Parts& parts, Trace& trace) {
  const auto window = static_cast<double>(d.model.window.tokens);
  const LayerCost one = TimeLayer(d, pass.sequences * pass.tokens, Phase::kPrefill, parts, trace);
  MixingCost mixing;
  if (d.attention_layers > d.window_layers) {
    const Trace::Scope inner(trace, "attention");
    const KernelTime kernel = PrefillAttention(d, pass.sequences, pass.tokens, pass.cached, 0, trace);
    parts.Add("attention", kernel, d.attention_layers - d.window_layers);
    mixing.attention = FullAttention(kernel, trace);
  }
  if (d.window_layers > 0) {
    const Trace::Scope inner(trace, "window_attention");
    const KernelTime kernel = PrefillAttention(d, pass.sequences, pass.tokens, pass.cached, window, trace);
    parts.Add("attention in a window", kernel, d.window_layers);
    mixing.window_attention = WindowAttention(kernel, trace);
  }
  if (d.linear_layers > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const KernelTime kernel = PrefillRecurrence(d, pass.sequences, pass.tokens, trace);
    parts.Add("recurrence", kernel, d.linear_layers);
    mixing.recurrence = kernel.time;
  }
  return AllLayers(d, one, mixing, trace);
}

LayersCost DecodeLayers(double sequences, const DecodePass& pass, const Deployment& d, Parts& parts, Trace& trace) {
  const double rows = sequences * pass.checked;
  const auto window = static_cast<double>(d.model.window.tokens);
  const LayerCost one = TimeLayer(d, rows, Phase::kDecode, parts, trace);
  MixingCost mixing;
  if (d.attention_layers > d.window_layers) {
    const Trace::Scope inner(trace, "attention");
    const KernelTime kernel = MeanDecodeAttention(d, sequences, pass.context, pass.grown, pass.checked, 0, trace);
    parts.Add("attention", kernel, d.attention_layers - d.window_layers);
    mixing.attention = FullAttention(kernel, trace);
  }
  if (d.window_layers > 0) {
    const Trace::Scope inner(trace, "window_attention");
    const KernelTime kernel = MeanDecodeAttention(d, sequences, pass.context, pass.grown, pass.checked, window, trace);
    parts.Add("attention in a window", kernel, d.window_layers);
    mixing.window_attention = WindowAttention(kernel, trace);
  }
  const KernelTime exchange = ContextExchange(d, rows, trace);
  mixing.context_exchange = exchange.time;
  parts.Add("parts of contexts", exchange, d.attention_layers);
  if (d.linear_layers > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const KernelTime kernel = DecodeRecurrence(d, sequences, pass.checked, trace);
    parts.Add("recurrence", kernel, d.linear_layers);
    mixing.recurrence = kernel.time;
  }
  return AllLayers(d, one, mixing, trace);
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
  if (d.engine.composition == Composition::kCompiledGraph) return WholeLayerPrefill(pass, d, trace);
  if (d.engine.composition == Composition::kLayerPipelined) return LayerSplitPrefill(pass, d, trace);
  PassCost step;
  const double rows = pass.sequences * pass.tokens, layers = d.layers;
  const auto layers_of = [&](bool half, Parts& parts, Trace& t) { return PrefillLayers(half ? HalfOf(pass) : pass, d, parts, t); };
  const LayersTime all = TimeLayers(layers_of, d, Phase::kPrefill, d.operation_launch, step.parts, trace);
  const Seconds head = TimeHead(d, pass.sequences, true, step.parts, trace);
  const KernelTime hop = StageHop(d, rows, trace);
  const double hops = d.pp - 1;
  step.parts.Add("next stage", hop, hops);
  const Seconds hop_time = hop.time;
  const Seconds layers_time = all.time;
  FIGURE(trace, device_time, layers_time + head + hops * hop_time, (Note{"Prefill on the devices", "every layer's kernels in turn"}),
         layers_time, head, hops, hop_time);
  const Seconds operation_launch = d.operation_launch, prefill_host = d.engine.overhead.prefill_step_host;
  const double operations = all.operations;
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
  if (d.engine.composition == Composition::kCompiledGraph) return WholeLayerDecode(pass, d, trace);
  if (d.engine.composition == Composition::kLayerPipelined) return LayerSplitDecode(pass, d, trace);
  PassCost step;
  // A pipeline runs as many groups of the sequences as it has stages, each group in another stage.
  const double groups = min(d.pp, max(1.0, pass.sequences));
  const double sequences = pass.sequences / groups;
  const double rows = sequences * pass.checked;
  const double layers = d.layers;
  const auto layers_of = [&](bool half, Parts& parts, Trace& t) {
    return DecodeLayers(half ? sequences / 2 : sequences, pass, d, parts, t);
  };
  const Seconds layers_time = TimeLayers(layers_of, d, Phase::kDecode, Seconds{}, step.parts, trace).time;
  const Seconds head = TimeHead(d, rows, !d.graphs, step.parts, trace);
  const KernelTime hop = StageHop(d, rows, trace);
  const double hops = d.pp - 1;
  step.parts.Add("next stage", hop, hops);
  const Seconds hop_time = hop.time;
  const Seconds engine_step = d.engine.overhead.step, engine_sequence = d.engine.overhead.per_sequence;
  // Every attention group has a scheduler of its own, which works beside the others'.
  const double own_sequences = pass.sequences;
  trace.Input("engine_step", engine_step, "serving.engine.step");
  trace.Input("engine_sequence", engine_sequence, "serving.engine.sequence");
  step.parts.Add("engine, a step", HostTime(engine_step), 1);
  step.parts.Add("engine, a sequence", HostTime(engine_sequence), own_sequences);
  // Uneven stages: with every stage busy the fullest one sets the pace.
  const double stretch = 1 + (d.stage_layers * d.pp / layers - 1) * (groups - 1) / max(1.0, d.pp - 1);
  const Seconds host_sequence = d.engine.overhead.per_sequence_host;
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
