// All-reduce in the switches: each rank's link carries its buffer up and the sum down.
#include "core/collectives/alpha_beta.h"

namespace slipstick {
namespace {

constexpr std::string_view kInNetworkSource =
    "Graham et al., Scalable hierarchical aggregation protocol (SHARP), 2016; NVIDIA NCCL 2.17, NVLink SHARP: switches "
    "load, add, "
    "multicast";

bool InNetworkApplies(const CollectiveInstance& instance) {
  return Is(instance, CollectiveType::kAllReduce) && IsSwitch(instance) &&
         instance.view.levels[0].level->in_network_reduction;
}

// `copies`: bytes per link and direction, relative to the buffer.
AlgorithmTime UpAndDown(const CollectiveInstance& instance, Ratio copies, Ratio trips) {
  const auto [ranks, bytes, alpha, link] = FlatGroupOf(instance);
  const Ratio chunks = ChunksOf(instance, 1, alpha), waits = instance.call.alpha_beta.overlaps ? Ratio() : chunks - 1;
  const Seconds latency = Figure("To the switch and back", (trips + waits) * alpha, "", kInNetworkSource);
  const Seconds transfer =
      Figure("Up, and the last chunk down", (1 + 1 / chunks) * copies * bytes / link, "", kInNetworkSource);
  AlgorithmTime made = Total(instance, latency, transfer);
  made.bytes = copies * bytes;
  return made;
}

AlgorithmTime Aggregation(const CollectiveInstance& instance) { return UpAndDown(instance, 1, 1); }

// The switch reads every rank's part, reduces and multicasts: a rank's link carries all parts and its own.
AlgorithmTime Multicast(const CollectiveInstance& instance) {
  return UpAndDown(instance, 1 + 1 / instance.view.ranks, 2);
}

}  // namespace

std::span<const Algorithm> InNetworkAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"sharp", "Aggregation in the switch", InNetworkApplies, Aggregation},
      {"nvls", "Switch reads, reduces and multicasts", InNetworkApplies, Multicast},
  };
  return rows;
}

}  // namespace slipstick
