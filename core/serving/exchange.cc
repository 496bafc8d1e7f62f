#include "core/serving/exchange.h"

namespace slipstick {

ExchangeCost AllReduce(const Deployment& d, Bytes bytes, bool waits_for_host, Trace& trace) {
  ExchangeCost exchange;
  if (d.devices_per_group <= 1) return exchange;
  CollectiveCall call;
  call.pattern = Pattern::kAllReduce;
  call.bytes = bytes;
  call.custom = d.custom;
  // Hosts launch apart: the wait for the last of them grows with every doubling of the ranks.
  if (waits_for_host) call.launch = d.engine.nccl_launch * log2(d.tensor_group.Ranks());
  const CollectiveTime taken = TimeOf(call, d.tensor_group, d.cluster, trace);
  exchange.kernel.time = taken.time;
  exchange.kernel.bound = Bound::kNetwork;
  exchange.launched_apart = d.custom == nullptr;
  if (d.custom != nullptr) {
    // Ranks do not arrive together.
    const Seconds reduction = taken.time, skew = d.engine.rank_skew;
    FIGURE(trace, reduction_time, reduction + skew, (Note{"All-reduce inside a step", "its time alone and the wait for the last rank"}),
           reduction, skew);
    exchange.kernel.time = reduction_time;
  }
  return exchange;
}

KernelTime ExpertExchange(const Deployment& d, double tokens, Trace& trace) {
  KernelTime kernel;
  if (d.attention_dp <= 1) return kernel;
  const double ranks = d.experts_group.Ranks();
  const double hidden = d.hidden;
  const Bytes element = 2.0 * kB;
  // Every rank gathers the tokens of all groups and sums the experts' answers back: what a group of any experts needs.
  const double groups = d.attention_dp;
  FIGURE(trace, gathered, groups * tokens * hidden * element, (Note{"Tokens of all attention groups", ""}), groups, tokens, hidden,
         element);
  CollectiveCall call;
  call.pattern = Pattern::kAllGather;
  call.bytes = gathered;
  const Seconds gather = TimeOf(call, d.experts_group, d.cluster, trace).time;
  call.pattern = Pattern::kReduceScatter;
  const Seconds scatter = TimeOf(call, d.experts_group, d.cluster, trace).time;
  // Or only the experts' own tokens travel: a copy to each rank that holds one of them.
  const auto chosen = static_cast<double>(d.model.moe->top_k);
  const double copies = d.ep > 1 ? ranks * (1 - pow(1 - 1 / ranks, chosen)) : ranks;
  call.pattern = Pattern::kAllToAll;
  call.bytes = tokens / d.tp * copies * hidden * element;
  const Seconds one_way = TimeOf(call, d.experts_group, d.cluster, trace).time;
  FIGURE(trace, exchange_time, min(gather + scatter, 2 * one_way),
         (Note{"Tokens to their experts and back", "all-gather and reduce-scatter, or all-to-all twice"}), gather, scatter, one_way);
  kernel.time = exchange_time;
  kernel.bound = Bound::kNetwork;
  return kernel;
}

KernelTime ContextExchange(const Deployment& d, double rows, Trace& trace) {
  KernelTime kernel;
  if (d.cp <= 1) return kernel;
  const double latent = d.model.mla ? static_cast<double>(d.model.mla->kv_lora_rank) : d.head_dim;
  const Bytes element = 2.0 * kB;
  CollectiveCall call;
  call.pattern = Pattern::kAllGather;
  call.bytes = rows * d.core_heads * latent * element;
  const Seconds queries = TimeOf(call, d.context_group, d.cluster, trace).time;
  call.pattern = Pattern::kReduceScatter;
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
