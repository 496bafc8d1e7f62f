// The training part of a report.
#include "core/base/output.h"
#include "core/evaluation/report.h"
#include "core/evaluation/shared_outputs.h"

namespace slipstick {
namespace {

// The run, with its energy at the meter, its carbon and its cost.
struct RunPart : RunReport {
  TrainingCostEfficiency cost_efficiency;
};
RunPart RunOf(const TrainingPart& part) { return {part.run, part.cost_efficiency}; }

double Tonnes(Grams carbon) { return In(carbon, kKg) / 1000; }

}  // namespace

template <>
struct Outputs<StepTime> {
  static constexpr auto rows = std::tuple{
      Output("forward", &StepTime::forward, "Forward"),
      Output("backward", &StepTime::backward, "Backward"),
      Output("recompute", &StepTime::recompute, "Recomputation"),
      Output("tp", &StepTime::tp, "Tensor parallel, exposed"),
      Output("cp", &StepTime::cp, "Context parallel, exposed"),
      Output("ep", &StepTime::ep, "Expert parallel, exposed"),
      Output("pp", &StepTime::pp, "Pipeline P2P, exposed"),
      Output("dp", &StepTime::dp, "Data parallel, exposed"),
      Output("bubble", &StepTime::bubble, "Pipeline bubble").SmallerIsBetter(),
      Output("optimizer", &StepTime::optimizer, "Optimizer"),
      Output("other", &StepTime::other, "Other"),
      Output("offload", &StepTime::offload, "Host transfers, exposed"),
  };
};

template <>
struct Outputs<LinkTime> {
  static constexpr auto rows = std::tuple{
      Output("tp", &LinkTime::tp, "Tensor parallel"), Output("cp", &LinkTime::cp, "Context parallel"),
      Output("ep", &LinkTime::ep, "Expert parallel"), Output("pp", &LinkTime::pp, "Pipeline P2P"),
      Output("dp", &LinkTime::dp, "Data parallel"),   Output("offload", &LinkTime::offload, "Host transfers"),
  };
};

template <>
struct Outputs<TrainingMemory> {
  using M = TrainingMemory;
  static constexpr auto rows = std::tuple{
      Output("weights", &M::weights, "Weights"),
      Output("gradients", &M::gradients, "Gradients"),
      Output("optimizer", &M::optimizer, "Optimizer state"),
      Output("activations", &M::activations, "Activations"),
      Output("workspace", &M::workspace, "Workspace"),
      Output("total", &M::Total, "Peak memory per GPU").Short("Memory").SmallerIsBetter().Searchable(),
      Output("capacity", &M::capacity, "Capacity"),
      Output("host", &M::host, "Host memory"),
  };
};

template <>
struct Outputs<TrainingStage> {
  static constexpr auto rows = std::tuple{
      Output("layers", &TrainingStage::layers, "Layers").In("count"),
      Output("memory_bytes", &TrainingStage::memory, "Memory of the stage"),
      Output("time_s", &TrainingStage::time, "Time of the stage"),
  };
};

template <>
struct Outputs<TimedOperator> {
  using O = TimedOperator;
  static constexpr auto rows = std::tuple{
      Output("name", &O::name, "Operator"),
      Output("flops", &O::flops, "FLOPs"),
      Output("bytes", &O::bytes, "DRAM bytes"),
      Output("level_bytes", &O::level_bytes, "Bytes at each memory level"),
      Output("level_time_s", &O::level_time, "Time of each memory level at its bandwidth"),
      Output("time_s", &O::time, "Time"),
      Output("bound", &O::bound, "Bound"),
  };
};

template <>
struct Outputs<ScheduledPass> {
  static constexpr auto rows = std::tuple{
      Output("stage", &ScheduledPass::stage, "Stage"),
      Output("chunk", &ScheduledPass::chunk, "Virtual stage"),
      Output("micro_batch", &ScheduledPass::micro_batch, "Micro-batch"),
      Output("kind", &ScheduledPass::kind, "Pass"),
      Output("start_s", &ScheduledPass::start, "Start"),
      Output("end_s", &ScheduledPass::end, "End"),
  };
};

template <>
struct Outputs<TimelineCut> {
  static constexpr auto rows = std::tuple{
      Output("shown", &TimelineCut::shown, "Passes in the timeline, the first of each stage"),
      Output("of", &TimelineCut::of, "Passes of the step"),
  };
};

template <>
struct Outputs<RunPart> {
  using P = RunPart;
  using C = TrainingCostEfficiency;
  using E = EnergyParts<Joules>;
  static constexpr auto rows = std::tuple{
      Output("mean_time_between_interruptions_s", &P::mean_time_between_interruptions,
             "Mean time between interruptions")
          .Short("MTBI")
          .LargerIsBetter(),
      Output("interruptions", &P::interruptions, "Interruptions").SmallerIsBetter(),
      Output("checkpoint_bytes", &P::checkpoint, "Checkpoint size"),
      Output("checkpoint_stall_s", &P::checkpoint_stall, "Stall per checkpoint").SmallerIsBetter(),
      Output("checkpoint_interval_s", &P::checkpoint_interval, "Checkpoint interval"),
      Output("young_interval_s", &P::young_interval, "Checkpoint interval after Young"),
      Output("daly_interval_s", &P::daly_interval, "Checkpoint interval after Daly"),
      Output("goodput", &P::goodput, "Goodput").In("%").LargerIsBetter(),
      Output("wall_time_s", &P::wall_time, "Wall time with interruptions").Short("Wall time").SmallerIsBetter(),
      Output("energy_j", &P::cost_efficiency, &C::run_energy, &E::total, "Training energy with interruptions")
          .SmallerIsBetter(),
      Output("device_energy_j", &P::energy, "Training energy with interruptions, devices").SmallerIsBetter(),
      Output("tco2", &P::cost_efficiency, &C::run_emitted, Tonnes, "Operational carbon with interruptions")
          .In("t")
          .SmallerIsBetter(),
      Output("cost_usd", &P::cost_efficiency, &C::run, "Training cost with interruptions").SmallerIsBetter(),
      Output("compute_optimal_tokens", &P::compute_optimal_tokens, "Compute-optimal tokens for this model"),
      Output("compute_optimal_parameters", &P::compute_optimal_parameters,
             "Compute-optimal parameters for this budget"),
  };
};

template <>
struct Outputs<TrainingPart> {
  using P = TrainingPart;
  using I = TrainingIntervals;
  using C = TrainingCostEfficiency;
  using E = EnergyParts<Joules>;
  static constexpr auto rows = std::tuple{
      Output("feasible", &P::infeasible, IsFeasible, "Feasible"),
      Output("infeasible", &P::infeasible, "Reasons for infeasibility"),
      Output("assumed", &P::assumed, "Assumed inputs (not measured)"),
      Output("chosen", &P::chosen, "Mapping chosen, and why"),
      Output("step_time_interval", &P::intervals, &I::step_time, "Step time, 90 % interval"),
      Output("memory_interval", &P::intervals, &I::memory, "Peak memory per GPU, 90 % interval"),
      Output("memory_verdict", &P::intervals, &I::memory_verdict,
             "Whether the memory suffices: fits, tight, may_not_fit or does_not_fit"),
      Output("typical", &P::intervals, &I::typical, "Typical of production runs"),
      Output("step_time_s", &P::step_time, "Step time").Short("Step").SmallerIsBetter().Searchable(),
      Output("time_to_train_s", &P::time_to_train, "Time to train").SmallerIsBetter().Searchable(),
      Output("tokens_per_s", &P::tokens_per_s, "Throughput (tokens/s)")
          .Short("Throughput")
          .LargerIsBetter()
          .Searchable(),
      Output("tokens_per_s_per_device", &P::tokens_per_s_per_device, "Throughput per GPU (tokens/s)")
          .Short("Throughput per GPU")
          .LargerIsBetter()
          .Searchable(),
      Output("useful_tokens_per_s", &P::useful_tokens_per_s, "Useful throughput (tokens/s)")
          .Short("Useful throughput")
          .LargerIsBetter(),
      Output("model_flops_utilization", &P::model_flops_utilization, "Model FLOPs utilization (MFU)")
          .Short("MFU")
          .In("%")
          .LargerIsBetter()
          .Searchable(),
      Output("model_flops_utilization_causal", &P::model_flops_utilization_causal, "MFU, causal attention")
          .In("%")
          .LargerIsBetter(),
      Output("hardware_flops_utilization", &P::hardware_flops_utilization,
             "Hardware FLOPs utilization (HFU), attention unmasked")
          .Short("HFU")
          .In("%"),
      Output("arithmetic_utilization", &P::arithmetic_utilization, "Arithmetic utilization").In("%"),
      Output("model_flops_per_step", &P::model_flops_per_step, "Model FLOPs per step"),
      Output("model_flops_per_step_causal", &P::model_flops_per_step_causal, "Model FLOPs per step, causal attention"),
      Output("time_s", &P::time, "Step time by part"),
      Output("time_by_bound", &P::time_by_bound, "Step time by bound"),
      Output("network_by_level", &P::network_by_level, "Communication-bound time by level"),
      Output("communication_s", &P::communication, "Link time, exposed or hidden"),
      Output("dropped_tokens", &P::dropped_tokens, "Dropped tokens").In("%").SmallerIsBetter(),
      Output("memory_bytes", &P::memory, "Memory of the most loaded stage"),
      Output("memory_headroom_bytes", &P::memory, &TrainingMemory::Free, "Free memory per GPU")
          .LargerIsBetter()
          .Searchable(),
      Output("stages", &P::stages, "Pipeline stages"),
      Output("energy_j", &P::cost_efficiency, &C::energy, &E::total, "Training energy")
          .Short("Energy")
          .SmallerIsBetter()
          .Searchable(),
      Output("device_energy_j", &P::cost_efficiency, &C::energy, &E::devices, "Training energy, devices")
          .SmallerIsBetter(),
      Output("server_energy_j", &P::cost_efficiency, &C::energy, &E::servers, "Training energy, rest of the servers")
          .SmallerIsBetter(),
      Output("network_energy_j", &P::cost_efficiency, &C::energy, &E::network,
             "Training energy, network outside the servers")
          .SmallerIsBetter(),
      Output("building_energy_j", &P::cost_efficiency, &C::energy, &E::building,
             "Training energy, cooling and power conversion (PUE)")
          .SmallerIsBetter(),
      Output("tco2", &P::cost_efficiency, &C::emitted, Tonnes, "Operational carbon of training")
          .In("t")
          .SmallerIsBetter(),
      Output("tco2_embodied", &P::cost_efficiency, &C::embodied, Tonnes, "Embodied carbon, the run's share")
          .In("t")
          .SmallerIsBetter(),
      Output("cost_usd", &P::cost_efficiency, &C::steps, "Training cost").Short("Cost").SmallerIsBetter().Searchable(),
      Output("run", RunOf, "Run with interruptions"),
      Output("tokens_per_usd", &P::cost_efficiency, &C::tokens_per_usd, "Tokens per dollar (training)")
          .LargerIsBetter()
          .Searchable(),
      Output("tokens_per_j", &P::cost_efficiency, &C::tokens_per_j, "Tokens per joule (training)")
          .LargerIsBetter()
          .Searchable(),
      Output("operators", &P::operators, "Operators of a layer"),
      Output("collectives", &P::collectives, &CollectiveLog::uses, "Collectives"),
      Output("timeline", &P::timeline, "Pipeline schedule"),
      Output("timeline_cut", &P::timeline_cut, "Pipeline schedule, where it is cut"),
  };
};

Json WriteTimeline(const TrainingReport& report) {
  return Json{{"timeline", WriteOutputs(report.timeline)}, {"timeline_cut", WriteOutputs(report.timeline_cut)}};
}
Json WriteTraining(const TrainingPart& part) { return WriteOutputs(part); }
void AddShown(const TrainingPart& part, std::vector<ShownNumber>& shown) { AddShown(part, "training", shown); }
void DescribeTraining(Json& out) { DescribeOutputs<TrainingPart>("training", out); }
std::vector<SearchableOutput<TrainingPart>> SearchableTrainingOutputs() { return SearchableOutputs<TrainingPart>(); }

}  // namespace slipstick
