// Steps of an engine with one stream whose layers are split over the devices (llama.cpp).
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment);
PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment);

}  // namespace slipstick
