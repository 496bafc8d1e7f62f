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

// Clusters of the catalogue whose device has the same vendor, kind of memory and scale-up links, is not older, and is
// nowhere slower or smaller. Domains of the same size come first, then by year. Omits clusters that an older one, or
// one of the same year and compute throughput with more memory, makes pointless. `scenario` must be resolved. Empty for
// a cluster without a preset.
std::vector<Successor> SuccessorsOf(const Json& scenario);

struct SmallerModel {
  std::string id, name;  // of the preset
};

// Models by the same publisher that are not older and have fewer parameters, the largest first. `scenario` must be
// resolved. Empty for a model that is not from the catalogue.
std::vector<SmallerModel> SmallerModelsOf(const Json& scenario);

}  // namespace slipstick
