#include "core/studies/paper_study.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/evaluation/kernel.h"
#include "core/exploration/sweep.h"
#include "core/scenario/answer.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"
#include "core/studies/cost_study.h"

namespace slipstick {
namespace {

struct Point {
  std::string label;
  std::vector<Assignment> changes;
  Json measured;  // published values by path; null: none
};

std::vector<Point> PointsOf(const Json& study) {
  std::vector<Point> points;
  if (study.contains("points")) {
    for (const Json& one : study["points"]) {
      Point point{one["label"].get<std::string>(), {}, one.value("measured", Json())};
      for (const auto& [path, value] : one["overrides"].items()) point.changes.push_back({path, value});
      points.push_back(std::move(point));
    }
    return points;
  }
  const Result<std::vector<std::vector<Assignment>>> combinations = CombinationsOf(TextsOf(&study["axes"]));
  if (!combinations) return {};
  for (const std::vector<Assignment>& changes : *combinations) {
    Point& point = points.emplace_back(Point{"", changes, {}});
    for (const Assignment& change : changes)
      point.label += (point.label.empty() ? "" : " / ") + PlainText(change.value);
  }
  return points;
}

// The answer of another command than evaluate, or its issues.
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
    const Json* figure = answer ? MemberAt(*answer, TextOf(path)) : nullptr;
    found.figures.push_back(figure != nullptr ? *figure : Json(nullptr));
  }
  return found;
}

SweepPoint EvaluatedOf(const Json& study, const Point& point) {
  Sweep sweep;
  sweep.request = *CompleteRequest(study["request"]);
  Apply(sweep.request, point.changes);
  for (const Json& path : study["report"]) sweep.reports.push_back(path.get<std::string>());
  // After the figures, the reason if the point is infeasible.
  for (const Json& path : study["report"]) {
    const std::string_view text = TextOf(path);
    if (text.ends_with(".feasible"))
      sweep.reports.push_back(std::string(text.substr(0, text.rfind('.'))) + ".infeasible");
  }
  if (study.contains("optimise")) sweep.optimise = study["optimise"].get<std::string>();
  return SweepAt(sweep, 0);
}

// The reason of an infeasible point: the first non-empty one of the lists after its figures.
Json ReasonOf(const SweepPoint& found, std::size_t reported) {
  for (std::size_t i = reported; i < found.figures.size(); ++i) {
    if (found.figures[i].is_array() && !found.figures[i].empty()) return found.figures[i][0]["message"];
  }
  return nullptr;
}

// Label, figures by path, issues of one point, and its reason if it is infeasible.
Json Run(const Json& study, const Point& point) {
  const SweepPoint found = study.contains("verb") ? AskedOf(study, point) : EvaluatedOf(study, point);
  Json figures = Json::object();
  const std::size_t reported = study["report"].size();
  for (std::size_t i = 0; i < reported; ++i) figures[study["report"][i].get<std::string>()] = found.figures[i];
  Json issues = Json::array();
  for (const Issue& issue : found.issues) issues.push_back(Json{{"path", issue.path}, {"message", issue.message}});
  Json answer{{"label", point.label}, {"figures", std::move(figures)}, {"issues", std::move(issues)}};
  if (Json reason = ReasonOf(found, reported); !reason.is_null()) answer["reason"] = std::move(reason);
  if (!point.measured.is_null()) answer["measured"] = point.measured;
  return answer;
}

const Json* FigureOf(const Json& points, const Json& label, const std::string& path, const char* kind = "figures") {
  for (const Json& point : points) {
    if (point["label"] == label && point.contains(kind) && point[kind].contains(path)) return &point[kind][path];
  }
  return nullptr;
}

double ValueFor(const Json& points, const Json& label, const std::string& path, const char* kind = "figures") {
  const Json* found = FigureOf(points, label, path, kind);
  return found != nullptr && found->is_number() ? found->get<double>() : std::nan("");
}

// Figures whose relative difference is smaller are equal: neither risen nor fallen.
constexpr double kEqual = 1e-6;

// A check of figures at labels: "<path> <claim> <label>, <label>", and the values found.
struct Verdict {
  std::string text;
  bool holds = true;
  Json found = Json::array();

  void See(const Json& label, const Json* value) {
    text += (found.empty() ? " " : "; ") + label.get<std::string>();
    found.push_back(value != nullptr ? *value : Json(nullptr));
  }
  [[nodiscard]] Json Answer() && { return {{"text", std::move(text)}, {"holds", holds}, {"found", std::move(found)}}; }
};

double Member(const Json& expectation, const char* name, double otherwise) {
  return expectation.contains(name) ? expectation[name].get<double>() : otherwise;
}

Json JudgeTrend(const Json& expectation, const Json& points, const std::string& kind) {
  const std::string path = expectation[kind].get<std::string>();
  const double by = Member(expectation, "by", 1);
  const double min_factor = by > 1 ? by * (1 - kEqual) : 1 + kEqual;
  Verdict verdict{path + " " + kind + (by > 1 ? " by " + NumberText(by) + " times or more" : "") + " along"};
  double before = 0;
  for (const Json& label : expectation["along"]) {
    const double value = ValueFor(points, label, path);
    const double factor = kind == "falls" ? before / value : value / before;
    // False also if a figure is missing. Any increase from 0 counts.
    if (std::isnan(value) || (!verdict.found.empty() && !(factor >= min_factor))) verdict.holds = false;
    verdict.See(label, FigureOf(points, label, path));
    before = value;
  }
  return std::move(verdict).Answer();
}

Json JudgeFlat(const Json& expectation, const Json& points) {
  const std::string path = expectation["flat"].get<std::string>();
  const double within = Member(expectation, "within", kEqual);
  Verdict verdict{path + " is equal" +
                  (expectation.contains("within") ? " within " + NumberText(100 * within) + " %" : "") + " at"};
  double smallest = std::numeric_limits<double>::infinity(), largest = -smallest;
  for (const Json& label : expectation["along"]) {
    const double value = ValueFor(points, label, path);
    if (std::isnan(value)) verdict.holds = false;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
    verdict.See(label, FigureOf(points, label, path));
  }
  if (!(largest - smallest <= within * std::abs(smallest))) verdict.holds = false;
  return std::move(verdict).Answer();
}

Json JudgeRatio(const Json& expectation, const Json& points) {
  const std::string path = expectation["ratio"].get<std::string>();
  const Json& of = expectation["of"];
  const double ratio = ValueFor(points, of[0], path) / ValueFor(points, of[1], path);
  const double low = expectation["low"].get<double>(), high = expectation["high"].get<double>();
  return {{"text", path + " of " + PlainText(of[0]) + " over " + PlainText(of[1]) + " is between " + NumberText(low) +
                       " and " + NumberText(high)},
          {"holds", ratio >= low && ratio <= high},
          {"found", std::isnan(ratio) ? Json(nullptr) : Json(ratio)}};
}

Json JudgeBetween(const Json& expectation, const Json& points) {
  const std::string path = expectation["between"].get<std::string>();
  const double low = expectation["low"].get<double>(), high = expectation["high"].get<double>();
  Verdict verdict{path + " is between " + NumberText(low) + " and " + NumberText(high) + " at"};
  for (const Json& label : expectation["at"]) {
    const double value = ValueFor(points, label, path);
    if (!(value >= low && value <= high)) verdict.holds = false;
    verdict.See(label, FigureOf(points, label, path));
  }
  return std::move(verdict).Answer();
}

Json JudgeEquals(const Json& expectation, const Json& points) {
  const std::string path = expectation["equals"].get<std::string>();
  Verdict verdict{path + " is " + PlainText(expectation["value"]) + " at"};
  for (const Json& label : expectation["at"]) {
    const Json* value = FigureOf(points, label, path);
    verdict.holds = verdict.holds && value != nullptr && *value == expectation["value"];
    verdict.See(label, value);
  }
  return std::move(verdict).Answer();
}

// The coefficient of correlation of pairs; 0 where either does not vary.
double Correlation(const std::vector<double>& xs, const std::vector<double>& ys) {
  const double n = static_cast<double>(xs.size());
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) x += xs[i] / n, y += ys[i] / n;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    xx += (xs[i] - x) * (xs[i] - x);
    yy += (ys[i] - y) * (ys[i] - y);
    xy += (xs[i] - x) * (ys[i] - y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

Json JudgeMatches(const Json& expectation, const Json& points) {
  const std::string path = expectation["matches"].get<std::string>();
  const double within = expectation["within"].get<double>();
  std::vector<double> measured, predicted;
  double error = 0;
  for (const Json& label : expectation["at"]) {
    measured.push_back(ValueFor(points, label, path, "measured"));
    predicted.push_back(ValueFor(points, label, path));
    error += std::abs(predicted.back() / measured.back() - 1) / static_cast<double>(expectation["at"].size());
  }
  Json found = nullptr;
  if (!std::isnan(error)) found = {{"mean_error", error}, {"correlation", Correlation(measured, predicted)}};
  return {{"text", path + " is within " + NumberText(100 * within) + " % of " + std::to_string(measured.size()) +
                       " measured in the mean"},
          {"holds", error <= within},
          {"found", std::move(found)}};
}

Json JudgeKind(const Json& expectation, const Json& points) {
  for (const char* kind : {"falls", "rises"}) {
    if (expectation.contains(kind)) return JudgeTrend(expectation, points, kind);
  }
  if (expectation.contains("flat")) return JudgeFlat(expectation, points);
  if (expectation.contains("ratio")) return JudgeRatio(expectation, points);
  if (expectation.contains("between")) return JudgeBetween(expectation, points);
  if (expectation.contains("equals")) return JudgeEquals(expectation, points);
  if (expectation.contains("matches")) return JudgeMatches(expectation, points);
  return {{"text", ""}, {"holds", false}, {"found", nullptr}};
}

// {"text","holds","found"}, with the expectation's own remarks. An expectation about an absent figure fails.
Json Judge(const Json& expectation, const Json& points) {
  Json verdict = JudgeKind(expectation, points);
  for (const char* said : {"source", "missed"}) {
    if (expectation.contains(said)) verdict[said] = expectation[said];
  }
  return verdict;
}

Result<Json> FindStudy(std::string_view id) {
  const Json* study = FindPreset("study", id);
  if (study == nullptr)
    return Issues{{"study", "Unknown study " + internal::Shown(Json(std::string(id))),
                   SetToEach("study", NearestPresets("study", id))}};
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

Json AnswerOfStudy(std::string_view id, const Json& study) {
  Json points = Json::array();
  for (const Point& point : PointsOf(study)) points.push_back(Run(study, point));
  return Whole(id, study, std::move(points));
}

Answer StudyAnswer(std::string_view id) {
  const Result<Json> study = FindStudy(id);
  if (!study) return WrongRequest(study.issues);
  return {JsonText(AnswerOfStudy(id, *study)), {}};
}

Answer StudyOfPointsAnswer(std::string_view id, std::string_view points) {
  const Result<Json> study = FindStudy(id);
  if (!study) return WrongRequest(study.issues);
  Result<Json> found = ParseJson(points);
  if (!found) return WrongRequest(found.issues);
  for (Json& one : *found) {
    if (one.is_object() && one.contains("point")) one = Json(one["point"]);
  }
  const auto is_point = [](const Json& one) {
    return one.is_object() && one.contains("label") && one.contains("figures");
  };
  if (!found->is_array() || !std::all_of(found->begin(), found->end(), is_point)) {
    return WrongRequest({{"points", "Must be a list of study points"}});
  }
  return {JsonText(Whole(id, *study, std::move(*found))), {}};
}

Answer StudyPointAnswer(std::string_view id, Count point) {
  const Result<Json> study = FindStudy(id);
  if (!study) return WrongRequest(study.issues);
  const std::vector<Point> points = PointsOf(*study);
  if (point < 0 || point >= static_cast<Count>(points.size()))
    return WrongRequest({{"point", "Must be from 0 to " + std::to_string(points.size() - 1)}});
  return {JsonText(Json{{"size", points.size()}, {"point", Run(*study, points[static_cast<std::size_t>(point)])}}), {}};
}

}  // namespace slipstick
