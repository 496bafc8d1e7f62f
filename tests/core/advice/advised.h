// Questions for advice, and its answers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/advice/advice_job.h"
#include "core/api/api.h"
#include "core/scenario/request.h"

namespace slipstick {

using Assignments = std::vector<std::string>;

inline Json Advised(const Assignments& assignments, const Json& question = Json::object()) {
  const Answer answer = RunJob<AdviceJob>(R"({"version": 1})", assignments, question, {});
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}

inline Json ReportOf(const Assignments& assignments, const Json& overrides = Json::object()) {
  const Json request = WithOverrides(*ReadRequest(R"({"version": 1})", assignments), overrides);
  const Answer answer = EvaluateAnswer(JsonText(request), {}, "", false);
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}

inline double Number(const Json& json, const std::string& path) { return NumberAt(json, path).value_or(-1); }

inline const Json* Find(const Json& list, const std::string& id) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Json& one) { return one["id"] == id; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace slipstick
