#include "core/training/compose.h"

#include <string_view>

#include "core/training/gradient.h"

namespace slipstick {
namespace {

constexpr std::string_view kPipelineSource = "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, 2021";

// Micro-batches that a device sees as its own stage, of all: under dualpipe half of them meet it at its mirror's stage.
double OwnShare(const TrainingContext& context, std::size_t stages) {
  if (context.run.mapping.schedule != PipelineSchedule::kDualPipe || stages < 2) return 1;
  const auto m = static_cast<Count>(context.shape.micro_batches);
  return static_cast<double>((m + 1) / 2) / static_cast<double>(m);
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

}  // namespace

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

}  // namespace slipstick
