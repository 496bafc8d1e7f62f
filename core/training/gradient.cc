#include "core/training/gradient.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/training_stage/exchange.h"
#include "core/training_stage/flops.h"
#include "core/training_stage/held_weights.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {

namespace {

// A rank that keeps only its shard of the gradients (ZeRO-2) reduces them after every backward pass, others once.
bool ReducesEveryPass(const TrainingContext& context) {
  return context.run.mapping.zero == 2 && !AccumulatesWhole(context.run, context.shape);
}

// The stage whose passes hide the reduction: the first stage, whose backward pass is the last of a step. With several
// chunks, postponed weight gradients or a reduction per micro-batch (ZeRO-2), further passes follow at the pace of the
// slowest stage, and waiting for that stage hides communication, too.
const StageTime& HidingStage(const TrainingContext& context, const std::vector<StageTime>& stages) {
  const bool others_follow = context.shape.chunks > 1 || SplitsBackward(context) || ReducesEveryPass(context);
  return others_follow ? SlowestOf(stages) : stages.front();
}

// Trained weights of a device, and the ranks that share their optimizer state.
struct TrainedWeights {
  HeldWeights weights;
  Shards shards;
  [[nodiscard]] Ratio OfShard() const { return PerRank(weights, shards); }
};

TrainedWeights TrainedBy(const TrainingContext& context, const DeviceStages& device) {
  HeldWeights weights = TrainedOf(context.run, WeightsOn(device));
  weights.dense = Figure("Trained weights of a device, experts apart", weights.dense,
                         "of the largest stage; under DualPipe of two");
  weights.experts = Figure("Trained weights of a device's experts", weights.experts);
  return {weights, ShardsFrom(1, context.run, context.shape)};
}

// Collectives of the gradient exchange; ZeRO-3 has its own in every layer (stage_time.h).
struct GradientLinks {
  Seconds reduce, gather, broadcasts;
};

// A message to a group of ranks.
struct Message {
  CollectiveType type;
  RankGroup group;
  Bytes bytes;
};
Seconds TimeOf(const TrainingContext& context, const Message& message) {
  return TimeCollective(context, message.type, message.bytes, message.group);
}

// The dense weights come first, then the experts, in the order of the report.
Seconds TimeOfBoth(const TrainingContext& context, const Message& dense, const Message& experts) {
  const Seconds first = TimeOf(context, dense);
  return first + TimeOf(context, experts);
}

// Whether ranks that share weights (shards of ZeRO-3) reduce the gradients with other such groups after the last layer.
bool ReducesAtEnd(const TrainingContext& context, double shards) {
  return context.run.mapping.zero >= 3 && context.framework().exchange.reduces_at_end &&
         shards < context.shape.DataRanks();
}

// ZeRO-3 has its collectives in every layer; once per step, groups of ranks that share weights may reduce with others.
GradientLinks LinksOfZero3(const TrainingContext& context, const TrainedWeights& trained) {
  const Seconds none = max(0, 3 - Ratio(context.run.mapping.zero)) * Seconds();
  GradientLinks links{none, none, none};
  if (!ReducesAtEnd(context, trained.shards.dense)) return links;
  links.reduce = ReduceOverReplicas(context, trained.weights);
  return links;
}

Ratio ReductionsPerStep(const TrainingContext& context) {
  return ReducesEveryPass(context) ? context.shape.micro_batches : Ratio(1);
}

GradientLinks TimeCollectives(const TrainingContext& context, const TrainedWeights& trained) {
  if (context.run.mapping.zero >= 3) return LinksOfZero3(context, trained);
  const FrameworkExchange& framework = context.framework().exchange;
  const Ratio zero = context.run.mapping.zero, element = framework.gradient_bytes, shards = trained.shards.dense;
  const bool sharded = zero >= 1 && shards == context.shape.DataRanks() && !framework.reduces_whole_gradients;
  const CollectiveType reduction = sharded ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  GradientLinks links;
  const Bytes dense_gradients = Figure("Gradients of the dense weights", element * kB * trained.weights.dense),
              expert_gradients = Figure("Gradients of the experts", element * kB * trained.weights.experts);
  links.reduce = ReductionsPerStep(context) * TimeOfBoth(context, {reduction, RankGroup::kData, dense_gradients},
                                                         {reduction, RankGroup::kExpertData, expert_gradients});
  if (zero < 1) {  // every rank updates all its weights
    links.gather = links.broadcasts = zero * Seconds();
    return links;
  }
  const Bytes dense = AtWidth(context, Figure("Dense weights in 16 bits", 2 * kB * trained.weights.dense)),
              experts = AtWidth(context, Figure("Experts' weights in 16 bits", 2 * kB * trained.weights.experts));
  links.gather = TimeOfBoth(context, {CollectiveType::kAllGather, RankGroup::kShard, dense},
                            {CollectiveType::kAllGather, RankGroup::kExpertShard, experts});
  links.broadcasts = Figure("Broadcasts of the shards", min(1, max(0, shards - 8)) * shards * framework.shard_broadcast,
                            "of more than 8, where the framework needs them");
  return links;
}

// Number of passes that can hide an exchange that takes place `times` per step. Chunks finish their gradients one after
// another; all but the last chunk's are reduced while passes of other chunks run.
Ratio WindowsOf(const TrainingContext& context, const TrainedWeights& trained, Ratio times) {
  const TrainingShape& shape = context.shape;
  const GradientOverlap overlap = context.framework().exchange.gradient_overlap;
  const bool at_end = ReducesAtEnd(context, trained.shards.dense);
  const bool overlaps = context.run.mapping.overlap.dp.value_or(
      !at_end &&
      (overlap == GradientOverlap::kAlways || (overlap == GradientOverlap::kSinglePass && shape.micro_batches <= 1)));
  const Ratio overlapping =
      InputAt(at_end ? "training.framework.exchange.reduces_at_end" : "training.framework.exchange.gradient_overlap",
              Ratio(overlaps ? 1 : 0), context.tape);
  return Figure("Passes that hide the exchange",
                overlapping * max(times, min(shape.pipeline, shape.micro_batches) * (1 - 1 / shape.chunks)),
                "chunks finish their gradients one after another; 0 without overlap");
}

void HideExchange(const TrainingContext& context, const TrainedWeights& trained, const StageTime& hiding,
                  GradientExchange& result) {
  const FrameworkExchange& framework = context.framework().exchange;
  const GradientLinks links = TimeCollectives(context, trained);
  const Seconds reduce = Figure("Reduction of the gradients", links.reduce),
                gather = Figure("All-gather of the weights", links.gather);
  const Ratio reductions = ReductionsPerStep(context), of_gradients = reductions * framework.gradient_bytes;
  const Ratio element = gather > Seconds{} ? of_gradients + AtWidth(context, Ratio(2)) : of_gradients;
  const Bytes moved = Figure("Moved gradients and weights", element * kB * trained.weights.Base(),
                             "bytes of gradients, and of gathered weights in 16 bits");
  const Ratio contention = ContentionBeside(context, moved, reduce + gather);
  const Seconds forward = Figure("Forward pass of the stage", hiding.Forward(), "one micro-batch"),
                backward = Figure("Backward pass of the stage", hiding.Backward(), "one micro-batch");
  const Seconds reduce_hidden =
      Figure("Hidden part of the gradient reduction",
             min(reduce, framework.hiding_share * backward * WindowsOf(context, trained, reductions)),
             "behind part of the last backward passes, of all under ZeRO-2: of the first stage, or with several chunks "
             "of the slowest");
  const Seconds gather_hidden = Figure("Hidden part of the weight all-gather",
                                       min(gather, framework.hiding_share * forward * WindowsOf(context, trained, 1)),
                                       "behind the next step's first forward passes");
  result.link = Figure("DP link time per step", reduce + gather + links.broadcasts);
  result.exposed = Figure("Exposed DP time per step",
                          min(result.link, result.link - (1 - contention) * (reduce_hidden + gather_hidden) +
                                               framework.last_bucket * (reduce + gather)),
                          "not hidden, plus compute lost to contention, plus the last bucket");
}

constexpr std::string_view kUpdateSource =
    "operands of a fused update and of gradient clipping, each counted once; Kingma and Ba 2015";

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

// Bytes per updated parameter: optimizer state, gradient and weight, read and written.
Ratio UpdateTraffic(const TrainingContext& context) {
  return InputAt("training.optimizer", Ratio(StateTraffic(context.run.optimizer)), context.tape) + 10;
}

// Muon orthogonalizes the momentum of every matrix; ranks that share a state share this work.
Seconds OrthogonalizationTime(const TrainingContext& context, Ratio updated) {
  if (context.run.optimizer != Optimizer::kMuon) return InputAt("training.optimizer", Seconds(), context.tape);
  const Device& device = context.device();
  const Flops per_weight =
      Figure("FLOPs of Muon per weight", NewtonSchulzFlops(context.model) / CountParameters(context.model).total,
             "embedding and head have an element-wise update");
  return Figure("Orthogonalized momentum",
                per_weight * updated / ReachedRate(device, Precision::kBf16, *device.efficiency.gemm_efficiency));
}

// The update by the device. From ZeRO-2 on it clips and zeroes only the gradients of its shard.
Seconds UpdateTime(const TrainingContext& context, const TrainedWeights& trained) {
  const TrainingRun& run = context.run;
  const Ratio owned =
      run.mapping.zero >= 2
          ? Figure("Owned parameters", trained.OfShard(), "whose gradients the device clips: its shard")
          : Figure("Owned parameters", trained.weights.Base(), "whose gradients the device clips: all its weights");
  const Ratio on_host = run.framework.offload.host_update ? run.offload.optimizer : Ratio(0);
  const Ratio updated = Figure("Updated parameters", (1 - on_host) * trained.OfShard(),
                               "by the device: of its shard, not those that the host updates");
  const Seconds streamed =
      Figure("Streams of the update", (UpdateTraffic(context) * updated + 6 * owned) * kB / context.stream_rate,
             "state read and written, gradient and weight; norm and zeroing of all gradients", kUpdateSource);
  return Figure("Optimizer time", streamed + OrthogonalizationTime(context, updated));
}

Seconds AccumulationTime(const TrainingContext& context, const TrainedWeights& trained) {
  if (!context.framework().compute.separate_accumulation)
    return InputAt("training.framework.compute.separate_accumulation", Seconds(), context.tape);
  return Figure("Gradient accumulation",
                context.shape.micro_batches * 8 * kB * trained.weights.Base() / context.stream_rate,
                "16-bit gradients added into the fp32 copy after every micro-batch");
}

// Optimizer state in host memory: it is streamed through the device for the update, or updated by the host. Figures
// that are explained include it even if there is none.
void OffloadState(const TrainingContext& context, const TrainedWeights& trained, GradientExchange& result) {
  const TrainingRun& run = context.run;
  const BytesPerSecond link = context.device().host.bandwidth;
  if (run.optimizer == Optimizer::kNone || (!(run.offload.optimizer > 0) && !(link > BytesPerSecond{}))) return;
  const Ratio state = Figure("Offloaded parameters", run.offload.optimizer * trained.OfShard(),
                             "with optimizer state in host memory, of the rank's shard");
  const std::optional<BytesPerSecond>& host_update = run.framework.offload.host_update;
  if (!host_update) {
    const StateBytes bytes = StateBytesOf(context);
    result.host_link =
        Figure("Optimizer state on the host link", (bytes.optimizer - bytes.kept_master) * kB * state / link,
               "both directions at once, piece by piece");
    result.host_exposed =
        Figure("Exposed transfer of the optimizer state", max(0 * kS, result.host_link - result.optimizer),
               "the update of one piece hides the transfer of another");
    return;
  }
  const Seconds update = Figure("Update by the host", UpdateTraffic(context) * kB * state / *host_update,
                                "state, gradient and weight in its memory", kUpdateSource);
  result.host_link = Figure("Updated weights on the host link", 2 * kB * state / link, "in 16 bits");
  result.host_exposed = Figure("Exposed return of the weights", max(0 * kS, result.host_link - update),
                               "they return as they are updated");
  if (update > Seconds{})
    result.optimizer = Figure("Updates", result.optimizer + update, "by the device, then by the host");
}

// Time of the end of the step (exchange and update) on one device.
GradientExchange ExchangeOf(const TrainingContext& context, const DeviceStages& device,
                            const std::vector<StageTime>& stages) {
  const TrainedWeights trained = TrainedBy(context, device);
  GradientExchange result;
  HideExchange(context, trained, HidingStage(context, stages), result);
  result.optimizer = UpdateTime(context, trained);
  result.accumulation = AccumulationTime(context, trained);
  OffloadState(context, trained, result);
  return result;
}

Seconds EndOf(const GradientExchange& exchange) {
  return exchange.exposed + exchange.accumulation + exchange.host_exposed + exchange.optimizer;
}

// Whether one device holds at least as much of each kind as another, whose step then ends no later.
bool Covers(const HeldWeights& more, const HeldWeights& less) {
  return more.dense >= less.dense && more.experts >= less.experts && more.adapters >= less.adapters;
}

// The device whose end of the step takes longest. It need not hold the most weights: experts are exchanged among other
// ranks than the rest.
DeviceStages SlowestToEnd(const TrainingContext& context, const std::vector<Stage>& plan,
                          const std::vector<StageTime>& stages) {
  struct Device {
    HeldWeights weights;
    std::size_t index;
  };
  std::vector<Device> largest;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const HeldWeights held = WeightsOn(StagesOn(context, plan, i));
    if (std::any_of(largest.begin(), largest.end(), [&](const Device& other) { return Covers(other.weights, held); }))
      continue;
    std::erase_if(largest, [&](const Device& other) { return Covers(held, other.weights); });
    largest.push_back({held, i});
  }
  std::size_t slowest = largest.front().index;
  if (largest.size() == 1) return StagesOn(context, plan, slowest);
  Seconds longest;
  for (const Device& device : largest) {
    const Seconds end = EndOf(ExchangeOf(context, StagesOn(context, plan, device.index), stages));
    if (end > longest) longest = end, slowest = device.index;
  }
  return StagesOn(context, plan, slowest);
}

}  // namespace

GradientExchange ExchangeGradients(const TrainingContext& context, const std::vector<Stage>& plan,
                                   const std::vector<StageTime>& stages) {
  return ExchangeOf(context, SlowestToEnd(context, plan, stages), stages);
}

}  // namespace slipstick
