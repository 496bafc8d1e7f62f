#include "core/study/answer.h"

#include <algorithm>
#include <utility>

#include "core/base/trace.h"
#include "core/study/evaluate.h"
#include "core/study/follow.h"
#include "core/study/presets.h"
#include "core/study/report.h"
#include "core/study/scenario.h"
#include "core/training/training.h"

namespace slipstick {

namespace {

// The last member of a path, which names an input among its own.
std::string_view MemberOf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::string ValueText(const Change& change) {
  const Result<Json> value = ParseJson(change.value);
  return value && value->is_string() ? TextOf(*value) : change.value;
}

// "4" for the member that the issue is about, "tp 4" for another, "tp 4, pp 2" for several.
std::string LabelOf(const Fix& fix, const Issue& issue) {
  if (fix.change.value.empty()) return "leave out " + std::string(MemberOf(fix.change.path));
  std::string label = fix.change.path == issue.path ? "" : std::string(MemberOf(fix.change.path)) + " ";
  label += ValueText(fix.change);
  for (const Change& also : fix.also) {
    if (!also.value.empty()) label += ", " + std::string(MemberOf(also.path)) + " " + ValueText(also);
  }
  return label;
}

constexpr int kMostTrials = 100;

// The issues with those of their fixes that make them go away: a member that two checks concern may fail the second when it
// passes the first. Where none is left, the member may be left out.
Issues WithTriedFixes(Issues issues, const Json& request) {
  int trials = 0;
  const auto fails = [&](const Fix& fix, const std::string& path) {
    if (++trials > kMostTrials) return true;
    const Issues left = ParseScenario(WithFix(request, fix)).issues;
    return std::any_of(left.begin(), left.end(), [&](const Issue& issue) { return issue.path == path; });
  };
  for (Issue& issue : issues) {
    if (issue.fixes.empty()) continue;
    std::erase_if(issue.fixes, [&](const Fix& fix) { return fails(fix, issue.path); });
    if (!issue.fixes.empty()) continue;
    const Fix without = LeaveOut(issue.path);
    if (!fails(without, issue.path)) issue.fixes.push_back(without);
  }
  return issues;
}

Json Write(const Change& change) {
  Json json{{"path", change.path}};
  const Result<Json> value = ParseJson(change.value);
  if (value) json["value"] = *value;
  return json;
}

Json Write(const Fix& fix, const Issue& issue) {
  Json json = Write(fix.change);
  json["label"] = LabelOf(fix, issue);
  for (const Change& also : fix.also) json["also"].push_back(Write(also));
  return json;
}

}  // namespace

Answer WrongRequest(Issues issues) {
  Json list = Json::array();
  for (const Issue& issue : issues) {
    Json fixes = Json::array();
    for (const Fix& fix : issue.fixes) fixes.push_back(Write(fix, issue));
    list.push_back(Json{{"path", issue.path}, {"message", issue.message}, {"fixes", std::move(fixes)}});
  }
  return {JsonText(Json{{"issues", std::move(list)}}), std::move(issues)};
}

std::string AssignmentText(const Change& change) {
  if (change.value.empty()) return "without " + change.path;
  const Result<Json> value = ParseJson(change.value);
  return change.path + "=" + (value && value->is_string() ? TextOf(*value) : change.value);
}

Answer EvaluateAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view explain, bool timeline) {
  const Result<Json> json = ReadRequest(request, assignments);
  if (!json) return WrongRequest(json.issues);
  Result<Scenario> scenario = ParseScenario(*json);
  if (!scenario) return WrongRequest(WithTriedFixes(std::move(scenario.issues), *json));
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
  return {JsonText(Json{{"version", 1},
                        {"default", DefaultRequest()},
                        {"follows", std::move(follows)},
                        {"inputs", std::move(inputs)},
                        {"outputs", DescribedOutputs()}}),
          {}};
}

Answer PresetsAnswer(std::string_view kind) { return {JsonText(PresetCatalogue(kind)), {}}; }

}  // namespace slipstick
