#include <cmath>
#include <functional>

#include "core/base/schema.h"
#include "core/study/evaluate.h"
#include "core/study/scenario.h"
#include "core/study/sweep.h"

namespace slipstick {
namespace {

constexpr Count kNextValid = 4096;  // how far to look for a count that makes a scenario
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

// What a condition says at one value of the unknown.
struct Trial {
  bool valid = false;
  bool holds = false;
  double figure = 0;
  std::string issue;
};

Trial Try(const Json& base, const std::string& path, const Json& value, const Condition& condition) {
  Json request = base;
  Apply(request, {{path, value}});
  const Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return {false, false, 0, scenario.issues[0].path + ": " + scenario.issues[0].message};
  const Result<Json> report = Evaluate(*scenario, ReportDetail::Figures());
  const std::optional<double> figure = FigureAt(*report, condition.path);
  if (!figure) return {false, false, 0, condition.path + ": the report has no such number"};
  return {true, condition.at_most ? *figure <= condition.bound : *figure >= condition.bound, *figure, ""};
}

Answer Solution(const std::string& path, const Json& value, std::string_view which, const Trial& trial, const Condition& condition) {
  return {
      JsonText(Json{{"path", path}, {"value", value}, {"which", which}, {"figure", {{"path", condition.path}, {"value", trial.figure}}}}),
      {}};
}

Answer NoSolution(const std::string& path, const std::string& reason) {
  return {JsonText(Json{{"path", path}, {"value", nullptr}, {"which", "none"}, {"reason", reason}}), {}};
}

}  // namespace

Result<Condition> ParseCondition(std::string_view text) {
  const std::size_t less = text.find("<="), more = text.find(">=");
  const std::size_t at = std::min(less, more);
  if (at == std::string_view::npos || at == 0) return Issues{{"until", "expected PATH<=VALUE or PATH>=VALUE; got " + std::string(text)}};
  const std::optional<Measure> bound = ParseMeasure(text.substr(at + 2));
  if (!bound)
    return Issues{{"until", "expected a number after " + std::string(text.substr(at, 2)) + "; got " + std::string(text.substr(at + 2))}};
  return Condition{std::string(text.substr(0, at)), at == less, bound->value};
}

Answer SolveAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view range, std::string_view until) {
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
  const std::string kind = field["kind"].get<std::string>();
  const bool whole = kind == "count" || kind == "length";
  const double thousand = kind == "length" ? 1024 : 1000;
  const std::optional<Measure> low = ParseMeasure(range.substr(equals + 1, colon - equals - 1), thousand);
  const std::optional<Measure> high = ParseMeasure(range.substr(colon + 1), thousand);
  if (!low || !high || !(low->value < high->value) || (kind != "quantity" && kind != "ratio" && !whole)) {
    return WrongRequest({{path, "expected a numeric input and lo below hi; got " + std::string(range.substr(equals + 1))}});
  }
  const auto json = [whole](double value) { return whole ? Json(static_cast<Count>(value)) : Json(value); };
  const auto test = [&](double value) { return Try(*base, path, json(value), *condition); };
  // The nearest value at or beyond `value`, stepping towards `end`, that makes a scenario.
  const auto nearest = [&](double& value, double end) {
    Trial trial = test(value);
    const double step = end > value ? 1 : -1;
    for (Count i = 0; whole && !trial.valid && i < kNextValid && value != end; ++i) {
      value += step;
      trial = test(value);
    }
    return trial;
  };
  double lo = whole ? std::ceil(low->value) : low->value, hi = whole ? std::floor(high->value) : high->value;
  const Trial at_lo = nearest(lo, hi), at_hi = nearest(hi, lo);
  if (!at_lo.valid || !at_hi.valid)
    return NoSolution(path, "no value of the range makes a scenario: " + (at_lo.valid ? at_hi : at_lo).issue);
  if (at_lo.holds && at_hi.holds) return Solution(path, json(hi), "everywhere", at_hi, *condition);
  if (!at_lo.holds && !at_hi.holds) {
    return NoSolution(path, "the condition holds at neither end: " + condition->path + " is " + NumberText(at_lo.figure) + " at " +
                                NumberText(lo) + " and " + NumberText(at_hi.figure) + " at " + NumberText(hi));
  }
  // `good` holds, `bad` does not; both make scenarios.
  double good = at_lo.holds ? lo : hi, bad = at_lo.holds ? hi : lo;
  Trial best = at_lo.holds ? at_lo : at_hi;
  for (int i = 0; i < kBisections; ++i) {
    if (whole ? std::abs(bad - good) <= 1 : std::abs(bad - good) <= kRelativeWidth * std::abs(good)) break;
    double middle = whole ? std::floor((good + bad) / 2) : (good + bad) / 2;
    Trial trial = nearest(middle, bad);
    if (!trial.valid || middle == bad) {
      // Nothing valid between the middle and `bad`: look on the other side.
      bad = whole ? std::floor((good + bad) / 2) : (good + bad) / 2;
      continue;
    }
    if (trial.holds) {
      good = middle;
      best = trial;
    } else {
      bad = middle;
    }
  }
  return Solution(path, json(good), at_lo.holds ? "largest" : "smallest", best, *condition);
}

}  // namespace slipstick
