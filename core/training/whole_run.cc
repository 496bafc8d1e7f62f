#include "core/training/whole_run.h"

#include <utility>

#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/operators/substitution.h"
#include "core/training/memory.h"
#include "core/training/named_terms.h"
#include "core/training/recompute.h"
#include "core/training_stage/attention_core.h"
#include "core/training_stage/named_terms.h"

namespace slipstick {
namespace {

// Memory of the most loaded stage of a changed run.
Bytes FullestStage(const TrainingRun& run, const TrainingContext& base) {
  const TrainingContext context = MakeContext(base.model, base.cluster, run);
  const LayerWorks works = WorksOf(context);
  const MemoryTerms terms{context, works};
  PlacementLoads loads;
  const std::vector<Stage> plan =
      PlanStages(context, works,
                 CountKinds(context, PlaceLayers(base.model.layers, run.mapping.pp, run.mapping.virtual_stages,
                                                 run.mapping.schedule, loads, run.framework.places_by_cost)));
  Trace off = Trace::Off();
  RecomputeChoice choice = ChoiceFor(base.model, run, plan);
  if (run.recompute == Recompute::kAuto) choice.full_share = 1;
  Bytes fullest;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    fullest = max(fullest, StageMemory(terms, plan, i, choice, off).Total());
  }
  return fullest;
}

// Whether a run may split tensors, layers and sequences so; more tensor parallelism stays within a node.
bool IsLegalSplit(const TrainingContext& context, const TrainingRun& run) {
  const TrainingMapping& mapping = run.mapping;
  const Count heads_over = mapping.cp_kind == ContextKind::kUlysses ? mapping.tp * mapping.cp : Count(mapping.tp);
  const bool stays = mapping.tp == context.run.mapping.tp || static_cast<double>(mapping.tp) <= context.node_devices;
  return stays && context.model.heads % heads_over == 0 &&
         mapping.pp * mapping.virtual_stages <= context.model.layers && run.sequence % mapping.cp == 0;
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
  for (Count zero = run.mapping.zero + 1; zero <= 3 && context.shape.DataRanks() > 1; ++zero) {
    TrainingRun changed = run;
    changed.mapping.zero = zero;
    if (fits(changed)) return "ZeRO-" + std::to_string(zero) + " would fit";
  }
  // More model parallelism on the same devices, in place of data parallelism.
  const Count data = run.mapping.dp.value_or(1);
  for (Count factor = 2; factor <= 64; factor *= 2) {
    for (const auto& [name, member] : {std::pair("TP ", &TrainingMapping::tp), std::pair("PP ", &TrainingMapping::pp),
                                       std::pair("CP ", &TrainingMapping::cp)}) {
      TrainingRun changed = run;
      changed.mapping.*member = changed.mapping.*member * factor;
      if (data % factor != 0 || !IsLegalSplit(context, changed)) continue;
      changed.mapping.dp = data / factor;
      if (fits(changed))
        return name + std::to_string(changed.mapping.*member) + " in place of data parallelism would fit";
    }
  }
  return "";
}

}  // namespace

std::string NearestFit(const TrainingContext& context, Bytes capacity) {
  const std::string single = NearestFitOf(context, context.run, capacity);
  if (!single.empty() || context.run.recompute == Recompute::kFull) return single;
  TrainingRun recomputed = context.run;
  recomputed.recompute = Recompute::kFull;
  const std::string with_it = NearestFitOf(context, recomputed, capacity);
  return with_it.empty() ? "" : "full recomputation and " + with_it;
}

namespace {

// Paths of inputs that a rule set, not a measurement.
std::vector<std::string> AssumedInputs(const TrainingContext& context) {
  using A = AssumedEfficiency;
  std::vector<AssumedFlag> used{&A::gemm_efficiency, &A::sustained_clock_derating, &A::rated_power,
                                &A::bandwidth_efficiency, &A::usable};
  if (IsEightBitFloat(NativePrecision(context.device(), context.run.precision)))
    used.push_back(&A::gemm_efficiency_fp8);
  if (context.run.flash_attention && !HasOwnAttention(context)) {
    used.insert(used.end(), {&A::attention_forward, &A::attention_backward});
  }
  return AssumedPaths(context.device(), "cluster.device", used);
}

void AddThroughput(const TrainingContext& context, const StepFlops& flops, TrainingReport& report, Trace& trace) {
  const TrainingRun& run = context.run;
  const double devices = context.shape.devices;
  trace.Input("devices", devices, "training.devices");
  const double batch = static_cast<double>(run.global_batch), sequence = context.shape.sequence;
  trace.Input("batch", batch, "training.global_batch");
  trace.Input("sequence", sequence, "training.sequence");
  const Tokens tokens = run.tokens;
  trace.Input("tokens", tokens, "training.tokens");
  const Seconds step_time = report.step_time;
  const Flops model_flops = flops.model, model_flops_causal = flops.model_causal, hardware_flops = flops.hardware;
  const FlopsPerSecond peak_rate = PeakRate(context.prepared->requested.device, run.precision, trace);
  FIGURE(trace, tokens_per_s, batch * sequence * kToken / step_time,
         (Note{"Throughput (tokens/s)", "all devices", "", "training.tokens_per_s"}), batch, sequence, step_time);
  const double counted = context.shape.counted;
  FIGURE(trace, useful_tokens_per_s, batch * counted * kToken / step_time,
         (Note{"Useful throughput (tokens/s)", "all devices, without padding", "", "training.useful_tokens_per_s"}),
         batch, counted, step_time);
  const Flops executed_flops = report.hardware_flops_per_device;
  FIGURE(trace, arithmetic_utilization, executed_flops / (peak_rate * step_time),
         (Note{"Arithmetic utilization",
               "FLOPs that the kernels execute over the dense peak; MFU and HFU count attention in full and may pass 1 "
               "for long sequences",
               "", "training.arithmetic_utilization"}),
         executed_flops, peak_rate, step_time);
  FIGURE(trace, device_tokens_per_s, tokens_per_s / devices,
         (Note{"Throughput per GPU (tokens/s)", "", "", "training.tokens_per_s_per_device"}), tokens_per_s, devices);
  FIGURE(trace, model_flops_utilization, model_flops / (devices * peak_rate * step_time),
         (Note{"Model FLOPs utilization (MFU)",
               "model FLOPs over the dense peak of the run's precision; full attention, as Megatron-LM, PaLM and MPT "
               "report it",
               "Korthikanti et al. 2022", "training.model_flops_utilization"}),
         model_flops, devices, peak_rate, step_time);
  FIGURE(
      trace, model_flops_utilization_causal, model_flops_causal / (devices * peak_rate * step_time),
      (Note{"MFU, causal attention", "attention cut by the causal mask; compare it with runs that count attention so",
            "", "training.model_flops_utilization_causal"}),
      model_flops_causal, devices, peak_rate, step_time);
  FIGURE(trace, hardware_flops_utilization, hardware_flops / (devices * peak_rate * step_time),
         (Note{"Hardware FLOPs utilization (HFU), attention unmasked",
               "recomputation included; kernels skip the masked half of attention, so that long sequences may pass 1",
               "Korthikanti et al. 2022", "training.hardware_flops_utilization"}),
         hardware_flops, devices, peak_rate, step_time);
  report.model_flops_per_step = flops.model;
  report.model_flops_per_step_causal = flops.model_causal;
  report.tokens_per_s = tokens_per_s;
  report.useful_tokens_per_s = useful_tokens_per_s;
  report.tokens_per_s_per_device = device_tokens_per_s;
  report.arithmetic_utilization = arithmetic_utilization;
  report.model_flops_utilization = model_flops_utilization;
  report.model_flops_utilization_causal = model_flops_utilization_causal;
  report.hardware_flops_utilization = hardware_flops_utilization;
}

Seconds TimeToTrain(const TrainingContext& context, Tokens tokens, TokensPerSecond useful_tokens_per_s,
                    Seconds first_step, Seconds step_time, Trace& trace) {
  constexpr Note kNote{"Time to train", "without interruptions", "", "training.time_to_train_s"};
  const TrainingRun& run = context.run;
  if (!run.batch_ramp) {
    FIGURE(trace, time_to_train, tokens / useful_tokens_per_s, kNote, tokens, useful_tokens_per_s);
    return time_to_train;
  }
  const Tokens ramp_tokens = run.batch_ramp->tokens;
  const Seconds ramp_time = RampTime(context, first_step, step_time, trace);
  trace.Input("ramp_tokens", ramp_tokens, "training.batch_ramp.tokens");
  FIGURE(trace, time_to_train, ramp_time + (tokens - ramp_tokens) / useful_tokens_per_s, kNote, ramp_time, tokens,
         ramp_tokens, useful_tokens_per_s);
  return time_to_train;
}

// Time and energy of the run without interruptions; returns the mean power of a device.
Watts AddTimeAndEnergy(const TrainingContext& context, Seconds first_step, TrainingReport& report, Trace& trace) {
  const TrainingRun& run = context.run;
  const Device& device = context.device();
  const Seconds step_time = report.step_time;
  const TokensPerSecond useful_tokens_per_s = report.useful_tokens_per_s;
  const double devices = context.shape.devices;
  const Tokens tokens = run.tokens;
  const Seconds time_to_train = TimeToTrain(context, tokens, useful_tokens_per_s, first_step, step_time, trace);
  FIGURE(trace, device_seconds, time_to_train * devices, (Note{"Device time of the run", ""}), time_to_train, devices);
  const StepTime& time = report.time;
  const Seconds forward = time.forward, backward = time.backward, recompute = time.recompute,
                optimizer = time.optimizer;
  FIGURE(trace, busy_time, forward + backward + recompute + optimizer, (Note{"Time in which a device computes"}),
         forward, backward, recompute, optimizer);
  const Watts tdp = device.tdp, idle = min(device.idle, device.tdp);
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Input("idle", idle, "cluster.device.idle");
  FIGURE(trace, mean_power, idle + (tdp - idle) * busy_time / step_time,
         (Note{"Mean power per device", "TDP while it computes, idle power while it waits"}), idle, tdp, busy_time,
         step_time);
  FIGURE(trace, device_energy, device_seconds * mean_power,
         (Note{"Training energy of all devices", "", "", "training.device_energy_j"}), device_seconds, mean_power);
  report.time_to_train = time_to_train;
  report.device_seconds = device_seconds;
  report.energy = device_energy;
  return mean_power;
}

// What else a run can be where no change of its mapping makes it fit.
std::string OtherRuns(const TrainingRun& run) {
  const std::string frozen = run.trainable == Trainable::kAll                ? "fine-tune with LoRA, "
                             : run.frozen_precision == FrozenPrecision::kNf4 ? ""
                                                                             : "freeze the weights in 4 bits (QLoRA), ";
  return frozen + "choose a smaller model or add devices";
}

void CheckMemory(const TrainingContext& context, bool advice, TrainingReport& report) {
  const Bytes needed = report.memory.Total(), host_memory = context.device().host.memory;
  if (needed > report.memory.capacity) {
    std::string message;
    if (advice) {
      const std::string nearest = NearestFit(context, report.memory.capacity);
      message = "Out of memory: the most loaded stage needs " + GibText(needed) + " of " +
                GibText(report.memory.capacity) +
                (nearest.empty()
                     ? "; no single change of micro-batch, ZeRO, TP, PP or CP makes it fit: " + OtherRuns(context.run)
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

// Model FLOPs of all steps.
Flops FlopsOfRun(const TrainingContext& context, Flops model_flops, Trace& trace) {
  const double batch = static_cast<double>(context.run.global_batch), counted = context.shape.counted;
  const Tokens tokens = context.run.tokens;
  FIGURE(trace, tokens_per_step, batch * counted * kToken, (Note{"Tokens of a step"}), batch, counted);
  FIGURE(trace, steps, tokens / tokens_per_step, (Note{"Steps of the run"}), tokens, tokens_per_step);
  FIGURE(trace, run_flops, steps * model_flops, (Note{"Model FLOPs of the run"}), steps, model_flops);
  return run_flops;
}

}  // namespace

void FinishReport(const TrainingContext& context, const RecomputeChoice& recompute, const StepFlops* known, bool advice,
                  Seconds first_step, TrainingReport& report, Trace& trace) {
  const StepFlops flops = known != nullptr ? *known : CountFlops(context.model, context.run, recompute, trace);
  AddThroughput(context, flops, report, trace);
  const Watts mean_power = AddTimeAndEnergy(context, first_step, report, trace);
  if (advice) {
    std::string text = SubstitutionText(context.device(), context.run.precision);
    if (!text.empty()) report.warnings.push_back(text + ".");
    report.assumed = AssumedInputs(context);
    const Flops run_flops = FlopsOfRun(context, flops.model, trace);
    report.run = WithInterruptions(context, {report.time_to_train, mean_power, run_flops}, trace);
  }
  CheckMemory(context, advice, report);
  CheckLinks(context, advice, report);
}

}  // namespace slipstick
