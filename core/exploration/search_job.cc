#include "core/exploration/search_job.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/fix.h"
#include "core/base/nearest_names.h"
#include "core/base/schema.h"
#include "core/economics/cost.h"
#include "core/exploration/search_criteria.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/parse_scenario.h"
#include "core/serving/memo.h"
#include "core/training/memo.h"

namespace slipstick {
namespace {

constexpr Count kMaxSpace = 1'000'000'000;

// The figure of the first violated limit, with static lifetime; "" if none.
std::string_view BrokenLimit(const std::vector<FigureLimit>& limits, const EvaluatedPoint& point) {
  for (const FigureLimit& limit : limits) {
    const double value = limit.figure->Read(point);
    if (limit.at_most ? !(value <= limit.bound) : !(value >= limit.bound)) return limit.figure->name;
  }
  return "";
}

// Maps the first reason to a string with static lifetime.
std::string_view ReasonOf(const std::vector<Infeasibility>& infeasible) {
  static constexpr std::string_view kKnown[] = {"memory", "kv_cache", "weights", "activations", "network",
                                                "batch",  "load",     "rate",    "host_memory"};
  for (const std::string_view known : kKnown) {
    if (infeasible[0].reason == known) return known;
  }
  return "other";
}

Figures FiguresOf(const SearchCriteria& criteria, const EvaluatedPoint& point) {
  Figures figures{};
  for (std::size_t i = 0; i < criteria.figures.size(); ++i) {
    const double value = criteria.figures[i]->Read(point);
    figures[i] = criteria.figures[i]->larger_is_better ? -value : value;
  }
  return figures;
}

Outcome OutcomeOf(const SearchCriteria& criteria, const EvaluatedPoint& point, const std::vector<Infeasibility>& infeasible) {
  Outcome outcome;
  outcome.reason = infeasible.empty() ? BrokenLimit(criteria.limits, point) : ReasonOf(infeasible);
  outcome.feasible = outcome.reason.empty();
  if (outcome.feasible) outcome.figures = FiguresOf(criteria, point);
  return outcome;
}

// One training mapping with its report figures.
struct EvaluatedTraining {
  TrainingCostEfficiency cost_efficiency;
  TrainingPart part;
  EvaluatedPoint point;
  EvaluatedTraining(const std::optional<CostReport>& cost, const TrainingReport& report, const TrainingRun& run, Trace& off)
      : cost_efficiency(CostEfficiencyOf(cost, report, run, off)), part{report, cost_efficiency}, point{&part, nullptr} {}
  EvaluatedTraining(const EvaluatedTraining&) = delete;
  EvaluatedTraining& operator=(const EvaluatedTraining&) = delete;
};

// Evaluates training mappings, reusing sub-results that they share.
class TrainingEvaluator {
 public:
  TrainingEvaluator(const Scenario& scenario, std::shared_ptr<const TrainingSpace> space, SearchCriteria criteria,
                    std::optional<CostReport> cost)
      : scenario_(scenario),
        run_(*scenario.training),
        space_(std::move(space)),
        criteria_(std::move(criteria)),
        cost_(std::move(cost)),
        memo_(scenario.model, scenario.cluster, run_) {
    // A limit on anything but memory is known only once the mapping is timed.
    const bool limits_memory_only =
        std::all_of(criteria_.limits.begin(), criteria_.limits.end(), [](const FigureLimit& limit) { return limit.IsOfMemory(); });
    can_prune_ = [this, limits_memory_only](const TrainingReport& least) {
      if (!limits_memory_only) return false;
      const EvaluatedTraining evaluated(cost_, least, run_, off_);
      return !BrokenLimit(criteria_.limits, evaluated.point).empty() || (*is_dominated_)(FiguresOf(criteria_, evaluated.point));
    };
  }
  TrainingEvaluator(const TrainingEvaluator&) = delete;
  TrainingEvaluator& operator=(const TrainingEvaluator&) = delete;

  Outcome Evaluate(Count index, bool prune, const Search::IsDominated& is_dominated) {
    TrainingChoice choice = space_->At(index);
    run_.mapping = std::move(choice.mapping);
    run_.recompute = choice.recompute;
    run_.offload = choice.offload;
    is_dominated_ = &is_dominated;
    Trace trace = Trace::Off();
    const TrainingDetail pruned{false, false, false, &memo_, &can_prune_}, whole{false, false, true};
    const TrainingReport report = EvaluateTraining(scenario_.model, scenario_.cluster, run_, prune ? pruned : whole, trace);
    const EvaluatedTraining evaluated(cost_, report, run_, off_);
    if (!report.pruned) return OutcomeOf(criteria_, evaluated.point, report.infeasible);
    Outcome outcome;
    outcome.reason = BrokenLimit(criteria_.limits, evaluated.point);
    outcome.feasible = outcome.pruned = outcome.reason.empty();
    return outcome;
  }

 private:
  const Scenario& scenario_;
  TrainingRun run_;
  std::shared_ptr<const TrainingSpace> space_;
  SearchCriteria criteria_;
  std::optional<CostReport> cost_;
  Trace off_ = Trace::Off();
  TrainingMemo memo_;
  const Search::IsDominated* is_dominated_ = nullptr;
  std::function<bool(const TrainingReport&)> can_prune_;
};

class ServingEvaluator {
 public:
  ServingEvaluator(const Scenario& scenario, std::shared_ptr<const ServingSpace> space, SearchCriteria criteria,
                   std::optional<CostReport> cost)
      : scenario_(scenario), load_(*scenario.serving), space_(std::move(space)), criteria_(std::move(criteria)), cost_(std::move(cost)) {
    load_.concurrency.reset();
  }

  Outcome Evaluate(Count index, bool prune) {
    const ServingChoice choice = space_->At(index);
    load_.mapping = choice.mapping;
    load_.batch = {false, choice.batch};
    load_.precision = choice.precision;
    load_.prefill_chunk = choice.prefill_chunk;
    load_.disaggregated = choice.disaggregated;
    Trace trace = Trace::Off();
    const ServingReport report = EvaluateServing(scenario_.model, scenario_.cluster, load_, false, trace, prune ? &memo_ : nullptr);
    const ServingCostEfficiency cost_efficiency = CostEfficiencyOf(cost_, report, off_);
    const ServingPart part{report, cost_efficiency, {}};
    return OutcomeOf(criteria_, {nullptr, &part}, report.infeasible);
  }

 private:
  const Scenario& scenario_;
  ServingLoad load_;
  std::shared_ptr<const ServingSpace> space_;
  SearchCriteria criteria_;
  std::optional<CostReport> cost_;
  Trace off_ = Trace::Off();
  ServingMemo memo_;
};

std::vector<std::string> NearestFigures(const std::string& of, const std::string& name) {
  std::vector<std::string_view> names;
  for (const SearchFigure& figure : SearchFigures(of)) names.push_back(figure.name);
  return NearestNames(name, names);
}

// The names of the objective and of the further figures, without their part; each one's row in `figures`, null if it is unknown.
std::vector<std::string> ReadFigures(const SearchSpec& spec, bool has_cost, std::vector<const SearchFigure*>& figures, Issues& issues) {
  const std::string standard = spec.part == "training" ? "step_time_s" : "tokens_per_s_per_device";
  std::vector<std::string> names{spec.objective.empty() ? standard : spec.objective};
  names.insert(names.end(), spec.pareto.begin(), spec.pareto.end());
  for (std::string& name : names) {
    name = WithoutPart(name, spec.part);
    const SearchFigure* found = FindSearchFigure(spec.part, name);
    if (found == nullptr) {
      issues.push_back({"objective", "Unknown objective " + name + ": choose " + SearchFigureNames(spec.part),
                        &name == names.data() ? SetToEach("objective", NearestFigures(spec.part, name)) : Fixes()});
    }
    if (!has_cost && name.find("usd") != std::string::npos) issues.push_back({"cost", "Required for " + name, {LeaveOut("cost")}});
    figures.push_back(found);
  }
  if (names.size() > kMaxFigures) issues.push_back({"pareto", "Give at most two further figures"});
  return names;
}

}  // namespace

Result<std::shared_ptr<SearchJob>> SearchJob::Make(const Json& request, const SearchSpec& spec) {
  Result<Scenario> scenario = ParseForSearch(request, spec.part);
  if (!scenario) return std::move(scenario.issues);
  return Make(std::move(*scenario), spec);
}

Result<std::shared_ptr<SearchJob>> SearchJob::Make(Scenario scenario, const SearchSpec& spec) {
  Issues issues;
  if (spec.part != "training" && spec.part != "serving")
    return Issues{{"for", "Choose training or serving, not " + spec.part, {SetTo("for", "training"), SetTo("for", "serving")}}};
  const bool training = spec.part == "training";
  if (training ? !scenario.training.has_value() : !scenario.serving.has_value()) {
    return Issues{{spec.part, "Required: this part is switched off", {LeaveOut(spec.part)}}};
  }
  if (spec.shards < 1 || spec.shard < 0 || spec.shard >= spec.shards) return Issues{{"shard", "Enter shard i of n with 0 <= i < n"}};

  std::shared_ptr<SearchJob> job(new SearchJob);
  job->part_ = spec.part;
  SearchCriteria criteria;
  job->figures_ = ReadFigures(spec, scenario.cost.has_value(), criteria.figures, issues);
  SpaceLimits limits;
  for (const std::string& text : spec.limits) ReadLimit(text, spec.part, limits, criteria.limits, issues);
  if (!issues.empty()) return issues;

  Trace off = Trace::Off();
  std::optional<CostReport> cost;
  if (scenario.cost) cost = EvaluateCost(scenario.cluster, *scenario.cost, off);
  const Count devices = training ? *scenario.training->devices : *scenario.serving->devices;
  job->scenario_ = std::move(scenario);
  const Scenario& kept = job->scenario_;
  if (training) {
    job->training_ = std::make_shared<TrainingSpace>(kept.model, kept.cluster, *kept.training, devices, limits);
  } else {
    job->serving_ = std::make_shared<ServingSpace>(kept.model, *kept.serving, devices, limits);
  }
  const Count size = job->SpaceSize();
  if (size == 0) return Issues{{"limit", "No mapping meets the limits"}};
  if (size > kMaxSpace) return Issues{{"limit", "Too many mappings (" + std::to_string(size) + "): add limits to get below 1,000,000,000"}};
  job->options_.from = size / spec.shards * spec.shard + std::min(spec.shard, size % spec.shards);
  job->options_.to = size / spec.shards * (spec.shard + 1) + std::min(spec.shard + 1, size % spec.shards);
  job->options_.top = spec.top;
  job->options_.figures = criteria.figures.size();
  job->options_.prune = spec.prune;

  Search::Evaluate evaluate;
  if (training) {
    auto evaluator = std::make_shared<TrainingEvaluator>(kept, job->training_, std::move(criteria), std::move(cost));
    evaluate = [evaluator, prune = spec.prune](Count index, const Search::IsDominated& is_dominated) {
      return evaluator->Evaluate(index, prune, is_dominated);
    };
  } else {
    auto evaluator = std::make_shared<ServingEvaluator>(kept, job->serving_, std::move(criteria), std::move(cost));
    evaluate = [evaluator, prune = spec.prune](Count index, const Search::IsDominated&) { return evaluator->Evaluate(index, prune); };
  }
  job->search_ = std::make_unique<Search>(job->options_, std::move(evaluate));
  return job;
}

Count SearchJob::SpaceSize() const { return training_ ? training_->Size() : serving_->Size(); }

Json OverridesOf(const ServingChoice& choice) {
  Json overrides{{"serving.mapping.tp", choice.mapping.tp},
                 {"serving.mapping.cp", choice.mapping.cp},
                 {"serving.mapping.pp", choice.mapping.pp},
                 {"serving.mapping.ep", choice.mapping.ep},
                 {"serving.mapping.attention_dp", choice.mapping.attention_dp},
                 {"serving.mapping.replicas", *choice.mapping.replicas},
                 {"serving.batch", choice.batch},
                 {"serving.precision.weights", NameOf(choice.precision.weights)},
                 {"serving.precision.activations", NameOf(choice.precision.activations)},
                 {"serving.precision.kv_cache", NameOf(choice.precision.kv_cache)},
                 {"serving.prefill_chunk", choice.prefill_chunk ? Json(*choice.prefill_chunk) : Json(nullptr)}};
  if (choice.disaggregated) {
    overrides["serving.disaggregated.prefill_devices"] = choice.disaggregated->prefill_devices;
    overrides["serving.disaggregated.decode_devices"] = choice.disaggregated->decode_devices;
  } else {
    overrides["serving.disaggregated"] = nullptr;
  }
  return overrides;
}

Json SearchJob::OverridesAt(Count index) const {
  if (training_) {
    const TrainingChoice choice = training_->At(index);
    const TrainingMapping& m = choice.mapping;
    return Json{{"training.mapping.tp", m.tp},
                {"training.mapping.sequence_parallel", m.sequence_parallel},
                {"training.mapping.cp", m.cp},
                {"training.mapping.ep", m.ep},
                {"training.mapping.expert_tp", m.expert_tp},
                {"training.mapping.pp", m.pp},
                {"training.mapping.virtual_stages", m.virtual_stages},
                {"training.mapping.dp", *m.dp},
                {"training.mapping.zero", m.zero},
                {"training.mapping.micro_batch", m.micro_batch},
                {"training.mapping.schedule", NameOf(m.schedule)},
                {"training.mapping.order", m.order},
                {"training.recompute", NameOf(choice.recompute)},
                {"training.offload.activations", choice.offload.activations},
                {"training.offload.optimizer", choice.offload.optimizer}};
  }
  return OverridesOf(serving_->At(index));
}

Json SearchJob::Entry(const Found& found) const {
  Json entry{{"index", found.index}, {"overrides", OverridesAt(found.index)}};
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    const SearchFigure* figure = FindSearchFigure(part_, figures_[i]);
    entry[figures_[i]] = figure->larger_is_better ? -found.figures[i] : found.figures[i];
  }
  return entry;
}

Json SearchJob::Report(const SearchProgress& progress) const {
  Json rejected = Json::object();
  for (const auto& [reason, count] : progress.rejected) rejected[reason] = count;
  Json best = Json::array(), front = Json::array();
  for (const Found& found : progress.best) best.push_back(Entry(found));
  for (const Found& found : progress.front) front.push_back(Entry(found));
  return Json{{"space", SpaceSize()},          {"done", progress.done},           {"evaluated", progress.evaluated},
              {"feasible", progress.feasible}, {"rejected", std::move(rejected)}, {"objective", figures_[0]},
              {"best", std::move(best)},       {"pareto", std::move(front)}};
}

}  // namespace slipstick
