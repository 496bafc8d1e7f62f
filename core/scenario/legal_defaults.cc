#include "core/scenario/legal_defaults.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/operators/efficiency.h"
#include "core/serving/serving.h"
#include "core/serving/serving_memory.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

constexpr Count kMaxTp = 64;

// Distance between two degrees, in doublings.
double DoublingsBetween(Count a, Count b) {
  return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

// The nearest positive multiple of `unit`; the smaller one in a tie.
Count NearestMultiple(Count wanted, Count unit) {
  const Count below = wanted / unit * unit;
  return below > 0 && wanted - below <= below + unit - wanted ? below : below + unit;
}

// `smallest` and its doublings, up to `largest`.
std::vector<Count> Doublings(Count smallest, Count largest) {
  std::vector<Count> degrees;
  for (Count degree = smallest; degree <= largest; degree *= 2) degrees.push_back(degree);
  return degrees;
}

// A run or load, and its distance from the default, with the most important component first.
template <class Run>
struct Candidate {
  std::array<double, 3> distance;
  Run run;
};

template <class Run>
void SortByDistance(std::vector<Candidate<Run>>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.distance < b.distance; });
}

class TrainingAdjuster {
 public:
  TrainingAdjuster(const Scenario& scenario, const Written& written)
      : model_(scenario.model), cluster_(scenario.cluster), written_(written) {}

  void Adjust(TrainingRun& run) const {
    const auto issues_of = [this](TrainingRun trial) {
      Issues issues;
      ValidateAndFillDefaults(trial, model_, cluster_, "training", issues);
      return static_cast<Count>(issues.size());
    };
    Count fewest = issues_of(run);
    if (fewest == 0) return;
    const TrainingMapping wanted = run.mapping;
    const Count devices = run.devices.value_or(cluster_.devices);
    const bool may_change_tp = written_.IsDefault("training.mapping.tp"),
               may_change_pp = written_.IsDefault("training.mapping.pp");
    std::vector<Candidate<TrainingRun>> candidates;
    for (const Count tp : may_change_tp ? Doublings(1, std::min(devices, kMaxTp)) : std::vector<Count>{wanted.tp}) {
      for (Count pp = may_change_pp ? Tally(1) : wanted.pp;
           pp <= (may_change_pp ? std::min<Count>(model_.layers, devices) : Count(wanted.pp)); ++pp) {
        if ((may_change_tp || may_change_pp) && devices % (tp * pp * wanted.cp) != 0) continue;
        Candidate<TrainingRun> one{
            {DoublingsBetween(tp, wanted.tp), DoublingsBetween(pp, wanted.pp), -static_cast<double>(pp)}, run};
        one.run.mapping.tp = tp;
        one.run.mapping.pp = pp;
        AdjustDependents(devices, one.run);
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
  // Virtual stages and batch depend on tp and pp.
  void AdjustDependents(Count devices, TrainingRun& run) const {
    TrainingMapping& mapping = run.mapping;
    if (written_.IsDefault("training.mapping.virtual_stages")) {
      const bool interleaves = mapping.schedule == PipelineSchedule::kOneFOneB && mapping.pp > 1;
      const Count max_stages = interleaves ? std::max<Count>(1, (model_.layers + 2) / mapping.pp) : 1;
      mapping.virtual_stages = std::min<Count>(mapping.virtual_stages, max_stages);
      if (mapping.schedule == PipelineSchedule::kZbV && mapping.pp > 1) mapping.virtual_stages = 2;
    }
    if (written_.IsDefault("training.global_batch")) {
      const Count dp = std::max<Count>(1, devices / ModelParallelDevices(mapping));
      run.global_batch = NearestMultiple(run.global_batch, dp * mapping.micro_batch);
    }
  }

  const Model& model_;
  const Cluster& cluster_;
  const Written& written_;
};

// Legality comes first, then whether the model fits.
struct MappingQuality {
  Count issues = 0;
  bool fits = false;  // weights and one request fit in memory
};

class ServingAdjuster {
 public:
  ServingAdjuster(const Scenario& scenario, const Written& written)
      : version_(scenario.version),
        model_(scenario.model),
        cluster_(scenario.cluster),
        written_(written),
        is_alone_(!scenario.training && !scenario.post_training) {}

  // At most the number of requests that run at once: by default none waits.
  void AdjustTotal(ServingLoad& load) const {
    if (!load.concurrency || !written_.IsDefault("serving.concurrency") || load.disaggregated || load.kv_offload)
      return;
    ServingLoad complete = load;
    Issues issues;
    ValidateAndFillDefaults(complete, model_, cluster_, "serving", issues);
    if (!issues.empty()) return;
    const Deployment deployment = Deploy(model_, cluster_, complete);
    const double each = BatchThatFits(deployment, KvCacheBudgetOf(deployment), load.prompt, load.output);
    const double all = each * deployment.mapping.attention_dp * deployment.mapping.replicas;
    if (all >= 1 && all < static_cast<double>(*load.concurrency)) load.concurrency = static_cast<Count>(all);
  }

  void AdjustLoad(ServingLoad& load) const {
    AdjustConcurrency(load);
    AdjustFormats(load);
    AdjustCacheFormat(load);
    AdjustLengths(load);
    AdjustDevices(load);
  }
  void Adjust(ServingLoad& load) const {
    AdjustLoad(load);
    const bool may_grow = written_.IsDefault("serving.devices") && load.devices && !load.mapping.replicas;
    if (!written_.IsDefault("serving.mapping.tp") && !written_.IsDefault("serving.mapping.pp")) return;
    // Doubles the devices until the model fits; if it never does, keeps the first choice.
    ServingLoad trial = load;
    MappingQuality best = AdjustMapping(trial);
    load = trial;
    while (may_grow && best.issues == 0 && !best.fits && *trial.devices * 2 <= cluster_.devices) {
      trial.devices = *trial.devices * 2;
      const MappingQuality now = AdjustMapping(trial);
      if (now.issues > 0 || !now.fits) continue;
      load = trial;
      return;
    }
  }

 private:
  // A stated batch per replica or arrival rate replaces the default total number of requests.
  void AdjustConcurrency(ServingLoad& load) const {
    const bool has_other = load.requests_per_s || !written_.IsDefault("serving.batch");
    if (has_other && written_.IsDefault("serving.concurrency")) load.concurrency.reset();
  }

  // The precision of the published checkpoint, if that is narrower; links of the first version stay as they were. An
  // engine that lists its formats uses this one if it has it, otherwise its first.
  void AdjustFormats(ServingLoad& load) const {
    ServingPrecision& precision = load.precision;
    const std::optional<Precision>& published = model_.weights;
    const std::vector<Precision>& formats = load.engine.formats.weights;
    const bool may_change = written_.IsDefault("serving.precision.weights");
    if (!formats.empty()) {
      const bool has_published = published && std::find(formats.begin(), formats.end(), *published) != formats.end();
      if (may_change) precision.weights = has_published ? *published : formats.front();
      if (written_.IsDefault("serving.precision.activations")) precision.activations = Precision::kFp16;
      return;
    }
    if (!may_change && version_ >= kFollowWeightsFrom && written_.IsDefault("serving.precision.activations"))
      precision.activations = ActivationsOf(precision.weights);
    if (version_ < 2 || !published || !may_change || BytesPerElement(*published) >= BytesPerElement(precision.weights))
      return;
    precision.weights = *published;
    if (written_.IsDefault("serving.precision.activations")) precision.activations = Precision::kBf16;
  }

  // Checkpoints in nvfp4 name fp8 for the KV cache: that is what NVIDIA's Model Optimizer writes. Compressed attention
  // caches fp8 by design.
  void AdjustCacheFormat(ServingLoad& load) const {
    if (version_ < kFollowWeightsFrom || !written_.IsDefault("serving.precision.kv_cache")) return;
    Precision& kv_cache = load.precision.kv_cache;
    const bool names_fp8 = load.precision.weights == Precision::kNvfp4 || model_.compressed;
    if (names_fp8 && load.engine.formats.follows_kv_cache && Supports(cluster_.device, Precision::kFp8))
      kv_cache = Precision::kFp8;
    if (!model_.mla || !model_.indexer) return;
    for (const EngineOn& on : load.engine.on) {
      if (on.architecture == cluster_.device.architecture && on.sparse_kv_cache) kv_cache = *on.sparse_kv_cache;
    }
  }

  // Checkpoints in fp8, mxfp8 and nvfp4 quantize both where the device multiplies in that format; narrow weights are
  // otherwise converted while they are read.
  [[nodiscard]] Precision ActivationsOf(Precision weights) const {
    const bool both = weights == Precision::kFp8 || weights == Precision::kMxfp8 || weights == Precision::kNvfp4;
    return BytesPerElement(weights) >= 2 || (both && Supports(cluster_.device, weights)) ? weights : Precision::kBf16;
  }

  void AdjustLengths(ServingLoad& load) const {
    constexpr Count kKeepsContextFrom = 3;  // earlier versions exceed the model's context, with a warning
    const bool is_learned = model_.positions.encoding == Position::kLearned;
    const Count positions = is_learned                      ? model_.positions.rows
                            : version_ >= kKeepsContextFrom ? model_.context
                                                            : Tally(0);
    if (positions <= 0 || load.prompt + load.output <= positions) return;
    if (written_.IsDefault("serving.prompt")) load.prompt = std::max<Count>(1, positions - load.output);
    // Beyond learned positions there is no answer; beyond a context that can be extended there is one, with a warning.
    if (is_learned && load.prompt + load.output > positions && written_.IsDefault("serving.output"))
      load.output = std::max<Count>(1, positions - load.prompt);
  }

  // The smallest tp that the written ep and cp allow.
  [[nodiscard]] static Count SmallestTp(const ServingMapping& mapping) {
    return std::lcm(mapping.ep / std::gcd<Count, Count>(mapping.ep, mapping.attention_dp), Count(mapping.cp));
  }

  // A written cluster serves with all its devices, unless it trains too.
  [[nodiscard]] bool UsesWholeCluster() const {
    constexpr Count kFrom = 3;
    return version_ >= kFrom && is_alone_ && !written_.IsDefault("cluster.devices");
  }

  // At most the cluster's devices, and a multiple of the written degrees.
  void AdjustDevices(ServingLoad& load) const {
    if (!written_.IsDefault("serving.devices") || !load.devices) return;
    if (load.disaggregated) {
      load.devices.reset();  // the sum of the pools
      return;
    }
    const ServingMapping& mapping = load.mapping;
    const Count tp = written_.IsDefault("serving.mapping.tp") ? SmallestTp(mapping) : Count(mapping.tp);
    const Count pp = written_.IsDefault("serving.mapping.pp") ? Tally(1) : mapping.pp;
    // Degrees beyond the cluster are reported as they are.
    if (tp > cluster_.devices || tp * pp > cluster_.devices ||
        tp * pp * mapping.attention_dp * mapping.prefill_cp > cluster_.devices)
      return;
    const Count group = tp * pp * mapping.attention_dp * mapping.prefill_cp;
    const Count most = UsesWholeCluster() ? Count(cluster_.devices) : std::min<Count>(*load.devices, cluster_.devices);
    Count devices = NearestMultiple(most, group);
    if (devices > cluster_.devices) devices -= group;
    load.devices = mapping.replicas ? group * *mapping.replicas : devices;
  }

  [[nodiscard]] MappingQuality QualityOf(ServingLoad load) const {
    Issues issues;
    ValidateAndFillDefaults(load, model_, cluster_, "serving", issues);
    MappingQuality quality{static_cast<Count>(issues.size()), load.disaggregated.has_value()};
    if (quality.issues > 0 || quality.fits) return quality;
    const Deployment deployment = Deploy(model_, cluster_, load);
    quality.fits = BatchThatFits(deployment, KvCacheBudgetOf(deployment), load.prompt, load.output) >= 1;
    return quality;
  }

  // Moves tp and pp to the nearest legal pair for which the model fits; returns the quality of the result.
  MappingQuality AdjustMapping(ServingLoad& load) const {
    MappingQuality best = QualityOf(load);
    if (best.issues == 0 && best.fits) return best;
    const bool may_change_tp = written_.IsDefault("serving.mapping.tp"),
               may_change_pp = written_.IsDefault("serving.mapping.pp");
    const ServingMapping wanted = load.mapping;
    const Count devices =
        load.devices.value_or(load.disaggregated ? load.disaggregated->decode_devices : cluster_.devices);
    std::vector<Candidate<ServingLoad>> candidates;
    for (const Count tp :
         may_change_tp ? Doublings(SmallestTp(wanted), std::min(devices, kMaxTp)) : std::vector<Count>{wanted.tp}) {
      for (Count pp = may_change_pp ? Tally(1) : wanted.pp;
           pp <= (may_change_pp ? std::min<Count>(model_.layers, devices) : Count(wanted.pp)); ++pp) {
        if (devices % (tp * pp * wanted.attention_dp * wanted.prefill_cp) != 0) continue;
        candidates.push_back({{DoublingsBetween(tp, wanted.tp), DoublingsBetween(pp, wanted.pp), 0}, load});
        candidates.back().run.mapping.tp = tp;
        candidates.back().run.mapping.pp = pp;
      }
    }
    SortByDistance(candidates);
    for (const Candidate<ServingLoad>& candidate : candidates) {
      const MappingQuality now = QualityOf(candidate.run);
      if (now.issues > best.issues || (now.issues == best.issues && now.fits <= best.fits)) continue;
      best = now;
      load = candidate.run;
      if (best.issues == 0 && best.fits) break;
    }
    return best;
  }

  static constexpr Count kFollowWeightsFrom = 3;  // earlier versions keep the default formats beside written weights

  Count version_;
  const Model& model_;
  const Cluster& cluster_;
  const Written& written_;
  bool is_alone_;
};

}  // namespace

void ApplyLegalDefaults(Scenario& scenario, const Written& written, std::string_view searched) {
  if (scenario.training && searched != "training") TrainingAdjuster(scenario, written).Adjust(*scenario.training);
  if (!scenario.serving) return;
  const ServingAdjuster adjuster(scenario, written);
  adjuster.Adjust(*scenario.serving);
  adjuster.AdjustTotal(*scenario.serving);
}

void AdjustServingLoad(Scenario& scenario, const Written& written) {
  ServingAdjuster(scenario, written).AdjustLoad(*scenario.serving);
}

}  // namespace slipstick
