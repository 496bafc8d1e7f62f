// What a step's formulas read of its context: numbers with the nodes of what the trace knows them by. It becomes the
// context itself when no caller names its terms any more.
#pragma once

#include <string>
#include <string_view>

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/training_stage/named_terms.h"

namespace slipstick {

// What the node of a value stands for is what the name stands for from here on; an intermediate result gets the name.
template <class Q>
Q KnownAs(std::string_view symbol, Q value, Trace& trace) {
  if (!trace.on()) return value;
  const bool is_nameless = value.node() != nullptr && value.node()->label == nullptr;
  const Q named = is_nameless ? Figure(symbol, value) : value;
  trace.Alias(symbol, named, "the node of " + std::string(symbol));
  return named;
}

// A number that follows from the input at a path.
template <class Q>
Q InputAt(Q value, std::string_view path, Trace& trace) {
  if (trace.on()) BindInputs(value, std::string(path), trace);
  return value;
}

// What a context says of a step. Names: those of ExplainShape.
struct StepTerms {
  StepTerms(const TrainingContext& context, Trace& trace);
  const TrainingRun& run;
  Ratio tensor, context, pipeline, chunks, data, expert, expert_tensor, micro_batches;
  Ratio tokens, own_tokens;  // of a micro-batch on one device, and of them those whose residual stream it holds
  Ratio offloaded_gradients;
  BytesPerSecond host_bandwidth;
  Ratio pod_jitter, node_devices;         // slow-down of a step per doubling of the pods or nodes; devices of a node
  [[nodiscard]] Ratio DataRanks() const;  // that hold the same dense weights
  [[nodiscard]] Ratio ExpertDataRanks() const;  // that hold the same experts
  // Ranks that split a state which ZeRO shards from stage `from` on, of those that hold the same weights.
  [[nodiscard]] Ratio ShardsFrom(int from, Ratio data_ranks) const;
};

}  // namespace slipstick
