// Routed experts of a layer and the exchange of their tokens.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/step.h"

namespace slipstick {

// A layer's routed experts and the exchange of their tokens: the engine's kernels, else the library collectives that
// are faster together with the experts' work.
struct RoutedExperts {
  KernelTime experts;
  ExpertTraffic traffic;
};
// Tokens of each attention group, those that a device holds before dispatch and after combine, and the width at which
// experts take them.
struct RoutedRows {
  Ratio tokens = 1, held = 1, width = 1;
};
// A layer's routed experts, without the exchange.
KernelTime TimeExperts(const Deployment& deployment, const RoutedRows& rows);
// Four-bit weights with narrow activations run on four-bit units, if the device has them.
bool HasFourBitExperts(const Deployment& deployment);
RoutedExperts Routed(const Deployment& deployment, Ratio rows, Phase phase);

}  // namespace slipstick
