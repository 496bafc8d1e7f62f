// The numbers of devices that can be bought, in ascending order: whole servers; for a torus, mesh or ring, slices of
// powers of two and whole networks, because the slice determines the links between the devices of a replica.
#pragma once

#include <algorithm>

#include "core/hardware/cluster.h"

namespace slipstick {

class Purchases {
 public:
  Purchases(const Cluster& cluster, Count server_devices, Count most_devices);
  [[nodiscard]] Count Size() const { return size_; }
  // 0 <= index < Size()
  [[nodiscard]] Count At(Count index) const;
  // The number of leading purchases that are slices of a grid; their links differ.
  [[nodiscard]] Count slices() const { return slices_; }
  // Equal for purchases with equal links.
  [[nodiscard]] Count LinksOf(Count devices) const { return std::min(devices, links_same_from_); }

 private:
  Count server_, step_;  // devices per server; devices per unit in which more are bought
  Count links_same_from_;
  Count slices_ = 0, size_ = 0;
};

}  // namespace slipstick
