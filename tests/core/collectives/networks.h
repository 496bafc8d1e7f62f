// Networks for the tests of collectives.
#pragma once

#include <string>
#include <vector>

#include "core/base/fix.h"
#include "core/collectives/collective.h"
#include "core/hardware/cluster.h"

namespace slipstick {

inline NetworkLevel Level(Topology topology, Count size, BytesPerSecond bandwidth, Seconds latency) {
  NetworkLevel level;
  level.topology = topology;
  level.size = size;
  level.bandwidth = bandwidth;
  level.latency = latency;
  return level;
}

inline Cluster Joined(std::vector<NetworkLevel> levels) {
  Cluster cluster;
  cluster.networks = std::move(levels);
  cluster.devices = 1;
  for (const NetworkLevel& level : cluster.networks) cluster.devices = cluster.devices * level.size;
  return cluster;
}

inline NetworkLevel Grid(Topology topology, std::vector<Tally> dims, BytesPerSecond bandwidth) {
  NetworkLevel level = Level(topology, 1, bandwidth, 1 * kUs);
  level.dims = std::move(dims);
  for (const Tally side : level.dims) level.size = level.size * side;
  return level;
}

inline Cluster DgxH100() {
  NetworkLevel node = Level(Topology::kSwitch, 8, 450 * kGBps, 0.76 * kUs);
  node.fabric = Fabric("nvlink");
  node.base_latency = 5.4 * kUs;
  node.copy_fraction = 4.2;
  node.reduction_fraction = 0.66;
  node.in_network_reduction = true;
  NetworkLevel rails = Level(Topology::kRail, 1024, 50 * kGBps, 10 * kUs);
  rails.fabric = Fabric("infiniband");
  return Joined({node, rails});
}

// One of every topology.
inline std::vector<Cluster> AllNetworks() {
  NetworkLevel reducing = Level(Topology::kSwitch, 16, 450 * kGBps, 1 * kUs);
  reducing.in_network_reduction = true;
  NetworkLevel leaves = Level(Topology::kFatTree, 16, 50 * kGBps, 2 * kUs);
  leaves.dims = {4, 4};
  leaves.oversubscription = 2;
  const NetworkLevel node = Level(Topology::kSwitch, 4, 450 * kGBps, 1 * kUs);
  NetworkLevel dragonfly = Level(Topology::kDragonfly, 5, 100 * kGBps, 1 * kUs);
  return {Joined({Level(Topology::kRing, 16, 90 * kGBps, 1 * kUs)}),
          Joined({Level(Topology::kFullyConnected, 16, 450 * kGBps, 1 * kUs)}),
          Joined({Level(Topology::kSwitch, 16, 450 * kGBps, 1 * kUs)}),
          Joined({reducing}),
          Joined({leaves}),
          Joined({Grid(Topology::kTorus, {4, 4}, 180 * kGBps)}),
          Joined({Grid(Topology::kTorus, {4, 2, 2}, 180 * kGBps)}),
          Joined({Grid(Topology::kMesh, {4, 4}, 180 * kGBps)}),
          Joined({Level(Topology::kHypercube, 16, 180 * kGBps, 1 * kUs)}),
          Joined({Level(Topology::kHypercube, 12, 180 * kGBps, 1 * kUs)}),
          Joined({node, Level(Topology::kRail, 4, 50 * kGBps, 4 * kUs)}),
          Joined({node, Level(Topology::kSwitch, 2, 50 * kGBps, 5 * kUs),
                  Level(Topology::kSwitch, 2, 25 * kGBps, 8 * kUs)}),
          Joined({Level(Topology::kFullyConnected, 4, 300 * kGBps, 0.5 * kUs), dragonfly}),
          DgxH100()};
}

inline double Us(const CollectiveTime& time) { return In(time.time, kUs); }

}  // namespace slipstick
