#include "core/collectives/moe_exchange.h"

namespace slipstick {
namespace {

constexpr std::string_view kDeepEp = "fitted to DeepEP tables of ai-dynamo/aiconfigurator at 095f58a; kernels of deepseek-ai/DeepEP";
constexpr std::string_view kTrtllm = "fitted to TensorRT-LLM NVLink all-to-all tables of GB200 in ai-dynamo/aiconfigurator at 095f58a";

constexpr double kHeaderBytes = 16;  // of a message

struct LowLatencyRow {
  Architecture architecture;
  bool is_combine;
  Seconds setup, experts;  // of a call; of 256 experts' counters
  double link_rate, nic_rate;
  Seconds node, cast;  // of leaving the node; of quantising a token of 4,096 elements
};
constexpr std::array<LowLatencyRow, 6> kLowLatency{{
    {Architecture::kHopper, false, 8.2 * kUs, 3.7 * kUs, 0.65, 0.96, 8.3 * kUs, 0.67 * kUs},
    {Architecture::kHopper, true, 10.1 * kUs, 1.4 * kUs, 0.56, 0.92, 9.3 * kUs, 0 * kUs},
    {Architecture::kBlackwell, false, 11.5 * kUs, 6.6 * kUs, 0.66, 0.94, 9 * kUs, 0.77 * kUs},
    {Architecture::kBlackwell, true, 13.5 * kUs, 3.6 * kUs, 0.8, 0.94, 9 * kUs, 0 * kUs},
    {Architecture::kGeneric, false, 10 * kUs, 5 * kUs, 0.65, 0.94, 9 * kUs, 0.75 * kUs},
    {Architecture::kGeneric, true, 12 * kUs, 3 * kUs, 0.68, 0.94, 9 * kUs, 0 * kUs},
}};

struct NormalRow {
  Architecture architecture;
  bool is_combine;
  Seconds setup;
  double link_rate;
  BytesPerSecond unit_rate;  // of one SM
  double nic_rate;
  Seconds node;
};
constexpr std::array<NormalRow, 6> kNormal{{
    {Architecture::kHopper, false, 29 * kUs, 0.66, 17 * kGBps, 0.74, 4 * kUs},
    {Architecture::kHopper, true, 42 * kUs, 0.71, 17 * kGBps, 0.77, 5 * kUs},
    {Architecture::kBlackwell, false, 36 * kUs, 0.66, 14.3 * kGBps, 0.74, 4 * kUs},
    {Architecture::kBlackwell, true, 47 * kUs, 0.71, 17.6 * kGBps, 0.77, 5 * kUs},
    {Architecture::kGeneric, false, 29 * kUs, 0.66, 17 * kGBps, 0.74, 4 * kUs},
    {Architecture::kGeneric, true, 42 * kUs, 0.71, 17 * kGBps, 0.77, 5 * kUs},
}};

// Of one-sided kernels.
struct DomainRow {
  bool is_combine;
  Seconds setup, step;
  double link_rate, own_cost;  // what a byte that stays costs, over a byte at the link's full bandwidth
};
constexpr std::array<DomainRow, 2> kDomain{{{false, 11.7 * kUs, 1.75 * kUs, 0.63, 0.54}, {true, 10.7 * kUs, 3.8 * kUs, 0.66, 0}}};

template <class Rows>
const auto& RowFor(const Rows& rows, Architecture architecture, bool is_combine) {
  const auto* generic = &rows.back();
  for (const auto& row : rows) {
    if (row.is_combine != is_combine) continue;
    if (row.architecture == architecture) return row;
    if (row.architecture == Architecture::kGeneric) generic = &row;
  }
  return *generic;
}

Seconds LowLatency(const ExpertExchange& exchange, Trace& trace) {
  const LowLatencyRow& row = RowFor(kLowLatency, exchange.architecture, exchange.is_combine);
  const double tokens = exchange.tokens, top_k = exchange.top_k, experts = exchange.experts, hidden = exchange.hidden;
  const double link_rate = row.link_rate, nic_rate = row.nic_rate, nodes = exchange.nodes;
  const Bytes message = (exchange.hidden * exchange.element_bytes + kHeaderBytes) * kB;
  const Seconds setup = row.setup, of_experts = row.experts, node = row.node, cast = row.cast;
  const BytesPerSecond link = exchange.link, nic = exchange.nic;
  FIGURE(trace, in_domain, tokens * top_k * message / (link_rate * link),
         (Note{"Messages over the scale-up link", "a copy for each expert", kDeepEp}), tokens, top_k, message, link_rate, link);
  FIGURE(trace, quantise, tokens * cast * (hidden / 4096) / ceil(experts / 3),
         (Note{"Quantising, three experts a thread block", "", kDeepEp}), tokens, cast, hidden, experts);
  FIGURE(trace, start, setup + of_experts * (experts / 256), (Note{"Start, and counters of all experts", "", kDeepEp}), setup, of_experts,
         experts);
  if (nodes <= 1) {
    FIGURE(trace, exchange_time, start + max(in_domain, quantise), (Note{"Low-latency exchange in one domain", "", kDeepEp}), start,
           in_domain, quantise);
    return exchange_time;
  }
  FIGURE(trace, between, tokens * top_k * message * (nodes - 1) / nodes / (nic_rate * nic), (Note{"Messages over the NIC", "", kDeepEp}),
         tokens, top_k, message, nodes, nic_rate, nic);
  FIGURE(trace, exchange_time, start + node * (1 + log2(nodes)) / 2 + max(in_domain, between, quantise),
         (Note{"Low-latency exchange over nodes", "1 to 8 nodes, within 8 %", kDeepEp}), start, node, nodes, in_domain, between, quantise);
  return exchange_time;
}

Seconds Normal(const ExpertExchange& exchange, Trace& trace) {
  const NormalRow& row = RowFor(kNormal, exchange.architecture, exchange.is_combine);
  const double tokens = exchange.tokens, nodes = exchange.nodes, units = exchange.kernel_units;
  const double link_rate = row.link_rate, nic_rate = row.nic_rate;
  const Bytes message = (exchange.hidden * exchange.element_bytes + kHeaderBytes) * kB;
  const double ranks_reached = PlacesReached(exchange.ranks_in_node * nodes, exchange.top_k);
  const double nodes_reached = min(exchange.most_nodes, PlacesReached(nodes, exchange.top_k));
  const Seconds setup = row.setup, node = row.node;
  const BytesPerSecond link = exchange.link, nic = exchange.nic, unit_rate = row.unit_rate;
  FIGURE(trace, in_domain, tokens * ranks_reached * message / min(link_rate * link, units * unit_rate),
         (Note{"A token once to each rank that needs it", "the link, or the units given to the kernel", kDeepEp}), tokens, ranks_reached,
         message, link_rate, link, units, unit_rate);
  if (nodes <= 1) {
    FIGURE(trace, exchange_time, setup + in_domain, (Note{"Normal exchange in one domain", "within 15 %", kDeepEp}), setup, in_domain);
    return exchange_time;
  }
  FIGURE(trace, between, tokens * nodes_reached * (nodes - 1) / nodes * message / (nic_rate * nic),
         (Note{"A token once to each node that needs it", "", kDeepEp}), tokens, nodes_reached, nodes, message, nic_rate, nic);
  FIGURE(trace, exchange_time, setup + nodes * node + max(in_domain, between),
         (Note{"Normal exchange over nodes", "2 and 4 nodes within 20 %; 8 nodes wait for each other and take up to 2.5 times as long",
               kDeepEp}),
         setup, nodes, node, in_domain, between);
  return exchange_time;
}

Seconds Domain(const ExpertExchange& exchange, Trace& trace) {
  const DomainRow& row = kDomain[exchange.is_combine ? 1 : 0];
  const double tokens = exchange.tokens, ranks = exchange.ranks_in_node * exchange.nodes;
  const double reached = PlacesReached(ranks, exchange.top_k), link_rate = row.link_rate, own_cost = row.own_cost;
  const Bytes message = exchange.hidden * exchange.element_bytes * kB;
  const Seconds setup = row.setup, step = row.step;
  const BytesPerSecond link = exchange.link;
  FIGURE(trace, exchange_time,
         setup + step * log2(ranks) + tokens * reached * message / link * ((1 - 1 / ranks) / link_rate + own_cost / ranks),
         (Note{"Exchange in one scale-up domain", "2 to 32 ranks, one-sided kernels, within 8 %", kTrtllm}), setup, step, ranks, tokens,
         reached, message, link, link_rate, own_cost);
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
