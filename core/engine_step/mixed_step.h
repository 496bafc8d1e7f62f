// Time of a step that decodes and prefills at once, in an engine that runs kernel by kernel on one pipeline stage. No
// graph captures such a step.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

Seconds TimeOf(const MixedPass& pass, const Deployment& deployment);

}  // namespace slipstick
