#include "core/training_stage/stage_time.h"

#include <string>
#include <utility>

#include "core/base/sum.h"
#include "core/training_stage/exchange.h"
#include "core/training_stage/layer_memory.h"
#include "core/training_stage/stage_parts.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {
namespace {

// Exposed part of a transfer beside compute, the slow-down of that compute included. contention · link depends on the
// bytes alone (ContentionBeside), so the sum never falls when the link gets slower. `moved`, `link` and `compute` have
// these names in the scope.
Seconds Exposed(const TrainingContext& context, Seconds compute, Seconds link, Bytes moved, Trace& trace) {
  const double contention = ContentionBeside(context, moved, link);
  ExplainContention(context, moved, link, "link", {link}, contention, trace);
  FIGURE(trace, exposed, max(compute + contention * link, link) - compute,
         (Note{"Exposed part of the transfer", "beside compute, which it slows down"}), compute, contention, link);
  return exposed;
}

struct ShardedWeights {
  Bytes dense, expert;
  Seconds gather, scatter, outer_reduce;
};

// `symbol`: the bytes of weights on the links, `weights_symbol` their number. Frozen weights travel as they are stored.
Bytes WeightBytes(const TrainingContext& context, bool frozen, double weights, std::string_view symbol,
                  std::string_view weights_symbol, Trace& trace) {
  const double frozen_bytes = frozen ? FrozenBytes(context) : 2;
  const Bytes bytes = frozen_bytes * kB * weights;
  if (!trace.on()) return bytes;
  const std::string parameters(weights_symbol);
  if (!frozen) {
    trace.Record(symbol, "2 * " + parameters, bytes, Note{"Weights of the layer in 16 bits"}, parameters, weights);
    return bytes;
  }
  trace.Input("frozen_bytes", frozen_bytes, InputOfFrozenBytes(context));
  trace.Record(symbol, "frozen_bytes * " + parameters, bytes, Note{"Frozen weights of the layer", "as they are stored"},
               "frozen_bytes, " + parameters, frozen_bytes, weights);
  return bytes;
}

// Of `dense_parameters` and `expert_parameters`, as the current scope knows them.
ShardedWeights ExchangeWeights(const TrainingContext& context, bool frozen, double dense_parameters,
                               double expert_parameters, Trace& trace) {
  const TrainingRun& run = context.run;
  const double shards = ShardRanks(run, context.shape.DataRanks());
  const Bytes dense_bytes = WeightBytes(context, frozen, dense_parameters, "dense_bytes", "dense_parameters", trace);
  const bool has_experts = expert_parameters > 0;
  const Bytes expert_bytes =
      has_experts ? WeightBytes(context, frozen, expert_parameters, "expert_bytes", "expert_parameters", trace)
                  : Bytes{};
  const auto both = [&](CollectiveType type, std::string_view name) {
    const Trace::Scope scope(trace, name);
    const Seconds dense_time =
        TimeCollective(context, type, dense_bytes, "dense_bytes", RankGroup::kShard, "dense", "dense_time", trace);
    const Seconds expert_time = TimeCollective(context, type, expert_bytes, "expert_bytes", RankGroup::kExpertData,
                                               "experts", "expert_time", trace);
    const Seconds sum = Sum<Seconds>(trace, "sum", Note{"Dense weights, then experts"},
                                     {{"dense_time", dense_time}, {"expert_time", expert_time, has_experts}});
    trace.Alias(name, sum, "sum");
    return sum;
  };
  ShardedWeights weights{dense_bytes, expert_bytes, {}, {}, {}};
  weights.gather = both(CollectiveType::kAllGather, "gather_link");
  weights.scatter = both(CollectiveType::kReduceScatter, "scatter_link");
  if (shards < context.shape.DataRanks() && !context.framework().exchange.reduces_at_end) {
    const auto shard_within = static_cast<double>(run.mapping.shard_within.value_or(1)), cp = context.shape.context;
    FIGURE(trace, dense_shards, shard_within * cp, (Note{"Ranks that share the weights"}), shard_within, cp);
    FIGURE(trace, shard_bytes, dense_bytes / dense_shards, (Note{"Weights of a shard"}), dense_bytes, dense_shards);
    weights.outer_reduce = TimeCollective(context, CollectiveType::kAllReduce, shard_bytes, "shard_bytes",
                                          RankGroup::kReplica, "outer_reduce", "outer_link", trace);
  }
  return weights;
}

// Frozen weights are gathered too; only the adapters' gradients are reduced.
Seconds BackwardLink(bool lora, Seconds gather_link, Seconds reduce_link, Trace& trace) {
  if (lora) {
    trace.Alias("backward_link", gather_link, "gather_link");
    return gather_link;
  }
  FIGURE(trace, backward_link, gather_link + reduce_link,
         (Note{"Links in the backward pass", "weights gathered, gradients reduced"}), gather_link, reduce_link);
  return backward_link;
}

ShardedLayer TimeSharded(const TrainingContext& context, const LayerWork& work, const LayerTime& time, Trace& trace) {
  if (context.run.mapping.zero < 3) return {};
  const Trace::Scope scope(trace, "sharded");
  const bool lora = context.run.trainable == Trainable::kLora;
  const double dense_parameters = work.dense_parameters, expert_parameters = work.expert_parameters;
  const ShardedWeights weights = ExchangeWeights(context, lora, dense_parameters, expert_parameters, trace);
  const Bytes dense_bytes = weights.dense, expert_bytes = weights.expert;
  const Bytes layer_bytes =
      Sum<Bytes>(trace, "layer_bytes", Note{"Weights of the layer on the links"},
                 {{"dense_bytes", dense_bytes}, {"expert_bytes", expert_bytes, expert_parameters > 0}});
  const Seconds gather_link = weights.gather, scatter_link = weights.scatter, outer_link = weights.outer_reduce;
  const Seconds reduce_link =
      Sum<Seconds>(trace, "reduce_link", Note{"Gradients scattered and reduced"},
                   {{"scatter_link", scatter_link}, {"outer_link", outer_link, outer_link > Seconds{}}});
  // One transfer beside the compute of a pass; its figures are in a scope of the pass.
  const auto exposed = [&](std::string_view pass, Seconds compute, std::string_view compute_is, Seconds link,
                           std::string_view link_is, double times, std::string_view symbol) {
    const Trace::Scope pass_scope(trace, pass);
    const Bytes layer_transfer = layer_bytes;
    const Bytes moved = times * layer_transfer;
    trace.Record("moved", times > 1 ? "2 * layer_transfer" : "layer_transfer", moved,
                 Note{"Bytes moved beside the pass", "weights gathered; with them, gradients scattered"},
                 "layer_transfer", layer_transfer);
    trace.Alias("compute", compute, compute_is);
    trace.Alias("link", link, link_is);
    const Seconds part = Exposed(context, compute, link, moved, trace);
    trace.Alias(symbol, part, "exposed");
    return part;
  };
  trace.Alias("layer_transfer", layer_bytes, "layer_bytes");
  ShardedLayer sharded;
  sharded.forward_link = gather_link;
  const Seconds forward_total = time.forward.Total(), backward_total = time.Backward();
  sharded.forward =
      exposed("forward", forward_total, "forward_total", gather_link, "gather_link", 1, "sharded_forward");
  sharded.backward_link = BackwardLink(lora, gather_link, reduce_link, trace);
  if (time.weight_gradient > Seconds{}) {
    // The input-gradient pass needs the gathered weights; the weight-gradient pass hides the scatter of its results.
    const Seconds weight_gradient_pass = time.weight_gradient;
    FIGURE(trace, input_gradient_pass, backward_total - weight_gradient_pass,
           (Note{"Input gradients of a layer", "a pass of their own"}), backward_total, weight_gradient_pass);
    const Seconds sharded_weight = exposed("weight gradient", weight_gradient_pass, "weight_gradient_pass", reduce_link,
                                           "reduce_link", 1, "sharded_weight");
    const Seconds sharded_input = exposed("input gradient", input_gradient_pass, "input_gradient_pass", gather_link,
                                          "gather_link", 1, "sharded_input");
    FIGURE(trace, sharded_backward, sharded_input + sharded_weight, (Note{"Exposed ZeRO-3 communication, backward"}),
           sharded_input, sharded_weight);
    sharded.weight_gradient = sharded_weight;
    sharded.backward = sharded_backward;
  } else {
    sharded.backward = exposed("backward", backward_total, "backward_total", sharded.backward_link, "backward_link",
                               lora ? 1 : 2, "sharded_backward");
  }
  const Seconds forward_link = gather_link, backward_link = sharded.backward_link;
  trace.Alias("forward_link", forward_link, "gather_link");
  FIGURE(trace, sharded_link, forward_link + backward_link, (Note{"ZeRO-3 link time of a layer"}), forward_link,
         backward_link);
  return sharded;
}

// The embedding's table is gathered first; nothing hides the last scatter of a layer's gradients.
ShardedLayer TimeShardedEmbedding(const TrainingContext& context, double largest, Trace& trace) {
  const Trace::Scope scope(trace, "embedding");
  const double table = static_cast<double>(context.model.vocab * context.model.hidden) / context.shape.tensor;
  Seconds last_scatter{}, table_gather{};
  if (context.run.trainable == Trainable::kLora) {
    trace.Input("scatter_link", last_scatter, "training.trainable");  // frozen weights have no gradients
  } else {
    const Trace::Scope layer_scope(trace, "last layer");
    last_scatter = ExchangeWeights(context, false, largest, 0, trace).scatter;
  }
  {
    const Trace::Scope table_scope(trace, "table");
    trace.Alias("dense_parameters", table, "table");
    table_gather = ExchangeWeights(context, false, table, 0, trace).gather;
  }
  trace.Alias("table_gather", table_gather, "gather_link");
  trace.Alias("sharded_backward", last_scatter, "scatter_link");
  FIGURE(trace, sharded_forward, 0.5 * table_gather, (Note{"Exposed gather of the embedding's table"}), table_gather);
  const Seconds scatter_link = last_scatter;
  FIGURE(trace, sharded_link, table_gather + scatter_link, (Note{"ZeRO-3 link time of the embedding"}), table_gather,
         scatter_link);
  return {sharded_forward, last_scatter, {}, table_gather, last_scatter};
}

}  // namespace

LayerTimes TimeLayers(const TrainingContext& context, const LayerWorks& works, const RecomputeChoice& recompute,
                      Trace& trace, StepOperators* operators) {
  LayerTimes times;
  times.recompute = recompute;
  double largest = 0;
  for (const LayerKind kind : kLayerKinds) {
    if (!works.present[kind]) continue;
    const LayerWork& work = works.of[kind];
    Trace::Scope scope(trace, NameOf(kind));
    LayerOperators own{operators != nullptr && operators->is_listed && operators->first.empty(), {}, {}};
    times.selective[kind] = TimeLayer(context, work, recompute.full_share < 1 ? recompute.selective : RecomputePlan{},
                                      trace, operators != nullptr ? &own : nullptr);
    if (operators != nullptr) operators->by_bound[kind] = own.by_bound;
    if (own.is_listed) operators->first = std::move(own.list);
    times.sharded_selective[kind] = TimeSharded(context, work, times.selective[kind], trace);
    times.kept_selective[kind] = LayerActivations(context, work, recompute.selective, trace);
    trace.Alias("activations", times.kept_selective[kind], "layer_activations");
    times.offload_selective[kind] = times.kept_selective[kind] / context.device().host.bandwidth;
    if (recompute.full_share > 0) {
      Trace::Scope full_scope(trace, "full recomputation");
      times.full_recompute[kind] = WithFullRecompute(context, work, times.selective[kind], trace);
      times.sharded_full_recompute[kind] = TimeSharded(context, work, times.full_recompute[kind], trace);
    }
    {
      Trace::Scope full_scope(trace, "full recomputation");
      const Bytes checkpoint = LayerCheckpoint(context, trace);
      const double per_checkpoint = recompute.per_checkpoint;
      trace.Input("per_checkpoint", per_checkpoint,
                  per_checkpoint > 1 ? "training.recompute_layers" : "training.recompute");
      FIGURE(trace, activations, checkpoint / per_checkpoint,
             (Note{"Activations that a fully recomputed layer keeps", "its share of the input of its group"}),
             checkpoint, per_checkpoint);
      times.kept_full_recompute[kind] = activations;
    }
    times.offload_full_recompute[kind] = times.kept_full_recompute[kind] / context.device().host.bandwidth;
    largest = max(largest, work.dense_parameters);
  }
  times.embedding = TimeEmbedding(context, trace);
  times.head = TimeHead(context, trace);
  if (context.run.mapping.zero >= 3) times.sharded_embedding = TimeShardedEmbedding(context, largest, trace);
  BindComponents(context, times, trace);
  return times;
}

StageTime TimeStage(const TrainingContext& context, const LayerTimes& times, const KindCounts& layers, bool embedding,
                    bool head) {
  StageTime stage;
  const double offloaded = context.run.offload.activations;
  Trace off = Trace::Off();
  VisitStage(context, times, layers, embedding, head,
             [&stage, &off, offloaded](std::string_view, const StagePart& part, double count) {
               const LayerTime& time = *part.time;
               const ShardedLayer& sharded = part.sharded;
               stage.forward += time.forward * count;
               stage.backward += time.backward * count;
               stage.recompute += time.recompute * count;
               stage.weight_gradient += (time.weight_gradient + sharded.weight_gradient) * count;
               stage.sharded_forward += sharded.forward * count;
               stage.sharded_backward += sharded.backward * count;
               stage.sharded_link += (sharded.forward_link + sharded.backward_link) * count;
               if (!(offloaded > 0)) return;
               const Seconds one = offloaded * part.offload;
               const HostTransfer host = ExposedOffload(one, time, sharded, off);
               stage.host_forward += host.forward * count;
               stage.host_backward += host.backward * count;
               stage.weight_gradient += host.weight_gradient * count;
               stage.host_link += 2 * one * count;
             });
  return stage;
}

StageTime WeightedAverage(const StageTime& a, double share_a, const StageTime& b, double share_b) {
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

}  // namespace slipstick
