#include "core/post_training/split.h"

#include <algorithm>
#include <map>

#include "core/base/figure.h"

namespace slipstick {
namespace {

constexpr std::size_t kFew = 64;     // up to this number all splits are compared
constexpr std::size_t kFastest = 8;  // splits beside which others are compared

bool IsFaster(const DeviceSplit& a, const DeviceSplit& b) {
  return a.fits != b.fits ? a.fits : a.step_time < b.step_time;
}

bool Fits(const PostTrainingParts& parts, const SplitStep& step) {
  const TrainingReport& update = step.learning.update;
  return step.rollouts.infeasible.empty() && update.infeasible.empty() &&
         step.hand_over.host <= parts.cluster.device.host.memory;
}

// Indices of the fastest splits. Splits that do not fit come last, as `IsFaster` orders them.
std::vector<std::size_t> FastestOf(const std::map<std::size_t, DeviceSplit>& compared) {
  std::vector<std::size_t> places;
  for (const auto& [place, split] : compared) places.push_back(place);
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return IsFaster(compared.at(a), compared.at(b)); });
  places.resize(std::min(places.size(), kFastest));
  return places;
}

// With one step off-policy, the part of the rollouts that training does not hide.
Seconds ExposedRollouts(const PostTraining& asked, Seconds generation, Seconds learned) {
  if (asked.steps_off == 0) return Figure("Exposed rollouts", generation);
  return Figure("Exposed rollouts", max(Seconds(), generation - learned),
                "the generation pool works on the next step while this one is trained");
}

// Times the passes that score the samples; a pass that is off takes no time.
void TimeScoring(const PostTraining& asked, Seconds pass, PostTrainingTime& time) {
  if (asked.reward_model)
    time.reward = Figure("Reward model", pass, "one forward pass of a model of the policy's size");
  if (asked.old_log_probs)
    time.old_log_probs = Figure("Policy log-probs", pass, "one forward pass by the training framework");
  if (asked.reference) time.reference = Figure("Reference log-probs", pass, "one forward pass of the reference model");
  if (asked.algorithm == RlAlgorithm::kPpo) time.values = Figure("Values", pass, "one forward pass of the critic");
}

}  // namespace

SplitStep StepOn(const StepInputs& inputs, const Samples& sampled, const Pools& pools) {
  SplitStep step;
  step.split.generation_devices = static_cast<Count>(pools.generation);
  step.split.training_devices = static_cast<Count>(pools.training);
  step.rollouts = TimeRollouts(inputs, pools.generation, sampled);
  step.learning = TimeLearning(inputs, pools.training, sampled);
  if (!step.learning.issues.empty()) return step;
  step.hand_over = TimeHandOver(inputs, pools, step.learning);

  PostTrainingTime& time = step.time;
  TimeScoring(inputs.asked, step.learning.pass, time);
  time.training = step.learning.training;
  time.weight_sync = step.hand_over.weight_sync;
  time.engine_switch = step.hand_over.engine_switch;
  step.learned = Figure(
      "Learning", time.reward + time.old_log_probs + time.reference + time.values + time.training + time.engine_switch,
      "passes that score the samples, training, and swapping of models");
  time.generation = ExposedRollouts(inputs.asked, step.rollouts.time, step.learned);
  step.split.step_time = Figure("Post-training step", time.generation + step.learned + time.weight_sync,
                                "rollouts, scoring, training and the way of the weights");
  step.split.fits = Fits(inputs.parts, step);
  return step;
}

std::vector<DeviceSplit> SplitsOf(const TrainingRun& training, const ServingLoad& serving, Count devices) {
  const Count replica = DevicesPerReplica(serving.mapping), copy = ModelParallelDevices(training.mapping);
  std::vector<DeviceSplit> splits;
  for (Count generation = replica; generation + copy <= devices; generation += replica) {
    if ((devices - generation) % copy == 0) splits.push_back({generation, devices - generation, {}, false});
  }
  return splits;
}

// More devices for generation make the rollouts shorter and training longer, so the step time falls and then rises with
// them, but not smoothly: whole batches and whole samples per device move it by some per cent. So splits at equal
// distances are compared, then those halfway to the neighbors of several of the fastest, until these are neighbors.
BestSplit FindBestSplit(const StepInputs& inputs, const Samples& sampled, const std::vector<DeviceSplit>& splits) {
  std::map<std::size_t, DeviceSplit> compared;
  const auto compare = [&](std::size_t place) {
    const auto [entry, is_new] = compared.try_emplace(place);
    if (!is_new) return;
    SplitStep step = StepOn(inputs, sampled, {splits[place].generation_devices, splits[place].training_devices});
    if (!step.learning.issues.empty()) step.split.fits = false;
    entry->second = step.split;
  };
  std::size_t distance = (splits.size() + kFew - 1) / kFew;
  for (std::size_t place = 0; place < splits.size(); place += distance) compare(place);
  if (!splits.empty()) compare(splits.size() - 1);
  while (distance > 1) {
    distance = (distance + 1) / 2;
    for (const std::size_t place : FastestOf(compared)) {
      if (place >= distance) compare(place - distance);
      if (place + distance < splits.size()) compare(place + distance);
    }
  }
  BestSplit found;
  for (const auto& [place, split] : compared) {
    if (!(split.step_time > Seconds{})) continue;
    if (found.compared.empty() || IsFaster(split, found.best)) found.best = split;
    found.compared.push_back(split);
  }
  return found;
}

}  // namespace slipstick
