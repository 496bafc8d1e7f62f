// Where the numbers of a training step get the nodes by which a trace knows the inputs.
#pragma once

#include <string>
#include <string_view>

#include "core/base/bind_inputs.h"
#include "core/training_stage/context.h"

namespace slipstick {

// A context whose numbers have nodes. It refers to copies that the trace keeps, or to the arguments where the trace is
// off.
TrainingContext MakeContext(const Model& model, const Cluster& cluster, const TrainingRun& run, Trace& trace);

// A number that a flag or a choice stands for, with the node of that input.
template <class Q>
Q InputAt(std::string_view path, Q value, const TrainingContext& context) {
  if (context.explained != nullptr) BindInputs(value, std::string(path), *context.explained);
  return value;
}

}  // namespace slipstick
