#include "core/collectives/moe_exchange.h"

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr double kHeaderBytes = 16;  // of a message

Seconds LowLatency(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const LowLatencyRow& row = exchange.is_combine ? table.low_latency_combine : table.low_latency_dispatch;
  const Trace::Citing citing(trace, table.source);
  const double tokens = exchange.tokens, top_k = exchange.top_k, experts = exchange.experts, hidden = exchange.hidden;
  const double link_rate = row.link, nic_rate = row.nic, nodes = exchange.nodes;
  const Bytes message = (exchange.hidden * exchange.element_bytes + kHeaderBytes) * kB;
  const Seconds setup = row.setup, of_experts = row.experts, node = row.node, cast = row.cast;
  const BytesPerSecond link = exchange.link, nic = exchange.nic;
  FIGURE(trace, in_domain, tokens * top_k * message / (link_rate * link),
         (Note{"Messages over the scale-up link", "a copy for each expert", kFamilySource}), tokens, top_k, message, link_rate, link);
  FIGURE(trace, quantise, tokens * cast * (hidden / 4096) / ceil(experts / 3),
         (Note{"Quantising, three experts a thread block", "", kFamilySource}), tokens, cast, hidden, experts);
  FIGURE(trace, start, setup + of_experts * (experts / 256), (Note{"Start, and counters of all experts", "", kFamilySource}), setup,
         of_experts, experts);
  if (nodes <= 1) {
    FIGURE(trace, exchange_time, start + max(in_domain, quantise), (Note{"Low-latency exchange in one domain", "", kFamilySource}), start,
           in_domain, quantise);
    return exchange_time;
  }
  FIGURE(trace, between, tokens * top_k * message * (nodes - 1) / nodes / (nic_rate * nic),
         (Note{"Messages over the NIC", "", kFamilySource}), tokens, top_k, message, nodes, nic_rate, nic);
  FIGURE(trace, exchange_time, start + node * (1 + log2(nodes)) / 2 + max(in_domain, between, quantise),
         (Note{"Low-latency exchange over nodes", "1 to 8 nodes, within 8 %", kFamilySource}), start, node, nodes, in_domain, between,
         quantise);
  return exchange_time;
}

Seconds Normal(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const NormalRow& row = exchange.is_combine ? table.normal_combine : table.normal_dispatch;
  const Trace::Citing citing(trace, table.source);
  const double tokens = exchange.tokens, nodes = exchange.nodes, units = exchange.kernel_units;
  const double link_rate = row.link, nic_rate = row.nic;
  const Bytes message = (exchange.hidden * exchange.element_bytes + kHeaderBytes) * kB;
  const double ranks_reached = PlacesReached(exchange.ranks_in_node * nodes, exchange.top_k);
  const double nodes_reached = min(exchange.most_nodes, PlacesReached(nodes, exchange.top_k));
  const Seconds setup = row.setup, node = row.node;
  const BytesPerSecond link = exchange.link, nic = exchange.nic, unit_rate = row.unit_rate;
  FIGURE(trace, in_domain, tokens * ranks_reached * message / min(link_rate * link, units * unit_rate),
         (Note{"A token once to each rank that needs it", "the link, or the units given to the kernel", kFamilySource}), tokens,
         ranks_reached, message, link_rate, link, units, unit_rate);
  if (nodes <= 1) {
    FIGURE(trace, exchange_time, setup + in_domain, (Note{"Normal exchange in one domain", "within 15 %", kFamilySource}), setup,
           in_domain);
    return exchange_time;
  }
  FIGURE(trace, between, tokens * nodes_reached * (nodes - 1) / nodes * message / (nic_rate * nic),
         (Note{"A token once to each node that needs it", "", kFamilySource}), tokens, nodes_reached, nodes, message, nic_rate, nic);
  FIGURE(trace, exchange_time, setup + nodes * node + max(in_domain, between),
         (Note{"Normal exchange over nodes", "2 and 4 nodes within 20 %; 8 nodes wait for each other and take up to 2.5 times as long",
               kFamilySource}),
         setup, nodes, node, in_domain, between);
  return exchange_time;
}

Seconds Domain(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const DomainRow& row = exchange.is_combine ? table.domain_combine : table.domain_dispatch;
  const Trace::Citing citing(trace, table.domain_source);
  const double tokens = exchange.tokens, ranks = exchange.ranks_in_node * exchange.nodes;
  const double reached = PlacesReached(ranks, exchange.top_k), link_rate = row.link, own_cost = row.own_cost;
  const Bytes message = exchange.hidden * exchange.element_bytes * kB;
  const Seconds setup = row.setup, step = row.step;
  const BytesPerSecond link = exchange.link;
  FIGURE(trace, exchange_time,
         setup + step * log2(ranks) + tokens * reached * message / link * ((1 - 1 / ranks) / link_rate + own_cost / ranks),
         (Note{"Exchange in one scale-up domain", "2 to 32 ranks, one-sided kernels, within 8 %", kFamilySource}), setup, step, ranks,
         tokens, reached, message, link, link_rate, own_cost);
  return exchange_time;
}

}  // namespace

double PlacesReached(double places, double top_k) { return places * (1 - pow(1 - 1 / places, top_k)); }

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
