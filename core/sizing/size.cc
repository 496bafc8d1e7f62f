#include "core/sizing/size.h"

#include <utility>

#include "core/evaluation/own_measurements.h"
#include "core/exploration/search_criteria.h"
#include "core/scenario/request.h"
#include "core/sizing/question.h"
#include "core/sizing/sized_cluster.h"

namespace slipstick {
namespace {

// Limits of the mapping; sizing itself chooses the number of replicas and the concurrency.
Result<SpaceLimits> ReadMappingLimits(const SizeQuestion& question) {
  SpaceLimits limits;
  std::vector<FigureLimit> figures;
  Issues issues;
  for (const std::string& text : question.limits) ReadLimit(text, "serving", limits, figures, issues);
  for (const FigureLimit& figure : figures)
    issues.push_back({"limits", "Enter a member of the mapping, not the figure " + figure.figure->name});
  for (const char* member : {"replicas", "batch", "prefill_devices"}) {
    if (limits.contains(member))
      issues.push_back({"limits", "Leave out " + std::string(member) + ": sizing chooses it"});
  }
  if (!issues.empty()) return issues;
  return limits;
}

Json NameOfCluster(const Json& request) {
  const Json* preset = MemberAt(request, "cluster.preset");
  return preset != nullptr ? *preset : Json("custom");
}

}  // namespace

Answer SizeAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question_json) {
  Result<Json> base = ReadMeasuredRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  Result<SizeQuestion> question = ReadSizeQuestion(question_json);
  if (!question) return WrongRequest(std::move(question.issues));
  Result<SpaceLimits> limits = ReadMappingLimits(*question);
  if (!limits) return WrongRequest(std::move(limits.issues));
  std::vector<std::string> clusters = question->clusters;
  if (clusters.empty()) clusters.emplace_back();  // the request's own
  Json answers = Json::array(), best = nullptr;
  for (const std::string& id : clusters) {
    Json on_cluster = *base;
    if (!id.empty()) Apply(on_cluster, {{"cluster", id}});
    Result<Json> sized = SizeCluster(on_cluster, *question, *limits);
    if (!sized) return WrongRequest(std::move(sized.issues));
    Json answer = ObjectOf({{"cluster", id.empty() ? NameOfCluster(on_cluster) : Json(id)}});
    answer.update(*sized);
    if (!id.empty() && answer.contains("overrides")) answer["overrides"]["cluster"] = id;
    const bool on_pools = FindMember(answer, "two_pools") != nullptr && answer["two_pools"].contains("overrides");
    if (!id.empty() && on_pools) answer["two_pools"]["overrides"]["cluster"] = id;
    const auto cost_of = [](const Json& one) { return one["cost"]["usd_per_hour"].get<double>(); };
    const bool holds = answer["holds"].get<bool>();
    if (holds && (best.is_null() || cost_of(answer) < cost_of(answers[best.get<std::size_t>()]))) best = answers.size();
    answers.push_back(std::move(answer));
  }
  return {JsonText(ObjectOf({{"best", std::move(best)}, {"clusters", std::move(answers)}})), {}};
}

Answer SizeSpecAnswer(std::string_view spec) {
  Result<Json> parsed = ParseJson(spec);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  return SizeAnswer(RequestIn(*parsed), {}, *parsed);
}

}  // namespace slipstick
