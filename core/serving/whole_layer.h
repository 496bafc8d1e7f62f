// Steps of an engine that compiles a layer into one operator (Gaudi, Neuron).
#pragma once

#include "core/serving/step_time.h"

namespace slipstick {

PassCost WholeLayerPrefill(const PrefillPass& pass, const Deployment& d, Trace& trace);
PassCost WholeLayerDecode(const DecodePass& pass, const Deployment& d, Trace& trace);

}  // namespace slipstick
