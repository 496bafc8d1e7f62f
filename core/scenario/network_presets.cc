#include "core/scenario/network_presets.h"

#include <utility>

#include "core/base/fix.h"
#include "core/base/schema.h"

namespace slipstick {

void ExpandNetworks(Json& cluster, Issues& issues) {
  if (!cluster.is_object()) return;
  const auto networks = cluster.find("networks");
  if (networks == cluster.end() || !networks->is_array()) return;
  for (std::size_t i = 0; i < networks->size(); ++i) {
    Json& level = (*networks)[i];
    if (level.is_string()) level = Json{{"preset", level}};
    if (!level.is_object() || !level.contains("preset") || !level["preset"].is_string()) continue;
    const Json* entry = FindPreset("network", TextOf(level["preset"]));
    if (entry == nullptr) {
      const std::string path = "cluster.networks." + std::to_string(i) + ".preset";
      issues.push_back({path, "Unknown network " + internal::Shown(level["preset"]),
                        SetToEach(path, NearestPresets("network", TextOf(level["preset"])))});
      level.erase("preset");
      continue;
    }
    Json merged = WithoutRemarks(*entry);
    MergeJson(merged, level);
    merged.erase("preset");
    level = std::move(merged);
  }
}

std::vector<NetworkLevel> NetworksOfServer(const Device& device) {
  const Json* entry = FindPreset(Schema<Cluster>::preset_kind, "single-" + device.preset);
  const Json* levels = entry == nullptr ? nullptr : FindMember(*entry, "networks");
  if (levels == nullptr) return {};
  Json json{{"networks", *levels}};
  Issues none;
  ExpandPresets<Cluster>(json, "", none);
  Cluster server;
  Read(json, "", none, server);
  return std::move(server.networks);
}

}  // namespace slipstick
