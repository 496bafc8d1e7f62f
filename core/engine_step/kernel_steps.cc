// Steps kernel by kernel: matrix products, attention, elementwise passes, exchanges, launch gaps.
#include "core/base/figure.h"
#include "core/engine_step/attention_time.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/layers_time.h"
#include "core/engine_step/step_time.h"

namespace slipstick {
namespace {

// Half of the prompts; for a single prompt, the mean of its two halves: attention is linear in the KV length.
PrefillPass HalfOf(const PrefillPass& pass) {
  if (pass.sequences >= 2) return {Figure("Half the prompts", pass.sequences / 2), pass.tokens, pass.cached};
  return {pass.sequences, Figure("Half a prompt", pass.tokens / 2),
          Figure("Tokens before half a prompt", pass.cached + pass.tokens / 4, "mean of both halves")};
}

LayersCost PrefillLayers(const PrefillPass& pass, const Deployment& deployment, OperatorBreakdown& operators) {
  const ServedLayers& layers = deployment.layers;
  const Ratio prefill_cp = deployment.mapping.prefill_cp;
  const Ratio rows = Figure("Tokens of the pass on one device", pass.sequences * pass.tokens / prefill_cp,
                            "context parallelism splits them");
  const LayerCost one = TimeLayer(deployment, rows, Phase::kPrefill, operators);
  MixingCost mixing;
  if (layers.full > 0)
    mixing.attention = operators.Add("attention", PrefillAttention(deployment, pass, false), layers.full);
  if (layers.window > 0)
    mixing.window_attention =
        operators.Add("sliding-window attention", PrefillAttention(deployment, pass, true), layers.window);
  if (prefill_cp > 1) {
    const Seconds attention = layers.full > 0 ? mixing.attention : mixing.window_attention;
    mixing.context_exchange =
        operators.Add(kContextExchange, PromptExchangeTime(deployment, pass, attention), layers.attention);
  }
  if (layers.recurrent > 0)
    mixing.recurrence = operators.Add("recurrence", PrefillRecurrence(deployment, pass), layers.recurrent);
  return AllLayers(deployment, one, mixing);
}

// A decode step that replays a CUDA graph computes the rows of the captured number of sequences.
Ratio RowsOf(const Deployment& deployment, const DecodePass& pass) {
  const std::vector<GraphSizes>& sizes = deployment.engine.kernels.graph_sizes;
  const double captured = deployment.launch.graphs ? CapturedSequences(sizes, pass.sequences) : pass.sequences.base();
  if (!(captured > pass.sequences)) return Figure("Tokens of the step", pass.sequences * pass.checked);
  return Figure("Tokens of the step", deployment.InputAt("serving.engine.graph_sizes", Ratio(captured)) * pass.checked,
                "filled up to the next number of sequences that was captured as a CUDA graph");
}

LayersCost DecodeLayers(const DecodePass& pass, const Deployment& deployment, OperatorBreakdown& operators) {
  const ServedLayers& layers = deployment.layers;
  const Ratio rows = RowsOf(deployment, pass);
  const LayerCost one = TimeLayer(deployment, rows, Phase::kDecode, operators);
  MixingCost mixing;
  if (layers.full > 0)
    mixing.attention = operators.Add("attention", MeanDecodeAttention(deployment, pass, false), layers.full);
  if (layers.window > 0)
    mixing.window_attention =
        operators.Add("sliding-window attention", MeanDecodeAttention(deployment, pass, true), layers.window);
  mixing.context_exchange = operators.Add(kContextExchange, ContextExchange(deployment, rows), layers.attention);
  if (layers.recurrent > 0)
    mixing.recurrence = operators.Add("recurrence", DecodeRecurrence(deployment, pass), layers.recurrent);
  return AllLayers(deployment, one, mixing);
}

// Other stages work on other prompts meanwhile: the slowest stage sets the pace.
Seconds StageOccupancy(const Deployment& deployment, Seconds device_time, Seconds head, Seconds hop, Ratio operations) {
  const ServedLayers& layers = deployment.layers;
  const Ratio pp = deployment.mapping.pp, share = layers.per_stage / layers.total;
  const Seconds stage = pp > 1 ? Figure("The slowest stage", (device_time - head - (pp - 1) * hop) * share + head + hop,
                                        "its layers, the LM head and the send to the next")
                               : Figure("The devices' time", (device_time - head) * share + head, "layers and LM head");
  return Figure("Time until the next pass can start",
                max(stage, deployment.engine.overhead.prefill_step_host,
                    layers.per_stage * operations * deployment.launch.per_operation),
                "of the slowest stage, or of its host");
}

// Groups of sequences in a pipeline, one per stage at a time. The largest group sets the pace of all.
struct StageGroups {
  Ratio groups = 1, sequences = 1;
};
StageGroups SplitOverStages(const Deployment& deployment, const DecodePass& pass) {
  const Ratio pp = deployment.mapping.pp;
  if (pp <= 1) return {1, pass.sequences};
  const Ratio groups =
      Figure("Groups of sequences in the pipeline", min(pp, max(1.0, pass.sequences)), "one per stage at a time");
  const Ratio mean = Figure("Sequences of a group", pass.sequences / groups, "mean");
  if (pass.splits_evenly) return {groups, mean};
  return {groups, Figure("Sequences of the fullest group", min(pass.sequences, mean + sqrt(2 * mean * log(pp))),
                         "a request stays in the group that was due when its prompt was done: Poisson numbers, the "
                         "largest of one per stage",
                         "vLLM pull request 57433: groups of 7, 13, 2 and 10 where the mean is 8")};
}

struct DeviceStep {
  Seconds time, waiting;  // waiting: part of it in which a group waits for a stage
};

// A decode step on its devices: kernel after kernel. In a pipeline the host of a stage prepares one group after the
// other. When every stage is busy, the slowest one (with the LM head, or more layers) sets the pace.
DeviceStep StepOnDevices(const Deployment& deployment, Seconds layers_time, Seconds head, Seconds hop,
                         Ratio stage_groups, Ratio own_sequences) {
  const LaunchOverheads& launch = deployment.launch;
  const ServedLayers& layers = deployment.layers;
  const Ratio pp = deployment.mapping.pp;
  const Seconds of_sequences = launch.per_sequence * own_sequences;
  if (pp <= 1)
    return {Figure("Decode step on the devices", layers_time + head + launch.step + of_sequences,
                   "layers, LM head, pipeline P2P and engine overhead"),
            {}};
  const Seconds longest_stage = Figure("Time of a group in the longest stage",
                                       layers_time * (layers.per_stage / layers.total) + head + hop + launch.step,
                                       "its layers, the LM head, the send to the next and the host's scheduling");
  const Seconds through =
      Figure("Time of a group through all stages", layers_time + head + (pp - 1) * hop + launch.step);
  const Seconds time =
      Figure("Decode step on the devices", max(through, stage_groups * longest_stage) + of_sequences,
             "until every group has had a token: its way through the stages, or all groups in the longest one",
             "SGLang runs pipeline stages without its overlap scheduler; vLLM schedules one group after the other "
             "(pull requests 32359, 42187)");
  return {time, time - through - of_sequences};
}

PassCost Prefill(const PrefillPass& pass, const Deployment& deployment) {
  PassCost step;
  const Ratio pp = deployment.mapping.pp;
  const Seconds operation_launch = deployment.launch.per_operation;
  const auto layers_of = [&](bool half, OperatorBreakdown& operators) {
    return PrefillLayers(half ? HalfOf(pass) : pass, deployment, operators);
  };
  const LayersTime layers = TimeLayers(layers_of, deployment, Phase::kPrefill, operation_launch, step.operators);
  Seconds head = TimeHead(deployment, pass.sequences, true, step.operators);
  if (deployment.load.images) head = WithImages(deployment, pass.sequences, pass.tokens, head, step.operators);
  const KernelTime hop = StageSend(deployment, pass.sequences * pass.tokens / deployment.mapping.prefill_cp);
  step.operators.Add(kStageSend, hop, pp - 1);
  const Seconds device_time =
      Figure("Prefill on the devices", pp > 1 ? layers.time + head + (pp - 1) * hop.time : layers.time + head,
             "kernel after kernel");
  step.fixed = Figure(
      "Host's time for a prefill",
      max(deployment.engine.overhead.prefill_step_host, deployment.layers.total * layers.operations * operation_launch),
      "preparation or launches, however few the tokens");
  step.time =
      Figure("Prefill pass", max(device_time, step.fixed), "device time, or host preparation and launches if longer");
  step.operators.Add("waiting for kernel launches", Waiting(step.time - device_time), 1);
  step.occupancy = StageOccupancy(deployment, device_time, head, hop.time, layers.operations);
  return step;
}

PassCost Decode(const DecodePass& pass, const Deployment& deployment) {
  PassCost step;
  const StageGroups split = SplitOverStages(deployment, pass);
  DecodePass group = pass;
  group.sequences = split.sequences;
  const auto layers_of = [&](bool half, OperatorBreakdown& operators) {
    DecodePass part = group;
    if (half) part.sequences = Figure("Half the sequences", group.sequences / 2);
    return DecodeLayers(part, deployment, operators);
  };
  const Seconds layers = TimeLayers(layers_of, deployment, Phase::kDecode, Seconds{}, step.operators).time;
  const Ratio rows = RowsOf(deployment, group);
  const Seconds head = TimeHead(deployment, rows, !deployment.launch.graphs, step.operators);
  const KernelTime hop = StageSend(deployment, rows);
  step.operators.Add(kStageSend, hop, deployment.mapping.pp - 1);
  // Each attention group has its own scheduler, in parallel with the others.
  step.operators.Add("scheduler overhead per step", Waiting(deployment.launch.step), 1);
  step.operators.Add("engine overhead per sequence", Waiting(deployment.launch.per_sequence), pass.sequences);
  const auto [device_step, waiting] = StepOnDevices(deployment, layers, head, hop.time, split.groups, pass.sequences);
  step.operators.Add("waiting for the longest stage", Waiting(waiting), 1);
  step.time = Figure("Decode step", max(device_step, deployment.launch.per_sequence_host * pass.sequences),
                     "device time, or the host's parallel work on all sequences if longer");
  step.operators.Add("waiting for the host", Waiting(step.time - device_step), 1);
  step.occupancy = step.time;
  return step;
}

}  // namespace

constinit const StepComposition kKernelSteps{.prefill = Prefill,
                                             .decode = Decode,
                                             .has_constants = [](const Engine&) { return true; },
                                             .attention_groups = true,
                                             .splits_context = true,
                                             .mixes_phases = true,
                                             .encodes_images = true,
                                             .reads_parts_of_context = true,
                                             .timed_by_families = true};

}  // namespace slipstick
