#include "core/exploration/sweep.h"

#include "core/evaluation/evaluate.h"
#include "core/evaluation/own_measurements.h"
#include "core/evaluation/report.h"
#include "core/exploration/best_mapping.h"
#include "core/exploration/design.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/answer.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr Count kMaxPoints = 10'000'000;

// A point without a feasible mapping has only the figures `feasible` and `infeasible`.
void FillInfeasible(const Sweep& sweep, const std::string& why, SweepPoint& point) {
  for (const std::string& path : sweep.reports) {
    if (path == sweep.search->part + ".feasible") {
      point.figures.push_back(false);
    } else if (path == sweep.search->part + ".infeasible") {
      point.figures.push_back(Json::array({Json{{"reason", "mapping"}, {"message", why}}}));
    } else {
      point.figures.push_back(nullptr);
    }
  }
}

}  // namespace

Count Sweep::Size() const {
  Count size = 1;
  for (const Axis& axis : axes) {
    size *= static_cast<Count>(axis.values.size());
    if (size > kMaxPoints) return kMaxPoints + 1;
  }
  return size;
}

SweepPoint SweepAt(const Sweep& sweep, Count index) {
  SweepPoint point;
  point.inputs.resize(sweep.axes.size());
  Json request = sweep.request;
  for (std::size_t i = sweep.axes.size(); i-- > 0;) {
    const auto size = static_cast<Count>(sweep.axes[i].values.size());
    point.inputs[i] = sweep.axes[i].values[static_cast<std::size_t>(index % size)];
    index /= size;
  }
  std::vector<Assignment> changes;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) changes.push_back({sweep.axes[i].path, point.inputs[i]});
  Apply(request, std::move(changes));
  if (sweep.search) {
    Result<BestMapping> best = FindBestMapping(request, *sweep.search);
    if (best && !best->found) {
      FillInfeasible(sweep, best->why, point);
      return point;
    }
    if (best) {
      request = WithOverrides(std::move(request), best->overrides);
      point.mapping = std::move(best->overrides);
    } else {
      point.issues = std::move(best.issues);
      point.figures.assign(sweep.reports.size(), nullptr);
      return point;
    }
  }
  Result<Scenario> scenario = ParseScenario(request);
  if (!scenario && !sweep.optimise.empty()) {
    if (std::optional<Scenario> other = WithAnySplit(request)) scenario = std::move(*other);
  }
  if (!scenario) {
    point.issues = std::move(scenario.issues);
    point.figures.assign(sweep.reports.size(), nullptr);
    return point;
  }
  if (!sweep.optimise.empty()) {
    OptimiseOptions options;
    options.random_starts = 0;
    options.refined = 1;
    options.max_evaluations = 400;
    if (const std::optional<ChipDesign> best = OptimiseDesign(*scenario, sweep.optimise, options)) {
      (*scenario).cluster.device.design = best;
      Resolve(*scenario, point.issues);
    }
  }
  ReportDetail detail = ReportDetail::Figures();
  for (const std::string& path : sweep.reports) {
    detail.operators = detail.operators || path.find(".operators") != std::string::npos;
    detail.scenario = detail.scenario || path.starts_with("scenario.");
    detail.estimates = detail.estimates || path.starts_with("cost.assumed");
    detail.intervals =
        detail.intervals || path.find("_interval") != std::string::npos || path.find(".typical") != std::string::npos;
  }
  const Result<Json> report = Evaluate(*scenario, detail);
  for (const std::string& path : sweep.reports) {
    const Json* figure = MemberAt(*report, path);
    point.figures.push_back(figure != nullptr ? *figure : Json(nullptr));
  }
  return point;
}

namespace {

Result<Sweep> MakeSweep(Json request, const std::vector<std::string>& axes, const std::vector<std::string>& reports,
                        const std::string& optimise, const std::optional<SearchSpec>& search) {
  Sweep sweep{std::move(request), {}, reports, optimise, search};
  Issues issues;
  for (const std::string& text : axes) {
    Result<Axis> axis = ParseAxis(text);
    if (axis) {
      sweep.axes.push_back(std::move(*axis));
    } else {
      issues.insert(issues.end(), axis.issues.begin(), axis.issues.end());
    }
  }
  if (axes.empty()) issues.push_back({"axes", "Give at least one PATH=values"});
  if (reports.empty()) issues.push_back({"report", "Give at least one path of the report"});
  for (const std::string& path : reports) {
    if (IsReportPath(path)) continue;
    issues.push_back(UnknownOutput("report", path));
  }
  if (issues.empty() && sweep.Size() > kMaxPoints) issues.push_back({"axes", "Too many points: at most 10,000,000"});
  if (!issues.empty()) return issues;
  return sweep;
}

std::string CsvCell(const Json& json) {
  if (json.is_null()) return "";
  std::string text = PlainText(json);
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Answer SweepAnswer(std::string_view request, const std::vector<std::string>& assignments,
                   const std::vector<std::string>& axes, const std::vector<std::string>& reports,
                   const std::optional<SearchSpec>& search, const std::string& optimise) {
  Result<Json> base = ReadMeasuredRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  Result<Sweep> sweep = MakeSweep(std::move(*base), axes, reports, optimise, search);
  if (!sweep) return WrongRequest(std::move(sweep.issues));
  sweep->reports.clear();
  for (const std::string& path : reports) {
    for (std::string& column : ColumnsOf(path)) sweep->reports.push_back(std::move(column));
  }
  std::string csv;
  for (const Axis& axis : sweep->axes) csv += CsvCell(axis.path) + ",";
  for (const std::string& path : sweep->reports) csv += CsvCell(path) + ",";
  csv += search ? "mapping,issue" : "issue";
  for (Count i = 0; i < sweep->Size(); ++i) {
    const SweepPoint point = SweepAt(*sweep, i);
    csv += '\n';
    for (const Json& input : point.inputs) csv += CsvCell(input) + ",";
    for (const Json& figure : point.figures) csv += CsvCell(figure) + ",";
    if (search) csv += CsvCell(point.mapping.is_null() ? Json() : Json(MappingText(point.mapping))) + ",";
    if (!point.issues.empty()) csv += CsvCell(point.issues[0].path + ": " + point.issues[0].message);
  }
  return {csv, {}};
}

Answer SweepRowsAnswer(std::string_view spec, Count from, Count to) {
  Result<Json> parsed = ParseJson(spec);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  Result<Json> base = ReadMeasuredRequest(RequestIn(*parsed), {});
  if (!base) return WrongRequest(std::move(base.issues));
  Result<std::optional<SearchSpec>> search = ReadInnerSearch(*parsed, "search");
  if (!search) return WrongRequest(std::move(search.issues));
  Result<Sweep> sweep = MakeSweep(std::move(*base), TextsOf(FindMember(*parsed, "axes")),
                                  TextsOf(FindMember(*parsed, "report")), TextAt(*parsed, "optimise"), *search);
  if (!sweep) return WrongRequest(std::move(sweep.issues));
  Json rows = Json::array();
  for (Count i = std::max<Count>(0, from); i < std::min(to, sweep->Size()); ++i) {
    SweepPoint point = SweepAt(*sweep, i);
    Json issues = Json::array();
    for (const Issue& issue : point.issues) issues.push_back(Json{{"path", issue.path}, {"message", issue.message}});
    rows.push_back(Json{{"inputs", std::move(point.inputs)},
                        {"figures", std::move(point.figures)},
                        {"issues", std::move(issues)},
                        {"mapping", std::move(point.mapping)}});
  }
  return {JsonText(Json{{"size", sweep->Size()}, {"rows", std::move(rows)}}), {}};
}

}  // namespace slipstick
