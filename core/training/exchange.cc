#include "core/training/exchange.h"

#include "core/collectives/fabric.h"
#include "core/collectives/moe_exchange.h"

namespace slipstick {
namespace {

constexpr Bytes kElement = 2 * kB;  // activations are sent in 16 bits

}  // namespace

Exchange TensorExchange(const TrainingContext& context, double pairs, Trace& trace) {
  if (context.shape.tensor <= 1) return {};
  Trace::Scope scope(trace, "tensor_exchange");
  const TrainingMapping& mapping = context.run.mapping;
  const FrameworkExchange& framework = context.framework().exchange;
  const double hidden = static_cast<double>(context.model.hidden), tokens = context.shape.tokens;
  const Bytes element = kElement;
  const Seconds pair_launch = 12 * kUs;
  FIGURE(trace, stream_bytes, tokens * hidden * element, (Note{"Residual stream of a micro-batch", "message size of each collective"}),
         tokens, hidden, element);
  const Seconds gather_time = mapping.sequence_parallel
                                  ? Collective(context, CollectiveType::kAllGather, stream_bytes, context.tensor, "gather", trace)
                                  : Seconds{};
  const Seconds reduce_time = Collective(context, mapping.sequence_parallel ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce,
                                         stream_bytes, context.tensor, "reduce", trace);
  // Chunked overlap needs an all-gather before the GEMMs and a reduce-scatter after them.
  const bool overlaps = mapping.overlap.tp.value_or(framework.tensor_overlap && mapping.sequence_parallel && context.run.flash_attention);
  const double exposed_share = overlaps ? framework.tensor_exposed : 1;
  FIGURE(trace, link_time, pairs * (gather_time + reduce_time + pair_launch),
         (Note{"TP link time of a layer", "one direction; an all-gather and a reduce-scatter, or one all-reduce, per pair"}), pairs,
         gather_time, reduce_time, pair_launch);
  FIGURE(trace, exposed_time, link_time * exposed_share, (Note{"Exposed TP time of a layer", "the rest runs in chunks behind the GEMMs"}),
         link_time, exposed_share);
  return {link_time, exposed_time};
}

ContextExchange ExchangeContext(const TrainingContext& context, const AttentionWork& work, Seconds core_forward, Seconds core_backward,
                                Trace& trace) {
  const TrainingShape& shape = context.shape;
  if (shape.context <= 1) return {};
  Trace::Scope scope(trace, "context_exchange");
  const double ranks = shape.context, own_tokens = work.sequences * work.queries;
  const double kv_columns = work.kv_heads * (work.query_width + work.value_width), heads = work.heads, width = work.query_width;
  const Bytes element = kElement;
  const GroupPlacement& group = context.context_group;
  if (context.run.mapping.cp_kind == ContextKind::kUlysses) {
    const Seconds query_time =
        Collective(context, CollectiveType::kAllToAll, own_tokens * heads * width * element, group, "queries", trace);
    const Seconds kv_time = Collective(context, CollectiveType::kAllToAll, own_tokens * kv_columns / 2 * element, group, "keys", trace);
    FIGURE(trace, link_time, 2 * query_time + 2 * kv_time, (Note{"Four all-to-alls", "Q, K, V from tokens to heads, the output back"}),
           query_time, kv_time);
    return {{link_time, link_time}, {link_time, link_time}};
  }
  FIGURE(trace, kv_bytes, own_tokens * kv_columns * element, (Note{"Keys and values of one rank's tokens", ""}), own_tokens, kv_columns,
         element);
  if (context.run.mapping.cp_kind == ContextKind::kAllGather || context.model.mla) {
    const Seconds gather_time = Collective(context, CollectiveType::kAllGather, ranks * kv_bytes, group, "gather", trace);
    const Seconds scatter_time = Collective(context, CollectiveType::kReduceScatter, ranks * kv_bytes, group, "scatter", trace);
    FIGURE(trace, backward_time, gather_time + scatter_time,
           (Note{"CP time of a layer, backward", "keys and values gathered again, their gradients reduced and scattered"}), gather_time,
           scatter_time);
    return {{gather_time, gather_time}, {backward_time, backward_time}};
  }
  const BytesPerSecond hop_rate = context.context_link.rate;
  const Seconds round_cost = 10 * kUs;
  FIGURE(trace, ring_time, (ranks - 1) * kv_bytes / hop_rate, (Note{"One trip of keys and values round the ring", ""}), ranks, kv_bytes,
         hop_rate);
  FIGURE(trace, rounds_time, round_cost * (ranks - 1), (Note{"Fixed cost of the ring's rounds", ""}), round_cost, ranks);
  const Seconds none;
  FIGURE(trace, forward_exposed, max(none, ring_time - 0.8 * core_forward) + rounds_time,
         (Note{"Exposed CP time, forward", "80 % of the attention core hides the transfers"}), none, ring_time, core_forward, rounds_time);
  FIGURE(trace, backward_exposed, max(none, 2 * ring_time - 0.8 * core_backward) + rounds_time,
         (Note{"Exposed CP time, backward", "keys, values and their gradients go round the ring"}), none, ring_time, core_backward,
         rounds_time);
  return {{ring_time + rounds_time, forward_exposed}, {2 * ring_time + rounds_time, backward_exposed}};
}

namespace {

// One dispatch or combine of kernels that send a token across the network once per node (DeepEP).
Seconds DedicatedExchange(const TrainingContext& context, bool is_combine, double inner_ranks, double nodes, Trace& trace) {
  Trace::Scope scope(trace, is_combine ? "combine" : "dispatch");
  const Moe& moe = *context.model.moe;
  const FrameworkExperts& framework = context.framework().experts;
  ExpertExchange call;
  call.kernel = ExchangeKernel::kNormal;
  call.is_combine = is_combine;
  call.tokens = context.shape.sequence_parallel_tokens;
  call.top_k = static_cast<double>(moe.top_k);
  call.experts = static_cast<double>(moe.experts);
  call.hidden = static_cast<double>(context.model.hidden);
  call.element_bytes = is_combine ? 2 : framework.dispatch_bytes;
  call.ranks_in_node = inner_ranks;
  call.nodes = nodes;
  call.kernel_units = static_cast<double>(framework.dispatch_units);
  call.max_nodes_per_token = moe.node_limit > 0 ? static_cast<double>(moe.node_limit) : nodes;
  call.link = context.cluster.networks.front().bandwidth;
  call.nic = nodes > 1 ? context.nic : call.link;
  call.architecture = context.device().architecture;
  return TimeOf(call, trace);
}

}  // namespace

Exchange ExchangeExperts(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  const TrainingShape& shape = context.shape;
  const double ranks = shape.expert * shape.expert_tensor;
  if (ranks <= 1) return {};
  Trace::Scope scope(trace, "expert_exchange");
  const FrameworkExperts& framework = context.framework().experts;
  const double hidden = static_cast<double>(context.model.hidden), copies = work.dispatched_tokens;
  const double inner_ranks = min(ranks, context.node_devices);
  const Bytes element = kElement;
  const Fabric fabric = context.cluster.networks.empty() ? Fabric() : context.cluster.networks.front().fabric;
  const Seconds start = fabric->in_step.routed_setup;
  const bool several_nodes = context.cluster.networks.size() > 1 && ranks > inner_ranks;
  const BytesPerSecond inner_rate =
      context.cluster.networks.empty() ? 1 * kGBps : fabric->in_step.routed_efficiency * context.cluster.networks.front().bandwidth;
  const BytesPerSecond outer_rate = several_nodes ? context.expert_rate : inner_rate;
  FIGURE(trace, copy_bytes, copies * hidden * element,
         (Note{"Bytes that a rank dispatches", "one copy of a token per rank that holds any of its experts"}), copies, hidden, element);
  const double dispatch_share = framework.dispatch_bytes / 2;
  FIGURE(trace, library_time,
         start + max(copy_bytes * (inner_ranks - 1) / ranks / inner_rate, copy_bytes * (ranks - inner_ranks) / ranks / outer_rate),
         (Note{"Dispatch or combine by an all-to-all", "the slower of the transfers inside a node and between nodes, which overlap"}),
         start, copy_bytes, inner_ranks, ranks, inner_rate, outer_rate);
  const Seconds gather_time = Collective(context, CollectiveType::kAllGather, work.even_rows * hidden * element, context.expert_tensor);
  const bool overlaps = context.run.mapping.overlap.ep.value_or(false);
  const double exposed_share = framework.exposed * (overlaps ? framework.exposed_overlapped : 1);
  const bool dedicated = framework.dispatch == ExpertDispatch::kDedicated && !context.cluster.networks.empty();
  const double nodes = several_nodes ? ranks / inner_ranks : 1;
  const Seconds dispatch_time =
      dedicated ? DedicatedExchange(context, false, inner_ranks, nodes, trace) : start + dispatch_share * (library_time - start);
  const Seconds combine_time = dedicated ? DedicatedExchange(context, true, inner_ranks, nodes, trace) : library_time;
  FIGURE(trace, link_time, dispatch_time + combine_time + 2 * gather_time,
         (Note{"EP link time of a layer, one direction", "dispatch and combine, each with an all-gather under expert tensor parallelism"}),
         dispatch_time, combine_time, gather_time);
  FIGURE(trace, exposed_time, link_time * exposed_share,
         (Note{"Exposed EP time of a layer", "the rest overlaps with the shared parts of the layer"}), link_time, exposed_share);
  return {link_time, exposed_time};
}

}  // namespace slipstick
