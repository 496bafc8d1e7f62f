#include "core/training_stage/exchange.h"

#include <array>
#include <string>

#include "core/collectives/named_terms.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/training_stage/schedule_types.h"
#include "core/workload/named_terms.h"

namespace slipstick {

Exchange TensorExchange(const TrainingContext& context, double pairs, Trace& trace) {
  if (context.shape.tensor <= 1) return {};
  Trace::Scope scope(trace, "tensor_exchange");
  const TrainingMapping& mapping = context.run.mapping;
  const FrameworkExchange& framework = context.framework().exchange;
  const Seconds pair_launch = context.device().architecture->step.pair_launch;
  BindEstimate("pair_launch", pair_launch, context.device(), trace);
  if (!mapping.sequence_parallel) trace.Input("gather_time", Seconds(), "training.mapping.sequence_parallel");
  const Bytes residual_bytes = ResidualBytes(context.model, context.shape.tokens, "tokens", trace);
  const auto time = [&](CollectiveType type, std::string_view name, std::string_view symbol) {
    return TimeCollective(context, type, residual_bytes, "residual_bytes", RankGroup::kTensor, name, symbol, trace);
  };
  const Seconds gather_time =
      mapping.sequence_parallel ? time(CollectiveType::kAllGather, "gather", "gather_time") : Seconds{};
  const Seconds reduce_time = time(
      mapping.sequence_parallel ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce, "reduce", "reduce_time");
  // Chunked overlap needs an all-gather before the GEMMs and a reduce-scatter after them.
  const bool overlaps =
      mapping.overlap.tp.value_or(framework.tensor_overlap && mapping.sequence_parallel && context.run.flash_attention);
  const double exposed_share = overlaps ? framework.tensor_exposed : Ratio(1);
  trace.Input("exposed_share", exposed_share,
              overlaps ? "training.framework.exchange.tensor_exposed" : "training.mapping.overlap.tp");
  trace.Input("pairs", pairs, "model.parallel_attention");
  FIGURE(trace, link_time, pairs * (gather_time + reduce_time + pair_launch),
         (Note{"TP link time of a layer",
               "one direction; an all-gather and a reduce-scatter, or one all-reduce, per pair"}),
         pairs, gather_time, reduce_time, pair_launch);
  FIGURE(trace, exposed_time, link_time * exposed_share,
         (Note{"Exposed TP time of a layer", "the rest runs in chunks behind the GEMMs"}), link_time, exposed_share);
  Exchange exchange{link_time, exposed_time};
  if (context.run.recompute == Recompute::kSelective && framework.repeats_gathers && mapping.sequence_parallel) {
    FIGURE(trace, repeated_link, pairs * gather_time,
           (Note{"All-gathers of a layer", "which the backward pass repeats"}), pairs, gather_time);
    FIGURE(trace, repeated_gathers, repeated_link * exposed_share, (Note{"Exposed part of them"}), repeated_link,
           exposed_share);
    exchange.repeated_link = repeated_link;
    exchange.repeated = repeated_gathers;
  }
  return exchange;
}

namespace {

// Binds the times of an exchange to the names that a layer's passes use.
ContextExchange BindContext(const ContextExchange& exchange, const std::array<std::string_view, 4>& figures,
                            Trace& trace) {
  trace.Alias("forward_cp_link", exchange.forward.link, figures[0]);
  trace.Alias("forward_cp", exchange.forward.exposed, figures[1]);
  trace.Alias("backward_cp_link", exchange.backward.link, figures[2]);
  trace.Alias("backward_cp", exchange.backward.exposed, figures[3]);
  return exchange;
}

}  // namespace

ContextExchange ExchangeContext(const TrainingContext& context, const AttentionWork& work, Seconds core_forward,
                                Seconds core_backward, Trace& trace) {
  const TrainingShape& shape = context.shape;
  if (shape.context <= 1) return {};
  Trace::Scope scope(trace, "context_exchange");
  const double cp = shape.context, sequences = work.sequences, queries = work.queries;
  const auto time = [&](CollectiveType type, Bytes bytes, std::string_view bytes_are, std::string_view name,
                        std::string_view symbol) {
    return TimeCollective(context, type, bytes, bytes_are, RankGroup::kContext, name, symbol, trace);
  };
  FIGURE(trace, rank_tokens, sequences * queries, (Note{"Tokens of a rank"}), sequences, queries);
  const Bytes kv_bytes = KeyValueBytes(work, rank_tokens, "rank_tokens", trace);
  if (context.run.mapping.cp_kind == ContextKind::kUlysses) {
    const Bytes query_bytes = QueryBytes(work, rank_tokens, "rank_tokens", trace);
    FIGURE(trace, key_bytes, kv_bytes / 2, (Note{"Keys, or values, of one rank's tokens"}), kv_bytes);
    const Seconds query_time = time(CollectiveType::kAllToAll, query_bytes, "query_bytes", "queries", "query_time");
    const Seconds kv_time = time(CollectiveType::kAllToAll, key_bytes, "key_bytes", "keys", "kv_time");
    FIGURE(trace, link_time, 2 * query_time + 2 * kv_time,
           (Note{"Four all-to-alls", "Q, K, V from tokens to heads, the output back"}), query_time, kv_time);
    return BindContext({{link_time, link_time}, {link_time, link_time}},
                       {"link_time", "link_time", "link_time", "link_time"}, trace);
  }
  if (context.run.mapping.cp_kind == ContextKind::kAllGather || context.model.mla) {
    FIGURE(trace, all_kv_bytes, cp * kv_bytes, (Note{"Keys and values of all ranks"}), cp, kv_bytes);
    const Seconds gather_time = time(CollectiveType::kAllGather, all_kv_bytes, "all_kv_bytes", "gather", "gather_time");
    const Seconds scatter_time =
        time(CollectiveType::kReduceScatter, all_kv_bytes, "all_kv_bytes", "scatter", "scatter_time");
    FIGURE(
        trace, backward_time, gather_time + scatter_time,
        (Note{"CP time of a layer, backward", "keys and values gathered again, their gradients reduced and scattered"}),
        gather_time, scatter_time);
    return BindContext({{gather_time, gather_time}, {backward_time, backward_time}},
                       {"gather_time", "gather_time", "backward_time", "backward_time"}, trace);
  }
  const double ranks = cp;
  trace.Alias("ranks", ranks, "cp");
  ExplainHop(context, context.context_link, context.strides.context, context.shape.context, trace);
  const BytesPerSecond hop_rate = context.context_link.rate;
  const Seconds round_cost = context.device().architecture->step.round_launch;
  const double ring_hidden = context.device().architecture->step.ring_hidden;
  BindEstimate("round_cost", round_cost, context.device(), trace);
  BindEstimate("ring_hidden", ring_hidden, context.device(), trace);
  FIGURE(trace, ring_time, (ranks - 1) * kv_bytes / hop_rate, (Note{"One trip of keys and values round the ring", ""}),
         ranks, kv_bytes, hop_rate);
  FIGURE(trace, rounds_time, round_cost * (ranks - 1), (Note{"Fixed cost of the ring's rounds", ""}), round_cost,
         ranks);
  FIGURE(trace, forward_exposed, max(0 * kS, ring_time - ring_hidden * core_forward) + rounds_time,
         (Note{"Exposed CP time, forward", "a part of the attention core hides the transfers"}), ring_time, ring_hidden,
         core_forward, rounds_time);
  FIGURE(trace, backward_exposed, max(0 * kS, 2 * ring_time - ring_hidden * core_backward) + rounds_time,
         (Note{"Exposed CP time, backward", "keys, values and their gradients go round the ring"}), ring_time,
         ring_hidden, core_backward, rounds_time);
  FIGURE(trace, forward_link, ring_time + rounds_time, (Note{"CP link time of a layer, forward"}), ring_time,
         rounds_time);
  FIGURE(trace, backward_link, 2 * ring_time + rounds_time, (Note{"CP link time of a layer, backward"}), ring_time,
         rounds_time);
  return BindContext({{forward_link, forward_exposed}, {backward_link, backward_exposed}},
                     {"forward_link", "forward_exposed", "backward_link", "backward_exposed"}, trace);
}

namespace {

// One dispatch or combine of kernels that send a token across the network once per node (DeepEP).
Seconds DedicatedExchange(const TrainingContext& context, bool is_combine, std::string_view symbol, Trace& trace) {
  Trace::Scope scope(trace, is_combine ? "combine" : "dispatch");
  const FrameworkExperts& framework = context.framework().experts;
  ExpertExchange call = ExchangeOf(context.model, context.prepared->stated, context.experts, trace);
  call.kernel = ExchangeKernel::kNormal;
  call.is_combine = is_combine;
  call.tokens = context.shape.sequence_parallel_tokens;
  call.element_bytes = is_combine ? Ratio(2) : framework.dispatch_bytes;
  call.kernel_units = static_cast<double>(framework.dispatch_units);
  trace.Alias("tokens", call.tokens, "own_tokens");
  if (!is_combine) trace.Input("element_bytes", call.element_bytes, "training.framework.experts.dispatch_bytes");
  if (is_combine) trace.Constants("formats", "combined in 16 bit", "element_bytes", call.element_bytes);
  trace.Input("kernel_units", call.kernel_units, "training.framework.experts.dispatch_units");
  const Seconds time = TimeOf(call, trace).time;
  trace.Alias(symbol, time, "exchange_time");
  return time;
}

struct DispatchAndCombine {
  Seconds dispatch, combine;
};

DispatchAndCombine DedicatedKernels(const TrainingContext& context, Trace& trace) {
  const double ep = context.shape.expert, expert_tp = context.shape.expert_tensor;
  FIGURE(trace, ranks, ep * expert_tp, (Note{"Ranks that share a layer's experts"}), ep, expert_tp);
  const double node_devices = context.node_devices;
  trace.Input("node_devices", node_devices, "cluster.networks.0.size");
  FIGURE(trace, inner_ranks, min(ranks, node_devices), (Note{"Of them, in a node"}), ranks, node_devices);
  if (context.cluster.networks.size() > 1) {
    FIGURE(trace, nodes, ranks / inner_ranks, (Note{"Nodes that share a layer's experts"}), ranks, inner_ranks);
  } else {
    trace.Input("nodes", 1.0, "cluster.networks");
  }
  return {DedicatedExchange(context, false, "dispatch_time", trace),
          DedicatedExchange(context, true, "combine_time", trace)};
}

// An all-to-all of routed tokens each way: dispatch in the framework's format, combine in 16 bit.
DispatchAndCombine LibraryExchange(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  const Bytes combined_bytes = RoutedBytes(context.model, work.dispatched_tokens, "dispatched_tokens", trace);
  trace.Alias("combined_bytes", combined_bytes, "residual_bytes");
  const double dispatch_bytes = context.framework().experts.dispatch_bytes;
  FIGURE(trace, dispatched_bytes, dispatch_bytes / 2 * combined_bytes,
         (Note{"Tokens that a rank sends", "in the format of the framework's dispatch"}), dispatch_bytes,
         combined_bytes);
  const auto one_way = [&](Bytes bytes, std::string_view bytes_are, std::string_view name, std::string_view symbol) {
    const CollectiveCall call{.type = CollectiveType::kAllToAll, .bytes = bytes, .routed = true};
    return TimeCollective(context, call, bytes_are, RankGroup::kExperts, name, symbol, trace);
  };
  return {one_way(dispatched_bytes, "dispatched_bytes", "dispatch", "dispatch_time"),
          one_way(combined_bytes, "combined_bytes", "combine", "combine_time")};
}

// Expert tensor parallelism: each of its ranks needs the rows of all.
Seconds GatherRows(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  const double expert_tp = context.shape.expert_tensor;
  if (expert_tp <= 1) {
    RecordNone({"gather_time"}, "(expert_tp - 1)", Note{"Gather of rows", "none without expert tensor parallelism"},
               "expert_tp", expert_tp, trace);
    return {};
  }
  const Bytes bytes = RoutedBytes(context.model, work.even_rows, "even_rows", trace);
  return TimeCollective(context, CollectiveType::kAllGather, bytes, "residual_bytes", RankGroup::kExpertTensor,
                        "gather", "gather_time", trace);
}

}  // namespace

Exchange ExchangeExperts(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  const TrainingShape& shape = context.shape;
  if (shape.expert * shape.expert_tensor <= 1) return {};
  Trace::Scope scope(trace, "expert_exchange");
  const FrameworkExperts& framework = context.framework().experts;
  const TrainingMapping& mapping = context.run.mapping;
  const bool is_dedicated = mapping.dispatch.value_or(framework.dispatch) == ExpertDispatch::kDedicated;
  const DispatchAndCombine exchange = is_dedicated && !context.cluster.networks.empty()
                                          ? DedicatedKernels(context, trace)
                                          : LibraryExchange(context, work, trace);
  const Seconds dispatch_time = exchange.dispatch, combine_time = exchange.combine;
  const Seconds gather_time = GatherRows(context, work, trace);
  const bool pairs = PairsPasses(mapping.schedule) && mapping.pp > 1, overlaps = mapping.overlap.ep.value_or(pairs);
  const double exposed = framework.exposed, overlapped = overlaps ? framework.exposed_overlapped : Ratio(1);
  trace.Input("overlapped", overlapped,
              overlaps ? "training.framework.experts.exposed_overlapped" : "training.mapping.overlap.ep");
  trace.Input("exposed", exposed, "training.framework.experts.exposed");
  FIGURE(trace, exposed_share, exposed * overlapped, (Note{"Exposed share of the exchange"}), exposed, overlapped);
  FIGURE(trace, link_time, dispatch_time + combine_time + 2 * gather_time,
         (Note{"EP link time of a layer, one direction",
               "dispatch and combine, each with an all-gather under expert tensor parallelism"}),
         dispatch_time, combine_time, gather_time);
  FIGURE(trace, exposed_time, link_time * exposed_share,
         (Note{"Exposed EP time of a layer", "the rest overlaps with the shared parts of the layer"}), link_time,
         exposed_share);
  return {link_time, exposed_time};
}

}  // namespace slipstick
