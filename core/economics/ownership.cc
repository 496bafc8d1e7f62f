#include "core/economics/ownership.h"

#include <cmath>
#include <utility>

#include "core/base/figure.h"

namespace slipstick {
namespace {

constexpr Seconds kAccountingYear = kHoursPerYear * kHour;

// Cost per device of the network inside the server, beyond what the server's price includes.
Dollars NetworkBeyondPrice(const NetworkCost& network, const SystemInputs& inputs) {
  return Figure("Network inside the server beyond what its price includes, of a device",
                network.inside + network.adapters - inputs.adapters_included.value_or(network.adapters),
                "links, switches and adapters; negative where there is less");
}

// Power of all devices' networks at any load, beyond what the servers' power includes.
Watts PowerNetwork(Ratio devices, const NetworkCost& network, const SystemInputs& inputs) {
  const Watts more = Figure(
      "Power of the network inside the server beyond what its power includes, of a device",
      network.inside_power + network.adapter_power - inputs.adapter_power_included.value_or(network.adapter_power));
  return Figure("Power of the network", max(network.power + devices * more, Watts()),
                "switches and optics outside the servers, and what the servers' own power leaves out; the building's "
                "prices per watt are quoted for the servers alone");
}

// Price of a server without its devices, including the network inside it.
Dollars PriceHost(const SystemInputs& inputs, Ratio per_host, Dollars device_price, Dollars network_more) {
  const Dollars plain =
      inputs.host ? *inputs.host
                  : Figure("Price of a server without its devices", inputs.host_share * per_host * device_price);
  return Figure("Price of a server without its devices, with the network inside it",
                max(plain + per_host * network_more, Dollars()));
}

// Power of the system, and its hours of use.
struct Operation {
  Ratio years;
  Watts servers;  // rated
  Watts network;
  Joules energy;
  Seconds device_hours;  // in use
};
Operation Operate(const Cluster& cluster, const SystemInputs& inputs, const NetworkCost& network, Seconds lifetime) {
  const Ratio devices = cluster.devices;
  Operation operation;
  operation.years = Figure("Depreciation period in years", lifetime / (1 * kYear), "of 365.25 days");
  operation.servers = Figure("Rated power of the servers", devices * cluster.device.tdp * inputs.host_power);
  operation.network = PowerNetwork(devices, network, inputs);
  operation.energy =
      Figure("Energy over the depreciation period",
             (operation.servers * inputs.load + operation.network) * inputs.pue * kAccountingYear * operation.years,
             "8,760 hours per year, busy or idle; the network draws the same under any load");
  operation.device_hours =
      Figure("Device-hours in use over the depreciation period",
             devices * kAccountingYear * operation.years * inputs.utilisation, "8,760 hours per year");
  return operation;
}

// Adds up the lines over the life of the system.
SystemCost CostOf(std::vector<BillLine> lines, const Operation& operation) {
  SystemCost cost;
  cost.total = Figure("Total cost of ownership", Total(lines));
  cost.energy = operation.energy;
  cost.network_power = operation.network;
  for (const BillLine& line : lines) {
    cost.hour_lines.push_back({line.name, line.cost / operation.device_hours * (1 * kHour)});
  }
  cost.device_hour = Figure("Cost per GPU-hour",
                            Exactly(Total(cost.hour_lines).base(), cost.total / operation.device_hours * (1 * kHour)),
                            "idle hours are paid for by the hours in use");
  cost.device_second = Figure("Cost per GPU-second", cost.device_hour / (1 * kHour));
  cost.lines = std::move(lines);
  return cost;
}

}  // namespace

Ratio Annuity(Ratio rate, Ratio years) {
  if (rate == 0) return 1 / years;
  return Figure(
      "Annuity: yearly payment per dollar of capital",
      Exactly(rate.base() / -std::expm1(-years.base() * std::log1p(rate.base())), rate / (1 - pow(1 + rate, -years))),
      "level payments at the end of each year");
}

SystemCost PriceSystem(const Cluster& cluster, const SystemInputs& inputs, const NetworkCost& network,
                       Dollars device_price, const SystemUse& use) {
  const Ratio devices = cluster.devices, devices_per_host = inputs.devices_per_host;
  const Operation operation = Operate(cluster, inputs, network, use.lifetime);
  const bool is_part = cluster.installed > cluster.devices;
  const Ratio installed = is_part ? cluster.installed : cluster.devices;
  const Ratio per_host = Figure("Devices of a server", min(installed, devices_per_host));
  const Ratio hosts = Figure("Servers", is_part ? devices / per_host : ceil(devices / devices_per_host),
                             "whole ones; some of a cluster's devices pay for their share of them");
  const Dollars host = PriceHost(inputs, per_host, device_price, NetworkBeyondPrice(network, inputs));
  const bool is_rented = inputs.colocation > DollarsPerJoule();
  const auto built = [&](std::string_view title, DollarsPerWatt price) {
    return is_rented ? Dollars() : Figure(title, operation.servers * price);
  };
  std::vector<BillLine> lines{
      {"devices", Figure("Purchase price of the devices", devices * device_price)},
      {"servers", Figure("Price of all servers without their devices", hosts * host)},
      {"network", Figure("Network outside the servers", network.switches + network.cables + network.links,
                         "trees of switches with as many tiers as their size needs; direct links priced by bandwidth")},
      {"power delivery", built("Transformers, UPS and distribution", inputs.power_delivery)},
      {"cooling", built("Cooling plant", inputs.cooling)},
      {"building", built("Building", inputs.building)}};
  const Dollars capital = Figure("Capital", Total(lines));
  const Ratio years = operation.years, annuity = Annuity(inputs.cost_of_capital, years);
  lines.push_back(
      {"financing", Figure("Financing cost over the depreciation period", max(annuity * years - 1, 0) * capital)});
  lines.push_back({"electricity", Figure("Electricity bill", operation.energy * use.electricity)});
  lines.push_back({"hosting", Figure("Colocation rent",
                                     (operation.servers + operation.network) * inputs.colocation * (1 * kYear) * years,
                                     "12 months per year")});
  lines.push_back({"maintenance", Figure("Maintenance, staff and spares", inputs.maintenance * capital * years)});
  lines.push_back({"margin", Figure("The operator's margin", Total(lines) * inputs.margin / (1 - inputs.margin))});
  return CostOf(std::move(lines), operation);
}

SystemCost RentSystem(const Cluster& cluster, const SystemInputs& inputs, const NetworkCost& network,
                      const Rental& rental, Seconds lifetime) {
  const Operation operation = Operate(cluster, inputs, network, lifetime);
  const Ratio paid_share = rental.term == RentalTerm::kReserved ? Ratio(1) : inputs.utilisation;
  const Dollars rent = Figure("Rent of all devices",
                              Ratio(cluster.devices) * rental.price * kAccountingYear * operation.years * paid_share,
                              "a reservation is paid for every hour, busy or idle, other rents for the hours in use");
  return CostOf({{"rent", rent}}, operation);
}

}  // namespace slipstick
