#include "core/exploration/compare.h"

#include <algorithm>
#include <utility>

#include "core/base/json.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/own_measurements.h"
#include "core/evaluation/report.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

// The same member of each object; null for an object without it.
std::vector<const Json*> MembersOf(const std::vector<const Json*>& owners, std::string_view key) {
  std::vector<const Json*> members;
  for (const Json* owner : owners) members.push_back(owner == nullptr ? nullptr : FindMember(*owner, key));
  return members;
}

bool AreEqual(const std::vector<const Json*>& values) {
  const Json none;
  const auto at = [&none](const Json* value) -> const Json& { return value == nullptr ? none : *value; };
  return std::all_of(values.begin(), values.end(), [&](const Json* value) { return at(value) == at(values[0]); });
}

bool AreAll(const std::vector<const Json*>& values, bool (*holds)(const Json&)) {
  return std::all_of(values.begin(), values.end(),
                     [&](const Json* value) { return value != nullptr && holds(*value); });
}

// Whether these are lists of the same length.
bool AreAlikeLists(const std::vector<const Json*>& values) {
  if (!AreAll(values, [](const Json& value) { return value.is_array(); })) return false;
  return std::all_of(values.begin(), values.end(),
                     [&](const Json* value) { return value->size() == values[0]->size(); });
}

Json ValuesOf(const std::vector<const Json*>& values) {
  Json list = Json::array();
  for (const Json* value : values) list.push_back(value == nullptr ? Json() : *value);
  return list;
}

// Lists the differing values at and below a path. For different catalogue entries only the names are listed, because
// everything below follows from them.
void AddDifferences(const std::vector<const Json*>& values, const std::string& path, Json& inputs) {
  if (AreEqual(values)) return;
  if (AreAlikeLists(values)) {
    for (std::size_t i = 0; i < values[0]->size(); ++i) {
      std::vector<const Json*> entries;
      for (const Json* value : values) entries.push_back(&(*value)[i]);
      AddDifferences(entries, JoinPath(path, std::to_string(i)), inputs);
    }
    return;
  }
  if (!AreAll(values, [](const Json& value) { return value.is_object(); })) {
    inputs.push_back(Json{{"path", path}, {"values", ValuesOf(values)}});
    return;
  }
  const std::vector<const Json*> presets = MembersOf(values, "preset");
  if (!AreEqual(presets)) {
    inputs.push_back(Json{{"path", path + ".preset"}, {"values", ValuesOf(presets)}});
    if (path == "cluster") AddDifferences(MembersOf(values, "devices"), "cluster.devices", inputs);
    return;
  }
  std::vector<std::string> keys;
  for (const Json* value : values) {
    for (const auto& [key, member] : value->items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  for (const std::string& key : keys) AddDifferences(MembersOf(values, key), JoinPath(path, key), inputs);
}

Json FiguresOf(const std::vector<Json>& reports) {
  Json figures = Json::array();
  for (const Json& output : DescribedOutputs()) {
    const std::string& path = TextOf(output["path"]);
    const std::string& kind = TextOf(output["kind"]);
    if ((kind != "number" && kind != "flag") || path.find('*') != std::string::npos ||
        FindMember(output, "reported") != nullptr)
      continue;
    std::vector<const Json*> values;
    for (const Json& report : reports) values.push_back(MemberAt(report, path));
    const bool is_anywhere = std::any_of(values.begin(), values.end(),
                                         [](const Json* value) { return value != nullptr && !value->is_null(); });
    if (is_anywhere) figures.push_back(Json{{"path", path}, {"values", ValuesOf(values)}});
  }
  return figures;
}

}  // namespace

Answer CompareAnswer(const std::vector<ComparedScenario>& scenarios) {
  if (scenarios.size() < 2) return WrongRequest({{"compare", "Give two scenarios or more"}});
  Json columns = Json::array(), infeasible = Json::array(), warnings = Json::array(), inputs = Json::array();
  std::vector<Json> reports;
  for (const ComparedScenario& one : scenarios) {
    Result<Json> request = ReadMeasuredRequest(one.request, one.assignments);
    if (request && !one.changes.empty()) request = ReadRequest(JsonText(*request), one.changes);
    if (!request) return WrongRequest(std::move(request.issues));
    const Result<Scenario> scenario = ParseScenario(std::move(*request));
    if (!scenario) return WrongRequest(scenario.issues);
    ReportDetail detail = ReportDetail::Figures();
    detail.scenario = true;
    Result<Json> report = Evaluate(*scenario, detail);
    if (!report) return WrongRequest(std::move(report.issues));
    columns.push_back(one.name);
    for (const char* part : kParts) {
      const Json* at = FindMember(*report, part);
      if (at == nullptr || !at->is_object()) continue;
      for (const Json& fault : (*at)["infeasible"]) {
        infeasible.push_back(Json{{"column", one.name}, {"message", fault["message"]}});
      }
    }
    for (const Json& warning : (*report)["warnings"]) {
      warnings.push_back(Json{{"column", one.name}, {"message", warning}});
    }
    reports.push_back(std::move(*report));
  }
  std::vector<const Json*> resolved;
  for (const Json& report : reports) resolved.push_back(FindMember(report, "scenario"));
  AddDifferences(resolved, "", inputs);
  return {JsonText(Json{{"columns", std::move(columns)},
                        {"inputs", std::move(inputs)},
                        {"figures", FiguresOf(reports)},
                        {"infeasible", std::move(infeasible)},
                        {"warnings", std::move(warnings)}}),
          {}};
}

}  // namespace slipstick
