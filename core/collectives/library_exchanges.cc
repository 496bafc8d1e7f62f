// Communication libraries (NCCL, RCCL): direct exchange, that of routed tokens, and one message.
#include <string>

#include "core/collectives/algorithm.h"
#include "core/collectives/library_network.h"

namespace slipstick {
namespace {

// All-to-all inside one domain; `bytes`: sent per rank, its own block included.
AlgorithmTime InNodeExchange(const CollectiveInstance& instance, Bytes bytes, Trace& trace) {
  const ScaleUp scale_up = ScaleUpOf(instance);
  const LevelView& view = instance.view.levels[0];
  const double ranks = scale_up.ranks, exchange_efficiency = scale_up.exchange_efficiency,
               ll_efficiency = scale_up.fabric->all_to_all.ll_efficiency;
  const double local_copy_rate = view.level->copy_fraction.value_or(scale_up.fabric->all_to_all.local_copy_rate),
               peer_steps = scale_up.fabric->all_to_all.steps_per_peer;
  const BytesPerSecond link = scale_up.bandwidth;
  const Seconds setup = scale_up.setup + instance.call.launch, step = scale_up.step,
                simple_setup = scale_up.fabric->all_to_all.simple_setup;
  BindInputs(instance, trace);
  if (trace.on()) {
    trace.Alias("ranks", ranks, "inner_ranks");
    CONSTANTS(trace, TableOf(*scale_up.fabric), kLibrarySource, ll_efficiency, peer_steps, simple_setup);
    BindStated("local_copy_rate", local_copy_rate, view.level->copy_fraction.has_value(), view, "copy_fraction", trace);
    const double exchange_rate = scale_up.fabric->all_to_all.simple_efficiency,
                 ring_rate = scale_up.fabric->ring.simple_efficiency, simple_efficiency = scale_up.simple_efficiency;
    CONSTANTS(trace, TableOf(*scale_up.fabric), kLibrarySource, exchange_rate, ring_rate);
    trace.Record("exchange_efficiency", "exchange_rate * simple_efficiency / ring_rate", exchange_efficiency,
                 Note{"Bandwidth efficiency of an all-to-all", "as the level's rings over the fabric's"},
                 "exchange_rate, simple_efficiency, ring_rate", exchange_rate, simple_efficiency, ring_rate);
  }
  BindWireLoad(view, instance.view.devices, trace);
  const double detour = scale_up.exchange.detour, hops = scale_up.exchange.hops;
  FIGURE(trace, start, setup + step * (hops + peer_steps * (ranks - 1)),
         (Note{"Setup of an all-to-all", "", kLibrarySource}), setup, step, hops, peer_steps, ranks);
  FIGURE(trace, volume, (ranks - 1) / ranks * bytes, (Note{"Bytes that leave a rank"}), ranks, bytes);
  FIGURE(trace, ll_time, start + detour * volume / (ll_efficiency * link),
         (Note{"Direct exchange, LL protocol", "", kLibrarySource}), start, detour, volume, ll_efficiency, link);
  FIGURE(
      trace, simple_time,
      start + simple_setup + detour * volume / (exchange_efficiency * link) + bytes / (ranks * local_copy_rate * link),
      (Note{"Direct exchange, Simple protocol", "detour: links crossed per byte over links per rank", kLibrarySource}),
      start, simple_setup, detour, volume, exchange_efficiency, link, bytes, ranks, local_copy_rate);
  FIGURE(trace, exchange, min(ll_time, simple_time), (Note{"Direct exchange in one domain", "the faster protocol"}),
         ll_time, simple_time);
  return {exchange, start, volume};
}

bool LibraryExchangeApplies(const CollectiveInstance& instance) {
  return instance.call.type == CollectiveType::kAllToAll && !instance.call.routed;
}
AlgorithmTime ExchangeTime(const CollectiveInstance& instance, Trace& trace) {
  if (IsInNode(instance)) return InNodeExchange(instance, instance.call.bytes, trace);
  const ScaleOut scale_out = ScaleOutOf(instance);
  const double ranks = instance.view.ranks, ranks_in_node = ranks / scale_out.nodes,
               nic_efficiency = scale_out.nic_efficiency;
  if (!instance.view.has_scale_up) trace.Input("ranks_in_node", ranks_in_node, "cluster.networks.0.fabric");
  const Bytes bytes = instance.call.bytes;
  const BytesPerSecond nic = scale_out.bandwidth;
  const Seconds hop = scale_out.hop;
  AlgorithmTime inside{scale_out.setup + instance.call.launch, scale_out.setup + instance.call.launch, Bytes{}};
  BindInputs(instance, trace);
  if (instance.view.has_scale_up) {
    FIGURE(trace, inner_bytes, ranks_in_node / ranks * bytes, (Note{"Bytes that stay in a node", ""}), ranks_in_node,
           ranks, bytes);
    trace.Alias("bytes", inner_bytes, "inner_bytes");
    inside = InNodeExchange(instance, inner_bytes, trace);
    trace.Alias("in_node", inside.time, "exchange");
  } else {
    trace.Alias("in_node", inside.time, "setup");
  }
  const Seconds in_node = inside.time;
  BindOuterWireLoad(instance, trace);
  const double detour = scale_out.exchange.detour, hops = scale_out.exchange.hops;
  FIGURE(trace, exchange_over_nodes,
         hops * hop + detour * (ranks - ranks_in_node) / ranks * bytes / (nic_efficiency * nic) + in_node,
         (Note{"Direct exchange over nodes", "inter-node part, each rank on its NIC, then the intra-node part"}), hops,
         hop, detour, ranks, ranks_in_node, bytes, nic_efficiency, nic, in_node);
  return {exchange_over_nodes, hops * hop + inside.latency, (ranks - 1) / ranks * bytes};
}

// Rate of routed tokens through the wires of a level: its fabric's share of the bandwidth, over the detours of the
// wiring.
BytesPerSecond RoutedRate(const LevelView& view, double devices, std::string_view symbol, Trace& trace) {
  const Trace::Scope scope(trace, symbol);
  const InStepConstants& constants = view.level->fabric->in_step;
  const double routed_efficiency = view.index == 0 ? constants.routed_efficiency : constants.nic_routed_efficiency;
  const double oversubscription = view.level->topology == Topology::kFatTree ? view.level->oversubscription : Ratio(1);
  const double detour = WireLoadOf(view).detour;
  const BytesPerSecond link = view.injection;
  CONSTANTS(trace, TableOf(*view.level->fabric), kInStepSource, routed_efficiency);
  BindWireLoad(view, devices, trace);
  if (trace.on()) {
    BindBandwidth("link", view, link, devices, trace);
    trace.Input("oversubscription", oversubscription,
                "cluster.networks." + std::to_string(view.index) + ".oversubscription");
  }
  FIGURE(trace, routed_rate, routed_efficiency * link / (detour * oversubscription),
         (Note{"Rate of routed tokens", "of one device", kInStepSource}), routed_efficiency, link, detour,
         oversubscription);
  trace.Alias(symbol, routed_rate, "routed_rate");
  return routed_rate;
}

bool RoutedApplies(const CollectiveInstance& instance) {
  return instance.call.type == CollectiveType::kAllToAll && instance.call.routed;
}
// Inside the innermost level and beyond it at the same time. Messages differ in size, and no rank is done before the
// fullest one.
AlgorithmTime RoutedTime(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& first = instance.view.levels[0];
  const double ranks = instance.view.ranks, first_ranks = first.ranks, devices = instance.view.devices;
  const Bytes bytes = instance.call.bytes;
  const Seconds routed_setup = first.level->fabric->in_step.routed_setup;
  CONSTANTS(trace, TableOf(*first.level->fabric), kInStepSource, routed_setup);
  const bool is_alone = instance.view.count == 1;
  trace.Alias("first_ranks", first_ranks, is_alone ? "ranks" : "inner_ranks");
  const BytesPerSecond first_rate = RoutedRate(first, devices, "first_rate", trace);
  FIGURE(trace, first_time, bytes * (first_ranks - 1) / ranks / first_rate, (Note{"Tokens inside the innermost level"}),
         bytes, first_ranks, ranks, first_rate);
  if (is_alone) {
    FIGURE(trace, routed_exchange, routed_setup + first_time, (Note{"All-to-all of routed tokens", "", kInStepSource}),
           routed_setup, first_time);
    return {routed_exchange, routed_setup, (ranks - 1) / ranks * bytes};
  }
  BytesPerSecond slowest;
  for (int i = 1; i < instance.view.count; ++i) {
    const BytesPerSecond rate = RoutedRate(instance.view.levels[i], devices, "outer_rate", trace);
    slowest = i == 1 ? rate : min(slowest, rate);
  }
  const BytesPerSecond outer_rate = slowest;
  FIGURE(trace, outer_time, bytes * (ranks - first_ranks) / ranks / outer_rate,
         (Note{"Tokens beyond it", "each rank through its NIC"}), bytes, ranks, first_ranks, outer_rate);
  FIGURE(trace, routed_exchange, routed_setup + max(first_time, outer_time),
         (Note{"All-to-all of routed tokens", "the transfers inside a node and between nodes overlap", kInStepSource}),
         routed_setup, first_time, outer_time);
  return {routed_exchange, routed_setup, (ranks - 1) / ranks * bytes};
}

bool LibrarySendApplies(const CollectiveInstance& instance) {
  return instance.call.type == CollectiveType::kSendReceive;
}
AlgorithmTime LibrarySendTime(const CollectiveInstance& instance, Trace& trace) {
  const Bytes bytes = instance.call.bytes;
  BindInputs(instance, trace);
  if (IsInNode(instance)) {
    const ScaleUp scale_up = ScaleUpOf(instance);
    const LevelView& view = instance.view.levels[0];
    const bool is_direct = IsGrid(view) || view.level->topology == Topology::kFullyConnected;
    const double send_efficiency =
        is_direct ? scale_up.fabric->send.direct_efficiency : scale_up.fabric->send.switch_efficiency;
    const BytesPerSecond link = view.link;
    const Seconds setup = scale_up.setup + instance.call.launch;
    CONSTANTS(trace, TableOf(*scale_up.fabric), kLibrarySource, send_efficiency);
    FIGURE(trace, send, setup + bytes / (send_efficiency * link),
           (Note{"Send and receive in one domain", "0.77 of the bandwidth through a switch, 0.95 over a direct link",
                 "A100: 228 of 300 GB/s"}),
           setup, bytes, send_efficiency, link);
    return {send, setup, bytes};
  }
  const ScaleOut scale_out = ScaleOutOf(instance);
  const BytesPerSecond nic = scale_out.bandwidth;
  const double nic_efficiency = min(scale_out.nic_efficiency, scale_out.fabric->send.nic_efficiency);
  const Seconds setup = scale_out.setup + instance.call.launch, hop = scale_out.hop;
  FIGURE(trace, send, setup + hop + bytes / (nic_efficiency * nic), (Note{"Send and receive between nodes", "one NIC"}),
         setup, hop, bytes, nic_efficiency, nic);
  return {send, setup + hop, bytes};
}

}  // namespace

const std::vector<Algorithm>& LibraryExchanges() {
  static const std::vector<Algorithm> rows{
      {"direct", "Direct exchange", kLibrarySource, CollectiveLibrary::kMeasured, LibraryExchangeApplies, nullptr,
       ExchangeTime},
      {"direct", "All-to-all of routed tokens", kInStepSource, CollectiveLibrary::kMeasured, RoutedApplies, nullptr,
       RoutedTime},
      {"send", "One message", kLibrarySource, CollectiveLibrary::kMeasured, LibrarySendApplies, nullptr,
       LibrarySendTime},
  };
  return rows;
}

}  // namespace slipstick
