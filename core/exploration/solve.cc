#include "core/exploration/solve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "core/evaluation/evaluate.h"
#include "core/evaluation/measurement_texts.h"
#include "core/evaluation/own_measurements.h"
#include "core/evaluation/report.h"
#include "core/exploration/best_mapping.h"
#include "core/exploration/condition.h"
#include "core/exploration/fixed_defaults.h"
#include "core/exploration/solved_range.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr Count kMaxSkipped = 4096;         // invalid counts in a row
constexpr Count kMaxSkippedSearches = 256;  // the same if each value runs a search
constexpr int kBisections = 200, kRounds = 20;
// Beyond a count that fails, the next 16 are tried, and the next multiples of 16, 32, … 1024.
constexpr int kUneven = 16;
constexpr double kRound = 16, kRoundest = 1024;
constexpr int kParts = 16;  // where both ends of a range agree, the values between its parts are tried
constexpr double kRelativeWidth = 1e-9;

// A condition's figure, and the value that it is compared with: a bound, or a figure of the other scenario.
struct Compared {
  double figure = 0, with = 0;
};

// The conditions at one value of the unknown.
struct Trial {
  bool valid = false;
  bool holds = false;                // all conditions hold
  std::vector<Compared> conditions;  // in their order
  std::size_t failing = 0;           // the first one that does not hold
  std::string issue;                 // why the value is invalid or infeasible
  Json mapping, warnings;            // the best, if it is searched; the report's
};

struct SolveProblem {
  Json asked, base, other;  // requests: as written; with defaults fixed; the reference scenario, or null
  std::string path;
  const FieldRow& field;  // of the input
  std::vector<Condition> conditions;
  const SolveOptions& options;
};

// Whether a figure is meaningful in an infeasible scenario.
bool IsKnownWhenInfeasible(std::string_view path) {
  return path.find("feasible") != std::string_view::npos || path.find("memory") != std::string_view::npos ||
         path.find("max_") != std::string_view::npos;
}

// Why the part of a figure is infeasible; "" if it is feasible.
std::string WhyInfeasible(const Json& report, std::string_view figure) {
  const std::string part(PartOf(figure));
  const Json* feasible = MemberAt(report, part + ".feasible");
  if (feasible == nullptr || !feasible->is_boolean() || feasible->get<bool>()) return "";
  const Json& reasons = report[part]["infeasible"];
  return reasons.empty() ? "infeasible" : reasons[0].value("message", "infeasible");
}

// The report of a request, or the reason why there is none.
Result<Json> ReportAt(const Json& request) {
  const Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return scenario.issues;
  return Evaluate(*scenario, ReportDetail::Figures());
}

std::string FirstIssueText(const Issues& issues) { return issues[0].path + ": " + issues[0].message; }

// Evaluates the conditions on the reports at a value; invalid if one has no such number.
void Compare(const SolveProblem& problem, const Json& report, const Json& other, Trial& trial) {
  trial.holds = true;
  for (const Condition& condition : problem.conditions) {
    const std::optional<double> figure = NumberAt(report, condition.path);
    const std::optional<double> with =
        condition.other.empty() ? condition.bound.value : NumberAt(other, condition.other);
    if (!figure || !with) {
      trial.issue = (figure ? condition.other : condition.path) + ": The report has no such number";
      return;
    }
    const std::string why_infeasible = WhyInfeasible(report, condition.path);
    if (trial.issue.empty()) trial.issue = why_infeasible;
    const bool holds = (why_infeasible.empty() || IsKnownWhenInfeasible(condition.path)) &&
                       (condition.at_most ? *figure <= *with : *figure >= *with);
    if (trial.holds && !holds) trial.failing = trial.conditions.size();
    trial.holds = trial.holds && holds;
    trial.conditions.push_back({*figure, *with});
  }
  trial.valid = true;
}

Trial EvaluateAt(const SolveProblem& problem, const Json& value) {
  Trial trial;
  Json request = problem.base;
  Apply(request, {{problem.path, value}});
  if (problem.options.search) {
    Result<BestMapping> best = FindBestMapping(request, *problem.options.search);
    if (!best) {
      trial.issue = FirstIssueText(best.issues);
      return trial;
    }
    if (!best->found) {
      trial.valid = true;
      trial.issue = best->why;
      trial.conditions.resize(problem.conditions.size());
      return trial;
    }
    request = WithOverrides(std::move(request), best->overrides);
    trial.mapping = std::move(best->overrides);
  }
  const Result<Json> report = ReportAt(request);
  Result<Json> other = Json();
  if (report && !problem.other.is_null()) {
    Json compared = problem.other;
    Apply(compared, {{problem.path, value}});
    other = ReportAt(compared);
  }
  if (!report || !other) {
    trial.issue = FirstIssueText(report ? other.issues : report.issues);
    return trial;
  }
  Compare(problem, *report, *other, trial);
  trial.warnings = (*report)["warnings"];
  return trial;
}

// `beyond`: the nearest value at which a condition fails; null if all hold everywhere.
Json Solution(const SolveProblem& problem, const Json& value, std::string_view which, const Trial& trial,
              const Trial* beyond = nullptr) {
  const auto figure_at = [&](std::size_t i) {
    return ObjectOf({{"path", problem.conditions[i].path}, {"value", trial.conditions[i].figure}});
  };
  Json answer{{"path", problem.path}, {"value", value}, {"which", which}, {"figure", figure_at(0)}};
  if (const std::string& other = problem.conditions[0].other; !other.empty()) {
    answer["other"] = ObjectOf({{"path", other}, {"value", trial.conditions[0].with}});
  }
  if (problem.conditions.size() > 1) {
    for (std::size_t i = 0; i < problem.conditions.size(); ++i) answer["figures"].push_back(figure_at(i));
    answer["binding"] = beyond != nullptr ? Json(problem.conditions[beyond->failing].path) : Json(nullptr);
  }
  Json edited = problem.asked, solved = problem.base;
  for (Json* request : {&edited, &solved}) {
    Apply(*request, {{problem.path, value}});
    if (problem.options.search) *request = WithOverrides(std::move(*request), trial.mapping);
  }
  answer["held"] = HeldDefaults(std::move(edited), solved);
  if (problem.options.search) answer["mapping"] = trial.mapping;
  if (!trial.warnings.empty()) answer["warnings"] = trial.warnings;
  return answer;
}

Answer Answered(const Json& answer) { return {JsonText(answer), {}}; }

Answer NoSolution(const std::string& path, const std::string& reason) {
  return Answered(Json{{"path", path}, {"value", nullptr}, {"which", "none"}, {"reason", reason}});
}

// The failing figure, or the issue, at one end of the range.
std::string EndText(const SolveProblem& problem, double at, const Trial& trial) {
  const std::string value = ShownIn(problem.field, at);
  if (!trial.issue.empty()) return "at " + value + ": " + trial.issue;
  const Condition& condition = problem.conditions[trial.failing];
  const Compared& compared = trial.conditions[trial.failing];
  const std::string_view title = OutputTitle(condition.path);
  std::string text(title.empty() ? condition.path : title);
  text += " is " + MeasuredText(compared.figure, condition.path);
  if (!condition.other.empty()) text += " against " + MeasuredText(compared.with, condition.path);
  return text + " at " + value;
}

struct Bracket {
  double good = 0, bad = 0;     // the conditions hold at `good` and not at `bad`; both are valid scenarios
  Trial best, beyond;           // at `good` and at `bad`
  std::optional<double> gap{};  // a value on the good side at which they do not hold
};
// The first and the last change between two ends of a range at which the conditions hold, or between two at which they
// do not.
struct Changes {
  Bracket first, last;
};

// The search for one input: evaluates values, skips invalid counts, and narrows a bracket.
class Solver {
 public:
  Solver(const SolveProblem& problem, const SolvedRange& span)
      : problem_(problem), span_(span), progress_{0, 0, span.low, span.high} {}

  [[nodiscard]] Json Value(double value) const { return span_.whole ? Json(static_cast<Count>(value)) : Json(value); }

  [[nodiscard]] Json SolutionOf(const Bracket& bracket, std::string_view which) const {
    Json answer = Solution(problem_, Value(bracket.good), which, bracket.best, &bracket.beyond);
    if (bracket.gap) answer["fails_at"] = Value(*bracket.gap);
    return answer;
  }

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

  // Tries values between two ends at both of which the conditions hold, or at neither.
  std::optional<Changes> FindChanges(double low, const Trial& at_low, double high, const Trial& at_high) {
    std::vector<std::pair<double, Trial>> tried{{low, at_low}};
    for (int part = 1; part < kParts; ++part) {
      double value = Between(low, high, part);
      if (value <= tried.back().first) continue;
      Trial trial = Nearest(value, Between(low, high, part + 1));
      if (trial.valid && value < high) tried.emplace_back(value, std::move(trial));
    }
    tried.emplace_back(high, at_high);
    const auto differs = [&at_low](const auto& one) { return one.second.holds != at_low.holds; };
    const auto first = std::find_if(tried.begin(), tried.end(), differs);
    if (first == tried.end()) return std::nullopt;
    const auto last = std::find_if(tried.rbegin(), tried.rend(), differs);
    const auto between = [](const auto& end, const auto& inside) {
      const auto& [good, bad] = end.second.holds ? std::tie(end, inside) : std::tie(inside, end);
      return Bracket{good.first, bad.first, good.second, bad.second};
    };
    return Changes{between(*std::prev(first), *first), between(*std::prev(last), *last)};
  }

  // Bisects until a value fails beyond which, up to the bad end, no value that is tried holds again.
  void Bisect(Bracket& bracket) {
    const double end = bracket.bad;
    for (int round = 0; round < kRounds; ++round) {
      Narrow(bracket);
      double further = bracket.bad;
      std::optional<Trial> other = LookBeyond(further, end);
      if (!other) return;
      bracket = {further, end, std::move(*other), bracket.beyond, bracket.bad};
    }
  }

 private:
  // Narrows a bracket to neighboring values.
  void Narrow(Bracket& bracket) {
    double &good = bracket.good, &bad = bracket.bad;
    for (int i = 0; i < kBisections; ++i) {
      const double width = std::abs(bad - good);
      if (span_.whole ? width <= span_.step : width <= kRelativeWidth * std::abs(good)) break;
      progress_.low = std::min(good, bad), progress_.high = std::max(good, bad);
      double middle = MiddleOf(good, bad);
      Trial trial = Nearest(middle, bad);
      if (!trial.valid || middle == bad) {
        // No valid value between the middle and `bad`.
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
        bracket.beyond = trial;
      }
    }
  }

  // Some numbers of devices, or of tokens under context parallelism, divide better than their neighbors. Moves a value
  // at which the conditions fail to the first of the next ones and of round ones before `end` at which they hold.
  std::optional<Trial> LookBeyond(double& value, double end) {
    if (!span_.whole || problem_.options.search) return std::nullopt;
    const double from = value, step = end > value ? span_.step : -span_.step;
    std::vector<double> others;
    for (int i = 1; i <= kUneven; ++i) others.push_back(from + i * step);
    for (double round = kRound; round <= kRoundest; round *= 2)
      others.push_back(Allowed(round * (end > from ? std::ceil(from / round) : std::floor(from / round))));
    for (const double other : others) {
      if (std::min(from, end) >= other || other >= std::max(from, end)) continue;
      Trial trial = Test(other);
      if (!trial.valid || !trial.holds) continue;
      value = other;
      return trial;
    }
    return std::nullopt;
  }

  Trial Test(double value) {
    Trial trial = EvaluateAt(problem_, Value(value));
    ++progress_.tried;
    if (problem_.options.on_progress) {
      // Each further value halves the bracket.
      const double width = std::abs(progress_.high - progress_.low);
      const double narrow =
          span_.whole ? span_.step : kRelativeWidth * std::max(std::abs(progress_.low), std::abs(progress_.high));
      progress_.of = progress_.tried + static_cast<Count>(std::max(0.0, std::ceil(std::log2(width / narrow))));
      problem_.options.on_progress(progress_);
    }
    return trial;
  }

  // The value itself, or the count at or below it.
  [[nodiscard]] double Allowed(double value) const {
    return span_.whole ? span_.low + std::floor((value - span_.low) / span_.step) * span_.step : value;
  }

  [[nodiscard]] double MiddleOf(double a, double b) const { return Allowed(std::min(a, b) + std::abs(b - a) / 2); }

  // Divides a range geometrically, since inputs span orders of magnitude; linearly if it starts at zero. Counts are
  // rounded to five bits, because round numbers divide well.
  [[nodiscard]] double Between(double low, double high, int part) const {
    if (part == kParts) return high;
    const double share = static_cast<double>(part) / kParts;
    const double value = low > 0 ? low * std::pow(high / low, share) : low + share * (high - low);
    if (!span_.whole || value < 1) return Allowed(value);
    const double grid = std::exp2(std::max(0., std::floor(std::log2(value)) - 4));
    return Allowed(std::floor(value / grid) * grid);
  }

  const SolveProblem& problem_;
  const SolvedRange& span_;
  SolveProgress progress_;
};

}  // namespace

Answer SolveAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view range,
                   std::string_view until, const SolveOptions& options) {
  Result<Json> base = ReadMeasuredRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  Result<std::vector<Condition>> conditions = ParseConditions(until);
  if (!conditions) return WrongRequest(std::move(conditions.issues));
  const std::size_t equals = range.find('='), colon = range.find(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals) {
    return WrongRequest({{"range", "Enter PATH=lo:hi, not " + std::string(range)}});
  }
  const std::string path(range.substr(0, equals));
  const FieldRow* field = FieldAt<Scenario>(path);
  if (field == nullptr) return WrongRequest({{path, "Unknown input"}});
  if (Issues issues = IssuesOfVarying(path); !issues.empty()) return WrongRequest(std::move(issues));
  const std::optional<SolvedRange> span = ParseSpan(range.substr(equals + 1), *field, VersionOf(*base));
  if (!span) {
    return WrongRequest({{path, "Give a numeric input and lo below hi, not " + std::string(range.substr(equals + 1))}});
  }
  SolveProblem problem{*base, WithDefaultsFixed(*base, path), nullptr, path, *field, std::move(*conditions), options};
  if (std::any_of(problem.conditions.begin(), problem.conditions.end(),
                  [](const Condition& one) { return !one.other.empty(); })) {
    Result<Json> other = ReadRequest(JsonText(*base), options.against);
    if (!other) return WrongRequest(std::move(other.issues));
    problem.other = WithDefaultsFixed(std::move(*other), path);
  }
  Solver solver(problem, *span);
  double low = span->low, high = span->high;
  const Trial at_low = solver.Nearest(low, high), at_high = solver.Nearest(high, low);
  if (!at_low.valid || !at_high.valid) {
    return NoSolution(path, "No value of the range is a valid scenario: " + (at_low.valid ? at_high : at_low).issue);
  }
  if (at_low.holds != at_high.holds) {
    Bracket bracket = at_low.holds ? Bracket{low, high, at_low, at_high} : Bracket{high, low, at_high, at_low};
    solver.Bisect(bracket);
    return Answered(solver.SolutionOf(bracket, at_low.holds ? "largest" : "smallest"));
  }
  std::optional<Changes> changes = solver.FindChanges(low, at_low, high, at_high);
  if (!changes && at_low.holds) return Answered(Solution(problem, solver.Value(high), "everywhere", at_high));
  if (!changes) {
    const std::string what = problem.conditions.size() > 1 ? "The conditions hold" : "The condition holds";
    return NoSolution(
        path, what + " at neither end: " + EndText(problem, low, at_low) + "; " + EndText(problem, high, at_high));
  }
  solver.Bisect(changes->first);
  solver.Bisect(changes->last);
  Json answer = solver.SolutionOf(changes->first, at_low.holds ? "ends" : "smallest");
  answer[at_low.holds ? "again" : "largest"] = solver.Value(changes->last.good);
  return Answered(answer);
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
  options.against = TextsOf(FindMember(*parsed, "against"));
  std::string until = TextAt(*parsed, "until");
  for (const std::string& one : TextsOf(FindMember(*parsed, "until"))) until += (until.empty() ? "" : ",") + one;
  return SolveAnswer(RequestIn(*parsed), {}, TextAt(*parsed, "range"), until, options);
}

}  // namespace slipstick
