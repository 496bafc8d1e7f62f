// The training part of a report.
#include "core/base/output.h"
#include "core/evaluation/chosen_outputs.h"
#include "core/evaluation/collective_outputs.h"
#include "core/evaluation/interval_outputs.h"
#include "core/evaluation/report.h"
#include "core/evaluation/time_by_bound_outputs.h"

namespace slipstick {
namespace {

// Memory use of a stage, beside the capacity of its device.
struct MemoryPart {
  const TrainingMemory& used;
  Bytes capacity;
};
struct StageOutput {
  const TrainingStage& stage;
  Bytes capacity;
};
struct RunPart {
  const RunReport& report;
  const TrainingCostEfficiency& cost_efficiency;
};

std::optional<double> Tonnes(std::optional<Grams> carbon) { return carbon ? std::optional(In(*carbon, kKg) / 1000) : std::nullopt; }

}  // namespace

template <>
struct Outputs<StepTime> {
  static constexpr auto rows = std::tuple{Output("forward", &StepTime::forward, "Forward"),
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
                                          Output("offload", &StepTime::offload, "Host transfers, exposed")};
};

template <>
struct Outputs<LinkTime> {
  static constexpr auto rows =
      std::tuple{Output("tp", &LinkTime::tp, "Tensor parallel"), Output("cp", &LinkTime::cp, "Context parallel"),
                 Output("ep", &LinkTime::ep, "Expert parallel"), Output("pp", &LinkTime::pp, "Pipeline P2P"),
                 Output("dp", &LinkTime::dp, "Data parallel"),   Output("offload", &LinkTime::offload, "Host transfers")};
};

template <>
struct Outputs<MemoryPart> {
  using P = const MemoryPart&;
  static constexpr auto rows = std::tuple{Output(
                                              "weights", [](P part) { return part.used.weights; }, "Weights"),
                                          Output(
                                              "gradients", [](P part) { return part.used.gradients; }, "Gradients"),
                                          Output(
                                              "optimizer", [](P part) { return part.used.optimizer; }, "Optimizer state"),
                                          Output(
                                              "activations", [](P part) { return part.used.activations; }, "Activations"),
                                          Output(
                                              "workspace", [](P part) { return part.used.workspace; }, "Workspace"),
                                          Output(
                                              "total", [](P part) { return part.used.Total(); }, "Peak memory per GPU")
                                              .Short("Memory")
                                              .SmallerIsBetter()
                                              .Searchable(),
                                          Output("capacity", &MemoryPart::capacity, "Capacity"),
                                          Output(
                                              "host", [](P part) { return part.used.host; }, "Host memory")};
};

template <>
struct Outputs<StageOutput> {
  using P = const StageOutput&;
  static constexpr auto rows = std::tuple{Output(
                                              "layers", [](P part) { return part.stage.layers; }, "Layers")
                                              .In("count"),
                                          Output(
                                              "memory_bytes",
                                              [](P part) {
                                                return MemoryPart{part.stage.memory, part.capacity};
                                              },
                                              "Memory of the stage"),
                                          Output(
                                              "time_s", [](P part) { return part.stage.time; }, "Time of the stage")};
};

template <>
struct Outputs<TimedOperator> {
  static constexpr auto rows = std::tuple{Output("name", &TimedOperator::name, "Operator"),
                                          Output("flops", &TimedOperator::flops, "FLOPs"),
                                          Output("bytes", &TimedOperator::bytes, "DRAM bytes"),
                                          Output("level_bytes", &TimedOperator::level_bytes, "Bytes at each memory level"),
                                          Output("level_time_s", &TimedOperator::level_time, "Time of each memory level at its bandwidth"),
                                          Output("time_s", &TimedOperator::time, "Time"),
                                          Output(
                                              "bound", [](const TimedOperator& one) { return NameOf(one.bound); }, "Bound")};
};

template <>
struct Outputs<ScheduledPass> {
  static constexpr auto rows = std::tuple{Output("stage", &ScheduledPass::stage, "Stage"),
                                          Output("chunk", &ScheduledPass::chunk, "Virtual stage"),
                                          Output("micro_batch", &ScheduledPass::micro_batch, "Micro-batch"),
                                          Output("kind", &ScheduledPass::kind, "Pass"),
                                          Output("start_s", &ScheduledPass::start, "Start"),
                                          Output("end_s", &ScheduledPass::end, "End")};
};

template <>
struct Outputs<TimelineCut> {
  static constexpr auto rows = std::tuple{Output("shown", &TimelineCut::shown, "Passes in the timeline, the first of each stage"),
                                          Output("of", &TimelineCut::of, "Passes of the step")};
};

template <>
struct Outputs<RunPart> {
  using P = const RunPart&;
  static constexpr auto rows = std::tuple{
      Output(
          "mean_time_between_interruptions_s", [](P run) { return run.report.mean_time_between_interruptions; },
          "Mean time between interruptions")
          .Short("MTBI")
          .LargerIsBetter(),
      Output(
          "interruptions", [](P run) { return run.report.interruptions; }, "Interruptions")
          .SmallerIsBetter(),
      Output(
          "checkpoint_bytes", [](P run) { return run.report.checkpoint; }, "Checkpoint size"),
      Output(
          "checkpoint_stall_s", [](P run) { return run.report.checkpoint_stall; }, "Stall per checkpoint")
          .SmallerIsBetter(),
      Output(
          "checkpoint_interval_s", [](P run) { return run.report.checkpoint_interval; }, "Checkpoint interval"),
      Output(
          "young_interval_s", [](P run) { return run.report.young_interval; }, "Checkpoint interval after Young"),
      Output(
          "daly_interval_s", [](P run) { return run.report.daly_interval; }, "Checkpoint interval after Daly"),
      Output(
          "goodput", [](P run) { return run.report.goodput; }, "Goodput")
          .In("%")
          .LargerIsBetter(),
      Output(
          "wall_time_s", [](P run) { return run.report.wall_time; }, "Wall time with interruptions")
          .Short("Wall time")
          .SmallerIsBetter(),
      Output(
          "energy_j",
          [](P run) { return run.cost_efficiency.run_energy ? std::optional(run.cost_efficiency.run_energy->total) : std::nullopt; },
          "Training energy with interruptions")
          .SmallerIsBetter(),
      Output(
          "device_energy_j", [](P run) { return run.report.energy; }, "Training energy with interruptions, devices")
          .SmallerIsBetter(),
      Output(
          "tco2", [](P run) { return Tonnes(run.cost_efficiency.run_emitted); }, "Operational carbon with interruptions")
          .In("t")
          .SmallerIsBetter(),
      Output(
          "cost_usd", [](P run) { return run.cost_efficiency.run; }, "Training cost with interruptions")
          .SmallerIsBetter(),
      Output(
          "compute_optimal_tokens", [](P run) { return run.report.compute_optimal_tokens; }, "Compute-optimal tokens for this model"),
      Output(
          "compute_optimal_parameters", [](P run) { return run.report.compute_optimal_parameters; },
          "Compute-optimal parameters for this budget")};
};

template <>
struct Outputs<TrainingPart> {
  using P = const TrainingPart&;
  static std::vector<StageOutput> StagesOf(P part) {
    std::vector<StageOutput> stages;
    stages.reserve(part.report.stages.size());
    for (const TrainingStage& stage : part.report.stages) stages.push_back({stage, part.report.capacity});
    return stages;
  }
  static constexpr auto rows = std::tuple{
      Output(
          "feasible", [](P part) { return part.report.infeasible.empty(); }, "Feasible"),
      Output(
          "infeasible", [](P part) -> const auto& { return part.report.infeasible; }, "Reasons for infeasibility"),
      Output(
          "assumed", [](P part) -> const auto& { return part.report.assumed; }, "Assumed inputs (not measured)"),
      Output(
          "chosen", [](P part) -> const auto& { return part.chosen; }, "Mapping chosen, and why"),
      Output(
          "step_time_interval", [](P part) { return IntervalIn(part.intervals, &TrainingIntervals::step_time); },
          "Step time, 90 % interval"),
      Output(
          "memory_interval", [](P part) { return IntervalIn(part.intervals, &TrainingIntervals::memory); },
          "Peak memory per GPU, 90 % interval"),
      Output(
          "memory_verdict", [](P part) { return IntervalIn(part.intervals, &TrainingIntervals::memory_verdict); },
          "Whether the memory suffices: fits, tight, may_not_fit or does_not_fit"),
      Output(
          "typical", [](P part) { return IntervalIn(part.intervals, &TrainingIntervals::typical); }, "Typical of production runs"),
      Output(
          "step_time_s", [](P part) { return part.report.step_time; }, "Step time")
          .Short("Step")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "time_to_train_s", [](P part) { return part.report.time_to_train; }, "Time to train")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "tokens_per_s", [](P part) { return part.report.tokens_per_s; }, "Throughput (tokens/s)")
          .Short("Throughput")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "tokens_per_s_per_device", [](P part) { return part.report.tokens_per_s_per_device; }, "Throughput per GPU (tokens/s)")
          .Short("Throughput per GPU")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "useful_tokens_per_s", [](P part) { return part.report.useful_tokens_per_s; }, "Useful throughput (tokens/s)")
          .Short("Useful throughput")
          .LargerIsBetter(),
      Output(
          "model_flops_utilization", [](P part) { return part.report.model_flops_utilization; }, "Model FLOPs utilization (MFU)")
          .Short("MFU")
          .In("%")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "model_flops_utilization_causal", [](P part) { return part.report.model_flops_utilization_causal; }, "MFU, causal attention")
          .In("%")
          .LargerIsBetter(),
      Output(
          "hardware_flops_utilization", [](P part) { return part.report.hardware_flops_utilization; }, "Hardware FLOPs utilization (HFU), attention unmasked")
          .Short("HFU")
          .In("%"),
      Output(
          "arithmetic_utilization", [](P part) { return part.report.arithmetic_utilization; }, "Arithmetic utilization")
          .In("%"),
      Output(
          "model_flops_per_step", [](P part) { return part.report.model_flops_per_step; }, "Model FLOPs per step"),
      Output(
          "model_flops_per_step_causal", [](P part) { return part.report.model_flops_per_step_causal; },
          "Model FLOPs per step, causal attention"),
      Output(
          "time_s", [](P part) -> const auto& { return part.report.time; }, "Step time by part"),
      Output(
          "time_by_bound", [](P part) -> const auto& { return part.report.time_by_bound; }, "Step time by bound"),
      Output(
          "network_by_level", [](P part) -> const auto& { return part.report.network_by_level; }, "Communication-bound time by level"),
      Output(
          "communication_s", [](P part) -> const auto& { return part.report.communication; }, "Link time, exposed or hidden"),
      Output(
          "dropped_tokens", [](P part) { return part.report.dropped_tokens; }, "Dropped tokens")
          .In("%")
          .SmallerIsBetter(),
      Output(
          "memory_bytes",
          [](P part) {
            return MemoryPart{part.report.memory, part.report.capacity};
          },
          "Memory of the most loaded stage"),
      Output(
          "memory_headroom_bytes", [](P part) { return part.report.capacity - part.report.memory.Total(); }, "Free memory per GPU")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "stages", [](P part) { return StagesOf(part); }, "Pipeline stages"),
      Output(
          "energy_j", [](P part) { return part.cost_efficiency.energy.total; }, "Training energy")
          .Short("Energy")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "device_energy_j", [](P part) { return part.cost_efficiency.energy.devices; }, "Training energy, devices")
          .SmallerIsBetter(),
      Output(
          "server_energy_j", [](P part) { return part.cost_efficiency.energy.servers; },
          "Training energy, rest of the servers")
          .SmallerIsBetter(),
      Output(
          "building_energy_j", [](P part) { return part.cost_efficiency.energy.building; },
          "Training energy, cooling and power conversion (PUE)")
          .SmallerIsBetter(),
      Output(
          "tco2", [](P part) { return Tonnes(part.cost_efficiency.emitted); }, "Operational carbon of training")
          .In("t")
          .SmallerIsBetter(),
      Output(
          "tco2_embodied", [](P part) { return Tonnes(part.cost_efficiency.embodied); }, "Embodied carbon, the run's share")
          .In("t")
          .SmallerIsBetter(),
      Output(
          "cost_usd", [](P part) { return part.cost_efficiency.steps; }, "Training cost")
          .Short("Cost")
          .SmallerIsBetter()
          .Searchable(),
      Output(
          "run",
          [](P part) {
            return RunPart{part.report.run, part.cost_efficiency};
          },
          "Run with interruptions"),
      Output(
          "tokens_per_usd", [](P part) { return part.cost_efficiency.tokens_per_usd; }, "Tokens per dollar (training)")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "tokens_per_j", [](P part) { return part.cost_efficiency.tokens_per_j; }, "Tokens per joule (training)")
          .LargerIsBetter()
          .Searchable(),
      Output(
          "operators", [](P part) -> const auto& { return part.report.operators; }, "Operators of a layer"),
      Output(
          "collectives", [](P part) -> const auto& { return part.report.collectives.uses(); }, "Collectives"),
      Output(
          "timeline", [](P part) -> const auto& { return part.report.timeline; }, "Pipeline schedule"),
      Output(
          "timeline_cut", [](P part) -> const auto& { return part.report.timeline_cut; },
          "Pipeline schedule, where it is cut")};
};

Json WriteTimeline(const TrainingReport& report) {
  return Json{{"timeline", WriteOutputs(report.timeline)}, {"timeline_cut", WriteOutputs(report.timeline_cut)}};
}
Json WriteTraining(const TrainingPart& part) { return WriteOutputs(part); }
void DescribeTraining(Json& out) { DescribeOutputs<TrainingPart>("training", out); }
std::vector<SearchableOutput<TrainingPart>> SearchableTrainingOutputs() { return SearchableOutputs<TrainingPart>(); }

}  // namespace slipstick
