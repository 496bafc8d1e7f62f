#include "core/economics/energy.h"

#include "core/base/figure.h"

namespace slipstick {

WallPower WallPowerOf(const Cluster& cluster, const SystemInputs& inputs, Watts network_power) {
  const Watts tdp = cluster.device.tdp;
  WallPower power;
  power.rated = Figure("Rated power of the rest of the server, per device", tdp * (inputs.host_power - 1));
  power.server = Figure("Power of the rest of the server, per device", power.rated * inputs.load,
                        "at mean load; excludes switches outside the servers");
  power.network = Figure("Power of the network, per device", network_power / Ratio(cluster.devices),
                         "switches and optics outside the servers, under any load");
  power.pue = inputs.pue;
  power.mean =
      Figure("Power per device at the meter", (tdp * (inputs.host_power * inputs.load) + power.network) * power.pue,
             "with its share of the server, the network, cooling and power distribution, at mean load");
  return power;
}

}  // namespace slipstick
