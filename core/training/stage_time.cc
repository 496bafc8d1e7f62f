#include "core/training/stage_time.h"

#include "core/base/sum.h"
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

// Of a stage: layers of one kind, or an end of the model.
struct StagePart {
  const LayerTime* time;
  ShardedLayer sharded;
  Seconds to_host;  // one way, of all that a layer keeps
};

// Calls visit(name, part, count) for all that a micro-batch passes through in a stage.
template <class Visit>
void VisitStage(const TrainingContext& context, const LayerTimes& times, const LayerCounts& layers, bool embedding, bool head,
                const Visit& visit) {
  const double full_share = times.full_share;
  const auto visit_some = [&visit](std::string_view name, const StagePart& part, double count) {
    if (count != 0) visit(name, part, count);
  };
  for (const LayerKind kind : kLayerKinds) {
    const std::string_view name = NameOf(kind);
    visit_some(name, {&times.rest[kind], times.sharded_rest[kind], times.to_host_rest[kind]}, layers.of[kind] * (1 - full_share));
    visit_some(name, {&times.full[kind], times.sharded_full[kind], times.to_host_full[kind]}, layers.of[kind] * full_share);
  }
  if (embedding) visit_some("embedding", {&times.embedding, times.sharded_ends, {}}, 1);
  if (head) {
    const auto modules = static_cast<double>(context.model.mtp_layers);
    const LayerKind last = MtpKind(context);
    visit_some("output_head", {&times.head, {}, {}}, 1 + modules);
    visit_some("mtp_module", {&times.rest[last], times.sharded_rest[last], {}}, modules * (1 - full_share));
    visit_some("mtp_module", {&times.full[last], times.sharded_full[last], {}}, modules * full_share);
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
    times.rest[kind] = TimeLayer(context, works.of[kind], recompute.full_share < 1 ? recompute.rest : RecomputePlan{}, trace, operators);
    if (recompute.full_share > 0) times.full[kind] = RepeatedWhole(context, works.of[kind], times.rest[kind]);
    times.sharded_rest[kind] = TimeSharded(context, works.of[kind], times.rest[kind]);
    times.sharded_full[kind] = TimeSharded(context, works.of[kind], times.full[kind]);
    times.to_host_rest[kind] = LayerActivations(context, works.of[kind], recompute.rest) / context.device().host.bandwidth;
    times.to_host_full[kind] = LayerCheckpoint(context) / context.device().host.bandwidth;
    largest = max(largest, works.of[kind].dense_parameters);
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
  const double offloaded = context.run.offload.activations;
  VisitStage(context, times, layers, embedding, head, [&stage, offloaded](std::string_view, const StagePart& part, double count) {
    const LayerTime& time = *part.time;
    const ShardedLayer& sharded = part.sharded;
    stage.forward += time.forward * count;
    stage.backward += time.backward * count;
    stage.recompute += time.recompute * count;
    stage.weight += (time.weight_gradient + sharded.weight) * count;
    stage.executed += time.executed * count;
    stage.sharded_forward += sharded.forward * count;
    stage.sharded_backward += sharded.backward * count;
    stage.sharded_link += (sharded.forward_link + sharded.backward_link) * count;
    if (!(offloaded > 0)) return;
    const Seconds one = offloaded * part.to_host;
    const HostTransfer host = ExposedOffload(one, time, sharded);
    stage.host_forward += host.forward * count;
    stage.host_backward += host.backward * count;
    stage.weight += host.weight * count;
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
  forward.Record("pass_forward", stage.forward.compute, {"Compute of a micro-batch, forward", "the slowest stage's layers and ends"});
  backward.Record("pass_backward", stage.backward.compute, {"Compute of a micro-batch, backward", "the slowest stage's layers and ends"});
  recompute.Record("pass_recompute", stage.recompute.compute, {"Compute of a micro-batch done again", "the slowest stage's layers"});
  tp.Record("pass_tp", total_of(&LayerPass::tp),
            {"Tensor parallel exchange of a micro-batch, exposed", "forward, backward and what is done again"});
  cp.Record("pass_cp", total_of(&LayerPass::cp),
            {"Context parallel exchange of a micro-batch, exposed", "forward, backward and what is done again"});
  ep.Record("pass_ep", total_of(&LayerPass::ep),
            {"Expert parallel exchange of a micro-batch, exposed", "forward, backward and what is done again"});
  host.Record("pass_host", total_of(&LayerPass::host),
              {"Waiting for launches in a micro-batch", "forward, backward and what is done again"});
  sharded.Record("pass_sharded", stage.sharded_forward + stage.sharded_backward,
                 {"Sharded weights of a micro-batch, exposed", "gathered before use, gradients scattered"});
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
