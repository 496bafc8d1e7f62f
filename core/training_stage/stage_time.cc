#include "core/training_stage/stage_time.h"

#include <algorithm>
#include <utility>

#include "core/base/figure.h"
#include "core/training_stage/exchange.h"
#include "core/training_stage/layer_memory.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {
namespace {

// Exposed part of a transfer during compute, including the slowdown of that compute. contention · link depends only on
// the bytes (ContentionBeside), so the sum never falls when the link gets slower.
Seconds Exposed(const TrainingContext& context, Seconds compute, Seconds link, Bytes moved) {
  return Figure("Exposed part of the transfer",
                max(compute + ContentionBeside(context, moved, link) * link, link) - compute,
                "beside compute, which it slows down");
}

struct ShardedWeights {
  Bytes bytes, gradient_bytes;
  Seconds gather, scatter, outer_reduce;
};

// Frozen weights are sent in their stored format, gradients in the framework's. Ranks that hold the same shards reduce
// their gradients too, here or after the last layer.
ShardedWeights ExchangeWeights(const TrainingContext& context, bool is_frozen, Ratio dense_weights,
                               Ratio expert_weights) {
  const FrameworkExchange& exchange = context.framework().exchange;
  const auto both = [&](CollectiveType type, Bytes dense, Bytes experts) {
    const Seconds of_dense = TimeCollective(context, type, dense, RankGroup::kShard);
    return of_dense + TimeCollective(context, type, experts, RankGroup::kExpertShard);
  };
  const Bytes per_weight = (is_frozen ? FrozenBytes(context) : AtWidth(context, Ratio(2))) * kB,
              per_gradient = exchange.gradient_bytes * kB;
  const Bytes dense = per_gradient * dense_weights, experts = per_gradient * expert_weights;
  ShardedWeights weights;
  weights.bytes = Figure("Weights of the layer on the links", per_weight * (dense_weights + expert_weights),
                         "frozen ones as they are stored");
  weights.gradient_bytes = Figure("Gradients of the layer on the links", dense + experts);
  weights.gather = Figure("Gathered weights",
                          both(CollectiveType::kAllGather, per_weight * dense_weights, per_weight * expert_weights),
                          "dense weights, then experts");
  weights.scatter = Figure("Scattered gradients", both(CollectiveType::kReduceScatter, dense, experts),
                           "of dense weights, then experts");
  if (!exchange.reduces_at_end)
    weights.outer_reduce = ReduceOverReplicas(context, {.dense = dense_weights, .experts = expert_weights});
  return weights;
}

// A layer under ZeRO below stage 3, which has no such communication.
ShardedLayer NotSharded(const TrainingContext& context) {
  const Seconds none = Figure("ZeRO-3 communication of a layer",
                              max(0, Ratio(context.run.mapping.zero) - 2) * Seconds(), "none below ZeRO-3");
  return {none, none, none, none, none};
}

// Mean over the passes of a step, of which only the last may reduce gradients.
Seconds MeanOfPasses(const TrainingContext& context, Seconds reduction) {
  return AccumulatesWhole(context.run, context.shape) ? reduction / context.shape.micro_batches : reduction;
}

ShardedLayer TimeSharded(const TrainingContext& context, const LayerWork& work, const LayerTime& time) {
  if (context.run.mapping.zero < 3) return NotSharded(context);
  const bool lora = context.run.trainable == Trainable::kLora;
  const ShardedWeights weights = ExchangeWeights(context, lora, work.weights.dense, work.weights.experts);
  const Seconds reduce = Figure("Gradients scattered and reduced", weights.scatter + weights.outer_reduce);
  ShardedLayer sharded;
  sharded.forward_link = weights.gather;
  sharded.forward = Exposed(context, time.forward.Total(), weights.gather, weights.bytes);
  // Frozen weights are gathered too; only the adapters' gradients are reduced.
  sharded.backward_link = lora ? weights.gather
                               : Figure("Links in the backward pass", weights.gather + MeanOfPasses(context, reduce),
                                        "weights gathered, gradients reduced");
  if (time.weight_gradient > Seconds{}) {
    // The input-gradient pass needs the gathered weights; the weight-gradient pass hides the scatter of its results.
    sharded.weight_gradient =
        MeanOfPasses(context, Exposed(context, time.weight_gradient, reduce, weights.gradient_bytes));
    const Seconds input = Exposed(context, time.Backward() - time.weight_gradient, weights.gather, weights.bytes);
    sharded.backward = Figure("Exposed ZeRO-3 communication, backward", input + sharded.weight_gradient);
  } else {
    const auto exposed = [&](Seconds link, Bytes moved) { return Exposed(context, time.Backward(), link, moved); };
    sharded.backward = lora ? exposed(weights.gather, weights.bytes)
                            : exposed(weights.gather + reduce, weights.bytes + weights.gradient_bytes);
    if (!lora && AccumulatesWhole(context.run, context.shape)) {
      const Seconds gathering = exposed(weights.gather, weights.bytes);
      sharded.backward = gathering + MeanOfPasses(context, sharded.backward - gathering);
    }
  }
  return sharded;
}

// The embedding's table is gathered first; nothing hides the last scatter of a layer's gradients.
ShardedLayer TimeShardedEmbedding(const TrainingContext& context, Ratio largest) {
  const Ratio table = Ratio(context.model.vocab) * Ratio(context.model.hidden) / context.shape.tensor;
  Seconds last_scatter{};  // frozen weights have no gradients
  if (context.run.trainable != Trainable::kLora)
    last_scatter = MeanOfPasses(context, ExchangeWeights(context, false, largest, 0).scatter);
  const Seconds gather = ExchangeWeights(context, false, table, 0).gather;
  return {Figure("Exposed gather of the embedding's table", 0.5 * gather), last_scatter, {}, gather, last_scatter};
}

// Calls visit(part, count) for each component.
template <class Visit>
void VisitStage(const TrainingContext& context, const LayerTimes& times, const KindCounts& layers, bool embedding,
                bool head, const Visit& visit) {
  const auto visit_some = [&visit](const StagePart& part, Ratio count) {
    if (count != 0) visit(part, count);
  };
  for (const LayerKind kind : kLayerKinds) {
    const Ratio full = FullLayers(times.recompute, layers, kind);
    visit_some(times.selective[kind], layers.of[kind] - full);
    visit_some(times.full_recompute[kind], full);
  }
  if (embedding) visit_some(times.embedding, 1);
  if (head) {
    const Ratio modules = MtpModules(context.model, context.run);
    const LayerKind last = MtpKind(context);
    const Ratio full = times.recompute.ModuleShare() * modules;
    visit_some(times.head, 1 + modules);
    visit_some(times.selective[last], modules - full);
    visit_some(times.full_recompute[last], full);
  }
}

// If explanations are on, offload of a share of 0 counts, too.
bool CopiesToHost(const TrainingContext& context) {
  const Offload& offload = context.run.offload;
  if (offload.activations > 0 || offload.parameters > 0 || OffloadedGradients(context) > 0) return true;
  return context.tape != nullptr && context.device().host.bandwidth > BytesPerSecond{};
}

}  // namespace

LayerTimes TimeLayers(const TrainingContext& context, const LayerWorks& works, const RecomputeChoice& recompute,
                      StepOperators* operators) {
  LayerTimes times;
  times.recompute = recompute;
  Ratio largest = 0;
  const BytesPerSecond host_bandwidth = context.device().host.bandwidth;
  for (const LayerKind kind : kLayerKinds) {
    if (!works.present[kind]) continue;
    const LayerWork& work = works.of[kind];
    LayerOperators own{operators != nullptr && operators->is_listed && operators->first.empty(), {}, {}};
    StagePart &selective = times.selective[kind], &full = times.full_recompute[kind];
    selective.time = TimeLayer(context, work, recompute.full_share < 1 ? recompute.selective : RecomputePlan{},
                               operators != nullptr ? &own : nullptr);
    if (operators != nullptr) operators->by_bound[kind] = own.by_bound;
    if (own.is_listed) operators->first = std::move(own.list);
    selective.sharded = TimeSharded(context, work, selective.time);
    selective.activations = LayerActivations(context, work, recompute.selective) / host_bandwidth;
    if (recompute.full_share > 0) {
      full.time = WithFullRecompute(context, work, selective.time);
      full.sharded = TimeSharded(context, work, full.time);
      full.activations =
          Figure("Activations that a fully recomputed layer keeps", LayerCheckpoint(context) / recompute.per_checkpoint,
                 "its share of the input of its group") /
          host_bandwidth;
    }
    selective.weights = full.weights = work.weights;
    largest = max(largest, work.weights.dense);
  }
  times.embedding.time = TimeEmbedding(context);
  times.embedding.weights.dense = EndWeights(context, true, false);
  times.head.time = TimeHead(context);
  times.head.weights.dense = EndWeights(context, false, true);
  if (context.run.mapping.zero >= 3) times.embedding.sharded = TimeShardedEmbedding(context, largest);
  return times;
}

StageTime TimeStage(const TrainingContext& context, const LayerTimes& times, const KindCounts& layers, bool embedding,
                    bool head) {
  StageTime stage;
  const bool copies = CopiesToHost(context);
  const Ratio weight_bytes = copies ? StateBytesOf(context).weights : Ratio(0);
  VisitStage(context, times, layers, embedding, head, [&](const StagePart& part, Ratio count) {
    const LayerTime& time = part.time;
    const ShardedLayer& sharded = part.sharded;
    stage.forward += time.forward * count;
    stage.backward += time.backward * count;
    stage.recompute += time.recompute * count;
    stage.weight_gradient += (time.weight_gradient + sharded.weight_gradient) * count;
    stage.sharded_forward += sharded.forward * count;
    stage.sharded_backward += sharded.backward * count;
    stage.sharded_link += (sharded.forward_link + sharded.backward_link) * count;
    if (!copies) return;
    const HostCopies host = CopiesOf(context, part.activations, part.weights, weight_bytes);
    const HidingPasses passes{time.forward.Total() + sharded.forward, time.Backward() + sharded.backward,
                              time.weight_gradient + sharded.weight_gradient};
    const ExposedCopies exposed = ExposedBeside(passes, host);
    stage.host_forward += exposed.forward * count;
    stage.host_backward += exposed.backward * count;
    stage.weight_gradient += exposed.weight_gradient * count;
    stage.host_link += (2 * host.activations + 2 * host.weights + host.gradients) * count;
  });
  return stage;
}

const StageTime& SlowestOf(const std::vector<StageTime>& stages) {
  return *std::max_element(stages.begin(), stages.end(),
                           [](const StageTime& a, const StageTime& b) { return a.Total() < b.Total(); });
}

StageTime WeightedAverage(const StageTime& a, Ratio share_a, const StageTime& b, Ratio share_b) {
  StageTime mixed = a;
  for (LayerPass StageTime::* pass : {&StageTime::forward, &StageTime::backward, &StageTime::recompute}) {
    mixed.*pass = a.*pass * share_a;
    mixed.*pass += b.*pass * share_b;
  }
  for (Seconds StageTime::* part :
       {&StageTime::sharded_forward, &StageTime::sharded_backward, &StageTime::sharded_link, &StageTime::host_forward,
        &StageTime::host_backward, &StageTime::host_link, &StageTime::weight_gradient}) {
    mixed.*part = share_a * (a.*part) + share_b * (b.*part);
  }
  return mixed;
}

Flops FlopsOfStages(const TrainingContext& context, const LayerTimes& times, const std::vector<Stage>& stages) {
  KindCounts layers;
  for (const Stage& stage : stages) layers += stage.layers;
  Flops all;
  VisitStage(context, times, layers, true, true,
             [&all](const StagePart& part, Ratio count) { all += part.time.all_flops * count; });
  return Figure("FLOPs of a micro-batch", all, "on all stages, as the kernels execute them");
}

}  // namespace slipstick
