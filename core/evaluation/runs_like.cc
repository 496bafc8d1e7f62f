#include "core/evaluation/runs_like.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/listed.h"
#include "core/evaluation/evidence_files.h"
#include "core/evidence/run_setting.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

constexpr std::size_t kListed = 60;      // runs listed in an answer
constexpr std::size_t kNearest = 8;      // nearest runs, to which differences are computed
constexpr std::size_t kOwn[] = {1, 10};  // assumed numbers of the user's own runs

// A figure with an interval, and the kind of its measurements.
struct IntervalFigure {
  std::string_view path, interval;
  MeasuredKind kind;
};
constexpr IntervalFigure kIntervalFigures[] = {
    {"training.step_time_s", "training.step_time_interval", MeasuredKind::kStepTime},
    {"training.memory_bytes.total", "training.memory_interval", MeasuredKind::kTrainingMemory},
    {"serving.tpot_s", "serving.tpot_interval", MeasuredKind::kTokenTime},
    {"serving.ttft_s", "serving.ttft_interval", MeasuredKind::kFirstToken},
    {"serving.tokens_per_s", "serving.throughput_interval", MeasuredKind::kThroughput},
    {"serving.memory_bytes.total", "serving.memory_interval", MeasuredKind::kServingMemory},
    {"diffusion.latency_s", "diffusion.latency_interval", MeasuredKind::kImageOrClip}};
constexpr std::string_view kTypical = "training.typical";

// The answer that an interval belongs to, and the setting that determines its error.
struct Asked {
  double value = 0;
  RunSetting setting;
};

Asked AskedOf(const Scenario& scenario, MeasuredKind kind, std::string_view figure) {
  if (figure.starts_with("training.")) {
    const TrainingReport report =
        EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {false, false});
    const RunSetting setting = SettingOf(scenario.model, scenario.cluster, *scenario.training, report);
    return {FigureOf(report, figure)->value, setting};
  }
  if (kind == MeasuredKind::kImageOrClip) {
    const DiffusionReport report = EvaluateDiffusion(*scenario.diffusion, scenario.cluster);
    return {report.latency.base(), SettingOf(scenario.cluster, *scenario.diffusion, report)};
  }
  const ServingReport report = EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, false);
  const RunSetting setting = SettingOf(kind, scenario.model, scenario.cluster, *scenario.serving, report);
  return {FigureOf(report, figure)->value, setting};
}

// A numeric trait of a setting in which runs differ; sizes are compared as logarithms.
struct NumberTrait {
  std::string_view id;
  double RunSetting::* member;
  bool is_logarithm;
  double scale;  // of the number as shown on the page
};
constexpr int kBitsPerByte = 8;
constexpr NumberTrait kNumberTraits[] = {{"bits", &RunSetting::bits, true, kBitsPerByte},
                                         {"devices", &RunSetting::devices, true, 1},
                                         {"load", &RunSetting::load, true, 1},
                                         {"parameters", &RunSetting::parameters, true, 1},
                                         {"length", &RunSetting::length, true, 1},
                                         {"network", &RunSetting::network, false, 1},
                                         {"latency", &RunSetting::latency, false, 1},
                                         {"waiting", &RunSetting::waiting, false, 1}};
double Told(const NumberTrait& trait, double value) {
  return trait.scale * (trait.is_logarithm ? std::exp2(value) : value);
}

Json Written(const RunSetting& setting) {
  Json json{{"device", setting.device}, {"software", setting.software}, {"experts", setting.has_experts}};
  for (const NumberTrait& trait : kNumberTraits) json[std::string(trait.id)] = Told(trait, setting.*trait.member);
  return json;
}

// `kind`: of the answer; `value`: the answer, which the run's error corrects.
Json Written(const Neighbor& neighbor, MeasuredKind kind, double value) {
  Json json = WrittenRun(*neighbor.run, MeasuredSources()[static_cast<std::size_t>(neighbor.run->source)].id);
  json["distance"] = neighbor.distance, json["share"] = neighbor.share;
  json["here"] =
      value * std::exp(kind == MeasuredKind::kThroughput ? -neighbor.run->log_error : neighbor.run->log_error);
  json["setting"] = Written(neighbor.run->setting);
  return json;
}

double HalfWidth(const Likely& likely) { return (likely.high - likely.low) / 2; }

// Differences of a setting from the nearest runs, and the part of the interval that disappears without each.
class Differences {
 public:
  Differences(MeasuredKind kind, const RunSetting& yours, const std::vector<Neighbor>& neighbors)
      : kind_(kind), yours_(yours) {
    for (const Neighbor& neighbor : neighbors) {
      if (nearest_.size() < kNearest && neighbor.run->kind == kind) nearest_.push_back(&neighbor.run->setting);
    }
    width_ = HalfWidth(LikelyRange(kind, yours, PublishedEvidence()));
  }

  [[nodiscard]] Json Listed() const {
    Json list = Json::array();
    if (nearest_.empty()) return list;
    AddWord("device", &RunSetting::device, list);
    AddWord("software", &RunSetting::software, list);
    AddExperts(list);
    for (const NumberTrait& trait : kNumberTraits) AddNumber(trait, list);
    return list;
  }

 private:
  [[nodiscard]] double Widens(const RunSetting& changed) const {
    return width_ - HalfWidth(LikelyRange(kind_, changed, PublishedEvidence()));
  }

  void AddWord(std::string_view id, std::string_view RunSetting::* member, Json& list) const {
    Json runs = Json::array();
    for (const RunSetting* one : nearest_) {
      if (std::find(runs.begin(), runs.end(), Json((*one).*member)) == runs.end()) runs.push_back((*one).*member);
    }
    RunSetting changed = yours_;
    changed.*member = nearest_.front()->*member;
    if (member == &RunSetting::device) changed.architecture = nearest_.front()->architecture;
    const bool is_shared = std::find(runs.begin(), runs.end(), Json(yours_.*member)) != runs.end();
    list.push_back(
        Json{{"trait", id}, {"yours", yours_.*member}, {"runs", runs}, {"widens", is_shared ? 0 : Widens(changed)}});
  }

  void AddExperts(Json& list) const {
    Json runs = Json::array();
    for (const bool has : {false, true}) {
      const auto is = [has](const RunSetting* one) { return one->has_experts == has; };
      if (std::any_of(nearest_.begin(), nearest_.end(), is)) runs.push_back(has);
    }
    RunSetting changed = yours_;
    changed.has_experts = nearest_.front()->has_experts;
    const bool is_shared = std::find(runs.begin(), runs.end(), Json(yours_.has_experts)) != runs.end();
    list.push_back(Json{{"trait", "experts"},
                        {"yours", yours_.has_experts},
                        {"runs", runs},
                        {"widens", is_shared ? 0 : Widens(changed)}});
  }

  void AddNumber(const NumberTrait& trait, Json& list) const {
    const auto less = [&](const RunSetting* a, const RunSetting* b) { return a->*trait.member < b->*trait.member; };
    const auto [least, most] = std::minmax_element(nearest_.begin(), nearest_.end(), less);
    const double low = (*least)->*trait.member, high = (*most)->*trait.member, yours = yours_.*trait.member;
    RunSetting changed = yours_;
    changed.*trait.member = std::clamp(yours, low, high);
    list.push_back(Json{{"trait", trait.id},
                        {"yours", Told(trait, yours)},
                        {"runs", {Told(trait, low), Told(trait, high)}},
                        {"widens", std::abs(changed.*trait.member - yours) * kTableSteps <= 1 ? 0 : Widens(changed)}});
  }

  MeasuredKind kind_;
  RunSetting yours_;
  std::vector<const RunSetting*> nearest_;
  double width_ = 0;
};

// The interval if runs of this same setting agreed with the computed values.
Json OwnRuns(MeasuredKind kind, const Asked& asked) {
  Json list = Json::array();
  for (const std::size_t count : kOwn) {
    std::vector<MeasuredRun> runs(MeasuredRuns().begin(), MeasuredRuns().end());
    MeasuredRun own;
    own.source = static_cast<int>(MeasuredSources().size()), own.kind = kind, own.setting = asked.setting;
    runs.insert(runs.end(), count, own);
    OrderRuns(runs);
    const Likely likely = LikelyRange(kind, asked.setting, {runs, MeasuredDistance()});
    list.push_back(Json{{"runs", count}, {"low", likely.low * asked.value}, {"high", likely.high * asked.value}});
  }
  return list;
}

Json RunsOf(const IntervalFigure& figure, const Scenario& scenario) {
  const Asked asked = AskedOf(scenario, figure.kind, figure.path);
  const Likely likely = LikelyRange(figure.kind, asked.setting, PublishedEvidence());
  const std::vector<Neighbor> neighbors = NeighborsOf(figure.kind, asked.setting, PublishedEvidence());
  Json runs = Json::array();
  for (std::size_t i = 0; i < std::min(kListed, neighbors.size()); ++i)
    runs.push_back(Written(neighbors[i], figure.kind, asked.value));
  return Json{{"figure", figure.path},
              {"interval", figure.interval},
              {"kind", NameOf(figure.kind)},
              {"value", asked.value},
              {"low", likely.low * asked.value},
              {"high", likely.high * asked.value},
              {"is_far", likely.IsFar()},
              {"counted", neighbors.size()},
              {"setting", Written(asked.setting)},
              {"runs", std::move(runs)},
              {"differences", Differences(figure.kind, asked.setting, neighbors).Listed()},
              {"own", OwnRuns(figure.kind, asked)}};
}

Json WholeRunsOf(const Scenario& scenario) {
  const WholeRuns whole = WholeRunGap(PublishedEvidence());
  const Asked asked = AskedOf(scenario, MeasuredKind::kWholeRun, "training.step_time_s");
  Json runs = Json::array();
  for (const Neighbor& neighbor : NeighborsOf(MeasuredKind::kWholeRun, asked.setting, PublishedEvidence())) {
    runs.push_back(Written(neighbor, MeasuredKind::kWholeRun, asked.value));
  }
  return Json{{"figure", kTypical},   {"kind", NameOf(MeasuredKind::kWholeRun)},
              {"value", asked.value}, {"typical", asked.value * whole.gap},
              {"gap", whole.gap},     {"runs", std::move(runs)}};
}

}  // namespace

Result<Json> RunsLike(const Scenario& scenario, std::string_view figure) {
  const bool is_there = figure.starts_with("training.")    ? scenario.training.has_value()
                        : figure.starts_with("diffusion.") ? scenario.diffusion.has_value()
                                                           : scenario.serving.has_value();
  if (!is_there) {
    return Issues{{std::string(figure), "This part of the scenario is off"}};
  }
  if (figure == kTypical) return WholeRunsOf(scenario);
  const auto* found =
      std::find_if(std::begin(kIntervalFigures), std::end(kIntervalFigures),
                   [&](const IntervalFigure& one) { return one.path == figure || one.interval == figure; });
  if (found != std::end(kIntervalFigures)) return RunsOf(*found, scenario);
  return Issues{{std::string(figure), "No interval from published runs; there is one for " +
                                          Listed(kIntervalFigures, &IntervalFigure::path)}};
}

}  // namespace slipstick
