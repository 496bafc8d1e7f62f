#include "core/training/gradient.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/training/step_terms.h"
#include "core/training_stage/exchange.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {

const StageTime& HidingStage(const TrainingContext& context, const std::vector<StageTime>& stages) {
  const bool paced_by_slowest = context.shape.chunks > 1 || SplitsBackward(context);
  const StageTime* hiding = &stages.front();
  for (const StageTime& stage : stages) {
    if (paced_by_slowest && stage.Total() > hiding->Total()) hiding = &stage;
  }
  return *hiding;
}

namespace {

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
Seconds TimeOfBoth(const TrainingContext& context, const Message& dense, Bytes of_experts) {
  const Seconds first = TimeOf(context, dense);
  return first + TimeOf(context, {dense.type, RankGroup::kExpertData, of_experts});
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
  const Ratio element = context.framework().exchange.gradient_bytes;
  const Bytes shard =
      Figure("Gradients of the rank's shard", element * kB * (trained.weights.dense / trained.shards.dense));
  links.reduce = TimeOf(context, {CollectiveType::kAllReduce, RankGroup::kReplica, shard});
  return links;
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
  links.reduce = TimeOfBoth(context, {reduction, RankGroup::kData, dense_gradients}, expert_gradients);
  if (zero < 1) {  // every rank updates all its weights
    links.gather = links.broadcasts = zero * Seconds();
    return links;
  }
  const Bytes dense = Figure("Dense weights in 16 bits", 2 * kB * trained.weights.dense),
              experts = Figure("Experts' weights in 16 bits", 2 * kB * trained.weights.experts);
  links.gather = TimeOfBoth(context, {CollectiveType::kAllGather, RankGroup::kShard, dense}, experts);
  links.broadcasts = Figure("Broadcasts of the shards", min(1, max(0, shards - 8)) * shards * framework.shard_broadcast,
                            "of more than 8, where the framework needs them");
  return links;
}

// Number of passes that can hide the exchange. Chunks finish their gradients one after another; all but the last
// chunk's are reduced while passes of other chunks run.
Ratio WindowsOf(const TrainingContext& context, const StepTerms& step, const TrainedWeights& trained) {
  const GradientOverlap overlap = context.framework().exchange.gradient_overlap;
  const bool at_end = ReducesAtEnd(context, trained.shards.dense);
  const bool overlaps = context.run.mapping.overlap.dp.value_or(
      !at_end &&
      (overlap == GradientOverlap::kAlways || (overlap == GradientOverlap::kSinglePass && step.micro_batches <= 1)));
  const Ratio overlapping =
      InputAt(at_end ? "training.framework.exchange.reduces_at_end" : "training.framework.exchange.gradient_overlap",
              Ratio(overlaps ? 1 : 0), context.tape);
  return Figure("Passes that hide the exchange",
                overlapping * max(1, min(step.pipeline, step.micro_batches) * (1 - 1 / step.chunks)),
                "chunks finish their gradients one after another; 0 without overlap");
}

// Passes of one micro-batch on the stage that hides the exchange.
struct StagePasses {
  Seconds forward, backward;
};

void HideExchange(const TrainingContext& context, const StepTerms& step, const TrainedWeights& trained,
                  const StagePasses& passes, GradientExchange& result) {
  const FrameworkExchange& framework = step.run.framework.exchange;
  const GradientLinks links = TimeCollectives(context, trained);
  const Seconds reduce = Figure("Reduction of the gradients", links.reduce),
                gather = Figure("All-gather of the weights", links.gather);
  const Ratio element = gather > Seconds{} ? framework.gradient_bytes + 2 : framework.gradient_bytes;
  const Bytes moved = Figure("Moved gradients and weights", element * kB * trained.weights.Base(),
                             "bytes of gradients, and of gathered weights in 16 bits");
  const Ratio contention = ContentionBeside(context, moved, reduce + gather),
              windows = WindowsOf(context, step, trained);
  const Seconds reduce_hidden =
      Figure("Hidden part of the gradient reduction", min(reduce, framework.hiding_share * passes.backward * windows),
             "behind part of the last backward passes: of the first stage, or with several chunks of the slowest");
  const Seconds gather_hidden =
      Figure("Hidden part of the weight all-gather", min(gather, framework.hiding_share * passes.forward * windows),
             "behind the next step's first forward passes");
  result.link = Figure("DP link time per step", reduce + gather + links.broadcasts);
  result.exposed = Figure("Exposed DP time per step",
                          min(result.link, result.link - (1 - contention) * (reduce_hidden + gather_hidden) +
                                               framework.last_bucket * (reduce + gather)),
                          "not hidden, plus compute lost to contention, plus the last bucket");
}

// Adds the transfers of optimizer state in host memory; if explanations are on, even if there are none.
void OffloadState(const StepTerms& step, const WeightUpdate& update, GradientExchange& result) {
  if (!(step.run.offload.optimizer > 0) && !(step.host_bandwidth > BytesPerSecond{})) return;
  if (step.run.optimizer == Optimizer::kNone) return;
  const HostTime state = UpdateOffloaded(update, result.optimizer);
  result.host_link = state.link;
  result.host_exposed = state.exposed;
  if (state.update > Seconds{})
    result.optimizer = Figure("Updates", result.optimizer + state.update, "by the device, then by the host");
}

WeightUpdate UpdateOf(const TrainingContext& context, const StepTerms& step, const TrainedWeights& trained,
                      Ratio optimizer_bytes) {
  WeightUpdate update;
  update.trained = trained;
  update.owns_shard = step.run.mapping.zero >= 2;
  update.separate_accumulation = step.run.framework.compute.separate_accumulation;
  update.state_traffic = InputAt("training.optimizer", Ratio(StateTraffic(step.run.optimizer)), context.tape);
  update.optimizer_bytes = optimizer_bytes;
  update.offloaded = step.run.offload.optimizer;
  update.host_update = step.run.framework.offload.host_update;
  update.micro_batches = step.micro_batches;
  update.stream_rate = context.stream_rate;
  update.host_bandwidth = step.host_bandwidth;
  return update;
}

// Time of the end of the step (exchange and update) on one device.
GradientExchange ExchangeOf(const TrainingContext& context, const DeviceStages& device,
                            const std::vector<StageTime>& stages) {
  const StepTerms step(context);
  const StageTime& hiding = HidingStage(context, stages);
  const StagePasses passes{Figure("Forward pass of the stage", hiding.Forward(), "one micro-batch"),
                           Figure("Backward pass of the stage", hiding.Backward(), "one micro-batch")};
  const TrainedWeights trained = TrainedBy(context, device);
  GradientExchange result;
  HideExchange(context, step, trained, passes, result);
  const StateBytes state = StateBytesOf(context);
  const WeightUpdate update = UpdateOf(context, step, trained, state.optimizer - state.kept_master);
  const UpdateTime time = UpdateWeights(update);
  result.optimizer = time.optimizer;
  result.accumulation = update.separate_accumulation
                            ? time.accumulation
                            : InputAt("training.framework.compute.separate_accumulation", Seconds(), context.tape);
  OffloadState(step, update, result);
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

namespace {

constexpr std::string_view kUpdateSource =
    "operands of a fused update and of gradient clipping, each counted once; Kingma and Ba 2015";

}  // namespace

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

UpdateTime UpdateWeights(const WeightUpdate& update) {
  const TrainedWeights& trained = update.trained;
  const Ratio all = trained.weights.Base();
  const Ratio owned = update.owns_shard
                          ? Figure("Owned parameters", trained.OfShard(), "whose gradients the device clips: its shard")
                          : Figure("Owned parameters", all, "whose gradients the device clips: all its weights");
  const Ratio on_host = update.host_update ? update.offloaded : Ratio(0);
  const Ratio updated = Figure("Updated parameters", (1 - on_host) * trained.OfShard(),
                               "by the device: of its shard, not those that the host updates");
  UpdateTime time;
  time.optimizer =
      Figure("Optimizer time", ((update.state_traffic + 10) * updated + 6 * owned) * kB / update.stream_rate,
             "state read and written, gradient and weight; norm and zeroing of all gradients", kUpdateSource);
  if (update.separate_accumulation)
    time.accumulation = Figure("Gradient accumulation", update.micro_batches * 8 * kB * all / update.stream_rate,
                               "16-bit gradients added into the fp32 copy after every micro-batch");
  return time;
}

HostTime UpdateOffloaded(const WeightUpdate& update, Seconds device_update) {
  const Ratio state = Figure("Offloaded parameters", update.offloaded * update.trained.OfShard(),
                             "with optimizer state in host memory, of the rank's shard");
  HostTime time;
  if (!update.host_update) {
    time.link = Figure("Optimizer state on the host link", update.optimizer_bytes * kB * state / update.host_bandwidth,
                       "both directions at once, piece by piece");
    time.exposed = Figure("Exposed transfer of the optimizer state", max(0 * kS, time.link - device_update),
                          "the update of one piece hides the transfer of another");
    return time;
  }
  time.link = Figure("Updated weights on the host link", 2 * kB * state / update.host_bandwidth, "in 16 bits");
  time.update = Figure("Update by the host", (update.state_traffic + 10) * kB * state / *update.host_update,
                       "state, gradient and weight in its memory", kUpdateSource);
  time.exposed =
      Figure("Exposed return of the weights", max(0 * kS, time.link - time.update), "they return as they are updated");
  return time;
}

}  // namespace slipstick
