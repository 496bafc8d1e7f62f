// Steps of an engine that compiles a layer into one operator (Gaudi, Neuron).
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment);
PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment);

}  // namespace slipstick
