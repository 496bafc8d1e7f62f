#include "core/training/step_breakdown.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/collectives/fabric.h"
#include "core/training/gradient.h"
#include "core/training/schedule.h"
#include "core/training_stage/named_terms.h"
#include "core/workload/named_terms.h"

namespace slipstick {
namespace {

constexpr std::string_view kPipelineSource =
    "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, 2021";

// Share of the micro-batches that a device computes as its own stage: half of them under DualPipe, the others as the
// mirrored stage.
double OwnStageShare(const TrainingContext& context, std::size_t stages) {
  if (context.run.mapping.schedule != PipelineSchedule::kDualPipe || stages < 2) return 1;
  const auto m = static_cast<Count>(context.shape.micro_batches);
  return static_cast<double>((m + 1) / 2) / static_cast<double>(m);
}

LinkTime BreakDownLinks(double micro_batches, const StageTime& slowest, const PipelineSends& sends,
                        const GradientExchange& gradients, Trace& trace) {
  Trace::Scope scope(trace, "link");
  if (trace.on()) {
    const auto total = [&slowest](Seconds LayerPass::* part) {
      return slowest.forward.*part + slowest.backward.*part + slowest.recompute.*part;
    };
    trace.Alias("pass_tp", total(&LayerPass::tp_link), "pass_tp_link");
    trace.Alias("pass_cp", total(&LayerPass::cp_link), "pass_cp_link");
    trace.Alias("pass_ep", total(&LayerPass::ep_link), "pass_ep_link");
    trace.Alias("pass_pp", sends.link, "sends_link");
    trace.Alias("pass_offload", slowest.host_link, "pass_offload_link");
    trace.Alias("pass_sharded", slowest.sharded_link, "pass_sharded_link");
  }
  const Seconds pass_tp = slowest.forward.tp_link + slowest.backward.tp_link + slowest.recompute.tp_link;
  const Seconds pass_cp = slowest.forward.cp_link + slowest.backward.cp_link + slowest.recompute.cp_link;
  const Seconds pass_ep = slowest.forward.ep_link + slowest.backward.ep_link + slowest.recompute.ep_link;
  const Seconds pass_pp = sends.link, pass_offload = slowest.host_link, state_offload = gradients.host_link;
  const Seconds pass_sharded = slowest.sharded_link, gradients_link = gradients.link;
  FIGURE(trace, tp, micro_batches * pass_tp, (Note{"TP link time", "", "", "training.communication_s.tp"}),
         micro_batches, pass_tp);
  FIGURE(trace, cp, micro_batches * pass_cp, (Note{"CP link time", "", "", "training.communication_s.cp"}),
         micro_batches, pass_cp);
  FIGURE(trace, ep, micro_batches * pass_ep, (Note{"EP link time", "", "", "training.communication_s.ep"}),
         micro_batches, pass_ep);
  FIGURE(trace, pp, micro_batches * pass_pp, (Note{"Pipeline P2P link time", "", "", "training.communication_s.pp"}),
         micro_batches, pass_pp);
  FIGURE(trace, dp, micro_batches * pass_sharded + gradients_link,
         (Note{"DP link time", "ZeRO-3 communication per micro-batch, gradients and weights once per step", "",
               "training.communication_s.dp"}),
         micro_batches, pass_sharded, gradients_link);
  FIGURE(trace, offload, micro_batches * pass_offload + state_offload,
         (Note{"Host link time", "", "", "training.communication_s.offload"}), micro_batches, pass_offload,
         state_offload);
  return {tp, cp, ep, pp, dp, offload};
}

// Compute and exposed communication of the slowest device's passes.
void AddPasses(double micro_batches, const StageTime& slowest, const PipelineSends& sends,
               const GradientExchange& gradients, StepTime& time, Trace& trace) {
  const Seconds pass_forward = slowest.forward.compute, pass_backward = slowest.backward.compute,
                pass_recompute = slowest.recompute.compute;
  FIGURE(trace, forward, micro_batches * pass_forward,
         (Note{"Forward compute", "slowest stage", "", "training.time_s.forward"}), micro_batches, pass_forward);
  FIGURE(trace, backward, micro_batches * pass_backward,
         (Note{"Backward compute", "slowest stage", "", "training.time_s.backward"}), micro_batches, pass_backward);
  FIGURE(trace, recompute, micro_batches * pass_recompute,
         (Note{"Recomputation", "slowest stage", "", "training.time_s.recompute"}), micro_batches, pass_recompute);
  const Seconds pass_tp = slowest.forward.tp + slowest.backward.tp + slowest.recompute.tp;
  const Seconds pass_cp = slowest.forward.cp + slowest.backward.cp + slowest.recompute.cp;
  const Seconds pass_ep = slowest.forward.ep + slowest.backward.ep + slowest.recompute.ep;
  FIGURE(trace, tp, micro_batches * pass_tp, (Note{"Exposed TP communication", "", "", "training.time_s.tp"}),
         micro_batches, pass_tp);
  FIGURE(trace, cp, micro_batches * pass_cp, (Note{"Exposed CP communication", "", "", "training.time_s.cp"}),
         micro_batches, pass_cp);
  FIGURE(trace, ep, micro_batches * pass_ep, (Note{"Exposed EP communication", "", "", "training.time_s.ep"}),
         micro_batches, pass_ep);
  const Seconds sends_exposed = sends.exposed;
  FIGURE(trace, pp, micro_batches * sends_exposed, (Note{"Exposed pipeline P2P", "", "", "training.time_s.pp"}),
         micro_batches, sends_exposed);
  const Seconds pass_sharded = slowest.sharded_forward + slowest.sharded_backward,
                gradients_exposed = gradients.exposed;
  FIGURE(trace, dp, micro_batches * pass_sharded + gradients_exposed,
         (Note{"Exposed DP communication", "ZeRO-3 communication per micro-batch, gradients and weights once per step",
               "", "training.time_s.dp"}),
         micro_batches, pass_sharded, gradients_exposed);
  time.forward = forward, time.backward = backward, time.recompute = recompute;
  time.tp = tp, time.cp = cp, time.ep = ep, time.pp = pp, time.dp = dp;
}

// The simulated length of the schedule, and what it rests on.
void ExplainLength(const Pipeline& pipeline, double micro_batches, Seconds pass_time,
                   const std::pair<Seconds, Seconds>& ends, Seconds length, Seconds work, Trace& trace) {
  if (!trace.on()) return;
  if (pipeline.shape.stages <= 1) return trace.Alias("length", work, "work");
  const double pp = static_cast<double>(pipeline.shape.stages),
               virtual_stages = static_cast<double>(pipeline.shape.chunks);
  const Seconds transfer = pipeline.transfer, first_pass = ends.first, last_pass = ends.second;
  trace.Procedure("length", length,
                  Note{"End of the last pass", "of the mapping's schedule, simulated pass by pass", kPipelineSource},
                  "pass_time, first_pass, last_pass, micro_batches, pp, virtual_stages, transfer", pass_time,
                  first_pass, last_pass, micro_batches, pp, virtual_stages, transfer);
  constexpr double kNudge = 1.0 / 1000;
  const auto moved = [&](const PipelineShape& shape, Seconds changed) {
    return ScheduleLength(shape, pipeline.passes, changed) / length - 1;
  };
  PipelineShape longer = pipeline.shape;
  longer.micro_batches += longer.stages;
  const double by_transfer = moved(pipeline.shape, (1 + kNudge) * transfer) / kNudge;
  trace.MovesBy(0,
                1 - by_transfer);  // the passes of all stages together: with them and the transfers the length scales
  trace.MovesBy(3, moved(longer, transfer) * micro_batches / pp);
  trace.MovesBy(6, by_transfer);
}

// Adds the bubble; returns the length of the schedule. `ends`: passes of the first and of the last device.
Seconds AddBubble(const Pipeline& pipeline, double micro_batches, Seconds pass_time,
                  const std::pair<Seconds, Seconds>& ends, StepTime& time, Trace& trace) {
  const Seconds pp = time.pp;
  FIGURE(trace, work, micro_batches * pass_time + pp,
         (Note{"Busy time of the slowest stage", "its passes and exposed sends"}), micro_batches, pass_time, pp);
  const Seconds length =
      pipeline.shape.stages > 1 ? ScheduleLength(pipeline.shape, pipeline.passes, pipeline.transfer) : work;
  ExplainLength(pipeline, micro_batches, pass_time, ends, length, work, trace);
  FIGURE(trace, schedule_length, max(length, work),
         (Note{"Length of the schedule",
               "simulated: every pass runs in the schedule's order as soon as its inputs arrive", kPipelineSource}),
         length, work);
  FIGURE(trace, bubble, max(0 * kS, schedule_length - work),
         (Note{"Pipeline bubble",
               "idle time of the slowest stage; with equal stages (p - 1) / v micro-batch passes, v chunks per device "
               "(1F1B)",
               kPipelineSource, "training.time_s.bubble"}),
         schedule_length, work);
  time.bubble = bubble;
  return schedule_length;
}

// Relative slow-down of a step per doubling of the pods or nodes.
double PodJitter(const TrainingContext& context, Trace& trace) {
  const std::vector<NetworkLevel>& levels = context.cluster.networks;
  if (levels.size() < 2 || context.framework().utilization) {
    trace.Input("pod_jitter", 0.0, levels.size() < 2 ? "cluster.networks" : "training.framework.utilization");
    return 0;
  }
  const double pod_jitter = levels[1].fabric->in_step.pod_jitter;
  const std::string table = "fabrics." + levels[1].fabric->id;
  CONSTANTS(trace, table, kInStepSource, pod_jitter);
  return pod_jitter;
}

// Offload, optimizer, launches, jitter and the host.
void AddEndOfStep(const TrainingContext& context, const StageTime& slowest, const GradientExchange& gradients,
                  Seconds schedule_length, StepTime& time, Trace& trace) {
  const double micro_batches = context.shape.micro_batches;
  trace.Alias("state_offload", gradients.host_exposed, "host_exposed_time");
  trace.Alias("accumulation", gradients.accumulation, "accumulation_time");
  const Seconds pass_offload = slowest.host_forward + slowest.host_backward, state_offload = gradients.host_exposed;
  FIGURE(trace, offload, micro_batches * pass_offload + state_offload,
         (Note{"Exposed offload", "activations per micro-batch, optimizer state once per step", "",
               "training.time_s.offload"}),
         micro_batches, pass_offload, state_offload);
  const Seconds optimizer_time = gradients.optimizer;
  FIGURE(trace, optimizer, 1 * optimizer_time, (Note{"Optimizer step", "", "", "training.time_s.optimizer"}),
         optimizer_time);
  const Seconds pass_host = slowest.forward.host + slowest.backward.host + slowest.recompute.host;
  FIGURE(trace, host, micro_batches * pass_host,
         (Note{"Launch overhead", "where the host launches more slowly than kernels run"}), micro_batches, pass_host);
  const double tp = context.shape.tensor, cp = context.shape.context, pp = context.shape.pipeline,
               dp = context.shape.data;
  FIGURE(trace, devices, tp * cp * pp * dp, (Note{"Devices of the mapping"}), tp, cp, pp, dp);
  const double jitter = context.framework().jitter;
  const Seconds accumulation = gradients.accumulation, step_overhead = context.framework().step_overhead;
  const double pod_jitter = PodJitter(context, trace), node_devices = context.node_devices;
  trace.Input("node_devices", node_devices, "cluster.networks.0.size");
  FIGURE(trace, jitter_time,
         schedule_length * (jitter * max(0.0, log2(devices / 8)) + pod_jitter * max(0.0, log2(devices / node_devices))),
         (Note{"Jitter", "the slowest device sets the pace; grows with every doubling of the devices, or of the pods"}),
         schedule_length, jitter, devices, pod_jitter, node_devices);
  FIGURE(trace, other, host + jitter_time + accumulation + step_overhead,
         (Note{"Other", "launch overhead, jitter, fp32 accumulation, host work between steps", "",
               "training.time_s.other"}),
         host, jitter_time, accumulation, step_overhead);
  time.offload = offload, time.optimizer = optimizer, time.other = other;
}

}  // namespace

PipelineSends TimePipelineSends(const TrainingContext& context, Trace& trace) {
  const TrainingShape& shape = context.shape;
  if (shape.pipeline <= 1) {
    RecordNone({"sends_exposed", "sends_link"}, "(pp - 1)",
               Note{"Pipeline sends of a micro-batch", "none on a single stage"}, "pp", shape.pipeline, trace);
    return {};
  }
  Trace::Scope scope(trace, "sends");
  const TrainingMapping& mapping = context.run.mapping;
  const FrameworkExchange& framework = context.framework().exchange;
  const double split = framework.scatters_sends ? shape.tensor : shape.sequence_split;
  if (framework.scatters_sends || mapping.sequence_parallel) trace.Input("split", split, "training.mapping.tp");
  const Bytes residual_bytes = SentBytes(context.model, shape.tokens, "tokens", trace);
  const BytesPerSecond hop_rate = context.pipeline_link.rate;
  const Seconds hop_latency = context.pipeline_link.latency;
  const double chunks = shape.chunks;
  trace.Input("chunks", chunks, "training.mapping.virtual_stages");
  const bool overlaps = chunks > 1 && mapping.overlap.pp.value_or(framework.pipeline_overlap);
  const double exposed_share = overlaps ? framework.pipeline_exposed : Ratio(1);
  trace.Input("exposed_share", exposed_share,
              overlaps ? "training.framework.exchange.pipeline_exposed" : "training.mapping.overlap.pp");
  FIGURE(trace, send_time, hop_latency + residual_bytes / split / hop_rate,
         (Note{"One pipeline send", "output of a stage, split over the TP ranks", kPipelineSource}), hop_latency,
         residual_bytes, split, hop_rate);
  FIGURE(trace, link_time, 2 * chunks * send_time,
         (Note{"Pipeline sends of a micro-batch", "forward and backward for every chunk", kPipelineSource}), chunks,
         send_time);
  FIGURE(trace, exposed_time, link_time * exposed_share,
         (Note{"Exposed pipeline sends of a micro-batch", "the rest overlaps with another chunk's compute"}), link_time,
         exposed_share);
  trace.Alias("sends_exposed", exposed_time, "exposed_time");
  trace.Alias("sends_link", link_time, "link_time");
  FIGURE(trace, visits, 2 * chunks, (Note{"Sends of a micro-batch", "forward and backward"}), chunks);
  FIGURE(trace, transfer, max(0 * kS, send_time - exposed_time / visits),
         (Note{"Part of a send that a pass does not include", "the next stage waits for it"}), send_time, exposed_time,
         visits);
  return {send_time, exposed_time, link_time};
}

Pipeline PipelineOf(const TrainingContext& context, const LayerTimes& times,
                    const std::vector<KindCounts>& virtual_stages, const PipelineSends& sends) {
  const TrainingShape& shape = context.shape;
  Pipeline pipeline{{context.run.mapping.schedule, static_cast<Count>(shape.pipeline), static_cast<Count>(shape.chunks),
                     static_cast<Count>(shape.micro_batches)},
                    {},
                    {}};
  const auto simulated = [](Seconds time) { return Seconds::FromBase(time.base()); };  // a schedule has no nodes
  const Seconds blocking = sends.exposed / (2 * shape.chunks);
  pipeline.transfer = simulated(max(Seconds{}, sends.one - blocking));
  const std::size_t visits = virtual_stages.size();
  pipeline.passes.reserve(visits);
  for (std::size_t visit = 0; visit < visits; ++visit) {
    const bool inside = visit > 1 && visit + 1 < visits;
    if (inside && virtual_stages[visit].of == virtual_stages[visit - 1].of) {
      pipeline.passes.push_back(pipeline.passes.back());
      continue;
    }
    const StageTime stage = TimeStage(context, times, virtual_stages[visit], visit == 0, visit + 1 == visits);
    pipeline.passes.push_back({simulated(stage.Forward() + blocking),
                               simulated(stage.Backward() - stage.weight_gradient + blocking),
                               simulated(stage.weight_gradient)});
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
                            const std::vector<Stage>& plan, const Pipeline& pipeline, const PipelineSends& sends,
                            Trace& trace) {
  std::size_t slowest_index = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].Total() > stages[slowest_index].Total()) slowest_index = i;
  }
  const StageTime& slowest = stages[slowest_index];
  const auto explain = [&](std::size_t index) { ExplainStage(stages[index], trace); };
  {
    Trace::Scope gradients_scope(trace, "gradients");
    explain(static_cast<std::size_t>(&HidingStage(context, stages) - stages.data()));
  }
  if (stages.size() > 1) {
    for (const auto& [name, index] : {std::pair{"first", std::size_t{0}}, std::pair{"last", stages.size() - 1}}) {
      Trace::Scope end_scope(trace, std::string(name) + " device");
      explain(index);
      trace.Alias(std::string(name) + "_pass", stages[index].Total(), "pass_time");
    }
  }
  const GradientExchange gradients = ExchangeGradients(context, plan, stages, trace);

  Trace::Scope scope(trace, "step");
  explain(slowest_index);
  const double micro_batches = context.shape.micro_batches;
  StepBreakdown step;
  AddPasses(micro_batches, slowest, sends, gradients, step.time, trace);
  step.schedule_length = AddBubble(pipeline, micro_batches, slowest.Total(),
                                   {stages.front().Total(), stages.back().Total()}, step.time, trace);
  AddEndOfStep(context, slowest, gradients, step.schedule_length, step.time, trace);
  const auto [forward, backward, recompute, tp, cp, ep, pp, dp, bubble, optimizer, other, offload] = step.time;
  FIGURE(trace, step_time,
         forward + backward + recompute + tp + cp + ep + pp + dp + bubble + optimizer + other + offload,
         (Note{"Step time", "critical path of one device", "", "training.step_time_s"}), forward, backward, recompute,
         tp, cp, ep, pp, dp, bubble, optimizer, other, offload);
  step.link = BreakDownLinks(micro_batches, slowest, sends, gradients, trace);
  return step;
}

}  // namespace slipstick
