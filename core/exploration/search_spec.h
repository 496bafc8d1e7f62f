// The specification of a search over mappings: part, objective, limits, and the axes of other inputs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/base/quantity.h"
#include "core/scenario/request.h"

namespace slipstick {

// The text of a value: a text itself, anything else as JSON.
std::string PlainText(const Json& value);
// The texts of a list's values; none if `list` is null or no list.
std::vector<std::string> TextsOf(const Json* list);

// One input and the values it takes: "training.mapping.tp=1,2,4", "cluster.devices=8:512:7:log".
struct Axis {
  std::string path;
  std::vector<Json> values;
};
Result<Axis> ParseAxis(std::string_view text);
// All combinations of the values of axes, the last axis fastest.
Result<std::vector<std::vector<Assignment>>> CombinationsOf(const std::vector<std::string>& axes);

struct SearchSpec {
  std::string part = "training";    // or "serving"
  std::string objective;            // a searchable figure; "": step_time_s or tokens_per_s_per_device
  std::vector<std::string> pareto;  // one or two further figures of a Pareto frontier
  // "PATH<=VALUE", "PATH>=VALUE", "PATH=a,b". A limit on a member of the mapping restricts the space (or adds the
  // listed formats); a limit on a figure rejects mappings.
  std::vector<std::string> limits;
  std::vector<std::string> axes;  // "PATH=a,b,c" for other inputs: every mapping at every combination of their values
  std::size_t top = 10;
  Count shard = 0, shards = 1;  // which part of the space
  bool prune = true;            // does not time mappings that cannot enter the answer; never changes the answer
};
Result<SearchSpec> ReadSearchSpec(const Json& json);

// The search spec inside another request: {"for", "objective", "limits"}; absent or null: none.
Result<std::optional<SearchSpec>> ReadInnerSearch(const Json& spec, const char* key);

}  // namespace slipstick
