// Rule-derived values of a device, in a resolved scenario that is read back.
#pragma once

#include "core/base/json.h"

namespace slipstick {

// Drops the efficiencies and the usable memory that the catalogue entry does not state and that equal what the rules
// give. A resolved scenario holds them as plain values; without this they would no longer count as assumed.
void DropRuleDerivedValues(Json& device);

}  // namespace slipstick
