// One-shot and two-shot all-reduce kernels of serving engines: they read peers' memory and run inside a CUDA graph.
// Symbols of formulas keep the ids of the inputs, by which the trace links them.
#include "core/collectives/algorithm.h"
#include "core/operators/kernel_family.h"

namespace slipstick {
namespace {

constexpr std::string_view kTables =
    "fitted to custom all-reduce tables of ai-dynamo/aiconfigurator at 095f58a, graph launches";

// Peers must reach each other's memory: one scale-up domain, and over PCIe at most a pair.
bool CustomApplies(const CollectiveInstance& instance) {
  if (instance.call.type != CollectiveType::kAllReduce || !instance.call.custom) return false;
  if (!instance.view.has_scale_up || instance.view.count != 1) return false;
  const LevelView& view = instance.view.levels[0];
  const bool is_joined = view.level->topology == Topology::kSwitch || view.level->topology == Topology::kFullyConnected;
  return is_joined && (view.ranks <= 2 || view.level->fabric->ring.shared_root_port_fraction == 1);
}

// Rate at which a rank reads from its peers.
BytesPerSecond PullRate(const CollectiveInstance& instance, Trace& trace) {
  const LevelView& view = instance.view.levels[0];
  const BytesPerSecond link = view.injection;
  const double stream = instance.call.custom->link_efficiency;
  if (link == view.level->bandwidth) {
    trace.Input("link", link, "cluster.networks.0.bandwidth");
  } else if (trace.on()) {
    const BytesPerSecond stated = view.level->bandwidth;
    const double used_share = link / stated;
    trace.Input("stated", stated, "cluster.networks.0.bandwidth");
    trace.Record("link", "stated * used_share", link,
                 Note{"Bandwidth to the peers", "of the links that join the group"}, "stated, used_share", stated,
                 used_share);
  }
  FIGURE(trace, pull, stream * link, (Note{"Achieved link bandwidth of the kernel", "", kTables}), stream, link);
  return pull;
}

// The engine's constants have their names in its row: the caller names the row.
double PeersOf(const CollectiveInstance& instance, Trace& trace) {
  const double inner_ranks = instance.view.levels[0].ranks;
  FIGURE(trace, peers, inner_ranks - 1, (Note{"Peers of a rank", ""}), inner_ranks);
  return peers;
}

AlgorithmTime OneShot(const CollectiveInstance& instance, Trace& trace) {
  const double peers = PeersOf(instance, trace);
  const Bytes bytes = instance.call.bytes;
  const Seconds start = instance.call.custom->start, peer = instance.call.custom->peer;
  const BytesPerSecond pull = PullRate(instance, trace);
  FIGURE(trace, one_shot, start + peers * peer + peers * bytes / pull,
         (Note{"One-shot all-reduce", "every rank reads every peer's buffer", kTables}), start, peers, peer, bytes,
         pull);
  return {one_shot, start + peers * peer, peers * bytes};
}

AlgorithmTime TwoShot(const CollectiveInstance& instance, Trace& trace) {
  const double peers = PeersOf(instance, trace);
  const Bytes bytes = instance.call.bytes;
  const Seconds start = instance.call.custom->start, peer = instance.call.custom->peer,
                second_pass = instance.call.custom->second_pass;
  const BytesPerSecond pull = PullRate(instance, trace);
  FIGURE(trace, two_shot, start + peers * peer + second_pass + 2 * peers / (peers + 1) * bytes / pull,
         (Note{"Two-shot all-reduce", "every rank reduces its part, then all gather", kTables}), start, peers, peer,
         second_pass, bytes, pull);
  return {two_shot, start + peers * peer + second_pass, 2 * peers / (peers + 1) * bytes};
}

}  // namespace

CustomAllReduce CustomAllReduceOf(const Device& device, Seconds second_pass) {
  const PeerReduceTable& table = device.architecture->peer_reduce;
  return {table.start, table.peer, table.link_efficiency, second_pass};
}

const std::vector<Algorithm>& EngineAlgorithms() {
  static const std::vector<Algorithm> rows{
      {"one_shot", "One-shot kernel of the engine", kTables, CollectiveLibrary::kMeasured, CustomApplies, nullptr,
       OneShot},
      {"two_shot", "Two-shot kernel of the engine", kTables, CollectiveLibrary::kMeasured, CustomApplies, nullptr,
       TwoShot},
  };
  return rows;
}

}  // namespace slipstick
