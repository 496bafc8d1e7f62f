// What a device computes in place of a number format that it has no arithmetic for.
#pragma once

#include <optional>
#include <string>

#include "core/hardware/device.h"
#include "core/workload/precision.h"

namespace slipstick {

// The format that stands in for one that the device has no arithmetic for; none where it has it.
std::optional<Precision> SubstituteFor(const Device& device, Precision asked);

// "A100 SXM4 80 GB has no fp8 arithmetic: matrix products are computed in bf16" with no full stop; "" where it has it.
std::string SubstitutionText(const Device& device, Precision asked);

}  // namespace slipstick
