// The plain abstraction: a cluster whose rates are a uniform fraction of the data sheet's, with the kernels of the
// family "roofline".
#pragma once

#include "core/hardware/cluster.h"
#include "core/software/utilizations.h"

namespace slipstick {

// All rates scaled, every efficiency 1, no latency but the network's. Collectives follow the textbook's equations
// unless the cluster states a library.
Cluster AtUtilizations(Cluster cluster, const Utilizations& utilizations);

}  // namespace slipstick
