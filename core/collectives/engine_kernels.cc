// One-shot and two-shot all-reduce kernels of serving engines: they read peers' memory and run inside a CUDA graph.
#include "core/base/figure.h"
#include "core/collectives/algorithm.h"
#include "core/operators/kernel_family.h"

namespace slipstick {
namespace {

constexpr std::string_view kTables =
    "fitted to custom all-reduce tables of ai-dynamo/aiconfigurator at 095f58a, graph launches";

// Peers must reach each other's memory: they are in one scale-up domain, and over PCIe they are at most two.
bool CustomApplies(const CollectiveInstance& instance) {
  if (!Is(instance, CollectiveType::kAllReduce) || !instance.call.custom) return false;
  if (!instance.view.has_scale_up || instance.view.count != 1) return false;
  const LevelView& view = instance.view.levels[0];
  const bool is_joined = view.level->topology == Topology::kSwitch || view.level->topology == Topology::kFullyConnected;
  return is_joined && (view.ranks <= 2 || view.fabric->ring.shared_root_port_fraction == 1);
}

// The data that a rank reads from its peers.
struct Pull {
  Ratio peers;
  Seconds latency;      // start, and a barrier with each peer
  BytesPerSecond rate;  // of all peers together
};
Pull PullOf(const CollectiveInstance& instance) {
  const LevelView& view = instance.view.levels[0];
  const CustomAllReduce& kernel = *instance.call.custom;
  const Ratio peers = Figure("Peers of a rank", view.ranks - 1);
  return {peers, kernel.start + peers * kernel.peer,
          Figure("Achieved link bandwidth of the kernel", kernel.link_efficiency * view.injection, "", kTables)};
}

AlgorithmTime OneShot(const CollectiveInstance& instance) {
  const auto [peers, latency, rate] = PullOf(instance);
  const Bytes bytes = peers * instance.call.bytes;
  const Seconds time =
      Figure("One-shot all-reduce", latency + bytes / rate, "every rank reads every peer's buffer", kTables);
  return {time, latency, bytes};
}

AlgorithmTime TwoShot(const CollectiveInstance& instance) {
  const auto [peers, start, rate] = PullOf(instance);
  const Seconds latency = start + instance.call.custom->second_pass;
  const Bytes bytes = 2 * peers / (peers + 1) * instance.call.bytes;
  const Seconds time =
      Figure("Two-shot all-reduce", latency + bytes / rate, "every rank reduces its part, then all gather", kTables);
  return {time, latency, bytes};
}

}  // namespace

CustomAllReduce CustomAllReduceOf(const PeerReduceTable& table, Seconds second_pass) {
  return {table.start, table.peer, table.link_efficiency, second_pass};
}

std::span<const Algorithm> EngineAlgorithms() {
  static constexpr Algorithm rows[] = {
      {"one_shot", "One-shot kernel of the engine", CustomApplies, OneShot},
      {"two_shot", "Two-shot kernel of the engine", CustomApplies, TwoShot},
  };
  return rows;
}

}  // namespace slipstick
