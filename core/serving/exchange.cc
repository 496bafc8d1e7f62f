#include "core/serving/exchange.h"

#include "core/collectives/moe_exchange.h"
#include "core/operators/efficiency.h"

namespace slipstick {

ExchangeCost AllReduce(const Deployment& d, Bytes bytes, bool waits_for_host, Trace& trace) {
  ExchangeCost exchange;
  if (d.devices_per_group <= 1) return exchange;
  CollectiveCall call;
  call.type = CollectiveType::kAllReduce;
  call.bytes = bytes;
  call.custom = d.custom;
  // Hosts launch apart: the wait for the last of them grows with every doubling of the ranks.
  if (waits_for_host) call.launch = d.engine.communication.nccl_launch * log2(d.tensor_group.Ranks());
  const CollectiveTime taken = TimeOf(call, d.tensor_group, d.cluster, trace);
  exchange.kernel.time = taken.time;
  exchange.kernel.bound = Bound::kNetwork;
  exchange.launched_apart = d.custom == nullptr;
  if (d.custom != nullptr) {
    // Ranks do not arrive together.
    const Seconds reduction = taken.time, skew = d.engine.communication.rank_skew;
    FIGURE(trace, reduction_time, reduction + skew, (Note{"All-reduce inside a step", "its time alone and the wait for the last rank"}),
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

// What a token takes on its way to an expert: in the format that the experts compute in, with its scales.
double DispatchedElement(const Deployment& d) {
  constexpr double kBlockScale = 4.0 / 128;  // fp32, of 128 elements
  const Precision format = NativePrecision(d.device, d.activations);
  return format == Precision::kFp8 ? 1 + kBlockScale : min(2.0, BytesPerElement(format));
}

ExchangeKernel KernelOf(const ExchangeKernels& row, Phase phase) { return phase == Phase::kDecode ? row.decode : row.prefill; }

// Dispatch and combine by the engine's own kernels.
ExpertTraffic OwnKernels(const Deployment& d, double tokens, Phase phase, Trace& trace) {
  const Moe& moe = *d.model.moe;
  ExpertExchange one;
  one.kernel = KernelOf(*d.exchange, phase);
  one.tokens = tokens / d.tp;
  one.top_k = static_cast<double>(moe.top_k);
  one.experts = d.experts;
  one.hidden = d.hidden;
  one.ranks_in_node = d.experts_group.extent.front();
  one.nodes = d.experts_group.Ranks() / one.ranks_in_node;
  one.kernel_units = static_cast<double>(d.exchange->units);
  one.max_nodes_per_token = moe.node_limit > 0 ? static_cast<double>(moe.node_limit) : one.nodes;
  one.link = d.cluster.networks.front().bandwidth;
  one.nic = d.hop;
  one.architecture = d.device.architecture;
  const auto time_of = [&](std::string_view name, bool is_combine, double element_bytes) {
    const Trace::Scope scope(trace, name);
    one.is_combine = is_combine;
    one.element_bytes = element_bytes;
    return TimeOf(one, trace);
  };
  const double own_tokens = one.tokens, imbalance = ImbalanceOf(d, trace);
  FIGURE(trace, busiest_tokens, own_tokens * imbalance,
         (Note{"Tokens that the busiest device receives and returns", "its link sets the pace"}), own_tokens, imbalance);
  one.tokens = busiest_tokens;
  const Seconds dispatch = time_of("dispatch", false, DispatchedElement(d)), combine = time_of("combine", true, 2);
  FIGURE(trace, exchange_time, dispatch + combine,
         (Note{"Tokens to their experts and back", "dispatch in the experts' format, combine in 16 bit"}), dispatch, combine);
  return {NetworkTime(exchange_time), dispatch, own_tokens};
}

}  // namespace

// A redundant copy takes its share of the busiest expert's tokens, and every device has room for as many copies. The engine's own
// figure, where the model states none, is one of a balanced deployment.
double ImbalanceOf(const Deployment& d, Trace& trace) {
  if (d.ep <= 1) return 1;
  const double stated = d.model.moe->imbalance, redundant = static_cast<double>(d.load.redundant_experts), ep = d.ep;
  if (stated <= 1 && d.exchange != nullptr) return d.exchange->imbalance;
  if (redundant <= 0) return stated;
  trace.Input("redundant", redundant, "serving.redundant_experts");
  FIGURE(
      trace, imbalance, 1 + (stated - 1) / (1 + redundant / ep),
      (Note{"Tokens of the busiest device over the mean", "what it has above the mean is shared with the copies of its busiest experts"}),
      stated, redundant, ep);
  return imbalance;
}

double UnitsTaken(const Deployment& d, Phase phase) {
  if (d.exchange == nullptr || KernelOf(*d.exchange, phase) != ExchangeKernel::kNormal) return 0;
  return min(0.9, static_cast<double>(d.exchange->units) / static_cast<double>(d.device.units));
}

ExpertTraffic GatherTokens(const Deployment& d, double tokens, Trace& trace) {
  const double groups = d.attention_dp, hidden = d.hidden;
  const Bytes element = 2.0 * kB;
  FIGURE(trace, gathered, groups * tokens * hidden * element, (Note{"Tokens of all attention groups", ""}), groups, tokens, hidden,
         element);
  CollectiveCall call;
  call.type = CollectiveType::kAllGather;
  call.bytes = gathered;
  const Seconds gather = TimeOf(call, d.experts_group, d.cluster, trace).time;
  call.type = CollectiveType::kReduceScatter;
  const Seconds scatter = TimeOf(call, d.experts_group, d.cluster, trace).time;
  FIGURE(
      trace, exchange_time, gather + scatter,
      (Note{"Tokens to their experts and back", "every rank gathers the tokens of all groups, and the experts' answers are summed back"}),
      gather, scatter);
  return {NetworkTime(exchange_time), gather, groups * tokens};
}

ExpertTraffic SendTokens(const Deployment& d, double tokens, Phase phase, Trace& trace) {
  if (d.exchange != nullptr) return OwnKernels(d, tokens, phase, trace);
  const double ranks = d.experts_group.Ranks(), copies = d.ep > 1 ? ExpertCopies(*d.model.moe, ranks) : ranks;
  CollectiveCall call;
  call.type = CollectiveType::kAllToAll;
  call.bytes = tokens / d.tp * copies * d.hidden * 2.0 * kB;
  const Seconds one_way = TimeOf(call, d.experts_group, d.cluster, trace).time;
  FIGURE(trace, exchange_time, 2 * one_way,
         (Note{"Tokens to their experts and back", "an all-to-all each way: a copy to each rank that holds one of a token's experts"}),
         one_way);
  // Experts that all devices share need all tokens everywhere.
  return {NetworkTime(exchange_time), one_way, d.ep > 1 ? tokens : d.attention_dp * tokens};
}

KernelTime ContextExchange(const Deployment& d, double rows, Trace& trace) {
  KernelTime kernel;
  if (d.cp <= 1) return kernel;
  const double latent = d.model.mla ? static_cast<double>(d.model.mla->kv_lora_rank) : d.head_dim;
  const Bytes element = 2.0 * kB;
  CollectiveCall call;
  call.type = CollectiveType::kAllGather;
  call.bytes = rows * d.core_heads * latent * element;
  const Seconds queries = TimeOf(call, d.context_group, d.cluster, trace).time;
  call.type = CollectiveType::kReduceScatter;
  const Seconds answers = TimeOf(call, d.context_group, d.cluster, trace).time;
  FIGURE(trace, context_exchange, queries + answers,
         (Note{"Queries to the parts of a context and answers back", "each rank attends to its part; sums are weighted and added",
               "Helix parallelism, arXiv 2507.07120"}),
         queries, answers);
  kernel.time = context_exchange;
  kernel.bound = Bound::kNetwork;
  return kernel;
}

KernelTime StageHop(const Deployment& d, double rows, Trace& trace) {
  KernelTime kernel;
  if (d.pp <= 1) return kernel;
  const double hidden = d.hidden;
  const Bytes element = 2.0 * kB;
  const Seconds start = 15 * kUs;
  const BytesPerSecond link = d.hop;
  FIGURE(trace, hop_time, start + rows * hidden * element / (0.8 * link),
         (Note{"Activations to the next stage", "a send and its launch; estimate"}), start, rows, hidden, element, link);
  kernel.time = hop_time;
  kernel.bound = Bound::kNetwork;
  return kernel;
}

}  // namespace slipstick
