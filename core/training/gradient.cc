#include "core/training/gradient.h"

#include "core/training/memory.h"

namespace slipstick {
namespace {

constexpr std::string_view kUpdateSource = "operands of a fused update and of clipping, counted once; Kingma and Ba 2015";

const Stage& Largest(const std::vector<Stage>& plan) {
  const Stage* largest = &plan.front();
  for (const Stage& stage : plan) {
    if (stage.Parameters() > largest->Parameters()) largest = &stage;
  }
  return *largest;
}

// A step ends with the first stage's last backward pass. Where many passes are still to come, or weights' gradients are put off,
// the slowest stage sets their pace: a stage that is faster waits, and what it waits hides as much.
const StageTime& HidingStage(const std::vector<StageTime>& stages, bool at_the_slowest_pace) {
  const StageTime* hiding = &stages.front();
  for (const StageTime& stage : stages) {
    if (at_the_slowest_pace && stage.Total() > hiding->Total()) hiding = &stage;
  }
  return *hiding;
}

// Bytes of optimizer state a parameter, read and written by the update.
double StateTraffic(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kAdamW:
      return 24;
    case Optimizer::kAdam8Bit:
      return 12;
    case Optimizer::kMuon:
    case Optimizer::kSgd:
      return 16;
    case Optimizer::kAdafactor:
      return 8;
    case Optimizer::kNone:
      return 0;
  }
  return 24;
}

}  // namespace

GradientExchange ExchangeGradients(const TrainingContext& context, const std::vector<Stage>& plan, const std::vector<StageTime>& stages,
                                   Trace& trace) {
  Trace::Scope scope(trace, "gradients");
  const TrainingRun& run = context.run;
  const TrainingShape& shape = context.shape;
  const FrameworkExchange& framework = context.framework().exchange;
  const Stage& stage = Largest(plan);
  const bool lora = run.trainable == Trainable::kLora, frozen = run.optimizer == Optimizer::kNone;
  const double copies = WeightCopies(run);
  const double dense = frozen ? 0 : lora ? stage.adapter_parameters : copies * stage.dense_parameters;
  const double experts = frozen || lora ? 0 : copies * stage.expert_parameters;
  GradientExchange result;

  Seconds reduce_link, gather_link, broadcasts;
  if (run.mapping.zero < 3) {
    const double shards = ShardRanks(run, shape.DataRanks());
    const bool sharded = run.mapping.zero >= 1 && shards == shape.DataRanks() && !framework.reduces_whole_gradients;
    const Bytes gradient = framework.gradient_bytes * kB, element = 2 * kB;
    const CollectiveType reduction = sharded ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
    reduce_link = Collective(context, reduction, gradient * dense, context.data) +
                  Collective(context, reduction, gradient * experts, context.expert_data);
    if (run.mapping.zero >= 1) {
      gather_link = Collective(context, CollectiveType::kAllGather, element * dense, context.shard) +
                    Collective(context, CollectiveType::kAllGather, element * experts, context.expert_data);
      if (shards > 8) broadcasts = shards * framework.shard_broadcast;
    }
  }
  const double p = shape.pipeline, v = shape.chunks, m = shape.micro_batches;
  const bool overlaps = run.mapping.overlap.dp.value_or(framework.gradient_overlap == GradientOverlap::kAlways ||
                                                        (framework.gradient_overlap == GradientOverlap::kSinglePass && m <= 1));
  // Chunks finish their gradients one after another: all but the last one's reduce behind the others' passes.
  const double windows = overlaps ? (v > 1 ? max(1.0, min(p, m) * (1 - 1 / v)) : 1) : 0;
  const double contention = ContentionBeside(
      context, (framework.gradient_bytes + (gather_link > Seconds{} ? 2 : 0)) * kB * (dense + experts), reduce_link + gather_link);
  const StageTime& hiding = HidingStage(stages, v > 1 || SplitsBackward(context));
  const Seconds hiding_backward = hiding.Backward(), hiding_forward = hiding.Forward();
  FIGURE(trace, reduce_hidden, min(reduce_link, 0.7 * hiding_backward * windows),
         (Note{"Gradient reduction hidden", "behind 70 % of the last backward passes: of the first stage, or with chunks of the slowest"}),
         reduce_link, hiding_backward, windows);
  FIGURE(trace, gather_hidden, min(gather_link, 0.7 * hiding_forward * windows),
         (Note{"Gathering of weights hidden", "behind the next step's first forward passes"}), gather_link, hiding_forward, windows);
  FIGURE(trace, link_time, reduce_link + gather_link + broadcasts, (Note{"Data parallel link time, once a step", ""}), reduce_link,
         gather_link, broadcasts);
  FIGURE(trace, exposed_time,
         min(link_time, link_time - (1 - contention) * (reduce_hidden + gather_hidden) + 0.02 * (reduce_link + gather_link)),
         (Note{"Of it exposed", "what nothing hides, the compute lost beside it, and the last bucket"}), link_time, contention,
         reduce_hidden, gather_hidden, reduce_link, gather_link);
  result.link = link_time;
  result.exposed = exposed_time;

  const double dense_shards = ShardRanks(run, shape.DataRanks()), expert_shards = ShardRanks(run, shape.ExpertDataRanks());
  const double state_traffic = StateTraffic(run.optimizer);
  const BytesPerSecond stream_rate = context.stream_rate;
  const Bytes byte = 1 * kB;
  const double owned = run.mapping.zero >= 2 ? dense / dense_shards + experts / expert_shards : dense + experts;
  FIGURE(trace, optimizer_time, byte * ((state_traffic + 10) * (dense / dense_shards + experts / expert_shards) + 6 * owned) / stream_rate,
         (Note{"Weight update", "state read and written, gradient and weight; norm and clearing of all gradients", kUpdateSource}), byte,
         state_traffic, dense, dense_shards, experts, expert_shards, owned, stream_rate);
  result.optimizer = frozen ? Seconds{} : optimizer_time;
  if (const double offloaded = run.offload.optimizer; offloaded > 0 && !frozen) {
    const double optimizer_bytes = StateBytesOf(context).optimizer;
    const BytesPerSecond host_bandwidth = context.device().host.bandwidth;
    trace.Input("offloaded", offloaded, "training.offload.optimizer");
    trace.Input("host_bandwidth", host_bandwidth, "cluster.device.host.bandwidth");
    FIGURE(trace, host_link_time, offloaded * byte * optimizer_bytes * (dense / dense_shards + experts / expert_shards) / host_bandwidth,
           (Note{"Optimizer state over the host link", "in and out at once, a piece after the other"}), offloaded, byte, optimizer_bytes,
           dense, dense_shards, experts, expert_shards, host_bandwidth);
    const Seconds none;
    FIGURE(trace, host_exposed_time, max(none, host_link_time - optimizer_time),
           (Note{"Of it exposed", "pieces travel behind the update of others"}), none, host_link_time, optimizer_time);
    result.host_link = host_link_time;
    result.host_exposed = host_exposed_time;
  }
  if (context.framework().compute.separate_accumulation) {
    FIGURE(trace, accumulation_time, m * 8 * byte * (dense + experts) / stream_rate,
           (Note{"Accumulation of gradients", "16-bit ones added into the fp32 copy after every micro-batch"}), m, byte, dense, experts,
           stream_rate);
    result.accumulation = accumulation_time;
  }
  return result;
}

}  // namespace slipstick
