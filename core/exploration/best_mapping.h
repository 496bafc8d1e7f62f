// The best mapping of one request, for sweeps and solves that search at every point.
#pragma once

#include <string>

#include "core/exploration/search_job.h"
#include "core/exploration/search_spec.h"

namespace slipstick {

struct BestMapping {
  bool found = false;
  Json overrides;   // path -> value of the best mapping
  std::string why;  // if none was found: the number of mappings and why they fail
};
// Issues if the request leaves no mapping to try.
Result<BestMapping> FindBestMapping(const Json& request, const SearchSpec& spec);

// "tp 8, pp 4, …": the members other than 1, none and off.
std::string MappingText(const Json& overrides);

}  // namespace slipstick
