#include "core/serving/session_check.h"

#include "core/base/fix.h"
#include "core/base/units.h"

namespace slipstick {

void CheckSessions(const ServingLoad& load, const Model& model, const std::string& path, Issues& issues) {
  const Fix without = LeaveOut(path + ".sessions");
  const auto given = [&](bool is_given, const std::string& member, const std::string& why) {
    if (is_given) issues.push_back({path + member, "Leave out: " + why, {LeaveOut(path + member), without}});
  };
  const std::string follows = "it follows from the sessions", not_computed = "it is not computed with sessions";
  given(load.prefix_hit > 0, ".prefix_hit", follows);
  given(load.idle_sessions.has_value(), ".idle_sessions", follows);
  if (load.prefix_cache) {
    given(load.prefix_cache->host_share > 0, ".prefix_cache.host_share", follows);
    given(load.prefix_cache->ssd_share > 0, ".prefix_cache.ssd_share", follows);
    given(load.prefix_cache->prefixes > 0, ".prefix_cache.prefixes", follows);
  }
  given(load.disaggregated.has_value(), ".disaggregated", not_computed);
  given(load.kv_offload.has_value(), ".kv_offload", not_computed);
  given(load.waves.has_value(), ".waves", not_computed);
  const Count longest = LongestPrompt(*load.sessions, load.output) + load.output, most = model.positions.rows;
  const auto text = [](Count tokens) { return GroupedText(static_cast<double>(tokens)); };
  if (model.positions.encoding == Position::kLearned && most > 0 && longest > most) {
    issues.push_back(
        {path + ".sessions",
         "The last turn has " + text(longest) + " tokens, and the model " + text(most) + " learned positions",
         {without}});
  }
}

}  // namespace slipstick
