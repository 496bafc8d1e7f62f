#include "core/hardware/leaf.h"

#include "core/base/figure.h"

namespace slipstick {

Ratio PortsDown(Ratio ports, Ratio oversubscription) {
  return Figure("Ports of a leaf switch to its devices",
                oversubscription == 1 ? ports / 2 : max(1, floor(ports * oversubscription / (1 + oversubscription))));
}

Ratio GroupsPerLeaf(const NetworkLevel& level, Ratio groups, Ratio below) {
  if (!level.dims.empty()) return Ratio(level.dims[0]);
  if (!(level.port.bandwidth > BytesPerSecond())) return 1;
  const Ratio ports(level.port.switch_ports);
  const Ratio of_device = Figure("Ports of a device in one tree of switches",
                                 min(level.bandwidth / level.port.bandwidth, 1), "a fraction where devices share one");
  if (groups * below * of_device <= ports) return groups;
  return Figure("Groups that fill a leaf switch",
                max(1, WholeBelow(PortsDown(ports, level.oversubscription) / of_device)), "one rail of each");
}

}  // namespace slipstick
