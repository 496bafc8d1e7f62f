#include "core/evaluation/own_measurements.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/fix.h"
#include "core/base/units.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/explaining_inputs.h"
#include "core/evaluation/measurement_texts.h"
#include "core/evaluation/report.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr std::string_view kMember = "measured";
constexpr std::size_t kMost = 8;             // maximum measurements per request
constexpr double kContradiction = 5. / 1e3;  // relative error above which measurements contradict each other
constexpr double kDigits = 1e3;              // offered values have four significant digits

struct Place {
  Scenario scenario;
  Json resolved;  // the scenario as JSON, with its mappings no longer automatic
};

// A measurement and the scenario that was measured.
struct Run {
  OwnMeasurement own;
  std::string path;  // of the measurement in the request
  Json resolved;     // the measured scenario, without the parts that the figure does not need
  MeasuredFigure figure;
};

// An issue that any of its fixes resolves; the last fix removes the measurements.
Issue WrongAt(std::string path, std::string message, std::vector<Fix> fixes = {}) {
  fixes.push_back(LeaveOut(std::string(kMember)));
  return {std::move(path), std::move(message), std::move(fixes)};
}

// A measured value in the report's unit; a text must have the dimension of the figure.
Result<double> ValueOf(const Json& one, const std::string& path, std::string_view figure) {
  const Json* value = FindMember(one, "value");
  const std::string unit(UnitOf(figure));
  const Issues wrong{WrongAt(path + ".value", "Enter a value above 0" + (unit.empty() ? "" : ", in " + unit))};
  std::optional<Measure> read;
  if (value != nullptr && value->is_string()) read = ParseMeasure(TextOf(*value));
  if (value != nullptr && value->is_number()) read = Measure{.value = value->get<double>()};
  const Result<double> reported = read ? ReportedValue(*read, std::string(figure)) : wrong;
  if (!reported || !(*reported > 0) || !std::isfinite(*reported)) return wrong;
  return *reported;
}

Result<OwnMeasurement> ReadOne(const Json& one, const std::string& path) {
  const std::string figure = TextAt(one, "path");
  const Json* output = OutputAt(figure);
  if (output == nullptr || TextAt(*output, "kind") != "number") {
    return Issues{WrongAt(path + ".path", "Enter the path of a figure of the report, such as serving.tpot_s",
                          SetToEach(path + ".path", NearestOutputs(figure)))};
  }
  const Result<double> value = ValueOf(one, path, figure);
  if (!value) return value.issues;
  Json in_base = one;
  in_base["value"] = *value;
  OwnMeasurement own;
  Issues issues;
  Read(in_base, path, issues, own);
  if (!issues.empty()) return issues;
  std::vector<std::string> inputs;
  for (const std::span<const std::string_view> some : {InputsBehind(own.path), FactorsOfSoftware(own.path)})
    inputs.insert(inputs.end(), some.begin(), some.end());
  if (own.input.empty() || std::find(inputs.begin(), inputs.end(), own.input) != inputs.end()) return own;
  return Issues{
      WrongAt(path + ".input", "Not a constant that may explain this figure", SetToEach(path + ".input", inputs))};
}

// "a=1&b=x%26y" -> {"a=1", "b=x&y"}
std::vector<std::string> AssignmentsOf(std::string_view at) {
  std::vector<std::string> all{""};
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] == '&') {
      all.emplace_back();
    } else if (at.substr(i, 3) == "%26" || at.substr(i, 3) == "%25") {
      all.back() += at[i + 2] == '6' ? '&' : '%';
      i += 2;
    } else {
      all.back() += at[i];
    }
  }
  std::erase(all, "");
  return all;
}

// Turns off the parts that a figure does not need.
Json OnlyFor(std::string_view figure, Json resolved) {
  if (IsCost(figure)) return resolved;
  for (const char* part : kParts) {
    if (part != PartOf(figure)) resolved[part] = nullptr;
  }
  return resolved;
}

std::optional<double> FigureOf(const Json& resolved, std::string_view figure, const InputValues& values) {
  Json request = resolved;
  for (const auto& [path, value] : WithTied(values, resolved)) SetPath(request, path, value);
  const Result<Scenario> scenario = ParseScenario(std::move(request));
  if (!scenario) return std::nullopt;
  const Result<Json> report = Evaluate(*scenario, ReportDetail::Figures());
  return report ? NumberAt(*report, figure) : std::nullopt;
}

// Replaces "auto" by the chosen mapping. It does not count as written, so other inputs can move it to a legal one.
void KeepChoices(const Scenario& scenario, const Json& resolved, Json& request) {
  for (const char* part : {"training", "serving"}) {
    const Json* is_auto = MemberAt(request, std::string(part) + ".mapping.auto");
    if (is_auto != nullptr && *is_auto == true) request[part]["mapping"]["auto"] = false;
  }
  for (const Chosen& one : scenario.chosen) {
    if (const Json* chosen = MemberAt(resolved, one.path)) SetPath(request, one.path, *chosen);
  }
}

class Mover {
 public:
  explicit Mover(Json request) : request_(std::move(request)) {}

  Result<Json> Moved() {
    Issues issues = ReadRuns();
    if (!issues.empty()) return issues;
    if (is_invalid_) {  // its own issues follow when it is read
      request_.erase(std::string(kMember));
      return std::move(request_);
    }
    issues = Explain();
    if (!issues.empty()) return issues;
    Write();
    return std::move(request_);
  }

 private:
  Issues ReadRuns() {
    const Json list = request_[std::string(kMember)];
    if (!list.is_array() || list.size() > kMost)
      return {WrongAt(std::string(kMember), "Give a list of at most " + std::to_string(kMost) + " measurements")};
    Issues issues;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string path = std::string(kMember) + "." + std::to_string(i);
      Result<OwnMeasurement> own = ReadOne(list[i], path);
      if (!own) {
        issues.insert(issues.end(), own.issues.begin(), own.issues.end());
        continue;
      }
      runs_.push_back({std::move(*own), path, {}, {}});
    }
    if (!issues.empty()) return issues;
    TakeBack();
    for (Run& run : runs_) {
      Result<Place> place = PlaceOf(run);
      if (!place) return place.issues;
      if (is_invalid_) return {};
      run.own.system = SystemBehind(run.own.path, place->scenario);
      run.resolved = OnlyFor(run.own.path, std::move(place->resolved));
      run.figure = {[&run](const InputValues& values) { return FigureOf(run.resolved, run.own.path, values); },
                    run.own.value};
    }
    return issues;
  }

  // Resets the parameters of a request that was already moved to measurements.
  void TakeBack() {
    InputValues before;
    for (const auto& [own, path, resolved, figure] : runs_) {
      if (own.from > 0 && NumberAt(request_, own.input)) before[own.input] = own.from;
    }
    for (const auto& [path, value] : WithTied(before, request_)) SetPath(request_, path, value);
  }

  // The scenario that was measured: the one named by `at`, or the request's own.
  Result<Place> PlaceOf(const Run& run) {
    const bool is_here = run.own.at.empty();
    if (is_here && here_) return *here_;
    Json asked = request_;
    if (!is_here) {
      Result<Json> read = ReadRequest(JsonText(Json{{"version", VersionOf(request_)}}), AssignmentsOf(run.own.at));
      if (!read) return Issues{WrongAt(run.path + ".at", read.issues.front().message)};
      asked = std::move(*read);
    }
    asked.erase(std::string(kMember));
    Result<Scenario> scenario = ParseScenario(std::move(asked));
    if (!scenario) {
      is_invalid_ = is_here;
      if (is_here) return Place{};
      const Issue& first = scenario.issues.front();
      return Issues{WrongAt(run.path + ".at", first.path + ": " + first.message)};
    }
    Place place{std::move(*scenario), {}};
    place.resolved = slipstick::Write(place.scenario);
    for (const char* part : {"training", "serving"}) {
      if (place.resolved[part].is_object()) place.resolved[part]["mapping"]["auto"] = false;
    }
    if (is_here) {
      KeepChoices(place.scenario, place.resolved, request_);
      here_ = place;
    }
    return place;
  }

  // Finds one parameter per measurement, and the values that explain all measurements.
  Issues Explain() {
    std::vector<Explanation> explanations;
    for (Run& run : runs_) {
      const std::optional<double> computed = run.figure.computed({});
      if (!computed || !(*computed > 0)) {
        return {WrongAt(run.path + ".path", "The scenario has no such figure")};
      }
      run.own.computed = *computed;
      std::vector<ExplainingInput> inputs = InputsFor(run, InputsBehind(run.own.path), explanations);
      auto found = FirstThatExplains(inputs, false);
      if (found == inputs.end()) {
        std::vector<ExplainingInput> factors = InputsFor(run, FactorsOfSoftware(run.own.path), explanations);
        const auto slower = FirstThatExplains(factors, true);
        if (slower == factors.end()) return {NotExplained(run, inputs)};
        inputs = {*slower}, found = inputs.begin();
      }
      run.own.input = found->path, run.own.from = found->from;
      explanations.push_back({&run.figure, *found});
      values_[found->path] = *found->to;
    }
    values_ = ExplainTogether(explanations, std::move(values_));
    for (const Run& run : runs_) {
      const std::optional<double> computed = run.figure.computed(values_);
      if (computed && std::abs(*computed / run.own.value - 1) <= kContradiction) continue;
      return {WrongAt(run.path + ".value", "No constants explain these measurements together")};
    }
    return {};
  }

  // The inputs that no other measurement uses, or only the one that the request names.
  [[nodiscard]] std::vector<ExplainingInput> InputsFor(const Run& run, std::span<const std::string_view> all,
                                                       const std::vector<Explanation>& explanations) const {
    std::vector<std::string_view> paths;
    for (const std::string_view path : all) {
      const bool is_taken = std::any_of(explanations.begin(), explanations.end(),
                                        [path](const Explanation& one) { return one.input.path == path; });
      if (!is_taken && (run.own.input.empty() || run.own.input == path)) paths.push_back(path);
    }
    return InputsThatExplain(run.figure, paths, run.resolved, WithTied(values_, run.resolved));
  }

  // `is_more`: only an increase may explain it, because software cannot be faster than the hardware allows.
  static std::vector<ExplainingInput>::iterator FirstThatExplains(std::vector<ExplainingInput>& inputs, bool is_more) {
    return std::find_if(inputs.begin(), inputs.end(),
                        [is_more](const ExplainingInput& one) { return one.to && (!is_more || *one.to >= one.from); });
  }

  static Issue NotExplained(const Run& run, const std::vector<ExplainingInput>& inputs) {
    const std::string measured = MeasuredText(run.own.value, run.own.path),
                      computed = MeasuredText(run.own.computed, run.own.path);
    const auto nearest =
        std::min_element(inputs.begin(), inputs.end(), [&](const ExplainingInput& a, const ExplainingInput& b) {
          return std::abs(std::log(a.reached / run.own.value)) < std::abs(std::log(b.reached / run.own.value));
        });
    if (nearest == inputs.end())
      return WrongAt(run.path + ".path", "No constant that may differ on your system moves this figure");
    // Rounded toward the computed figure, so that it can be reached.
    const double step = std::pow(10, std::floor(std::log10(nearest->reached))) / kDigits;
    const double steps = nearest->reached / step;
    const double count = nearest->reached < run.own.computed ? std::ceil(steps) : std::floor(steps);
    const double offered = step < 1 ? count / std::round(1 / step) : count * step;
    return WrongAt(run.path + ".value",
                   "No constant explains " + measured + ", where " + computed + " is computed: the most that " +
                       nearest->path + " gives within its bounds is " + MeasuredText(nearest->reached, run.own.path) +
                       ". Look for an input in which the scenario differs from your system",
                   {SetToBase(run.path + ".value", offered)});
  }

  void Write() {
    Json list = Json::array();
    for (Run& run : runs_) {
      run.own.to = values_[run.own.input];
      list.push_back(slipstick::Write(run.own));
    }
    request_[std::string(kMember)] = std::move(list);
  }

  Json request_;
  std::optional<Place> here_;
  std::vector<Run> runs_;
  InputValues values_;
  bool is_invalid_ = false;  // the request's own scenario is invalid
};

}  // namespace

Result<Json> ReadMeasuredRequest(std::string_view text, const std::vector<std::string>& assignments) {
  Result<Json> request = ReadRequest(text, assignments);
  const Json* list = request ? FindMember(*request, kMember) : nullptr;
  if (list == nullptr || (list->is_array() && list->empty())) return request;
  return Mover(std::move(*request)).Moved();
}

std::string RequestIn(const Json& question) {
  const Json* request = FindMember(question, "request");
  return request == nullptr ? "" : JsonText(*request);
}

Issues IssuesOfVarying(std::string_view path) {
  if (PartOf(path) != kMember) return {};
  return {{std::string(path), "A measurement does not vary: ask once with each value"}};
}

}  // namespace slipstick
