#include "core/serving/exchange.h"

#include "core/collectives/moe_exchange.h"
#include "core/operators/efficiency.h"

namespace slipstick {

ExchangeCost AllReduce(const Deployment& deployment, Bytes bytes, bool waits_for_host, Trace& trace) {
  ExchangeCost exchange;
  if (deployment.mapping.devices_per_group <= 1) return exchange;
  CollectiveCall call;
  call.type = CollectiveType::kAllReduce;
  call.bytes = bytes;
  call.custom = deployment.network.custom_all_reduce;
  // Hosts launch independently: the wait for the last one grows with log2 of the ranks.
  if (waits_for_host) call.launch = deployment.engine.communication.nccl_launch * log2(deployment.network.tensor_group.Ranks());
  const CollectiveTime taken = TimeOf(call, deployment.network.tensor_group, deployment.cluster, trace);
  exchange.kernel.time = taken.time;
  exchange.kernel.bound = Bound::kNetwork;
  exchange.launched_apart = deployment.network.custom_all_reduce == nullptr;
  if (deployment.network.custom_all_reduce != nullptr) {
    const Seconds reduction = taken.time, skew = deployment.engine.communication.rank_skew;
    FIGURE(trace, reduction_time, reduction + skew, (Note{"All-reduce inside a step", "its own time and the skew between ranks"}),
           reduction, skew);
    exchange.kernel.time = reduction_time;
  }
  return exchange;
}

namespace {

KernelTime NetworkTime(Seconds time) {
  KernelTime kernel;
  kernel.time = time;
  kernel.bound = Bound::kNetwork;
  return kernel;
}

// Bytes per element of a dispatched token: the experts' compute format, with its scales.
double DispatchedElement(const Deployment& deployment) {
  constexpr double kBlockScale = 4.0 / 128;  // one fp32 scale per 128 elements
  const Precision format = NativePrecision(deployment.device, deployment.formats.activations);
  return format == Precision::kFp8 ? 1 + kBlockScale : min(2.0, BytesPerElement(format));
}

ExchangeKernel KernelOf(const ExchangeKernels& row, Phase phase) { return phase == Phase::kDecode ? row.decode : row.prefill; }

// Dispatch and combine by the engine's kernels.
ExpertTraffic OwnKernels(const Deployment& deployment, double tokens, Phase phase, Trace& trace) {
  const Moe& moe = *deployment.model.moe;
  ExpertExchange one;
  one.kernel = KernelOf(*deployment.network.expert_exchange, phase);
  one.tokens = tokens / deployment.mapping.tp;
  one.top_k = static_cast<double>(moe.top_k);
  one.experts = deployment.shapes.experts;
  one.hidden = deployment.shapes.hidden;
  one.ranks_in_node = deployment.network.experts_group.extent.front();
  one.nodes = deployment.network.experts_group.Ranks() / one.ranks_in_node;
  one.kernel_units = static_cast<double>(deployment.network.expert_exchange->units);
  one.max_nodes_per_token = moe.node_limit > 0 ? static_cast<double>(moe.node_limit) : one.nodes;
  one.link = deployment.cluster.networks.front().bandwidth;
  one.nic = deployment.network.stage_link;
  one.architecture = deployment.device.architecture;
  const auto time_of = [&](std::string_view name, bool is_combine, double element_bytes) {
    const Trace::Scope scope(trace, name);
    one.is_combine = is_combine;
    one.element_bytes = element_bytes;
    return TimeOf(one, trace);
  };
  const double own_tokens = one.tokens, imbalance = ImbalanceOf(deployment, trace);
  FIGURE(trace, busiest_tokens, own_tokens * imbalance,
         (Note{"Tokens that the busiest device receives and returns", "its link is the bottleneck"}), own_tokens, imbalance);
  one.tokens = busiest_tokens;
  const Seconds dispatch = time_of("dispatch", false, DispatchedElement(deployment)), combine = time_of("combine", true, 2);
  FIGURE(trace, exchange_time, dispatch + combine, (Note{"Dispatch and combine", "dispatch in the experts' format, combine in 16 bit"}),
         dispatch, combine);
  return {NetworkTime(exchange_time), dispatch, own_tokens};
}

}  // namespace

// Redundant copies share the tokens of the busiest experts; every device holds the same number of copies. Where the model states no
// imbalance, the engine's value for a balanced deployment applies.
double ImbalanceOf(const Deployment& deployment, Trace& trace) {
  if (deployment.mapping.ep <= 1) return 1;
  const double stated = deployment.model.moe->imbalance, redundant = static_cast<double>(deployment.load.redundant_experts),
               ep = deployment.mapping.ep;
  if (stated <= 1 && deployment.network.expert_exchange != nullptr) return deployment.network.expert_exchange->imbalance;
  if (redundant <= 0) return stated;
  trace.Input("redundant", redundant, "serving.redundant_experts");
  FIGURE(trace, imbalance, 1 + (stated - 1) / (1 + redundant / ep),
         (Note{"Tokens of the busiest device over the mean", "the excess is shared with the redundant copies of the busiest experts"}),
         stated, redundant, ep);
  return imbalance;
}

double UnitsTaken(const Deployment& deployment, Phase phase) {
  if (deployment.network.expert_exchange == nullptr || KernelOf(*deployment.network.expert_exchange, phase) != ExchangeKernel::kNormal)
    return 0;
  return min(0.9, static_cast<double>(deployment.network.expert_exchange->units) / static_cast<double>(deployment.device.units));
}

ExpertTraffic GatherTokens(const Deployment& deployment, double tokens, Trace& trace) {
  const double groups = deployment.mapping.attention_dp, hidden = deployment.shapes.hidden;
  const Bytes element = 2.0 * kB;
  FIGURE(trace, gathered, groups * tokens * hidden * element, (Note{"Tokens of all attention groups", ""}), groups, tokens, hidden,
         element);
  CollectiveCall call;
  call.type = CollectiveType::kAllGather;
  call.bytes = gathered;
  const Seconds gather = TimeOf(call, deployment.network.experts_group, deployment.cluster, trace).time;
  call.type = CollectiveType::kReduceScatter;
  const Seconds scatter = TimeOf(call, deployment.network.experts_group, deployment.cluster, trace).time;
  FIGURE(trace, exchange_time, gather + scatter,
         (Note{"Dispatch and combine", "all-gather of the tokens of all groups, reduce-scatter of the experts' results"}), gather, scatter);
  return {NetworkTime(exchange_time), gather, groups * tokens};
}

ExpertTraffic SendTokens(const Deployment& deployment, double tokens, Phase phase, Trace& trace) {
  if (deployment.network.expert_exchange != nullptr) return OwnKernels(deployment, tokens, phase, trace);
  const double ranks = deployment.network.experts_group.Ranks(),
               copies = deployment.mapping.ep > 1 ? ExpertCopies(*deployment.model.moe, ranks) : ranks;
  CollectiveCall call;
  call.type = CollectiveType::kAllToAll;
  call.bytes = tokens / deployment.mapping.tp * copies * deployment.shapes.hidden * 2.0 * kB;
  const Seconds one_way = TimeOf(call, deployment.network.experts_group, deployment.cluster, trace).time;
  FIGURE(trace, exchange_time, 2 * one_way,
         (Note{"Dispatch and combine", "an all-to-all each way: one copy per rank that holds an expert of the token"}), one_way);
  // Experts split over all devices (ep 1) need every token on every device.
  return {NetworkTime(exchange_time), one_way, deployment.mapping.ep > 1 ? tokens : deployment.mapping.attention_dp * tokens};
}

KernelTime ContextExchange(const Deployment& deployment, double rows, Trace& trace) {
  KernelTime kernel;
  if (deployment.mapping.cp <= 1) return kernel;
  const double latent = deployment.model.mla ? static_cast<double>(deployment.model.mla->kv_lora_rank) : deployment.shapes.head_dim;
  const Bytes element = 2.0 * kB;
  CollectiveCall call;
  call.type = CollectiveType::kAllGather;
  call.bytes = rows * deployment.shapes.decode_heads * latent * element;
  const Seconds queries = TimeOf(call, deployment.network.context_group, deployment.cluster, trace).time;
  call.type = CollectiveType::kReduceScatter;
  const Seconds answers = TimeOf(call, deployment.network.context_group, deployment.cluster, trace).time;
  FIGURE(trace, context_exchange, queries + answers,
         (Note{"Queries to the parts of a context and partial results back", "each rank attends to its part; weighted sums are added",
               "Helix parallelism, arXiv 2507.07120"}),
         queries, answers);
  kernel.time = context_exchange;
  kernel.bound = Bound::kNetwork;
  return kernel;
}

KernelTime StageSend(const Deployment& deployment, double rows, Trace& trace) {
  KernelTime kernel;
  if (deployment.mapping.pp <= 1) return kernel;
  const double hidden = deployment.shapes.hidden;
  const Bytes element = 2.0 * kB;
  const Seconds start = 15 * kUs;
  const BytesPerSecond link = deployment.network.stage_link;
  FIGURE(trace, hop_time, start + rows * hidden * element / (0.8 * link),
         (Note{"Activations to the next pipeline stage", "send and launch; estimate"}), start, rows, hidden, element, link);
  kernel.time = hop_time;
  kernel.bound = Bound::kNetwork;
  return kernel;
}

}  // namespace slipstick
