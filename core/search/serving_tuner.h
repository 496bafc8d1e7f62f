// The best mapping of a serving load, by trying every kind of replica whose weights and requests fit.
//
// Best is the most tokens per second and device among the mappings whose time per output token is at most twice the
// shortest: small replicas serve most, but a user waits for them, and beyond that factor people buy more devices rather
// than wait. A load of one output token has no such time. Of requests counted in total none waits where a mapping holds
// them all; where none does, the most tokens win, however long each takes. Under given arrivals all that hold serve the
// same, and the fastest wins. Where nothing fits, the mapping that comes nearest.
#pragma once

#include <string>
#include <vector>

#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/search/chosen.h"
#include "core/workload/model.h"

namespace slipstick {

struct TunedServing {
  ServingLoad load;
  bool is_legal = false;  // otherwise no mapping is
  bool fits = false;
  std::vector<Chosen> chosen{};
  Count tried = 0;  // mappings
};
// Devices of the largest replica that is tried, unless written degrees make it larger: three times the largest that was
// published (320, for DeepSeek-V3). Without it a cluster of millions of devices has as many mappings.
inline constexpr Count kMostReplicaDevices = 1024;
// The model must be complete. `pinned`: members of the mapping that stay as they are.
TunedServing TuneServing(const Model& model, const Cluster& cluster, const ServingLoad& load,
                         const std::vector<std::string>& pinned);

}  // namespace slipstick
