// Where callers that know a trace meet the fabrics of this folder, whose numbers remember.
#pragma once

#include "core/base/trace.h"
#include "core/collectives/fabric.h"

namespace slipstick {

// With the nodes of its constants.
FabricConstants Named(FabricConstants fabric, Trace& trace);

}  // namespace slipstick
