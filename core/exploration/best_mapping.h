// The best mapping of one request, found anew: what a sweep or a solution does at each of its points when asked.
#pragma once

#include <string>

#include "core/exploration/search_job.h"
#include "core/exploration/search_spec.h"

namespace slipstick {

struct BestMapping {
  bool found = false;
  Json overrides;   // path -> value, of the best
  std::string why;  // none: how many mappings there are and what they fail by
};
// Issues where the request leaves no mapping to try.
Result<BestMapping> FindBestMapping(const Json& request, const SearchSpec& spec);

// The request with the mapping laid over it.
Json WithMapping(Json request, const BestMapping& best);

// "tp 8, pp 4, …": the members that differ from 1, none and off, for people.
std::string MappingText(const Json& overrides);

}  // namespace slipstick
