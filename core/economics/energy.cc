#include "core/economics/energy.h"

namespace slipstick {

namespace {

void BindPowers(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  trace.Input("tdp", cluster.device.tdp, "cluster.device.tdp");
  trace.Input("host_power", inputs.host_power, "cost.system.host_power");
  trace.Input("load", inputs.load, "cost.system.load");
  trace.Input("pue", inputs.pue, "cost.system.pue");
}

}  // namespace

Watts PowerAtTheMeter(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  const Trace::Scope scope(trace, "cost.energy");
  const Watts tdp = cluster.device.tdp;
  const double host_power = inputs.host_power, load = inputs.load, pue = inputs.pue;
  if (trace.on()) BindPowers(cluster, inputs, trace);
  FIGURE(trace, wall_power, tdp * (host_power * load * pue),
         (Note{"Power per device at the meter",
               "with its share of the server, cooling and power distribution, at mean load"}),
         tdp, host_power, load, pue);
  return wall_power;
}

WallPower WallPowerOf(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  const Watts tdp = cluster.device.tdp;
  const double host_power = inputs.host_power, load = inputs.load;
  if (trace.on()) BindPowers(cluster, inputs, trace);
  FIGURE(trace, server_power, tdp * (host_power - 1) * load,
         (Note{"Power of the rest of the server, per device", "at mean load; excludes switches outside the servers"}),
         tdp, host_power, load);
  return {server_power, inputs.pue};
}

}  // namespace slipstick
