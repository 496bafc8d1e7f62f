#include "core/sizing/moved_request.h"

#include "core/catalogue/presets.h"

namespace slipstick {

Json NameOfCluster(const Json& request) {
  const Json* preset = MemberAt(request, "cluster.preset");
  return preset != nullptr ? *preset : Json("custom");
}

std::optional<Json> OverridesOnCluster(const Json& request, std::string_view cluster) {
  Json overrides = Json::object();
  if (cluster.empty() || NameOfCluster(request) == Json(cluster)) return overrides;
  overrides["cluster"] = cluster;
  const std::string rental = TextAt(request, "cost.rental.preset");
  const Json* rent = rental.empty() ? MemberAt(request, "cost.rental") : FindPreset("rental", rental);
  const std::optional<std::string_view> moved =
      RentalOnCluster(rental, rent != nullptr ? TextAt(*rent, "device") : "", cluster);
  if (!moved) return std::nullopt;
  if (!moved->empty()) overrides["cost.rental"] = *moved;
  return overrides;
}

std::string DroppedInputs(const Json& request, const Json& overrides) {
  const Json* written = MemberAt(request, "cluster");
  if (!overrides.contains("cluster") || written == nullptr || !written->is_object()) return "";
  std::string names;
  for (const auto& [key, value] : written->items()) {
    if (key != "preset" && key != "devices") names += (names.empty() ? "cluster." : ", cluster.") + key;
  }
  return names.empty() ? "" : "Left out, as written for another cluster: " + names;
}

}  // namespace slipstick
