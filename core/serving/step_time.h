// Time of one pass of a model over its devices: layers, head, and the engine's overheads.
#pragma once

#include "core/base/trace.h"
#include "core/serving/deployment.h"
#include "core/serving/step.h"

namespace slipstick {

PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment, Trace& trace);
PassCost TimeOf(const DecodePass& pass, const Deployment& deployment, Trace& trace);

// Mean over the decode steps of an output, while contexts grow from prompt to prompt + output.
inline PassCost MeanDecode(const Deployment& deployment, double sequences, double prompt, double output, double checked, Trace& trace) {
  return TimeOf(DecodePass{sequences, prompt + output / 2, checked, output}, deployment, trace);
}

}  // namespace slipstick
