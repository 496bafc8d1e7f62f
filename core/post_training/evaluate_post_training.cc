#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/base/figure.h"
#include "core/post_training/post_training.h"
#include "core/post_training/split.h"

namespace slipstick {
namespace {

std::string CountOf(Count count) { return std::to_string(count); }

void BindSyncRate(StepInputs& inputs, Tape* tape) {
  if (inputs.asked.sync_rate) {
    inputs.sync_rate = *inputs.asked.sync_rate;
    return;
  }
  const bool is_colocated = inputs.asked.placement == RlPlacement::kColocated;
  inputs.sync_rate =
      ConstantAt(is_colocated ? "post_training.colocated.sync_rate" : "post_training.pools.sync_rate", inputs.sync_rate,
                 "Rate at which a device of the engine takes weights",
                 is_colocated ? "NVIDIA-NeMo/RL pull request 1267: DeepSeek-V3 in 35 s"
                              : "NVIDIA-NeMo/RL pull request 1379: DeepSeek-V3 in 14 s, Qwen3-235B-A22B in 5.5 s",
                 tape);
}

void Bind(StepInputs& inputs, Tape* tape) {
  BindInputs(inputs.asked, "post_training", tape);
  BindInputs(inputs.prompt, "serving.prompt", tape);
  BindInputs(inputs.output, "serving.output", tape);
  BindInputs(inputs.prefix_hit, "serving.prefix_hit", tape);
  BindInputs(inputs.attention_dp, "serving.mapping.attention_dp", tape);
  BindInputs(inputs.devices, "training.devices", tape);
  BindInputs(inputs.global_batch, "training.global_batch", tape);
  BindInputs(inputs.host_bandwidth, "cluster.device.host.bandwidth", tape);
  BindSyncRate(inputs, tape);
  const auto from = [tape](std::string_view title, Ratio& number, const std::string& path) {
    number = Procedure<Ratio>(title, number, {InputAt(path, number, tape)}, "counted from this input");
  };
  from("Models that are trained", inputs.trained_models, "post_training.algorithm");
  from("Models that only score", inputs.frozen_models, "post_training.reference");
  from("Trained models that wait for their turn", inputs.swapped_trainings, "post_training.placement");
  from("Devices of a replica", inputs.replica_devices, "serving.mapping");
  from("Devices of a data-parallel rank", inputs.model_ranks, "training.mapping");
  from("Devices that share a copy of the weights", inputs.copy_devices, "training.mapping");
  from("Tokens of a micro-batch", inputs.pack_tokens, "training.sequence");
  from("Parameters of the model", inputs.parameters, "model");
}

// The generation pool of the best split, which minimizes the step time.
Ratio GenerationDevices(const BestSplit& found, Ratio devices) {
  Alternatives<Seconds> among;
  std::size_t place = 0;
  for (const DeviceSplit& one : found.compared) {
    if (one.generation_devices == found.best.generation_devices) place = among.size();
    among.emplace_back(CountOf(one.generation_devices) + " generate, " + CountOf(one.training_devices) + " train",
                       one.step_time);
  }
  return Procedure<Ratio>("Generation devices", found.best.generation_devices, {devices},
                          "the split with the shortest step", "", among, place);
}

// The pools: as requested, or of the best split.
Pools ChoosePools(const StepInputs& inputs, const Samples& sampled, PostTrainingReport& report) {
  const PostTraining& asked = inputs.asked;
  const Ratio devices = inputs.devices;
  if (asked.placement == RlPlacement::kColocated) return {devices, devices};
  const auto with = [&](Ratio generation) {
    return Pools{generation, Figure("Training devices", devices - generation)};
  };
  const std::vector<DeviceSplit> splits =
      SplitsOf(inputs.parts.training, inputs.parts.serving, static_cast<Count>(devices));
  const BestSplit found = FindBestSplit(inputs, sampled, splits);
  report.splits = found.compared;
  if (asked.generation_devices) return with(*asked.generation_devices);
  if (found.compared.empty()) return with(splits.front().generation_devices);  // no split suits the training mapping
  return with(GenerationDevices(found, devices));
}

void FindInfeasible(const PostTrainingParts& parts, const SplitStep& step, double longest, PostTrainingReport& report) {
  if (!step.rollouts.infeasible.empty()) {
    report.infeasible.push_back({"generation_memory", "Rollouts do not fit: " + step.rollouts.infeasible});
  }
  for (const Issue& one : step.learning.issues) {
    report.infeasible.push_back(
        {"mapping", "Training on " + CountOf(step.split.training_devices) + " devices: " + one.message});
  }
  for (const Infeasibility& one : step.learning.update.infeasible)
    report.infeasible.push_back({one.reason, "Training: " + one.message});
  const Bytes host = parts.cluster.device.host.memory;
  if (step.hand_over.host > host) {
    report.infeasible.push_back({"host_memory", "Out of host memory: models that wait for their turn take " +
                                                    NumberText(std::round(In(step.hand_over.host, kGB))) + " of " +
                                                    NumberText(std::round(In(host, kGB))) + " GB per device"});
  }
  const double sample = static_cast<double>(parts.serving.prompt) + longest;
  const auto room = static_cast<double>(parts.training.sequence);
  if (sample > room + 1) {
    report.infeasible.push_back(
        {"sequence", "A sample of " + NumberText(std::ceil(sample)) + " tokens is longer than training.sequence " +
                         NumberText(room) + "; limit post_training.max_response to " +
                         NumberText(max(1.0, room - static_cast<double>(parts.serving.prompt)))});
  }
}

// Shares of device time in which one pool waits for the other.
struct Idle {
  Ratio generation, training, all;
};
Idle IdleOf(const SplitStep& step, const Pools& pools) {
  const Seconds step_time = step.split.step_time, weight_sync = step.hand_over.weight_sync;
  const Ratio generation =
      Figure("Idle share of the generation pool", max(0.0, 1 - (step.rollouts.time + weight_sync) / step_time));
  const Ratio training =
      Figure("Idle share of the training pool", max(0.0, 1 - (step.learned + weight_sync) / step_time));
  return {generation, training,
          Figure("Idle share of all devices",
                 (pools.generation * generation + pools.training * training) / (pools.generation + pools.training))};
}

struct Rates {
  TokensPerSecond all, per_device;
};
Rates RatesOf(const StepInputs& inputs, const Samples& sampled, Seconds step_time) {
  const TokensPerSecond all = Figure("Throughput (tokens/s)",
                                     sampled.count * (inputs.prompt + sampled.mean_response) * (1 * kToken) / step_time,
                                     "prompts and responses that are trained on");
  return {all, Figure("Throughput per GPU (tokens/s)", all / inputs.devices, "over all devices")};
}

}  // namespace

PostTrainingReport EvaluatePostTraining(const PostTraining& asked, const PostTrainingParts& parts, Tape* tape) {
  PostTrainingReport report;
  StepInputs inputs = InputsOf(asked, parts);
  Bind(inputs, tape);
  const Samples sampled = SamplesOf(inputs.asked, parts.serving, inputs.output);
  const Pools pools = ChoosePools(inputs, sampled, report);
  const SplitStep step = StepOn(inputs, sampled, pools);
  const Ratio updates = Figure("Updates", step.learning.updates * Ratio(inputs.asked.epochs));
  report.step_time = step.split.step_time;
  report.time = step.time;
  report.generation = step.rollouts.time;
  report.learning = step.learned;
  report.samples = sampled.count;
  report.updates = updates;
  report.mean_response = sampled.mean_response * kToken;
  report.longest_response = sampled.longest_response * kToken;
  report.running = step.rollouts.running;
  report.slots_in_use = step.rollouts.slots_in_use;
  report.generation_devices = step.split.generation_devices;
  report.training_devices = step.split.training_devices;
  report.synced_weights = step.hand_over.weights;
  report.host = step.hand_over.host;
  if (report.step_time > Seconds()) {
    const Rates rates = RatesOf(inputs, sampled, report.step_time);
    report.tokens_per_s = rates.all;
    report.tokens_per_s_per_device = rates.per_device;
  }
  if (report.step_time > Seconds() && asked.placement == RlPlacement::kPools) {
    const Idle idle = IdleOf(step, pools);
    report.generation_idle = idle.generation;
    report.training_idle = idle.training;
    report.idle = idle.all;
  }
  FindInfeasible(parts, step, sampled.longest_response, report);
  if (parts.serving.disaggregated) {
    report.warnings.emplace_back(
        "post_training: rollouts prefill and decode on one pool; serving.disaggregated is left out");
  }
  return report;
}

}  // namespace slipstick
