#include "core/scenario/bill_warnings.h"

#include <cmath>
#include <optional>

#include "core/base/schema.h"
#include "core/base/units.h"
#include "core/scenario/cost_defaults.h"

namespace slipstick {
namespace {

std::string DollarText(Dollars amount) { return "$" + GroupedText(std::round(amount.base())); }

// The members that determine the manufacturing cost or the price of a device.
Json PriceRelevant(const Device& device) {
  return Json{{"peak", Write(device.peak)},
              {"capacity", device.memory.capacity.base()},
              {"bandwidth", device.memory.bandwidth.base()},
              {"technology", device.memory.technology},
              {"caches", Write(device.caches)},
              {"units", Count{device.units}},
              {"clock", device.clock.base()},
              {"tdp", device.tdp.base()},
              {"die", Write(device.die)}};
}

// Whether the device of the bill differs from the catalogue's; a device that has a bill of another one does not.
bool IsChanged(const Device& device, const DeviceBill& bill) {
  const Json* entry = bill.preset == device.preset ? FindPreset("device", device.preset) : nullptr;
  if (entry == nullptr) return false;
  Issues none;  // catalogue entries have none
  Device usual;
  Read(WithoutRemarks(*entry), "", none, usual);
  return PriceRelevant(usual) != PriceRelevant(device);
}

// Performance, silicon, or the bill's parts or margin differ from the catalogue's, but the price does not.
std::optional<std::string> OldPrice(const Device& device, const DeviceBill& bill, const HardwareCost& cost) {
  if (!bill.price || bill.preset.empty()) return std::nullopt;
  const std::optional<DeviceBill> usual = CatalogueBill(bill.preset);
  if (!usual || bill.price != usual->price) return std::nullopt;
  const bool is_changed = IsChanged(device, bill);
  if (Write(*usual) == Write(bill)) {
    if (!is_changed) return std::nullopt;
    return "Price and bill of materials are for the unmodified " + usual->name;
  }
  const Dollars usual_cost = PriceDevice(*usual, ComputeGeometry(*usual)).total;
  const bool costs_the_same = std::abs(cost.device / usual_cost - 1) <= kRoundingGuard;
  if (!is_changed && costs_the_same && bill.margin == usual->margin) return std::nullopt;
  return "The price is for the unmodified " + usual->name + ": with cost.device.price=null it follows the parts";
}

std::optional<std::string> GuessedPrice(const Device& device, const DeviceBill& bill, const HardwareCost& cost) {
  const bool is_known = !bill.preset.empty() && !(device.design && device.design->preset.empty());
  if (bill.price || is_known) return std::nullopt;
  return "No price of " + device.name + " is known: " + DollarText(cost.device_price) +
         " is its estimated manufacturing cost at a margin of " + NumberText(std::round(100 * bill.margin.base())) +
         " % (cost.device)";
}

std::optional<std::string> PriceBelowCost(const Device& device, const HardwareCost& cost) {
  if (cost.device_price >= cost.device * (1 - kRoundingGuard)) return std::nullopt;
  return device.name + " costs " + DollarText(cost.device) + " to make, and its price is " +
         DollarText(cost.device_price);
}

std::optional<std::string> UnpaidMemory(const Device& device, const DeviceBill& bill) {
  const Bytes paid = bill.memory.stack_capacity * static_cast<double>(bill.memory.stacks);
  if (device.memory.capacity <= paid * (1 + kRoundingGuard)) return std::nullopt;
  return "The bill of materials has " + NumberText(In(paid, kGB)) + " GB of memory, the device " +
         NumberText(In(device.memory.capacity, kGB)) + " GB: its speed and room are those of cluster.device.memory";
}

}  // namespace

std::vector<std::string> BillWarnings(const Device& device, const DeviceBill& bill, const HardwareCost& cost) {
  std::vector<std::string> texts;
  for (const std::optional<std::string>& text : {OldPrice(device, bill, cost), GuessedPrice(device, bill, cost),
                                                 PriceBelowCost(device, cost), UnpaidMemory(device, bill)}) {
    if (text) texts.push_back(*text);
  }
  return texts;
}

}  // namespace slipstick
