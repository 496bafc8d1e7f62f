#include "core/collectives/moe_exchange.h"

#include <string>

#include "core/base/sum.h"
#include "core/collectives/library_network.h"
#include "core/operators/efficiency.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

constexpr double kHeaderBytes = 16;  // per message

std::string TableOf(const ExpertExchange& exchange, std::string_view row) {
  return "kernels." + exchange.architecture->id + ".expert_exchange." + std::string(row);
}

// A token on the wire.
Bytes MessageOf(const ExpertExchange& exchange, double header, Trace& trace) {
  const double hidden = exchange.hidden, element_bytes = exchange.element_bytes;
  if (header <= 0) {
    FIGURE(trace, message, hidden * element_bytes * kB, (Note{"A token on the wire", ""}), hidden, element_bytes);
    return message;
  }
  CONSTANTS(trace, "expert_exchange", "estimate: address and count of a message", header);
  FIGURE(trace, message, (hidden * element_bytes + header) * kB, (Note{"A token on the wire", "with its header"}),
         hidden, element_bytes, header);
  return message;
}

ExpertExchangeTime LowLatency(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const LowLatencyRow& row = exchange.is_combine ? table.low_latency_combine : table.low_latency_dispatch;
  const Trace::Citing citing(trace, table.source);
  const double tokens = exchange.tokens, top_k = exchange.top_k, held_experts = exchange.experts,
               hidden = exchange.hidden;
  const double link_efficiency = row.link_efficiency, nic_efficiency = row.nic_efficiency, nodes = exchange.nodes,
               ranks_in_node = exchange.ranks_in_node;
  const Bytes message = MessageOf(exchange, kHeaderBytes, trace);
  const Seconds setup = row.setup, step = row.per_doubling, of_experts = row.per_256_experts, node = row.internode,
                cast = row.quantize_token;
  const BytesPerSecond link = exchange.link, nic = exchange.nic;
  CONSTANTS(trace, TableOf(exchange, exchange.is_combine ? "low_latency_combine" : "low_latency_dispatch"),
            table.source, link_efficiency, nic_efficiency, setup, step, of_experts, node, cast);
  FIGURE(trace, sent, tokens * top_k * message,
         (Note{"Bytes that a device sends", "one copy of a token per expert", kFamilySource}), tokens, top_k, message);
  FIGURE(trace, sent_inside, sent / nodes * (1 - 1 / ranks_in_node),
         (Note{"Bytes that a device sends to others of its node", "experts spread evenly"}), sent, nodes,
         ranks_in_node);
  FIGURE(trace, in_domain, sent_inside / (link_efficiency * link), (Note{"Time of the scale-up link", ""}), sent_inside,
         link_efficiency, link);
  FIGURE(trace, quantize, tokens * cast * (hidden / 4096) / ceil(held_experts / 3),
         (Note{"Quantization, three experts per thread block", "", kFamilySource}), tokens, cast, hidden, held_experts);
  FIGURE(trace, start, setup + step * log2(ranks_in_node) + of_experts * (held_experts / 256),
         (Note{"Setup, and counters of all experts", "", kFamilySource}), setup, step, ranks_in_node, of_experts,
         held_experts);
  if (nodes <= 1) {
    FIGURE(trace, exchange_time, start + max(in_domain, quantize),
           (Note{"Low-latency exchange in one domain", "", kFamilySource}), start, in_domain, quantize);
    return {exchange_time, sent_inside};
  }
  FIGURE(trace, sent_between, sent * (nodes - 1) / nodes,
         (Note{"Bytes that a device sends to other nodes", "experts spread evenly"}), sent, nodes);
  FIGURE(trace, between, sent_between / (nic_efficiency * nic), (Note{"Time of the NIC", ""}), sent_between,
         nic_efficiency, nic);
  FIGURE(trace, exchange_time, start + node * (1 + log2(nodes)) / 2 + max(in_domain, between, quantize),
         (Note{"Low-latency exchange over nodes", "1 to 8 nodes, within 8 %", kFamilySource}), start, node, nodes,
         in_domain, between, quantize);
  return {exchange_time, sent_between};
}

ExpertExchangeTime Normal(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const NormalRow& row = exchange.is_combine ? table.normal_combine : table.normal_dispatch;
  const Trace::Citing citing(trace, table.source);
  const double tokens = exchange.tokens, nodes = exchange.nodes, kernel_units = exchange.kernel_units;
  const double link_efficiency = row.link_efficiency, nic_efficiency = row.nic_efficiency,
               node_copies = row.node_copies;
  const Bytes message = MessageOf(exchange, kHeaderBytes, trace);
  const double ranks_in_node = exchange.ranks_in_node;
  FIGURE(trace, ranks, ranks_in_node * nodes, (Note{"Ranks that share the experts", ""}), ranks_in_node, nodes);
  const double ranks_reached = OwnersReached("ranks_reached", ranks, "ranks", exchange.top_k, trace);
  const double all_nodes_reached = OwnersReached("all_nodes_reached", nodes, "nodes", exchange.top_k, trace),
               node_limit = exchange.max_nodes_per_token;
  FIGURE(trace, nodes_reached, min(node_limit, all_nodes_reached),
         (Note{"Nodes that hold experts of a token", "at most the routing's limit"}), node_limit, all_nodes_reached);
  const Seconds setup = row.setup, node = row.per_node;
  const BytesPerSecond link = exchange.link, nic = exchange.nic, sm_rate = row.sm_rate;
  CONSTANTS(trace, TableOf(exchange, exchange.is_combine ? "normal_combine" : "normal_dispatch"), table.source,
            link_efficiency, nic_efficiency, node_copies, setup, node, sm_rate);
  FIGURE(trace, sent, tokens * ranks_reached * message,
         (Note{"Bytes that a device sends", "one copy of a token per rank that needs it", kFamilySource}), tokens,
         ranks_reached, message);
  if (nodes <= 1) {
    FIGURE(trace, in_domain, sent / min(link_efficiency * link, kernel_units * sm_rate),
           (Note{"Time of the scale-up link", "at its bandwidth, or at that of the kernel's SMs"}), sent,
           link_efficiency, link, kernel_units, sm_rate);
    FIGURE(trace, exchange_time, setup + in_domain,
           (Note{"Normal exchange in one domain", "within 15 %", kFamilySource}), setup, in_domain);
    return {exchange_time, sent};
  }
  FIGURE(trace, of_link, sent / (link_efficiency * link), (Note{"Time of the scale-up link", ""}), sent,
         link_efficiency, link);
  FIGURE(trace, of_units, tokens * (ranks_reached + node_copies * nodes_reached) * message / (kernel_units * sm_rate),
         (Note{"Time of the kernel's SMs",
               "a copy per rank; and per node one to send, of combine another to add what arrives"}),
         tokens, ranks_reached, node_copies, nodes_reached, message, kernel_units, sm_rate);
  FIGURE(
      trace, sent_between, tokens * nodes_reached * (nodes - 1) / nodes * message,
      (Note{"Bytes that a device sends to other nodes", "one copy of a token per node that needs it", kFamilySource}),
      tokens, nodes_reached, nodes, message);
  FIGURE(trace, between, sent_between / (nic_efficiency * nic), (Note{"Time of the NIC", ""}), sent_between,
         nic_efficiency, nic);
  FIGURE(trace, exchange_time, setup + nodes * node + max(of_link, of_units, between),
         (Note{"Normal exchange over nodes",
               "2 and 4 nodes within 8 % in the mean; 8 nodes wait for each other: up to 2.5 times longer",
               kFamilySource}),
         setup, nodes, node, of_link, of_units, between);
  return {exchange_time, sent_between};
}

ExpertExchangeTime Domain(const ExpertExchange& exchange, Trace& trace) {
  const ExpertExchangeTable& table = exchange.architecture->expert_exchange;
  const DomainRow& row = exchange.is_combine ? table.domain_combine : table.domain_dispatch;
  const Trace::Citing citing(trace, table.domain_source);
  const double tokens = exchange.tokens, ranks_in_node = exchange.ranks_in_node, nodes = exchange.nodes;
  FIGURE(trace, ranks, ranks_in_node * nodes, (Note{"Ranks that share the experts", ""}), ranks_in_node, nodes);
  const double reached = OwnersReached("reached", ranks, "ranks", exchange.top_k, trace),
               link_efficiency = row.link_efficiency, local_copy_cost = row.local_copy_cost;
  const Bytes message = MessageOf(exchange, 0, trace);
  const Seconds setup = row.setup, step = row.per_doubling;
  const BytesPerSecond link = exchange.link;
  CONSTANTS(trace, TableOf(exchange, exchange.is_combine ? "domain_combine" : "domain_dispatch"), table.domain_source,
            link_efficiency, local_copy_cost, setup, step);
  FIGURE(trace, copied, tokens * reached * message,
         (Note{"Bytes of a device", "one copy of a token per rank that needs it", kFamilySource}), tokens, reached,
         message);
  FIGURE(trace, exchange_time,
         setup + step * log2(ranks) + copied / link * ((1 - 1 / ranks) / link_efficiency + local_copy_cost / ranks),
         (Note{"Exchange in one scale-up domain", "2 to 32 ranks, one-sided kernels, within 8 %", kFamilySource}),
         setup, step, ranks, copied, link, link_efficiency, local_copy_cost);
  return {exchange_time, copied * (1 - 1 / ranks)};
}

// Of the wires of one level: the rate of an exchange, bound to `symbol`, and the latency of those beyond the first on a
// route.
struct LevelWires {
  BytesPerSecond rate;
  Seconds farther;
};
LevelWires WiresOf(const LevelView& view, double devices, std::string_view symbol, std::string_view farther_symbol,
                   Trace& trace) {
  const NetworkLevel& level = *view.level;
  const std::string path = trace.on() ? "cluster.networks." + std::to_string(view.index) : "";
  const WireLoad wires = WireLoadOf(view);
  const double detour = wires.detour, hops = wires.hops;
  const double oversubscription =
      level.topology == Topology::kFatTree && view.leaf < view.ranks ? level.oversubscription : Ratio(1);
  const Seconds hop = level.hop_latency.value_or(level.latency) * view.spacing;
  const bool is_direct = view.injection == level.bandwidth && detour == 1 && oversubscription == 1;
  if (is_direct) trace.Input(symbol, level.bandwidth, path + ".bandwidth");
  if (is_direct && hops == 1) return {level.bandwidth, {}};
  const Trace::Scope scope(trace, symbol);
  trace.Alias("ranks", view.ranks, view.index == 0 ? "inner_ranks" : "nodes");
  BindWireLoad(view, devices, trace);
  if (trace.on()) trace.Input("hop", hop, path + (level.hop_latency ? ".hop_latency" : ".latency"));
  FIGURE(trace, farther, (hops - 1) * hop, (Note{"Wires beyond the first", "on the longest route"}), hops, hop);
  trace.Alias(farther_symbol, farther, "farther");
  if (is_direct) return {level.bandwidth, farther};
  const BytesPerSecond own = view.injection;
  if (trace.on()) {
    BindBandwidth("own", view, own, devices, trace);
    trace.Input("oversubscription", oversubscription, path + ".oversubscription");
  }
  FIGURE(trace, rate, own / (detour * oversubscription),
         (Note{"Rate of an exchange over this wiring",
               "links of a rank into its group, over detours and oversubscription"}),
         own, detour, oversubscription);
  trace.Alias(symbol, rate, "rate");
  return {rate, farther};
}

}  // namespace

void SetWires(const GroupPlacement& group, const Cluster& cluster, ExpertExchange& exchange, Trace& trace) {
  const GroupView view = ViewOf(group, cluster);
  exchange.ranks_in_node = group.extent.front();
  exchange.nodes = group.Ranks() / exchange.ranks_in_node;
  exchange.link = exchange.nic = cluster.networks.front().bandwidth;
  if (exchange.ranks_in_node <= 1) trace.Input("link", exchange.link, "cluster.networks.0.bandwidth");
  Seconds inside, between;
  const LevelView* slowest = nullptr;
  Trace off = Trace::Off();
  for (int i = 0; i < view.count; ++i) {
    const LevelView& level = view.levels[i];
    if (level.index == 0) {
      const LevelWires wires = WiresOf(level, view.devices, "link", "inside", trace);
      exchange.link = wires.rate;
      inside = wires.farther;
      continue;
    }
    const LevelWires wires = WiresOf(level, view.devices, "nic", "between", off);
    if (slowest != nullptr && !(wires.rate < exchange.nic)) continue;
    slowest = &level;
    exchange.nic = wires.rate;
    between = wires.farther;
  }
  if (trace.on() && slowest != nullptr) WiresOf(*slowest, view.devices, "nic", "between", trace);
  const Seconds none{};
  if (!(inside + between > none)) return;
  exchange.farther = Sum<Seconds>(trace, "farther", Note{"Wires beyond the first", "inside a node and between nodes"},
                                  {{"inside", inside, inside > none}, {"between", between, between > none}});
}

ExpertExchange ExchangeOf(const Model& model, const Cluster& cluster, const GroupPlacement& group, Trace& trace) {
  const Moe& moe = *model.moe;
  ExpertExchange exchange;
  exchange.top_k = static_cast<double>(moe.top_k);
  exchange.experts = static_cast<double>(moe.experts);
  exchange.hidden = RoutedWidth(model, trace);
  SetWires(group, cluster, exchange, trace);
  exchange.max_nodes_per_token = moe.node_limit > 0 ? static_cast<double>(moe.node_limit) : exchange.nodes;
  exchange.architecture = cluster.device.architecture;
  trace.Alias("ranks_in_node", exchange.ranks_in_node, "inner_ranks");
  trace.Alias("node_limit", exchange.nodes, "nodes");
  if (moe.node_limit > 0) trace.Input("node_limit", exchange.max_nodes_per_token, "model.moe.node_limit");
  return exchange;
}

namespace {

ExpertExchangeTime OnDirectWires(const ExpertExchange& exchange, Trace& trace) {
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

}  // namespace

ExpertExchangeTime TimeOf(const ExpertExchange& exchange, Trace& trace) {
  if (exchange.ranks_in_node * exchange.nodes <= 1) return {};
  const ExpertExchangeTime made = OnDirectWires(exchange, trace);
  const Seconds direct_time = made.time, farther = exchange.farther;
  if (!(farther > Seconds{})) return made;
  trace.Alias("direct_time", direct_time, "exchange_time");
  FIGURE(trace, exchange_time, direct_time + farther, (Note{"Exchange over several wires in a row"}), direct_time,
         farther);
  return {exchange_time, made.bytes};
}

}  // namespace slipstick
