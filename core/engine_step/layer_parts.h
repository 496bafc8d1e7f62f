// Parts of a layer's time that layer_time.cc adds up.
#pragma once

#include <string_view>

#include "core/base/sum.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// Adds an operator of `layers` layers, the figure `layers_are`, to the breakdown.
struct Adder {
  OperatorBreakdown& operators;
  double layers;
  std::string_view layers_are;
  Seconds operator()(std::string_view name, const KernelTime& kernel, Trace& trace) const {
    operators.Add(name, kernel, layers, layers_are, trace);
    return kernel.time;
  }
  void operator()(const Deployment& deployment, const MatrixProduct& product, double rows, ListedSum<Seconds>& sum,
                  Trace& trace) const;
};

// Low-rank adapters beside the products, if the load has them.
void AddAdapters(const Deployment& deployment, const MatrixProducts& products, double rows, const Adder& add,
                 ListedSum<Seconds>& sum, Trace& trace);

// Projections of attention where layers share a KV cache: mean over the kinds of attention. Recorded as projections.
Seconds SharedKvProjections(const Deployment& deployment, double rows, OperatorBreakdown& operators, Trace& trace);
// MLP of a dense layer; where those that share a KV cache have one of another width, the mean. Recorded as mlp.
Seconds MlpOf(const Deployment& deployment, double rows, OperatorBreakdown& operators, Trace& trace);
// The tables of all layers: rows gathered, the projection of the embedding added to them. Recorded as inputs.
Seconds LayerInputs(const Deployment& deployment, double rows, Phase phase, OperatorBreakdown& operators, Trace& trace);

}  // namespace slipstick
