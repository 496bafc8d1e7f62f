// Steps of an engine with one stream whose layers are split over the devices (llama.cpp).
#pragma once

#include "core/serving/step_time.h"

namespace slipstick {

PassCost LayerSplitPrefill(const PrefillPass& pass, const Deployment& d, Trace& trace);
PassCost LayerSplitDecode(const DecodePass& pass, const Deployment& d, Trace& trace);

}  // namespace slipstick
