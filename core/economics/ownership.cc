#include "core/economics/ownership.h"

#include <algorithm>

#include "core/base/sum.h"
#include "core/economics/network_cost.h"

namespace slipstick {
namespace {

constexpr Seconds kAccountingYear = kHoursPerYear * kHour;

void BindInputs(const Cluster& cluster, const SystemInputs& inputs, Seconds lifetime, DollarsPerJoule electricity,
                Trace& trace) {
  trace.Input("devices", static_cast<double>(cluster.devices), "cluster.devices");
  trace.Input("devices_per_host", static_cast<double>(inputs.devices_per_host), "cost.system.devices_per_host");
  trace.Input("lifetime", lifetime, "cost.lifetime");
  trace.Input("device_power", cluster.device.tdp, "cluster.device.tdp");
  trace.Input("host_power", inputs.host_power, "cost.system.host_power");
  trace.Input("load", inputs.load, "cost.system.load");
  trace.Input("pue", inputs.pue, "cost.system.pue");
  trace.Input("host_share", inputs.host_share, "cost.system.host_share");
  trace.Input("maintenance", inputs.maintenance, "cost.system.maintenance");
  trace.Input("cost_of_capital", inputs.cost_of_capital, "cost.system.cost_of_capital");
  trace.Input("utilisation", inputs.utilisation, "cost.system.utilisation");
  trace.Input("margin", inputs.margin, "cost.system.margin");
  trace.Input("electricity", electricity, "cost.electricity");
  trace.Input("colocation", inputs.colocation, "cost.system.colocation");
  trace.Input("power_delivery_price", inputs.power_delivery, "cost.system.power_delivery");
  trace.Input("cooling_price", inputs.cooling, "cost.system.cooling");
  trace.Input("building_price", inputs.building, "cost.system.building");
}

// What a device's network inside its server costs and draws beyond what the server's own price and power include.
struct NetworkInServer {
  Dollars price;
  Watts power;
};
NetworkInServer BeyondIncluded(const NetworkCost& network, const SystemInputs& inputs, Trace& trace) {
  const Dollars inside = network.inside, adapters = network.adapters,
                adapters_included = inputs.adapters_included.value_or(adapters);
  const Watts inside_power = network.inside_power, adapter_power = network.adapter_power,
              adapter_power_included = inputs.adapter_power_included.value_or(adapter_power);
  if (trace.on()) {
    trace.Alias("inside", inside, "network.inside");
    trace.Alias("adapters", adapters, "network.adapters");
    trace.Alias("inside_power", inside_power, "network.inside_power");
    trace.Alias("adapter_power", adapter_power, "network.adapter_power");
    trace.Input("adapters_included", adapters_included, "cost.system.adapters_included");
    trace.Input("adapter_power_included", adapter_power_included, "cost.system.adapter_power_included");
  }
  FIGURE(trace, network_more, inside + adapters - adapters_included,
         (Note{"Network inside the server beyond what its price includes, of a device",
               "links, switches and adapters; negative where there is less"}),
         inside, adapters, adapters_included);
  FIGURE(trace, network_power_more, inside_power + adapter_power - adapter_power_included,
         (Note{"Power of the network inside the server beyond what its power includes, of a device"}), inside_power,
         adapter_power, adapter_power_included);
  return {network_more, network_power_more};
}

// What all devices' network draws beyond the servers' own power, under any load.
Watts PowerNetwork(const Cluster& cluster, const NetworkCost& network, Watts network_power_more, Trace& trace) {
  const double devices = static_cast<double>(cluster.devices);
  const Watts outside_power = network.power;
  trace.Alias("outside_power", outside_power, "network.outside_power");
  FIGURE(trace, network_power, max(outside_power + devices * network_power_more, 0 * outside_power),
         (Note{"Power of the network",
               "switches and optics outside the servers, and what the servers' own power leaves "
               "out; the building's prices per watt are quoted for the servers alone"}),
         outside_power, devices, network_power_more);
  return network_power;
}

// The price of a server without its devices: an input, or a share of the price of its devices.
Dollars PriceHost(const SystemInputs& inputs, double per_host, Dollars device_price, Trace& trace) {
  if (inputs.host) {
    if (trace.on()) trace.Input("plain_host", *inputs.host, "cost.system.host");
    return *inputs.host;
  }
  const double host_share = inputs.host_share;
  FIGURE(trace, host_price_by_share, host_share * per_host * device_price,
         (Note{"Price of a server without its devices"}), host_share, per_host, device_price);
  trace.Alias("plain_host", host_price_by_share, "host_price_by_share");
  return host_price_by_share;
}

NetworkCost NetworkOf(const Cluster& cluster, const SystemInputs& inputs, Trace& trace) {
  const Trace::Scope scope(trace, "network");
  return PriceNetwork(cluster, inputs, trace);
}

// Cost per GPU-hour by line, and per GPU-second.
void PriceDeviceHour(Dollars system_usd, Seconds device_hours, SystemCost& result, Trace& trace) {
  const Seconds hour = Hour(trace);
  Dollars hourly;
  for (const BillLine& line : result.lines) {
    result.hour_lines.push_back({line.name, line.cost / device_hours * hour});
    hourly += result.hour_lines.back().cost;
  }
  const Dollars device_hour_usd = hourly;
  if (trace.on()) {
    trace.Record("device_hour_usd", "system_usd / device_hours * hour", device_hour_usd,
                 Note{"Cost per GPU-hour", "idle hours are paid for by the hours in use", "", "cost.device_hour_usd"},
                 "system_usd, device_hours, hour", system_usd, device_hours, hour);
  }
  FIGURE(trace, device_second, device_hour_usd / hour, (Note{"Cost per GPU-second"}), device_hour_usd, hour);
  result.device_hour = device_hour_usd;
  result.device_second = device_second;
}

}  // namespace

Seconds Hour(Trace& trace) { return trace.Constant("hour", 1 * kHour, "cost", "3,600 seconds"); }

double Annuity(double rate, double years) {
  return rate == 0 ? 1 / years : rate / -std::expm1(-years * std::log1p(rate));
}

DollarsPerSecond DeviceHour(const OwnershipInputs& in) {
  const Dollars capital = in.capital * Annuity(in.cost_of_capital, in.years);
  const Dollars power = in.power * in.pue * in.electricity * kAccountingYear * in.load;
  const Dollars rent = in.colocation * in.power * (1 * kYear);
  const Dollars upkeep = in.upkeep * in.capital;
  return (capital + power + rent + upkeep) / (kAccountingYear * in.utilisation);
}

SystemCost PriceSystem(const Cluster& cluster, const SystemInputs& inputs, Dollars device_price, Seconds lifetime,
                       DollarsPerJoule electricity, Trace& trace) {
  const Trace::Scope scope(trace, "cost.system");
  const double devices = static_cast<double>(cluster.devices),
               devices_per_host = static_cast<double>(inputs.devices_per_host);
  const Seconds calendar_year = 1 * kYear;
  const Watts device_power = cluster.device.tdp;
  const double host_power = inputs.host_power, load = inputs.load, pue = inputs.pue;
  const double maintenance = inputs.maintenance, cost_of_capital = inputs.cost_of_capital,
               utilisation = inputs.utilisation, margin = inputs.margin;
  const Seconds accounting_year = kAccountingYear;
  if (trace.on()) BindInputs(cluster, inputs, lifetime, electricity, trace);
  CONSTANTS(trace, "cost", "8,760 hours: a year of 365 days", accounting_year);
  CONSTANTS(trace, "cost", "365.25 days", calendar_year);
  FIGURE(trace, years, lifetime / calendar_year, (Note{"Depreciation period in years"}), lifetime, calendar_year);
  FIGURE(trace, devices_usd, devices * device_price, (Note{"Purchase price of the devices"}), devices, device_price);
  FIGURE(trace, hosts, ceil(devices / devices_per_host), (Note{"Servers"}), devices, devices_per_host);
  FIGURE(trace, per_host, min(devices, devices_per_host), (Note{"Devices of a server"}), devices, devices_per_host);
  const NetworkCost network = NetworkOf(cluster, inputs, trace);
  const auto [network_more, network_power_more] = BeyondIncluded(network, inputs, trace);
  const Dollars plain_host = PriceHost(inputs, per_host, device_price, trace);
  FIGURE(trace, host_price, max(plain_host + per_host * network_more, 0 * plain_host),
         (Note{"Price of a server without its devices, with the network inside it"}), plain_host, per_host,
         network_more);
  FIGURE(trace, hosts_usd, hosts * host_price, (Note{"Price of all servers without their devices"}), hosts, host_price);
  const Dollars switches = network.switches, cables = network.cables, links = network.links;
  const Dollars network_usd = Sum<Dollars>(trace, "network_usd",
                                           Note{"Network outside the servers",
                                                "one switch plane per device of a server, with as many tiers as its "
                                                "size needs; direct links priced by bandwidth"},
                                           {{"switches", switches, network.tiers > 0},
                                            {"cables", cables, network.tiers > 0},
                                            {"links", links, links > Dollars()}});
  FIGURE(trace, power, devices * device_power * host_power, (Note{"Rated power of the servers"}), devices, device_power,
         host_power);
  const Watts network_power = PowerNetwork(cluster, network, network_power_more, trace);
  const bool rented = inputs.colocation.base() > 0;
  const DollarsPerWatt power_delivery_price = rented ? DollarsPerWatt() : inputs.power_delivery,
                       cooling_price = rented ? DollarsPerWatt() : inputs.cooling,
                       building_price = rented ? DollarsPerWatt() : inputs.building;
  FIGURE(trace, power_delivery_usd, power * power_delivery_price, (Note{"Transformers, UPS and distribution"}), power,
         power_delivery_price);
  FIGURE(trace, cooling_usd, power * cooling_price, (Note{"Cooling plant"}), power, cooling_price);
  FIGURE(trace, building_usd, power * building_price, (Note{"Building"}), power, building_price);
  FIGURE(trace, capital, devices_usd + hosts_usd + network_usd + power_delivery_usd + cooling_usd + building_usd,
         (Note{"Capital"}), devices_usd, hosts_usd, network_usd, power_delivery_usd, cooling_usd, building_usd);
  const double annuity = Annuity(cost_of_capital, years);
  if (trace.on() && cost_of_capital > 0) {
    trace.Record("annuity", "cost_of_capital / (1 - pow(1 + cost_of_capital, -years))", annuity,
                 Note{"Annuity: yearly payment per dollar of capital", "level payments at the end of each year"},
                 "cost_of_capital, years", cost_of_capital, years);
  }
  FIGURE(trace, financing_usd, max(annuity * years - 1, 0.0) * capital,
         (Note{"Financing cost over the depreciation period"}), annuity, years, capital);
  FIGURE(trace, energy, (power * load + network_power) * pue * accounting_year * years,
         (Note{"Energy over the depreciation period",
               "8,760 hours per year, busy or idle; the network draws the same under any load"}),
         power, load, network_power, pue, accounting_year, years);
  FIGURE(trace, electricity_usd, energy * electricity, (Note{"Electricity"}), energy, electricity);
  const DollarsPerJoule colocation = inputs.colocation;
  FIGURE(trace, hosting_usd, (power + network_power) * colocation * calendar_year * years,
         (Note{"Colocation rent", "12 months per year"}), power, network_power, colocation, calendar_year, years);
  FIGURE(trace, maintenance_usd, maintenance * capital * years, (Note{"Maintenance, staff and spares"}), maintenance,
         capital, years);
  FIGURE(trace, margin_usd,
         (capital + financing_usd + electricity_usd + hosting_usd + maintenance_usd) * margin / (1 - margin),
         (Note{"The operator's margin"}), capital, financing_usd, electricity_usd, hosting_usd, maintenance_usd,
         margin);
  FIGURE(trace, system_usd,
         devices_usd + hosts_usd + network_usd + power_delivery_usd + cooling_usd + building_usd + financing_usd +
             electricity_usd + hosting_usd + maintenance_usd + margin_usd,
         (Note{"Total cost of ownership", "", "", "cost.system_usd"}), devices_usd, hosts_usd, network_usd,
         power_delivery_usd, cooling_usd, building_usd, financing_usd, electricity_usd, hosting_usd, maintenance_usd,
         margin_usd);
  FIGURE(trace, device_hours, devices * accounting_year * years * utilisation,
         (Note{"Device-hours in use over the depreciation period"}), devices, accounting_year, years, utilisation);
  SystemCost result;
  result.lines = {{"devices", devices_usd},     {"servers", hosts_usd},
                  {"network", network_usd},     {"power delivery", power_delivery_usd},
                  {"cooling", cooling_usd},     {"building", building_usd},
                  {"financing", financing_usd}, {"electricity", electricity_usd},
                  {"hosting", hosting_usd},     {"maintenance", maintenance_usd},
                  {"margin", margin_usd}};
  result.total = system_usd;
  result.energy = energy;
  result.network_power = network_power;
  PriceDeviceHour(system_usd, device_hours, result, trace);
  return result;
}

SystemCost RentSystem(const Cluster& cluster, const SystemInputs& inputs, const Rental& rental, Seconds lifetime,
                      DollarsPerJoule electricity, Trace& trace) {
  const Trace::Scope scope(trace, "cost.system");
  const double devices = static_cast<double>(cluster.devices), host_power = inputs.host_power, load = inputs.load,
               pue = inputs.pue, utilisation = inputs.utilisation;
  const Watts device_power = cluster.device.tdp;
  const Seconds accounting_year = kAccountingYear, calendar_year = 1 * kYear;
  const DollarsPerSecond rent = rental.price;
  const bool is_reserved = rental.term == RentalTerm::kReserved;
  const double paid_share = is_reserved ? 1 : utilisation;
  if (trace.on()) BindInputs(cluster, inputs, lifetime, electricity, trace);
  trace.Input("rent", rent, "cost.rental.price");
  trace.Input("paid_share", paid_share, is_reserved ? "cost.rental.term" : "cost.system.utilisation");
  CONSTANTS(trace, "cost", "8,760 hours: a year of 365 days", accounting_year);
  CONSTANTS(trace, "cost", "365.25 days", calendar_year);
  FIGURE(trace, years, lifetime / calendar_year,
         (Note{"Years of renting", "the depreciation period, to compare with buying"}), lifetime, calendar_year);
  FIGURE(trace, system_usd, devices * rent * accounting_year * years * paid_share,
         (Note{"Rent of all devices", "of a reservation for every hour, busy or idle, else for the hours in use", "",
               "cost.system_usd"}),
         devices, rent, accounting_year, years, paid_share);
  FIGURE(trace, device_hours, devices * accounting_year * years * utilisation,
         (Note{"Device-hours in use over the years"}), devices, accounting_year, years, utilisation);
  const NetworkCost network = NetworkOf(cluster, inputs, trace);
  const Watts network_power = PowerNetwork(cluster, network, BeyondIncluded(network, inputs, trace).power, trace);
  FIGURE(trace, energy, (devices * device_power * host_power * load + network_power) * pue * accounting_year * years,
         (Note{"Energy over the years", "part of the rent"}), devices, device_power, host_power, load, network_power,
         pue, accounting_year, years);
  SystemCost result;
  result.lines = {{"rent", system_usd}};
  result.total = system_usd;
  result.energy = energy;
  result.network_power = network_power;
  PriceDeviceHour(system_usd, device_hours, result, trace);
  return result;
}

}  // namespace slipstick
