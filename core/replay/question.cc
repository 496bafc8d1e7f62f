#include "core/replay/question.h"

#include "core/base/schema.h"

namespace slipstick {

Result<ReplayQuestion> ReadReplayQuestion(Json json) {
  if (!json.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(json)}};
  json.erase("request");
  ReplayQuestion question;
  Issues issues;
  Read(json, "", issues, question);
  if (question.speed != 1 && question.requests_per_s)
    issues.push_back({"speed", "Leave out: requests_per_s sets how fast the requests come"});
  if (!issues.empty()) return issues;
  return question;
}

}  // namespace slipstick
