// Steps of an engine that compiles a layer into one operator (Gaudi, Neuron).
#pragma once

#include "core/base/trace.h"
#include "core/serving/deployment.h"
#include "core/serving/step.h"

namespace slipstick {

PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace);
PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace);

}  // namespace slipstick
