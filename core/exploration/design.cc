#include "core/exploration/design.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/base/schema.h"
#include "core/evaluation/report.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr int kMostRounds = 3;  // rounds in which the mapping follows the design
constexpr double kMore = 0.05;  // relative change of a budget, to find its effect
constexpr double kAgreement = 0.01;
constexpr std::size_t kMostOnFrontier = 24;
constexpr std::size_t kDescents = 5;  // along the frontier, each with a larger weight on the second figure

// Refines one point until it converges.
OptimiseOptions Further(int most) {
  OptimiseOptions options;
  options.random_starts = 0;
  options.refined = 1;
  options.scans = false;
  options.first_step = options.coarse_step;
  options.max_evaluations = most;
  return options;
}

// The budgets that may limit a design.
struct BudgetRow {
  std::string_view name, unit;
  double BudgetFactors::* factor;
  double (*at)(const ChipDesign&);
};
constexpr BudgetRow kBudgetRows[] = {
    {"area", "mm^2", &BudgetFactors::area, [](const ChipDesign& d) { return d.area.base(); }},
    {"power", "W", &BudgetFactors::power, [](const ChipDesign& d) { return d.power.base(); }},
    {"edge", "mm", &BudgetFactors::edge, [](const ChipDesign& d) { return 4 * std::sqrt(d.area.base()); }},
    {"package_area", "mm^2", &BudgetFactors::package, [](const ChipDesign& d) { return d.package_area.base(); }},
};

}  // namespace

std::optional<Scenario> WithAnySplit(const Json& request) {
  // Tries increasing shares of the die for the memory interfaces.
  for (const double memory : {0.2, 0.35, 0.5, 0.65}) {
    Json trial = request;
    SetPath(trial, "cluster.device.design.area_split",
            Json{{"core", 0.85 - memory - 0.1}, {"l2", 0.06}, {"memory", memory}, {"network", 0.04}});
    SetPath(trial, "cluster.device.design.edge_split", Json{{"memory", 0.7}, {"network", 0.2}});
    Result<Scenario> scenario = ParseScenario(trial);
    if (scenario) return std::move(*scenario);
  }
  return std::nullopt;
}

Result<DesignQuestion> ReadDesignQuestion(const Json& json) {
  DesignQuestion question;
  Issues issues;
  if (!json.is_object()) return Issues{{"", "Must be an object"}};
  const std::map<std::string, std::string*> texts{{"objective", &question.figure}, {"pareto", &question.against}};
  const std::map<std::string, std::vector<std::string>*> lists{
      {"vary", &question.vary}, {"locks", &question.locks}, {"limits", &question.limits}};
  for (const auto& [key, value] : json.items()) {
    if (key == "request") continue;
    if (texts.contains(key) && value.is_string()) {
      *texts.at(key) = TextOf(value);
    } else if (lists.contains(key) && value.is_array()) {
      *lists.at(key) = TextsOf(&value);
    } else if (key == "mapping" && (value == "fixed" || value == "each")) {
      question.maps_each = value == "each";
    } else {
      issues.push_back(
          {key,
           "Unknown member or wrong type: choose objective, pareto, vary, locks, limits or mapping (fixed, each)"});
    }
  }
  if (!issues.empty()) return issues;
  return question;
}

bool DesignProblem::ReadsOnlySpeeds() const {
  const auto is_speed = [](std::string_view figure) {
    return !figure.starts_with("cost") && figure.find("usd") == std::string_view::npos &&
           (figure.ends_with("_s") || figure.find("tokens_per_s") != std::string_view::npos);
  };
  return is_speed(question_.figure) && (question_.against.empty() || is_speed(question_.against)) &&
         std::all_of(figure_limits_.begin(), figure_limits_.end(),
                     [&](const Condition& limit) { return is_speed(limit.path); });
}

// The parts of the report that have figures of the question; figures of cost need no other part.
std::vector<std::string_view> DesignProblem::PartsRead() const {
  std::vector<std::string_view> parts;
  const auto add = [&](std::string_view figure) {
    if (!figure.empty()) parts.push_back(PartOf(figure));
  };
  add(question_.figure);
  add(question_.against);
  for (const Condition& limit : figure_limits_) add(limit.path);
  return parts;
}

bool DesignProblem::KeepMappings(const DesignPoint& point) {
  const std::optional<Scenario>& base = BaseAt(point);
  if (!base || base->chosen.empty()) return false;
  const Json resolved = Write(*base);
  for (const Chosen& one : base->chosen) {
    const Json* value = MemberAt(resolved, one.path);
    if (value != nullptr) kept_[one.path] = *value;
  }
  request_ = WithOverrides(request_, kept_);
  bases_.clear();
  return true;
}

DesignJob::DesignJob(DesignProblem problem) : problem_(std::move(problem)) { Begin(Phase::kFixed); }

Result<std::shared_ptr<DesignJob>> DesignJob::Make(Json request, const Json& question) {
  Result<DesignQuestion> asked = ReadDesignQuestion(question);
  if (!asked) return std::move(asked.issues);
  Result<DesignProblem> problem = DesignProblem::Make(std::move(request), std::move(*asked));
  if (!problem) return std::move(problem.issues);
  return std::shared_ptr<DesignJob>(new DesignJob(std::move(*problem)));
}

void DesignJob::Begin(Phase phase) {
  phase_ = phase;
  optimiser_.reset();
  const auto fixed = [this](const DesignPoint& point) { return problem_.Evaluate(point); };
  if (phase == Phase::kFixed) {
    std::vector<DesignPoint> starts = problem_.Starts();
    if (round_ == 0) {
      best_ = starts[0];
    } else {
      starts.insert(starts.begin(), best_);
    }
    OptimiseOptions options;
    options.max_evaluations += 250 * static_cast<int>(starts.size() - 1);
    optimiser_.emplace(problem_.space(), std::move(starts), fixed, options);
  } else if (phase == Phase::kEach) {
    optimiser_.emplace(
        problem_.space(), std::vector<DesignPoint>{best_},
        [this](const DesignPoint& point) { return problem_.EvaluateAnew(point); }, Further(1500));
  }
}

// Keeps the design of a descent, as `evaluate` answers it, if it is better than the best so far.
bool DesignJob::KeepAsAnswered(const DesignPoint& point) {
  const DesignPoint rounded = Rounded(problem_.space(), point);
  const std::optional<Tried> exact = problem_.EvaluateAnew(point), near = problem_.EvaluateAnew(rounded);
  const bool is_near = exact && near && IsPracticallyAsGood(*near, *exact);
  const std::optional<Tried>& tried = is_near ? near : exact;
  if (!tried || (best_tried_ && !(*tried < *best_tried_))) return false;
  best_tried_ = tried;
  best_ = is_near ? rounded : point;
  return true;
}

// Keeps it with the mapping of the descent if it is better only so: the automatic mapping, chosen for another figure,
// may change at this design. False if a better design is not kept.
bool DesignJob::Keep(const DesignPoint& point) {
  if (KeepAsAnswered(point)) return true;
  const std::optional<Tried> found = problem_.Evaluate(point);
  if (!found || (best_tried_ && IsPracticallyAsGood(*best_tried_, *found))) return true;
  if (problem_.question().maps_each || !problem_.KeepMappings(point) || !KeepAsAnswered(point)) return false;
  mapping_kept_ = true;
  return true;
}

void DesignJob::EndDescent() {
  evaluations_ += optimiser_->evaluations();
  if (phase_ == Phase::kFixed && round_ == 0) {
    start_ = problem_.EvaluateAnew(best_);
    best_tried_ = start_;
    refined_ = optimiser_->ended();
    agree_ = optimiser_->AgreeWithin(kAgreement);
  }
  const bool is_best_kept = !optimiser_->tried() || Keep(optimiser_->best());
  converged_ = optimiser_->converged() && is_best_kept;
  if (phase_ == Phase::kFixed) {
    const std::optional<Tried> as_mapped = problem_.Evaluate(best_);
    problem_.Rebase(best_);
    const std::optional<Tried> as_found = problem_.Evaluate(best_);
    const bool is_mapped_anew = as_mapped && as_found && (*as_mapped < *as_found || *as_found < *as_mapped);
    if (is_mapped_anew && ++round_ < kMostRounds) return Begin(Phase::kFixed);
    if (problem_.question().maps_each) return Begin(Phase::kEach);
  } else {
    problem_.Rebase(best_);
  }
  AddBound();
  Begin(Phase::kLimits);
}

// More of a budget never makes a chip slower, so a chip with every share at its maximum bounds the speed. This bounds
// neither cost, energy nor yield, nor anything if further inputs vary.
void DesignJob::AddBound() {
  if (!problem_.IsOfSpeed() || !problem_.question().vary.empty() || !best_tried_) return;
  if (const auto tried = problem_.Evaluate(Relaxed(problem_.space(), best_))) bound_ = tried->objective;
}

// The objective with more of one budget and newly optimized shares.
void DesignJob::AddLimit() {
  const BudgetRow& row = kBudgetRows[limit_];
  const std::optional<ChipDesign> design = problem_.DesignAt(best_);
  const std::optional<Tried> here = problem_.Evaluate(best_);
  if (!design || !here) return;
  for (const double more : {kMore, -kMore}) {  // less, if there is no more: a die at the reticle limit
    BudgetFactors factors;
    factors.*row.factor = 1 + more;
    Optimiser further(
        problem_.space(), std::vector<DesignPoint>{best_},
        [&](const DesignPoint& point) { return problem_.Evaluate(point, factors); }, Further(600));
    while (further.Step()) {
    }
    evaluations_ += further.evaluations();
    if (!further.tried() || further.tried()->excess > here->excess) continue;
    limits_.push_back({std::string(row.name), std::string(row.unit), row.at(*design), row.at(*design) * more,
                       further.tried()->objective - here->objective});
    return;
  }
}

void DesignJob::KeepOnFrontier(double objective, double against, const DesignPoint& point) {
  const double sign = IsLargerBetter(problem_.question().against) ? -1 : 1;
  const auto no_worse = [sign](const FrontierPoint& a, const FrontierPoint& b) {
    return a.objective <= b.objective && sign * a.against <= sign * b.against;
  };
  const FrontierPoint found{objective, against, point};
  if (std::any_of(frontier_.begin(), frontier_.end(), [&](const auto& one) { return no_worse(one, found); })) return;
  std::erase_if(frontier_, [&](const FrontierPoint& one) { return no_worse(found, one); });
  frontier_.push_back(found);
}

// Descents for weighted sums of the logarithms of both figures; any point on the way may lie on the frontier.
void DesignJob::BeginFrontier() {
  const double weight = static_cast<double>(weight_ + 1) / kDescents;
  const double sign = IsLargerBetter(problem_.question().against) ? -1 : 1;
  const DesignPoint start = weight_ == 0 || !optimiser_ ? best_ : optimiser_->best();
  optimiser_.emplace(
      problem_.space(), std::vector<DesignPoint>{start},
      [this, weight, sign](const DesignPoint& point) -> std::optional<Tried> {
        double against = 0;
        std::optional<Tried> tried = problem_.Evaluate(point, {}, &against);
        if (!tried) return tried;
        const double figure = problem_.FigureOf(tried->objective);
        if (!(figure > 0) || !(against > 0)) return std::nullopt;
        if (tried->excess == 0) KeepOnFrontier(tried->objective, against, point);
        const double own = tried->objective < 0 ? -std::log(figure) : std::log(figure);
        tried->objective = (1 - weight) * own + weight * sign * std::log(against);
        return tried;
      },
      Further(1000));
}

bool DesignJob::Step(int count) {
  for (int i = 0; i < count && phase_ != Phase::kDone; ++i) {
    if (phase_ == Phase::kFixed || phase_ == Phase::kEach) {
      if (!optimiser_->Step()) EndDescent();
    } else if (phase_ == Phase::kLimits) {
      AddLimit();
      if (++limit_ < std::size(kBudgetRows)) continue;
      phase_ = problem_.question().against.empty() ? Phase::kDone : Phase::kFrontier;
      if (phase_ == Phase::kFrontier) BeginFrontier();
    } else if (!optimiser_->Step()) {
      evaluations_ += optimiser_->evaluations();
      if (++weight_ == kDescents) {
        phase_ = Phase::kDone;
      } else {
        BeginFrontier();
      }
    }
  }
  return phase_ != Phase::kDone;
}

double DesignJob::done() const {
  constexpr double kOfPhase[] = {0, 0.4, 0.7, 0.8, 1};
  const auto at = static_cast<std::size_t>(phase_);
  const double own = optimiser_ && phase_ != Phase::kDone ? optimiser_->done() : 0;
  return phase_ == Phase::kDone ? 1 : kOfPhase[at] + own * (kOfPhase[at + 1] - kOfPhase[at]);
}

Json DesignJob::Report() {
  const DesignQuestion& question = problem_.question();
  const auto figure = [&](const std::optional<Tried>& tried) {
    return tried ? Json(problem_.FigureOf(tried->objective)) : Json();
  };
  Json report{{"figure", question.figure},
              {"better", IsLargerBetter(question.figure) ? "larger" : "smaller"},
              {"objective", figure(best_tried_)},
              {"start", figure(start_)},
              {"feasible", best_tried_ && best_tried_->excess == 0},
              {"evaluations", evaluations_ + (phase_ < Phase::kLimits ? optimiser_->evaluations() : 0)},
              {"done", done()},
              {"converged", converged_},
              {"mapping_kept", mapping_kept_},
              {"starts", Json{{"refined", refined_}, {"agree", agree_}}},
              {"bound", nullptr},
              {"overrides", problem_.OverridesOf(best_)},
              {"limits", Json::array()}};
  report["overrides"].update(problem_.kept());
  if (bound_ && best_tried_) {
    report["bound"] =
        Json{{"objective", problem_.FigureOf(*bound_)}, {"gap", std::abs(best_tried_->objective / *bound_ - 1)}};
  }
  for (const Extra& one : limits_) {
    // Gain per unit of the budget, with the figure's sign.
    report["limits"].push_back(Json{{"budget", one.budget},
                                    {"at", one.at},
                                    {"unit", one.unit},
                                    {"more", one.more},
                                    {"change", problem_.FigureOf(one.objective)},
                                    {"per_unit", problem_.FigureOf(one.objective) / one.more}});
  }
  if (question.against.empty()) return report;
  std::vector<FrontierPoint> points = frontier_;
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.objective < b.objective; });
  report["against"] = question.against;
  report["frontier"] = Json::array();
  const std::size_t shown = std::min(points.size(), kMostOnFrontier);
  for (std::size_t i = 0; i < shown; ++i) {
    const FrontierPoint& one = points[shown > 1 ? i * (points.size() - 1) / (shown - 1) : 0];
    report["frontier"].push_back(Json{{"objective", problem_.FigureOf(one.objective)},
                                      {"against", one.against},
                                      {"overrides", problem_.OverridesOf(one.point)}});
    report["frontier"].back()["overrides"].update(problem_.kept());
  }
  return report;
}

std::optional<ChipDesign> OptimiseDesign(const Scenario& scenario, const std::string& figure,
                                         const OptimiseOptions& options) {
  if (!scenario.cluster.device.design) return std::nullopt;
  DesignProblem problem = DesignProblem::OfShares(scenario, figure);
  Optimiser optimiser(
      problem.space(), problem.Starts(), [&](const DesignPoint& point) { return problem.Evaluate(point); }, options);
  while (optimiser.Step()) {
  }
  if (!optimiser.tried() || optimiser.tried()->excess > 0) return std::nullopt;
  return problem.DesignAt(optimiser.best());
}

Answer DesignAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question,
                    const std::function<void(double)>& on_progress) {
  Result<Json> report = FinalReport<DesignJob>(request, assignments, question, on_progress);
  if (!report) return WrongRequest(std::move(report.issues));
  if ((*report)["objective"].is_null())
    return WrongRequest({{TextOf((*report)["figure"]), "No design gives a feasible report with this figure"}});
  return {JsonText(*report), {}};
}

}  // namespace slipstick
