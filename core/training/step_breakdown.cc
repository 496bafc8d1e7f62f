#include "core/training/step_breakdown.h"

#include <string_view>
#include <vector>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/collectives/fabric.h"
#include "core/training/gradient.h"
#include "core/training/schedule.h"
#include "core/training_stage/state_bytes.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

constexpr std::string_view kPipelineSource =
    "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, 2021";

// Share of the micro-batches that a device computes as its own stage: half of them under DualPipe, where the others
// belong to the mirrored stage.
double OwnStageShare(const TrainingContext& context, std::size_t stages) {
  if (context.run.mapping.schedule != PipelineSchedule::kDualPipe || stages < 2) return 1;
  const auto m = static_cast<Count>(context.shape.micro_batches), own = (m + 1) / 2;
  return static_cast<double>(own) / static_cast<double>(m);
}

// The passes of a micro-batch on the slowest device, with either the exposed part of its communication or all of it.
struct PassTimes {
  Seconds forward, backward, recompute;  // computing
  Seconds tp, cp, ep, sharded, offload;
  Seconds host, total;
};

Seconds SumOf(const StageTime& stage, Seconds LayerPass::* part, std::string_view title) {
  return Figure(title, stage.forward.*part + stage.backward.*part + stage.recompute.*part,
                "forward, backward and recomputation");
}

PassTimes ExposedOf(const StageTime& stage) {
  constexpr std::string_view kSlowest = "slowest stage: its layers, embedding and head";
  PassTimes pass;
  pass.forward = Figure("Forward compute of a micro-batch", stage.forward.compute, kSlowest);
  pass.backward = Figure("Backward compute of a micro-batch", stage.backward.compute, kSlowest);
  pass.recompute = Figure("Recomputation of a micro-batch", stage.recompute.compute, "slowest stage: its layers");
  pass.tp = SumOf(stage, &LayerPass::tp, "Exposed TP communication of a micro-batch");
  pass.cp = SumOf(stage, &LayerPass::cp, "Exposed CP communication of a micro-batch");
  pass.ep = SumOf(stage, &LayerPass::ep, "Exposed EP communication of a micro-batch");
  pass.sharded = Figure("Exposed ZeRO-3 communication of a micro-batch", stage.sharded_forward + stage.sharded_backward,
                        "all-gather of weights, reduce-scatter of gradients");
  pass.offload = Figure("Exposed offload of a micro-batch", stage.host_forward + stage.host_backward,
                        "activations, weights and gradients on the host link");
  pass.host = SumOf(stage, &LayerPass::host, "Launch overhead of a micro-batch");
  pass.total = Figure("Passes of the slowest stage", stage.Total(), "one micro-batch");
  return pass;
}

PassTimes LinksOf(const StageTime& stage) {
  PassTimes pass;
  pass.tp = SumOf(stage, &LayerPass::tp_link, "TP link time of a micro-batch");
  pass.cp = SumOf(stage, &LayerPass::cp_link, "CP link time of a micro-batch");
  pass.ep = SumOf(stage, &LayerPass::ep_link, "EP link time of a micro-batch");
  pass.sharded = Figure("ZeRO-3 link time of a micro-batch", stage.sharded_link);
  pass.offload = Figure("Host link time of a micro-batch", stage.host_link, "both directions");
  return pass;
}

LinkTime BreakDownLinks(Ratio micro_batches, const PassTimes& pass, const PipelineSends& sends,
                        const GradientExchange& gradients) {
  LinkTime link;
  link.tp = Figure("TP link time", micro_batches * pass.tp);
  link.cp = Figure("CP link time", micro_batches * pass.cp);
  link.ep = Figure("EP link time", micro_batches * pass.ep);
  link.pp = Figure("Pipeline P2P link time", micro_batches * sends.link);
  link.dp = Figure("DP link time", micro_batches * pass.sharded + gradients.link,
                   "ZeRO-3 communication per micro-batch, gradients and weights once per step");
  link.offload = Figure("Host link time", micro_batches * pass.offload + gradients.host_link);
  return link;
}

// Compute and exposed communication of the slowest device's passes.
void AddPasses(Ratio micro_batches, const PassTimes& pass, const PipelineSends& sends,
               const GradientExchange& gradients, StepTime& time) {
  time.forward = Figure("Forward compute", micro_batches * pass.forward, "slowest stage");
  time.backward = Figure("Backward compute", micro_batches * pass.backward, "slowest stage");
  time.recompute = Figure("Recomputation", micro_batches * pass.recompute, "slowest stage");
  time.tp = Figure("Exposed TP communication", micro_batches * pass.tp);
  time.cp = Figure("Exposed CP communication", micro_batches * pass.cp);
  time.ep = Figure("Exposed EP communication", micro_batches * pass.ep);
  time.pp = Figure("Exposed pipeline P2P", micro_batches * sends.exposed);
  time.dp = Figure("Exposed DP communication", micro_batches * pass.sharded + gradients.exposed,
                   "ZeRO-3 communication per micro-batch, gradients and weights once per step");
}

// The numbers that the simulated schedule depends on.
struct ScheduleGrounds {
  const std::vector<StageTime>& devices;
  Seconds exposed, transfer;  // exposed sends within the passes; transfer time between passes
  Ratio micro_batches, stages, chunks;
};

bool IsAsLong(const StageTime& a, const StageTime& b) {
  return a.Forward() == b.Forward() && a.Backward() == b.Backward() && a.weight_gradient == b.weight_gradient;
}

// The inputs of the schedule's length, with their shares, measured by lengthening passes and sends. The length is a sum
// along the critical path, so these shares are exact.
std::vector<Ground> GroundsOf(const Pipeline& pipeline, const ScheduleGrounds& grounds, Seconds length) {
  constexpr double kNudge = 1.0 / 10'000;
  const auto moved = [&length](const Pipeline& changed) {
    return ScheduleLength(changed.shape, changed.passes, changed.transfer) / length - 1;
  };
  Pipeline more = pipeline, later = pipeline, exposed = pipeline;
  more.shape.micro_batches += more.shape.stages;
  later.transfer *= 1 + kNudge;
  const Seconds blocking = PlainOf(grounds.exposed) / (2 * pipeline.shape.chunks);
  for (StagePass& pass : exposed.passes) pass.forward += kNudge * blocking, pass.backward += kNudge * blocking;
  std::vector<Ground> rests_on{{grounds.exposed, moved(exposed) / kNudge},
                               {grounds.transfer, moved(later) / kNudge},
                               {grounds.micro_batches, moved(more) * grounds.micro_batches / grounds.stages},
                               grounds.stages,
                               grounds.chunks};
  for (std::size_t first = 0, end = 0; first < grounds.devices.size(); first = end) {
    const StageTime& device = grounds.devices[first];
    while (end < grounds.devices.size() && IsAsLong(grounds.devices[end], device)) ++end;
    const auto share_of = [&](Seconds StagePass::* part, Seconds fixed) {
      Pipeline slower = pipeline;
      for (std::size_t visit = 0; visit < slower.passes.size(); ++visit) {
        const auto stage =
            static_cast<std::size_t>(StageOf(static_cast<int>(visit), pipeline.shape.stages, pipeline.shape.schedule));
        Seconds& time = slower.passes[visit].*part;
        if (stage >= first && stage < end) time += kNudge * (time - fixed);
      }
      return moved(slower) / kNudge;
    };
    rests_on.emplace_back(Figure("Forward passes of a device", device.Forward(), "one micro-batch"),
                          share_of(&StagePass::forward, blocking));
    rests_on.emplace_back(
        Figure("Backward passes of a device", device.Backward() - device.weight_gradient, "one micro-batch"),
        share_of(&StagePass::backward, blocking));
    if (device.weight_gradient > Seconds())
      rests_on.emplace_back(device.weight_gradient, share_of(&StagePass::weight_gradient, Seconds()));
  }
  return rests_on;
}

Seconds LengthOf(const Pipeline& pipeline, const ScheduleGrounds& grounds, Seconds work) {
  if (pipeline.shape.stages <= 1) return work;
  const Seconds length = ScheduleLength(pipeline.shape, pipeline.passes, pipeline.transfer);
  if (work.node() == nullptr) return length;
  return Procedure("End of the last pass", length, GroundsOf(pipeline, grounds, length),
                   "of the mapping's schedule, simulated pass by pass", kPipelineSource);
}

// Adds the bubble of the slowest stage, whose `pass` is its time per micro-batch; returns the length of the schedule.
Seconds AddBubble(const Pipeline& pipeline, const ScheduleGrounds& grounds, Seconds pass, StepTime& time) {
  const Seconds work =
      Figure("Busy time of the slowest stage", grounds.micro_batches * pass + time.pp, "its passes and exposed sends");
  const Seconds length =
      Figure("Length of the schedule", max(LengthOf(pipeline, grounds, work), work),
             "simulated: every pass runs in the schedule's order as soon as its inputs arrive", kPipelineSource);
  time.bubble = Figure("Pipeline bubble", max(0 * kS, length - work),
                       "idle time of the slowest stage; with equal stages (p - 1) / v micro-batch passes, v chunks per "
                       "device (1F1B)",
                       kPipelineSource);
  return length;
}

// Relative slowdown of a step per doubling of the pods or nodes.
Ratio PodJitter(const TrainingContext& context) {
  const std::vector<NetworkLevel>& levels = context.cluster.networks;
  if (levels.size() < 2) return InputAt("cluster.networks", Ratio(0), context.tape);
  if (context.framework().utilization) return InputAt("training.framework.utilization", Ratio(0), context.tape);
  return levels[1].fabric->in_step.pod_jitter;
}

// Adds offload, optimizer, launches, jitter and host work to the step.
void AddEndOfStep(const TrainingContext& context, const PassTimes& pass, const GradientExchange& gradients,
                  Seconds schedule_length, StepTime& time) {
  const Framework& framework = context.framework();
  const Ratio micro_batches = context.shape.micro_batches,
              devices = Figure("Devices of the mapping", context.shape.devices),
              node = InputAt("cluster.networks.0.size", context.node_devices, context.tape);
  const Seconds host =
      Figure("Launch overhead", micro_batches * pass.host, "where the host launches more slowly than kernels run");
  const Seconds jitter =
      Figure("Jitter time",
             schedule_length *
                 (framework.jitter * max(0, log2(devices / 8)) + PodJitter(context) * max(0, log2(devices / node))),
             "the slowest device sets the pace; grows with every doubling of the devices, or of the pods");
  const Seconds end =
      Figure("Wait at the end of a step", min(1, devices - 1) * framework.step_overhead,
             "devices wait for each other and for what their hosts exchange; one alone waits for nothing");
  time.offload = Figure("Exposed offload", micro_batches * pass.offload + gradients.host_exposed,
                        "activations, weights and gradients per micro-batch, optimizer state once per step");
  time.optimizer = Figure("Optimizer step", gradients.optimizer);
  time.other = Figure("Other", host + jitter + gradients.accumulation + end,
                      "launch overhead, jitter, fp32 accumulation, the wait at the end of a step");
}

}  // namespace

PipelineSends TimePipelineSends(const TrainingContext& context) {
  const TrainingShape& shape = context.shape;
  if (shape.pipeline <= 1) {
    const Seconds none = Figure("Sends of a single stage", (shape.pipeline - 1) * Seconds(), "none");
    return {none, none, none, none};
  }
  const FrameworkExchange& framework = context.framework().exchange;
  const Ratio split = framework.scatters_sends ? shape.tensor : shape.sequence_split;
  const Model& model = context.model;
  const Ratio streams = model.compressed ? Ratio(model.compressed->streams) : Ratio(1);
  const Bytes output = AtWidth(context, SentBytes(shape.tokens, streams, model.hidden));
  const bool overlaps = shape.chunks > 1 && context.run.mapping.overlap.pp.value_or(framework.pipeline_overlap);
  const Ratio exposed_share =
      overlaps ? framework.pipeline_exposed : InputAt("training.mapping.overlap.pp", Ratio(1), context.tape);
  const Ratio visits = 2 * shape.chunks;  // forward and backward
  PipelineSends sends;
  sends.one = Figure("One pipeline send", context.pipeline_link.latency + output / split / context.pipeline_link.rate,
                     "output of a stage, split over the TP ranks", kPipelineSource);
  sends.link = Figure("Pipeline sends of a micro-batch", visits * sends.one, "forward and backward for every chunk",
                      kPipelineSource);
  sends.exposed = Figure("Exposed pipeline sends of a micro-batch", sends.link * exposed_share,
                         "the rest overlaps with another chunk's compute");
  sends.transfer = Figure("Transfer", max(0 * kS, sends.one - sends.exposed / visits),
                          "part of a send that a pass does not include: the next stage waits for it");
  return sends;
}

Pipeline PipelineOf(const TrainingContext& context, const LayerTimes& times,
                    const std::vector<KindCounts>& virtual_stages, const PipelineSends& sends) {
  const TrainingShape& shape = context.shape;
  Pipeline pipeline{{context.run.mapping.schedule, static_cast<Count>(shape.pipeline), static_cast<Count>(shape.chunks),
                     static_cast<Count>(shape.micro_batches)},
                    {},
                    {}};
  const Seconds blocking = PlainOf(sends.exposed) / (2 * shape.chunks);
  pipeline.transfer = PlainOf(sends.transfer);
  const std::size_t visits = virtual_stages.size();
  pipeline.passes.reserve(visits);
  for (std::size_t visit = 0; visit < visits; ++visit) {
    const bool inside = visit > 1 && visit + 1 < visits;
    if (inside && virtual_stages[visit].of == virtual_stages[visit - 1].of) {
      pipeline.passes.push_back(pipeline.passes.back());
      continue;
    }
    const StageTime stage = TimeStage(context, times, virtual_stages[visit], visit == 0, visit + 1 == visits);
    pipeline.passes.push_back({PlainOf(stage.Forward()) + blocking,
                               PlainOf(stage.Backward()) - PlainOf(stage.weight_gradient) + blocking,
                               PlainOf(stage.weight_gradient)});
  }
  return pipeline;
}

std::vector<StageTime> DeviceTimes(const TrainingContext& context, std::vector<StageTime> stages) {
  const double forth = OwnStageShare(context, stages.size());
  if (forth == 1) return stages;
  std::vector<StageTime> devices;
  for (std::size_t i = 0; i < stages.size(); ++i)
    devices.push_back(WeightedAverage(stages[i], forth, stages[stages.size() - 1 - i], 1 - forth));
  return devices;
}

StepBreakdown BreakDownStep(const TrainingContext& context, const std::vector<StageTime>& stages,
                            const std::vector<Stage>& plan, const Pipeline& pipeline, const PipelineSends& sends) {
  const StageTime& slowest = SlowestOf(stages);
  const GradientExchange gradients = ExchangeGradients(context, plan, stages);
  const TrainingShape& shape = context.shape;
  const PassTimes exposed = ExposedOf(slowest), links = LinksOf(slowest);
  StepBreakdown step;
  AddPasses(shape.micro_batches, exposed, sends, gradients, step.time);
  const ScheduleGrounds grounds{stages,         sends.exposed, sends.transfer, shape.micro_batches,
                                shape.pipeline, shape.chunks};
  step.schedule_length = AddBubble(pipeline, grounds, exposed.total, step.time);
  AddEndOfStep(context, exposed, gradients, step.schedule_length, step.time);
  step.step_time = Figure("Step time", step.time.Total(), "critical path of one device");
  step.link = BreakDownLinks(shape.micro_batches, links, sends, gradients);
  return step;
}

std::vector<NetworkLevelTime> NetworkTimeByLevel(const TrainingContext& context, const StepTime& time) {
  const Cluster& cluster = context.prepared->stated;
  NetworkLevelTimes levels(cluster);
  const auto add = [&](CollectiveType type, const GroupPlacement& group, Seconds exposed) {
    levels.Add(SlowestLevel(type, group, cluster), exposed);
  };
  add(CollectiveType::kAllReduce, context.tensor, time.tp);
  add(CollectiveType::kAllGather, context.context_group, time.cp);
  add(CollectiveType::kAllToAll, context.experts, time.ep);
  add(CollectiveType::kAllReduce, context.data, time.dp);
  add(CollectiveType::kSendReceive, PlaceSpans(cluster, {{context.strides.pipeline, context.shape.pipeline}}), time.pp);
  return levels.List(time.offload);
}

}  // namespace slipstick
