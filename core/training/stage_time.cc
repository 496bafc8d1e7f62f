#include "core/training/stage_time.h"

#include "core/base/sum.h"
#include "core/training/memory.h"

namespace slipstick {
namespace {

// Exposed part of a transfer beside compute, the slow-down of that compute included. contention · link depends on the bytes alone
// (ContentionBeside), so the sum never falls when the link gets slower.
Seconds Exposed(Seconds compute, Seconds link, double contention) { return max(compute + contention * link, link) - compute; }

struct ShardedWeights {
  Seconds gather, scatter, outer_reduce;
};

ShardedWeights ExchangeWeights(const TrainingContext& context, double dense_parameters, double expert_parameters) {
  const TrainingRun& run = context.run;
  const Bytes element = 2 * kB;
  const double shards = ShardRanks(run, context.shape.DataRanks());
  ShardedWeights weights;
  weights.gather = Collective(context, CollectiveType::kAllGather, element * dense_parameters, context.shard) +
                   Collective(context, CollectiveType::kAllGather, element * expert_parameters, context.expert_data);
  weights.scatter = Collective(context, CollectiveType::kReduceScatter, element * dense_parameters, context.shard) +
                    Collective(context, CollectiveType::kReduceScatter, element * expert_parameters, context.expert_data);
  if (shards < context.shape.DataRanks()) {
    weights.outer_reduce = Collective(context, CollectiveType::kAllReduce, element * dense_parameters / shards, context.replica);
  }
  return weights;
}

ShardedLayer TimeSharded(const TrainingContext& context, const LayerWork& work, const LayerTime& time) {
  if (context.run.mapping.zero < 3) return {};
  // Frozen weights are gathered too; only the adapters' gradients are reduced.
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
    // The input-gradient pass needs the gathered weights; the weight-gradient pass hides the scatter of its results.
    const Seconds scatter = weights.scatter + weights.outer_reduce;
    sharded.weight_gradient = Exposed(time.weight_gradient, scatter, ContentionBeside(context, layer_bytes, scatter));
    sharded.backward = Exposed(time.Backward() - time.weight_gradient, weights.gather, gather_contention) + sharded.weight_gradient;
  } else {
    sharded.backward = Exposed(time.Backward(), backward_link, ContentionBeside(context, (lora ? 1 : 2) * layer_bytes, backward_link));
  }
  return sharded;
}

// Exposed transfers of an offloaded layer.
struct HostTransfer {
  Seconds forward, backward;
  Seconds weight_gradient;  // the part of backward behind the weight gradients, where they are a pass of their own
};

// Offload overlaps the forward pass, reload the backward pass; a split backward pass hides half of the reload behind each part.
// Sharded weights use their own link at the same time, so only the longer of the two transfers is exposed.
HostTransfer ExposedOffload(Seconds one, const LayerTime& time, const ShardedLayer& sharded) {
  const Seconds forward = time.forward.Total() + sharded.forward, backward = time.Backward() + sharded.backward;
  const Seconds weight_gradient = time.weight_gradient + sharded.weight_gradient, none;
  HostTransfer host;
  host.forward = max(none, one - forward);
  if (time.weight_gradient > none) {
    host.weight_gradient = max(none, one / 2 - weight_gradient);
    host.backward = max(none, one / 2 - (backward - weight_gradient)) + host.weight_gradient;
  } else {
    host.backward = max(none, one - backward);
  }
  return host;
}

// One component of a stage: a group of identical layers, the embedding, or the head.
struct StagePart {
  const LayerTime* time;
  ShardedLayer sharded;
  Seconds offload;  // all of a layer's activations, one way
};

// Calls visit(name, part, count) for each component.
template <class Visit>
void VisitStage(const TrainingContext& context, const LayerTimes& times, const LayerCounts& layers, bool embedding, bool head,
                const Visit& visit) {
  const double full_share = times.full_share;
  const auto visit_some = [&visit](std::string_view name, const StagePart& part, double count) {
    if (count != 0) visit(name, part, count);
  };
  for (const LayerKind kind : kLayerKinds) {
    const std::string_view name = NameOf(kind);
    visit_some(name, {&times.selective[kind], times.sharded_selective[kind], times.offload_selective[kind]},
               layers.of[kind] * (1 - full_share));
    visit_some(name, {&times.full_recompute[kind], times.sharded_full_recompute[kind], times.offload_full_recompute[kind]},
               layers.of[kind] * full_share);
  }
  if (embedding) visit_some("embedding", {&times.embedding, times.sharded_embedding, {}}, 1);
  if (head) {
    const auto modules = static_cast<double>(context.model.mtp_layers);
    const LayerKind last = MtpKind(context);
    visit_some("output_head", {&times.head, {}, {}}, 1 + modules);
    visit_some("mtp_module", {&times.selective[last], times.sharded_selective[last], {}}, modules * (1 - full_share));
    visit_some("mtp_module", {&times.full_recompute[last], times.sharded_full_recompute[last], {}}, modules * full_share);
  }
}

}  // namespace

LayerTimes TimeLayers(const TrainingContext& context, const LayerWorks& works, const RecomputeChoice& recompute, Trace& trace,
                      std::vector<TimedOperator>* operators) {
  LayerTimes times;
  times.full_share = recompute.full_share;
  double largest = 0;
  for (const LayerKind kind : kLayerKinds) {
    if (!works.present[kind]) continue;
    Trace::Scope scope(trace, NameOf(kind));
    times.selective[kind] =
        TimeLayer(context, works.of[kind], recompute.full_share < 1 ? recompute.selective : RecomputePlan{}, trace, operators);
    if (recompute.full_share > 0) times.full_recompute[kind] = WithFullRecompute(context, works.of[kind], times.selective[kind]);
    times.sharded_selective[kind] = TimeSharded(context, works.of[kind], times.selective[kind]);
    times.sharded_full_recompute[kind] = TimeSharded(context, works.of[kind], times.full_recompute[kind]);
    times.offload_selective[kind] = LayerActivations(context, works.of[kind], recompute.selective) / context.device().host.bandwidth;
    times.offload_full_recompute[kind] = LayerCheckpoint(context) / context.device().host.bandwidth;
    largest = max(largest, works.of[kind].dense_parameters);
    operators = nullptr;  // the report lists one kind of layer
  }
  times.embedding = TimeEmbedding(context, trace);
  times.head = TimeHead(context, trace);
  if (context.run.mapping.zero >= 3) {
    const double table = static_cast<double>(context.model.vocab * context.model.hidden) / context.shape.tensor;
    const Seconds last_scatter = ExchangeWeights(context, largest, 0).scatter, table_gather = ExchangeWeights(context, table, 0).gather;
    times.sharded_embedding = {0.5 * table_gather, last_scatter, {}, table_gather, last_scatter};
  }
  return times;
}

StageTime TimeStage(const TrainingContext& context, const LayerTimes& times, const LayerCounts& layers, bool embedding, bool head) {
  StageTime stage;
  const double offloaded = context.run.offload.activations;
  VisitStage(context, times, layers, embedding, head, [&stage, offloaded](std::string_view, const StagePart& part, double count) {
    const LayerTime& time = *part.time;
    const ShardedLayer& sharded = part.sharded;
    stage.forward += time.forward * count;
    stage.backward += time.backward * count;
    stage.recompute += time.recompute * count;
    stage.weight_gradient += (time.weight_gradient + sharded.weight_gradient) * count;
    stage.hardware_flops += time.hardware_flops * count;
    stage.sharded_forward += sharded.forward * count;
    stage.sharded_backward += sharded.backward * count;
    stage.sharded_link += (sharded.forward_link + sharded.backward_link) * count;
    if (!(offloaded > 0)) return;
    const Seconds one = offloaded * part.offload;
    const HostTransfer host = ExposedOffload(one, time, sharded);
    stage.host_forward += host.forward * count;
    stage.host_backward += host.backward * count;
    stage.weight_gradient += host.weight_gradient * count;
    stage.host_link += 2 * one * count;
  });
  return stage;
}

void ExplainStage(const TrainingContext& context, const LayerTimes& times, const std::vector<StageShare>& stages, const StageTime& stage,
                  Trace& trace) {
  const auto total_of = [&stage](Seconds LayerPass::*part) { return stage.forward.*part + stage.backward.*part + stage.recompute.*part; };
  ListedSum<Seconds> forward(trace), backward(trace), recompute(trace), tp(trace), cp(trace), ep(trace), host(trace), sharded(trace);
  for (const StageShare& one : stages) {
    VisitStage(context, times, one.stage->layers, one.stage->embedding, one.stage->head,
               [&](std::string_view name, const StagePart& part, double parts) {
                 const LayerTime& time = *part.time;
                 const double count = one.share * parts;
                 forward.Add(name, time.forward.compute, count);
                 backward.Add(name, time.backward.compute, count);
                 recompute.Add(name, time.recompute.compute, count);
                 host.Add(name, time.forward.host + time.backward.host + time.recompute.host, count);
                 sharded.Add(name, part.sharded.forward, count);
                 sharded.Add(name, part.sharded.backward, count);
                 for (const LayerPass* pass : {&time.forward, &time.backward, &time.recompute}) {
                   tp.Add(name, pass->tp, count);
                   cp.Add(name, pass->cp, count);
                   ep.Add(name, pass->ep, count);
                 }
               });
  }
  forward.Record("pass_forward", stage.forward.compute,
                 {"Forward compute of a micro-batch", "slowest stage: its layers, embedding and head"});
  backward.Record("pass_backward", stage.backward.compute,
                  {"Backward compute of a micro-batch", "slowest stage: its layers, embedding and head"});
  recompute.Record("pass_recompute", stage.recompute.compute, {"Recomputation of a micro-batch", "slowest stage: its layers"});
  tp.Record("pass_tp", total_of(&LayerPass::tp), {"Exposed TP communication of a micro-batch", "forward, backward and recomputation"});
  cp.Record("pass_cp", total_of(&LayerPass::cp), {"Exposed CP communication of a micro-batch", "forward, backward and recomputation"});
  ep.Record("pass_ep", total_of(&LayerPass::ep), {"Exposed EP communication of a micro-batch", "forward, backward and recomputation"});
  host.Record("pass_host", total_of(&LayerPass::host), {"Launch overhead of a micro-batch", "forward, backward and recomputation"});
  sharded.Record("pass_sharded", stage.sharded_forward + stage.sharded_backward,
                 {"Exposed ZeRO-3 communication of a micro-batch", "all-gather of weights, reduce-scatter of gradients"});
}

StageTime WeightedAverage(const StageTime& a, double share_a, const StageTime& b, double share_b) {
  StageTime mixed = a;
  for (LayerPass StageTime::*pass : {&StageTime::forward, &StageTime::backward, &StageTime::recompute}) {
    mixed.*pass = a.*pass * share_a;
    mixed.*pass += b.*pass * share_b;
  }
  for (Seconds StageTime::*part :
       {&StageTime::sharded_forward, &StageTime::sharded_backward, &StageTime::sharded_link, &StageTime::host_forward,
        &StageTime::host_backward, &StageTime::host_link, &StageTime::weight_gradient}) {
    mixed.*part = share_a * (a.*part) + share_b * (b.*part);
  }
  mixed.hardware_flops = share_a * a.hardware_flops + share_b * b.hardware_flops;
  return mixed;
}

}  // namespace slipstick
