#include <algorithm>
#include <cmath>
#include <string>

#include "core/post_training/post_training.h"
#include "core/post_training/split.h"

namespace slipstick {
namespace {

std::string CountOf(Count count) { return std::to_string(count); }

// The split in question: the one that was asked for, or the best.
DeviceSplit ChooseSplit(const PostTraining& asked, const PostTrainingParts& parts, const Samples& sampled,
                        PostTrainingReport& report, Trace& trace) {
  const Count devices = parts.training.devices.value_or(parts.cluster.devices);
  if (asked.placement == RlPlacement::kColocated) return {devices, devices, {}, false};
  const std::vector<DeviceSplit> splits = SplitsOf(parts.training, parts.serving, devices);
  const BestSplit found = FindBestSplit(asked, parts, sampled, splits);
  report.splits = found.compared;
  if (asked.generation_devices) return {*asked.generation_devices, devices - *asked.generation_devices, {}, false};
  if (found.compared.empty()) return splits.front();  // the training mapping suits none
  if (trace.on()) {
    std::vector<std::pair<std::string, Seconds>> among;
    std::size_t place = 0;
    for (const DeviceSplit& one : found.compared) {
      if (one.generation_devices == found.best.generation_devices) place = among.size();
      among.emplace_back(CountOf(one.generation_devices) + " generate, " + CountOf(one.training_devices) + " train",
                         one.step_time);
    }
    const auto all_devices = static_cast<double>(devices);
    trace.Input("all_devices", all_devices, "training.devices");
    const auto generation_devices = static_cast<double>(found.best.generation_devices);
    trace.Choice("generation_devices", generation_devices,
                 {"Generation devices", "the split with the shortest step", "", "post_training.generation_devices"},
                 among, place, "all_devices", all_devices);
    const double training_devices = all_devices - generation_devices;
    trace.Record("training_devices", "all_devices - generation_devices", training_devices,
                 Note{"Training devices", "", "", "post_training.training_devices"}, "all_devices, generation_devices",
                 all_devices, generation_devices);
  }
  return found.best;
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

// What waits: in pools, one for the other.
void SetIdle(const PostTraining& asked, const SplitStep& step, PostTrainingReport& report, Trace& trace) {
  if (asked.placement == RlPlacement::kColocated) return;
  const Seconds step_time = step.split.step_time, generation = step.rollouts.time, learned = step.learned,
                weight_sync = step.hand_over.weight_sync;
  const double generation_devices = static_cast<double>(step.split.generation_devices);
  const double training_devices = static_cast<double>(step.split.training_devices);
  FIGURE(trace, generation_idle, max(0.0, 1 - (generation + weight_sync) / step_time),
         (Note{"Idle share of the generation pool", "", "", "post_training.generation_idle"}), generation, weight_sync,
         step_time);
  FIGURE(trace, training_idle, max(0.0, 1 - (learned + weight_sync) / step_time),
         (Note{"Idle share of the training pool", "", "", "post_training.training_idle"}), learned, weight_sync,
         step_time);
  FIGURE(trace, idle,
         (generation_devices * generation_idle + training_devices * training_idle) /
             (generation_devices + training_devices),
         (Note{"Idle share of all devices", "", "", "post_training.idle"}), generation_devices, generation_idle,
         training_devices, training_idle);
  report.generation_idle = generation_idle;
  report.training_idle = training_idle;
  report.idle = idle;
}

void SetRates(const PostTrainingParts& parts, double samples, double mean_response, PostTrainingReport& report,
              Trace& trace) {
  const double prompt = static_cast<double>(parts.serving.prompt);
  const Seconds step_time = report.step_time;
  const bool is_shared = report.generation_devices == report.training_devices &&
                         report.generation_devices == parts.training.devices.value_or(parts.cluster.devices);
  const auto all_devices =
      static_cast<double>(is_shared ? report.training_devices : report.training_devices + report.generation_devices);
  const Tokens token = 1 * kToken;
  CONSTANTS(trace, "units", "a token", token);
  trace.Input("prompt", prompt, "serving.prompt");
  trace.Input("all_devices", all_devices, "training.devices");
  FIGURE(trace, tokens_per_s, samples * (prompt + mean_response) * token / step_time,
         (Note{"Throughput (tokens/s)", "prompts and responses that are trained on", "", "post_training.tokens_per_s"}),
         samples, prompt, mean_response, token, step_time);
  FIGURE(trace, tokens_per_s_per_device, tokens_per_s / all_devices,
         (Note{"Throughput per GPU (tokens/s)", "over all devices", "", "post_training.tokens_per_s_per_device"}),
         tokens_per_s, all_devices);
  report.tokens_per_s = tokens_per_s;
  report.tokens_per_s_per_device = tokens_per_s_per_device;
}

}  // namespace

PostTrainingReport EvaluatePostTraining(const PostTraining& asked, const PostTrainingParts& parts, Trace& trace) {
  const Trace::Scope scope(trace, "post_training");
  PostTrainingReport report;
  const Samples sampled = SamplesOf(asked, parts.serving, trace);
  const DeviceSplit split = ChooseSplit(asked, parts, sampled, report, trace);
  const SplitStep step = StepOn(asked, parts, sampled, split, trace);
  report.step_time = step.split.step_time;
  report.time = step.time;
  report.generation = step.rollouts.time;
  report.learning = step.learned;
  report.samples = sampled.count;
  report.updates = step.learning.updates * static_cast<double>(asked.epochs);
  report.mean_response = sampled.lengths.Mean() * kToken;
  report.longest_response = sampled.lengths.longest * kToken;
  report.running = step.rollouts.running;
  report.slots_in_use = step.rollouts.slots_in_use;
  report.generation_devices = split.generation_devices;
  report.training_devices = split.training_devices;
  report.synced_weights = step.hand_over.weights;
  report.host = step.hand_over.host;
  if (report.step_time > Seconds{}) {
    SetRates(parts, sampled.count, sampled.lengths.Mean(), report, trace);
    SetIdle(asked, step, report, trace);
  }
  FindInfeasible(parts, step, sampled.lengths.longest, report);
  if (parts.serving.disaggregated) {
    report.warnings.emplace_back(
        "post_training: rollouts prefill and decode on one pool; serving.disaggregated is left out");
  }
  return report;
}

}  // namespace slipstick
