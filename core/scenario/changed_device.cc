#include "core/scenario/changed_device.h"

#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/scenario/cost_defaults.h"

namespace slipstick {
namespace {

// The members that decide what a device costs to make or what it sells for.
Json PriceRelevant(const Device& device) {
  return Json{{"peak", Write(device.peak)},
              {"capacity", device.memory.capacity.base()},
              {"bandwidth", device.memory.bandwidth.base()},
              {"technology", device.memory.technology},
              {"caches", Write(device.caches)},
              {"units", device.units},
              {"clock", device.clock.base()},
              {"tdp", device.tdp.base()},
              {"die", Write(device.die)}};
}

}  // namespace

std::optional<std::string> ChangedDeviceWarning(const Device& device, const DeviceBill& bill) {
  if (device.design || device.preset.empty() || bill.preset != device.preset) return std::nullopt;
  const Json* entry = FindPreset("device", device.preset);
  if (entry == nullptr) return std::nullopt;
  Issues none;  // the catalogue's entries read without any
  Device usual;
  Read(WithoutRemarks(*entry), "", none, usual);
  if (PriceRelevant(usual) == PriceRelevant(device)) return std::nullopt;
  const std::optional<DeviceBill> usual_bill = CatalogueBill(device.preset);
  if (!usual_bill) return std::nullopt;
  if (Write(*usual_bill) == Write(bill))
    return "Price and bill of materials are those of " + usual_bill->name + "; the changed device would cost something else";
  if (bill.price && bill.price == usual_bill->price)
    return "The price is that of " + usual_bill->name + "; the changed device would cost something else";
  return std::nullopt;
}

}  // namespace slipstick
