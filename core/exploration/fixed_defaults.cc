#include "core/exploration/fixed_defaults.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/schema.h"
#include "core/scenario/legal_defaults.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

// An input that follows an edited unknown automatically.
struct Follower {
  std::string_view unknown, path;
};
constexpr std::array<Follower, 5> kFollowers{{{"cluster.devices", "training.global_batch"},
                                              {"cluster.devices", "serving.devices"},
                                              {"training.devices", "training.global_batch"},
                                              {"serving.batch", "serving.concurrency"},
                                              {"serving.requests_per_s", "serving.concurrency"}}};
constexpr std::array<std::string_view, 2> kMappings{"training.mapping", "serving.mapping"};

// Every input with its value; null if the request is invalid.
Json Resolved(const Json& request) {
  const Result<Scenario> scenario = ParseScenario(request);
  return scenario ? Write(*scenario) : Json();
}

bool IsChosen(const Json& request, std::string_view mapping) {
  const Json* is_auto = MemberAt(request, std::string(mapping) + ".auto");
  return is_auto != nullptr && *is_auto == true;
}

bool Follows(const Json& request, std::string_view path, std::string_view unknown) {
  const bool is_chosen = std::any_of(kMappings.begin(), kMappings.end(), [&](std::string_view mapping) {
    return path.starts_with(mapping) && IsChosen(request, mapping);
  });
  return is_chosen || std::any_of(kFollowers.begin(), kFollowers.end(),
                                  [&](const Follower& one) { return one.unknown == unknown && path == one.path; });
}

}  // namespace

Json WithDefaultsFixed(Json request, std::string_view unknown) {
  const Json resolved = Resolved(request);
  if (resolved.is_null()) return request;
  const Written written(request);
  for (const std::string_view path : kAdjustableDefaults) {
    const Json* value = MemberAt(resolved, path);
    if (value != nullptr && written.IsDefault(path) && !Follows(request, path, unknown))
      Apply(request, {{std::string(path), *value}});
  }
  return request;
}

Json HeldDefaults(Json edited, const Json& fixed) {
  Json held = Json::object();
  const Json wanted = Resolved(fixed);
  const Written written(edited), written_when_fixed(fixed);
  for (const bool all : {false, true}) {
    const Json moved = Resolved(edited);
    if (moved == wanted) break;
    for (const std::string_view path : kAdjustableDefaults) {
      const Json* value = MemberAt(wanted, path);
      const Json* now = MemberAt(moved, path);
      if (value == nullptr || !written.IsDefault(path) || written_when_fixed.IsDefault(path)) continue;
      if (!all && now != nullptr && *now == *value) continue;
      held[std::string(path)] = *value;
      Apply(edited, {{std::string(path), *value}});
    }
  }
  return held;
}

}  // namespace slipstick
