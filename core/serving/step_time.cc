#include "core/serving/step_time.h"

#include "core/serving/attention_time.h"
#include "core/serving/compiled_graph.h"
#include "core/serving/exchange.h"
#include "core/serving/layer_pipelined.h"
#include "core/serving/layers_time.h"

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
  FIGURE(trace, attention, time, (Note{"Attention per layer", "over the whole context"}), time);
  return attention;
}
Seconds WindowAttention(const KernelTime& kernel, Trace& trace) {
  const Seconds time = kernel.time;
  FIGURE(trace, window_attention, time, (Note{"Attention per sliding-window layer", ""}), time);
  return window_attention;
}

// Half the prompts; or, of a single prompt, the mean of its two halves: attention is linear in the KV length.
PrefillPass HalfOf(const PrefillPass& pass) {
  if (pass.sequences >= 2) return {pass.sequences / 2, pass.tokens, pass.cached};
  return {pass.sequences, pass.tokens / 2, pass.cached + pass.tokens / 4};
}

LayersCost PrefillLayers(const PrefillPass& pass, const Deployment& deployment, OperatorBreakdown& operators, Trace& trace) {
  const auto window = static_cast<double>(deployment.model.window.tokens);
  const LayerCost one = TimeLayer(deployment, pass.sequences * pass.tokens, Phase::kPrefill, operators, trace);
  MixingCost mixing;
  if (deployment.layers.attention > deployment.layers.window) {
    const Trace::Scope inner(trace, "attention");
    const KernelTime kernel = PrefillAttention(deployment, pass.sequences, pass.tokens, pass.cached, 0, trace);
    operators.Add("attention", kernel, deployment.layers.attention - deployment.layers.window);
    mixing.attention = FullAttention(kernel, trace);
  }
  if (deployment.layers.window > 0) {
    const Trace::Scope inner(trace, "window_attention");
    const KernelTime kernel = PrefillAttention(deployment, pass.sequences, pass.tokens, pass.cached, window, trace);
    operators.Add("sliding-window attention", kernel, deployment.layers.window);
    mixing.window_attention = WindowAttention(kernel, trace);
  }
  if (deployment.layers.recurrent > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const KernelTime kernel = PrefillRecurrence(deployment, pass.sequences, pass.tokens, trace);
    operators.Add("recurrence", kernel, deployment.layers.recurrent);
    mixing.recurrence = kernel.time;
  }
  return AllLayers(deployment, one, mixing, trace);
}

LayersCost DecodeLayers(double sequences, const DecodePass& pass, const Deployment& deployment, OperatorBreakdown& operators,
                        Trace& trace) {
  const double rows = sequences * pass.checked;
  const auto window = static_cast<double>(deployment.model.window.tokens);
  const LayerCost one = TimeLayer(deployment, rows, Phase::kDecode, operators, trace);
  MixingCost mixing;
  if (deployment.layers.attention > deployment.layers.window) {
    const Trace::Scope inner(trace, "attention");
    const KernelTime kernel = MeanDecodeAttention(deployment, sequences, pass.context, pass.grown, pass.checked, 0, trace);
    operators.Add("attention", kernel, deployment.layers.attention - deployment.layers.window);
    mixing.attention = FullAttention(kernel, trace);
  }
  if (deployment.layers.window > 0) {
    const Trace::Scope inner(trace, "window_attention");
    const KernelTime kernel = MeanDecodeAttention(deployment, sequences, pass.context, pass.grown, pass.checked, window, trace);
    operators.Add("sliding-window attention", kernel, deployment.layers.window);
    mixing.window_attention = WindowAttention(kernel, trace);
  }
  const KernelTime exchange = ContextExchange(deployment, rows, trace);
  mixing.context_exchange = exchange.time;
  operators.Add("context-parallel exchange", exchange, deployment.layers.attention);
  if (deployment.layers.recurrent > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const KernelTime kernel = DecodeRecurrence(deployment, sequences, pass.checked, trace);
    operators.Add("recurrence", kernel, deployment.layers.recurrent);
    mixing.recurrence = kernel.time;
  }
  return AllLayers(deployment, one, mixing, trace);
}

}  // namespace

PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "prefill");
  if (deployment.engine.composition == Composition::kCompiledGraph) return CompiledGraphPrefill(pass, deployment, trace);
  if (deployment.engine.composition == Composition::kLayerPipelined) return LayerPipelinedPrefill(pass, deployment, trace);
  PassCost step;
  const double rows = pass.sequences * pass.tokens, layers = deployment.layers.total;
  const auto layers_of = [&](bool half, OperatorBreakdown& operators, Trace& t) {
    return PrefillLayers(half ? HalfOf(pass) : pass, deployment, operators, t);
  };
  const LayersTime all = TimeLayers(layers_of, deployment, Phase::kPrefill, deployment.launch.per_operation, step.operators, trace);
  const Seconds head = TimeHead(deployment, pass.sequences, true, step.operators, trace);
  const KernelTime hop = StageSend(deployment, rows, trace);
  const double hops = deployment.mapping.pp - 1;
  step.operators.Add("pipeline P2P", hop, hops);
  const Seconds hop_time = hop.time;
  const Seconds layers_time = all.time;
  FIGURE(trace, device_time, layers_time + head + hops * hop_time, (Note{"Prefill on the devices", "kernel after kernel"}), layers_time,
         head, hops, hop_time);
  const Seconds operation_launch = deployment.launch.per_operation, prefill_host = deployment.engine.overhead.prefill_step_host;
  const double operations = all.operations;
  if (deployment.launch.graphs) trace.Input("operation_launch", operation_launch, "serving.engine.prefill_launch");
  trace.Input("prefill_host", prefill_host, "serving.engine.prefill_host");
  FIGURE(trace, pass_time, max(device_time, prefill_host, layers * operations * operation_launch),
         (Note{"Prefill pass", "device time, or host preparation and launches if longer"}), device_time, prefill_host, layers, operations,
         operation_launch);
  if (pass_time > device_time) step.operators.Add("waiting for kernel launches", HostTime(pass_time - device_time), 1);
  step.time = pass_time;
  // Other stages work on other prompts meanwhile: the slowest stage sets the pace.
  const Seconds stage = (device_time - head - hops * hop_time) * (deployment.layers.per_stage / layers) + head +
                        (deployment.mapping.pp > 1 ? hop_time : Seconds{});
  step.occupancy = max(stage, prefill_host, deployment.layers.per_stage * operations * operation_launch);
  return step;
}

PassCost TimeOf(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "decode");
  if (deployment.engine.composition == Composition::kCompiledGraph) return CompiledGraphDecode(pass, deployment, trace);
  if (deployment.engine.composition == Composition::kLayerPipelined) return LayerPipelinedDecode(pass, deployment, trace);
  PassCost step;
  // A pipeline splits the sequences into as many groups as it has stages, one group per stage at a time.
  const double groups = min(deployment.mapping.pp, max(1.0, pass.sequences));
  const double sequences = pass.sequences / groups;
  const double rows = sequences * pass.checked;
  const double layers = deployment.layers.total;
  const auto layers_of = [&](bool half, OperatorBreakdown& operators, Trace& t) {
    return DecodeLayers(half ? sequences / 2 : sequences, pass, deployment, operators, t);
  };
  const Seconds layers_time = TimeLayers(layers_of, deployment, Phase::kDecode, Seconds{}, step.operators, trace).time;
  const Seconds head = TimeHead(deployment, rows, !deployment.launch.graphs, step.operators, trace);
  const KernelTime hop = StageSend(deployment, rows, trace);
  const double hops = deployment.mapping.pp - 1;
  step.operators.Add("pipeline P2P", hop, hops);
  const Seconds hop_time = hop.time;
  const Seconds engine_step = deployment.engine.overhead.step, engine_sequence = deployment.launch.per_sequence;
  // Each attention group has its own scheduler, in parallel with the others.
  const double own_sequences = pass.sequences;
  trace.Input("engine_step", engine_step, "serving.engine.step");
  trace.Input("engine_sequence", engine_sequence, "serving.engine.sequence");
  step.operators.Add("scheduler overhead per step", HostTime(engine_step), 1);
  step.operators.Add("engine overhead per sequence", HostTime(engine_sequence), own_sequences);
  // Uneven stages: with all stages busy, the longest one sets the pace.
  const double stretch =
      1 + (deployment.layers.per_stage * deployment.mapping.pp / layers - 1) * (groups - 1) / max(1.0, deployment.mapping.pp - 1);
  const Seconds host_sequence = deployment.engine.overhead.per_sequence_host;
  trace.Input("host_sequence", host_sequence, "serving.engine.host_sequence");
  if (stretch > 1) step.operators.Add("waiting for the longest stage", HostTime((stretch - 1) * layers_time), 1);
  FIGURE(trace, device_step, stretch * layers_time + head + hops * hop_time + engine_step + engine_sequence * own_sequences,
         (Note{"Decode step on the devices", "layers, LM head, pipeline P2P and engine overhead"}), stretch, layers_time, head, hops,
         hop_time, engine_step, engine_sequence, own_sequences);
  FIGURE(trace, step_time, max(device_step, host_sequence * own_sequences),
         (Note{"Decode step", "device time, or the host's parallel work on all sequences if longer"}), device_step, host_sequence,
         own_sequences);
  if (step_time > device_step) step.operators.Add("waiting for the host", HostTime(step_time - device_step), 1);
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

}  // namespace slipstick
