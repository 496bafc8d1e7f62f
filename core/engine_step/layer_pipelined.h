// Steps of an engine with one stream whose layers are split over the devices (llama.cpp).
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// `count`: of the model.
PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment, const ParameterCount& count);
PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment, const ParameterCount& count);

}  // namespace slipstick
