#include "core/sizing/purchases.h"

#include "core/collectives/group_view.h"

namespace slipstick {
namespace {

// Devices of the innermost levels, up to the last level whose links depend on the number of devices.
Count GridDevices(const Cluster& cluster) {
  Count devices = 1, grid = 1;
  for (std::size_t i = 0; i < cluster.networks.size(); ++i) {
    const NetworkLevel& level = cluster.networks[i];
    devices *= level.size;
    if (IsGrid(level.topology) || (i > 0 && level.topology == Topology::kFullyConnected)) grid = devices;
  }
  return grid;
}

}  // namespace

Purchases::Purchases(const Cluster& cluster, Count server_devices, Count most_devices)
    : server_(server_devices), step_(server_devices), links_same_from_(GridDevices(cluster)) {
  const Count whole = links_same_from_;
  if (whole > server_) {
    step_ = (whole + server_ - 1) / server_ * server_;
    for (Count slice = server_; slice < step_ && slice <= most_devices; slice *= 2) ++slices_;
  }
  size_ = slices_ + most_devices / step_;
}

Count Purchases::At(Count index) const { return index < slices_ ? server_ << index : (index - slices_ + 1) * step_; }

}  // namespace slipstick
