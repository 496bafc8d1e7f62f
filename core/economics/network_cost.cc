#include "core/economics/network_cost.h"

#include <algorithm>

namespace slipstick {

SwitchTree BuildTree(Count endpoints, Count ports, double oversubscription) {
  if (endpoints <= 1) return {};
  if (endpoints <= ports) return {1, 1};
  const auto round_up = [](double x) { return static_cast<Count>(std::ceil(x - 1e-9)); };
  const double all = static_cast<double>(ports), half = all / 2;
  const double down = oversubscription == 1 ? half : std::max(1.0, std::floor(all * oversubscription / (1 + oversubscription)));
  const Count leaves = round_up(static_cast<double>(endpoints) / down);
  const double links = static_cast<double>(endpoints) / oversubscription;
  int above = 1;  // tiers above the leaves
  for (double reach = all; static_cast<double>(leaves) > reach && above < 16; reach *= half) ++above;
  return {1 + above, leaves + (above - 1) * round_up(links / half) + round_up(links / all)};
}

Dollars PriceLevel(Topology topology, Count size, Count devices, BytesPerSecond bandwidth, const LevelPrices& prices) {
  const double n = static_cast<double>(size);
  if (size < 2) return Dollars();
  const double groups = static_cast<double>(devices) / n;
  switch (topology) {
    case Topology::kRing:
    case Topology::kMesh:
    case Topology::kTorus:
      return groups * 2 * n * (bandwidth / 2 * prices.link);
    case Topology::kFullyConnected:
      return groups * n * (n - 1) * (bandwidth / (n - 1) * prices.link);
    case Topology::kSwitch:
    case Topology::kFatTree:
    case Topology::kRail:
    case Topology::kDragonfly:
      return groups * n * (bandwidth * (prices.link + prices.switch_port + prices.adapter));
  }
  return Dollars();
}

NetworkCost PriceNetwork(const Cluster& cluster, const SystemInputs& inputs) {
  NetworkCost cost;
  Count reached = 1;  // devices that the levels so far join
  for (const NetworkLevel& level : cluster.networks) {
    const Count below = reached;
    reached = std::min(cluster.devices, reached * std::max<Count>(level.size, 1));
    if (reached <= inputs.devices_per_host || reached <= below) continue;
    const double groups = static_cast<double>(cluster.devices) / static_cast<double>(reached);
    switch (level.topology) {
      case Topology::kRing:
      case Topology::kMesh:
      case Topology::kTorus:
      case Topology::kFullyConnected:
        cost.links += PriceLevel(level.topology, reached, cluster.devices, level.bandwidth, {inputs.link_price, {}, {}});
        break;
      case Topology::kSwitch:
      case Topology::kFatTree:
      case Topology::kRail:
      case Topology::kDragonfly: {
        const Count planes = std::clamp<Count>(inputs.devices_per_host, 1, reached);
        const Count plane = (reached + planes - 1) / planes;
        const SwitchTree tree = BuildTree(plane, inputs.switch_ports, level.oversubscription);
        const double switches = groups * static_cast<double>(planes * tree.switches);
        const Dollars cable = tree.tiers <= 1   ? inputs.cables_one_tier
                              : tree.tiers == 2 ? inputs.cables_two_tiers
                                                : inputs.cables_three_tiers;
        cost.switches += switches * inputs.switch_price;
        cost.cables += static_cast<double>(cluster.devices) * cable;
        cost.tiers = std::max(cost.tiers, tree.tiers);
        cost.switch_count += static_cast<Count>(std::ceil(switches));
        break;
      }
    }
  }
  return cost;
}

}  // namespace slipstick
