#include "core/exploration/design_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/base/type_path.h"
#include "core/base/units.h"
#include "core/catalogue/presets.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/report.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr std::string_view kDesign = "cluster.device.design";
constexpr std::size_t kMostCombinations = 200;
constexpr std::size_t kMostStarts = 48;
constexpr double kLeastShare = 0.001;
constexpr double kInfeasible = 1e6;  // excess of an infeasible part: worse than any violated limit

// The shares in the order of the variables, and the part of the chip that each feeds.
struct Share {
  std::string_view path;
  int part;  // core, l2, memory, network
  double& (*of)(ChipDesign&);
};
const Share kShares[] = {
    {"area_split.core", 0, [](ChipDesign& d) -> double& { return d.area_split.core; }},
    {"area_split.l2", 1, [](ChipDesign& d) -> double& { return d.area_split.l2; }},
    {"area_split.memory", 2, [](ChipDesign& d) -> double& { return d.area_split.memory; }},
    {"area_split.network", 3, [](ChipDesign& d) -> double& { return d.area_split.network; }},
    {"power_split.core", 0, [](ChipDesign& d) -> double& { return d.power_split.core; }},
    {"power_split.l2", 1, [](ChipDesign& d) -> double& { return d.power_split.l2; }},
    {"power_split.memory", 2, [](ChipDesign& d) -> double& { return d.power_split.memory; }},
    {"power_split.network", 3, [](ChipDesign& d) -> double& { return d.power_split.network; }},
    {"edge_split.memory", 2, [](ChipDesign& d) -> double& { return d.edge_split.memory; }},
    {"edge_split.network", 3, [](ChipDesign& d) -> double& { return d.edge_split.network; }},
};
constexpr std::size_t kShareCount = std::size(kShares);

// The catalogue's designs: feasible splits to start from.
std::vector<ChipDesign> KnownDesigns() {
  std::vector<ChipDesign> designs;
  for (const Json& entry : PresetCatalogue("chip_design")) {
    Json json{{"preset", entry["id"]}};
    Issues issues;
    ExpandPresets<ChipDesign>(json, "", issues);
    Read(json, "", issues, designs.emplace_back());
    if (!issues.empty()) designs.pop_back();
  }
  return designs;
}

void SetShares(ChipDesign& design, const DesignPoint& point) {
  for (std::size_t i = 0; i < kShareCount; ++i) kShares[i].of(design) = point[i];
}

DesignPoint SharesOf(ChipDesign design) {
  DesignPoint point;
  for (const Share& share : kShares) point.push_back(share.of(design));
  return point;
}

// The point with these shares, within floors, ceilings and budgets.
DesignPoint WithinSpace(const DesignSpace& space, const DesignPoint& shares, DesignPoint point) {
  for (std::size_t i = 0; i < kShareCount; ++i)
    point[i] = std::clamp(shares[i], space.variables[i].low, space.variables[i].high);
  for (const DesignBudget& budget : space.budgets) {
    double sum = 0, floors = 0;
    for (const std::size_t share : budget.shares) {
      sum += point[share];
      floors += space.variables[share].low;
    }
    if (!(sum > 1)) continue;
    for (const std::size_t share : budget.shares) {
      const double low = space.variables[share].low;
      point[share] = low + (point[share] - low) * (1 - floors) / (sum - floors);
    }
  }
  return point;
}

// The end of a range; a bare number has the unit of its field.
std::optional<Measure> MeasureAt(const std::string& path, const std::string& text) {
  Json request = Json::object();
  SetPath(request, path, text);
  std::vector<NamedUnit> named;
  NameUnits<Scenario>(request, "", named);
  const Json* value = MemberAt(request, path);
  return ParseMeasure(value->is_string() ? TextOf(*value) : text);
}

}  // namespace

void DesignProblem::AddShares(const ChipDesign& design) {
  start_ = SharesOf(design);
  // The last number of each budget is the remainder, for everything else on a chip.
  space_.budgets = {{{0, 1, 2, 3}, 0.12}, {{4, 5, 6, 7}, 0.02}, {{8, 9}, 0.2}};
  space_.parts.resize(4);
  for (std::size_t i = 0; i < kShareCount; ++i) {
    space_.variables.push_back({DesignVariable::Kind::kShare, std::min(kLeastShare, start_[i]), 1, false});
    space_.parts[static_cast<std::size_t>(kShares[i].part)].push_back(i);
    inputs_.push_back({JoinPath(std::string(kDesign), kShares[i].path), {}, ""});
  }
}

std::optional<std::size_t> DesignProblem::VariableAt(const std::string& path) const {
  const auto at = std::find_if(inputs_.begin(), inputs_.end(), [&](const Input& one) { return one.path == path; });
  return at == inputs_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - inputs_.begin()));
}

Issues DesignProblem::Vary(const std::string& text) {
  const std::size_t equals = text.find('='), colon = text.find(':');
  if (equals == std::string::npos || equals == 0) return {{"vary", "Enter PATH=low:high or PATH=a,b,c, not " + text}};
  const std::string path = text.substr(0, equals);
  const std::optional<std::size_t> known = VariableAt(path);
  if (colon != std::string::npos) {
    const std::optional<Measure> from = MeasureAt(path, text.substr(equals + 1, colon - equals - 1)),
                                 to = MeasureAt(path, text.substr(colon + 1));
    const double low = from ? from->value : 0, high = to ? to->value : 0;
    if (!(low > 0) || !(low < high) || from->dimension != to->dimension)
      return {{path, "Enter low:high, both above 0 and the second the larger, not " + text.substr(equals + 1)}};
    if (!path.starts_with(std::string(kDesign) + "."))
      return {{path, "Enter a list of values: only a number of " + std::string(kDesign) + " varies in a range"}};
    if (known) {
      space_.variables[*known].low = low;
      space_.variables[*known].high = high;
      start_[*known] = std::clamp(start_[*known], low, high);
      return {};
    }
    const std::optional<Scenario>& base = BaseAt(start_);
    const std::optional<double> at = base ? NumberAt(Write(*base), path) : std::nullopt;
    const FieldRow* field = FieldAt<Scenario>(path);
    const bool is_whole = field != nullptr && IsWhole(*field);
    space_.variables.push_back({DesignVariable::Kind::kNumber, low, high, is_whole});
    start_.push_back(std::clamp(at.value_or(std::sqrt(low * high)), low, high));
    if (is_whole) start_.back() = std::round(start_.back());
    inputs_.push_back({path, {}, from->has_unit ? BaseUnitText(from->dimension) : ""});
    return {};
  }
  Result<Axis> axis = ParseAxis(text);
  if (!axis) return std::move(axis.issues);
  if (known) return {{path, "Enter low:high for a share"}};
  const double last = static_cast<double>(axis->values.size()) - 1;
  space_.variables.push_back({DesignVariable::Kind::kChoice, 0, last, false});
  start_.push_back(0);
  inputs_.push_back({path, std::move(axis->values), ""});
  return {};
}

Issues DesignProblem::Lock(const std::string& path) {
  bool found = false;
  for (std::size_t i = 0; i < kShareCount; ++i) {
    if (inputs_[i].path != path && !inputs_[i].path.starts_with(path + ".")) continue;
    space_.variables[i].low = space_.variables[i].high = start_[i];
    found = true;
  }
  if (found) return {};
  return {{path, "Enter a share of " + std::string(kDesign) + ": any other input stays as it is unless it is varied"}};
}

Issues DesignProblem::Limit(const std::string& text) {
  Result<Condition> condition = ParseCondition(text);
  if (!condition) return std::move(condition.issues);
  if (const std::optional<std::size_t> variable = VariableAt(condition->path)) {
    DesignVariable& of = space_.variables[*variable];
    (condition->at_most ? of.high : of.low) = condition->bound.value;
    if (of.low > of.high || of.kind == DesignVariable::Kind::kChoice)
      return {{condition->path, "No value of this input meets " + text}};
    start_[*variable] = std::clamp(start_[*variable], of.low, of.high);
    return {};
  }
  Issues issues = CheckFigure(condition->path);
  if (issues.empty()) issues = MatchUnit(*condition, condition->path);
  figure_limits_.push_back(*condition);
  return issues;
}

Issues DesignProblem::CheckFigure(std::string& figure) const {
  if (IsReportPath(figure)) return {};
  for (const char* part : {"training", "serving", "cost"}) {
    const std::string path = JoinPath(part, figure);
    if (!IsReportPath(path)) continue;
    figure = path;
    return {};
  }
  return {UnknownOutput("objective", figure)};
}

Result<DesignProblem> DesignProblem::Make(Json request, DesignQuestion question) {
  DesignProblem problem;
  problem.request_ = std::move(request);
  Result<Scenario> scenario = ParseScenario(problem.request_);
  if (!scenario) {
    if (std::optional<Scenario> other = WithAnySplit(problem.request_)) scenario = std::move(*other);
  }
  if (!scenario) return std::move(scenario.issues);
  const Device& device = scenario->cluster.device;
  if (!device.design) {
    // A chip design's name begins like its product's: h100-like, h100-sxm5-80gb.
    const std::string chip = device.preset.substr(0, device.preset.find('-'));
    return Issues{{std::string(kDesign), "Required: only a chip design has a split to optimize",
                   SetToEach(std::string(kDesign), NearestPresets(Schema<ChipDesign>::preset_kind, chip))}};
  }
  Issues issues;
  const auto add = [&](Issues more) { issues.insert(issues.end(), more.begin(), more.end()); };
  if (question.figure.empty())
    question.figure = scenario->training ? "training.step_time_s" : "serving.tokens_per_s_per_device";
  add(problem.CheckFigure(question.figure));
  if (!question.against.empty()) add(problem.CheckFigure(question.against));
  problem.AddShares(*scenario->cluster.device.design);
  for (const std::string& text : question.vary) add(problem.Vary(text));
  for (const std::string& text : question.limits) add(problem.Limit(text));
  for (const std::string& path : question.locks) add(problem.Lock(path));
  for (const DesignBudget& budget : problem.space_.budgets) {
    double least = 0;
    for (const std::size_t share : budget.shares) least += problem.space_.variables[share].low;
    if (least > 1) issues.push_back({"limits", "The floors of a budget's shares sum to more than 1"});
  }
  if (issues.empty()) problem.start_ = WithinSpace(problem.space_, problem.start_, problem.start_);
  std::size_t combinations = 1;
  for (const Input& input : problem.inputs_) combinations *= std::max<std::size_t>(1, input.choices.size());
  if (combinations > kMostCombinations)
    issues.push_back({"vary", "Too many combinations of the lists' values: at most 200"});
  if (!issues.empty()) return issues;
  problem.sign_ = IsLargerBetter(question.figure) ? -1 : 1;
  problem.question_ = std::move(question);
  problem.is_of_speed_ = problem.ReadsOnlySpeeds();
  problem.bases_.clear();
  return problem;
}

DesignProblem DesignProblem::OfShares(const Scenario& scenario, std::string figure) {
  DesignProblem problem;
  problem.sign_ = IsLargerBetter(figure) ? -1 : 1;
  problem.question_.figure = std::move(figure);
  problem.is_of_speed_ = problem.ReadsOnlySpeeds();
  problem.AddShares(*scenario.cluster.device.design);
  problem.bases_[problem.ChoicesKey(problem.start_)] = scenario;
  return problem;
}

std::string DesignProblem::ChoicesKey(const DesignPoint& point) const {
  std::string key;
  for (std::size_t i = kShareCount; i < inputs_.size() && i < point.size(); ++i) {
    if (!inputs_[i].choices.empty()) key += std::to_string(static_cast<int>(point[i])) + " ";
  }
  return key;
}

// The scenario for a combination of choices, with shares and numbers of the point at which the mappings were fixed.
const std::optional<Scenario>& DesignProblem::BaseAt(const DesignPoint& point) {
  const std::string key = ChoicesKey(point);
  if (const auto known = bases_.find(key); known != bases_.end()) return known->second;
  DesignPoint at = base_point_.empty() ? point : base_point_;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!inputs_[i].choices.empty()) at[i] = point[i];
  }
  // Before the first descent only the choices are set, so that the request keeps its own split.
  const Json request = RequestAt(at, base_point_.empty());
  Result<Scenario> scenario = ParseScenario(request);
  std::optional<Scenario> base = scenario ? std::optional(std::move(*scenario)) : WithAnySplit(request);
  return bases_.emplace(key, std::move(base)).first->second;
}

Json DesignProblem::RequestAt(const DesignPoint& point, bool has_only_choices) const {
  std::vector<Assignment> changes;
  const Json overrides = OverridesOf(point);
  for (const auto& [path, value] : overrides.items()) {
    const bool is_choice = !inputs_[*VariableAt(path)].choices.empty();
    if (is_choice || !has_only_choices) changes.push_back({path, value});
  }
  Json request = request_;
  Apply(request, std::move(changes));
  return request;
}

void DesignProblem::Rebase(const DesignPoint& point) {
  bases_.clear();
  base_point_ = point;
}

std::vector<DesignPoint> DesignProblem::Starts() {
  std::vector<DesignPoint> starts{start_};
  for (const ChipDesign& known : KnownDesigns()) starts.push_back(WithinSpace(space_, SharesOf(known), start_));
  // Every combination of choices, starting from the split of its scenario.
  std::vector<DesignPoint> combinations{start_};
  for (std::size_t i = kShareCount; i < inputs_.size(); ++i) {
    std::vector<DesignPoint> longer;
    for (const DesignPoint& point : combinations) {
      for (std::size_t value = 0; value < inputs_[i].choices.size(); ++value) {
        longer.push_back(point);
        longer.back()[i] = static_cast<double>(value);
      }
    }
    if (!longer.empty()) combinations = std::move(longer);
  }
  const std::size_t stride = combinations.size() / kMostStarts + 1;
  for (std::size_t i = 1; i < combinations.size(); i += stride) {
    const std::optional<Scenario>& base = BaseAt(combinations[i]);
    if (base) starts.push_back(WithinSpace(space_, SharesOf(*base->cluster.device.design), combinations[i]));
  }
  return starts;
}

std::optional<ChipDesign> DesignProblem::DesignAt(const DesignPoint& point) {
  const std::optional<Scenario>& base = BaseAt(point);
  if (!base) return std::nullopt;
  ChipDesign design = *base->cluster.device.design;
  for (std::size_t i = kShareCount; i < point.size(); ++i) {
    if (!inputs_[i].choices.empty()) continue;
    Json change = Json::object();
    const double value = point[i];
    SetPath(change, inputs_[i].path.substr(kDesign.size() + 1),
            space_.variables[i].is_whole ? Json(static_cast<Count>(value)) : Json(value));
    Issues issues;
    ReadOver(change, "", issues, design);
    if (!issues.empty()) return std::nullopt;
  }
  SetShares(design, point);
  return design;
}

std::optional<Tried> DesignProblem::Judge(const Json& report, double* second) const {
  double excess = 0;
  const auto figure = [&](const std::string& path) -> std::optional<double> {
    const std::optional<double> feasible = NumberAt(report, JoinPath(std::string(PartOf(path)), "feasible"));
    if (feasible && !(*feasible > 0)) excess += kInfeasible;
    return NumberAt(report, path);
  };
  const std::optional<double> value = figure(question_.figure);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  if (second != nullptr) {
    const std::optional<double> other = figure(question_.against);
    if (!other) return std::nullopt;
    *second = *other;
  }
  for (const Condition& limit : figure_limits_) {
    const std::optional<double> of = figure(limit.path);
    if (!of) return std::nullopt;
    const double bound = limit.bound.value;
    const double over = limit.at_most ? *of - bound : bound - *of;
    if (over > 0) excess += over / std::max(std::abs(bound), 1e-300);
  }
  return Tried{excess, sign_ * *value};
}

std::optional<Tried> DesignProblem::Evaluate(const DesignPoint& point, const BudgetFactors& factors, double* second) {
  std::optional<ChipDesign> design = DesignAt(point);
  if (!design) return std::nullopt;
  Scenario trial = *BaseAt(point);
  design->area = design->area * factors.area;
  design->power = design->power * factors.power;
  design->package_area = design->package_area * factors.package;
  design->edge_split.memory *= factors.edge;
  design->edge_split.network *= factors.edge;
  trial.cluster.device.design = std::move(design);
  Issues issues;
  Resolve(trial, issues);
  if (!issues.empty()) return std::nullopt;
  if (is_of_speed_) trial.cost.reset();
  return Judge(*slipstick::Evaluate(trial, ReportDetail::Figures(PartsRead())), second);
}

std::optional<Tried> DesignProblem::EvaluateAnew(const DesignPoint& point) const {
  const Result<Scenario> scenario = ParseScenario(RequestAt(point, false));
  if (!scenario) return std::nullopt;
  return Judge(*slipstick::Evaluate(*scenario, ReportDetail::Figures(PartsRead())), nullptr);
}

Json DesignProblem::OverridesOf(const DesignPoint& point) const {
  Json overrides = Json::object();
  for (std::size_t i = point.size(); i-- > 0;) {
    const Input& input = inputs_[i];
    if (!input.choices.empty()) {
      overrides[input.path] = input.choices[static_cast<std::size_t>(point[i])];
    } else if (space_.variables[i].is_whole) {
      overrides[input.path] = static_cast<Count>(point[i]);
    } else if (!input.unit.empty()) {
      overrides[input.path] = JsonText(point[i]) + " " + input.unit;
    } else {
      overrides[input.path] = point[i];
    }
  }
  return overrides;
}

}  // namespace slipstick
