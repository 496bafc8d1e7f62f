// Replacements from the catalogue: clusters of newer devices, smaller models.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"

namespace slipstick {

struct Successor {
  std::string cluster;  // preset
  std::string device;   // its name
};

// Clusters of the catalogue whose device has the same vendor and kind of memory and the same links next to it, is no
// older, and nowhere slower or smaller. Domains of the same size come first, then by year. Left out is what an older
// one, or one of the same year and compute throughput with more memory, makes pointless. `scenario` is resolved. None
// for a cluster without a preset.
std::vector<Successor> SuccessorsOf(const Json& scenario);

struct SmallerModel {
  std::string id, name;  // of the preset
};

// Models by the same publisher that are no older and have fewer parameters, the largest first. `scenario` is resolved.
// None for a model that nobody published.
std::vector<SmallerModel> SmallerModelsOf(const Json& scenario);

}  // namespace slipstick
