#include "core/training/gradient.h"

#include "core/training/memory.h"

namespace slipstick {
namespace {

constexpr std::string_view kUpdateSource = "operands of a fused update and of gradient clipping, each counted once; Kingma and Ba 2015";

const Stage& Largest(const std::vector<Stage>& plan) {
  const Stage* largest = &plan.front();
  for (const Stage& stage : plan) {
    if (stage.Parameters() > largest->Parameters()) largest = &stage;
  }
  return *largest;
}

// The stage behind whose passes the reduction hides: the first stage, whose backward pass is the last of a step. With several chunks
// or postponed weight gradients further passes follow at the pace of the slowest stage, and waiting for it hides communication too.
const StageTime& HidingStage(const std::vector<StageTime>& stages, bool paced_by_slowest) {
  const StageTime* hiding = &stages.front();
  for (const StageTime& stage : stages) {
    if (paced_by_slowest && stage.Total() > hiding->Total()) hiding = &stage;
  }
  return *hiding;
}

// Bytes of optimizer state per parameter that the update reads and writes.
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

// Trained parameters of a stage on one device, and the ranks that share their optimizer state.
struct TrainedParameters {
  double dense = 0, experts = 0;
  double dense_shards = 1, expert_shards = 1;
  [[nodiscard]] double OfShard() const { return dense / dense_shards + experts / expert_shards; }
};
TrainedParameters TrainedBy(const TrainingContext& context, const Stage& stage) {
  const TrainingRun& run = context.run;
  const bool lora = run.trainable == Trainable::kLora, frozen = run.optimizer == Optimizer::kNone;
  const double copies = WeightCopies(run);
  return {frozen ? 0
          : lora ? stage.adapter_parameters
                 : copies * stage.dense_parameters,
          frozen || lora ? 0 : copies * stage.expert_parameters, ShardRanks(run, context.shape.DataRanks()),
          ShardRanks(run, context.shape.ExpertDataRanks())};
}

// Collectives on the links; ZeRO-3 has its own in every layer (stage_time.h).
struct GradientLinks {
  Seconds reduce, gather, broadcasts;
};
GradientLinks TimeCollectives(const TrainingContext& context, const TrainedParameters& trained) {
  const TrainingRun& run = context.run;
  const TrainingShape& shape = context.shape;
  const FrameworkExchange& framework = context.framework().exchange;
  GradientLinks links;
  if (run.mapping.zero >= 3) return links;
  const double shards = ShardRanks(run, shape.DataRanks());
  const bool sharded = run.mapping.zero >= 1 && shards == shape.DataRanks() && !framework.reduces_whole_gradients;
  const Bytes gradient = framework.gradient_bytes * kB, element = 2 * kB;
  const CollectiveType reduction = sharded ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  links.reduce = Collective(context, reduction, gradient * trained.dense, context.data) +
                 Collective(context, reduction, gradient * trained.experts, context.expert_data);
  if (run.mapping.zero >= 1) {
    links.gather = Collective(context, CollectiveType::kAllGather, element * trained.dense, context.shard) +
                   Collective(context, CollectiveType::kAllGather, element * trained.experts, context.expert_data);
    if (shards > 8) links.broadcasts = shards * framework.shard_broadcast;
  }
  return links;
}

void HideExchange(const TrainingContext& context, const TrainedParameters& trained, const std::vector<StageTime>& stages,
                  GradientExchange& result, Trace& trace) {
  const FrameworkExchange& framework = context.framework().exchange;
  const auto [reduce_link, gather_link, broadcasts] = TimeCollectives(context, trained);
  const double p = context.shape.pipeline, v = context.shape.chunks, m = context.shape.micro_batches;
  const bool overlaps = context.run.mapping.overlap.dp.value_or(framework.gradient_overlap == GradientOverlap::kAlways ||
                                                                (framework.gradient_overlap == GradientOverlap::kSinglePass && m <= 1));
  // Chunks finish their gradients one after another: all but the last one's are reduced behind the passes of the others.
  const double windows = overlaps ? (v > 1 ? max(1.0, min(p, m) * (1 - 1 / v)) : 1) : 0;
  const double moved_bytes = framework.gradient_bytes + (gather_link > Seconds{} ? 2 : 0);
  const double contention = ContentionBeside(context, moved_bytes * kB * (trained.dense + trained.experts), reduce_link + gather_link);
  const StageTime& hiding = HidingStage(stages, v > 1 || SplitsBackward(context));
  const Seconds hiding_backward = hiding.Backward(), hiding_forward = hiding.Forward();
  FIGURE(trace, reduce_hidden, min(reduce_link, 0.7 * hiding_backward * windows),
         (Note{"Hidden part of the gradient reduction",
               "behind 70 % of the last backward passes: of the first stage, or with several chunks of the slowest"}),
         reduce_link, hiding_backward, windows);
  FIGURE(trace, gather_hidden, min(gather_link, 0.7 * hiding_forward * windows),
         (Note{"Hidden part of the weight all-gather", "behind the next step's first forward passes"}), gather_link, hiding_forward,
         windows);
  FIGURE(trace, link_time, reduce_link + gather_link + broadcasts, (Note{"DP link time per step", ""}), reduce_link, gather_link,
         broadcasts);
  FIGURE(trace, exposed_time,
         min(link_time, link_time - (1 - contention) * (reduce_hidden + gather_hidden) + 0.02 * (reduce_link + gather_link)),
         (Note{"Exposed DP time per step", "not hidden, plus compute lost to contention, plus the last bucket"}), link_time, contention,
         reduce_hidden, gather_hidden, reduce_link, gather_link);
  result.link = link_time;
  result.exposed = exposed_time;
}

void UpdateWeights(const TrainingContext& context, const TrainedParameters& trained, GradientExchange& result, Trace& trace) {
  const TrainingRun& run = context.run;
  const bool frozen = run.optimizer == Optimizer::kNone;
  const auto [dense, experts, dense_shards, expert_shards] = trained;
  const double state_traffic = StateTraffic(run.optimizer);
  const BytesPerSecond stream_rate = context.stream_rate;
  const Bytes byte = 1 * kB;
  const double owned = run.mapping.zero >= 2 ? trained.OfShard() : dense + experts;
  FIGURE(trace, optimizer_time, byte * ((state_traffic + 10) * (dense / dense_shards + experts / expert_shards) + 6 * owned) / stream_rate,
         (Note{"Optimizer step", "state read and written, gradient and weight; norm and zeroing of all gradients", kUpdateSource}), byte,
         state_traffic, dense, dense_shards, experts, expert_shards, owned, stream_rate);
  result.optimizer = frozen ? Seconds{} : optimizer_time;
  if (const double offloaded = run.offload.optimizer; offloaded > 0 && !frozen) {
    const double optimizer_bytes = StateBytesOf(context).optimizer;
    const BytesPerSecond host_bandwidth = context.device().host.bandwidth;
    trace.Input("offloaded", offloaded, "training.offload.optimizer");
    trace.Input("host_bandwidth", host_bandwidth, "cluster.device.host.bandwidth");
    FIGURE(trace, host_link_time, offloaded * byte * optimizer_bytes * (dense / dense_shards + experts / expert_shards) / host_bandwidth,
           (Note{"Optimizer state on the host link", "both directions at once, piece by piece"}), offloaded, byte, optimizer_bytes, dense,
           dense_shards, experts, expert_shards, host_bandwidth);
    const Seconds none;
    FIGURE(trace, host_exposed_time, max(none, host_link_time - optimizer_time),
           (Note{"Exposed transfer of the optimizer state", "the update of one piece hides the transfer of another"}), none, host_link_time,
           optimizer_time);
    result.host_link = host_link_time;
    result.host_exposed = host_exposed_time;
  }
  if (context.framework().compute.separate_accumulation) {
    const double m = context.shape.micro_batches;
    FIGURE(trace, accumulation_time, m * 8 * byte * (dense + experts) / stream_rate,
           (Note{"Gradient accumulation", "16-bit gradients added into the fp32 copy after every micro-batch"}), m, byte, dense, experts,
           stream_rate);
    result.accumulation = accumulation_time;
  }
}

}  // namespace

GradientExchange ExchangeGradients(const TrainingContext& context, const std::vector<Stage>& plan, const std::vector<StageTime>& stages,
                                   Trace& trace) {
  Trace::Scope scope(trace, "gradients");
  const TrainedParameters trained = TrainedBy(context, Largest(plan));
  GradientExchange result;
  HideExchange(context, trained, stages, result, trace);
  UpdateWeights(context, trained, result, trace);
  return result;
}

}  // namespace slipstick
