// What a report says of training.
#include "core/base/output.h"
#include "core/evaluation/report.h"

namespace slipstick {
namespace {

// Of a pipeline stage or of the fullest: what the device can hold stands beside what it does.
struct MemoryPart {
  const TrainingMemory& used;
  Bytes capacity;
};
struct StagePart {
  const TrainingStage& stage;
  Bytes capacity;
};
struct RunPart {
  const RunReport& report;
  const TrainingCostEfficiency& worth;
};

std::optional<double> Tonnes(std::optional<Grams> carbon) { return carbon ? std::optional(In(*carbon, kKg) / 1000) : std::nullopt; }

}  // namespace

template <>
struct Outputs<StepTime> {
  static constexpr auto rows = std::tuple{Give("forward", &StepTime::forward, "Forward"),
                                          Give("backward", &StepTime::backward, "Backward"),
                                          Give("recompute", &StepTime::recompute, "Recomputation"),
                                          Give("tp", &StepTime::tp, "Tensor parallel, exposed"),
                                          Give("cp", &StepTime::cp, "Context parallel, exposed"),
                                          Give("ep", &StepTime::ep, "Expert parallel, exposed"),
                                          Give("pp", &StepTime::pp, "Pipeline P2P, exposed"),
                                          Give("dp", &StepTime::dp, "Data parallel, exposed"),
                                          Give("bubble", &StepTime::bubble, "Pipeline bubble").Less(),
                                          Give("optimizer", &StepTime::optimizer, "Optimizer"),
                                          Give("other", &StepTime::other, "Other"),
                                          Give("offload", &StepTime::offload, "Host transfers, exposed")};
};

template <>
struct Outputs<LinkTime> {
  static constexpr auto rows =
      std::tuple{Give("tp", &LinkTime::tp, "Tensor parallel"), Give("cp", &LinkTime::cp, "Context parallel"),
                 Give("ep", &LinkTime::ep, "Expert parallel"), Give("pp", &LinkTime::pp, "Pipeline P2P"),
                 Give("dp", &LinkTime::dp, "Data parallel"),   Give("offload", &LinkTime::offload, "Host transfers")};
};

template <>
struct Outputs<MemoryPart> {
  using P = const MemoryPart&;
  static constexpr auto rows = std::tuple{Give(
                                              "weights", [](P part) { return part.used.weights; }, "Weights"),
                                          Give(
                                              "gradients", [](P part) { return part.used.gradients; }, "Gradients"),
                                          Give(
                                              "optimizer", [](P part) { return part.used.optimizer; }, "Optimizer state"),
                                          Give(
                                              "activations", [](P part) { return part.used.activations; }, "Activations"),
                                          Give(
                                              "workspace", [](P part) { return part.used.workspace; }, "Workspace"),
                                          Give(
                                              "total", [](P part) { return part.used.Total(); }, "Peak memory per GPU")
                                              .Short("Memory")
                                              .Less()
                                              .Sought(),
                                          Give("capacity", &MemoryPart::capacity, "Capacity"),
                                          Give(
                                              "host", [](P part) { return part.used.host; }, "Host memory")};
};

template <>
struct Outputs<StagePart> {
  using P = const StagePart&;
  static constexpr auto rows = std::tuple{Give(
                                              "layers", [](P part) { return part.stage.layers; }, "Layers")
                                              .In("count"),
                                          Give(
                                              "memory_bytes",
                                              [](P part) {
                                                return MemoryPart{part.stage.memory, part.capacity};
                                              },
                                              "Memory of the stage"),
                                          Give(
                                              "time_s", [](P part) { return part.stage.time; }, "Time of the stage")};
};

template <>
struct Outputs<TimedOperator> {
  static constexpr auto rows = std::tuple{Give("name", &TimedOperator::name, "Operator"),
                                          Give("flops", &TimedOperator::flops, "FLOPs"),
                                          Give("bytes", &TimedOperator::bytes, "DRAM bytes"),
                                          Give("level_bytes", &TimedOperator::level_bytes, "Bytes at each memory level"),
                                          Give("time_s", &TimedOperator::time, "Time"),
                                          Give(
                                              "bound", [](const TimedOperator& one) { return NameOf(one.bound); }, "Bound")};
};

template <>
struct Outputs<ScheduledPass> {
  static constexpr auto rows = std::tuple{Give("stage", &ScheduledPass::stage, "Stage"),
                                          Give("chunk", &ScheduledPass::chunk, "Virtual stage"),
                                          Give("micro_batch", &ScheduledPass::micro_batch, "Micro-batch"),
                                          Give("kind", &ScheduledPass::kind, "Pass"),
                                          Give("start_s", &ScheduledPass::start, "Start"),
                                          Give("end_s", &ScheduledPass::end, "End")};
};

template <>
struct Outputs<RunPart> {
  using P = const RunPart&;
  static constexpr auto rows = std::tuple{
      Give(
          "mean_time_between_interruptions_s", [](P run) { return run.report.mean_time_between_interruptions; },
          "Mean time between interruptions")
          .Short("MTBI")
          .More(),
      Give(
          "interruptions", [](P run) { return run.report.interruptions; }, "Interruptions")
          .Less(),
      Give(
          "checkpoint_bytes", [](P run) { return run.report.checkpoint; }, "Checkpoint size"),
      Give(
          "checkpoint_stall_s", [](P run) { return run.report.checkpoint_stall; }, "Stall per checkpoint")
          .Less(),
      Give(
          "checkpoint_interval_s", [](P run) { return run.report.checkpoint_interval; }, "Checkpoint interval"),
      Give(
          "young_interval_s", [](P run) { return run.report.young_interval; }, "Checkpoint interval after Young"),
      Give(
          "daly_interval_s", [](P run) { return run.report.daly_interval; }, "Checkpoint interval after Daly"),
      Give(
          "goodput", [](P run) { return run.report.goodput; }, "Goodput")
          .In("%")
          .More(),
      Give(
          "wall_time_s", [](P run) { return run.report.wall_time; }, "Wall time with interruptions")
          .Short("Wall time")
          .Less(),
      Give(
          "energy_j", [](P run) { return run.worth.run_energy ? std::optional(run.worth.run_energy->total) : std::nullopt; },
          "Training energy with interruptions")
          .Less(),
      Give(
          "device_energy_j", [](P run) { return run.report.energy; }, "Training energy with interruptions, devices")
          .Less(),
      Give(
          "tco2", [](P run) { return Tonnes(run.worth.run_emitted); }, "Operational carbon with interruptions")
          .In("t")
          .Less(),
      Give(
          "cost_usd", [](P run) { return run.worth.run; }, "Training cost with interruptions")
          .Less(),
      Give(
          "compute_optimal_tokens", [](P run) { return run.report.compute_optimal_tokens; }, "Compute-optimal tokens for this model"),
      Give(
          "compute_optimal_parameters", [](P run) { return run.report.compute_optimal_parameters; },
          "Compute-optimal parameters for this budget")};
};

template <>
struct Outputs<TrainingPart> {
  using P = const TrainingPart&;
  static std::optional<Joules> AtTheWall(P part, Joules energy) { return part.worth.at_the_wall ? std::optional(energy) : std::nullopt; }
  static std::vector<StagePart> StagesOf(P part) {
    std::vector<StagePart> stages;
    stages.reserve(part.report.stages.size());
    for (const TrainingStage& stage : part.report.stages) stages.push_back({stage, part.report.capacity});
    return stages;
  }
  static constexpr auto rows = std::tuple{
      Give(
          "feasible", [](P part) { return part.report.infeasible.empty(); }, "Feasible"),
      Give(
          "infeasible", [](P part) -> const auto& { return part.report.infeasible; }, "Why it is infeasible"),
      Give(
          "assumed", [](P part) -> const auto& { return part.report.assumed; }, "Inputs that no measurement set"),
      Give(
          "step_time_s", [](P part) { return part.report.step_time; }, "Step time")
          .Short("Step")
          .Less()
          .Sought(),
      Give(
          "time_to_train_s", [](P part) { return part.report.time_to_train; }, "Time to train")
          .Less()
          .Sought(),
      Give(
          "tokens_per_s", [](P part) { return part.report.tokens_per_s; }, "Throughput (tokens/s)")
          .Short("Throughput")
          .More()
          .Sought(),
      Give(
          "tokens_per_s_per_device", [](P part) { return part.report.tokens_per_s_per_device; }, "Throughput per GPU (tokens/s)")
          .Short("Throughput per GPU")
          .More()
          .Sought(),
      Give(
          "model_flops_utilization", [](P part) { return part.report.model_flops_utilization; }, "Model FLOPs utilization (MFU)")
          .Short("MFU")
          .In("%")
          .More()
          .Sought(),
      Give(
          "model_flops_utilization_causal", [](P part) { return part.report.model_flops_utilization_causal; }, "MFU, causal attention")
          .In("%")
          .More(),
      Give(
          "hardware_flops_utilization", [](P part) { return part.report.hardware_flops_utilization; }, "Hardware FLOPs utilization (HFU)")
          .Short("HFU")
          .In("%"),
      Give(
          "arithmetic_utilization", [](P part) { return part.report.arithmetic_utilization; }, "Arithmetic utilization")
          .In("%"),
      Give(
          "model_flops_per_step", [](P part) { return part.report.model_flops_per_step; }, "Model FLOPs per step"),
      Give(
          "model_flops_per_step_causal", [](P part) { return part.report.model_flops_per_step_causal; },
          "Model FLOPs per step, causal attention"),
      Give(
          "time_s", [](P part) -> const auto& { return part.report.time; }, "Step time by part"),
      Give(
          "communication_s", [](P part) -> const auto& { return part.report.communication; }, "Link time, exposed or hidden"),
      Give(
          "dropped_tokens", [](P part) { return part.report.dropped_tokens; }, "Dropped tokens")
          .In("%")
          .Less(),
      Give(
          "memory_bytes",
          [](P part) {
            return MemoryPart{part.report.memory, part.report.capacity};
          },
          "Memory of the most loaded stage"),
      Give(
          "memory_headroom_bytes", [](P part) { return part.report.capacity - part.report.memory.Total(); }, "Free memory per GPU")
          .More()
          .OfSearchAlone(),
      Give(
          "stages", [](P part) { return StagesOf(part); }, "Pipeline stages"),
      Give(
          "energy_j", [](P part) { return part.worth.energy.total; }, "Training energy")
          .Short("Energy")
          .Less()
          .Sought(),
      Give(
          "device_energy_j", [](P part) { return part.worth.energy.devices; }, "Training energy, devices")
          .Less(),
      Give(
          "server_energy_j", [](P part) { return AtTheWall(part, part.worth.energy.servers); }, "Training energy, rest of the servers")
          .Less(),
      Give(
          "building_energy_j", [](P part) { return AtTheWall(part, part.worth.energy.building); },
          "Training energy, cooling and power conversion (PUE)")
          .Less(),
      Give(
          "tco2", [](P part) { return Tonnes(part.worth.emitted); }, "Operational carbon of training")
          .In("t")
          .Less(),
      Give(
          "tco2_embodied", [](P part) { return Tonnes(part.worth.embodied); }, "Embodied carbon, the run's share")
          .In("t")
          .Less(),
      Give(
          "cost_usd", [](P part) { return part.worth.steps; }, "Training cost")
          .Short("Cost")
          .Less()
          .Sought(),
      Give(
          "run",
          [](P part) {
            return RunPart{part.report.run, part.worth};
          },
          "The run with its interruptions"),
      Give(
          "tokens_per_usd", [](P part) { return part.worth.tokens_per_usd; }, "Tokens per dollar (training)")
          .More()
          .Sought(),
      Give(
          "tokens_per_j", [](P part) { return part.worth.tokens_per_j; }, "Tokens per joule (training)")
          .More()
          .Sought(),
      Give(
          "operators", [](P part) -> const auto& { return part.report.operators; }, "Operators of a layer"),
      Give(
          "timeline", [](P part) -> const auto& { return part.report.timeline; }, "Pipeline schedule")};
};

Json WriteTimeline(const std::vector<ScheduledPass>& timeline) { return WriteOutputs(timeline); }
Json WriteTraining(const TrainingPart& part) { return WriteOutputs(part); }
void DescribeTraining(Json& out) { DescribeOutputs<TrainingPart>("training", out); }
std::vector<SoughtOutput<TrainingPart>> SoughtOfTraining() { return SoughtOutputs<TrainingPart>(); }

}  // namespace slipstick
