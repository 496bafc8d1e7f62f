#include "core/evaluation/hints.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/search/training_tuner.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

constexpr double kWorthAMapping = 2;  // "several times slower"
constexpr double kWorthAChange = 1.05;
constexpr Count kNearBatch = 4;  // maximum change of a near batch: one part in this many

// The best run with these devices; nothing if none fits.
struct Tuned {
  TrainingRun run;
  Seconds per_sequence;
};
std::optional<Tuned> BestOf(const Scenario& scenario, TrainingRun run, const TrainingFreedom& freedom = {}) {
  run.devices = run.devices.value_or(scenario.cluster.devices);
  TrainingMapping free;
  free.cp_kind = run.mapping.cp_kind;
  free.order = run.mapping.order;
  run.mapping = free;
  TunedTraining tuned = TuneTraining(scenario.model, scenario.cluster, run, freedom);
  if (!tuned.fits) return std::nullopt;
  const TrainingReport report = EvaluateTraining(scenario.model, scenario.cluster, tuned.run, {false, false});
  return Tuned{tuned.run, report.step_time / static_cast<double>(tuned.run.global_batch)};
}

bool IsChosen(const Scenario& scenario, std::string_view path) {
  return std::any_of(scenario.chosen.begin(), scenario.chosen.end(),
                     [path](const Chosen& one) { return one.path == path; });
}

// The members of a mapping that differ from another mapping's: "TP 8, micro-batch size 4".
std::string DifferencesText(const TrainingMapping& mapping, const TrainingMapping& other) {
  std::string text;
  const auto add = [&text](const std::string& difference) { text += (text.empty() ? "" : ", ") + difference; };
  const auto compare = [&](const char* label, Tally TrainingMapping::* member) {
    if (mapping.*member != other.*member) add(label + std::to_string(Count(mapping.*member)));
  };
  compare("TP ", &TrainingMapping::tp), compare("PP ", &TrainingMapping::pp), compare("CP ", &TrainingMapping::cp);
  compare("EP ", &TrainingMapping::ep), compare("ETP ", &TrainingMapping::expert_tp);
  compare("virtual stages ", &TrainingMapping::virtual_stages);
  compare("micro-batch size ", &TrainingMapping::micro_batch), compare("ZeRO ", &TrainingMapping::zero);
  if (mapping.schedule != other.schedule) add(std::string(NameOf(mapping.schedule)));
  if (mapping.sequence_parallel != other.sequence_parallel)
    add(mapping.sequence_parallel ? "sequence parallelism" : "no sequence parallelism");
  if (mapping.dispatch != other.dispatch && mapping.dispatch) add(std::string(NameOf(*mapping.dispatch)) + " dispatch");
  if (mapping.overlap.ep.value_or(false) != other.overlap.ep.value_or(false))
    add(mapping.overlap.ep.value_or(false) ? "overlapped expert exchange" : "expert exchange without overlap");
  return text;
}

std::string TimesText(double ratio) { return TenthsText(ratio) + " times"; }

// The largest multiple of a server, at most `devices`, whose only prime factors are 2, 3 and 5; 0 if that is `devices`.
Count DevicesThatSplit(Count devices, Count server) {
  const auto splits = [](Count n) {
    for (const Count factor : {Count{2}, Count{3}, Count{5}}) {
      while (n % factor == 0) n /= factor;
    }
    return n == 1;
  };
  for (Count fewer = devices / server * server; fewer > 0; fewer -= server) {
    if (splits(fewer)) return fewer == devices ? 0 : fewer;
  }
  return 0;
}

}  // namespace

std::vector<std::string> TrainingHints(const Scenario& scenario, const TrainingReport& report) {
  std::vector<std::string> hints;
  const TrainingRun& run = *scenario.training;
  const Count devices = run.devices.value_or(scenario.cluster.devices);
  const Seconds per_sequence = report.step_time / static_cast<double>(run.global_batch);
  if (!IsChosen(scenario, "training.mapping.tp")) {
    const std::optional<Tuned> best = scenario.model.moe ? BestOf(scenario, run) : std::nullopt;
    if (best && per_sequence > kWorthAMapping * best->per_sequence) {
      hints.push_back("This mapping is " + TimesText(per_sequence / best->per_sequence) + " slower than with " +
                      DifferencesText(best->run.mapping, run.mapping) +
                      ": leave the mapping to be chosen (training.mapping=auto)");
    }
    return hints;
  }
  const Count server = scenario.cluster.networks.empty() ? Tally(1) : scenario.cluster.networks.front().size;
  if (const Count fewer = DevicesThatSplit(devices, server); fewer > 0) {
    TrainingRun smaller = run;
    smaller.devices = fewer;
    const std::optional<Tuned> best = BestOf(scenario, smaller, {.global_batch = true});
    if (best && per_sequence > kWorthAChange * best->per_sequence) {
      hints.push_back(std::to_string(devices) +
                      " devices do not split evenly over servers and ranks: " + std::to_string(fewer) +
                      " devices train " + TimesText(per_sequence / best->per_sequence) + " as fast");
    }
  }
  if (scenario.tried_near_batches || run.global_batch % devices == 0 || devices % run.global_batch == 0) return hints;
  const std::optional<Tuned> best = BestOf(scenario, run, {.global_batch = true, .batch_near = kNearBatch});
  if (best && best->run.global_batch != run.global_batch && per_sequence > kWorthAChange * best->per_sequence) {
    hints.push_back("With a global batch of " + std::to_string(best->run.global_batch) + ", a sequence takes " +
                    NumberText(std::round(100 * (1 - best->per_sequence / per_sequence))) + " % less time than with " +
                    std::to_string(run.global_batch));
  }
  return hints;
}

}  // namespace slipstick
