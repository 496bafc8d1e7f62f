// Devices and dies that cannot exist, whatever they cost.
#pragma once

#include <optional>
#include <string>

#include "core/base/issue.h"
#include "core/economics/device_bill.h"
#include "core/hardware/device.h"

namespace slipstick {

// Reports a power limit that idling exceeds, and more usable memory than the device has.
void CheckDevice(const Device& device, const std::string& path, Issues& issues);

// Reports repeated blocks that are larger than their die, and dies whose blocks are all spare.
void CheckUnits(const DeviceBill& bill, const std::string& path, Issues& issues);

// Lowers the bandwidth of the memory to what the power limit feeds beyond idling. A chip design has a budget for it.
void LimitMemory(Device& device);
// A warning if LimitMemory did so.
std::optional<std::string> LimitedMemoryWarning(const Device& device);

}  // namespace slipstick
