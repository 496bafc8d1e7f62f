// Time of a step that decodes and prefills at once, of an engine that runs kernel by kernel on one pipeline stage. No graph captures
// such a step.
#pragma once

#include "core/base/trace.h"
#include "core/serving/deployment.h"
#include "core/serving/step.h"

namespace slipstick {

Seconds TimeOf(const MixedPass& pass, const Deployment& deployment, Trace& trace);

}  // namespace slipstick
