#include "core/study/answer.h"

#include <utility>

#include "core/base/trace.h"
#include "core/study/evaluate.h"
#include "core/study/follow.h"
#include "core/study/presets.h"
#include "core/study/report.h"
#include "core/study/scenario.h"
#include "core/training/training.h"

namespace slipstick {

Answer WrongRequest(Issues issues) {
  Json list = Json::array();
  for (const Issue& issue : issues) list.push_back(Json{{"path", issue.path}, {"message", issue.message}});
  return {JsonText(Json{{"issues", std::move(list)}}), std::move(issues)};
}

Answer EvaluateAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view explain, bool timeline) {
  Result<Json> json = ReadRequest(request, assignments);
  if (!json) return WrongRequest(json.issues);
  const Result<Scenario> scenario = ParseScenario(std::move(*json));
  if (!scenario) return WrongRequest(scenario.issues);
  ReportDetail detail;
  detail.explain = explain;
  detail.timeline = timeline;
  const Result<Json> report = Evaluate(*scenario, detail);
  if (!report) return WrongRequest(report.issues);
  return {JsonText(*report), {}};
}

Answer TimelineAnswer(std::string_view request) {
  Result<Json> json = ReadRequest(request, {});
  if (!json) return WrongRequest(json.issues);
  const Result<Scenario> scenario = ParseScenario(std::move(*json));
  if (!scenario) return WrongRequest(scenario.issues);
  if (!scenario->training) return {"null", {}};
  Trace trace = Trace::Off();
  const TrainingReport report = EvaluateTraining(scenario->model, scenario->cluster, *scenario->training, {false, true}, trace);
  return {JsonText(Json{{"timeline", WriteTimeline(report.timeline)}}), {}};
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
  Json follows = Json::array();
  for (const std::string_view path : kFollowing) follows.push_back(path);
  return {JsonText(Json{{"version", 1}, {"default", DefaultRequest()}, {"follows", std::move(follows)}, {"inputs", std::move(inputs)}}),
          {}};
}

Answer PresetsAnswer(std::string_view kind) { return {JsonText(PresetCatalogue(kind)), {}}; }

}  // namespace slipstick
