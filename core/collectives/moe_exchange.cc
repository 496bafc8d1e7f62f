#include "core/collectives/moe_exchange.h"

#include "core/base/figure.h"
#include "core/collectives/group_view.h"
#include "core/operators/efficiency.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

// Each message starts with its address and count; their size is estimated.
constexpr double kHeaderBytes = 16;

std::string_view SourceOr(std::string_view source) { return source.empty() ? kFamilySource : source; }

Bytes MessageOf(const ExpertExchange& exchange) {
  return Figure("A token on the wire", (exchange.hidden * exchange.element_bytes + kHeaderBytes) * kB,
                "with its header: address and count, estimated");
}

ExpertExchangeTime LowLatency(const ExpertExchange& exchange, const LowLatencyRow& fitted, std::string_view source) {
  const Ratio tokens = exchange.tokens, experts = exchange.experts, nodes = exchange.nodes;
  const Ratio ranks_in_node = exchange.ranks_in_node;
  const Bytes sent = Figure("Bytes that a device sends", tokens * exchange.top_k * MessageOf(exchange),
                            "one copy of a token per expert", source);
  const Bytes inside = Figure("Bytes that a device sends to others of its node", sent / nodes * (1 - 1 / ranks_in_node),
                              "experts spread evenly");
  const Seconds in_domain = Figure("Time of the scale-up link", inside / (fitted.link_efficiency * exchange.link));
  const Seconds start =
      Figure("Setup, and counters of all experts", fitted.setup + fitted.per_256_experts * (experts / 256), "", source);
  if (nodes <= 1) {
    return {Figure("Low-latency exchange in one domain", start + in_domain, "", source), inside};
  }
  const Bytes outside =
      Figure("Bytes that a device sends to other nodes", sent * (nodes - 1) / nodes, "experts spread evenly");
  const Seconds between = Figure("Time of the NIC", outside / (fitted.nic_efficiency * exchange.nic));
  const Seconds time = Figure("Low-latency exchange over nodes",
                              start + fitted.internode * (1 + log2(nodes)) / 2 + max(in_domain, between),
                              "1 to 8 nodes, within 14 % in the mean", source);
  return {time, outside};
}

ExpertExchangeTime Normal(const ExpertExchange& exchange, const NormalRow& fitted, std::string_view source) {
  const Ratio tokens = exchange.tokens, nodes = exchange.nodes, units = exchange.kernel_units;
  const Bytes message = MessageOf(exchange);
  const Ratio ranks = Figure("Ranks that share the experts", exchange.ranks_in_node * nodes);
  const Ratio ranks_reached = OwnersReached(ranks, exchange.top_k);
  const Ratio nodes_reached =
      Figure("Nodes that hold experts of a token",
             min(exchange.max_nodes_per_token, OwnersReached(nodes, exchange.top_k)), "at most the routing's limit");
  const Bytes sent = Figure("Bytes that a device sends", tokens * ranks_reached * message,
                            "one copy of a token per rank that needs it", source);
  if (nodes <= 1) {
    const Seconds in_domain =
        Figure("Time of the scale-up link", sent / min(fitted.link_efficiency * exchange.link, units * fitted.sm_rate),
               "at its bandwidth, or at that of the kernel's SMs");
    return {Figure("Normal exchange in one domain", fitted.setup + in_domain, "within 15 %", source), sent};
  }
  const Seconds of_link = Figure("Time of the scale-up link", sent / (fitted.link_efficiency * exchange.link));
  const double node_copies = exchange.is_combine ? 2 : 1;
  const Seconds of_units =
      Figure("Time of the kernel's SMs",
             tokens * (ranks_reached + node_copies * nodes_reached) * message / (units * fitted.sm_rate),
             "a copy per rank; and per node one to send, of combine another to add what arrives");
  const Bytes outside =
      Figure("Bytes that a device sends to other nodes", tokens * nodes_reached * (nodes - 1) / nodes * message,
             "one copy of a token per node that needs it", source);
  const Seconds between = Figure("Time of the NIC", outside / (fitted.nic_efficiency * exchange.nic));
  const Seconds time =
      Figure("Normal exchange over nodes", fitted.setup + nodes * fitted.per_node + max(of_link, of_units, between),
             "2 and 4 nodes within 15 % in the mean; 8 nodes wait for each other: up to 2.5 times longer", source);
  return {time, outside};
}

ExpertExchangeTime Domain(const ExpertExchange& exchange, const DomainRow& fitted, std::string_view source) {
  const Ratio ranks = Figure("Ranks that share the experts", exchange.ranks_in_node * exchange.nodes);
  const Bytes message = Figure("A token on the wire", exchange.hidden * exchange.element_bytes * kB);
  const Bytes copied = Figure("Bytes of a device", exchange.tokens * OwnersReached(ranks, exchange.top_k) * message,
                              "one copy of a token per rank that needs it", source);
  const Seconds time = Figure("Exchange in one scale-up domain",
                              fitted.setup + fitted.per_doubling * log2(ranks) +
                                  copied / exchange.link * (1 - 1 / ranks) / fitted.link_efficiency,
                              "2 to 32 ranks, one-sided kernels, within 11 % in the mean", source);
  return {time, copied * (1 - 1 / ranks)};
}

ExpertExchangeTime OnDirectWires(const ExpertExchange& exchange, const ExpertExchangeTable& table) {
  switch (exchange.kernel) {
    case ExchangeKernel::kLowLatency:
      return LowLatency(exchange, table.low_latency, SourceOr(table.source));
    case ExchangeKernel::kNormal:
      return Normal(exchange, table.normal, SourceOr(table.source));
    case ExchangeKernel::kDomain:
      break;
  }
  return Domain(exchange, table.domain, SourceOr(table.domain_source));
}

// Wires of one level: the rate of an exchange, and the latency of a route's wires after the first.
struct LevelWires {
  BytesPerSecond rate;
  Seconds farther;
};
LevelWires WiresOf(const LevelView& view) {
  const NetworkLevel& level = *view.level;
  const auto [detour, hops] = WireLoadOf(view);
  LevelWires wires{level.bandwidth, {}};
  if (view.injection != level.bandwidth || detour != 1)
    wires.rate = Figure("Rate of an exchange over this wiring", view.injection / detour,
                        "links of a rank into its group, over detours and oversubscription");
  if (hops != 1) wires.farther = (hops - 1) * (level.hop_latency.value_or(level.latency) * view.spacing);
  return wires;
}

}  // namespace

void SetWires(const GroupView& group, const Cluster& cluster, ExpertExchange& exchange) {
  exchange.ranks_in_node = 1;
  exchange.nodes = group.nodes;
  exchange.link = exchange.nic = cluster.networks.front().bandwidth;
  Seconds inside, between;
  const LevelView* slowest = nullptr;
  for (int i = 0; i < group.count; ++i) {
    const LevelView& level = group.levels[i];
    const LevelWires wires = WiresOf(level);
    if (level.index == 0) {
      exchange.ranks_in_node = level.ranks;
      exchange.link = wires.rate;
      inside = wires.farther;
    } else if (slowest == nullptr || wires.rate < exchange.nic) {
      slowest = &level;
      exchange.nic = wires.rate;
      between = wires.farther;
    }
  }
  exchange.farther = Figure("Wires beyond the first", inside + between, "inside a node and between nodes");
}

ExpertExchangeTime TimeOf(const ExpertExchange& exchange) {
  return TimeOf(exchange, exchange.architecture->expert_exchange);
}

ExpertExchangeTime TimeOf(const ExpertExchange& exchange, const ExpertExchangeTable& table) {
  if (exchange.ranks_in_node * exchange.nodes <= 1) return {};
  ExpertExchangeTime made = OnDirectWires(exchange, table);
  if (exchange.farther > Seconds())
    made.time = Figure("Exchange over several wires in a row", made.time + exchange.farther);
  return made;
}

}  // namespace slipstick
