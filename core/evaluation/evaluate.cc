#include "core/evaluation/evaluate.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "core/base/bind_inputs.h"
#include "core/base/provenance.h"
#include "core/economics/cost.h"
#include "core/evaluation/derivation.h"
#include "core/evaluation/hints.h"
#include "core/evaluation/intervals.h"
#include "core/evaluation/measurement_texts.h"
#include "core/evaluation/report.h"
#include "core/operators/bound_device.h"
#include "core/scenario/bill_warnings.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/estimated_costs.h"
#include "core/scenario/input_sources.h"
#include "core/serving/serving.h"
#include "core/simulation/simulate.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

// The sources of the inputs that explanations lead to.
Json SourcesOf(const Json& explanations, const Json& scenario) {
  const auto sources = InputSources(scenario);
  std::map<std::string_view, std::string_view> reached;
  for (const Json& figure : explanations) {
    for (const Json& term : figure["terms"]) {
      const auto found = sources.find(TextOf(term["origin"]));
      if (found != sources.end()) reached[found->first] = found->second;
    }
  }
  Json written = Json::object();
  for (const auto& [path, source] : reached) AddMember(written, path, source);
  return written;
}

std::vector<Chosen> ChosenFor(const Scenario& scenario, std::string_view part) {
  std::vector<Chosen> chosen;
  std::copy_if(scenario.chosen.begin(), scenario.chosen.end(), std::back_inserter(chosen),
               [part](const Chosen& one) { return one.path.starts_with(part); });
  return chosen;
}

// The scenario as a request with the same answer. If degrees that the user left out would be chosen anew, the request
// turns that off.
Json WriteRequest(const Scenario& scenario) {
  Json request = Write(scenario);
  if (scenario.measured.empty()) request.erase("measured");
  if (scenario.version < 3) return request;
  for (const char* part : {"training", "serving"}) {
    if (request[part].is_object()) request[part]["mapping"]["auto"] = false;
  }
  return request;
}

// Answers the questions of a scenario one after the other.
class Evaluation {
 public:
  // If `tape` is null, nothing is explained. `explain`: as in ReportDetail.
  Evaluation(const Scenario& scenario, const ReportDetail& detail, Tape* tape)
      : scenario_(scenario), detail_(detail), tape_(tape) {}

  Result<Json> Report() {
    if (detail_.scenario) report_["scenario"] = WriteRequest(scenario_);
    Warn(MeasurementWarnings(scenario_));
    Warn(scenario_.warnings);
    if (scenario_.cost) PriceDevices();
    if (scenario_.training && detail_.Has("training")) Train();
    if (scenario_.serving && detail_.Has("serving")) Serve();
    if (scenario_.post_training && detail_.Has("post_training")) PostTrain();
    if (scenario_.diffusion && detail_.Has("diffusion")) Diffuse();
    if (cost_) WriteCosts();
    if (!unfit_.empty()) return std::move(unfit_);
    if (scenario_.cluster.device.design && detail_.Has("technology")) DescribeDesign();
    report_["warnings"] = std::move(warnings_);
    for (const NamedUnit& one : scenario_.units_assumed) {
      report_["units_assumed"].push_back(Json{{"path", one.path}, {"text", one.text}, {"value", one.value}});
    }
    return std::move(report_);
  }

  // The numbers that the report shows in the parts that are explained.
  [[nodiscard]] const std::vector<ShownNumber>& shown() const { return shown_; }

 private:
  // Records only the requested part, and the cost part, on which others depend.
  [[nodiscard]] Tape* TapeOf(std::string_view part) const {
    return detail_.explain == "*" || PartOf(detail_.explain) == part ? tape_ : nullptr;
  }

  [[nodiscard]] const CostReport* Cost() const { return cost_ ? &*cost_ : nullptr; }

  // Adds each text once: training and serving may have the same warning.
  void Warn(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (std::find(issued_.begin(), issued_.end(), text) == issued_.end())
        issued_.push_back(text), warnings_.push_back(text);
    }
  }

  void PriceDevices() {
    const std::optional<CostInputs> split = SplitCosts(scenario_.partition, *scenario_.cost, tape_);
    Cluster in_use = ClusterInUse(scenario_);
    if (in_use.devices != scenario_.cluster.devices) {
      BindInputs(in_use.devices,
                 scenario_.training  ? "training.devices"
                 : scenario_.serving ? "serving.devices"
                                     : "diffusion.devices",
                 tape_);
      if (in_use.installed > 0) BindInputs(in_use.installed, "cluster.devices", tape_);
    }
    CostReport cost = EvaluateCost(in_use, split ? *split : *scenario_.cost, tape_, PrefillPoolOf(scenario_, tape_));
    const DeviceCostEfficiency efficiency = CostEfficiencyOf(cost, scenario_.cluster.device, tape_);
    cost_.emplace(CostPart{std::move(cost), {}, efficiency});
    if (detail_.estimates) cost_->assumed = EstimatedCosts(*scenario_.cost);
    if (detail_.intervals) cost_->device_interval = DeviceCostInterval(scenario_, *cost_);
    // Shown first, so that figures of the cost part get their names there and not from the parts that depend on them.
    if (tape_ != nullptr) AddShown(*cost_, shown_);
  }

  void Train() {
    Tape* const tape = TapeOf("training");
    const TrainingDetail wanted{detail_.operators, detail_.timeline};
    TrainingReport training = EvaluateTraining(scenario_.model, scenario_.cluster, *scenario_.training, wanted, tape);
    const TrainingCostEfficiency cost_efficiency = CostEfficiencyOf(Cost(), training, *scenario_.training, tape);
    CheckAlgorithms(training.collectives, unfit_);
    Warn(training.warnings);
    std::optional<TrainingIntervals> intervals;
    if (detail_.intervals) {
      intervals = IntervalsOf(scenario_, training, tape);
      if (!intervals->memory_warning.empty()) Warn({intervals->memory_warning});
      if (scenario_.version >= 3) Warn(TrainingHints(scenario_, training));
    }
    const TrainingPart part{std::move(training), cost_efficiency, std::move(intervals),
                            ChosenFor(scenario_, "training")};
    report_["training"] = WriteTraining(part);
    if (tape != nullptr) AddShown(part, shown_);
  }

  void Serve() {
    Tape* const tape = TapeOf("serving");
    ServingReport serving =
        EvaluateServing(scenario_.model, scenario_.cluster, *scenario_.serving, detail_.operators, tape);
    const ServingCostEfficiency cost_efficiency = CostEfficiencyOf(Cost(), serving);
    CheckAlgorithms(serving.collectives, unfit_);
    SimulationAnswer simulation;
    if (scenario_.serving->simulate) simulation = Simulate(scenario_.model, scenario_.cluster, *scenario_.serving);
    std::optional<ServingIntervals> intervals;
    if (detail_.intervals) intervals = IntervalsOf(scenario_, serving);
    Warn(serving.warnings);
    if (!simulation.warning.empty()) Warn({simulation.warning});
    const ServingPart part{std::move(serving), cost_efficiency, simulation.served, std::move(intervals),
                           ChosenFor(scenario_, "serving")};
    report_["serving"] = WriteServing(part);
    if (tape != nullptr) AddShown(part, shown_);
  }

  void PostTrain() {
    Tape* const tape = TapeOf("post_training");
    const PostTrainingParts parts{scenario_.model, scenario_.cluster, *scenario_.training, *scenario_.serving};
    const PostTrainingReport post_training = EvaluatePostTraining(*scenario_.post_training, parts, tape);
    report_["post_training"] = WritePostTraining(post_training);
    if (tape != nullptr) AddShown(post_training, shown_);
    Warn(post_training.warnings);
  }

  void Diffuse() {
    Tape* const tape = TapeOf("diffusion");
    DiffusionReport diffusion = EvaluateDiffusion(*scenario_.diffusion, scenario_.cluster, tape);
    const DiffusionCostEfficiency cost_efficiency = CostEfficiencyOf(Cost(), diffusion);
    std::optional<DiffusionIntervals> intervals;
    if (detail_.intervals) intervals = IntervalsOf(scenario_, diffusion, cost_efficiency.price);
    const DiffusionPart part{std::move(diffusion), cost_efficiency, std::move(intervals)};
    report_["diffusion"] = WriteDiffusion(part);
    if (tape != nullptr) AddShown(part, shown_);
  }

  void WriteCosts() {
    Warn(cost_->warnings);
    if (detail_.Has("cost")) report_["cost"] = WriteCost(*cost_);
    Warn(BillWarnings(scenario_.cluster.device, scenario_.cost->device, *cost_));
    const std::optional<DevicePool> pool = PrefillPoolOf(scenario_);
    if (pool && cost_->prefill_pool)
      Warn(BillWarnings(pool->device, scenario_.cost->prefill_pool->device, *cost_->prefill_pool));
  }

  void DescribeDesign() {
    const Result<DerivedChip> chip =
        DeriveChip(*scenario_.cluster.device.design, scenario_.partition, "cluster.device.design");
    if (!chip) return;
    report_["technology"] = WriteTechnology(*chip);
    Warn(DesignWarnings(*chip));
  }

  const Scenario& scenario_;
  const ReportDetail& detail_;
  Tape* const tape_;
  Json report_{{"version", 1}, {"training", nullptr}, {"serving", nullptr}, {"cost", nullptr}};
  Issues unfit_;
  Json warnings_ = Json::array();
  std::vector<std::string> issued_;
  std::optional<CostPart> cost_;
  std::vector<ShownNumber> shown_;
};

}  // namespace

Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail) {
  Tape tape;
  Evaluation evaluation(scenario, detail, detail.explain.empty() ? nullptr : &tape);
  Result<Json> report = evaluation.Report();
  if (!report || detail.explain.empty()) return report;
  Json explanations = WriteExplanations(Explain(evaluation.shown(), RulesOf(scenario.cluster.device)), detail.explain);
  if (explanations.empty()) return Issues{{std::string(detail.explain), "The report has no such figure"}};
  (*report)["sources"] = SourcesOf(explanations, detail.scenario ? (*report)["scenario"] : WriteRequest(scenario));
  (*report)["explanations"] = std::move(explanations);
  return report;
}

Elasticities ElasticitiesOf(const Scenario& scenario, std::string_view figure) {
  ReportDetail detail = ReportDetail::Figures();
  detail.explain = figure;
  Tape tape;
  Evaluation evaluation(scenario, detail, &tape);
  Elasticities elasticities;
  if (!evaluation.Report()) return elasticities;
  const auto is_figure = [figure](const ShownNumber& one) { return one.path == figure; };
  const auto shown = std::find_if(evaluation.shown().begin(), evaluation.shown().end(), is_figure);
  if (shown == evaluation.shown().end() || shown->node == nullptr || shown->value == 0) return elasticities;
  const std::vector<double> derivatives = DerivativesOf(*shown->node);
  for (std::size_t place = 0; place < derivatives.size(); ++place) {
    const Node& node = tape.nodes()[place];
    if (node.op != Op::kInput || node.label->is_constant || derivatives[place] == 0) continue;
    elasticities[node.label->path] += derivatives[place] * node.value / shown->value;
  }
  return elasticities;
}

}  // namespace slipstick
