#include "core/training/stage_time.h"

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Communication beside compute: the longer of the two, and the compute slowed while both run. Whole, it never falls where the
// link gets slower: contention times link is what the bytes cost the device, however long they take.
Seconds Exposed(Seconds compute, Seconds link, double contention) { return max(compute + contention * link, link) - compute; }

struct ShardedWeights {
  Seconds gather, scatter, outer_reduce;
};

ShardedWeights ExchangeWeights(const TrainingContext& context, double dense_parameters, double expert_parameters) {
  const TrainingRun& run = context.run;
  const Bytes element = 2 * kB;
  const double shards = ShardRanks(run, context.shape.DataRanks());
  ShardedWeights weights;
  weights.gather = Collective(context, Pattern::kAllGather, element * dense_parameters, context.shard) +
                   Collective(context, Pattern::kAllGather, element * expert_parameters, context.expert_data);
  weights.scatter = Collective(context, Pattern::kReduceScatter, element * dense_parameters, context.shard) +
                    Collective(context, Pattern::kReduceScatter, element * expert_parameters, context.expert_data);
  if (shards < context.shape.DataRanks()) {
    weights.outer_reduce = Collective(context, Pattern::kAllReduce, element * dense_parameters / shards, context.replica);
  }
  return weights;
}

ShardedLayer TimeSharded(const TrainingContext& context, const LayerWork& work, const LayerTime& time) {
  if (context.run.mapping.zero < 3) return {};
  // Frozen weights are gathered all the same; only adapters' gradients travel.
  const bool lora = context.run.trainable == Trainable::kLora;
  const ShardedWeights weights = ExchangeWeights(context, work.dense_parameters, work.expert_parameters);
  const Seconds backward_link = weights.gather + (lora ? Seconds{} : weights.scatter + weights.outer_reduce);
  const Bytes layer_bytes = 2 * kB * (work.dense_parameters + work.expert_parameters);
  const double gather_contention = ContentionBeside(context, layer_bytes, weights.gather);
  ShardedLayer sharded;
  sharded.forward_link = weights.gather;
  sharded.backward_link = backward_link;
  sharded.forward = Exposed(time.forward.Total(), weights.gather, gather_contention);
  if (time.weight_gradient > Seconds{}) {
    // Weights are gathered for the gradients of the inputs; what the other pass finds is scattered beside it.
    const Seconds scatter = weights.scatter + weights.outer_reduce;
    sharded.weight = Exposed(time.weight_gradient, scatter, ContentionBeside(context, layer_bytes, scatter));
    sharded.backward = Exposed(time.Backward() - time.weight_gradient, weights.gather, gather_contention) + sharded.weight;
  } else {
    sharded.backward = Exposed(time.Backward(), backward_link, ContentionBeside(context, (lora ? 1 : 2) * layer_bytes, backward_link));
  }
  return sharded;
}

// What an offloaded layer shows of its way to the host and back.
struct HostTransfer {
  Seconds forward, backward;
  Seconds weight;  // of backward: beside the gradients of the weights, where they are a pass of their own
};

// It goes out behind the layer's forward pass and comes back behind its backward pass, half of it behind each part of one that
// is split. Beside it weights travel: of the two the longer shows.
HostTransfer ExposedOffload(Seconds one, const LayerTime& time, const ShardedLayer& sharded) {
  const Seconds forward = time.forward.Total() + sharded.forward, backward = time.Backward() + sharded.backward;
  const Seconds weight = time.weight_gradient + sharded.weight, none;
  HostTransfer host;
  host.forward = max(none, one - forward);
  if (time.weight_gradient > none) {
    host.weight = max(none, one / 2 - weight);
    host.backward = max(none, one / 2 - (backward - weight)) + host.weight;
  } else {
    host.backward = max(none, one - backward);
  }
  return host;
}

}  // namespace

LayerTimes TimeLayers(const TrainingContext& context, const LayerWorks& works, const RecomputeChoice& recompute, Trace& trace,
                      std::vector<TimedOperator>* operators) {
  LayerTimes times;
  times.full_share = recompute.full_share;
  double largest = 0;
  for (int kind = 0; kind < kLayerKinds; ++kind) {
    const auto k = static_cast<std::size_t>(kind);
    if (!works.present[k]) continue;
    Trace::Scope scope(trace, kind == 0 ? "layer" : kind == 1 ? "expert_layer" : kind == 2 ? "window_layer" : "window_expert_layer");
    times.rest[k] = TimeLayer(context, works.of[k], recompute.full_share < 1 ? recompute.rest : RecomputePlan{}, trace, operators);
    if (recompute.full_share > 0) times.full[k] = RepeatedWhole(context, works.of[k], times.rest[k]);
    times.sharded_rest[k] = TimeSharded(context, works.of[k], times.rest[k]);
    times.sharded_full[k] = TimeSharded(context, works.of[k], times.full[k]);
    times.to_host_rest[k] = LayerActivations(context, works.of[k], recompute.rest) / context.device().host.bandwidth;
    times.to_host_full[k] = LayerCheckpoint(context) / context.device().host.bandwidth;
    largest = max(largest, works.of[k].dense_parameters);
    operators = nullptr;  // one kind of layer is listed
  }
  times.embedding = TimeEmbedding(context, trace);
  times.head = TimeHead(context, trace);
  if (context.run.mapping.zero >= 3) {
    const double table = static_cast<double>(context.model.vocab * context.model.hidden) / context.shape.tensor;
    const Seconds last_scatter = ExchangeWeights(context, largest, 0).scatter, table_gather = ExchangeWeights(context, table, 0).gather;
    times.sharded_ends = {0.5 * table_gather, last_scatter, {}, table_gather, last_scatter};
  }
  return times;
}

StageTime TimeStage(const TrainingContext& context, const LayerTimes& times, const LayerCounts& layers, bool embedding, bool head) {
  StageTime stage;
  const auto add = [&stage](const LayerTime& time, const ShardedLayer& sharded, double count) {
    if (count == 0) return;
    stage.forward += time.forward * count;
    stage.backward += time.backward * count;
    stage.recompute += time.recompute * count;
    stage.weight += (time.weight_gradient + sharded.weight) * count;
    stage.executed += time.executed * count;
    stage.sharded_forward += sharded.forward * count;
    stage.sharded_backward += sharded.backward * count;
    stage.sharded_link += (sharded.forward_link + sharded.backward_link) * count;
  };
  const double offloaded = context.run.offload.activations;
  const auto add_host = [&stage, offloaded](Seconds all, const LayerTime& time, const ShardedLayer& sharded, double count) {
    if (count == 0 || !(offloaded > 0)) return;
    const Seconds one = offloaded * all;
    const HostTransfer host = ExposedOffload(one, time, sharded);
    stage.host_forward += host.forward * count;
    stage.host_backward += host.backward * count;
    stage.weight += host.weight * count;
    stage.host_link += 2 * one * count;
  };
  std::size_t last = 0;
  for (std::size_t kind = 0; kind < kLayerKinds; ++kind) {
    add_host(times.to_host_rest[kind], times.rest[kind], times.sharded_rest[kind], layers.of[kind] * (1 - times.full_share));
    add_host(times.to_host_full[kind], times.full[kind], times.sharded_full[kind], layers.of[kind] * times.full_share);
    add(times.rest[kind], times.sharded_rest[kind], layers.of[kind] * (1 - times.full_share));
    add(times.full[kind], times.sharded_full[kind], layers.of[kind] * times.full_share);
    if (layers.of[kind] > 0) last = kind;
  }
  if (embedding) add(times.embedding, times.sharded_ends, 1);
  if (head) {
    const auto modules = static_cast<double>(context.model.mtp_layers);
    add(times.head, {}, 1 + modules);
    add(times.rest[last], times.sharded_rest[last], modules * (1 - times.full_share));
    add(times.full[last], times.sharded_full[last], modules * times.full_share);
  }
  return stage;
}

StageTime Mixed(const StageTime& a, double share_a, const StageTime& b, double share_b) {
  StageTime mixed = a;
  for (LayerPass StageTime::*pass : {&StageTime::forward, &StageTime::backward, &StageTime::recompute}) {
    mixed.*pass = a.*pass * share_a;
    mixed.*pass += b.*pass * share_b;
  }
  for (Seconds StageTime::*part : {&StageTime::sharded_forward, &StageTime::sharded_backward, &StageTime::sharded_link,
                                   &StageTime::host_forward, &StageTime::host_backward, &StageTime::host_link, &StageTime::weight}) {
    mixed.*part = share_a * (a.*part) + share_b * (b.*part);
  }
  mixed.executed = share_a * a.executed + share_b * b.executed;
  return mixed;
}

}  // namespace slipstick
