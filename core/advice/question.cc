#include "core/advice/question.h"

#include <algorithm>

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/evaluation/report.h"
#include "core/exploration/search_criteria.h"
#include "core/exploration/search_figures.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/parse_scenario.h"

namespace slipstick {
namespace {

constexpr std::size_t kMostChanges = 1000;

std::string DefaultObjective(const std::string& part, bool has_cost) {
  if (part == "training") return "time_to_train_s";
  return has_cost ? "cost_usd_per_million_tokens" : "tokens_per_s_per_device";
}

std::string SecondObjective(const AdviceQuestion& question, bool has_cost) {
  const std::string time = question.part == "training" ? "training.time_to_train_s" : "serving.tpot_s";
  const std::string cost = question.part == "training" ? "training.cost_usd" : "serving.cost_usd_per_million_tokens";
  if (question.figure == cost) return time;
  return has_cost ? cost : "";
}

// Reads "PATH<=VALUE" for a figure of a report, a member of the scenario, power or budget. As in a search, members of
// the mapping also have short names.
void ReadAdviceLimit(const std::string& text, AdviceQuestion& question, Issues& issues) {
  SpaceLimits members;
  std::vector<FigureLimit> figures;
  Issues of_search;
  ReadLimit(text, question.part, members, figures, of_search);
  Result<Condition> condition = ParseCondition(text);
  if (!members.empty()) question.mapping_limits.push_back(text);
  if (!condition) {
    if (members.empty()) issues.insert(issues.end(), condition.issues.begin(), condition.issues.end());
    return;
  }
  if (!condition->other.empty()) {
    issues.push_back({"limit", "Enter a number after " + condition->path + ", not " + condition->other});
    return;
  }
  std::string& path = condition->path;
  if (!members.empty()) {
    for (const std::string& member : MemberPaths(question.part)) {
      if (member == path || member.substr(member.rfind('.') + 1) == path) path = member;
    }
  } else if (!figures.empty()) {
    path = question.part + "." + WithoutPart(path, question.part);
  } else if (path != kPowerLimit && path != kBudgetLimit && !IsReportPath(path)) {
    issues.push_back({"limit", "Unknown limit " + path +
                                   ": choose a figure of the report, a member of the mapping, power or budget"});
  }
  const Issues wrong = MatchUnit(*condition, path);
  issues.insert(issues.end(), wrong.begin(), wrong.end());
  question.limits.push_back(std::move(*condition));
}

}  // namespace

Result<AdviceQuestion> ReadAdviceQuestion(const Json& json, const Json& request) {
  if (!json.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(json)}};
  AdviceQuestion question;
  Issues issues;
  std::string objective;
  std::vector<std::string> limits;
  const Json asked = AskedParts(request);
  question.part = IsSet(asked, "training") ? "training" : "serving";
  for (const auto& member : json.items()) {
    const std::string& key = member.key();
    const Json& value = member.value();
    if (key == "request") continue;
    if (key == "for" && value.is_string()) {
      question.part = TextOf(value);
    } else if (key == "objective" && value.is_string()) {
      objective = TextOf(value);
    } else if (key == "top" && value.is_number_integer() && value.get<Count>() >= 0) {
      question.top = std::min(kMostChanges, value.get<std::size_t>());
    } else if (key == "limits" && value.is_array()) {
      limits = TextsOf(&value);
    } else {
      issues.push_back({key, "Unknown member or wrong type: choose for, objective, top or limits"});
    }
  }
  if (question.part != "training" && question.part != "serving") {
    issues.push_back({"for",
                      "Choose training or serving, not " + question.part,
                      {SetTo("for", "training"), SetTo("for", "serving")}});
    return issues;
  }
  if (!IsSet(asked, question.part)) return Issues{SwitchedOff(question.part, IsSet(asked, "diffusion"))};
  const bool has_cost = IsSet(request, "cost");
  if (objective.empty()) objective = DefaultObjective(question.part, has_cost);
  objective = WithoutPart(objective, question.part);
  const SearchFigure* figure = FindSearchFigure(question.part, objective);
  if (figure == nullptr) {
    issues.push_back({"objective", "Unknown objective " + objective + ": choose " + SearchFigureNames(question.part)});
  } else {
    question.larger_is_better = figure->larger_is_better;
  }
  if (!has_cost && objective.find("usd") != std::string::npos)
    issues.push_back({"cost", "Required for " + objective, {LeaveOut("cost")}});
  question.figure = question.part + "." + objective;
  question.second = SecondObjective(question, has_cost);
  for (const std::string& text : limits) ReadAdviceLimit(text, question, issues);
  if (!issues.empty()) return issues;
  return question;
}

}  // namespace slipstick
