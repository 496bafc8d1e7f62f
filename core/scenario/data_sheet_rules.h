// Efficiencies that rules set for a device known by its data sheet only, in a scenario that was written out and is read back.
#pragma once

#include "core/base/json.h"

namespace slipstick {

// Drops from a device of a request the efficiencies and the usable memory that its catalogue entry does not state and that equal what
// the rules give: a resolved scenario holds them, and they are assumed there as they were in the one that it was resolved from.
void DropRuleDerivedValues(Json& device);

}  // namespace slipstick
