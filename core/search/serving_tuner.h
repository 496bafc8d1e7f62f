// The best mapping of a serving load, found by trying every kind of replica.
//
// The best mapping has the highest throughput per device among those whose time per output token is at most twice the
// shortest: small replicas have the highest throughput but are slow for a user, and beyond a factor of two people buy
// more devices. The bound does not apply to loads of one output token. If the total number of requests is fixed and
// some mappings hold all at once, only these compete; if none does, throughput alone decides. At given arrival rates
// all that keep up serve the same, so the fastest wins. If nothing fits, the mapping nearest to fitting wins.
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
  bool is_legal = false;  // false: no mapping is legal
  bool fits = false;
  std::vector<Chosen> chosen{};
  Count tried = 0;  // number of mappings
};
// Devices of the largest replica that is tried, unless stated degrees make it larger: three times the largest published
// (320, for DeepSeek-V3). Without a bound, a cluster of millions of devices has as many mappings.
inline constexpr Count kMostReplicaDevices = 1024;
// The model must be complete. `pinned`: members of the mapping that stay as they are.
TunedServing TuneServing(const Model& model, const Cluster& cluster, const ServingLoad& load,
                         const std::vector<std::string>& pinned);

}  // namespace slipstick
