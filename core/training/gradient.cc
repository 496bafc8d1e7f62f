#include "core/training/gradient.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/training/step_terms.h"
#include "core/training/weight_update.h"

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

TrainedParameters TrainedBy(const StepTerms& step, const DeviceStages& device, Trace& trace) {
  TrainedParameters trained;
  trained.dense_shards = step.ShardsFrom(1, step.DataRanks());
  trained.expert_shards = step.ShardsFrom(1, step.ExpertDataRanks());
  if (step.run.optimizer == Optimizer::kNone) return trained;
  const auto weights = [&](Ratio Stage::* part, std::string_view part_symbol, std::string_view symbol, Note note) {
    return trace.Carry(symbol, Ratio(WeightsOn(device, part, part_symbol, symbol, note, trace)));
  };
  if (step.run.trainable == Trainable::kLora) {
    trained.dense = weights(&Stage::adapter_parameters, "stage_adapters", "dense", {"Weights of a device's adapters"});
    return trained;
  }
  trained.dense =
      weights(&Stage::dense_parameters, "stage_dense", "dense",
              {"Trained weights of a device, experts apart", "of the largest stage; under DualPipe of two"});
  trained.experts =
      weights(&Stage::expert_parameters, "stage_experts", "experts", {"Trained weights of a device's experts"});
  return trained;
}

// Collectives on the links; ZeRO-3 has its own in every layer (stage_time.h).
struct GradientLinks {
  Seconds reduce, gather, broadcasts;
};

// A message to a group of ranks.
struct Message {
  CollectiveType type;
  RankGroup group;
  Bytes bytes;
};
// `name`: "dense" or "experts".
Seconds TimeOf(const TrainingContext& context, const Message& message, const std::string& name, Trace& trace) {
  const std::string bytes = name + "_bytes", time = name + "_time";
  KnownAs(bytes, message.bytes, trace);
  return trace.Carry(time,
                     TimeCollective(context, message.type, message.bytes, bytes, message.group, name, time, trace));
}

// Of the dense weights, then of the experts.
Seconds TimeOfBoth(const TrainingContext& context, const Message& dense, Bytes of_experts, Trace& trace) {
  const Seconds first = TimeOf(context, dense, "dense", trace);
  return first + TimeOf(context, {dense.type, RankGroup::kExpertData, of_experts}, "expert", trace);
}

// Whether ranks that share weights reduce the gradients with other such groups after the last layer.
bool ReducesAtEnd(const TrainingContext& context, double shards) {
  return context.run.mapping.zero >= 3 && context.framework().exchange.reduces_at_end &&
         shards < context.shape.DataRanks();
}

// What ZeRO-3 has in every layer, once per step only where ranks that share weights reduce with other groups.
GradientLinks LinksOfZero3(const TrainingContext& context, const TrainedParameters& trained, Trace& trace) {
  const Seconds none = max(0, 3 - Ratio(context.run.mapping.zero)) * Seconds();
  GradientLinks links{none, none, none};
  if (!ReducesAtEnd(context, trained.dense_shards)) return links;
  const Trace::Scope scope(trace, "reduce");
  const Ratio element = context.framework().exchange.gradient_bytes;
  const Bytes shard = Figure("Gradients of the rank's shard", element * kB * (trained.dense / trained.dense_shards));
  links.reduce = TimeOf(context, {CollectiveType::kAllReduce, RankGroup::kReplica, shard}, "dense", trace);
  return links;
}

GradientLinks TimeCollectives(const TrainingContext& context, const TrainedParameters& trained, Trace& trace) {
  if (context.run.mapping.zero >= 3) return LinksOfZero3(context, trained, trace);
  const FrameworkExchange& framework = context.framework().exchange;
  const Ratio zero = context.run.mapping.zero, element = framework.gradient_bytes, shards = trained.dense_shards;
  const bool sharded = zero >= 1 && shards == context.shape.DataRanks() && !framework.reduces_whole_gradients;
  const CollectiveType reduction = sharded ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  GradientLinks links;
  {
    const Trace::Scope scope(trace, "reduce");
    const Bytes dense = Figure("Gradients of the dense weights", element * kB * trained.dense),
                experts = Figure("Gradients of the experts", element * kB * trained.experts);
    links.reduce = TimeOfBoth(context, {reduction, RankGroup::kData, dense}, experts, trace);
  }
  if (zero < 1) {  // every rank updates all its weights
    links.gather = links.broadcasts = zero * Seconds();
    return links;
  }
  const Trace::Scope scope(trace, "gather");
  const Bytes dense = Figure("Dense weights in 16 bits", 2 * kB * trained.dense),
              experts = Figure("Experts' weights in 16 bits", 2 * kB * trained.experts);
  links.gather = TimeOfBoth(context, {CollectiveType::kAllGather, RankGroup::kShard, dense}, experts, trace);
  links.broadcasts = Figure("Broadcasts of the shards", min(1, max(0, shards - 8)) * shards * framework.shard_broadcast,
                            "of more than 8, where the framework needs them");
  return links;
}

// Passes that hide the exchange: chunks finish their gradients one after another, and all but the last one's are
// reduced behind the passes of the others.
Ratio WindowsOf(const TrainingContext& context, const StepTerms& step, const TrainedParameters& trained, Trace& trace) {
  const GradientOverlap overlap = context.framework().exchange.gradient_overlap;
  const bool at_end = ReducesAtEnd(context, trained.dense_shards);
  const bool overlaps = context.run.mapping.overlap.dp.value_or(
      !at_end &&
      (overlap == GradientOverlap::kAlways || (overlap == GradientOverlap::kSinglePass && step.micro_batches <= 1)));
  const Ratio overlapping = InputAt(
      Ratio(overlaps ? 1 : 0),
      at_end ? "training.framework.exchange.reduces_at_end" : "training.framework.exchange.gradient_overlap", trace);
  return Figure("Passes that hide the exchange",
                overlapping * max(1, min(step.pipeline, step.micro_batches) * (1 - 1 / step.chunks)),
                "chunks finish their gradients one after another; 0 without overlap");
}

void HideExchange(const TrainingContext& context, const StepTerms& step, const TrainedParameters& trained,
                  const StageTime& hiding, GradientExchange& result, Trace& trace) {
  const FrameworkExchange& framework = step.run.framework.exchange;
  const GradientLinks links = TimeCollectives(context, trained, trace);
  const Seconds reduce = KnownAs("reduce_link", Figure("Reduction of the gradients", links.reduce), trace),
                gather = KnownAs("gather_link", Figure("All-gather of the weights", links.gather), trace);
  const Ratio element = gather > Seconds{} ? framework.gradient_bytes + 2 : framework.gradient_bytes;
  const Bytes moved = KnownAs("moved",
                              Figure("Moved gradients and weights", element * kB * (trained.dense + trained.experts),
                                     "bytes of gradients, and of gathered weights in 16 bits"),
                              trace);
  const Ratio contention = ContentionBeside(context, moved, reduce + gather),
              windows = WindowsOf(context, step, trained, trace);
  const Seconds backward = trace.Carry("stage_backward", hiding.Backward()),
                forward = trace.Carry("stage_forward", hiding.Forward());
  const Seconds reduce_hidden =
      Figure("Hidden part of the gradient reduction", min(reduce, framework.hiding_share * backward * windows),
             "behind part of the last backward passes: of the first stage, or with several chunks of the slowest");
  const Seconds gather_hidden =
      Figure("Hidden part of the weight all-gather", min(gather, framework.hiding_share * forward * windows),
             "behind the next step's first forward passes");
  result.link = Figure("DP link time per step", reduce + gather + links.broadcasts);
  result.exposed = Figure("Exposed DP time per step",
                          min(result.link, result.link - (1 - contention) * (reduce_hidden + gather_hidden) +
                                               framework.last_bucket * (reduce + gather)),
                          "not hidden, plus compute lost to contention, plus the last bucket");
}

// Gradients to the host and weights from it beside the passes of a micro-batch; the two directions of the link run at
// once.
HostTime MoveBesidePasses(const StepTerms& step, const TrainedParameters& trained, const Stage& stage,
                          const StageTime& hiding, Ratio weight_bytes, Trace& trace) {
  const Ratio zero = step.run.mapping.zero;
  const Ratio kept = Figure("Kept gradients", zero >= 2 ? trained.OfShard() : trained.dense + trained.experts,
                            "parameters whose gradients the rank keeps: its shard from ZeRO 2 on");
  const Seconds out =
      Figure("Gradients of a micro-batch on the host link",
             step.offloaded_gradients * 2 * kB * kept / step.host_bandwidth, "in 16 bits; the host adds them up");
  const Ratio dense = trace.Carry("stage_dense", Ratio(stage.dense_parameters)),
              experts = trace.Carry("stage_experts", Ratio(stage.expert_parameters));
  const Ratio shards = zero >= 3 ? trained.dense_shards : Ratio(1);
  const Seconds in = Figure("Weights of a pass on the host link", step.run.offload.parameters * weight_bytes * kB *
                                                                      (dense + experts) / shards / step.host_bandwidth);
  const Seconds forward = trace.Carry("stage_forward", hiding.Forward()),
                backward = trace.Carry("stage_backward", hiding.Backward());
  HostTime time;
  time.link = Figure("Weights and gradients on the host link", step.micro_batches * (out + 2 * in),
                     "weights in the forward and in the backward pass");
  time.exposed = Figure("Exposed weights and gradients",
                        step.micro_batches * (max(0 * kS, in - forward) + max(0 * kS, max(in, out) - backward)),
                        "beyond the passes that hide them");
  return time;
}

// What of the run's state lies in host memory; explained whether there is any or not.
void OffloadState(const StepTerms& step, const WeightUpdate& update, const Stage& stage, const StageTime& hiding,
                  Ratio weight_bytes, GradientExchange& result, Trace& trace) {
  const Offload& offload = step.run.offload;
  const bool offloads = offload.optimizer > 0 || offload.parameters > 0 || step.offloaded_gradients > 0;
  if (!offloads && !(step.host_bandwidth > BytesPerSecond{})) return;
  if (step.run.optimizer == Optimizer::kNone && !(offload.parameters > 0)) return;
  const HostTime state = UpdateOffloaded(update, result.optimizer);
  const HostTime passes = MoveBesidePasses(step, update.trained, stage, hiding, weight_bytes, trace);
  result.host_link = Figure("Offloaded state on the host link", state.link + passes.link);
  result.host_exposed = Figure("Exposed transfer of offloaded state", state.exposed + passes.exposed);
  if (state.update > Seconds{})
    result.optimizer = Figure("Updates", result.optimizer + state.update, "by the device, then by the host");
}

WeightUpdate UpdateOf(const TrainingContext& context, const StepTerms& step, const TrainedParameters& trained,
                      Ratio optimizer_bytes, Trace& trace) {
  WeightUpdate update;
  update.trained = trained;
  update.owns_shard = step.run.mapping.zero >= 2;
  update.separate_accumulation = step.run.framework.compute.separate_accumulation;
  update.state_traffic = InputAt(Ratio(StateTraffic(step.run.optimizer)), "training.optimizer", trace);
  update.optimizer_bytes = optimizer_bytes;
  update.offloaded = step.run.offload.optimizer;
  update.host_update = step.run.framework.offload.host_update;
  update.micro_batches = step.micro_batches;
  update.stream_rate = trace.Carry("stream_rate", context.stream_rate);
  update.host_bandwidth = step.host_bandwidth;
  return update;
}

// The end of the step on one device.
GradientExchange ExchangeOf(const TrainingContext& context, const DeviceStages& device,
                            const std::vector<StageTime>& stages, Trace& trace) {
  const StepTerms step(context, trace);
  const StageTime& hiding = HidingStage(context, stages);
  const TrainedParameters trained = TrainedBy(step, device, trace);
  GradientExchange result;
  HideExchange(context, step, trained, hiding, result, trace);
  const StateBytes state = StateBytesOf(context);
  ExplainStateBytes(context, state, trace);
  const WeightUpdate update =
      UpdateOf(context, step, trained, trace.Carry("state_optimizer", Ratio(state.optimizer)), trace);
  const UpdateTime time = UpdateWeights(update);
  result.optimizer = time.optimizer;
  result.accumulation = update.separate_accumulation
                            ? time.accumulation
                            : InputAt(Seconds(), "training.framework.compute.separate_accumulation", trace);
  OffloadState(step, update, device.own, hiding, trace.Carry("weight_bytes", Ratio(state.weights)), result, trace);
  return result;
}

Seconds EndOf(const GradientExchange& exchange) {
  return exchange.exposed + exchange.accumulation + exchange.host_exposed + exchange.optimizer;
}

// Weights of a device, and those of its own stage, which offload streams in. A device that holds no more of any of them
// than another ends its step no later.
struct HeldWeights {
  double dense = 0, experts = 0, adapters = 0, own = 0;
  std::size_t device = 0;
  void Add(const Stage& stage) {
    dense += stage.dense_parameters, experts += stage.expert_parameters, adapters += stage.adapter_parameters;
  }
  [[nodiscard]] bool Covers(const HeldWeights& other) const {
    return dense >= other.dense && experts >= other.experts && adapters >= other.adapters && own >= other.own;
  }
};

// The device whose end of the step takes longest. It need not hold most weights: experts are exchanged among other
// ranks than the rest.
DeviceStages SlowestToEnd(const TrainingContext& context, const std::vector<Stage>& plan,
                          const std::vector<StageTime>& stages) {
  std::vector<HeldWeights> largest;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const DeviceStages device = StagesOn(context, plan, i);
    HeldWeights held{.own = device.own.Parameters(), .device = i};
    held.Add(device.own);
    if (device.mirrored != nullptr) held.Add(*device.mirrored);
    if (std::any_of(largest.begin(), largest.end(), [&](const HeldWeights& other) { return other.Covers(held); }))
      continue;
    std::erase_if(largest, [&](const HeldWeights& other) { return held.Covers(other); });
    largest.push_back(held);
  }
  std::size_t slowest = largest.front().device;
  if (largest.size() == 1) return StagesOn(context, plan, slowest);
  Trace off = Trace::Off();
  Seconds longest;
  for (const HeldWeights& held : largest) {
    const Seconds end = EndOf(ExchangeOf(context, StagesOn(context, plan, held.device), stages, off));
    if (end > longest) longest = end, slowest = held.device;
  }
  return StagesOn(context, plan, slowest);
}

}  // namespace

GradientExchange ExchangeGradients(const TrainingContext& context, const std::vector<Stage>& plan,
                                   const std::vector<StageTime>& stages, Trace& trace) {
  Trace::Scope scope(trace, "gradients");
  return ExchangeOf(context, SlowestToEnd(context, plan, stages), stages, trace);
}

}  // namespace slipstick
