// Fabrics whose numbers have nodes, for explanations.
#pragma once

#include "core/base/tape.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// The networks with the nodes of their inputs and of their fabrics' constants. The tape keeps the fabrics.
void BindNetworks(std::vector<NetworkLevel>& networks, Tape& tape);

}  // namespace slipstick
