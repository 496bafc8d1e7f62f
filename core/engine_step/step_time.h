// Time of one pass of a model over its devices: layers, head, and the engine's overheads.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment);
PassCost TimeOf(const DecodePass& pass, const Deployment& deployment);

}  // namespace slipstick
