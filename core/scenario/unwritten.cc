#include "core/scenario/unwritten.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/serving/serving.h"
#include "core/serving/serving_memory.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

constexpr Count kMostTp = 64;

// How far apart two degrees are: doublings.
double Apart(Count a, Count b) { return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b))); }

// The multiple of `unit` nearest to `wanted`, at least one; the lesser of two as near.
Count NearestMultiple(Count wanted, Count unit) {
  const Count below = wanted / unit * unit;
  return below > 0 && wanted - below <= below + unit - wanted ? below : below + unit;
}

// `least` and its doublings.
std::vector<Count> Doublings(Count least, Count most) {
  std::vector<Count> degrees;
  for (Count degree = least; degree <= most; degree *= 2) degrees.push_back(degree);
  return degrees;
}

// A choice: how far it is from the default's, most important first, and the run or load that it makes.
template <class Run>
struct Candidate {
  std::array<double, 3> distance;
  Run run;
};

template <class Run>
void SortByDistance(std::vector<Candidate<Run>>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
}

class TrainingFollower {
 public:
  TrainingFollower(const Scenario& scenario, const Written& written)
      : model_(scenario.model), cluster_(scenario.cluster), written_(written) {}

  void Move(TrainingRun& run) const {
    const auto issues_of = [this](TrainingRun trial) {
      Issues issues;
      ValidateAndFillDefaults(trial, model_, cluster_, "training", issues);
      return static_cast<Count>(issues.size());
    };
    Count fewest = issues_of(run);
    if (fewest == 0) return;
    const TrainingMapping wanted = run.mapping;
    const Count devices = run.devices.value_or(cluster_.devices);
    const bool moves_tp = written_.Leaves("training.mapping.tp"), moves_pp = written_.Leaves("training.mapping.pp");
    std::vector<Candidate<TrainingRun>> candidates;
    for (const Count tp : moves_tp ? Doublings(1, std::min(devices, kMostTp)) : std::vector<Count>{wanted.tp}) {
      for (Count pp = moves_pp ? 1 : wanted.pp; pp <= (moves_pp ? std::min(model_.layers, devices) : wanted.pp); ++pp) {
        if ((moves_tp || moves_pp) && devices % (tp * pp * wanted.cp) != 0) continue;
        Candidate<TrainingRun> one{{Apart(tp, wanted.tp), Apart(pp, wanted.pp), -static_cast<double>(pp)}, run};
        one.run.mapping.tp = tp;
        one.run.mapping.pp = pp;
        MoveRest(devices, one.run);
        candidates.push_back(std::move(one));
      }
    }
    SortByDistance(candidates);
    for (const Candidate<TrainingRun>& candidate : candidates) {
      const Count issues = issues_of(candidate.run);
      if (issues >= fewest) continue;
      fewest = issues;
      run = candidate.run;
      if (fewest == 0) return;
    }
  }

 private:
  // What follows from tp and pp.
  void MoveRest(Count devices, TrainingRun& run) const {
    TrainingMapping& mapping = run.mapping;
    if (written_.Leaves("training.mapping.virtual_stages")) {
      const bool interleaves = mapping.schedule == PipelineSchedule::kOneFOneB && mapping.pp > 1;
      const Count most = interleaves ? std::max<Count>(1, (model_.layers + 2) / mapping.pp) : 1;
      mapping.virtual_stages = std::min(mapping.virtual_stages, most);
      if (mapping.schedule == PipelineSchedule::kZbV && mapping.pp > 1) mapping.virtual_stages = 2;
    }
    if (written_.Leaves("training.global_batch")) {
      const Count dp = std::max<Count>(1, devices / (mapping.tp * mapping.pp * mapping.cp));
      run.global_batch = NearestMultiple(run.global_batch, dp * mapping.micro_batch);
    }
  }

  const Model& model_;
  const Cluster& cluster_;
  const Written& written_;
};

// Legal and how much of the model fits: both are wanted, the first above all.
struct Standing {
  Count issues = 0;
  bool fits = false;  // the weights and one request
};

class ServingFollower {
 public:
  ServingFollower(const Scenario& scenario, const Written& written)
      : model_(scenario.model), cluster_(scenario.cluster), written_(written) {}

  void Move(ServingLoad& load) const {
    MoveLengths(load);
    MoveDevices(load);
    const bool grows = written_.Leaves("serving.devices") && load.devices && !load.mapping.replicas;
    if (!written_.Leaves("serving.mapping.tp") && !written_.Leaves("serving.mapping.pp")) return;
    // On ever more devices until the model fits; where it never does, on those it started with.
    ServingLoad trial = load;
    Standing best = MoveMapping(trial);
    load = trial;
    while (grows && best.issues == 0 && !best.fits && *trial.devices * 2 <= cluster_.devices) {
      trial.devices = *trial.devices * 2;
      const Standing now = MoveMapping(trial);
      if (now.issues > 0 || !now.fits) continue;
      load = trial;
      return;
    }
  }

 private:
  void MoveLengths(ServingLoad& load) const {
    if (model_.positions.encoding != Position::kLearned || model_.positions.rows <= 0) return;
    const Count most = model_.positions.rows;
    if (load.prompt + load.output <= most) return;
    if (written_.Leaves("serving.prompt")) load.prompt = std::max<Count>(1, most - load.output);
    if (load.prompt + load.output > most && written_.Leaves("serving.output")) load.output = std::max<Count>(1, most - load.prompt);
  }

  // The least tp that the written ep and cp let be.
  [[nodiscard]] static Count NeededTp(const ServingMapping& mapping) {
    return std::lcm(mapping.ep / std::gcd(mapping.ep, mapping.attention_dp), mapping.cp);
  }

  // The cluster's at most, and a multiple of what was written of the mapping.
  void MoveDevices(ServingLoad& load) const {
    if (!written_.Leaves("serving.devices") || !load.devices) return;
    if (load.disaggregated) {
      load.devices.reset();  // the pools' sum
      return;
    }
    const ServingMapping& mapping = load.mapping;
    const Count tp = written_.Leaves("serving.mapping.tp") ? NeededTp(mapping) : mapping.tp;
    const Count pp = written_.Leaves("serving.mapping.pp") ? 1 : mapping.pp;
    // Degrees that no cluster can have are an issue as they stand.
    if (tp > cluster_.devices || tp * pp > cluster_.devices || tp * pp * mapping.attention_dp > cluster_.devices) return;
    const Count group = tp * pp * mapping.attention_dp;
    Count devices = NearestMultiple(std::min(*load.devices, cluster_.devices), group);
    if (devices > cluster_.devices) devices -= group;
    load.devices = mapping.replicas ? group * *mapping.replicas : devices;
  }

  // Of the load as it would be completed.
  [[nodiscard]] Standing StandingOf(ServingLoad load) const {
    Issues issues;
    ValidateAndFillDefaults(load, model_, cluster_, "serving", issues);
    Standing standing{static_cast<Count>(issues.size()), load.disaggregated.has_value()};
    if (standing.issues > 0 || standing.fits) return standing;
    Trace off = Trace::Off();
    const Deployment deployment = Deploy(model_, cluster_, load);
    const KvCacheBudget budget = KvCacheBudgetOf(deployment, off);
    standing.fits = BatchThatFits(deployment, budget, static_cast<double>(load.prompt), static_cast<double>(load.output), off) >= 1;
    return standing;
  }

  // tp and pp to where they are legal and the model fits, as near as may be; how that stands.
  Standing MoveMapping(ServingLoad& load) const {
    Standing best = StandingOf(load);
    if (best.issues == 0 && best.fits) return best;
    const bool moves_tp = written_.Leaves("serving.mapping.tp"), moves_pp = written_.Leaves("serving.mapping.pp");
    const ServingMapping wanted = load.mapping;
    const Count devices = load.devices.value_or(load.disaggregated ? load.disaggregated->decode_devices : cluster_.devices);
    std::vector<Candidate<ServingLoad>> candidates;
    for (const Count tp : moves_tp ? Doublings(NeededTp(wanted), std::min(devices, kMostTp)) : std::vector<Count>{wanted.tp}) {
      for (Count pp = moves_pp ? 1 : wanted.pp; pp <= (moves_pp ? std::min(model_.layers, devices) : wanted.pp); ++pp) {
        if (devices % (tp * pp * wanted.attention_dp) != 0) continue;
        candidates.push_back({{Apart(tp, wanted.tp), Apart(pp, wanted.pp), 0}, load});
        candidates.back().run.mapping.tp = tp;
        candidates.back().run.mapping.pp = pp;
      }
    }
    SortByDistance(candidates);
    for (const Candidate<ServingLoad>& candidate : candidates) {
      const Standing now = StandingOf(candidate.run);
      if (now.issues > best.issues || (now.issues == best.issues && now.fits <= best.fits)) continue;
      best = now;
      load = candidate.run;
      if (best.issues == 0 && best.fits) break;
    }
    return best;
  }

  const Model& model_;
  const Cluster& cluster_;
  const Written& written_;
};

}  // namespace

void Follow(Scenario& scenario, const Written& written, std::string_view searched) {
  if (scenario.training && searched != "training") TrainingFollower(scenario, written).Move(*scenario.training);
  if (scenario.serving) ServingFollower(scenario, written).Move(*scenario.serving);
}

}  // namespace slipstick
