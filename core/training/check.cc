// Contradictions between a run, its model and its cluster.
#include <algorithm>
#include <string>
#include <vector>

#include "core/training/training.h"

namespace slipstick {
namespace {

std::string Text(Count count) { return std::to_string(count); }

// "16 or 32": the values nearest to `wanted` that pass, below and above.
template <class Passes>
std::string NearestText(Count wanted, Count limit, Passes passes) {
  Count below = wanted - 1, above = wanted + 1;
  while (below >= 1 && !passes(below)) --below;
  const Count reach = std::min(limit, wanted * 4 + 4096);
  while (above <= reach && !passes(above)) ++above;
  std::string text;
  if (below >= 1) text = Text(below);
  if (above <= reach) text += (text.empty() ? "" : " or ") + Text(above);
  return text.empty() ? std::string() : "; nearest " + text;
}

class Checker {
 public:
  Checker(const Model& model, const Cluster& cluster, const std::string& path, Issues& issues)
      : model_(model), cluster_(cluster), path_(path), issues_(issues) {}

  void Run(TrainingRun& run) {
    TrainingMapping& mapping = run.mapping;
    if (!run.devices) run.devices = cluster_.devices;
    if (*run.devices > cluster_.devices) {
      Say("devices", "expected at most the " + Text(cluster_.devices) + " devices of the cluster; got " + Text(*run.devices));
    }
    CheckPrecision(run);
    CheckDegrees(*run.devices, mapping);
    CheckBatch(run);
    CheckRamp(run);
    CheckModel(run);
    CheckSchedule(run);
    CheckOrder(mapping);
  }

 private:
  void Say(const char* member, const std::string& message) { issues_.push_back({JoinPath(path_, member), message}); }

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
        Say("precision", "expected one of fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4; got " + std::string(NameOf(run.precision)));
    }
  }

  // "; tp nearest 4 or 8; pp nearest 2 or 4": one degree that would do; or all three where no single one does.
  std::string NearestDegrees(Count devices, const TrainingMapping& mapping) const {
    const auto suits = [&](Count tp, Count pp, Count cp) { return model_.heads % tp == 0 && devices % (tp * pp * cp) == 0; };
    const std::string nearest_tp = NearestText(mapping.tp, devices, [&](Count one) { return suits(one, mapping.pp, mapping.cp); });
    const std::string nearest_pp = NearestText(mapping.pp, devices, [&](Count one) { return suits(mapping.tp, one, mapping.cp); });
    std::string text;
    if (!nearest_tp.empty()) text += "; tp" + nearest_tp.substr(1);
    if (!nearest_pp.empty()) text += "; pp" + nearest_pp.substr(1);
    if (!text.empty()) return text;
    Count less_tp = std::min(mapping.tp, devices), less_pp = std::min(mapping.pp, devices), less_cp = std::min(mapping.cp, devices);
    while (!suits(less_tp, 1, 1)) --less_tp;
    while (!suits(less_tp, less_pp, 1)) --less_pp;
    while (!suits(less_tp, less_pp, less_cp)) --less_cp;
    return "; nearest tp " + Text(less_tp) + ", pp " + Text(less_pp) + ", cp " + Text(less_cp);
  }

  void CheckDegrees(Count devices, TrainingMapping& mapping) {
    const Count parts = mapping.tp * mapping.cp * mapping.pp;
    if (devices % parts != 0) {
      Say("mapping", "tp " + Text(mapping.tp) + " x pp " + Text(mapping.pp) + " x cp " + Text(mapping.cp) + " = " + Text(parts) +
                         " does not divide the " + Text(devices) + " devices" + NearestDegrees(devices, mapping));
      if (!mapping.dp) mapping.dp = 1;
      return;
    }
    const Count dp = devices / parts;
    if (mapping.dp && *mapping.dp != dp) {
      Say("mapping.dp", "expected " + Text(devices) + " devices / (tp " + Text(mapping.tp) + " x pp " + Text(mapping.pp) + " x cp " +
                            Text(mapping.cp) + ") = " + Text(dp) + "; got " + Text(*mapping.dp));
    }
    mapping.dp = dp;
    const Count stage_devices = devices / mapping.pp, experts_take = mapping.ep * mapping.expert_tp;
    if (stage_devices % experts_take != 0) {
      Say("mapping.ep", "ep " + Text(mapping.ep) + " x expert_tp " + Text(mapping.expert_tp) + " does not divide the " +
                            Text(stage_devices) + " devices of a pipeline stage" + NearestText(mapping.ep, stage_devices, [&](Count ep) {
                              return stage_devices % (ep * mapping.expert_tp) == 0;
                            }));
    }
    if (mapping.shard_within && dp % *mapping.shard_within != 0) {
      Say("mapping.shard_within", "expected a divisor of the data parallel degree " + Text(dp) + "; got " + Text(*mapping.shard_within) +
                                      NearestText(*mapping.shard_within, dp, [&](Count within) { return dp % within == 0; }));
    }
  }

  void CheckBatch(const TrainingRun& run) {
    const Count unit = run.mapping.dp.value_or(1) * run.mapping.micro_batch;
    if (run.global_batch % unit == 0) return;
    const Count below = run.global_batch / unit * unit;
    Say("global_batch", "expected a multiple of dp " + Text(run.mapping.dp.value_or(1)) + " x micro_batch " +
                            Text(run.mapping.micro_batch) + " = " + Text(unit) + "; got " + Text(run.global_batch) + "; nearest " +
                            (below > 0 ? Text(below) + " or " : std::string()) + Text(below + unit));
  }

  void CheckRamp(TrainingRun& run) {
    if (run.tokens_per_parameter) run.tokens = *run.tokens_per_parameter * CountParameters(model_).total * kToken;
    if (!run.batch_ramp) return;
    const BatchRamp& ramp = *run.batch_ramp;
    const Count unit = run.mapping.dp.value_or(1) * run.mapping.micro_batch;
    if (ramp.start > run.global_batch) {
      Say("batch_ramp.start", "expected at most the global batch of " + Text(run.global_batch) + "; got " + Text(ramp.start));
    } else if (ramp.start % unit != 0) {
      const Count below = ramp.start / unit * unit;
      Say("batch_ramp.start", "expected a multiple of dp " + Text(run.mapping.dp.value_or(1)) + " x micro_batch " +
                                  Text(run.mapping.micro_batch) + " = " + Text(unit) + "; got " + Text(ramp.start) + "; nearest " +
                                  (below > 0 ? Text(below) + " or " : std::string()) + Text(below + unit));
    }
    if (ramp.tokens > run.tokens) {
      Say("batch_ramp.tokens", "expected at most the run's " + NumberText(In(run.tokens, kGToken)) + " Gtoken; got " +
                                   NumberText(In(ramp.tokens, kGToken)) + " Gtoken");
    }
  }

  void CheckModel(const TrainingRun& run) {
    const TrainingMapping& mapping = run.mapping;
    if (model_.heads % mapping.tp != 0) {
      Say("mapping.tp", "does not divide the model's " + Text(model_.heads) + " heads; got " + Text(mapping.tp) +
                            NearestText(mapping.tp, model_.heads, [&](Count tp) { return model_.heads % tp == 0; }));
    }
    if (run.sequence % mapping.cp != 0) {
      Say("mapping.cp", "does not divide the sequence of " + Text(run.sequence) + " tokens; got " + Text(mapping.cp) +
                            NearestText(mapping.cp, run.sequence, [&](Count cp) { return run.sequence % cp == 0; }));
    } else if (mapping.cp_kind == ContextKind::kUlysses && model_.heads % (mapping.cp * mapping.tp) != 0) {
      Say("mapping.cp", "ulysses spreads heads: tp " + Text(mapping.tp) + " x cp " + Text(mapping.cp) + " does not divide the model's " +
                            Text(model_.heads) + " heads" +
                            NearestText(mapping.cp, model_.heads, [&](Count cp) { return model_.heads % (cp * mapping.tp) == 0; }));
    }
    if (!model_.moe && mapping.ep > 1) Say("mapping.ep", "expected 1: the model has no experts; got " + Text(mapping.ep));
    if (!model_.moe && mapping.expert_tp > 1)
      Say("mapping.expert_tp", "expected 1: the model has no experts; got " + Text(mapping.expert_tp));
    if (model_.moe && model_.moe->experts % mapping.ep != 0) {
      Say("mapping.ep", "does not divide the model's " + Text(model_.moe->experts) + " experts; got " + Text(mapping.ep) +
                            NearestText(mapping.ep, model_.moe->experts, [&](Count ep) { return model_.moe->experts % ep == 0; }));
    }
  }

  void CheckSchedule(const TrainingRun& run) {
    const TrainingMapping& mapping = run.mapping;
    // The embedding and the head may take a virtual stage of their own.
    const Count places = model_.layers + 2;
    if (mapping.pp > model_.layers) {
      Say("mapping.pp", "expected at most the model's " + Text(model_.layers) + " layers; got " + Text(mapping.pp));
    } else if (mapping.pp * mapping.virtual_stages > places) {
      Say("mapping.virtual_stages", "pp " + Text(mapping.pp) + " x virtual_stages " + Text(mapping.virtual_stages) +
                                        " is more than the model's " + Text(model_.layers) + " layers, embedding and head; at most " +
                                        Text(places / mapping.pp));
    }
    if (mapping.virtual_stages > 1 && mapping.pp == 1) {
      Say("mapping.virtual_stages", "expected 1 where pp is 1; got " + Text(mapping.virtual_stages));
    }
    const std::string name(NameOf(mapping.schedule));
    const bool folds = mapping.schedule == PipelineSchedule::kZbV;
    if (folds && mapping.pp > 1 && mapping.virtual_stages != 2) {
      Say("mapping.virtual_stages", "zb-v runs two chunks a device in a V: expected 2; got " + Text(mapping.virtual_stages));
    }
    if (!folds && mapping.schedule != PipelineSchedule::kOneFOneB && mapping.virtual_stages > 1) {
      Say("mapping.virtual_stages", "expected 1 under " + name + "; got " + Text(mapping.virtual_stages));
    }
    if (mapping.schedule == PipelineSchedule::kDualPipe && mapping.pp % 2 != 0) {
      Say("mapping.pp", "dualpipe joins stages in pairs: expected an even number; got " + Text(mapping.pp) + "; nearest " +
                            (mapping.pp > 1 ? Text(mapping.pp - 1) + " or " : std::string()) + Text(mapping.pp + 1));
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
          "expected tp, cp, ep, dp and pp in some order joined by -, innermost first, such as tp-cp-ep-dp-pp; got " + mapping.order);
    }
  }

  const Model& model_;
  const Cluster& cluster_;
  const std::string& path_;
  Issues& issues_;
};

}  // namespace

void Complete(TrainingRun& run, const Model& model, const Cluster& cluster, const std::string& path, Issues& issues) {
  Checker(model, cluster, path, issues).Run(run);
}

}  // namespace slipstick
