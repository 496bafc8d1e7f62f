#include "core/scenario/auto_mapping.h"

#include <utility>

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/evidence/neighbors.h"
#include "core/evidence/run_setting.h"
#include "core/scenario/legal_defaults.h"
#include "core/search/serving_tuner.h"
#include "core/search/training_tuner.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

PinnedMembers TakeAuto(Json& request, const char* part, Issues& issues) {
  const auto owner = request.find(part);
  if (owner == request.end() || !owner->is_object() || !owner->contains("mapping")) return std::nullopt;
  Json& mapping = (*owner)["mapping"];
  const Json* flag = FindMember(mapping, "auto");
  if (flag == nullptr) return std::nullopt;
  if (!flag->is_boolean()) {
    issues.push_back({std::string(part) + ".mapping.auto", "Must be true or false, not " + internal::Shown(*flag)});
  }
  const bool is_auto = *flag == true;
  mapping.erase("auto");
  if (!is_auto) return std::nullopt;
  std::vector<std::string> pinned;
  for (const auto& [key, value] : mapping.items()) {
    if (!value.is_null()) pinned.push_back(key);
  }
  return pinned;
}

// A batch that the request does not state moves only for a gain that is worth another batch.
constexpr double kBatchGain = 0.05;

// The best run that keeps the margin of its memory interval, so that nine of ten measured runs like it would fit; if
// there is none, the best run that fits. The interval is the same for all mappings.
TunedTraining TuneWithMargin(const Scenario& scenario, TrainingRun run, const TrainingFreedom& freedom) {
  const RunSetting setting = SettingOf(scenario.model, scenario.cluster, run, TrainingReport());
  run.memory_margin = 1 - 1 / LikelyRange(MeasuredKind::kTrainingMemory, setting, PublishedEvidence()).high;
  TunedTraining tuned = TuneTraining(scenario.model, scenario.cluster, run, freedom);
  if (tuned.fits) return tuned;
  run.memory_margin = 0;
  return TuneTraining(scenario.model, scenario.cluster, run, freedom);
}

// No mapping divides the batch: offers the best one near it that a mapping divides, if there is any.
void SayBatch(const Scenario& scenario, const TrainingRun& run, TrainingFreedom freedom, Issues& issues) {
  freedom.global_batch = true, freedom.batch_gain = 0;
  const TunedTraining other = TuneTraining(scenario.model, scenario.cluster, run, freedom);
  if (!other.is_legal) return;
  issues.push_back({"training.global_batch",
                    "No mapping of " + GroupedText(static_cast<double>(*run.devices)) + " devices divides " +
                        GroupedText(static_cast<double>(run.global_batch)) + " sequences",
                    {SetTo("training.global_batch", other.run.global_batch)}});
}

void SettleTraining(Scenario& scenario, const std::vector<std::string>& pinned, const Written& written,
                    Issues& issues) {
  TrainingRun& run = *scenario.training;
  const std::optional<Count> devices = run.devices;
  if (!run.devices) run.devices = scenario.cluster.devices;
  const bool is_free = run.recompute == Recompute::kNone && written.IsDefault("training.recompute");
  const bool is_newest = scenario.version >= 3, may_move = written.IsDefault("training.global_batch");
  const TrainingFreedom freedom{pinned, is_free, may_move, is_newest ? kBatchGain : 0};
  scenario.tried_near_batches = may_move;
  const bool keeps_margin = is_newest && !run.memory_margin;
  TunedTraining tuned = keeps_margin ? TuneWithMargin(scenario, run, freedom)
                                     : TuneTraining(scenario.model, scenario.cluster, run, freedom);
  if (!tuned.is_legal && !may_move) SayBatch(scenario, run, freedom, issues);
  run = std::move(tuned.run);
  run.devices = devices;
  scenario.chosen.insert(scenario.chosen.end(), tuned.chosen.begin(), tuned.chosen.end());
}

// Two pools for which no mapping fits both: each gets one of its own. The prefill pool's is the best for single tokens.
TunedServing TunePoolsApart(const Scenario& scenario, ServingLoad load, const std::vector<std::string>& pinned) {
  Disaggregated& pools = *load.disaggregated;
  ServingLoad prefills = load;
  prefills.disaggregated.reset();
  prefills.devices = pools.prefill_devices;
  prefills.output = 1;
  pools.prefill_mapping = TuneServing(scenario.model, scenario.cluster, prefills, {}).load.mapping;
  return TuneServing(scenario.model, scenario.cluster, load, pinned);
}

// Tries 2x, 4x … the devices if the model does not fit and the request does not state their number.
void SettleServing(Scenario& scenario, const std::vector<std::string>& pinned, const Written& written) {
  ServingLoad& load = *scenario.serving;
  ServingLoad trial = load;
  TunedServing tuned = TuneServing(scenario.model, scenario.cluster, trial, pinned);
  const bool may_grow = written.IsDefault("serving.devices") && load.devices && !load.mapping.replicas;
  while (may_grow && !tuned.fits && *trial.devices * 2 <= scenario.cluster.devices) {
    trial.devices = *trial.devices * 2;
    TunedServing more = TuneServing(scenario.model, scenario.cluster, trial, pinned);
    if (more.fits) tuned = std::move(more);
  }
  if (!tuned.fits && load.disaggregated && !load.disaggregated->prefill_mapping) {
    TunedServing apart = TunePoolsApart(scenario, load, pinned);
    if (apart.fits) tuned = std::move(apart);
  }
  load = std::move(tuned.load);
  scenario.chosen.insert(scenario.chosen.end(), tuned.chosen.begin(), tuned.chosen.end());
}

}  // namespace

AutoMappings TakeAutoMappings(Json& request, Issues& issues) {
  AutoMappings autos;
  autos.training = TakeAuto(request, "training", issues);
  autos.serving = TakeAuto(request, "serving", issues);
  return autos;
}

void SettleMappings(Scenario& scenario, const AutoMappings& autos, const Written& written, std::string_view searched,
                    Issues& issues) {
  if (scenario.training && autos.training && searched != "training")
    SettleTraining(scenario, *autos.training, written, issues);
  if (scenario.serving && autos.serving && searched != "serving") {
    AdjustServingLoad(scenario, written);
    SettleServing(scenario, *autos.serving, written);
  }
}

void DescribeAuto(Json& inputs) {
  for (const char* part : {"training", "serving"}) {
    inputs.push_back(Json{{"path", std::string(part) + ".mapping.auto"},
                          {"kind", "flag"},
                          {"default", false},
                          {"label", "Mapping chosen by the program"},
                          {"help", "Degrees left out are chosen: the best mapping that fits"},
                          {"advanced", true}});
  }
}

}  // namespace slipstick
