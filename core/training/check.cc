// Validation of a training run against its model and its cluster.
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/fix.h"
#include "core/base/nearest_counts.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

std::string Text(Count count) { return std::to_string(count); }

constexpr Count kMostDevices = 1 << 24, kMostBatch = 1 << 30;  // as in the field tables

// The values nearest to `wanted` that pass, one below and one above, up to `limit`.
template <class Passes>
std::vector<Count> Nearest(Count wanted, Count limit, Passes passes) {
  std::vector<Count> values;
  Count below = wanted - 1, above = wanted + 1;
  while (below >= 1 && !passes(below)) --below;
  if (below >= 1) values.push_back(below);
  const Count reach = std::min(limit, wanted * 4 + 4096);
  while (above <= reach && !passes(above)) ++above;
  if (above <= reach) values.push_back(above);
  return values;
}

class Checker {
 public:
  Checker(const Model& model, const Cluster& cluster, const std::string& path, Issues& issues)
      : model_(model), cluster_(cluster), path_(path), issues_(issues) {}

  void Run(TrainingRun& run) {
    TrainingMapping& mapping = run.mapping;
    gives_devices_ = run.devices.has_value();
    if (!run.devices) run.devices = cluster_.devices;
    if (*run.devices > cluster_.devices) {
      Say("devices", "At most " + Text(cluster_.devices) + ", the devices of the cluster",
          {At("devices", cluster_.devices), SetTo("cluster.devices", *run.devices)});
    }
    CheckPrecision(run);
    CheckDegrees(*run.devices, mapping);
    CheckBatch(run);
    CheckRamp(run);
    CheckDocuments(run);
    CheckModel(run);
    CheckSchedule(run);
    CheckOrder(mapping);
  }

 private:
  void Say(const char* member, const std::string& message, Fixes fixes) {
    issues_.push_back({JoinPath(path_, member), message, std::move(fixes)});
  }
  template <class Value>
  [[nodiscard]] Fix At(const char* member, const Value& value) const {
    return SetTo(JoinPath(path_, member), value);
  }
  [[nodiscard]] Fixes AtEach(const char* member, const std::vector<Count>& values) const {
    return SetToEach(JoinPath(path_, member), values);
  }

  void CheckPrecision(const TrainingRun& run) {
    switch (run.precision) {
      case Precision::kFp32:
      case Precision::kTf32:
      case Precision::kFp16:
      case Precision::kBf16:
      case Precision::kFp8:
      case Precision::kMxfp8:
      case Precision::kNvfp4:
        return;
      default:
        Say("precision", "Choose one of fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4",
            {At("precision", "bf16"), At("precision", "fp8")});
    }
  }

  // Sets the run's devices, and the cluster's if it has too few.
  [[nodiscard]] Fixes OnDevices(Count devices) const {
    if (devices > kMostDevices) return {};
    const Fix run = At("devices", devices), cluster = SetTo("cluster.devices", devices);
    if (devices <= cluster_.devices) return {run};
    if (gives_devices_) return {{run.change, {cluster.change}}};
    return {cluster};
  }

  // Sets pp, and reduces virtual_stages if pp allows fewer.
  [[nodiscard]] Fix WithStages(Count pp, const TrainingMapping& mapping) const {
    Fix fix = At("mapping.pp", pp);
    const Count most = pp > 1 ? std::max<Count>(1, (model_.layers + 2) / pp) : 1;
    if (mapping.virtual_stages > most) fix.also.push_back(At("mapping.virtual_stages", most).change);
    return fix;
  }
  [[nodiscard]] bool AllowsStages(Count pp, const TrainingMapping& mapping) const {
    return pp <= model_.MostStages() && (mapping.schedule != PipelineSchedule::kDualPipe || pp % 2 == 0);
  }
  [[nodiscard]] Fixes WithStagesOfEach(const std::vector<Count>& degrees, const TrainingMapping& mapping) const {
    Fixes fixes;
    for (const Count pp : degrees) fixes.push_back(WithStages(pp, mapping));
    return fixes;
  }

  // Changes of one degree or of the devices; if no single degree helps, a change of all three.
  [[nodiscard]] Fixes NearestDegrees(Count devices, const TrainingMapping& mapping) const {
    const auto suits = [&](Count tp, Count pp, Count cp) {
      return model_.heads % tp == 0 && devices % (tp * pp * cp) == 0;
    };
    const std::vector<Count> tps =
        Nearest(mapping.tp, devices, [&](Count tp) { return suits(tp, mapping.pp, mapping.cp); });
    const std::vector<Count> pps = Nearest(
        mapping.pp, devices, [&](Count pp) { return suits(mapping.tp, pp, mapping.cp) && AllowsStages(pp, mapping); });
    const std::vector<Count> counts = NearestMultiples(devices, ModelParallelDevices(mapping), kMostDevices);
    const Fixes other_devices = counts.empty() ? Fixes() : OnDevices(counts.front());
    if (!tps.empty() || !pps.empty())
      return Joined({AtEach("mapping.tp", tps), WithStagesOfEach(pps, mapping), other_devices});
    Count tp = std::min<Count>(mapping.tp, devices), pp = std::min<Count>(mapping.pp, devices),
          cp = std::min<Count>(mapping.cp, devices);
    while (!suits(tp, 1, 1)) --tp;
    while (!suits(tp, pp, 1)) --pp;
    while (!suits(tp, pp, cp)) --cp;
    Fix together = WithStages(pp, mapping);
    together.also.push_back(At("mapping.cp", cp).change);
    together.also.insert(together.also.begin(), together.change);
    together.change = At("mapping.tp", tp).change;
    return Joined({{together}, other_devices});
  }

  [[nodiscard]] bool SuitsExperts(Count ep) const { return model_.moe ? model_.moe->experts % ep == 0 : ep == 1; }

  [[nodiscard]] Fixes NearestExpertDegrees(Count stage_devices, const TrainingMapping& mapping) const {
    const auto passes = [&](Count ep) { return SuitsExperts(ep) && stage_devices % (ep * mapping.expert_tp) == 0; };
    const Fixes degrees = AtEach("mapping.ep", Nearest(mapping.ep, stage_devices, passes));
    if (!degrees.empty()) return degrees;
    return {{At("mapping.ep", Count{1}).change, {At("mapping.expert_tp", Count{1}).change}}};
  }

  void CheckDegrees(Count devices, TrainingMapping& mapping) {
    const Count parts = ModelParallelDevices(mapping);
    if (devices % parts != 0) {
      Say("mapping",
          "TP " + Text(mapping.tp) + " × PP " + Text(mapping.pp) + " × CP " + Text(mapping.cp) + " = " + Text(parts) +
              " does not divide " + Text(devices) + " devices",
          NearestDegrees(devices, mapping));
      if (!mapping.dp) mapping.dp = 1;
      return;
    }
    const Count dp = devices / parts;
    if (mapping.dp && *mapping.dp != dp) {
      Say("mapping.dp",
          "Must be " + Text(devices) + " devices / (TP " + Text(mapping.tp) + " × PP " + Text(mapping.pp) + " × CP " +
              Text(mapping.cp) + ") = " + Text(dp),
          Joined({{At("mapping.dp", dp)}, OnDevices(*mapping.dp * parts)}));
    }
    mapping.dp = dp;
    const Count stage_devices = devices / mapping.pp, experts_take = mapping.ep * mapping.expert_tp;
    if (stage_devices % experts_take != 0) {
      Say("mapping.ep",
          "EP " + Text(mapping.ep) + " × ETP " + Text(mapping.expert_tp) + " does not divide the " +
              Text(stage_devices) + " devices of a pipeline stage",
          NearestExpertDegrees(stage_devices, mapping));
    }
    if (mapping.shard_within && dp % *mapping.shard_within != 0) {
      Say("mapping.shard_within", "Must divide DP = " + Text(dp),
          AtEach("mapping.shard_within",
                 Nearest(*mapping.shard_within, dp, [&](Count within) { return dp % within == 0; })));
    }
  }

  static std::string BatchUnitText(const TrainingRun& run, Count unit) {
    return "Must be a multiple of DP " + Text(run.mapping.dp.value_or(1)) + " × micro-batch size " +
           Text(run.mapping.micro_batch) + " = " + Text(unit);
  }

  void CheckBatch(const TrainingRun& run) {
    const Count unit = run.mapping.dp.value_or(1) * run.mapping.micro_batch;
    if (run.global_batch % unit == 0) return;
    Say("global_batch", BatchUnitText(run, unit),
        AtEach("global_batch", NearestMultiples(run.global_batch, unit, kMostBatch)));
  }

  void CheckRamp(TrainingRun& run) {
    if (run.tokens_per_parameter) run.tokens = *run.tokens_per_parameter * CountParameters(model_).total * kToken;
    if (!run.batch_ramp) return;
    const BatchRamp& ramp = *run.batch_ramp;
    const Count unit = run.mapping.dp.value_or(1) * run.mapping.micro_batch;
    const Fixes starts = AtEach("batch_ramp.start", NearestMultiples(ramp.start, unit, run.global_batch));
    if (ramp.start > run.global_batch) {
      Say("batch_ramp.start", "At most " + Text(run.global_batch) + ", the global batch", starts);
    } else if (ramp.start % unit != 0) {
      Say("batch_ramp.start", BatchUnitText(run, unit), starts);
    }
    if (ramp.tokens > run.tokens) {
      Say("batch_ramp.tokens", "At most " + NumberText(In(run.tokens, kGToken)) + " G tokens, those of the run",
          {SetToBase(JoinPath(path_, "batch_ramp.tokens"), run.tokens.base())});
    }
  }

  void CheckDocuments(const TrainingRun& run) {
    if (!run.documents || run.documents->length <= run.sequence) return;
    Say("documents.length", "At most " + Text(run.sequence) + ", the sequence length",
        {At("documents.length", run.sequence), At("sequence", run.documents->length)});
  }

  // Degrees that divide the heads and, if possible, also the devices.
  [[nodiscard]] std::vector<Count> NearestHeadSplits(const TrainingRun& run) const {
    const TrainingMapping& mapping = run.mapping;
    const auto splits_heads = [&](Count tp) { return model_.heads % tp == 0; };
    const std::vector<Count> degrees = Nearest(mapping.tp, model_.heads, [&](Count tp) {
      return splits_heads(tp) && *run.devices % (tp * mapping.pp * mapping.cp) == 0;
    });
    return degrees.empty() ? Nearest(mapping.tp, model_.heads, splits_heads) : degrees;
  }

  void CheckContext(const TrainingRun& run) {
    const TrainingMapping& mapping = run.mapping;
    const bool spreads_heads = mapping.cp_kind == ContextKind::kUlysses;
    const auto suits = [&](Count cp) {
      return run.sequence % cp == 0 && (!spreads_heads || model_.heads % (cp * mapping.tp) == 0);
    };
    if (suits(mapping.cp)) return;
    const Fixes degrees = AtEach("mapping.cp", Nearest(mapping.cp, run.sequence, suits));
    if (run.sequence % mapping.cp != 0) {
      Say("mapping.cp", "Must divide the sequence of " + Text(run.sequence) + " tokens", degrees);
    } else {
      Say("mapping.cp",
          "Ulysses splits heads: TP " + Text(mapping.tp) + " × CP " + Text(mapping.cp) +
              " does not divide the model's " + Text(model_.heads) + " heads",
          Joined({degrees, {At("mapping.cp_kind", NameOf(ContextKind::kRing))}}));
    }
  }

  void CheckModel(const TrainingRun& run) {
    const TrainingMapping& mapping = run.mapping;
    if (model_.heads % mapping.tp != 0) {
      Say("mapping.tp", "Must divide the model's " + Text(model_.heads) + " heads",
          AtEach("mapping.tp", NearestHeadSplits(run)));
    }
    CheckContext(run);
    const auto without_experts = [&](const char* member, Count degree) {
      if (!model_.moe && degree > 1) Say(member, "Must be 1: the model has no experts", {At(member, Count{1})});
    };
    without_experts("mapping.ep", mapping.ep);
    without_experts("mapping.expert_tp", mapping.expert_tp);
    if (model_.moe && !SuitsExperts(mapping.ep)) {
      const Count stage_devices = *run.devices / mapping.pp;
      Say("mapping.ep", "Must divide the model's " + Text(model_.moe->experts) + " experts",
          NearestExpertDegrees(stage_devices, mapping));
    }
  }

  // The virtual stages that schedule, stages and layers allow.
  [[nodiscard]] Fixes LegalVirtualStages(const TrainingMapping& mapping) const {
    const Count most = std::max<Count>(1, (model_.layers + 2) / mapping.pp);
    if (mapping.schedule == PipelineSchedule::kZbV && mapping.pp > 1) {
      if (most >= 2) return {At("mapping.virtual_stages", Count{2})};
      return {{At("mapping.schedule", NameOf(PipelineSchedule::kOneFOneB)).change,
               {At("mapping.virtual_stages", Count{1}).change}}};
    }
    const bool interleaves = mapping.schedule == PipelineSchedule::kOneFOneB && mapping.pp > 1;
    return {At("mapping.virtual_stages", interleaves ? std::min<Count>(mapping.virtual_stages, most) : 1)};
  }

  // Degrees that model and schedule allow and that, if possible, divide the devices.
  [[nodiscard]] Fixes NearestStages(const TrainingRun& run) const {
    const TrainingMapping& mapping = run.mapping;
    const auto suits = [&](Count pp) { return AllowsStages(pp, mapping); };
    const auto divides = [&](Count pp) { return suits(pp) && *run.devices % (mapping.tp * pp * mapping.cp) == 0; };
    const std::vector<Count> degrees = Nearest(mapping.pp, model_.layers, divides);
    const Fixes fixes =
        WithStagesOfEach(degrees.empty() ? Nearest(mapping.pp, model_.layers, suits) : degrees, mapping);
    if (!fixes.empty() || mapping.schedule != PipelineSchedule::kDualPipe) return fixes;
    return {At("mapping.schedule", NameOf(PipelineSchedule::kOneFOneB))};
  }

  void CheckSchedule(const TrainingRun& run) {
    const TrainingMapping& mapping = run.mapping;
    const auto say_virtual = [&](const std::string& message) {
      Say("mapping.virtual_stages", message, LegalVirtualStages(mapping));
    };
    // The embedding and the head may have virtual stages of their own.
    const Count parts = model_.layers + 2;
    if (mapping.pp > model_.MostStages()) {
      Say("mapping.pp",
          model_.SharesKv() ? "Must be 1: layers share a KV cache with earlier ones"
                            : "At most " + Text(model_.layers) + ", the layers of the model",
          NearestStages(run));
    } else if (mapping.pp * mapping.virtual_stages > parts) {
      say_virtual("PP " + Text(mapping.pp) + " × virtual stages " + Text(mapping.virtual_stages) +
                  " exceeds the model's " + Text(model_.layers) + " layers, embedding and head; at most " +
                  Text(parts / mapping.pp));
    }
    if (mapping.virtual_stages > 1 && mapping.pp == 1) say_virtual("Must be 1 without pipeline parallelism");
    const bool folds = mapping.schedule == PipelineSchedule::kZbV;
    if (folds && mapping.pp > 1 && mapping.virtual_stages != 2) {
      say_virtual("ZB-V needs two chunks per device: must be 2");
    }
    if (!folds && mapping.schedule != PipelineSchedule::kOneFOneB && mapping.virtual_stages > 1) {
      say_virtual("Must be 1 under " + std::string(NameOf(mapping.schedule)));
    }
    if (mapping.schedule == PipelineSchedule::kDualPipe && mapping.pp % 2 != 0) {
      Say("mapping.pp", "DualPipe pairs stages: must be even", NearestStages(run));
    }
  }

  void CheckOrder(const TrainingMapping& mapping) {
    std::vector<std::string> names;
    std::string rest = mapping.order;
    for (std::size_t dash = rest.find('-'); dash != std::string::npos; dash = rest.find('-')) {
      names.push_back(rest.substr(0, dash));
      rest.erase(0, dash + 1);
    }
    names.push_back(rest);
    std::sort(names.begin(), names.end());
    if (names != std::vector<std::string>{"cp", "dp", "ep", "pp", "tp"}) {
      Say("mapping.order",
          "Enter tp, cp, ep, dp and pp in any order joined by -, innermost first, such as tp-cp-ep-dp-pp",
          {At("mapping.order", TrainingMapping().order)});
    }
  }

  const Model& model_;
  const Cluster& cluster_;
  const std::string& path_;
  Issues& issues_;
  bool gives_devices_ = false;  // the run states its number of devices
};

}  // namespace

void ValidateAndFillDefaults(TrainingRun& run, const Model& model, const Cluster& cluster, const std::string& path,
                             Issues& issues) {
  Checker(model, cluster, path, issues).Run(run);
}

}  // namespace slipstick
