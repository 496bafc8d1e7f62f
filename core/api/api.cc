#include "core/api/api.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fix.h"
#include "core/base/listed.h"
#include "core/catalogue/presets.h"
#include "core/evaluation/derivation.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/evidence_files.h"
#include "core/evaluation/kernel.h"
#include "core/evaluation/own_measurements.h"
#include "core/evaluation/report.h"
#include "core/evaluation/runs_like.h"
#include "core/scenario/auto_mapping.h"
#include "core/scenario/legal_defaults.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/training/training.h"

namespace slipstick {

namespace {

constexpr int kMaxTrials = 100;

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The described inputs or outputs whose path or meaning has all of the words.
Json EntriesWith(const std::vector<std::string>& words, const Json& entries) {
  Json found = Json::array();
  for (const Json& entry : entries) {
    std::string about;
    for (const char* key : {"path", "label", "help", "title", "short"}) {
      if (const Json* text = FindMember(entry, key)) about += TextOf(*text) + " ";
    }
    about = Lower(about);
    if (std::all_of(words.begin(), words.end(),
                    [&about](const std::string& word) { return about.find(Lower(word)) != std::string::npos; }))
      found.push_back(entry);
  }
  return found;
}

// Whether the issue is about a member that the fix writes.
bool IsAbout(const Fix& fix, const Issue& issue) {
  const auto is_at = [&issue](const Change& change) {
    return issue.path == change.path || issue.path.starts_with(change.path + ".");
  };
  return is_at(fix.change) || std::any_of(fix.also.begin(), fix.also.end(), is_at);
}

// Keeps the fixes that remove their issue without causing another one where they write: a member with two checks may
// pass the first and fail the second, and an unknown member's value may be invalid for the nearest known member. If
// none remains, tries to leave the member out.
Issues WithTriedFixes(Issues issues, const Json& request) {
  int trials = 0;
  const auto fails = [&](const Fix& fix, const std::string& path) {
    if (++trials > kMaxTrials) return true;
    const Issues left = ParseScenario(WithFix(request, fix)).issues;
    return std::any_of(left.begin(), left.end(), [&](const Issue& issue) {
      const bool is_new =
          std::none_of(issues.begin(), issues.end(), [&issue](const Issue& known) { return known.path == issue.path; });
      return issue.path == path || (is_new && IsAbout(fix, issue));
    });
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

}  // namespace

namespace {

Result<Json> ReportOf(std::string_view request, const std::vector<std::string>& assignments,
                      const ReportDetail& detail) {
  Result<Json> json = ReadMeasuredRequest(request, assignments);
  if (!json) return json;
  Result<Scenario> scenario = ParseScenario(*json);
  if (!scenario) return WithTriedFixes(std::move(scenario.issues), *json);
  return Evaluate(*scenario, detail);
}

}  // namespace

Answer EvaluateAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view explain,
                      bool timeline) {
  ReportDetail detail;
  detail.explain = explain;
  detail.timeline = timeline;
  Result<Json> report = ReportOf(request, assignments, detail);
  if (!report) return WrongRequest(std::move(report.issues));
  return {JsonText(*report), {}};
}

Answer DerivationAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view path) {
  ReportDetail detail = ReportDetail::Figures();
  detail.explain = path;
  Result<Json> report = ReportOf(request, assignments, detail);
  if (!report) return WrongRequest(std::move(report.issues));
  return {DerivationText((*report)["explanations"], (*report)["sources"], path), {}};
}

Answer EvidenceAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure) {
  Result<Json> json = ReadMeasuredRequest(request, assignments);
  if (!json) return WrongRequest(std::move(json.issues));
  const Result<Scenario> scenario = ParseScenario(*json);
  if (!scenario) return WrongRequest(WithTriedFixes(scenario.issues, *json));
  Result<Json> runs = RunsLike(*scenario, figure);
  if (!runs) return WrongRequest(std::move(runs.issues));
  return {JsonText(*runs), {}};
}

Answer MeasurementsAnswer(std::string_view id, std::string_view file) {
  const EvidenceFiles read = ReadEvidence({{std::string(id), std::string(file)}}, CatalogueDistance());
  if (read.sources.empty()) return WrongRequest(read.issues);
  Json runs = Json::array(), issues = Json::array();
  for (const MeasuredRun& run : read.runs) {
    Json written = WrittenRun(run, id);
    written["device"] = run.setting.device, written["architecture"] = run.setting.architecture;
    written["software"] = run.setting.software, written["experts"] = run.setting.has_experts;
    runs.push_back(std::move(written));
  }
  for (const Issue& issue : read.issues) issues.push_back(issue.path + ": " + issue.message);
  return {JsonText(Json{{"name", read.sources.front().name}, {"runs", std::move(runs)}, {"issues", std::move(issues)}}),
          {}};
}

Answer KernelAnswer(std::string_view request) {
  Result<Json> parsed = ParseJson(request);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  Result<Json> answer = EvaluateKernel(*parsed);
  if (!answer) return WrongRequest(std::move(answer.issues));
  return {JsonText(*answer), {}};
}

Answer TimelineAnswer(std::string_view request) {
  Result<Json> json = ReadMeasuredRequest(request, {});
  if (!json) return WrongRequest(json.issues);
  const Result<Scenario> scenario = ParseScenario(std::move(*json));
  if (!scenario) return WrongRequest(scenario.issues);
  if (!scenario->training) return {"null", {}};
  const TrainingReport report =
      EvaluateTraining(scenario->model, scenario->cluster, *scenario->training, {false, true});
  return {JsonText(WriteTimeline(report)), {}};
}

Answer DescribeAnswer(const std::vector<std::string>& words) {
  Json inputs = Json::array();
  Describe<Scenario>("", inputs);
  // Network presets are expanded before the levels are read (scenario.cc), so they are not fields.
  inputs.push_back(Json{{"path", "cluster.networks.*"},
                        {"kind", "object"},
                        {"presets", "network"},
                        {"label", "Network preset"},
                        {"help", "Network preset; replaces the cluster's, the domain size stays"},
                        {"advanced", true}});
  DescribeAuto(inputs);
  if (!words.empty()) {
    return {JsonText(Json{{"inputs", EntriesWith(words, inputs)}, {"outputs", EntriesWith(words, DescribedOutputs())}}),
            {}};
  }
  Json follows = Json::array({"serving.batch"});  // replaces the default's concurrency
  for (const std::string_view path : kAdjustableDefaults) follows.push_back(path);
  Json defaults = Json::object();
  for (Count version = 1; version <= kNewestVersion; ++version)
    AddMember(defaults, std::to_string(version), DefaultRequest(version));
  return {JsonText(Json{{"version", kNewestVersion},
                        {"default", DefaultRequest()},
                        {"defaults", std::move(defaults)},
                        {"follows", std::move(follows)},
                        {"inputs", std::move(inputs)},
                        {"outputs", DescribedOutputs()}}),
          {}};
}

Answer PresetsAnswer(std::string_view kind) {
  const Json entries = PresetCatalogue(kind);
  if (!entries.empty()) return {JsonText(entries), {}};
  return WrongRequest({{"kind", "Unknown kind \"" + std::string(kind) + "\"; the kinds are " + Listed(PresetKinds())}});
}

}  // namespace slipstick
