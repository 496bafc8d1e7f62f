// What a pass of m rows takes outside attention: products, experts, element-wise kernels, exchanges, gaps, head.
#pragma once

#include "core/serving/deployment.h"
#include "core/serving/step_time.h"

namespace slipstick {

// Of one layer each: added up over the layers by the caller. Every operator is added to `parts` with the number of layers that
// have it.
struct LayerCost {
  Seconds projections;  // of a layer that attends
  Seconds recurrent;    // of a layer with a recurrence, that apart
  Seconds mlp;          // of a dense layer
  Seconds experts;      // of a layer with experts, their exchange apart
  Seconds dispatch;     // of its tokens to the devices of their experts
  Seconds combine;      // of the results
  Seconds elements;     // norms, residual, activation
  Seconds reductions;
  Seconds gaps;
  double operations = 0;  // that the host launches in a layer, mean over the layers
};
LayerCost TimeLayer(const Deployment& d, double rows, Phase phase, Parts& parts, Trace& trace);

// Output matrix and choice of a token for `rows` sequences.
Seconds TimeHead(const Deployment& d, double rows, bool waits_for_host, Parts& parts, Trace& trace);

}  // namespace slipstick
