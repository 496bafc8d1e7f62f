#include "core/exploration/solve.h"

#include <cmath>
#include <functional>

#include "core/base/schema.h"
#include "core/evaluation/evaluate.h"
#include "core/exploration/best_mapping.h"
#include "core/exploration/condition.h"
#include "core/scenario/legal_defaults.h"
#include "core/scenario/scenario.h"

namespace slipstick {
namespace {

constexpr Count kNextValid = 4096;    // how far to look for a count that makes a scenario
constexpr Count kNextSearched = 256;  // the same where each is searched
constexpr int kBisections = 200;
constexpr double kRelativeWidth = 1e-9;

// The described field of a path, or null; places of arrays are "*".
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

// The request with what it leaves to follow held where it is: all but the unknown stays. Unchanged where it is no scenario yet.
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

// What a condition says at one value of the unknown.
struct Trial {
  bool valid = false;
  bool holds = false;
  double figure = 0, other = 0;  // other: of the scenario compared with
  std::string issue;             // why it is no scenario, or why it does not fit
  Json mapping;
};

struct SolveProblem {
  Json base, other;  // requests; other is null where nothing is compared
  std::string path;
  Condition condition;
  const SolveOptions& options;
};

// Whether a figure means something where the scenario does not fit.
bool IsKnownWhenInfeasible(std::string_view path) {
  return path.find("feasible") != std::string_view::npos || path.find("memory") != std::string_view::npos ||
         path.find("max_") != std::string_view::npos;
}

// Why the part that a figure belongs to does not fit; "" where it does.
std::string WhyInfeasible(const Json& report, std::string_view figure) {
  const std::string part(figure.substr(0, figure.find('.')));
  const Json* feasible = MemberAt(report, part + ".feasible");
  if (feasible == nullptr || !feasible->is_boolean() || feasible->get<bool>()) return "";
  const Json& reasons = report[part]["infeasible"];
  if (reasons.empty()) return "it does not fit";
  const std::string message = reasons[0].value("message", "");
  return message.empty() ? reasons[0].value("reason", "it does not fit") : message;
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
      trial.issue = path + ": the report has no such number";
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

// What there is at one end of a range where nothing holds.
std::string EndText(const SolveProblem& problem, double at, const Trial& trial) {
  if (!trial.issue.empty()) return "at " + NumberText(at) + ", " + trial.issue;
  std::string text = problem.condition.path + " is " + NumberText(trial.figure);
  if (!problem.condition.other.empty()) text += " against " + NumberText(trial.other);
  return text + " at " + NumberText(at);
}

// lo:hi or lo:hi:step of the unknown, in base units.
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

}  // namespace

Answer SolveAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view range, std::string_view until,
                   const SolveOptions& options) {
  Result<Json> base = ReadRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  Result<Condition> condition = ParseCondition(until);
  if (!condition) return WrongRequest(std::move(condition.issues));
  const std::size_t equals = range.find('='), colon = range.find(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals) {
    return WrongRequest({{"range", "expected PATH=lo:hi; got " + std::string(range)}});
  }
  const std::string path(range.substr(0, equals));
  const Json field = FieldOf(path);
  if (field.is_null()) return WrongRequest({{path, "there is no such input"}});
  const std::optional<Span> span = ParseSpan(range.substr(equals + 1), field["kind"].get<std::string>());
  if (!span) {
    return WrongRequest({{path, "expected a numeric input and lo below hi; got " + std::string(range.substr(equals + 1))}});
  }
  SolveProblem problem{WithDefaultsFixed(*base), nullptr, path, *condition, options};
  if (!condition->other.empty()) {
    Result<Json> other = ReadRequest(JsonText(*base), options.against);
    if (!other) return WrongRequest(std::move(other.issues));
    problem.other = WithDefaultsFixed(std::move(*other));
  }
  const bool whole = span->whole;
  const auto json = [whole](double value) { return whole ? Json(static_cast<Count>(value)) : Json(value); };
  SolveProgress progress{0, 0, span->low, span->high};
  const auto test = [&](double value) {
    Trial trial = EvaluateAt(problem, json(value));
    ++progress.tried;
    if (options.on_progress) {
      // Each further value halves what lies between.
      const double width = std::abs(progress.high - progress.low);
      const double narrow = whole ? span->step : kRelativeWidth * std::max(std::abs(progress.low), std::abs(progress.high));
      progress.of = progress.tried + static_cast<Count>(std::max(0.0, std::ceil(std::log2(width / narrow))));
      options.on_progress(progress);
    }
    return trial;
  };
  // The nearest value at or beyond `value`, stepping towards `end`, that makes a scenario.
  const auto nearest = [&](double& value, double end) {
    Trial trial = test(value);
    const double step = end > value ? span->step : -span->step;
    const Count reach = options.search ? kNextSearched : kNextValid;
    for (Count i = 0; whole && !trial.valid && i < reach && value != end; ++i) {
      value += step;
      trial = test(value);
    }
    return trial;
  };
  double lo = span->low, hi = span->high;
  const Trial at_lo = nearest(lo, hi), at_hi = nearest(hi, lo);
  if (!at_lo.valid || !at_hi.valid)
    return NoSolution(path, "no value of the range makes a scenario: " + (at_lo.valid ? at_hi : at_lo).issue);
  if (at_lo.holds && at_hi.holds) return Solution(problem, json(hi), "everywhere", at_hi);
  if (!at_lo.holds && !at_hi.holds) {
    return NoSolution(path, "the condition holds at neither end: " + EndText(problem, lo, at_lo) + "; " + EndText(problem, hi, at_hi));
  }
  // `good` holds, `bad` does not; both make scenarios.
  const auto middle_of = [&](double a, double b) {
    if (!whole) return (a + b) / 2;
    return span->low + std::floor((std::min(a, b) + std::abs(b - a) / 2 - span->low) / span->step) * span->step;
  };
  double good = at_lo.holds ? lo : hi, bad = at_lo.holds ? hi : lo;
  Trial best = at_lo.holds ? at_lo : at_hi;
  for (int i = 0; i < kBisections; ++i) {
    if (whole ? std::abs(bad - good) <= span->step : std::abs(bad - good) <= kRelativeWidth * std::abs(good)) break;
    progress.low = std::min(good, bad), progress.high = std::max(good, bad);
    double middle = middle_of(good, bad);
    Trial trial = nearest(middle, bad);
    if (!trial.valid || middle == bad) {
      // Nothing valid between the middle and `bad`: look on the other side.
      const double cut = middle_of(good, bad);
      if (cut == good) break;
      bad = cut;
      continue;
    }
    if (trial.holds) {
      good = middle;
      best = trial;
    } else {
      bad = middle;
    }
  }
  return Solution(problem, json(good), at_lo.holds ? "largest" : "smallest", best);
}

Answer SolveSpecAnswer(std::string_view spec, const std::function<void(const SolveProgress&)>& on_progress) {
  Result<Json> parsed = ParseJson(spec);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  if (!parsed->is_object()) return WrongRequest({{"", "expected an object; got " + internal::Shown(*parsed)}});
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
