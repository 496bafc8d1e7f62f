#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/figure.h"
#include "core/operators/bound_device.h"
#include "core/operators/efficiency.h"
#include "core/training/framework_warnings.h"
#include "core/training/memo.h"
#include "core/training/memory.h"
#include "core/training/recompute.h"
#include "core/training/schedule.h"
#include "core/training/step_breakdown.h"
#include "core/training/training.h"
#include "core/training/whole_run.h"
#include "core/training_stage/context.h"

namespace slipstick {
namespace {

// Time of one stage for `m` micro-batches; the rest of the step is its bubble.
StepTime TimeOfStage(double m, const StageTime& stage, const StepTime& step, const LinkTime& link) {
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

// The timeline: the passes, then on every device the end of the step (exposed reduction, optimizer, jitter, host work).
// A longer schedule is cut off.
void SetTimeline(const Pipeline& pipeline, Seconds schedule_length, TrainingReport& report) {
  constexpr Count kMostPasses = 1 << 14;  // 2 MB in a report
  std::vector<ScheduledPass>& boxes = report.timeline;
  boxes = Timeline(pipeline.shape, pipeline.passes, pipeline.transfer, kMostPasses);
  const auto shown = static_cast<Count>(boxes.size()), of = PassesOf(pipeline.shape, pipeline.passes);
  if (shown < of) {
    report.timeline_cut = TimelineCut{shown, of};
    return;
  }
  for (Count device = 0; device < pipeline.shape.stages && report.step_time > schedule_length; ++device) {
    boxes.push_back({device, 0, pipeline.shape.micro_batches - 1, "update", schedule_length, report.step_time});
  }
}

// Memory of the most loaded stage. Among equal stages the first has the most passes in flight.
TrainingMemory FullestMemory(const MemoryTerms& terms, const std::vector<Stage>& plan,
                             const RecomputeChoice& recompute) {
  TrainingMemory fullest;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto mirrors_same = [&] {
      return StagesOn(terms.context, plan, i).mirrored == nullptr || RepeatsPrevious(plan, plan.size() - i);
    };
    if (RepeatsPrevious(plan, i) && mirrors_same()) continue;
    const TrainingMemory memory = StageMemory(terms, plan, i, recompute);
    const Bytes host = max(fullest.host, memory.host);
    if (memory.Total() > fullest.Total()) fullest = memory;
    fullest.host = host;
  }
  return fullest;
}

std::vector<StageTime> TimeStages(const TrainingContext& context, const LayerTimes& times,
                                  const std::vector<Stage>& plan) {
  std::vector<StageTime> stages;
  stages.reserve(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Stage& stage = plan[i];
    stages.push_back(RepeatsPrevious(plan, i) ? stages.back()
                                              : TimeStage(context, times, stage.layers, stage.embedding, stage.head));
  }
  return stages;
}

// If offload is fully hidden, recomputing more cannot help.
bool ExposesOffload(const std::vector<StageTime>& stages) {
  return std::any_of(stages.begin(), stages.end(),
                     [](const StageTime& stage) { return stage.host_forward + stage.host_backward > Seconds{}; });
}

// Step time under a recomputation choice. Choices that differ only in a full_share between 0 and 1 share `blocks`.
Seconds StepTimeUnder(const TrainingContext& context, const LayerWorks& works, const StagePlan& plan,
                      const RecomputeChoice& choice, std::optional<LayerTimes>& blocks) {
  const bool mixed = choice.full_share > 0 && choice.full_share < 1;
  std::optional<LayerTimes> own;
  std::optional<LayerTimes>& times = mixed ? blocks : own;
  if (!times) times = TimeLayers(context, works, choice, nullptr);
  times->recompute = choice;
  const std::vector<StageTime> stages = DeviceTimes(context, TimeStages(context, *times, plan.stages));
  const PipelineSends sends = TimePipelineSends(context);
  return BreakDownStep(context, stages, plan.stages, PipelineOf(context, *times, plan.virtual_stages, sends), sends)
      .time.Total();
}

// Lower bound on the step time: the passes of the slowest stage; under 1F1B and GPipe also those of the last stage plus
// one micro-batch's passes on all stages before it, which the pipeline needs to fill and drain. The lower bound on
// energy needs compute time separately.
StepTime StepTimeLowerBound(const TrainingContext& context, const std::vector<StageTime>& stages,
                            const Pipeline& pipeline) {
  const StageTime& slowest = SlowestOf(stages);
  constexpr double kRounding = 1 - 1e-12;  // the bound must hold for any order of summation
  const double m = context.shape.micro_batches;
  StepTime bound;
  bound.forward = kRounding * m * slowest.forward.compute;
  bound.backward = kRounding * m * slowest.backward.compute;
  bound.recompute = kRounding * m * slowest.recompute.compute;
  Seconds work = m * slowest.Total();
  const PipelineSchedule schedule = context.run.mapping.schedule;
  if (schedule == PipelineSchedule::kOneFOneB || schedule == PipelineSchedule::kGpipe) {
    Seconds others;  // stages before it, on their first chunk
    for (std::size_t i = 0; i + 1 < stages.size(); ++i)
      others += pipeline.passes[i].forward + pipeline.passes[i].backward;
    work = max(work, m * stages.back().Total() + others);
  }
  bound.other = max(Seconds{}, kRounding * work - bound.forward - bound.backward - bound.recompute);
  return bound;
}

// Time of only the forward passes over the batch, as for log-probabilities of given texts: every micro-batch on the
// slowest stage, the first one on all others. No activations are kept or recomputed.
Seconds ForwardPasses(const TrainingContext& context, const std::vector<StageTime>& stages,
                      const PipelineSends& sends) {
  Seconds slowest, all;
  for (const StageTime& stage : stages) {
    slowest = max(slowest, stage.Forward());
    all += stage.Forward();
  }
  const auto hops = static_cast<double>(stages.size() - 1),
             chunks = static_cast<double>(context.run.mapping.virtual_stages);
  return context.shape.micro_batches * slowest + (all - slowest) / chunks + hops * sends.one;
}

// Evaluates one run. A search may stop it once memory or the lower bound on the step time is known.
class Evaluation {
 public:
  Evaluation(const Model& model, const Cluster& cluster, const TrainingRun& run, const TrainingDetail& detail,
             Tape* tape)
      : model_(model),
        cluster_(cluster),
        run_(run),
        detail_(detail),
        context_(detail.memo != nullptr ? detail.memo->Context() : OwnContext(tape)),
        works_(detail.memo != nullptr ? detail.memo->Works() : own_works_.emplace(LayerWorks{})),
        memory_terms_{context_, works_} {
    if (own_context_ && (detail.operators || NamesAlgorithm(cluster.collectives)))
      own_context_->log = &report_.collectives;
  }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  TrainingReport Run() {
    ExplainInputs();
    plan_ = detail_.memo != nullptr ? &detail_.memo->Plan() : &own_plan_.emplace(PlanLayers(context_, works_));
    recompute_ = ChoiceFor(context_.model, context_.run, plan_->stages);
    const bool is_auto = run_.recompute == Recompute::kAuto;
    if (!is_auto && StopsEarly()) return report_;
    if (is_auto) {
      DecideRecompute();
      if (StopsEarly()) return report_;
    } else {
      TimeLayersInto();
    }
    const std::vector<StageTime> stages = DeviceTimes(context_, TimeStages(context_, *times_, plan_->stages));
    const PipelineSends sends = TimePipelineSends(context_);
    const Pipeline pipeline = PipelineOf(context_, *times_, plan_->virtual_stages, sends);
    const StepFlops* const flops = detail_.memo != nullptr ? &detail_.memo->FlopsOf(recompute_) : nullptr;
    if (detail_.can_prune != nullptr && !run_.batch_ramp) {
      TrainingReport bound = BoundOf(stages, pipeline, flops);
      if ((*detail_.can_prune)(bound)) {
        bound.pruned = true;
        return bound;
      }
    }
    const StepBreakdown step = BreakDownStep(context_, stages, plan_->stages, pipeline, sends);
    report_.hardware_flops_per_device = ExecutedFlops();
    report_.time = step.time;
    report_.communication = step.link;
    report_.step_time = step.step_time;
    if (detail_.memo == nullptr) {
      report_.scoring = ForwardPasses(context_, stages, sends);
      ReportBounds(step.time);
    }
    if (detail_.advice) ReportStages(stages, step);
    FinishReport(context_, recompute_, flops, detail_.advice, FirstStepOfRamp(), report_);
    if (detail_.timeline) SetTimeline(pipeline, step.schedule_length, report_);
    return report_;
  }

 private:
  const TrainingContext& OwnContext(Tape* tape) {
    return own_context_.emplace(tape == nullptr ? MakeContext(model_, cluster_, run_)
                                                : ContextWithNodes(model_, cluster_, run_, *tape));
  }

  void ExplainInputs() {
    if (detail_.memo == nullptr) *own_works_ = WorksOf(context_);
    if (detail_.advice) {
      WarnOfWholeExperts(context_, report_.warnings);
      WarnBeyondFramework(context_, report_.warnings);
    }
    Ratio dropped_share = 0;
    for (const LayerWork& work : works_.of) dropped_share = max(dropped_share, work.dropped_share);
    if (!context_.model.moe) dropped_share = InputAt("model.moe", dropped_share, context_.tape);
    const Ratio dropped = Figure("Dropped copies of routed tokens", dropped_share,
                                 "those above the experts' capacity; none without a capacity factor");
    report_.dropped_tokens = dropped;
    SetCapacity();
  }

  void SetCapacity() {
    const TrainingRun& run = context_.run;
    const Bytes visible = InputAt("cluster.device.memory.usable", UsableMemory(context_.device()), context_.tape);
    report_.memory.capacity = Figure("Usable memory per device", max(0 * kB, visible - run.framework.memory.outside),
                                     "visible to programs, without what the framework's allocator cannot reserve");
    const Ratio margin = run.memory_margin.value_or(InputAt("training.memory_margin", Ratio(0), context_.tape));
    memory_budget_ = Figure("Memory that automatic choices may fill", (1 - margin) * report_.memory.capacity,
                            "usable memory without the margin");
  }

  [[nodiscard]] TrainingMemory OnDevice(TrainingMemory memory) const {
    memory.capacity = report_.memory.capacity;
    return memory;
  }

  // A search needs no time for a run that is infeasible.
  bool StopsEarly() {
    if (detail_.advice) return false;
    report_.memory = OnDevice(FullestMemory(memory_terms_, plan_->stages, recompute_));
    const std::string_view reason = LacksLinks(context_)                                  ? "network"
                                    : report_.memory.Total() > memory_budget_             ? "memory"
                                    : report_.memory.host > context_.device().host.memory ? "host_memory"
                                                                                          : "";
    if (!reason.empty()) report_.infeasible.push_back({std::string(reason), ""});
    return !reason.empty();
  }

  void TimeLayersInto() {
    if (detail_.memo != nullptr) {
      times_ = &detail_.memo->Times(recompute_);
      return;
    }
    operators_ = {detail_.operators, {}, {}};
    times_ = &own_times_.emplace(TimeLayers(context_, works_, recompute_, &operators_));
  }

  void DecideRecompute() {
    recompute_ = LeastRecompute(memory_terms_, plan_->stages, memory_budget_);
    if (!(run_.offload.activations > 0)) {
      recompute_ = ExplainLeast(recompute_, memory_terms_, plan_->stages, memory_budget_);
      return TimeLayersInto();
    }
    TimeLayersInto();
    if (ExposesOffload(TimeStages(context_, *times_, plan_->stages))) {
      std::optional<LayerTimes> blocks;
      const auto step_time = [&](const RecomputeChoice& choice) {
        return StepTimeUnder(context_, works_, *plan_, choice, blocks);
      };
      recompute_ = FastestRecompute(memory_terms_, plan_->stages, memory_budget_, step_time);
      recompute_ = ExplainFastest(recompute_, memory_terms_, plan_->stages, memory_budget_, step_time);
    } else {
      recompute_ = ExplainLeast(recompute_, memory_terms_, plan_->stages, memory_budget_);
    }
    TimeLayersInto();
  }

  // Mean FLOPs per device over the kernels of all stages.
  [[nodiscard]] Flops ExecutedFlops() const {
    const Flops micro_batch_flops = FlopsOfStages(context_, *times_, plan_->stages);
    return Figure("FLOPs that the kernels execute in a step",
                  context_.shape.micro_batches / context_.shape.pipeline * micro_batch_flops,
                  "mean of the devices; attention as far as they compute it");
  }

  TrainingReport BoundOf(const std::vector<StageTime>& stages, const Pipeline& pipeline, const StepFlops* flops) {
    TrainingReport bound;
    bound.memory = report_.memory;
    bound.time = StepTimeLowerBound(context_, stages, pipeline);
    bound.step_time = bound.time.Total();
    FinishReport(context_, recompute_, flops, false, {}, bound);
    return bound;
  }

  // Splits the compute time of the passes in proportion to the operators of all layers.
  void ReportBounds(const StepTime& time) {
    TimeByBound layers;
    for (const LayerKind kind : kLayerKinds) {
      double count = 0;
      for (const Stage& stage : plan_->stages) count += stage.layers.of[kind];
      for (const auto part :
           {&TimeByBound::compute, &TimeByBound::l1, &TimeByBound::l2, &TimeByBound::memory, &TimeByBound::latency}) {
        layers.*part += count * (operators_.by_bound[kind].*part);
      }
    }
    const Seconds passes = Figure("Computing of the slowest stage", time.forward + time.backward + time.recompute);
    const Seconds exchanged = Figure("Exposed communication and host transfers",
                                     time.tp + time.cp + time.ep + time.pp + time.dp + time.offload);
    ByBound<Seconds> beside;
    beside.network = exchanged;
    beside.latency = time.other;
    beside.bubble = time.bubble;
    beside.Of(context_.stream_bound) = time.optimizer;
    report_.time_by_bound = SplitByBound(passes, layers, beside, "training.time_by_bound", context_.tape);
    report_.network_by_level = NetworkTimeByLevel(context_, time);
    report_.operators = std::move(operators_.first);
  }

  void ReportStages(const std::vector<StageTime>& stages, const StepBreakdown& step) {
    std::size_t fullest = 0;
    for (std::size_t i = 0; i < plan_->stages.size(); ++i) {
      TrainingStage stage;
      stage.layers = static_cast<Count>(plan_->stages[i].layers.Total());
      stage.memory = OnDevice(StageMemory(memory_terms_, plan_->stages, i, recompute_));
      stage.time = TimeOfStage(context_.shape.micro_batches, stages[i], step.time, step.link);
      report_.stages.push_back(stage);
      if (stage.memory.Total() > report_.stages[fullest].memory.Total()) fullest = i;
    }
    report_.memory = OnDevice(MemoryOfMostLoaded(memory_terms_, plan_->stages, fullest, recompute_));
  }

  [[nodiscard]] Seconds FirstStepOfRamp() {
    if (!run_.batch_ramp) return {};
    TrainingRun first = run_;
    first.global_batch = run_.batch_ramp->start;
    first.batch_ramp.reset();
    return EvaluateTraining(model_, cluster_, first, {.operators = false, .timeline = false}).step_time;
  }

  const Model& model_;
  const Cluster& cluster_;
  const TrainingRun& run_;
  const TrainingDetail& detail_;
  // Without a memo the evaluation owns its sub-results.
  std::optional<TrainingContext> own_context_;
  std::optional<LayerWorks> own_works_;
  StepOperators operators_;
  std::optional<LayerTimes> own_times_;
  std::optional<StagePlan> own_plan_;
  const TrainingContext& context_;
  const LayerWorks& works_;
  const MemoryTerms memory_terms_;
  RecomputeChoice recompute_;
  Bytes memory_budget_;  // part of the capacity that automatic choices may use
  const StagePlan* plan_ = nullptr;
  const LayerTimes* times_ = nullptr;
  TrainingReport report_;
};

}  // namespace

TrainingReport EvaluateTraining(const Model& model, const Cluster& cluster, const TrainingRun& run,
                                const TrainingDetail& detail, Tape* tape) {
  return Evaluation(model, cluster, run, detail, tape).Run();
}

}  // namespace slipstick
