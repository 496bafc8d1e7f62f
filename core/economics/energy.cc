#include "core/economics/energy.h"

namespace slipstick {

WallPower WallPowerOf(const Cluster& cluster, const SystemInputs& inputs, Watts network_power, Trace& trace) {
  const Watts tdp = cluster.device.tdp;
  const double host_power = inputs.host_power, load = inputs.load, pue = inputs.pue,
               devices = static_cast<double>(cluster.devices);
  if (trace.on()) {
    trace.Input("tdp", tdp, "cluster.device.tdp");
    trace.Input("host_power", host_power, "cost.system.host_power");
    trace.Input("load", load, "cost.system.load");
    trace.Input("pue", pue, "cost.system.pue");
    trace.Alias("network_power", network_power, "system.network_power");
  }
  FIGURE(trace, server_power, tdp * (host_power - 1) * load,
         (Note{"Power of the rest of the server, per device", "at mean load; excludes switches outside the servers"}),
         tdp, host_power, load);
  FIGURE(trace, network_share, network_power / devices,
         (Note{"Power of the network, per device", "switches and optics outside the servers, under any load"}),
         network_power, devices);
  FIGURE(trace, wall_power, (tdp * (host_power * load) + network_share) * pue,
         (Note{"Power per device at the meter",
               "with its share of the server, the network, cooling and power distribution, at mean load"}),
         tdp, host_power, load, network_share, pue);
  return {server_power, network_share, pue, wall_power};
}

}  // namespace slipstick
