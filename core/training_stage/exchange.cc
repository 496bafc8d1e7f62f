#include "core/training_stage/exchange.h"

#include "core/base/figure.h"
#include "core/collectives/fabric.h"
#include "core/collectives/group_view.h"
#include "core/collectives/moe_exchange.h"
#include "core/operators/kernel_family.h"
#include "core/training_stage/collective_memo.h"
#include "core/training_stage/schedule_types.h"
#include "core/training_stage/state_bytes.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

// In the order of RankGroup.
constexpr GroupPlacement TrainingContext::* kPlacements[] = {
    &TrainingContext::tensor,       &TrainingContext::context_group, &TrainingContext::data,
    &TrainingContext::shard,        &TrainingContext::replica,       &TrainingContext::experts,
    &TrainingContext::expert_data,  &TrainingContext::expert_shard,  &TrainingContext::expert_replica,
    &TrainingContext::expert_tensor};

}  // namespace

Seconds TimeCollective(const TrainingContext& context, const CollectiveCall& call, RankGroup group) {
  const GroupPlacement& placement = context.*kPlacements[static_cast<std::size_t>(group)];
  const Cluster& network = NetworkFor(context, call);
  if (context.log != nullptr) context.log->Add(NameOf(group), call, placement, network);
  if (placement.Ranks() <= 1 || !(call.bytes > Bytes{})) return {};
  const auto time = [&] { return TimeOf(call, placement, network).time; };
  const bool remembers = call.bytes.node() != nullptr;
  return context.collectives != nullptr && !remembers ? context.collectives->Get(call, placement, time) : time();
}

Seconds ReduceOverReplicas(const TrainingContext& context, const HeldWeights& weights) {
  const Shards shards = ShardsFrom(1, context.run, context.shape);
  const Bytes per_weight = context.framework().exchange.gradient_bytes * kB,
              dense = Figure("Dense gradients of the rank's shard", per_weight * (weights.dense / shards.dense)),
              experts =
                  Figure("Experts' gradients of the rank's shard", per_weight * (weights.experts / shards.experts));
  const Seconds of_dense = TimeCollective(context, CollectiveType::kAllReduce, dense, RankGroup::kReplica);
  return of_dense + TimeCollective(context, CollectiveType::kAllReduce, experts, RankGroup::kExpertReplica);
}

// Kernels that overlap in chunks write into the memory of their peers, over NVLink or the like.
bool ReachesTensorOverlap(const TrainingContext& context) {
  const Cluster& cluster = context.cluster;
  if (cluster.networks.empty()) return true;
  return !cluster.networks.front().fabric->scales_out && context.tensor.extent.front() == context.tensor.Ranks();
}

Exchange TensorExchange(const TrainingContext& context, Ratio pairs) {
  if (context.shape.tensor <= 1) return {};
  const TrainingMapping& mapping = context.run.mapping;
  const FrameworkExchange& framework = context.framework().exchange;
  const Seconds pair_launch = context.device().architecture->step.pair_launch;
  const Bytes residual = AtWidth(context, ResidualBytes(context.shape.tokens, context.model.hidden));
  const auto time = [&](CollectiveType type) { return TimeCollective(context, type, residual, RankGroup::kTensor); };
  const Seconds gather = mapping.sequence_parallel ? time(CollectiveType::kAllGather) : Seconds{};
  const Seconds reduce = time(mapping.sequence_parallel ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce);
  // Overlap in chunks needs an all-gather before the GEMMs and a reduce-scatter after them.
  const bool overlaps = mapping.overlap.tp.value_or(framework.tensor_overlap && mapping.sequence_parallel &&
                                                    context.run.flash_attention && ReachesTensorOverlap(context));
  const Ratio exposed_share = overlaps ? framework.tensor_exposed : Ratio(1);
  Exchange exchange;
  exchange.link = Figure("TP link time of a layer", pairs * (gather + reduce + pair_launch),
                         "one direction; an all-gather and a reduce-scatter, or one all-reduce, per pair");
  exchange.exposed =
      Figure("Exposed TP time of a layer", exchange.link * exposed_share, "the rest runs in chunks behind the GEMMs");
  if (context.run.recompute == Recompute::kSelective && framework.repeats_gathers && mapping.sequence_parallel) {
    exchange.repeated_link = Figure("All-gathers of a layer", pairs * gather, "which the backward pass repeats");
    exchange.repeated = Figure("Exposed part of the repeated all-gathers", exchange.repeated_link * exposed_share);
  }
  return exchange;
}

namespace {

// Keys and values travel around the ring while the attention core works on the blocks that have arrived.
ContextExchange RingExchange(const TrainingContext& context, Bytes kv_bytes, Seconds core_forward,
                             Seconds core_backward) {
  const Ratio ranks = context.shape.context;
  const StepTable& table = context.device().architecture->step;
  const Seconds trip =
      Figure("One trip of keys and values round the ring", (ranks - 1) * kv_bytes / context.context_link.rate);
  const Seconds rounds = Figure("Fixed cost of the ring's rounds", table.round_launch * (ranks - 1));
  const auto exposed = [&](std::string_view title, Seconds transfer, Seconds core, std::string_view note) {
    return Figure(title, max(0 * kS, transfer - table.ring_hidden * core) + rounds, note);
  };
  return {{Figure("CP link time of a layer, forward", trip + rounds),
           exposed("Exposed CP time, forward", trip, core_forward, "a part of the attention core hides the transfers")},
          {Figure("CP link time of a layer, backward", 2 * trip + rounds),
           exposed("Exposed CP time, backward", 2 * trip, core_backward,
                   "keys, values and their gradients go round the ring")}};
}

}  // namespace

bool GathersContext(const TrainingContext& context) {
  const ContextKind kind = context.run.mapping.cp_kind;
  return context.shape.context > 1 &&
         (kind == ContextKind::kAllGather || (kind == ContextKind::kRing && context.model.mla.has_value()));
}

namespace {

Ratio TokensOfRank(const AttentionWork& work) { return Figure("Tokens of a rank", work.sequences * work.queries); }

Bytes KeysAndValues(const TrainingContext& context, const AttentionWork& work, Ratio tokens) {
  return AtWidth(context, KeyValueBytes(tokens, work.kv_heads, work.query_width, work.value_width));
}

}  // namespace

Bytes AllKeysAndValues(const TrainingContext& context, const AttentionWork& work) {
  return Figure("Keys and values of all ranks",
                context.shape.context * KeysAndValues(context, work, TokensOfRank(work)));
}

ContextExchange ExchangeContext(const TrainingContext& context, const AttentionWork& work, Seconds core_forward,
                                Seconds core_backward) {
  if (context.shape.context <= 1) return {};
  const auto time = [&](CollectiveType type, Bytes bytes) {
    return TimeCollective(context, type, bytes, RankGroup::kContext);
  };
  const Ratio tokens = TokensOfRank(work);
  const Bytes kv_bytes = KeysAndValues(context, work, tokens);
  if (context.run.mapping.cp_kind == ContextKind::kUlysses) {
    const Seconds queries =
        time(CollectiveType::kAllToAll, AtWidth(context, QueryBytes(tokens, work.heads, work.query_width)));
    const Seconds keys = time(CollectiveType::kAllToAll, kv_bytes / 2);
    const Seconds all =
        Figure("Four all-to-alls", 2 * queries + 2 * keys, "Q, K, V from tokens to heads, the output back");
    return {{all, all}, {all, all}};
  }
  if (GathersContext(context)) {
    const Bytes all_kv_bytes = AllKeysAndValues(context, work);
    const Seconds gather = time(CollectiveType::kAllGather, all_kv_bytes);
    const Seconds backward =
        Figure("CP time of a layer, backward", gather + time(CollectiveType::kReduceScatter, all_kv_bytes),
               "keys and values gathered again, their gradients reduced and scattered");
    return {{gather, gather}, {backward, backward}};
  }
  return RingExchange(context, kv_bytes, core_forward, core_backward);
}

namespace {

struct DispatchAndCombine {
  Seconds dispatch, combine;
};

// Kernels that send each token across the network only once per node (DeepEP).
DispatchAndCombine DedicatedKernels(const TrainingContext& context) {
  const FrameworkExperts& framework = context.framework().experts;
  const Moe& moe = *context.model.moe;
  const Cluster& cluster = context.prepared->stated;
  ExpertExchange call;
  call.kernel = ExchangeKernel::kNormal;
  call.top_k = moe.top_k, call.experts = moe.experts, call.hidden = RoutedWidth(context.model);
  SetWires(ViewOf(context.experts, cluster), cluster, call);
  call.max_nodes_per_token = moe.node_limit > 0 ? Ratio(moe.node_limit) : call.nodes;
  call.architecture = cluster.device.architecture;
  call.tokens = context.shape.sequence_parallel_tokens;
  call.kernel_units = framework.dispatch_units;
  call.element_bytes = framework.dispatch_bytes;
  DispatchAndCombine exchange;
  exchange.dispatch = TimeOf(call).time;
  call.is_combine = true;
  call.element_bytes = 2;
  exchange.combine = TimeOf(call).time;
  return exchange;
}

// One all-to-all of routed tokens in each direction: dispatch in the framework's format, combine in 16 bit.
DispatchAndCombine LibraryExchange(const TrainingContext& context, const LayerWork& work) {
  const Bytes combined = AtWidth(context, RoutedBytes(work.dispatched_tokens, RoutedWidth(context.model)));
  const Bytes dispatched = Figure("Tokens that a rank sends", context.framework().experts.dispatch_bytes / 2 * combined,
                                  "in the format of the framework's dispatch");
  const auto one_way = [&](Bytes bytes) {
    return TimeCollective(context, {.type = CollectiveType::kAllToAll, .bytes = bytes, .routed = true},
                          RankGroup::kExperts);
  };
  const Seconds dispatch = one_way(dispatched);
  return {dispatch, one_way(combined)};
}

// Expert tensor parallelism: each of its ranks needs the rows of all its ranks.
Seconds GatherRows(const TrainingContext& context, const LayerWork& work) {
  if (context.shape.expert_tensor <= 1) return {};
  return TimeCollective(context, CollectiveType::kAllGather,
                        AtWidth(context, RoutedBytes(work.even_rows, RoutedWidth(context.model))),
                        RankGroup::kExpertTensor);
}

}  // namespace

Exchange ExchangeExperts(const TrainingContext& context, const LayerWork& work) {
  if (context.shape.expert * context.shape.expert_tensor <= 1) return {};
  const FrameworkExperts& framework = context.framework().experts;
  const TrainingMapping& mapping = context.run.mapping;
  const bool is_dedicated = mapping.dispatch.value_or(framework.dispatch) == ExpertDispatch::kDedicated;
  const auto [dispatch, combine] =
      is_dedicated && !context.cluster.networks.empty() ? DedicatedKernels(context) : LibraryExchange(context, work);
  const bool pairs = PairsPasses(mapping.schedule) && mapping.pp > 1, overlaps = mapping.overlap.ep.value_or(pairs);
  const Ratio exposed = framework.exposed, overlapped = overlaps ? framework.exposed_overlapped : Ratio(1);
  const Seconds link =
      Figure("EP link time of a layer, one direction", dispatch + combine + 2 * GatherRows(context, work),
             "dispatch and combine, each with an all-gather under expert tensor parallelism");
  return {link, Figure("Exposed EP time of a layer", link * (exposed * overlapped),
                       "the rest overlaps with the shared parts of the layer")};
}

}  // namespace slipstick
