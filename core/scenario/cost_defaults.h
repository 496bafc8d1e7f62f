// What the cost inputs take from the cluster where the request does not say otherwise.
#pragma once

#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/economics/device_bill.h"
#include "core/hardware/device.h"

namespace slipstick {

// The number that a number, or a text with its unit, means in base units; nothing where it is neither.
std::optional<double> NumberIn(const Json& json);

// Lays under `cost` (an object) the catalogue's bill of the device, or one made up from its dies and memory, and the
// catalogue's system of the cluster. `cluster` has its presets expanded. The device's own die area, node and count, and
// its memory capacity, stand whatever the bill says.
void ApplyCostDefaults(const Json& cluster, Json& cost);

// The bill of a device of the catalogue as it stands there; none where it has none.
std::optional<DeviceBill> CatalogueBill(const std::string& id);

// The same as the first for a device that was worked out after its request was read: its dies, node and memory replace the bill's.
void UpdateBillForDevice(const Device& device, DeviceBill& bill);

}  // namespace slipstick
