// What a search over mappings is asked: which part, by which figure, within which limits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/base/quantity.h"

namespace slipstick {

struct SearchSpec {
  std::string part = "training";    // or "serving"
  std::string objective;            // a figure's name (SearchObjectives); "" for step_time_s or tokens_per_s_per_device
  std::vector<std::string> pareto;  // one or two further figures that span a Pareto front with the objective
  // "PATH<=VALUE", "PATH>=VALUE", "PATH=a,b": of a member of the mapping it cuts the space (or widens it to the formats
  // listed), of a figure it rejects.
  std::vector<std::string> limits;
  std::size_t top = 10;
  Count shard = 0, shards = 1;  // which part of the space
  bool prune = true;            // what cannot enter the answer is not timed; the answer is the same without
};
Result<SearchSpec> ReadSearchSpec(const Json& json);

// A search spec that is a part of another request: {"for", "objective", "limits"}; absent or null: none.
Result<std::optional<SearchSpec>> ReadInnerSearch(const Json& spec, const char* key);

}  // namespace slipstick
