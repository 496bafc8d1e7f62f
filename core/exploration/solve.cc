#include "core/exploration/solve.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/schema.h"
#include "core/evaluation/evaluate.h"
#include "core/exploration/best_mapping.h"
#include "core/exploration/condition.h"
#include "core/scenario/legal_defaults.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr Count kMaxSkipped = 4096;         // invalid counts in a row
constexpr Count kMaxSkippedSearches = 256;  // the same if each value runs a search
constexpr int kBisections = 200;
constexpr double kRelativeWidth = 1e-9;

// The described field of a path, or null; list indices are "*".
Json FieldOf(std::string_view path) {
  Json inputs = Json::array();
  Describe("", Scenario{}, inputs);
  std::string wanted;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool digit = path[i] >= '0' && path[i] <= '9' && (i == 0 || path[i - 1] == '.' || wanted.back() == '*');
    if (!digit) wanted += path[i];
    if (digit && wanted.back() != '*') wanted += '*';
  }
  for (const Json& field : inputs) {
    if (field["path"] == wanted) return field;
  }
  return nullptr;
}

// Fixes the adjustable defaults at their present values, so that only the unknown changes. Unchanged if the request is invalid.
Json WithDefaultsFixed(Json request) {
  const Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return request;
  const Written written(request);
  const Json resolved = Write(*scenario);
  for (const std::string_view path : kAdjustableDefaults) {
    const Json* value = MemberAt(resolved, path);
    if (value != nullptr && written.IsDefault(path)) Apply(request, {{std::string(path), *value}});
  }
  return request;
}

// The condition at one value of the unknown.
struct Trial {
  bool valid = false;
  bool holds = false;
  double figure = 0, other = 0;  // other: in the scenario compared with
  std::string issue;             // why it is invalid or infeasible
  Json mapping;
};

struct SolveProblem {
  Json base, other;  // requests; other is null if nothing is compared
  std::string path;
  Condition condition;
  const SolveOptions& options;
};

// Whether a figure is meaningful in an infeasible scenario.
bool IsKnownWhenInfeasible(std::string_view path) {
  return path.find("feasible") != std::string_view::npos || path.find("memory") != std::string_view::npos ||
         path.find("max_") != std::string_view::npos;
}

// Why the part of a figure is infeasible; "" if it is feasible.
std::string WhyInfeasible(const Json& report, std::string_view figure) {
  const std::string part(figure.substr(0, figure.find('.')));
  const Json* feasible = MemberAt(report, part + ".feasible");
  if (feasible == nullptr || !feasible->is_boolean() || feasible->get<bool>()) return "";
  const Json& reasons = report[part]["infeasible"];
  if (reasons.empty()) return "infeasible";
  const std::string message = reasons[0].value("message", "");
  return message.empty() ? reasons[0].value("reason", "infeasible") : message;
}

Trial EvaluateAt(const SolveProblem& problem, const Json& value) {
  const Condition& condition = problem.condition;
  Trial trial;
  Json request = problem.base;
  Apply(request, {{problem.path, value}});
  if (problem.options.search) {
    Result<BestMapping> best = FindBestMapping(request, *problem.options.search);
    if (!best) {
      trial.issue = best.issues[0].path + ": " + best.issues[0].message;
      return trial;
    }
    if (!best->found) {
      trial.valid = true;
      trial.issue = best->why;
      return trial;
    }
    request = WithMapping(std::move(request), *best);
    trial.mapping = std::move(best->overrides);
  }
  const auto figure_of = [&trial](const Json& point_request, const std::string& path, double& figure) {
    const Result<Scenario> scenario = ParseScenario(point_request);
    if (!scenario) {
      trial.issue = scenario.issues[0].path + ": " + scenario.issues[0].message;
      return false;
    }
    const Result<Json> report = Evaluate(*scenario, ReportDetail::Figures());
    const std::optional<double> found = NumberAt(*report, path);
    if (!found) {
      trial.issue = path + ": The report has no such number";
      return false;
    }
    figure = *found;
    trial.issue = WhyInfeasible(*report, path);
    return true;
  };
  if (!figure_of(request, condition.path, trial.figure)) return trial;
  const std::string why_infeasible = trial.issue;
  trial.other = condition.bound;
  if (!condition.other.empty()) {
    Json other = problem.other;
    Apply(other, {{problem.path, value}});
    if (!figure_of(other, condition.other, trial.other)) return trial;
  }
  trial.valid = true;
  trial.issue = why_infeasible;
  trial.holds = (why_infeasible.empty() || IsKnownWhenInfeasible(condition.path)) &&
                (condition.at_most ? trial.figure <= trial.other : trial.figure >= trial.other);
  return trial;
}

Answer Solution(const SolveProblem& problem, const Json& value, std::string_view which, const Trial& trial) {
  Json answer{
      {"path", problem.path}, {"value", value}, {"which", which}, {"figure", {{"path", problem.condition.path}, {"value", trial.figure}}}};
  if (!problem.condition.other.empty()) answer["other"] = Json{{"path", problem.condition.other}, {"value", trial.other}};
  if (problem.options.search) answer["mapping"] = trial.mapping;
  return {JsonText(answer), {}};
}

Answer NoSolution(const std::string& path, const std::string& reason) {
  return {JsonText(Json{{"path", path}, {"value", nullptr}, {"which", "none"}, {"reason", reason}}), {}};
}

// The figure, or the issue, at one end of the range.
std::string EndText(const SolveProblem& problem, double at, const Trial& trial) {
  if (!trial.issue.empty()) return "at " + NumberText(at) + ": " + trial.issue;
  std::string text = problem.condition.path + " is " + NumberText(trial.figure);
  if (!problem.condition.other.empty()) text += " against " + NumberText(trial.other);
  return text + " at " + NumberText(at);
}

// lo:hi or lo:hi:step, in base units.
struct Span {
  double low = 0, high = 0, step = 1;
  bool whole = false;
};
std::optional<Span> ParseSpan(std::string_view text, const std::string& kind) {
  Span span;
  span.whole = kind == "count" || kind == "length";
  if (kind != "quantity" && kind != "ratio" && !span.whole) return std::nullopt;
  const double thousand = kind == "length" ? 1024 : 1000;
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  const std::optional<Measure> low = ParseMeasure(text.substr(0, first), thousand);
  const std::optional<Measure> high = ParseMeasure(text.substr(first + 1, second - first - 1), thousand);
  if (!low || !high || !(low->value < high->value)) return std::nullopt;
  if (second != std::string_view::npos) {
    const std::optional<Measure> step = ParseMeasure(text.substr(second + 1), thousand);
    if (!step || !span.whole || step->value < 1) return std::nullopt;
    span.step = std::floor(step->value);
  }
  span.low = span.whole ? std::ceil(low->value) : low->value;
  span.high = span.whole ? span.low + std::floor((high->value - span.low) / span.step) * span.step : high->value;
  return span;
}

struct Bracket {
  double good = 0, bad = 0;  // the condition holds at `good` and not at `bad`; both are valid scenarios
  Trial best;                // at `good`
};

// The search for one input: evaluates values, skips invalid counts, and narrows a bracket.
class Solver {
 public:
  Solver(const SolveProblem& problem, const Span& span) : problem_(problem), span_(span), progress_{0, 0, span.low, span.high} {}

  [[nodiscard]] Json Value(double value) const { return span_.whole ? Json(static_cast<Count>(value)) : Json(value); }

  // The nearest valid value at or beyond `value`, stepping towards `end`.
  Trial Nearest(double& value, double end) {
    Trial trial = Test(value);
    const double step = end > value ? span_.step : -span_.step;
    const Count reach = problem_.options.search ? kMaxSkippedSearches : kMaxSkipped;
    for (Count i = 0; span_.whole && !trial.valid && i < reach && value != end; ++i) {
      value += step;
      trial = Test(value);
    }
    return trial;
  }

  void Narrow(Bracket& bracket) {
    double& good = bracket.good;
    double& bad = bracket.bad;
    for (int i = 0; i < kBisections; ++i) {
      const double width = std::abs(bad - good);
      if (span_.whole ? width <= span_.step : width <= kRelativeWidth * std::abs(good)) break;
      progress_.low = std::min(good, bad), progress_.high = std::max(good, bad);
      double middle = MiddleOf(good, bad);
      Trial trial = Nearest(middle, bad);
      if (!trial.valid || middle == bad) {
        // No valid value between the middle and `bad`: continue on the other side.
        const double cut = MiddleOf(good, bad);
        if (cut == good) break;
        bad = cut;
        continue;
      }
      if (trial.holds) {
        good = middle;
        bracket.best = trial;
      } else {
        bad = middle;
      }
    }
  }

 private:
  Trial Test(double value) {
    Trial trial = EvaluateAt(problem_, Value(value));
    ++progress_.tried;
    if (problem_.options.on_progress) {
      // Each further value halves the bracket.
      const double width = std::abs(progress_.high - progress_.low);
      const double narrow = span_.whole ? span_.step : kRelativeWidth * std::max(std::abs(progress_.low), std::abs(progress_.high));
      progress_.of = progress_.tried + static_cast<Count>(std::max(0.0, std::ceil(std::log2(width / narrow))));
      problem_.options.on_progress(progress_);
    }
    return trial;
  }

  [[nodiscard]] double MiddleOf(double a, double b) const {
    if (!span_.whole) return (a + b) / 2;
    return span_.low + std::floor((std::min(a, b) + std::abs(b - a) / 2 - span_.low) / span_.step) * span_.step;
  }

  const SolveProblem& problem_;
  const Span& span_;
  SolveProgress progress_;
};

}  // namespace

Answer SolveAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view range, std::string_view until,
                   const SolveOptions& options) {
  Result<Json> base = ReadRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  Result<Condition> condition = ParseCondition(until);
  if (!condition) return WrongRequest(std::move(condition.issues));
  const std::size_t equals = range.find('='), colon = range.find(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals) {
    return WrongRequest({{"range", "Enter PATH=lo:hi, not " + std::string(range)}});
  }
  const std::string path(range.substr(0, equals));
  const Json field = FieldOf(path);
  if (field.is_null()) return WrongRequest({{path, "Unknown input"}});
  const std::optional<Span> span = ParseSpan(range.substr(equals + 1), field["kind"].get<std::string>());
  if (!span) {
    return WrongRequest({{path, "Give a numeric input and lo below hi, not " + std::string(range.substr(equals + 1))}});
  }
  SolveProblem problem{WithDefaultsFixed(*base), nullptr, path, *condition, options};
  if (!condition->other.empty()) {
    Result<Json> other = ReadRequest(JsonText(*base), options.against);
    if (!other) return WrongRequest(std::move(other.issues));
    problem.other = WithDefaultsFixed(std::move(*other));
  }
  Solver solver(problem, *span);
  double low = span->low, high = span->high;
  const Trial at_low = solver.Nearest(low, high), at_high = solver.Nearest(high, low);
  if (!at_low.valid || !at_high.valid) {
    return NoSolution(path, "No value of the range is a valid scenario: " + (at_low.valid ? at_high : at_low).issue);
  }
  if (at_low.holds && at_high.holds) return Solution(problem, solver.Value(high), "everywhere", at_high);
  if (!at_low.holds && !at_high.holds) {
    return NoSolution(path,
                      "The condition holds at neither end: " + EndText(problem, low, at_low) + "; " + EndText(problem, high, at_high));
  }
  Bracket bracket = at_low.holds ? Bracket{low, high, at_low} : Bracket{high, low, at_high};
  solver.Narrow(bracket);
  return Solution(problem, solver.Value(bracket.good), at_low.holds ? "largest" : "smallest", bracket.best);
}

Answer SolveSpecAnswer(std::string_view spec, const std::function<void(const SolveProgress&)>& on_progress) {
  Result<Json> parsed = ParseJson(spec);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  if (!parsed->is_object()) return WrongRequest({{"", "Must be an object, not " + internal::Shown(*parsed)}});
  SolveOptions options;
  options.on_progress = on_progress;
  Result<std::optional<SearchSpec>> search = ReadInnerSearch(*parsed, "search");
  if (!search) return WrongRequest(std::move(search.issues));
  options.search = std::move(*search);
  if (parsed->contains("against") && (*parsed)["against"].is_array()) {
    for (const Json& one : (*parsed)["against"]) options.against.push_back(one.is_string() ? one.get<std::string>() : JsonText(one));
  }
  const auto text = [&](const char* key) {
    return parsed->contains(key) && (*parsed)[key].is_string() ? (*parsed)[key].get<std::string>() : "";
  };
  return SolveAnswer(parsed->contains("request") ? JsonText((*parsed)["request"]) : "", {}, text("range"), text("until"), options);
}

}  // namespace slipstick
