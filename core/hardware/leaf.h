// The leaf switches of a fat tree. The times of collectives and the count of switches rest on the same leaf.
#pragma once

#include "core/hardware/network.h"

namespace slipstick {

// Ports of a leaf switch that lead to devices; the others lead to the core.
Ratio PortsDown(Ratio ports, Ratio oversubscription);

// Groups of the level below that a leaf joins: as many as stated, otherwise as many as fill a leaf switch, where each
// rail has switches of its own; all `groups`, of `below` devices each, if one switch has ports for them. A level whose
// ports are not counted has a leaf for each group.
Ratio GroupsPerLeaf(const NetworkLevel& level, Ratio groups, Ratio below);

}  // namespace slipstick
