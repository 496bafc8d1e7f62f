#include "core/scenario/designed_device.h"

#include "core/technology/chip.h"

namespace slipstick {

BytesPerSecond BuildDesign(Device& device, const std::string& path, Issues& issues) {
  if (!device.design) return {};
  Trace trace = Trace::Off();
  Result<DerivedChip> chip = Derive(*device.design, path, trace);
  if (!chip) {
    issues.insert(issues.end(), chip.issues.begin(), chip.issues.end());
    return {};
  }
  device.peak = chip->device.peak;
  device.units = chip->device.units;
  device.clock = chip->device.clock;
  device.memory = chip->device.memory;
  device.caches = chip->device.caches;
  device.tdp = chip->device.tdp;
  device.idle = chip->device.idle;
  device.die = chip->device.die;
  return chip->network;
}

void BuildDesign(Cluster& cluster, const std::string& path, Issues& issues) {
  const BytesPerSecond links = BuildDesign(cluster.device, path, issues);
  if (!cluster.networks.empty() && links > 0 * kBps) cluster.networks[0].bandwidth = links;
}

}  // namespace slipstick
