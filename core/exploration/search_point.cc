#include "core/exploration/search_point.h"

#include <algorithm>
#include <utility>

#include "core/base/schema.h"
#include "core/economics/cost.h"
#include "core/engine_step/memo.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/parse_scenario.h"
#include "core/training/memo.h"

namespace slipstick {
namespace {

// The first violated limit's figure, with static lifetime; "" if none is violated.
std::string_view BrokenLimit(const std::vector<FigureLimit>& limits, const EvaluatedPoint& point) {
  for (const FigureLimit& limit : limits) {
    const double value = limit.figure->Read(point);
    if (limit.at_most ? !(value <= limit.bound) : !(value >= limit.bound)) return limit.figure->name;
  }
  return "";
}

// The first reason, as a string with static lifetime.
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

Outcome OutcomeOf(const SearchCriteria& criteria, const EvaluatedPoint& point,
                  const std::vector<Infeasibility>& infeasible) {
  Outcome outcome;
  outcome.reason = infeasible.empty() ? BrokenLimit(criteria.limits, point) : ReasonOf(infeasible);
  outcome.feasible = outcome.reason.empty();
  if (outcome.feasible) outcome.figures = FiguresOf(criteria, point);
  return outcome;
}

// Evaluates training mappings, and reuses sub-results that they share.
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
    // A limit on anything but memory can only be checked after the mapping is timed.
    const bool limits_memory_only = std::all_of(criteria_.limits.begin(), criteria_.limits.end(),
                                                [](const FigureLimit& limit) { return limit.IsOfMemory(); });
    can_prune_ = [this, limits_memory_only](const TrainingReport& least) {
      if (!limits_memory_only) return false;
      const TrainingPart part{least, CostEfficiencyOf(cost_ ? &*cost_ : nullptr, least, run_)};
      const EvaluatedPoint point{&part, nullptr};
      return !BrokenLimit(criteria_.limits, point).empty() || (*is_dominated_)(FiguresOf(criteria_, point));
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
    const TrainingDetail pruned{false, false, false, &memo_, &can_prune_}, whole{false, false, true};
    TrainingPart part{EvaluateTraining(scenario_.model, scenario_.cluster, run_, prune ? pruned : whole), {}};
    part.cost_efficiency = CostEfficiencyOf(cost_ ? &*cost_ : nullptr, part, run_);
    const EvaluatedPoint point{&part, nullptr};
    if (!part.pruned) return OutcomeOf(criteria_, point, part.infeasible);
    Outcome outcome;
    outcome.reason = BrokenLimit(criteria_.limits, point);
    outcome.feasible = outcome.pruned = outcome.reason.empty();
    return outcome;
  }

 private:
  const Scenario& scenario_;
  TrainingRun run_;
  std::shared_ptr<const TrainingSpace> space_;
  SearchCriteria criteria_;
  std::optional<CostReport> cost_;
  TrainingMemo memo_;
  const Search::IsDominated* is_dominated_ = nullptr;
  std::function<bool(const TrainingReport&)> can_prune_;
};

class ServingEvaluator {
 public:
  ServingEvaluator(const Scenario& scenario, std::shared_ptr<const ServingSpace> space, SearchCriteria criteria,
                   std::optional<CostReport> cost)
      : scenario_(scenario),
        load_(*scenario.serving),
        space_(std::move(space)),
        criteria_(std::move(criteria)),
        cost_(std::move(cost)) {
    load_.concurrency = space_->concurrency();
  }

  Outcome Evaluate(Count index, bool prune) {
    const ServingChoice choice = space_->At(index);
    load_.mapping = choice.mapping;
    load_.batch = {false, choice.batch};
    load_.precision = choice.precision;
    load_.prefill_chunk = choice.prefill_chunk;
    load_.disaggregated = choice.disaggregated;
    load_.idle_sessions = scenario_.serving->idle_sessions;
    load_.idle_sessions = IdleSessionsOf(load_, scenario_.version);
    ServingPart part{
        EvaluateServing(scenario_.model, scenario_.cluster, load_, false, nullptr, prune ? &memo_ : nullptr), {}};
    part.cost_efficiency = CostEfficiencyOf(cost_ ? &*cost_ : nullptr, part);
    return OutcomeOf(criteria_, {nullptr, &part}, part.infeasible);
  }

 private:
  const Scenario& scenario_;
  ServingLoad load_;
  std::shared_ptr<const ServingSpace> space_;
  SearchCriteria criteria_;
  std::optional<CostReport> cost_;
  ServingMemo memo_;
};

void AddDegrees(const std::string& path, const ServingMapping& mapping, Json& overrides) {
  overrides[path + ".tp"] = mapping.tp;
  overrides[path + ".cp"] = mapping.cp;
  overrides[path + ".pp"] = mapping.pp;
  overrides[path + ".ep"] = mapping.ep;
  overrides[path + ".attention_dp"] = mapping.attention_dp;
  overrides[path + ".prefill_cp"] = mapping.prefill_cp;
}

}  // namespace

Json OverridesOf(const ServingChoice& choice) {
  Json overrides = Json::object();
  AddDegrees("serving.mapping", choice.mapping, overrides);
  overrides["serving.mapping.replicas"] = *choice.mapping.replicas;
  overrides["serving.batch"] = choice.batch;
  overrides["serving.precision.weights"] = NameOf(choice.precision.weights);
  overrides["serving.precision.activations"] = NameOf(choice.precision.activations);
  overrides["serving.precision.kv_cache"] = NameOf(choice.precision.kv_cache);
  overrides["serving.prefill_chunk"] = choice.prefill_chunk ? Json(*choice.prefill_chunk) : Json(nullptr);
  if (choice.disaggregated) {
    overrides["serving.disaggregated.prefill_devices"] = choice.disaggregated->prefill_devices;
    overrides["serving.disaggregated.decode_devices"] = choice.disaggregated->decode_devices;
    if (const std::optional<ServingMapping>& prefill = choice.disaggregated->prefill_mapping)
      AddDegrees("serving.disaggregated.prefill_mapping", *prefill, overrides);
  } else {
    overrides["serving.disaggregated"] = nullptr;
  }
  return overrides;
}

SearchPoint::SearchPoint(Scenario scenario, const std::string& part, const SpaceLimits& limits)
    : scenario_(std::move(scenario)) {
  if (scenario_.cost)
    cost_ = EvaluateCost(ClusterInUse(scenario_),
                         SplitCosts(scenario_.partition, *scenario_.cost).value_or(*scenario_.cost), nullptr,
                         PrefillPoolOf(scenario_));
  if (part == "training") {
    training_ = std::make_shared<TrainingSpace>(scenario_.model, scenario_.cluster, *scenario_.training,
                                                *scenario_.training->devices, limits);
  } else {
    serving_ = std::make_shared<ServingSpace>(scenario_.model, *scenario_.serving, *scenario_.serving->devices, limits);
  }
}

Count SearchPoint::Size() const { return training_ ? training_->Size() : serving_->Size(); }

SearchPoint::Evaluate SearchPoint::Begin(const SearchCriteria& criteria, bool prune) const {
  if (training_) {
    auto evaluator = std::make_shared<TrainingEvaluator>(scenario_, training_, criteria, cost_);
    return [evaluator, prune](Count index, const Search::IsDominated& is_dominated) {
      return evaluator->Evaluate(index, prune, is_dominated);
    };
  }
  auto evaluator = std::make_shared<ServingEvaluator>(scenario_, serving_, criteria, cost_);
  return [evaluator, prune](Count index, const Search::IsDominated&) { return evaluator->Evaluate(index, prune); };
}

Json SearchPoint::OverridesAt(Count index) const {
  if (training_) {
    const TrainingChoice choice = training_->At(index);
    const TrainingMapping& m = choice.mapping;
    Json overrides{{"training.mapping.tp", m.tp},
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
                   {"training.offload.activations", double(choice.offload.activations)},
                   {"training.offload.optimizer", double(choice.offload.optimizer)}};
    if (m.dispatch) overrides["training.mapping.dispatch"] = NameOf(*m.dispatch);
    if (m.overlap.ep) overrides["training.mapping.overlap.ep"] = *m.overlap.ep;
    return overrides;
  }
  Json overrides = OverridesOf(serving_->At(index));
  if (serving_->concurrency()) {
    overrides.erase("serving.batch");  // follows from the concurrency
    overrides["serving.concurrency"] = *serving_->concurrency();
  } else if (!scenario_.serving->requests_per_s) {
    overrides["serving.concurrency"] = nullptr;  // it would override the batch that was chosen
  }
  return overrides;
}

}  // namespace slipstick
