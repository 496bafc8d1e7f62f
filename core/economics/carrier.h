// Whether a package can carry its memory stacks.
#pragma once

#include <optional>
#include <string>

#include "core/economics/device_bill.h"

namespace slipstick {

// A warning if HBM stacks are on a package that cannot carry them: a stack has a thousand signals, which are too fine
// for the wiring of an organic substrate.
std::optional<std::string> CarrierWarning(const DeviceBill& bill);

}  // namespace slipstick
