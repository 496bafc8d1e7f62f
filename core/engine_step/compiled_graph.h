// Steps of an engine that compiles a layer into one operator (Gaudi, Neuron).
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// Weights of a layer that has the part, on all devices, heads padded to the ranks.
struct GraphElements {
  Ratio attention = 0, recurrence = 0, mlp = 0;
  MatrixElements experts{};
  Ratio all_layers = 0;  // where layers share a KV cache: attention and MLP of all of them
};
PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment, const GraphElements& elements);
PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment, const GraphElements& elements);

}  // namespace slipstick
