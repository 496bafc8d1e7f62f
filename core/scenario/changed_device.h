// Warns of a catalogue device that the request changed while its price stayed.
#pragma once

#include <optional>
#include <string>

#include "core/economics/device_bill.h"
#include "core/hardware/device.h"

namespace slipstick {

// The warning if performance or silicon differ from the catalogue's device and the price does not.
std::optional<std::string> ChangedDeviceWarning(const Device& device, const DeviceBill& bill);

}  // namespace slipstick
