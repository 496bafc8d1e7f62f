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

// What follows an unknown by itself, as it does where that is edited.
struct Follower {
  std::string_view unknown, path;
};
constexpr std::array<Follower, 5> kFollowers{{{"cluster.devices", "training.global_batch"},
                                              {"cluster.devices", "serving.devices"},
                                              {"training.devices", "training.global_batch"},
                                              {"serving.batch", "serving.concurrency"},
                                              {"serving.requests_per_s", "serving.concurrency"}}};

// Whether a path is of a mapping that is chosen at each value.
bool IsChosen(const Json& request, std::string_view path) {
  constexpr std::string_view kMember = ".mapping.";
  const std::size_t at = path.find(kMember);
  if (at == std::string_view::npos) return false;
  const Json* is_auto = MemberAt(request, std::string(path.substr(0, at + kMember.size())) + "auto");
  return is_auto != nullptr && *is_auto == true;
}

}  // namespace

bool HasFollowers(std::string_view unknown) {
  return std::any_of(kFollowers.begin(), kFollowers.end(), [&](const Follower& one) { return one.unknown == unknown; });
}

Json WithDefaultsFixed(Json request, std::string_view unknown) {
  const Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return request;
  const Written written(request);
  const Json resolved = Write(*scenario);
  const Json before = request;
  for (const std::string_view path : kAdjustableDefaults) {
    const bool follows = std::any_of(kFollowers.begin(), kFollowers.end(),
                                     [&](const Follower& one) { return one.unknown == unknown && one.path == path; });
    const Json* value = MemberAt(resolved, path);
    if (value != nullptr && written.IsDefault(path) && !follows && !IsChosen(before, path))
      Apply(request, {{std::string(path), *value}});
  }
  return request;
}

}  // namespace slipstick
