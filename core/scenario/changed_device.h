// A device of the catalogue whose members a request changed, at the price of the unchanged one.
#pragma once

#include <optional>
#include <string>

#include "core/economics/device_bill.h"
#include "core/hardware/device.h"

namespace slipstick {

// The warning, where what the device can do or is made of was changed and its price was not.
std::optional<std::string> ChangedDeviceWarning(const Device& device, const DeviceBill& bill);

}  // namespace slipstick
