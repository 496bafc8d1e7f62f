// Steps of an engine that compiles a layer into one operator (Gaudi, Neuron).
#pragma once

#include "core/serving/step_time.h"

namespace slipstick {

StepTime WholeLayerPrefill(const PrefillPass& pass, const Deployment& d, Trace& trace);
StepTime WholeLayerDecode(const DecodePass& pass, const Deployment& d, Trace& trace);

}  // namespace slipstick
