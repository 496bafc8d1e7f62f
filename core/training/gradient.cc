#include "core/training/gradient.h"

#include <algorithm>
#include <vector>

#include "core/training/weight_update.h"
#include "core/training_stage/named_terms.h"

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

// Ranks that share the optimizer state of the weights that data_ranks hold: those of ShardRanks.
void ExplainShards(const TrainingRun& run, std::string_view symbol, double shards, double data_ranks, Trace& trace) {
  if (!trace.on()) return;
  const double zero = static_cast<double>(run.mapping.zero), cp = static_cast<double>(run.mapping.cp);
  const Note note{"Ranks that share the optimizer state", "one where nothing is sharded (ZeRO 0)"};
  if (!run.mapping.shard_within) {
    return trace.Record(symbol, "max(1, min(1, zero) * data_ranks)", shards, note, "zero, data_ranks", zero,
                        data_ranks);
  }
  const auto shard_within = static_cast<double>(*run.mapping.shard_within);
  trace.Record(symbol, "max(1, min(1, zero) * min(data_ranks, shard_within * cp))", shards, note,
               "zero, data_ranks, shard_within, cp", zero, data_ranks, shard_within, cp);
}

TrainedParameters TrainedBy(const TrainingContext& context, const DeviceStages& device, Trace& trace) {
  const TrainingRun& run = context.run;
  const TrainingShape& shape = context.shape;
  const bool lora = run.trainable == Trainable::kLora, frozen = run.optimizer == Optimizer::kNone;
  TrainedParameters trained;
  trained.dense_shards = ShardRanks(run, shape.DataRanks());
  trained.expert_shards = ShardRanks(run, shape.ExpertDataRanks());
  const double dp = shape.data, cp = shape.context, tp = shape.tensor, ep = shape.expert,
               expert_tp = shape.expert_tensor;
  {
    const Trace::Scope scope(trace, "expert_shards");
    FIGURE(trace, data_ranks, dp * cp * tp / (ep * expert_tp), (Note{"Ranks that hold the same experts"}), dp, cp, tp,
           ep, expert_tp);
    ExplainShards(run, "expert_shards", trained.expert_shards, data_ranks, trace);
  }
  FIGURE(trace, data_ranks, dp * cp, (Note{"Ranks that hold the same dense weights"}), dp, cp);
  ExplainShards(run, "dense_shards", trained.dense_shards, data_ranks, trace);
  if (frozen) return trained;
  if (lora) {
    trained.dense = WeightsOn(device, &Stage::adapter_parameters, "stage_adapters", "dense",
                              Note{"Weights of a device's adapters"}, trace);
    trace.Input("experts", trained.experts, "training.trainable");
    return trained;
  }
  trained.dense = WeightsOn(
      device, &Stage::dense_parameters, "stage_dense", "dense",
      Note{"Trained weights of a device, experts apart", "of the largest stage; under DualPipe of two"}, trace);
  trained.experts = WeightsOn(device, &Stage::expert_parameters, "stage_experts", "experts",
                              Note{"Trained weights of a device's experts"}, trace);
  return trained;
}

// Collectives on the links; ZeRO-3 has its own in every layer (stage_time.h).
struct GradientLinks {
  Seconds reduce, gather, broadcasts;
};

// A collective of the dense weights' gradients or values, and one of the experts'.
Seconds BothCollectives(const TrainingContext& context, CollectiveType type, RankGroup dense_group, Bytes dense_bytes,
                        Bytes expert_bytes, std::string_view symbol, Trace& trace) {
  const Trace::Scope scope(trace, symbol);
  if (expert_bytes == Bytes{}) trace.Input("expert_time", Seconds(), "model.moe");
  const Seconds dense_time =
      TimeCollective(context, type, dense_bytes, "dense_bytes", dense_group, "dense", "dense_time", trace);
  const Seconds expert_time = TimeCollective(context, type, expert_bytes, "expert_bytes", RankGroup::kExpertData,
                                             "experts", "expert_time", trace);
  FIGURE(trace, both, dense_time + expert_time, (Note{"Dense weights, then experts"}), dense_time, expert_time);
  trace.Alias(symbol, both, "both");
  return both;
}

// Whether ranks that share weights reduce the gradients with other such groups after the last layer.
bool ReducesAtEnd(const TrainingContext& context, double shards) {
  return context.run.mapping.zero >= 3 && context.framework().exchange.reduces_at_end &&
         shards < context.shape.DataRanks();
}

Seconds ReduceBetweenGroups(const TrainingContext& context, const TrainedParameters& trained, Trace& trace) {
  const Trace::Scope scope(trace, "reduce");
  const double dense = trained.dense, dense_shards = trained.dense_shards,
               gradient_bytes = context.framework().exchange.gradient_bytes;
  FIGURE(trace, dense_bytes, gradient_bytes * kB * (dense / dense_shards), (Note{"Gradients of the rank's shard"}),
         gradient_bytes, dense, dense_shards);
  return TimeCollective(context, CollectiveType::kAllReduce, dense_bytes, "dense_bytes", RankGroup::kReplica, "dense",
                        "reduce_link", trace);
}

GradientLinks TimeCollectives(const TrainingContext& context, const TrainedParameters& trained, Trace& trace) {
  const TrainingRun& run = context.run;
  const TrainingShape& shape = context.shape;
  const FrameworkExchange& framework = context.framework().exchange;
  GradientLinks links;
  if (ReducesAtEnd(context, trained.dense_shards)) links.reduce = ReduceBetweenGroups(context, trained, trace);
  if (run.mapping.zero >= 3) return links;
  const double shards = trained.dense_shards, dense = trained.dense, experts = trained.experts;
  const bool sharded = run.mapping.zero >= 1 && shards == shape.DataRanks() && !framework.reduces_whole_gradients;
  const double gradient_bytes = framework.gradient_bytes;
  const CollectiveType reduction = sharded ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  {
    const Trace::Scope scope(trace, "reduce");
    FIGURE(trace, dense_bytes, gradient_bytes * kB * dense, (Note{"Gradients of the dense weights"}), gradient_bytes,
           dense);
    FIGURE(trace, expert_bytes, gradient_bytes * kB * experts, (Note{"Gradients of the experts"}), gradient_bytes,
           experts);
    links.reduce =
        BothCollectives(context, reduction, RankGroup::kData, dense_bytes, expert_bytes, "reduce_link", trace);
  }
  if (run.mapping.zero >= 1) {
    const Trace::Scope scope(trace, "gather");
    FIGURE(trace, dense_bytes, 2 * kB * dense, (Note{"Dense weights in 16 bits"}), dense);
    FIGURE(trace, expert_bytes, 2 * kB * experts, (Note{"Experts' weights in 16 bits"}), experts);
    links.gather = BothCollectives(context, CollectiveType::kAllGather, RankGroup::kShard, dense_bytes, expert_bytes,
                                   "gather_link", trace);
  }
  const Seconds shard_broadcast = framework.shard_broadcast;
  const double dense_shards = shards;
  if (run.mapping.zero >= 1 && shards > 8) {
    FIGURE(trace, broadcasts, dense_shards * shard_broadcast,
           (Note{"Broadcasts of the shards", "one per shard, where the framework needs them"}), dense_shards,
           shard_broadcast);
    links.broadcasts = broadcasts;
  }
  return links;
}

// Collectives of the step that its ZeRO stage does without.
void ExplainAbsent(const TrainingContext& context, double dense_shards, Seconds broadcasts, Trace& trace) {
  if (!trace.on()) return;
  const auto zero = static_cast<double>(context.run.mapping.zero);
  constexpr std::string_view kTitle = "Collective of the gradients or weights, once per step";
  if (zero >= 3) {
    constexpr std::string_view kAbsent[] = {"gather_link", "broadcasts", "reduce_link"};
    for (const std::string_view absent : kAbsent) {
      if (absent == "reduce_link" && ReducesAtEnd(context, dense_shards)) continue;
      RecordNone({absent}, "max(0, 3 - zero)", Note{kTitle, "ZeRO-3 has them in every layer"}, "zero", zero, trace);
    }
  } else if (zero < 1) {
    RecordNone({"gather_link", "broadcasts"}, "zero", Note{kTitle, "every rank updates all its weights"}, "zero", zero,
               trace);
  } else if (broadcasts == Seconds{}) {
    const Seconds shard_broadcast = context.framework().exchange.shard_broadcast;
    trace.Record("broadcasts", "min(1, max(0, dense_shards - 8)) * dense_shards * shard_broadcast", broadcasts,
                 Note{"Broadcasts of the shards", "of more than 8, where the framework needs them"},
                 "dense_shards, shard_broadcast", dense_shards, shard_broadcast);
  }
}

void HideExchange(const TrainingContext& context, const TrainedParameters& trained,
                  const std::vector<StageTime>& stages, GradientExchange& result, Trace& trace) {
  const FrameworkExchange& framework = context.framework().exchange;
  const auto [reduce_link, gather_link, broadcasts] = TimeCollectives(context, trained, trace);
  ExplainAbsent(context, trained.dense_shards, broadcasts, trace);
  const double p = context.shape.pipeline, v = context.shape.chunks, m = context.shape.micro_batches;
  const bool at_end = ReducesAtEnd(context, trained.dense_shards);
  const bool overlaps = context.run.mapping.overlap.dp.value_or(
      !at_end && (framework.gradient_overlap == GradientOverlap::kAlways ||
                  (framework.gradient_overlap == GradientOverlap::kSinglePass && m <= 1)));
  // Chunks finish their gradients one after another: all but the last one's are reduced behind the passes of the
  // others.
  const double pp = p, virtual_stages = v, micro_batches = m, overlapping = overlaps ? 1 : 0;
  trace.Input("overlapping", overlapping,
              at_end ? "training.framework.exchange.reduces_at_end" : "training.framework.exchange.gradient_overlap");
  FIGURE(trace, windows, overlapping * max(1.0, min(pp, micro_batches) * (1 - 1 / virtual_stages)),
         (Note{"Passes that hide the exchange", "chunks finish their gradients one after another; 0 without overlap"}),
         overlapping, pp, micro_batches, virtual_stages);
  const double dense = trained.dense, experts = trained.experts, gradient_bytes = framework.gradient_bytes;
  const bool gathers = gather_link > Seconds{};
  const Bytes moved = (gradient_bytes + (gathers ? 2 : 0)) * kB * (dense + experts);
  trace.Record("moved", gathers ? "(gradient_bytes + 2) * (dense + experts)" : "gradient_bytes * (dense + experts)",
               moved, Note{"Bytes of gradients and gathered weights", "the weights in 16 bits"},
               "gradient_bytes, dense, experts", gradient_bytes, dense, experts);
  const double contention = ContentionBeside(context, moved, reduce_link + gather_link);
  ExplainContention(context, moved, "reduce_link + gather_link", {reduce_link, gather_link}, trace);
  const StageTime& hiding = HidingStage(context, stages);
  const Seconds hiding_backward = hiding.Backward(), hiding_forward = hiding.Forward();
  trace.Alias("hiding_backward", hiding_backward, "stage_backward");
  trace.Alias("hiding_forward", hiding_forward, "stage_forward");
  const double hiding_share = framework.hiding_share, last_bucket = framework.last_bucket;
  trace.Input("hiding_share", hiding_share, "training.framework.exchange.hiding_share");
  trace.Input("last_bucket", last_bucket, "training.framework.exchange.last_bucket");
  FIGURE(trace, reduce_hidden, min(reduce_link, hiding_share * hiding_backward * windows),
         (Note{"Hidden part of the gradient reduction",
               "behind part of the last backward passes: of the first stage, or with several chunks of the slowest"}),
         reduce_link, hiding_share, hiding_backward, windows);
  FIGURE(trace, gather_hidden, min(gather_link, hiding_share * hiding_forward * windows),
         (Note{"Hidden part of the weight all-gather", "behind the next step's first forward passes"}), gather_link,
         hiding_share, hiding_forward, windows);
  FIGURE(trace, link_time, reduce_link + gather_link + broadcasts, (Note{"DP link time per step", ""}), reduce_link,
         gather_link, broadcasts);
  FIGURE(trace, exposed_time,
         min(link_time, link_time - (1 - contention) * (reduce_hidden + gather_hidden) +
                            last_bucket * (reduce_link + gather_link)),
         (Note{"Exposed DP time per step", "not hidden, plus compute lost to contention, plus the last bucket"}),
         link_time, contention, reduce_hidden, gather_hidden, last_bucket, reduce_link, gather_link);
  trace.Alias("gradients_link", link_time, "link_time");
  trace.Alias("gradients_exposed", exposed_time, "exposed_time");
  result.link = link_time;
  result.exposed = exposed_time;
}

// Gradients to the host and weights from it beside the passes of a micro-batch; the two directions of the link run at
// once.
HostTime MoveBesidePasses(const TrainingContext& context, const TrainedParameters& trained, const Stage& stage,
                          const StageTime& hiding, Trace& trace) {
  const auto [dense, experts, dense_shards, expert_shards] = trained;
  const double zero = static_cast<double>(context.run.mapping.zero), micro_batches = context.shape.micro_batches;
  const double offloaded_gradients = OffloadedGradients(context.run),
               offloaded_parameters = context.run.offload.parameters;
  const BytesPerSecond host_bandwidth = context.device().host.bandwidth;
  trace.Input("offloaded_gradients", offloaded_gradients, InputOfOffloadedGradients(context.run));
  trace.Input("offloaded_parameters", offloaded_parameters, "training.offload.parameters");
  const double shard_gradients = zero >= 2 ? trained.OfShard() : dense + experts;
  const Note note{"Parameters whose gradients the rank keeps", "its shard from ZeRO 2 on"};
  if (zero >= 2) {
    trace.Record("shard_gradients", "dense / dense_shards + experts / expert_shards", shard_gradients, note,
                 "dense, dense_shards, experts, expert_shards", dense, dense_shards, experts, expert_shards);
  } else {
    trace.Record("shard_gradients", "dense + experts", shard_gradients, note, "dense, experts", dense, experts);
  }
  FIGURE(trace, gradients_out, offloaded_gradients * 2 * kB * shard_gradients / host_bandwidth,
         (Note{"Gradients of a micro-batch on the host link", "in 16 bits; the host adds them up"}),
         offloaded_gradients, shard_gradients, host_bandwidth);
  const double weight_shards = zero >= 3 ? dense_shards : 1;
  const double stage_dense = stage.dense_parameters, stage_experts = stage.expert_parameters;
  if (zero >= 3) {
    trace.Alias("weight_shards", weight_shards, "dense_shards");
  } else {
    CONSTANTS(trace, "training.offload", "weights are whole on every rank below ZeRO 3", weight_shards);
  }
  const double weight_bytes = StateBytesOf(context).weights;
  FIGURE(trace, weights_in,
         offloaded_parameters * weight_bytes * kB * (stage_dense + stage_experts) / weight_shards / host_bandwidth,
         (Note{"Weights of a pass on the host link"}), offloaded_parameters, weight_bytes, stage_dense, stage_experts,
         weight_shards, host_bandwidth);
  const Seconds stage_forward = hiding.Forward(), stage_backward = hiding.Backward();
  FIGURE(trace, passes_link, micro_batches * (gradients_out + 2 * weights_in),
         (Note{"Weights and gradients on the host link", "weights in the forward and in the backward pass"}),
         micro_batches, gradients_out, weights_in);
  FIGURE(trace, passes_exposed,
         micro_batches *
             (max(0 * kS, weights_in - stage_forward) + max(0 * kS, max(weights_in, gradients_out) - stage_backward)),
         (Note{"Exposed weights and gradients", "beyond the passes that hide them"}), micro_batches, weights_in,
         stage_forward, gradients_out, stage_backward);
  return {passes_link, passes_exposed, {}};
}

// What of the run's state lies in host memory; explained whether there is any or not.
void OffloadState(const TrainingContext& context, const TrainedParameters& trained, const Stage& stage,
                  const StageTime& hiding, GradientExchange& result, Trace& trace) {
  const Offload& offload = context.run.offload;
  const BytesPerSecond host_bandwidth = context.device().host.bandwidth;
  const bool offloads = offload.optimizer > 0 || offload.parameters > 0 || OffloadedGradients(context.run) > 0;
  if (!offloads && !(trace.on() && host_bandwidth > BytesPerSecond{})) return;
  if (context.run.optimizer == Optimizer::kNone && !(offload.parameters > 0)) return;
  trace.Input("host_bandwidth", host_bandwidth, "cluster.device.host.bandwidth");
  ExplainStateBytes(context, StateBytesOf(context), trace);
  const HostTime state = UpdateOffloaded(context, trained, result.optimizer, trace);
  const HostTime passes = MoveBesidePasses(context, trained, stage, hiding, trace);
  const Seconds state_link = state.link, state_exposed = state.exposed, passes_link = passes.link,
                passes_exposed = passes.exposed;
  FIGURE(trace, host_link_time, state_link + passes_link, (Note{"Offloaded state on the host link"}), state_link,
         passes_link);
  FIGURE(trace, host_exposed_time, state_exposed + passes_exposed, (Note{"Exposed transfer of offloaded state"}),
         state_exposed, passes_exposed);
  trace.Alias("state_offload", host_link_time, "host_link_time");
  if (state.update > Seconds{}) {
    const Seconds optimizer_time = result.optimizer, host_update_time = state.update;
    FIGURE(trace, updates, optimizer_time + host_update_time, (Note{"Updates", "by the device, then by the host"}),
           optimizer_time, host_update_time);
    trace.Alias("optimizer_time", updates, "updates");
    result.optimizer = updates;
  }
  result.host_link = host_link_time;
  result.host_exposed = host_exposed_time;
}

// The end of the step on one device.
GradientExchange ExchangeOf(const TrainingContext& context, const DeviceStages& device,
                            const std::vector<StageTime>& stages, Trace& trace) {
  const TrainedParameters trained = TrainedBy(context, device, trace);
  GradientExchange result;
  HideExchange(context, trained, stages, result, trace);
  const UpdateTime update = UpdateWeights(context, trained, trace);
  result.optimizer = update.optimizer;
  result.accumulation = update.accumulation;
  OffloadState(context, trained, device.own, HidingStage(context, stages), result, trace);
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
  trace.Input("gradient_bytes", context.framework().exchange.gradient_bytes,
              "training.framework.exchange.gradient_bytes");
  return ExchangeOf(context, SlowestToEnd(context, plan, stages), stages, trace);
}

}  // namespace slipstick
