// Parts of a layer's time that layer_time.cc adds up.
#pragma once

#include <string_view>

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// Adds operators of `layers` layers to the breakdown, and returns the time of one.
struct Adder {
  OperatorBreakdown& operators;
  Ratio layers;
  Seconds operator()(std::string_view name, const KernelTime& kernel) const {
    operators.Add(name, kernel, layers);
    return kernel.time;
  }
  Seconds operator()(const Deployment& deployment, const MatrixProduct& product, Ratio rows) const;
  // Low-rank adapters beside the products, if the load has them.
  [[nodiscard]] Seconds Adapters(const Deployment& deployment, const MatrixProducts& products, Ratio rows) const;
};

// Projections of attention where layers share a KV cache: mean over the kinds of attention.
Seconds SharedKvProjections(const Deployment& deployment, Ratio rows, OperatorBreakdown& operators);
// MLP of a dense layer; where those that share a KV cache have one of another width, the mean.
Seconds MlpOf(const Deployment& deployment, Ratio rows, OperatorBreakdown& operators);
// The tables of all layers: rows gathered, the projection of the embedding added to them.
Seconds LayerInputs(const Deployment& deployment, Ratio rows, Phase phase, OperatorBreakdown& operators);

}  // namespace slipstick
