#include "core/training/whole_run.h"

#include <string>
#include <utility>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/device_power.h"
#include "core/operators/efficiency.h"
#include "core/training/interruptions.h"
#include "core/training/memory.h"
#include "core/training/recompute.h"
#include "core/training_stage/attention_core.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {
namespace {

constexpr Count kLossChunks = 8;  // of torchtune and torchtitan

// Memory of the most loaded stage of a changed run.
Bytes FullestStage(const TrainingRun& run, const TrainingContext& base) {
  const TrainingContext context = MakeContext(base.model, base.cluster, run);
  const LayerWorks works = WorksOf(context);
  const MemoryTerms terms{context, works};
  const std::vector<Stage> plan = PlanLayers(context, works).stages;
  RecomputeChoice choice = ChoiceFor(base.model, run, plan);
  if (run.recompute == Recompute::kAuto) choice.full_share = 1;
  Bytes fullest;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    fullest = max(fullest, StageMemory(terms, plan, i, choice).Total());
  }
  return fullest;
}

// Whether a run may split tensors, layers, sequences and experts like this; added TP must stay within a node.
bool IsLegalSplit(const TrainingContext& context, const TrainingRun& run) {
  const TrainingMapping& mapping = run.mapping;
  const Count heads_over = mapping.cp_kind == ContextKind::kUlysses ? mapping.tp * mapping.cp : Count(mapping.tp);
  const bool stays = mapping.tp == context.run.mapping.tp || static_cast<double>(mapping.tp) <= context.node_devices;
  const Count stage_devices = mapping.tp * mapping.cp * mapping.dp.value_or(1);
  return stays && context.model.heads % heads_over == 0 &&
         mapping.pp * mapping.virtual_stages <= context.model.layers && run.sequence % mapping.cp == 0 &&
         stage_devices % (mapping.ep * mapping.expert_tp) == 0;
}

std::string NearestFitOf(const TrainingContext& context, const TrainingRun& run, Bytes capacity) {
  const auto fits = [&](const TrainingRun& changed) { return FullestStage(changed, context) <= capacity; };
  if (run.recompute == Recompute::kNone || run.recompute == Recompute::kSelective) {
    TrainingRun changed = run;
    changed.recompute = Recompute::kFull;
    if (fits(changed)) return "full recomputation would fit";
  }
  for (Count smaller = run.mapping.micro_batch / 2; smaller >= 1; smaller /= 2) {
    TrainingRun changed = run;
    changed.mapping.micro_batch = smaller;
    if (run.global_batch % (smaller * changed.mapping.dp.value_or(1)) == 0 && fits(changed)) {
      return "a micro-batch of " + std::to_string(smaller) + " would fit";
    }
  }
  if (run.loss_chunks == 1) {
    TrainingRun changed = run;
    changed.loss_chunks = kLossChunks;
    if (fits(changed)) return "the loss in " + std::to_string(kLossChunks) + " chunks (training.loss_chunks) would fit";
  }
  for (Count zero = run.mapping.zero + 1; zero <= 3 && context.shape.DataRanks() > 1; ++zero) {
    TrainingRun changed = run;
    changed.mapping.zero = zero;
    if (fits(changed)) return "ZeRO-" + std::to_string(zero) + " would fit";
  }
  // Tries more model parallelism on the same devices, in place of data parallelism.
  const Count data = run.mapping.dp.value_or(1);
  for (Count factor = 2; factor <= 64; factor *= 2) {
    for (const auto& [name, member] : {std::pair("TP ", &TrainingMapping::tp), std::pair("PP ", &TrainingMapping::pp),
                                       std::pair("CP ", &TrainingMapping::cp)}) {
      TrainingRun changed = run;
      changed.mapping.*member = changed.mapping.*member * factor;
      changed.mapping.dp = data / factor;
      if (data % factor == 0 && IsLegalSplit(context, changed) && fits(changed))
        return name + std::to_string(changed.mapping.*member) + " in place of data parallelism would fit";
    }
  }
  return "";
}

// The smallest change that makes the run fit, as a phrase; "" if none of the tried changes does.
std::string NearestFit(const TrainingContext& context, Bytes capacity) {
  const std::string single = NearestFitOf(context, context.run, capacity);
  if (!single.empty() || context.run.recompute == Recompute::kFull) return single;
  TrainingRun recomputed = context.run;
  recomputed.recompute = Recompute::kFull;
  const std::string with_it = NearestFitOf(context, recomputed, capacity);
  return with_it.empty() ? "" : "full recomputation and " + with_it;
}

// Whether the format of the gradients is the preset's choice: another in an 8- or 4-bit recipe than in 16 bits, though
// frameworks allow both.
bool AssumesGradients(const TrainingContext& context) {
  const FrameworkMemory& framework = context.framework().memory;
  return NarrowRecipe(context) && !context.run.state.gradients && context.run.optimizer != Optimizer::kNone &&
         framework.gradients_fp8 != framework.gradients;
}

// Paths of inputs that were set by a rule, not a measurement.
std::vector<std::string> AssumedInputs(const TrainingContext& context) {
  using A = AssumedEfficiency;
  std::vector<AssumedFlag> used{&A::gemm_efficiency, &A::sustained_clock_derating, &A::rated_power,
                                &A::bandwidth_efficiency, &A::usable};
  if (IsEightBitFloat(NativePrecision(context.device(), context.run.precision)))
    used.push_back(&A::gemm_efficiency_fp8);
  if (context.run.flash_attention && !HasOwnAttention(context)) {
    used.insert(used.end(), {&A::attention_forward, &A::attention_backward});
  }
  std::vector<std::string> paths = AssumedPaths(context.device(), "cluster.device", used);
  if (AssumesGradients(context)) paths.emplace_back("training.state.gradients");
  return paths;
}

Ratio DevicesWithNode(const TrainingContext& context) {
  return InputAt("training.devices", Ratio(context.shape.devices), context.tape);
}

// Sets what follows from a step: throughput and utilization.
void SetRates(const TrainingContext& context, const StepFlops& flops, TrainingReport& report) {
  const Ratio devices = DevicesWithNode(context), batch(context.run.global_batch);
  const FlopsPerSecond device_peak = PeakRate(context.prepared->requested.device, context.run.precision),
                       peak = devices * device_peak;
  const Seconds step_time = report.step_time;
  report.tokens_per_s =
      Figure("Throughput (tokens/s)", batch * context.shape.sequence * kToken / step_time, "all devices");
  report.useful_tokens_per_s =
      Figure("Useful throughput (tokens/s)", batch * context.shape.counted * kToken / step_time,
             "all devices, without padding");
  report.tokens_per_s_per_device = Figure("Throughput per GPU (tokens/s)", report.tokens_per_s / devices);
  report.arithmetic_utilization = Figure(
      "Arithmetic utilization", report.hardware_flops_per_device / (device_peak * step_time),
      "FLOPs that the kernels execute over the dense peak; MFU and HFU count attention in full and may pass 1 for long "
      "sequences");
  report.model_flops_utilization = Figure(
      "Model FLOPs utilization (MFU)", flops.model / (peak * step_time),
      "model FLOPs over the dense peak of the run's precision; full attention, as Megatron-LM, PaLM and MPT report it",
      "Korthikanti et al. 2022");
  report.model_flops_utilization_causal =
      Figure("MFU, causal attention", flops.model_causal / (peak * step_time),
             "attention cut by the causal mask; compare it with runs that count attention so");
  report.hardware_flops_utilization =
      Figure("Hardware FLOPs utilization (HFU), attention unmasked", flops.hardware / (peak * step_time),
             "recomputation included; kernels skip the masked half of attention, so that long sequences may pass 1",
             "Korthikanti et al. 2022");
  report.model_flops_per_step = flops.model;
  report.model_flops_per_step_causal = flops.model_causal;
}

// Time of the steps while the run's batch grows. `start_time`: step time of the first batch.
Seconds TimeOfRamp(const TrainingContext& context, Seconds start_time, Seconds step_time) {
  const BatchRamp& ramp = *context.run.batch_ramp;
  const Ratio start(ramp.start);
  return RampTime({start, Ratio(context.run.global_batch), ramp.tokens, context.shape.counted,
                   Procedure("Step time of the first batch", start_time, {start}, "a step with fewer sequences"),
                   step_time});
}

// Sets time and energy of the run without interruptions; returns the mean power per device.
Watts SetTimeAndEnergy(const TrainingContext& context, Seconds first_step, TrainingReport& report) {
  const Device& device = context.device();
  const StepTime& time = report.time;
  Seconds ramp_time;
  Tokens ramp_tokens;
  if (context.run.batch_ramp) {
    ramp_time = TimeOfRamp(context, first_step, report.step_time);
    ramp_tokens = context.run.batch_ramp->tokens;
  }
  report.time_to_train =
      Figure("Time to train", ramp_time + (context.run.tokens - ramp_tokens) / report.useful_tokens_per_s,
             "without interruptions");
  report.device_seconds = Figure("Device time of the run", report.time_to_train * DevicesWithNode(context));
  const Seconds busy =
      Figure("Busy time", time.forward + time.backward + time.recompute + time.optimizer, "a device computes in it");
  const Watts mean_power = MeanPower(min(device.idle, device.tdp), device.tdp, busy, report.step_time);
  report.energy = Figure("Training energy of all devices", report.device_seconds * mean_power);
  return mean_power;
}

// Model FLOPs of all steps.
Flops FlopsOfRun(const TrainingContext& context, const StepFlops& flops) {
  const Ratio steps = Figure("Steps of the run",
                             context.run.tokens / (Ratio(context.run.global_batch) * context.shape.counted * kToken));
  return Figure("Model FLOPs of the run", steps * flops.model);
}

// The run without interruptions, of which the report has the time.
InterruptedRun InterruptedRunOf(const TrainingContext& context, Watts mean_power, const TrainingReport& report) {
  const Device& device = context.device();
  const ParameterCount count = CountParameters(context.model);
  const StateBytes state = StateBytesOf(context);
  InterruptedRun run;
  run.asked = context.run.interruptions;
  run.asynchronous = InputAt("training.interruptions.asynchronous_checkpoints",
                             Ratio(run.asked.asynchronous_checkpoints ? 1 : 0), context.tape);
  run.devices = DevicesWithNode(context);
  run.parameters = count.total;
  run.mtp_parameters = MtpModules(context.model, context.run) * count.mtp_module;
  if (context.run.trainable == Trainable::kLora) run.adapters = AdapterParameters(context.model, context.run.framework);
  run.weight_bytes = context.run.trainable == Trainable::kLora ? state.adapter_weights : state.weights;
  run.optimizer_bytes = state.optimizer;
  run.host_bandwidth = device.host.bandwidth;
  run.idle = device.idle;
  run.tdp = device.tdp;
  run.time = report.time_to_train;
  run.mean_power = mean_power;
  return run;
}

RunReport WithInterruptions(const InterruptedRun& run, Flops arithmetic) {
  RunReport report;
  report.compute_optimal_tokens = ComputeOptimalTokens(run.parameters);
  report.compute_optimal_parameters = ComputeOptimalParameters(arithmetic);
  const Seconds mean_time_between = MeanTimeBetweenInterruptions(run);
  report.mean_time_between_interruptions = mean_time_between;
  const Checkpoint checkpoint = CheckpointOf(run);
  report.checkpoint = checkpoint.size;
  report.checkpoint_stall = checkpoint.stall;
  const CheckpointIntervals intervals = IntervalsOf(run, checkpoint, mean_time_between);
  report.young_interval = intervals.young;
  report.daly_interval = intervals.daly;
  report.checkpoint_interval = intervals.chosen;
  const std::optional<WallTime> wall = WallTimeOf(run, checkpoint, intervals.chosen, mean_time_between);
  if (!wall) return report;
  report.goodput = wall->goodput;
  report.wall_time = wall->total;
  report.interruptions = wall->interruptions;
  report.device_seconds = wall->device_seconds;
  report.energy = wall->energy;
  return report;
}

// Alternatives for a run that no change of its mapping makes fit.
std::string OtherRuns(const TrainingContext& context, Bytes capacity) {
  const std::string others = "choose a smaller model or add devices";
  TrainingRun tuned = context.run;
  tuned.trainable = Trainable::kLora;
  tuned.recompute = Recompute::kFull;
  const bool trains_all = context.run.trainable == Trainable::kAll;
  if (trains_all && FullestStage(tuned, context) <= capacity) return "fine-tune with LoRA, " + others;
  tuned.frozen_precision = FrozenPrecision::kNf4;
  if (FullestStage(tuned, context) > capacity) return others;
  return (trains_all ? "fine-tune with QLoRA, " : "freeze the weights in 4 bits (QLoRA), ") + others;
}

void CheckMemory(const TrainingContext& context, bool advice, TrainingReport& report) {
  const Bytes needed = report.memory.Total(), host_memory = context.device().host.memory;
  if (needed > report.memory.capacity) {
    std::string message;
    if (advice) {
      const std::string nearest = NearestFit(context, report.memory.capacity);
      message = "Out of memory: the most loaded stage needs " + GibText(needed) + " of " +
                GibText(report.memory.capacity) +
                (nearest.empty() ? "; no single change of micro-batch, ZeRO, TP, PP or CP makes it fit: " +
                                       OtherRuns(context, report.memory.capacity)
                                 : "; " + nearest);
    }
    report.infeasible.push_back({"memory", message});
  }
  Bytes on_host = report.memory.host;
  for (const TrainingStage& stage : report.stages) on_host = max(on_host, stage.memory.host);
  if (on_host > host_memory) {
    const std::string message = "Out of host memory: offload needs " + GibText(on_host) + " of " +
                                GibText(host_memory) + " per device; offload a smaller share";
    report.infeasible.push_back({"host_memory", advice ? message : ""});
  }
}

void CheckLinks(const TrainingContext& context, bool advice, TrainingReport& report) {
  if (!LacksLinks(context)) return;
  const std::string message =
      "No links: " + std::to_string(DevicesOf(context)) +
      " devices of a chip without links cannot exchange what they compute; give its network area, edge and power";
  report.infeasible.push_back({"network", advice ? message : ""});
}

}  // namespace

void FinishReport(const TrainingContext& context, const RecomputeChoice& recompute, const StepFlops* known, bool advice,
                  Seconds first_step, TrainingReport& report) {
  const StepFlops flops = known != nullptr ? *known : CountFlops(context.model, context.run, recompute);
  SetRates(context, flops, report);
  const Watts mean_power = SetTimeAndEnergy(context, first_step, report);
  if (advice) {
    std::string text = SubstitutionText(context.device(), context.run.precision);
    if (!text.empty()) report.warnings.push_back(text + ".");
    if (context.run.frozen_precision && context.run.trainable == Trainable::kAll)
      report.warnings.push_back("training.frozen_precision has no effect: all weights are trained.");
    report.assumed = AssumedInputs(context);
    report.run = WithInterruptions(InterruptedRunOf(context, mean_power, report), FlopsOfRun(context, flops));
    if (!report.run.wall_time) {
      report.warnings.push_back(
          "Interruptions come so often that the run never ends: the time to train is without them. Write checkpoints "
          "faster, use fewer devices, or state a longer training.interruptions.device_mtbf.");
    }
  }
  CheckMemory(context, advice, report);
  CheckLinks(context, advice, report);
}

}  // namespace slipstick
