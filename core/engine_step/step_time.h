// Time of one pass of a model over its devices: layers, head, and the engine's overheads.
#pragma once

#include <string_view>
#include <vector>

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment);
PassCost TimeOf(const DecodePass& pass, const Deployment& deployment);
// In an engine that runs kernel by kernel on one pipeline stage. No graph captures such a step.
Seconds TimeOf(const MixedPass& pass, const Deployment& deployment);

// How an engine composes the time of a step: one row per composition, next to its code.
struct StepComposition {
  PassCost (*prefill)(const PrefillPass& pass, const Deployment& deployment);
  PassCost (*decode)(const DecodePass& pass, const Deployment& deployment);
  bool (*has_constants)(const Engine& engine);  // whether `engine` has the constants that the composition needs
  bool tensor_parallel = true;                  // a layer is split over devices
  bool attention_groups = false;                // DP attention
  bool splits_context = false;                  // ranks can split the context of a sequence
  bool mixes_phases = false;                    // a step both prefills and decodes
  bool encodes_images = false;
  bool reads_parts_of_context = false;  // sliding windows, sparse attention, compressed history
  bool timed_by_families = false;       // uses the constants of the device's kernel family
  bool only_half_products = false;      // matrix products always run in fp16, whatever precision the load requests
};

extern const StepComposition kKernelSteps, kCompiledGraphSteps, kLayerPipelinedSteps;

const StepComposition& CompositionOf(const Engine& engine);

// A degree of a mapping that an engine does not have, and why.
struct MissingDegree {
  std::string_view member, message;
};
std::vector<MissingDegree> MissingDegrees(const Engine& engine, const ServingMapping& mapping);

// Whether ranks can share a prompt: prefill context parallelism.
bool HasPrefillContext(const Engine& engine);

}  // namespace slipstick
