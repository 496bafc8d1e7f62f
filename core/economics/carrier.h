// Whether a package's wiring can carry what stands in it.
#pragma once

#include <optional>
#include <string>

#include "core/economics/device_bill.h"

namespace slipstick {

// The warning, where memory stacks stand on a package that cannot hold them. A stack has a thousand signals, finer than the wiring
// of an organic substrate.
std::optional<std::string> CarrierWarning(const DeviceBill& bill);

}  // namespace slipstick
