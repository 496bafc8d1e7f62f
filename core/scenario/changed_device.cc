#include "core/scenario/changed_device.h"

#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/scenario/cost_defaults.h"

namespace slipstick {
namespace {

// The members that decide the manufacturing cost or the price of a device.
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

}  // namespace

std::optional<std::string> ChangedDeviceWarning(const Device& device, const DeviceBill& bill) {
  if (device.design || device.preset.empty() || bill.preset != device.preset) return std::nullopt;
  const Json* entry = FindPreset("device", device.preset);
  if (entry == nullptr) return std::nullopt;
  Issues none;  // catalogue entries have none
  Device usual;
  Read(WithoutRemarks(*entry), "", none, usual);
  if (PriceRelevant(usual) == PriceRelevant(device)) return std::nullopt;
  const std::optional<DeviceBill> usual_bill = CatalogueBill(device.preset);
  if (!usual_bill) return std::nullopt;
  if (Write(*usual_bill) == Write(bill))
    return "Price and bill of materials are for the unmodified " + usual_bill->name;
  if (bill.price && bill.price == usual_bill->price) return "The price is for the unmodified " + usual_bill->name;
  return std::nullopt;
}

}  // namespace slipstick
