#include "core/engine_step/step_time.h"

#include "core/engine_step/as_run.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/layers_time.h"
#include "core/engine_step/prompt_exchange.h"

namespace slipstick {
namespace {

KernelTime HostTime(Seconds time) {
  KernelTime kernel;
  kernel.time = time;
  kernel.bound = Bound::kLatency;
  return kernel;
}

Seconds FullAttention(const KernelTime& kernel, std::string_view symbol, Trace& trace) {
  const Seconds time = kernel.time;
  trace.Alias("time", time, symbol);
  FIGURE(trace, attention, 1 * time, (Note{"Attention per layer", "over the whole context"}), time);
  return attention;
}
Seconds WindowAttention(const KernelTime& kernel, std::string_view symbol, Trace& trace) {
  const Seconds time = kernel.time;
  trace.Alias("time", time, symbol);
  FIGURE(trace, window_attention, 1 * time, (Note{"Attention per sliding-window layer", ""}), time);
  return window_attention;
}

// Half the prompts; or, of a single prompt, the mean of its two halves: attention is linear in the KV length.
PrefillPass HalfOf(const PrefillPass& pass, Trace& trace) {
  const double sequences = pass.sequences, tokens = pass.tokens, cached = pass.cached;
  if (sequences >= 2) {
    FIGURE(trace, half_sequences, sequences / 2, (Note{"Half the prompts", ""}), sequences);
    trace.Alias("sequences", half_sequences, "half_sequences");
    return {half_sequences, tokens, cached};
  }
  FIGURE(trace, half_tokens, tokens / 2, (Note{"Half a prompt", ""}), tokens);
  FIGURE(trace, half_cached, cached + tokens / 4, (Note{"Tokens before half a prompt", "mean of both halves"}), cached,
         tokens);
  trace.Alias("tokens", half_tokens, "half_tokens");
  trace.Alias("cached", half_cached, "half_cached");
  return {sequences, half_tokens, half_cached};
}

// Half the sequences of a decode step.
double HalfOf(double sequences, Trace& trace) {
  FIGURE(trace, half_sequences, sequences / 2, (Note{"Half the sequences", ""}), sequences);
  trace.Alias("sequences", half_sequences, "half_sequences");
  return half_sequences;
}

LayersCost PrefillLayers(const PrefillPass& pass, const Deployment& deployment, OperatorBreakdown& operators,
                         Trace& trace) {
  const auto window = static_cast<double>(deployment.model.window.tokens);
  const double sequences = pass.sequences, tokens = pass.tokens, prefill_cp = deployment.mapping.prefill_cp;
  FIGURE(trace, rows, sequences * tokens / prefill_cp,
         (Note{"Tokens of the pass on one device", "context parallelism splits them"}), sequences, tokens, prefill_cp);
  const LayerCost one = TimeLayer(deployment, rows, Phase::kPrefill, operators, trace);
  MixingCost mixing;
  if (deployment.layers.full > 0) {
    const Trace::Scope inner(trace, "attention");
    const KernelTime kernel = PrefillAttention(deployment, sequences, tokens, pass.cached, 0, trace);
    operators.Add("attention", kernel, deployment.layers.full, "full_layers", trace);
    mixing.attention = FullAttention(kernel, "time", trace);
  }
  if (deployment.layers.window > 0) {
    const Trace::Scope inner(trace, "window_attention");
    const KernelTime kernel = PrefillAttention(deployment, sequences, tokens, pass.cached, window, trace);
    operators.Add("sliding-window attention", kernel, deployment.layers.window, "window_layers", trace);
    mixing.window_attention = WindowAttention(kernel, "time", trace);
  }
  if (prefill_cp > 1) {
    const bool sees_all = deployment.layers.full > 0;
    const Seconds own_attention = sees_all ? mixing.attention : mixing.window_attention;
    const KernelTime exchange = PromptExchangeTime(deployment, sequences, tokens, pass.cached, own_attention,
                                                   sees_all ? "attention" : "window_attention", trace);
    mixing.context_exchange = exchange.time;
    trace.Alias("context_exchange", exchange.time, "prompt_exchange");
    operators.Add(kContextExchange, exchange, deployment.layers.attention);
  }
  if (deployment.layers.recurrent > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const KernelTime kernel = PrefillRecurrence(deployment, sequences, tokens, trace);
    operators.Add("recurrence", kernel, deployment.layers.recurrent, "recurrent_layers", trace);
    mixing.recurrence = kernel.time;
  }
  return AllLayers(deployment, one, mixing, trace);
}

// A step that is a CUDA graph has the rows of the captured number of sequences.
double RowsOf(const Deployment& deployment, double sequences, double checked, Trace& trace) {
  const std::vector<GraphSizes>& sizes = deployment.engine.kernels.graph_sizes;
  const double captured = deployment.launch.graphs ? CapturedSequences(sizes, sequences) : sequences;
  if (!(captured > sequences)) {
    FIGURE(trace, rows, sequences * checked, (Note{"Tokens of the step", ""}), sequences, checked);
    return rows;
  }
  trace.Input("captured", captured, "serving.engine.graph_sizes");
  FIGURE(trace, rows, captured * checked,
         (Note{"Tokens of the step", "filled up to the next number of sequences that was captured as a CUDA graph"}),
         captured, checked);
  return rows;
}

LayersCost DecodeLayers(double sequences, const DecodePass& pass, const Deployment& deployment,
                        OperatorBreakdown& operators, Trace& trace) {
  const double rows = RowsOf(deployment, sequences, pass.checked, trace);
  const auto window = static_cast<double>(deployment.model.window.tokens);
  const LayerCost one = TimeLayer(deployment, rows, Phase::kDecode, operators, trace);
  MixingCost mixing;
  if (deployment.layers.full > 0) {
    const Trace::Scope inner(trace, "attention");
    const KernelTime kernel =
        MeanDecodeAttention(deployment, sequences, pass.context, pass.grown, pass.checked, 0, trace);
    operators.Add("attention", kernel, deployment.layers.full, "full_layers", trace);
    mixing.attention = FullAttention(kernel, pass.grown > 0 ? "mean_attention" : "time", trace);
  }
  if (deployment.layers.window > 0) {
    const Trace::Scope inner(trace, "window_attention");
    const KernelTime kernel =
        MeanDecodeAttention(deployment, sequences, pass.context, pass.grown, pass.checked, window, trace);
    operators.Add("sliding-window attention", kernel, deployment.layers.window, "window_layers", trace);
    mixing.window_attention = WindowAttention(kernel, pass.grown > 0 ? "mean_attention" : "time", trace);
  }
  const KernelTime exchange = ContextExchange(deployment, rows, trace);
  mixing.context_exchange = exchange.time;
  operators.Add(kContextExchange, exchange, deployment.layers.attention);
  if (deployment.layers.recurrent > 0) {
    const Trace::Scope inner(trace, "recurrence");
    const KernelTime kernel = DecodeRecurrence(deployment, sequences, pass.checked, trace);
    operators.Add("recurrence", kernel, deployment.layers.recurrent, "recurrent_layers", trace);
    mixing.recurrence = kernel.time;
  }
  return AllLayers(deployment, one, mixing, trace);
}

// Pass over all stages of a pipeline.
Seconds WithHops(const Deployment& deployment, Seconds layers_time, Seconds head, Seconds hop_time, Trace& trace) {
  if (deployment.mapping.pp <= 1) {
    FIGURE(trace, device_time, layers_time + head, (Note{"Prefill on the devices", "kernel after kernel"}), layers_time,
           head);
    return device_time;
  }
  const double pp = deployment.mapping.pp;
  FIGURE(trace, device_time, layers_time + head + (pp - 1) * hop_time,
         (Note{"Prefill on the devices", "kernel after kernel"}), layers_time, head, pp, hop_time);
  return device_time;
}

// Other stages work on other prompts meanwhile: the slowest stage sets the pace.
Seconds StageOccupancy(const Deployment& deployment, Seconds device_time, Seconds head, Seconds hop_time,
                       double operations, Trace& trace) {
  const double stage_layers = deployment.layers.per_stage, layers = deployment.layers.total, pp = deployment.mapping.pp;
  const Seconds operation_launch = deployment.launch.per_operation,
                prefill_host = deployment.engine.overhead.prefill_step_host;
  Seconds stage;
  if (pp > 1) {
    FIGURE(trace, stage_time, (device_time - head - (pp - 1) * hop_time) * (stage_layers / layers) + head + hop_time,
           (Note{"The slowest stage", "its layers, the LM head and the send to the next"}), device_time, head, pp,
           hop_time, stage_layers, layers);
    stage = stage_time;
  } else {
    FIGURE(trace, stage_time, (device_time - head) * (stage_layers / layers) + head,
           (Note{"The devices' time", "layers and LM head"}), device_time, head, stage_layers, layers);
    stage = stage_time;
  }
  const Seconds stage_time = stage;
  FIGURE(trace, occupancy, max(stage_time, prefill_host, stage_layers * operations * operation_launch),
         (Note{"Time until the next pass can start", "of the slowest stage, or of its host"}), stage_time, prefill_host,
         stage_layers, operations, operation_launch);
  return occupancy;
}

// Groups of sequences in a pipeline, one per stage at a time. All go at the pace of the fullest.
struct StageGroups {
  double groups = 1, sequences = 1;
};
StageGroups SplitOverStages(const Deployment& deployment, double sequences, bool splits_evenly, Trace& trace) {
  const double pp = deployment.mapping.pp;
  if (pp <= 1) return {1, sequences};
  FIGURE(trace, stage_groups, min(pp, max(1.0, sequences)),
         (Note{"Groups of sequences in the pipeline", "one per stage at a time"}), pp, sequences);
  FIGURE(trace, group_sequences, sequences / stage_groups, (Note{"Sequences of a group", "mean"}), sequences,
         stage_groups);
  trace.Alias("own_sequences", sequences, "sequences");
  if (splits_evenly) {
    trace.Alias("sequences", group_sequences, "group_sequences");
    return {stage_groups, group_sequences};
  }
  FIGURE(trace, fullest_group, min(sequences, group_sequences + sqrt(2 * group_sequences * log(pp))),
         (Note{"Sequences of the fullest group",
               "a request stays in the group that was due when its prompt was done: Poisson numbers, the largest of "
               "one per stage",
               "vLLM pull request 57433: groups of 7, 13, 2 and 10 where the mean is 8"}),
         sequences, group_sequences, pp);
  trace.Alias("sequences", fullest_group, "fullest_group");
  return {stage_groups, fullest_group};
}

struct DeviceStep {
  Seconds time, waiting;  // waiting: part of it in which a group waits for a stage
};

// A decode step on its devices: kernel after kernel. In a pipeline the host of a stage prepares one group after the
// other, and with every stage busy the longest one, whose layers the LM head or an uneven split adds to, sets the pace.
DeviceStep StepOnDevices(const Deployment& deployment, Seconds layers_time, Seconds head, Seconds hop_time,
                         double stage_groups, double own_sequences, Trace& trace) {
  const Seconds engine_step = deployment.launch.step, engine_sequence = deployment.launch.per_sequence;
  constexpr Note kNote{"Decode step on the devices", "layers, LM head, pipeline P2P and engine overhead"};
  const double pp = deployment.mapping.pp;
  if (pp <= 1) {
    FIGURE(trace, device_step, layers_time + head + engine_step + engine_sequence * own_sequences, kNote, layers_time,
           head, engine_step, engine_sequence, own_sequences);
    return {device_step, {}};
  }
  const double stage_layers = deployment.layers.per_stage, layers = deployment.layers.total;
  FIGURE(trace, longest_stage, layers_time * (stage_layers / layers) + head + hop_time + engine_step,
         (Note{"Time of a group in the longest stage",
               "its layers, the LM head, the send to the next and the host's scheduling"}),
         layers_time, stage_layers, layers, head, hop_time, engine_step);
  FIGURE(trace, through_stages, layers_time + head + (pp - 1) * hop_time + engine_step,
         (Note{"Time of a group through all stages", ""}), layers_time, head, pp, hop_time, engine_step);
  FIGURE(trace, device_step, max(through_stages, stage_groups * longest_stage) + engine_sequence * own_sequences,
         (Note{"Decode step on the devices",
               "until every group has had a token: its way through the stages, or all groups in the longest one",
               "SGLang runs pipeline stages without its overlap scheduler; vLLM schedules one group after the other "
               "(pull requests 32359, "
               "42187)"}),
         through_stages, stage_groups, longest_stage, engine_sequence, own_sequences);
  return {device_step, device_step - through_stages - engine_sequence * own_sequences};
}

}  // namespace

PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "prefill");
  if (deployment.engine.composition == Composition::kCompiledGraph)
    return CompiledGraphPrefill(pass, deployment, trace);
  if (deployment.engine.composition == Composition::kLayerPipelined)
    return LayerPipelinedPrefill(pass, deployment, trace);
  PassCost step;
  const double rows = pass.sequences * pass.tokens / deployment.mapping.prefill_cp, layers = deployment.layers.total;
  const auto layers_of = [&](bool half, OperatorBreakdown& operators, Trace& t) {
    return PrefillLayers(half ? HalfOf(pass, t) : pass, deployment, operators, t);
  };
  const LayersTime all =
      TimeLayers(layers_of, deployment, Phase::kPrefill, deployment.launch.per_operation, step.operators, trace);
  trace.Alias("rows", pass.sequences, "sequences");
  Seconds head = TimeHead(deployment, pass.sequences, true, step.operators, trace);
  if (deployment.load.images)
    head = WithImages(deployment, pass.sequences, "sequences", pass.tokens, head, step.operators, trace);
  const KernelTime hop = StageSend(deployment, rows, trace);
  const double hops = deployment.mapping.pp - 1;
  step.operators.Add(kStageSend, hop, hops);
  const Seconds hop_time = hop.time;
  const Seconds layers_time = all.time;
  const Seconds device_time = WithHops(deployment, layers_time, head, hop_time, trace);
  const Seconds operation_launch = deployment.launch.per_operation,
                prefill_host = deployment.engine.overhead.prefill_step_host;
  const double operations = all.operations;
  FIGURE(trace, fixed_time, max(prefill_host, layers * operations * operation_launch),
         (Note{"Host's time for a prefill", "preparation or launches, however few the tokens"}), prefill_host, layers,
         operations, operation_launch);
  FIGURE(trace, pass_time, max(device_time, fixed_time),
         (Note{"Prefill pass", "device time, or host preparation and launches if longer"}), device_time, fixed_time);
  if (pass_time > device_time) step.operators.Add("waiting for kernel launches", HostTime(pass_time - device_time), 1);
  step.time = pass_time;
  step.fixed = fixed_time;
  step.occupancy = StageOccupancy(deployment, device_time, head, hop_time, operations, trace);
  return step;
}

namespace {

PassCost TunedDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  if (deployment.engine.composition == Composition::kCompiledGraph) return CompiledGraphDecode(pass, deployment, trace);
  if (deployment.engine.composition == Composition::kLayerPipelined)
    return LayerPipelinedDecode(pass, deployment, trace);
  PassCost step;
  trace.Alias("own_sequences", pass.sequences, "sequences");
  const auto [groups, sequences] = SplitOverStages(deployment, pass.sequences, pass.splits_evenly, trace);
  const double own_sequences = pass.sequences;
  const double group_sequences = sequences;
  const auto layers_of = [&](bool half, OperatorBreakdown& operators, Trace& t) {
    return DecodeLayers(half ? HalfOf(group_sequences, t) : group_sequences, pass, deployment, operators, t);
  };
  const Seconds layers_time = TimeLayers(layers_of, deployment, Phase::kDecode, Seconds{}, step.operators, trace).time;
  const double rows = RowsOf(deployment, group_sequences, pass.checked, trace);
  const Seconds head = TimeHead(deployment, rows, !deployment.launch.graphs, step.operators, trace);
  const KernelTime hop = StageSend(deployment, rows, trace);
  step.operators.Add(kStageSend, hop, deployment.mapping.pp - 1);
  // Each attention group has its own scheduler, in parallel with the others.
  step.operators.Add("scheduler overhead per step", HostTime(deployment.launch.step), 1);
  step.operators.Add("engine overhead per sequence", HostTime(deployment.launch.per_sequence), own_sequences);
  const auto [device_step, waiting] =
      StepOnDevices(deployment, layers_time, head, hop.time, groups, own_sequences, trace);
  if (waiting > Seconds{}) step.operators.Add("waiting for the longest stage", HostTime(waiting), 1);
  const Seconds host_sequence = deployment.engine.overhead.per_sequence_host;
  FIGURE(trace, step_time, max(device_step, host_sequence * own_sequences),
         (Note{"Decode step", "device time, or the host's parallel work on all sequences if longer"}), device_step,
         host_sequence, own_sequences);
  if (step_time > device_step) step.operators.Add("waiting for the host", HostTime(step_time - device_step), 1);
  step.time = step_time;
  step.occupancy = step_time;
  return step;
}

}  // namespace

PassCost TimeOf(const DecodePass& pass, const Deployment& deployment, Trace& trace) {
  const Trace::Scope scope(trace, "decode");
  PassCost step = TunedDecode(pass, deployment, trace);
  const Seconds as_run = StepAsRun(step.time, "step_time", deployment.engine, deployment.step_factor, trace),
                more = as_run - step.time;
  if (more > Seconds{}) step.operators.Add("what tuning would save", HostTime(more), 1);
  step.time = as_run;
  step.occupancy += more;
  return step;
}

}  // namespace slipstick
