// Time of one pass of a model over its devices: layers, head, and the engine's overheads.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment);
PassCost TimeOf(const DecodePass& pass, const Deployment& deployment);

// How an engine composes the time of a step: one row a composition, beside its code.

struct StepComposition {
  PassCost (*prefill)(const PrefillPass& pass, const Deployment& deployment);
  PassCost (*decode)(const DecodePass& pass, const Deployment& deployment);
  bool (*has_constants)(const Engine& engine);  // those that the composition needs, a member of its name
  bool tensor_parallel = true;                  // a layer is split over devices
  bool attention_groups = false;                // DP attention
  bool splits_context = false;                  // of a sequence, over ranks
  bool mixes_phases = false;                    // a step both prefills and decodes
  bool encodes_images = false;
  bool reads_parts_of_context = false;  // windows, what an indexer selects, a compressed history
  bool timed_by_families = false;       // by the constants of the device's family of kernels
  bool only_half_products = false;      // matrix products in fp16, whatever the load asks for
};

extern const StepComposition kKernelSteps, kCompiledGraphSteps, kLayerPipelinedSteps;

const StepComposition& CompositionOf(const Engine& engine);

// Whether ranks can share a prompt: prefill context parallelism.
bool HasPrefillContext(const Engine& engine);

}  // namespace slipstick
