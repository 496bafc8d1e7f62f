// Defaults of the cost inputs, derived from the cluster.
#pragma once

#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/economics/device_bill.h"

namespace slipstick {

// The value of a number, or of a text with a unit, in base units.
std::optional<double> NumberIn(const Json& json);
// Whether two values are equal; a text with a unit counts as the number that it stands for.
bool IsSameValue(const Json& one, const Json& other);

// Fills members that `cost` (an object) leaves out: the device's bill of materials from the catalogue, or one estimated
// from its dies and memory, and the catalogue's system of the cluster. `cluster` has its presets expanded. Die area,
// node, die count and memory capacity are always the device's, not the bill's. A device whose dies are `partitioned`,
// like one of a chip design, is not sold at the catalogue's price but at its margin.
void ApplyCostDefaults(const Json& cluster, bool partitioned, Json& cost);

// The same for the prefill pool of a request, if it has another device than the cluster (`serving` and `cost` as in a
// request). Its system is that of the catalogue's first cluster with this device.
void ApplyPrefillPoolDefaults(const Json& serving, Json& cost);

// The catalogue's bill of a device, if it has one.
std::optional<DeviceBill> CatalogueBill(const std::string& id);

// Whole stacks for a capacity equal to `filled` stacks.
Count StacksFor(double filled);

// The catalogue's id of a memory technology, such as hbm3e of HBM3e; "" if it has none.
std::string DramOf(const std::string& technology);

}  // namespace slipstick
