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
  const Result<Json> json = ReadRequest(request, assignments);
  if (!json) return WrongRequest(json.issues);
  const Result<Scenario> scenario = ParseScenario(*json);
  if (!scenario) return WrongRequest(scenario.issues);
  ReportDetail detail;
  detail.explain = explain;
  const Result<Json> report = Evaluate(*scenario, detail);
  if (!report) return WrongRequest(report.issues);
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
  // Laid in before the levels are read (scenario.cc), so no field of theirs.
  inputs.push_back(Json{{"path", "cluster.networks.*"},
                        {"kind", "object"},
                        {"presets", "network"},
                        {"help", "A network technology: takes the place of the cluster's; the size stays"},
                        {"advanced", true}});
  return {JsonText(Json{{"version", 1}, {"default", DefaultRequest()}, {"inputs", std::move(inputs)}}), {}};
}

Answer PresetsAnswer(std::string_view kind) { return {JsonText(PresetCatalogue(kind)), {}}; }

}  // namespace slipstick
