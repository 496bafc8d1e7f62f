#include "core/sizing/replica_space.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace slipstick {
namespace {

constexpr Count kMostPerReplica = 144;

std::vector<Count> ReplicaSizes(const Cluster& cluster, const Purchases& purchases) {
  const Count inner = cluster.networks.empty() ? Tally(1) : cluster.networks.front().size;
  Count reach = 1;
  for (const NetworkLevel& level : cluster.networks) reach = std::min(kMostPerReplica, reach) * level.size;
  const Count most = purchases.Size() == 0 ? 0 : std::min(kMostPerReplica, purchases.At(purchases.Size() - 1));
  const bool on_grid = purchases.slices() > 0;
  std::vector<Count> sizes;
  for (const Count size : Divisors(inner)) {
    if (!on_grid || std::has_single_bit(static_cast<std::uint64_t>(size))) sizes.push_back(size);
  }
  for (Count size = 2 * sizes.back(); size <= reach; size *= 2) {
    sizes.push_back(size);
    if (!on_grid && size + size / 2 <= reach) sizes.push_back(size + size / 2);
  }
  std::erase_if(sizes, [&](Count size) { return size > most; });
  return sizes;
}

}  // namespace

ReplicaSpace::ReplicaSpace(const SizingProblem& problem) {
  SpaceLimits limits = problem.limits;
  limits["replicas"].high = 1;
  limits["prefill_devices"].high = 0;
  limits["prefill_cp"].high = static_cast<double>(problem.scenario.serving->mapping.prefill_cp);
  ServingLoad load = *problem.scenario.serving;
  load.disaggregated.reset();  // of either pool, a replica is not disaggregated
  for (const Count size : ReplicaSizes(problem.scenario.cluster, problem.purchases)) {
    ServingSpace space(problem.scenario.model, load, size, limits);
    if (space.Size() == 0) continue;
    blocks_.push_back({size_, size, std::move(space)});
    size_ += blocks_.back().space.Size();
  }
}

std::pair<Count, ServingChoice> ReplicaSpace::At(Count index) const {
  const Block& block = BlockAt(blocks_, index);
  return {block.devices, block.space.At(index - block.offset)};
}

}  // namespace slipstick
