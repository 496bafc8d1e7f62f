#include "core/study/answer.h"

#include "core/study/evaluate.h"
#include "core/study/kernel.h"
#include "core/study/presets.h"
#include "core/study/scenario.h"

namespace slipstick {

Answer WrongRequest(Issues issues) {
  Json list = Json::array();
  for (const Issue& issue : issues) list.push_back(Json{{"path", issue.path}, {"message", issue.message}});
  return {JsonText(Json{{"issues", std::move(list)}}), std::move(issues)};
}

Answer EvaluateAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view explain) {
  Json json = DefaultRequest();
  if (!request.empty()) {
    Result<Json> parsed = ParseJson(request);
    if (!parsed) return WrongRequest(std::move(parsed.issues));
    json = std::move(*parsed);
    // A part that the request does not mention is the default scenario's; null means not asked.
    for (const auto& [key, value] : DefaultRequest().items()) {
      if (json.is_object() && !json.contains(key)) json[key] = value;
    }
  }
  std::vector<Assignment> changes;
  Issues issues;
  for (const std::string& text : assignments) {
    Result<Assignment> one = ParseAssignment(text);
    if (one) {
      changes.push_back(std::move(*one));
    } else {
      issues.insert(issues.end(), one.issues.begin(), one.issues.end());
    }
  }
  if (!issues.empty()) return WrongRequest(std::move(issues));
  Apply(json, changes);
  Result<Scenario> scenario = ParseScenario(json);
  if (!scenario) return WrongRequest(std::move(scenario.issues));
  Result<Json> report = Evaluate(*scenario, explain);
  if (!report) return WrongRequest(std::move(report.issues));
  return {JsonText(*report), {}};
}

Answer KernelAnswer(std::string_view request) {
  Result<Json> parsed = ParseJson(request);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  Result<Json> answer = EvaluateKernel(*parsed);
  if (!answer) return WrongRequest(std::move(answer.issues));
  return {JsonText(*answer), {}};
}

Answer DescribeAnswer() {
  Json inputs = Json::array();
  Describe("", Scenario{}, inputs);
  return {JsonText(Json{{"version", 1}, {"default", DefaultRequest()}, {"inputs", std::move(inputs)}}), {}};
}

Answer PresetsAnswer(std::string_view kind) { return {JsonText(PresetCatalogue(kind)), {}}; }

}  // namespace slipstick
