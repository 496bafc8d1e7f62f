// Fabrics whose numbers have nodes, for explanations.
#pragma once

#include "core/base/tape.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// Binds the inputs of the networks and the constants of their fabrics. The tape keeps the fabrics.
void BindNetworks(std::vector<NetworkLevel>& networks, Tape& tape);

}  // namespace slipstick
