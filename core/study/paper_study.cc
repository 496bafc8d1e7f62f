#include "core/study/paper_study.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/schema.h"
#include "core/study/cost_study.h"
#include "core/study/kernel.h"
#include "core/study/presets.h"
#include "core/study/scenario.h"
#include "core/study/sweep.h"

namespace slipstick {
namespace {

struct Point {
  std::string label;
  std::vector<Assignment> changes;
};

std::string Shown(const Json& value) { return value.is_string() ? value.get<std::string>() : JsonText(value); }

std::vector<Point> PointsOf(const Json& study) {
  std::vector<Point> points;
  if (study.contains("points")) {
    for (const Json& one : study["points"]) {
      Point point{one["label"].get<std::string>(), {}};
      for (const auto& [path, value] : one["overrides"].items()) point.changes.push_back({std::string(path.view()), value});
      points.push_back(std::move(point));
    }
    return points;
  }
  points.push_back({});
  for (const Json& text : study["axes"]) {
    const Result<Axis> axis = ParseAxis(text.get<std::string>());
    if (!axis) return {};
    std::vector<Point> longer;
    for (const Point& point : points) {
      for (const Json& value : axis->values) {
        Point next = point;
        next.label += (next.label.empty() ? "" : " / ") + Shown(value);
        next.changes.push_back({axis->path, value});
        longer.push_back(std::move(next));
      }
    }
    points = std::move(longer);
  }
  return points;
}

// What another verb than evaluate answers to a point's request, or its issues.
Result<Json> AnswerOf(const std::string& verb, const Json& request) {
  if (verb == "kernel") return EvaluateKernel(request);
  Answer answer = CostStudyAnswer(JsonText(request));
  if (!answer.issues.empty()) return std::move(answer.issues);
  return ParseJson(answer.text);
}

SweepPoint AskedOf(const Json& study, const Point& point) {
  SweepPoint found;
  Json request = study["request"];
  for (const Assignment& change : point.changes) SetPath(request, change.path, change.value);
  const Result<Json> answer = AnswerOf(study["verb"].get<std::string>(), request);
  if (!answer) found.issues = answer.issues;
  for (const Json& path : study["report"]) {
    const Json* figure = answer ? MemberAt(*answer, path.text()) : nullptr;
    found.figures.push_back(figure != nullptr ? *figure : Json(nullptr));
  }
  return found;
}

SweepPoint EvaluatedOf(const Json& study, const Point& point) {
  Sweep sweep;
  sweep.request = DefaultRequest();
  MergeJson(sweep.request, study["request"]);
  Apply(sweep.request, point.changes);
  for (const Json& path : study["report"]) sweep.reports.push_back(path.get<std::string>());
  if (study.contains("optimise")) sweep.optimise = study["optimise"].get<std::string>();
  return SweepAt(sweep, 0);
}

// One point's label, figures by path, and issues.
Json Run(const Json& study, const Point& point) {
  const SweepPoint found = study.contains("verb") ? AskedOf(study, point) : EvaluatedOf(study, point);
  Json figures = Json::object();
  for (std::size_t i = 0; i < found.figures.size(); ++i) figures[study["report"][i].get<std::string>()] = found.figures[i];
  Json issues = Json::array();
  for (const Issue& issue : found.issues) issues.push_back(Json{{"path", issue.path}, {"message", issue.message}});
  return Json{{"label", point.label}, {"figures", std::move(figures)}, {"issues", std::move(issues)}};
}

const Json* FigureOf(const Json& points, const Json& label, const std::string& path) {
  for (const Json& point : points) {
    if (point["label"] == label && point["figures"].contains(path)) return &point["figures"][path];
  }
  return nullptr;
}

double NumberAt(const Json& points, const Json& label, const std::string& path) {
  const Json* found = FigureOf(points, label, path);
  return found != nullptr && found->is_number() ? found->get<double>() : std::nan("");
}

// {"text","holds","found"}; an expectation about a figure that is not there does not hold.
Json Judge(const Json& expectation, const Json& points) {
  Json verdict{{"text", ""}, {"holds", false}, {"found", nullptr}};
  for (const char* kind : {"falls", "rises"}) {
    if (!expectation.contains(kind)) continue;
    const std::string path = expectation[kind].get<std::string>();
    const bool falls = std::string_view(kind) == "falls";
    const double by = expectation.contains("by") ? expectation["by"].get<double>() : 1;
    bool holds = true;
    Json found = Json::array();
    std::string text = path + " " + kind + " along";
    double before = 0;
    for (const Json& label : expectation["along"]) {
      const double value = NumberAt(points, label, path);
      text += (found.empty() ? " " : ", ") + label.get<std::string>();
      if (std::isnan(value) || (!found.empty() && (falls ? value * by > before * (1 + 1e-9) : value < before * by * (1 - 1e-9))))
        holds = false;
      found.push_back(std::isnan(value) ? Json(nullptr) : Json(value));
      before = value;
    }
    verdict = Json{{"text", text}, {"holds", holds}, {"found", std::move(found)}};
  }
  if (expectation.contains("ratio")) {
    const std::string path = expectation["ratio"].get<std::string>();
    const Json& of = expectation["of"];
    const double ratio = NumberAt(points, of[0], path) / NumberAt(points, of[1], path);
    const double low = expectation["low"].get<double>(), high = expectation["high"].get<double>();
    verdict = Json{
        {"text", path + " of " + Shown(of[0]) + " over " + Shown(of[1]) + " is between " + NumberText(low) + " and " + NumberText(high)},
        {"holds", ratio >= low && ratio <= high},
        {"found", std::isnan(ratio) ? Json(nullptr) : Json(ratio)}};
  }
  if (expectation.contains("equals")) {
    const std::string path = expectation["equals"].get<std::string>();
    bool holds = true;
    Json found = Json::array();
    std::string text = path + " is " + Shown(expectation["value"]) + " at";
    for (const Json& label : expectation["at"]) {
      const Json* value = FigureOf(points, label, path);
      holds = holds && value != nullptr && *value == expectation["value"];
      text += (found.empty() ? " " : ", ") + label.get<std::string>();
      found.push_back(value != nullptr ? *value : Json(nullptr));
    }
    verdict = Json{{"text", text}, {"holds", holds}, {"found", std::move(found)}};
  }
  return verdict;
}

Result<Json> FindStudy(std::string_view id) {
  const Json* study = FindPreset("study", id);
  if (study == nullptr)
    return Issues{{"study", "there is no study " + internal::Shown(Json(std::string(id))) + PresetHintText("study", id)}};
  return *study;
}

Json Whole(std::string_view id, const Json& study, Json points) {
  Json answer{{"id", id}};
  answer.update(study);
  Json expectations = Json::array();
  for (const Json& expectation : study["expect"]) expectations.push_back(Judge(expectation, points));
  answer["points"] = std::move(points);
  answer["expectations"] = std::move(expectations);
  return answer;
}

}  // namespace

Result<Count> StudySize(std::string_view id) {
  const Result<Json> study = FindStudy(id);
  if (!study) return study.issues;
  return static_cast<Count>(PointsOf(*study).size());
}

Answer StudyAnswer(std::string_view id) {
  const Result<Json> study = FindStudy(id);
  if (!study) return WrongRequest(study.issues);
  Json points = Json::array();
  for (const Point& point : PointsOf(*study)) points.push_back(Run(*study, point));
  return {JsonText(Whole(id, *study, std::move(points))), {}};
}

Answer StudyOfPointsAnswer(std::string_view id, std::string_view points) {
  const Result<Json> study = FindStudy(id);
  if (!study) return WrongRequest(study.issues);
  Result<Json> found = ParseJson(points);
  if (!found) return WrongRequest(found.issues);
  for (Json& one : *found) {
    if (one.is_object() && one.contains("point")) one = Json(one["point"]);
  }
  const auto is_point = [](const Json& one) { return one.is_object() && one.contains("label") && one.contains("figures"); };
  if (!found->is_array() || !std::all_of(found->begin(), found->end(), is_point)) {
    return WrongRequest({{"points", "expected a list of what studyPoint answers as point"}});
  }
  return {JsonText(Whole(id, *study, std::move(*found))), {}};
}

Answer StudyPointAnswer(std::string_view id, Count point) {
  const Result<Json> study = FindStudy(id);
  if (!study) return WrongRequest(study.issues);
  const std::vector<Point> points = PointsOf(*study);
  if (point < 0 || point >= static_cast<Count>(points.size()))
    return WrongRequest({{"point", "expected 0 to " + std::to_string(points.size() - 1)}});
  return {JsonText(Json{{"size", points.size()}, {"point", Run(*study, points[static_cast<std::size_t>(point)])}}), {}};
}

}  // namespace slipstick
