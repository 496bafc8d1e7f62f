#include <algorithm>
#include <optional>
#include <utility>

#include "core/operators/efficiency.h"
#include "core/training/compose.h"
#include "core/training/flops.h"
#include "core/training/memo.h"
#include "core/training/memory.h"
#include "core/training/recompute.h"
#include "core/training/training.h"
#include "core/training/whole_run.h"

namespace slipstick {
namespace {

// A mapping without expert_tp leaves experts whole on every rank, and so misses memory and time of a stack that splits them.
void WarnOfWholeExperts(const TrainingContext& context, std::vector<std::string>& warnings) {
  const TrainingMapping& mapping = context.run.mapping;
  const Framework& framework = context.framework();
  const bool differs = framework.experts.expert_tp == ExpertTensor::kTensorParallel && mapping.tp > 1 && mapping.expert_tp == 1;
  if (!context.model.moe || !differs) return;
  const std::string degree = std::to_string(mapping.tp);
  warnings.push_back("Expert tensor parallelism is 1 here; " + framework.name + " uses TP (" + degree +
                     ") unless told otherwise: training.mapping.expert_tp " + degree);
}

// A stage's own share of the step; what it does not fill is its bubble.
StepTime TimeOfStage(const TrainingContext& context, const StageTime& stage, const StepTime& step, const LinkTime& link) {
  const double m = context.shape.micro_batches;
  StepTime time = step;
  time.forward = m * stage.forward.compute;
  time.backward = m * stage.backward.compute;
  time.recompute = m * stage.recompute.compute;
  time.tp = min(link.tp, m * (stage.forward.tp + stage.backward.tp + stage.recompute.tp));
  time.cp = min(link.cp, m * (stage.forward.cp + stage.backward.cp + stage.recompute.cp));
  time.ep = min(link.ep, m * (stage.forward.ep + stage.backward.ep + stage.recompute.ep));
  time.bubble = {};
  time.bubble = max(Seconds{}, step.Total() - time.Total());
  return time;
}

// The passes as they run; then, on every device, what ends the step: exposed reduction, update, jitter, the host's work.
std::vector<ScheduledPass> WholeTimeline(const Pipeline& pipeline, Seconds schedule_length, Seconds step_time) {
  std::vector<ScheduledPass> boxes = Timeline(pipeline.shape, pipeline.passes, pipeline.transfer);
  for (Count device = 0; device < pipeline.shape.stages && step_time > schedule_length; ++device) {
    boxes.push_back({device, 0, pipeline.shape.micro_batches - 1, "update", schedule_length, step_time});
  }
  return boxes;
}

// Memory of the stage that needs most. Stages of a kind need less the later they are: fewer passes are in flight there.
TrainingMemory FullestMemory(const MemoryTerms& terms, const std::vector<Stage>& plan, const RecomputeChoice& recompute) {
  Trace off = Trace::Off();
  TrainingMemory fullest;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (RepeatsPrevious(plan, i)) continue;
    const TrainingMemory memory = StageMemory(terms, plan[i], static_cast<double>(i), recompute, off);
    const Bytes host = max(fullest.host, memory.host);
    if (memory.Total() > fullest.Total()) fullest = memory;
    fullest.host = host;
  }
  return fullest;
}

std::vector<StageTime> TimeStages(const TrainingContext& context, const LayerTimes& times, const std::vector<Stage>& plan) {
  std::vector<StageTime> stages;
  stages.reserve(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Stage& stage = plan[i];
    if (RepeatsPrevious(plan, i)) {
      stages.push_back(stages.back());
    } else {
      stages.push_back(TimeStage(context, times, stage.layers, stage.embedding, stage.head));
    }
  }
  return stages;
}

// Where no transfer to the host shows, nothing is won by computing more again.
bool ShowsOffload(const std::vector<StageTime>& stages) {
  return std::any_of(stages.begin(), stages.end(),
                     [](const StageTime& stage) { return stage.host_forward + stage.host_backward > Seconds{}; });
}

// The step under a recomputation, nothing else of it. Choices that differ only in the share of repeated layers share `blocks`.
Seconds StepTimeUnder(const TrainingContext& context, const LayerWorks& works, const StagePlan& plan, const RecomputeChoice& choice,
                      std::optional<LayerTimes>& blocks) {
  Trace off = Trace::Off();
  const bool mixed = choice.full_share > 0 && choice.full_share < 1;
  std::optional<LayerTimes> own;
  std::optional<LayerTimes>& times = mixed ? blocks : own;
  if (!times) times = TimeLayers(context, works, choice, off, nullptr);
  times->full_share = choice.full_share;
  const std::vector<StageTime> stages = DeviceTimes(context, TimeStages(context, *times, plan.stages));
  const Sends sends = TimeSends(context, off);
  return Compose(context, *times, stages, plan.stages, PipelineOf(context, *times, plan.virtual_stages, sends), sends, off).time.Total();
}

// What no step is shorter than: the slowest stage's own passes, and those of the last stage, which waits for the first
// micro-batch's forward passes and is waited for by the last one's backward passes. Compute is kept apart, for the energy; a
// rounding is allowed for.
StepTime LeastTime(const TrainingContext& context, const std::vector<StageTime>& stages, const Pipeline& pipeline) {
  const StageTime* slowest = &stages.front();
  for (const StageTime& stage : stages) {
    if (stage.Total() > slowest->Total()) slowest = &stage;
  }
  constexpr double kRounding = 1 - 1e-12;
  const double m = context.shape.micro_batches;
  StepTime least;
  least.forward = kRounding * m * slowest->forward.compute;
  least.backward = kRounding * m * slowest->backward.compute;
  least.recompute = kRounding * m * slowest->recompute.compute;
  Seconds work = m * slowest->Total();
  const PipelineSchedule schedule = context.run.mapping.schedule;
  if (schedule == PipelineSchedule::kOneFOneB || schedule == PipelineSchedule::kGpipe) {
    Seconds others;  // on their first chunk
    for (std::size_t i = 0; i + 1 < stages.size(); ++i) others += pipeline.passes[i].forward + pipeline.passes[i].backward;
    work = max(work, m * stages.back().Total() + others);
  }
  least.other = max(Seconds{}, kRounding * work - least.forward - least.backward - least.recompute);
  return least;
}

}  // namespace

TrainingReport EvaluateTraining(const Model& model, const Cluster& cluster, const TrainingRun& run, const TrainingDetail& detail,
                                Trace& trace) {
  Trace::Scope scope(trace, "training");
  TrainingMemo* const memo = detail.memo;
  std::optional<TrainingContext> own_context;
  std::optional<LayerWorks> own_works;
  std::optional<LayerTimes> own_times;
  std::optional<StagePlan> own_plan;
  const TrainingContext& context = memo != nullptr ? memo->Context() : own_context.emplace(MakeContext(model, cluster, run));
  const LayerWorks& works = memo != nullptr ? memo->Works() : own_works.emplace(WorksOf(context));
  const MemoryTerms memory_terms{context, works};
  Trace off = Trace::Off();
  TrainingReport report;
  ExplainShape(context, trace);
  if (detail.advice) WarnOfWholeExperts(context, report.warnings);
  double dropped_share = 0;
  for (const LayerWork& work : works.of) dropped_share = max(dropped_share, work.dropped_share);
  FIGURE(trace, dropped_tokens, 1 * dropped_share,
         (Note{"Routed copies that are dropped", "those over the experts' capacity; none without a capacity factor", "",
               "training.dropped_tokens"}),
         dropped_share);
  report.dropped_tokens = dropped_tokens;
  const Bytes visible = UsableMemory(context.device());
  FIGURE(
      trace, capacity, 1 * visible,
      (Note{"Memory that the device really offers", "what is left of the stated size to programs", "", "training.memory_bytes.capacity"}),
      visible);
  report.capacity = capacity;
  const auto is_full = [&](const StagePlan& plan, const RecomputeChoice& recompute) {
    report.memory = FullestMemory(memory_terms, plan.stages, recompute);
    if (report.memory.Total() > report.capacity) {
      report.infeasible.push_back({"memory", ""});
    } else if (report.memory.host > context.device().host.memory) {
      report.infeasible.push_back({"host_memory", ""});
    }
    return !report.infeasible.empty();
  };

  RecomputeChoice recompute = ChoiceFor(run);
  const bool decides_later = run.recompute == Recompute::kAuto;
  const StagePlan* const plan = memo != nullptr ? &memo->Plan() : &own_plan.emplace(PlanLayers(context, works));
  if (!detail.advice && !decides_later && is_full(*plan, recompute)) return report;
  const auto time_layers = [&](Trace& into) -> const LayerTimes& {
    if (memo != nullptr) return memo->Times(recompute);
    report.operators.clear();
    return own_times.emplace(TimeLayers(context, works, recompute, into, detail.operators ? &report.operators : nullptr));
  };
  const LayerTimes* times = &time_layers(decides_later ? off : trace);
  if (decides_later) {
    recompute = LeastRecompute(memory_terms, plan->stages, report.capacity);
    times = &time_layers(run.offload.activations > 0 ? off : trace);
    if (run.offload.activations > 0) {
      std::optional<LayerTimes> blocks;
      const auto step_time = [&](const RecomputeChoice& choice) { return StepTimeUnder(context, works, *plan, choice, blocks); };
      if (ShowsOffload(TimeStages(context, *times, plan->stages))) {
        recompute = FastestRecompute(memory_terms, plan->stages, report.capacity, step_time);
      }
      times = &time_layers(trace);
    }
    if (!detail.advice && is_full(*plan, recompute)) return report;
  }

  const std::vector<StageTime> stages = DeviceTimes(context, TimeStages(context, *times, plan->stages));
  for (const StageTime& stage : stages) report.executed_flops += context.shape.micro_batches / context.shape.pipeline * stage.executed;
  const Sends sends = TimeSends(context, trace);
  const Pipeline pipeline = PipelineOf(context, *times, plan->virtual_stages, sends);
  const StepFlops* const flops = memo != nullptr ? &memo->FlopsOf(recompute) : nullptr;
  if (detail.can_prune != nullptr && !run.batch_ramp) {
    TrainingReport least;
    least.capacity = report.capacity;
    least.memory = report.memory;
    least.time = LeastTime(context, stages, pipeline);
    least.step_time = least.time.Total();
    FinishReport(context, recompute, flops, false, {}, least, off);
    if ((*detail.can_prune)(least)) {
      least.pruned = true;
      return least;
    }
  }
  const Composition step = Compose(context, *times, stages, plan->stages, pipeline, sends, trace);
  report.time = step.time;
  report.communication = step.link;
  report.step_time = step.time.Total();
  if (detail.advice) {
    std::size_t fullest = 0;
    for (std::size_t i = 0; i < plan->stages.size(); ++i) {
      TrainingStage stage;
      stage.layers = static_cast<Count>(plan->stages[i].layers.Total());
      stage.memory = StageMemory(memory_terms, plan->stages[i], static_cast<double>(i), recompute, off);
      stage.time = TimeOfStage(context, stages[i], step.time, step.link);
      report.stages.push_back(stage);
      if (stage.memory.Total() > report.stages[fullest].memory.Total()) fullest = i;
    }
    Trace::Scope memory_scope(trace, "memory");
    report.memory = StageMemory(memory_terms, plan->stages[fullest], static_cast<double>(fullest), recompute, trace);
  }
  Seconds first_step;
  if (run.batch_ramp) {
    TrainingRun first = run;
    first.global_batch = run.batch_ramp->start;
    first.batch_ramp.reset();
    first_step = EvaluateTraining(model, cluster, first, {false, false, true}, off).step_time;
  }
  FinishReport(context, recompute, flops, detail.advice, first_step, report, trace);
  if (detail.timeline) report.timeline = WholeTimeline(pipeline, step.pipeline, report.step_time);
  return report;
}

}  // namespace slipstick
