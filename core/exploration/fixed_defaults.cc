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

// An input that follows an edited unknown automatically; a mapping does so only if it is chosen automatically.
struct Follower {
  std::string_view unknown, path;
};
constexpr std::array<Follower, 10> kFollowers{{{"cluster.devices", "training.global_batch"},
                                               {"cluster.devices", "training.mapping"},
                                               {"cluster.devices", "serving.devices"},
                                               {"cluster.devices", "serving.mapping"},
                                               {"training.devices", "training.global_batch"},
                                               {"training.devices", "training.mapping"},
                                               {"serving.devices", "serving.mapping"},
                                               {"serving.concurrency", "serving.mapping"},
                                               {"serving.batch", "serving.concurrency"},
                                               {"serving.requests_per_s", "serving.concurrency"}}};

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
  return std::any_of(kFollowers.begin(), kFollowers.end(), [&](const Follower& one) {
    if (one.unknown != unknown) return false;
    return path == one.path || (path.starts_with(one.path) && IsChosen(request, one.path));
  });
}

}  // namespace

bool HasFollowers(std::string_view unknown) {
  return std::any_of(kFollowers.begin(), kFollowers.end(), [&](const Follower& one) { return one.unknown == unknown; });
}

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
