// Warnings about prices and bills of materials that do not belong to the device that they are asked for.
#pragma once

#include <string>
#include <vector>

#include "core/economics/cost.h"
#include "core/hardware/device.h"

namespace slipstick {

// A price that is guessed, that stays while the device or its bill changes, or that is below the cost of making; and a
// bill that pays for less memory than the device has. `cost`: what the bill gives.
std::vector<std::string> BillWarnings(const Device& device, const DeviceBill& bill, const HardwareCost& cost);

}  // namespace slipstick
