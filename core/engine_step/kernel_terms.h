// Where callers that name their terms meet the parts of a step whose numbers remember: deployments get the nodes of
// what a trace knows them by, and figures the names that callers find them under. It goes when no caller names its terms
// any more.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// The deployment with the nodes of its inputs and of the figures that it was made of; of a trace that is off the
// deployment itself. Its memory for KV cache and its sessions are not followed.
const Deployment& Named(const Deployment& deployment, Trace& trace);
// Names: sequences, tokens, cached; sequences, context, checked, grown.
PrefillPass Named(const PrefillPass& pass, Trace& trace);
DecodePass Named(const DecodePass& pass, Trace& trace);

// Passes of engines with a composition of their own. Figures: step_time; of a prefill pass_time, occupancy, fixed_time.
PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace);
PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace);
PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment, Trace& trace);
PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment, Trace& trace);

}  // namespace slipstick
