#include "core/mapping/placement.h"

#include "core/base/quantity.h"

namespace slipstick {
namespace {

// Members of a group of `size` ranks, `stride` devices apart, within `capacity` consecutive devices.
double Within(double capacity, double stride, double size) { return min(size, max(1.0, floor(capacity / stride))); }

}  // namespace

GroupPlacement PlaceGroup(const Cluster& cluster, const std::vector<Degree>& order, std::string_view name) {
  GroupPlacement placed;
  double stride = 1, size = 1;
  for (const Degree& degree : order) {
    if (degree.name == name) {
      size = degree.size;
      break;
    }
    stride *= degree.size;
  }
  double capacity = 1, inside = 1;
  for (std::size_t i = 0; i < cluster.networks.size(); ++i) {
    capacity *= static_cast<double>(cluster.networks[i].size);
    const bool outermost = i + 1 == cluster.networks.size();
    const double within = outermost ? size : max(inside, Within(capacity, stride, size));
    placed.extent.push_back(within / inside);
    inside = within;
  }
  if (placed.extent.empty()) placed.extent.push_back(size);
  return placed;
}

GroupPlacement PlaceFirst(const Cluster& cluster, double ranks) {
  GroupPlacement placed;
  double left = ranks;  // units of the level below that the group spans
  for (std::size_t i = 0; i < cluster.networks.size(); ++i) {
    const bool outermost = i + 1 == cluster.networks.size();
    const double units = outermost ? 1 : ceil(left / static_cast<double>(cluster.networks[i].size));
    placed.extent.push_back(left / units);
    left = units;
  }
  if (placed.extent.empty()) placed.extent.push_back(ranks);
  placed.innermost = ranks;
  placed.is_alone = true;
  return placed;
}

}  // namespace slipstick
