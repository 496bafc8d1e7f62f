#include "core/sizing/question.h"

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/catalogue/presets.h"

namespace slipstick {

Seconds At(Percentile percentile, const Percentiles& of, Seconds mean) {
  switch (percentile) {
    case Percentile::kMean:
      return mean;
    case Percentile::k50:
      return of.p50;
    case Percentile::k90:
      return of.p90;
    case Percentile::k99:
      return of.p99;
  }
  return mean;
}

Result<SizeQuestion> ReadSizeQuestion(Json json) {
  if (!json.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(json)}};
  json.erase("request");
  SizeQuestion question;
  Issues issues;
  Read(json, "", issues, question);
  for (std::size_t i = 0; i < question.clusters.size(); ++i) {
    const std::string& id = question.clusters[i];
    if (FindPreset("cluster", id) != nullptr) continue;
    const std::string path = "clusters." + std::to_string(i);
    issues.push_back({path, "Unknown cluster " + id, SetToEach(path, NearestPresets("cluster", id))});
  }
  if (!issues.empty()) return issues;
  return question;
}

}  // namespace slipstick
