// Number formats computed in place of those that a device does not support.
#pragma once

#include <optional>
#include <string>

#include "core/hardware/device.h"
#include "core/workload/precision.h"

namespace slipstick {

// The substitute for a format that the device does not support; none if it supports it.
std::optional<Precision> SubstituteFor(const Device& device, Precision requested);

// "A100 SXM4 80 GB has no fp8 arithmetic: matrix products are computed in bf16" without a period; "" if it supports the
// format.
std::string SubstitutionText(const Device& device, Precision requested);

}  // namespace slipstick
