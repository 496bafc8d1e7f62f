#include "core/collectives/moe_exchange.h"

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr double kHeaderBytes = 16;  // per message

Seconds LowLatency(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const LowLatencyRow& row = exchange.is_combine ? table.low_latency_combine : table.low_latency_dispatch;
  const Trace::Citing citing(trace, table.source);
  const double tokens = exchange.tokens, top_k = exchange.top_k, experts = exchange.experts, hidden = exchange.hidden;
  const double link_efficiency = row.link_efficiency, nic_efficiency = row.nic_efficiency, nodes = exchange.nodes;
  const Bytes message = (exchange.hidden * exchange.element_bytes + kHeaderBytes) * kB;
  const Seconds setup = row.setup, of_experts = row.per_256_experts, node = row.internode, cast = row.quantize_token;
  const BytesPerSecond link = exchange.link, nic = exchange.nic;
  FIGURE(trace, in_domain, tokens * top_k * message / (link_efficiency * link),
         (Note{"Messages over the scale-up link", "one copy per expert", kFamilySource}), tokens, top_k, message, link_efficiency, link);
  FIGURE(trace, quantize, tokens * cast * (hidden / 4096) / ceil(experts / 3),
         (Note{"Quantization, three experts per thread block", "", kFamilySource}), tokens, cast, hidden, experts);
  FIGURE(trace, start, setup + of_experts * (experts / 256), (Note{"Setup, and counters of all experts", "", kFamilySource}), setup,
         of_experts, experts);
  if (nodes <= 1) {
    FIGURE(trace, exchange_time, start + max(in_domain, quantize), (Note{"Low-latency exchange in one domain", "", kFamilySource}), start,
           in_domain, quantize);
    return exchange_time;
  }
  FIGURE(trace, between, tokens * top_k * message * (nodes - 1) / nodes / (nic_efficiency * nic),
         (Note{"Messages over the NIC", "", kFamilySource}), tokens, top_k, message, nodes, nic_efficiency, nic);
  FIGURE(trace, exchange_time, start + node * (1 + log2(nodes)) / 2 + max(in_domain, between, quantize),
         (Note{"Low-latency exchange over nodes", "1 to 8 nodes, within 8 %", kFamilySource}), start, node, nodes, in_domain, between,
         quantize);
  return exchange_time;
}

Seconds Normal(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const NormalRow& row = exchange.is_combine ? table.normal_combine : table.normal_dispatch;
  const Trace::Citing citing(trace, table.source);
  const double tokens = exchange.tokens, nodes = exchange.nodes, units = exchange.kernel_units;
  const double link_efficiency = row.link_efficiency, nic_efficiency = row.nic_efficiency;
  const Bytes message = (exchange.hidden * exchange.element_bytes + kHeaderBytes) * kB;
  const double ranks_reached = OwnersReached(exchange.ranks_in_node * nodes, exchange.top_k);
  const double nodes_reached = min(exchange.max_nodes_per_token, OwnersReached(nodes, exchange.top_k));
  const Seconds setup = row.setup, node = row.per_node;
  const BytesPerSecond link = exchange.link, nic = exchange.nic, sm_rate = row.sm_rate;
  FIGURE(trace, in_domain, tokens * ranks_reached * message / min(link_efficiency * link, units * sm_rate),
         (Note{"One copy of a token per rank that needs it", "link bandwidth, or that of the kernel's SMs", kFamilySource}), tokens,
         ranks_reached, message, link_efficiency, link, units, sm_rate);
  if (nodes <= 1) {
    FIGURE(trace, exchange_time, setup + in_domain, (Note{"Normal exchange in one domain", "within 15 %", kFamilySource}), setup,
           in_domain);
    return exchange_time;
  }
  FIGURE(trace, between, tokens * nodes_reached * (nodes - 1) / nodes * message / (nic_efficiency * nic),
         (Note{"One copy of a token per node that needs it", "", kFamilySource}), tokens, nodes_reached, nodes, message, nic_efficiency,
         nic);
  FIGURE(
      trace, exchange_time, setup + nodes * node + max(in_domain, between),
      (Note{"Normal exchange over nodes", "2 and 4 nodes within 20 %; 8 nodes wait for each other: up to 2.5 times longer", kFamilySource}),
      setup, nodes, node, in_domain, between);
  return exchange_time;
}

Seconds Domain(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const DomainRow& row = exchange.is_combine ? table.domain_combine : table.domain_dispatch;
  const Trace::Citing citing(trace, table.domain_source);
  const double tokens = exchange.tokens, ranks = exchange.ranks_in_node * exchange.nodes;
  const double reached = OwnersReached(ranks, exchange.top_k), link_efficiency = row.link_efficiency, local_copy_cost = row.local_copy_cost;
  const Bytes message = exchange.hidden * exchange.element_bytes * kB;
  const Seconds setup = row.setup, step = row.per_doubling;
  const BytesPerSecond link = exchange.link;
  FIGURE(trace, exchange_time,
         setup + step * log2(ranks) + tokens * reached * message / link * ((1 - 1 / ranks) / link_efficiency + local_copy_cost / ranks),
         (Note{"Exchange in one scale-up domain", "2 to 32 ranks, one-sided kernels, within 8 %", kFamilySource}), setup, step, ranks,
         tokens, reached, message, link, link_efficiency, local_copy_cost);
  return exchange_time;
}

}  // namespace

double OwnersReached(double owners, double top_k) { return owners * (1 - pow(1 - 1 / owners, top_k)); }

Seconds TimeOf(const ExpertExchange& exchange, Trace& trace) {
  if (exchange.ranks_in_node * exchange.nodes <= 1) return Seconds();
  switch (exchange.kernel) {
    case ExchangeKernel::kLowLatency:
      return LowLatency(exchange, trace);
    case ExchangeKernel::kNormal:
      return Normal(exchange, trace);
    case ExchangeKernel::kDomain:
      break;
  }
  return Domain(exchange, trace);
}

}  // namespace slipstick
