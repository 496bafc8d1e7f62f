#include "core/economics/energy.h"

namespace slipstick {

WallPower WallPowerOf(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  const Watts tdp = cluster.device.tdp;
  const double host_power = inputs.host_power, load = inputs.load;
  if (trace.on()) {
    trace.Input("tdp", tdp, "cluster.device.tdp");
    trace.Input("host_power", host_power, "cost.system.host_power");
    trace.Input("load", load, "cost.system.load");
  }
  FIGURE(trace, server_power, tdp * (host_power - 1) * load,
         (Note{"Power of the rest of the server, per device", "at mean load; excludes switches outside the servers"}), tdp, host_power,
         load);
  return {server_power, inputs.pue};
}

}  // namespace slipstick
