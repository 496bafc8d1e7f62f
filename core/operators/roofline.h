// The plain roofline: a cluster whose rates are a uniform fraction of the data sheet's, with the kernels of the family
// "roofline".
#pragma once

#include "core/hardware/cluster.h"
#include "core/software/utilizations.h"

namespace slipstick {

// Scales all rates, sets every efficiency to 1, and keeps only the network's latencies. Collectives use the textbook's
// equations unless the cluster states a library.
Cluster AtUtilizations(Cluster cluster, const Utilizations& utilizations);

}  // namespace slipstick
