#include <algorithm>
#include <optional>
#include <utility>

#include "core/operators/efficiency.h"
#include "core/training/flops.h"
#include "core/training/gradient.h"
#include "core/training/memo.h"
#include "core/training/memory.h"
#include "core/training/recompute.h"
#include "core/training/schedule.h"
#include "core/training/stage_time.h"
#include "core/training/training.h"
#include "core/training/whole_run.h"

namespace slipstick {
namespace {

constexpr std::string_view kPipelineSource = "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, 2021";

// Sends between stages: what one takes, and what of them shows a micro-batch.
struct Sends {
  Seconds one, exposed, link;
};

Sends TimeSends(const TrainingContext& context, Trace& trace) {
  const TrainingShape& shape = context.shape;
  if (shape.pipeline <= 1) return {};
  Trace::Scope scope(trace, "sends");
  const TrainingMapping& mapping = context.run.mapping;
  const FrameworkExchange& framework = context.framework().exchange;
  const double tokens = shape.tokens, hidden = static_cast<double>(context.model.hidden);
  const double split = framework.scatters_sends ? shape.tensor : shape.sequence_split;
  const Bytes element = 2 * kB;
  const BytesPerSecond hop_rate = context.pipeline_hop.rate;
  const Seconds hop_latency = context.pipeline_hop.latency;
  const double chunks = shape.chunks, scale = framework.pipeline_scale;
  const bool overlaps = chunks > 1 && mapping.overlap.pp.value_or(framework.pipeline_overlap);
  const double exposed_share = overlaps ? framework.pipeline_exposed : 1;
  FIGURE(trace, send_time, hop_latency + tokens * hidden * element / split / hop_rate,
         (Note{"One send between stages", "output of a stage, split over the tensor-parallel ranks", kPipelineSource}), hop_latency, tokens,
         hidden, element, split, hop_rate);
  FIGURE(trace, link_time, 2 * chunks * scale * send_time,
         (Note{"Sends of a micro-batch", "forward and backward, a chunk", kPipelineSource}), chunks, scale, send_time);
  FIGURE(trace, exposed_time, link_time * exposed_share, (Note{"Of them exposed", "the rest runs beside another chunk's compute"}),
         link_time, exposed_share);
  return {send_time, exposed_time, link_time};
}

// Time on the links, whether it shows or not.
LinkTime ComposeLinks(double micro_batches, const StageTime& slowest, const Sends& sends, const GradientExchange& gradients, Trace& trace) {
  Trace::Scope scope(trace, "link");
  const Seconds pass_tp = slowest.forward.tp_link + slowest.backward.tp_link + slowest.recompute.tp_link;
  const Seconds pass_cp = slowest.forward.cp_link + slowest.backward.cp_link + slowest.recompute.cp_link;
  const Seconds pass_ep = slowest.forward.ep_link + slowest.backward.ep_link + slowest.recompute.ep_link;
  const Seconds pass_pp = sends.link, pass_offload = slowest.host_link, state_offload = gradients.host_link;
  const Seconds pass_sharded = slowest.sharded_link, gradients_link = gradients.link;
  FIGURE(trace, tp, micro_batches * pass_tp, (Note{"Tensor parallel exchange on the links", "", "", "training.communication_s.tp"}),
         micro_batches, pass_tp);
  FIGURE(trace, cp, micro_batches * pass_cp, (Note{"Context parallel exchange on the links", "", "", "training.communication_s.cp"}),
         micro_batches, pass_cp);
  FIGURE(trace, ep, micro_batches * pass_ep, (Note{"Expert parallel exchange on the links", "", "", "training.communication_s.ep"}),
         micro_batches, pass_ep);
  FIGURE(trace, pp, micro_batches * pass_pp, (Note{"Sends between stages on the links", "", "", "training.communication_s.pp"}),
         micro_batches, pass_pp);
  FIGURE(trace, dp, micro_batches * pass_sharded + gradients_link,
         (Note{"Data parallel exchange on the links", "sharded weights a micro-batch, gradients and weights once a step", "",
               "training.communication_s.dp"}),
         micro_batches, pass_sharded, gradients_link);
  FIGURE(trace, offload, micro_batches * pass_offload + state_offload,
         (Note{"Transfers to and from the host", "", "", "training.communication_s.offload"}), micro_batches, pass_offload, state_offload);
  return {tp, cp, ep, pp, dp, offload};
}

// The step as its slowest stage sees it.
struct Composition {
  StepTime time;
  LinkTime link;
  Seconds pipeline;  // length of the schedule
};

// The passes of every virtual stage, lengthened by what shows of the sends.
struct Pipeline {
  PipelineShape shape;
  std::vector<StagePass> passes;
  Seconds transfer;  // of a send, what does not lengthen a pass: the next stage waits for it
};

Pipeline PipelineOf(const TrainingContext& context, const LayerTimes& times, const std::vector<LayerCounts>& virtual_stages,
                    const Sends& sends) {
  const TrainingShape& shape = context.shape;
  Pipeline pipeline{{context.run.mapping.schedule, static_cast<Count>(shape.pipeline), static_cast<Count>(shape.chunks),
                     static_cast<Count>(shape.micro_batches)},
                    {},
                    {}};
  const Seconds blocking = sends.exposed / (2 * shape.chunks);
  pipeline.transfer = max(Seconds{}, sends.one - blocking);
  const std::size_t visits = virtual_stages.size();
  pipeline.passes.reserve(visits);
  for (std::size_t visit = 0; visit < visits; ++visit) {
    const bool inside = visit > 1 && visit + 1 < visits;
    if (inside && virtual_stages[visit].of == virtual_stages[visit - 1].of) {
      pipeline.passes.push_back(pipeline.passes.back());
      continue;
    }
    const StageTime stage = TimeStage(context, times, virtual_stages[visit], visit == 0, visit + 1 == visits);
    pipeline.passes.push_back({stage.Forward() + blocking, stage.Backward() - stage.weight + blocking, stage.weight});
  }
  return pipeline;
}

// Micro-batches that a device sees as its own stage, of all: under dualpipe half of them meet it at its mirror's stage.
double OwnShare(const TrainingContext& context, std::size_t stages) {
  if (context.run.mapping.schedule != PipelineSchedule::kDualPipe || stages < 2) return 1;
  const auto m = static_cast<Count>(context.shape.micro_batches);
  return static_cast<double>((m + 1) / 2) / static_cast<double>(m);
}

// What a device spends on one micro-batch in the mean.
std::vector<StageTime> DeviceTimes(const TrainingContext& context, std::vector<StageTime> stages) {
  const double forth = OwnShare(context, stages.size());
  if (forth == 1) return stages;
  std::vector<StageTime> devices;
  for (std::size_t i = 0; i < stages.size(); ++i) devices.push_back(Mixed(stages[i], forth, stages[stages.size() - 1 - i], 1 - forth));
  return devices;
}

Composition Compose(const TrainingContext& context, const LayerTimes& times, const std::vector<StageTime>& stages,
                    const std::vector<Stage>& plan, const Pipeline& pipeline, const Sends& sends, Trace& trace) {
  const TrainingShape& shape = context.shape;
  const Framework& framework = context.framework();
  std::size_t slowest_index = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].Total() > stages[slowest_index].Total()) slowest_index = i;
  }
  const StageTime& slowest = stages[slowest_index];
  const GradientExchange gradients = ExchangeGradients(context, plan, stages, trace);

  Trace::Scope scope(trace, "step");
  const double own_share = OwnShare(context, stages.size());
  if (trace.on()) {
    const std::vector<StageShare> shares{{&plan[slowest_index], own_share}, {&plan[stages.size() - 1 - slowest_index], 1 - own_share}};
    ExplainStage(context, times, shares, slowest, trace);
  }
  const double micro_batches = shape.micro_batches;
  Composition result;
  const Seconds pass_forward = slowest.forward.compute, pass_backward = slowest.backward.compute,
                pass_recompute = slowest.recompute.compute;
  FIGURE(trace, forward, micro_batches * pass_forward, (Note{"Forward compute", "slowest stage", "", "training.time_s.forward"}),
         micro_batches, pass_forward);
  FIGURE(trace, backward, micro_batches * pass_backward, (Note{"Backward compute", "slowest stage", "", "training.time_s.backward"}),
         micro_batches, pass_backward);
  FIGURE(trace, recompute, micro_batches * pass_recompute, (Note{"Compute done again", "slowest stage", "", "training.time_s.recompute"}),
         micro_batches, pass_recompute);
  const Seconds pass_tp = slowest.forward.tp + slowest.backward.tp + slowest.recompute.tp;
  const Seconds pass_cp = slowest.forward.cp + slowest.backward.cp + slowest.recompute.cp;
  const Seconds pass_ep = slowest.forward.ep + slowest.backward.ep + slowest.recompute.ep;
  FIGURE(trace, tp, micro_batches * pass_tp, (Note{"Tensor parallel exchange, exposed", "", "", "training.time_s.tp"}), micro_batches,
         pass_tp);
  FIGURE(trace, cp, micro_batches * pass_cp, (Note{"Context parallel exchange, exposed", "", "", "training.time_s.cp"}), micro_batches,
         pass_cp);
  FIGURE(trace, ep, micro_batches * pass_ep, (Note{"Expert parallel exchange, exposed", "", "", "training.time_s.ep"}), micro_batches,
         pass_ep);
  const Seconds sends_exposed = sends.exposed;
  FIGURE(trace, pp, micro_batches * sends_exposed, (Note{"Sends between stages, exposed", "", "", "training.time_s.pp"}), micro_batches,
         sends_exposed);
  const Seconds pass_sharded = slowest.sharded_forward + slowest.sharded_backward, gradients_exposed = gradients.exposed;
  FIGURE(trace, dp, micro_batches * pass_sharded + gradients_exposed,
         (Note{"Data parallel exchange, exposed", "sharded weights a micro-batch, gradients and weights once a step", "",
               "training.time_s.dp"}),
         micro_batches, pass_sharded, gradients_exposed);
  const Seconds pass_time = slowest.Total();
  FIGURE(trace, work, micro_batches * pass_time + pp, (Note{"Work of the slowest stage", "its passes and the sends that hold them up"}),
         micro_batches, pass_time, pp);
  const Seconds length = shape.pipeline > 1 ? ScheduleLength(pipeline.shape, pipeline.passes, pipeline.transfer) : work, none;
  FIGURE(trace, schedule_length, max(length, work),
         (Note{"Length of the schedule", "every pass run in the schedule's order as soon as its inputs are there", kPipelineSource}),
         length, work);
  FIGURE(trace, bubble, max(none, schedule_length - work),
         (Note{"Pipeline bubble",
               "while the slowest stage waits; with equal stages the others' passes of one micro-batch over the chunks (1F1B)",
               kPipelineSource, "training.time_s.bubble"}),
         none, schedule_length, work);
  const Seconds pass_offload = slowest.host_forward + slowest.host_backward, state_offload = gradients.host_exposed;
  FIGURE(trace, offload, micro_batches * pass_offload + state_offload,
         (Note{"Host transfers, exposed", "activations a micro-batch, optimizer state once", "", "training.time_s.offload"}), micro_batches,
         pass_offload, state_offload);
  const Seconds optimizer_time = gradients.optimizer;
  FIGURE(trace, optimizer, 1 * optimizer_time, (Note{"Weight update", "", "", "training.time_s.optimizer"}), optimizer_time);
  const Seconds pass_host = slowest.forward.host + slowest.backward.host + slowest.recompute.host;
  FIGURE(trace, host, micro_batches * pass_host, (Note{"Waiting for kernel launches", "where the host is slower than the device"}),
         micro_batches, pass_host);
  const double devices = shape.devices, jitter = framework.jitter;
  const Seconds accumulation = gradients.accumulation, step_overhead = framework.step_overhead;
  FIGURE(trace, jitter_time, schedule_length * jitter * max(0.0, log2(devices / 8)),
         (Note{"Jitter", "the slowest of many devices sets the pace; grows with each doubling"}), schedule_length, jitter, devices);
  FIGURE(trace, other, host + jitter_time + accumulation + step_overhead,
         (Note{"Other", "launches, jitter, fp32 accumulation, host work between steps", "", "training.time_s.other"}), host, jitter_time,
         accumulation, step_overhead);
  FIGURE(trace, step_time, forward + backward + recompute + tp + cp + ep + pp + dp + bubble + optimizer + other + offload,
         (Note{"Step time", "one device's critical path", "", "training.step_time_s"}), forward, backward, recompute, tp, cp, ep, pp, dp,
         bubble, optimizer, other, offload);
  result.time = {forward, backward, recompute, tp, cp, ep, pp, dp, bubble, optimizer, other, offload};
  result.pipeline = schedule_length;
  result.link = ComposeLinks(micro_batches, slowest, sends, gradients, trace);
  return result;
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
  if (detail.is_hopeless != nullptr && !run.batch_ramp) {
    TrainingReport least;
    least.capacity = report.capacity;
    least.memory = report.memory;
    least.time = LeastTime(context, stages, pipeline);
    least.step_time = least.time.Total();
    FinishReport(context, recompute, flops, false, {}, least, off);
    if ((*detail.is_hopeless)(least)) {
      least.hopeless = true;
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
