// Steps of an engine with one stream whose layers are split over the devices (llama.cpp).
#pragma once

#include "core/base/trace.h"
#include "core/serving/deployment.h"
#include "core/serving/step.h"

namespace slipstick {

PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace);
PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace);

}  // namespace slipstick
