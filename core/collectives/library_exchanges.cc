// Communication libraries (NCCL, RCCL): direct all-to-all, all-to-all of routed tokens, and single messages.
#include "core/base/figure.h"
#include "core/collectives/algorithm.h"
#include "core/collectives/library_network.h"

namespace slipstick {
namespace {

// All-to-all inside one domain; `bytes`: sent per rank, including its own block.
AlgorithmTime InNodeExchange(const CollectiveInstance& instance, Bytes bytes) {
  const ScaleUp scale_up = ScaleUpOf(instance);
  const AllToAllConstants& fitted = scale_up.fabric->all_to_all;
  const Ratio ranks = scale_up.ranks;
  const auto [detour, hops] = scale_up.exchange;
  const Ratio local_copy_rate = instance.view.levels[0].level->copy_fraction.value_or(fitted.local_copy_rate);
  const BytesPerSecond link = scale_up.bandwidth;
  const Seconds start =
      Figure("Setup of an all-to-all", scale_up.setup + scale_up.step * (hops + fitted.steps_per_peer * (ranks - 1)),
             "", kLibrarySource);
  const Bytes volume = Figure("Bytes that leave a rank", (ranks - 1) / ranks * bytes);
  const Seconds ll_time = Figure("Direct exchange, LL protocol",
                                 start + detour * volume / (fitted.ll_efficiency * link), "", kLibrarySource);
  const Seconds simple_time =
      Figure("Direct exchange, Simple protocol",
             start + instance.view.levels[0].fabric->ring.simple_setup +
                 detour * volume / (scale_up.exchange_efficiency * link) + bytes / (ranks * local_copy_rate * link),
             "the rank's own block is copied", kLibrarySource);
  const Seconds time = Figure("Direct exchange in one domain", min(ll_time, simple_time), "the faster protocol");
  return {time, start, volume};
}

bool LibraryExchangeApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllToAll) && !instance.call.routed;
}
AlgorithmTime ExchangeTime(const CollectiveInstance& instance) {
  const Bytes bytes = instance.call.bytes;
  if (IsInNode(instance)) return InNodeExchange(instance, bytes);
  const ScaleOut scale_out = ScaleOutOf(instance);
  const Ratio hops = scale_out.exchange_hops, ranks = instance.view.ranks;
  const Ratio ranks_in_node = instance.view.has_scale_up ? ranks / scale_out.nodes : Ratio(1);
  AlgorithmTime inside{scale_out.setup, scale_out.setup, Bytes{}};
  if (instance.view.has_scale_up) {
    inside = InNodeExchange(instance, Figure("Bytes that stay in a node", ranks_in_node / ranks * bytes));
  }
  const Seconds latency =
      Figure("A message to each peer in other nodes",
             scale_out.hop * (hops + scale_out.fabric->all_to_all.steps_per_peer * (ranks - ranks_in_node)), "",
             "64 H800 with 8 × 400 Gb/s, 8 MiB: 296 to 338 us (NVIDIA/nccl issue 1531)");
  const Seconds time = Figure("Direct exchange over nodes",
                              latency + (ranks - ranks_in_node) / ranks * bytes / scale_out.exchange + inside.time,
                              "inter-node part, each rank on its NIC, then the intra-node part");
  return {time, latency + inside.latency, (ranks - 1) / ranks * bytes};
}

// Rate of routed tokens through the wires of a level: the fraction of the bandwidth that its fabric reaches, divided by
// the detours of the wiring.
BytesPerSecond RoutedRate(const LevelView& view) {
  const InStepConstants& fitted = view.fabric->in_step;
  const Ratio efficiency = view.index == 0 ? fitted.routed_efficiency : fitted.nic_routed_efficiency;
  return Figure("Rate of routed tokens", efficiency * view.injection / WireLoadOf(view).detour, "of one device",
                kInStepSource);
}

bool RoutedApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllToAll) && instance.call.routed;
}
// Transfers inside the innermost level and beyond it overlap. Messages differ in size, and the ranks wait for the one
// with most tokens.
AlgorithmTime RoutedTime(const CollectiveInstance& instance) {
  const LevelView& first = instance.view.levels[0];
  const Ratio ranks = instance.view.ranks;
  const Bytes bytes = instance.call.bytes;
  const Seconds setup = first.fabric->in_step.routed_setup;
  const Bytes sent = (ranks - 1) / ranks * bytes;
  const Seconds inner =
      Figure("Tokens inside the innermost level", bytes * (first.ranks - 1) / ranks / RoutedRate(first));
  if (instance.view.count == 1) {
    const Seconds time = Figure("All-to-all of routed tokens", setup + inner, "", kInStepSource);
    return {time, setup, sent};
  }
  BytesPerSecond slowest = RoutedRate(instance.view.levels[1]);
  for (int i = 2; i < instance.view.count; ++i) slowest = min(slowest, RoutedRate(instance.view.levels[i]));
  const Seconds outer =
      Figure("Tokens beyond it", bytes * (ranks - first.ranks) / ranks / slowest, "each rank through its NIC");
  const Seconds time = Figure("All-to-all of routed tokens", setup + max(inner, outer),
                              "the transfers inside a node and between nodes overlap", kInStepSource);
  return {time, setup, sent};
}

bool LibrarySendApplies(const CollectiveInstance& instance) { return Is(instance, CollectiveType::kSendReceive); }
AlgorithmTime LibrarySendTime(const CollectiveInstance& instance) {
  const Bytes bytes = instance.call.bytes;
  if (IsInNode(instance)) {
    const LevelView& view = instance.view.levels[0];
    const SendConstants& fitted = view.fabric->send;
    const bool is_direct = IsGrid(view) || view.level->topology == Topology::kFullyConnected;
    const Ratio efficiency = is_direct ? fitted.direct_efficiency : fitted.switch_efficiency;
    const Seconds setup = ScaleUpOf(instance).setup;
    const Seconds time =
        Figure("Send and receive in one domain", setup + bytes / (efficiency * view.link / NarrowingOfRing(view)),
               "0.77 of the bandwidth through a switch, 0.95 over a direct link", "A100: 228 of 300 GB/s");
    return {time, setup, bytes};
  }
  const ScaleOut scale_out = ScaleOutOf(instance);
  const Seconds latency = scale_out.setup + scale_out.hop;
  const Seconds time = Figure("Send and receive between nodes",
                              latency + bytes / (scale_out.nic_efficiency * scale_out.link), "one NIC");
  return {time, latency, bytes};
}

}  // namespace

std::span<const Algorithm> LibraryExchanges() {
  static constexpr Algorithm rows[] = {
      {"direct", "Direct exchange", LibraryExchangeApplies, ExchangeTime},
      {"direct", "All-to-all of routed tokens", RoutedApplies, RoutedTime},
      {"send", "One message", LibrarySendApplies, LibrarySendTime},
  };
  return rows;
}

}  // namespace slipstick
