#include "core/exploration/search_spec.h"

#include <algorithm>
#include <utility>

#include "core/base/schema.h"

namespace slipstick {

Result<SearchSpec> ReadSearchSpec(const Json& json) {
  SearchSpec spec;
  Issues issues;
  if (!json.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(json)}};
  for (const auto& member : json.items()) {
    const std::string& key = member.key();
    const Json& value = member.value();
    const auto texts = [&](std::vector<std::string>& out) {
      if (!value.is_array()) issues.push_back({key, "Must be a list of texts"});
      for (const Json& one : value) out.push_back(one.is_string() ? one.get<std::string>() : JsonText(one));
    };
    if (key == "request") continue;
    if (key == "for" && value.is_string()) {
      spec.part = TextOf(value);
    } else if (key == "objective" && value.is_string()) {
      spec.objective = TextOf(value);
    } else if (key == "pareto") {
      texts(spec.pareto);
    } else if (key == "limits") {
      texts(spec.limits);
    } else if (key == "axes") {
      texts(spec.axes);
    } else if (key == "top" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.top = std::min<std::size_t>(1000, value.get<std::size_t>());
    } else if (key == "shard" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.shard = value.get<Count>();
    } else if (key == "shards" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.shards = value.get<Count>();
    } else if (key == "prune" && value.is_boolean()) {
      spec.prune = value.get<bool>();
    } else {
      issues.push_back({key, "Unknown member or wrong type: choose for, objective, pareto, limits, axes, top, shard, shards or prune"});
    }
  }
  if (!issues.empty()) return issues;
  return spec;
}

Result<std::optional<SearchSpec>> ReadInnerSearch(const Json& spec, const char* key) {
  if (!spec.is_object() || !spec.contains(key) || spec[key].is_null()) return std::optional<SearchSpec>();
  Result<SearchSpec> inner = ReadSearchSpec(spec[key]);
  if (!inner) return std::move(inner.issues);
  return std::optional<SearchSpec>(std::move(*inner));
}

}  // namespace slipstick
