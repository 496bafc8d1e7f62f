// Sizing questions with the assignments of a scenario.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/scenario/request.h"
#include "core/sizing/size.h"

namespace slipstick {

using Assignments = std::vector<std::string>;

// Llama-3.1-8B on engines that run one request at a time, with 8,192 prompt tokens and one output token.
inline const Assignments kOneAtATime{"model=llama-3.1-8b",
                                     "serving.engine=ideal",
                                     "serving.precision.weights=bf16",
                                     "serving.precision.activations=bf16",
                                     "serving.prompt=8192",
                                     "serving.output=1",
                                     "serving.max_requests=1",
                                     "cost.system.devices_per_host=1"};

inline Json Asked(const Assignments& assignments, const Json& question,
                  const std::string& request = R"({"version": 1})") {
  const Answer answer = SizeAnswer(request, assignments, question);
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}
// The answer for the first cluster.
inline Json First(const Assignments& assignments, const Json& question,
                  const std::string& request = R"({"version": 1})") {
  return Asked(assignments, question, request)["clusters"][0];
}

// The request and the report of a scenario with the overrides of an answer.
inline Json RequestOf(const Assignments& assignments, const Json& overrides) {
  return WithOverrides(*ReadRequest(R"({"version": 1})", assignments), overrides);
}
inline Json ReportOf(const Assignments& assignments, const Json& overrides) {
  const Answer answer = EvaluateAnswer(JsonText(RequestOf(assignments, overrides)));
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}

inline Count CountAt(const Json& json, const char* path) {
  return static_cast<Count>(NumberAt(json, path).value_or(-1));
}

}  // namespace slipstick
