#include "core/post_training/split.h"

#include <algorithm>
#include <map>

namespace slipstick {
namespace {

constexpr std::size_t kFew = 24;  // splits that are all compared

bool IsFaster(const DeviceSplit& a, const DeviceSplit& b) {
  return a.fits != b.fits ? a.fits : a.step_time < b.step_time;
}

bool Fits(const PostTrainingParts& parts, const SplitStep& step) {
  const TrainingReport& update = step.learning.update;
  return step.rollouts.infeasible.empty() && update.infeasible.empty() &&
         step.hand_over.host <= parts.cluster.device.host.memory;
}

// Under one step off, what training does not hide of the rollouts.
Seconds ExposedRollouts(const PostTraining& asked, Seconds generation, Seconds learned, Trace& trace) {
  constexpr Note kNote{"Exposed rollouts", "", "", "post_training.time_s.generation"};
  if (asked.steps_off == 0) {
    FIGURE(trace, exposed_generation, 1 * generation, kNote, generation);
    return exposed_generation;
  }
  FIGURE(trace, exposed_generation, max(0 * generation, generation - learned),
         (Note{"Exposed rollouts", "the generation pool works on the next step while this one is trained", "",
               "post_training.time_s.generation"}),
         generation, learned);
  return exposed_generation;
}

// The passes that score the samples; one that is off takes no time.
void TimeScoring(const PostTraining& asked, Seconds pass, PostTrainingTime& time, Trace& trace) {
  const auto score = [&](bool is_on, std::string_view symbol, std::string_view input, const Note& note) {
    const Seconds scored = is_on ? pass : Seconds{};
    if (is_on) {
      trace.Record(symbol, "1 * pass", scored, note, "pass", pass);
    } else {
      trace.Input(symbol, scored, input);
    }
    return scored;
  };
  time.reward =
      score(asked.reward_model, "reward", "post_training.reward_model",
            {"Reward model", "one forward pass of a model of the policy's size", "", "post_training.time_s.reward"});
  time.old_log_probs = score(
      asked.old_log_probs, "old_log_probs", "post_training.old_log_probs",
      {"Policy log-probs", "one forward pass by the training framework", "", "post_training.time_s.old_log_probs"});
  time.reference =
      score(asked.reference, "reference", "post_training.reference",
            {"Reference log-probs", "one forward pass of the reference model", "", "post_training.time_s.reference"});
  time.values = score(asked.algorithm == RlAlgorithm::kPpo, "values", "post_training.algorithm",
                      {"Values", "one forward pass of the critic", "", "post_training.time_s.values"});
}

// The devices that work, where they are not chosen.
void ExplainDevices(const PostTraining& asked, const DeviceSplit& split, Trace& trace) {
  if (asked.placement == RlPlacement::kPools && !asked.generation_devices) return;
  const double generation_devices = static_cast<double>(split.generation_devices);
  const double training_devices = static_cast<double>(split.training_devices);
  const bool is_colocated = asked.placement == RlPlacement::kColocated;
  trace.Input("generation_devices", generation_devices,
              is_colocated ? "training.devices" : "post_training.generation_devices");
  trace.Input("training_devices", training_devices, "training.devices");
}

}  // namespace

SplitStep StepOn(const PostTraining& asked, const PostTrainingParts& parts, const Samples& sampled,
                 const DeviceSplit& split, Trace& trace) {
  SplitStep step;
  step.split = split;
  ExplainDevices(asked, split, trace);
  step.rollouts = TimeRollouts(asked, parts, split.generation_devices, sampled, trace);
  step.learning = TimeLearning(asked, parts, split.training_devices, sampled, trace);
  if (!step.learning.issues.empty()) return step;
  step.hand_over = TimeHandOver(asked, parts, split, step.learning.update.memory, trace);

  const Seconds generation = step.rollouts.time, pass = step.learning.pass, training = step.learning.training;
  const Seconds weight_sync = step.hand_over.weight_sync, engine_switch = step.hand_over.engine_switch;
  TimeScoring(asked, pass, step.time, trace);
  const Seconds reward = step.time.reward, old_log_probs = step.time.old_log_probs, reference = step.time.reference,
                values = step.time.values;
  FIGURE(trace, learned, reward + old_log_probs + reference + values + training + engine_switch,
         (Note{"Learning", "passes that score the samples, training, and swapping of models", "",
               "post_training.learning_s"}),
         reward, old_log_probs, reference, values, training, engine_switch);
  const Seconds exposed_generation = ExposedRollouts(asked, generation, learned, trace);
  FIGURE(trace, step_time, exposed_generation + learned + weight_sync,
         (Note{"Post-training step", "rollouts, scoring, training and the way of the weights", "",
               "post_training.step_time_s"}),
         exposed_generation, learned, weight_sync);
  step.time.generation = exposed_generation;
  step.time.training = training;
  step.time.weight_sync = weight_sync;
  step.time.engine_switch = engine_switch;
  step.learned = learned;
  step.split.step_time = step_time;
  step.split.fits = Fits(parts, step);
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

// The more devices generate, the shorter the rollouts and the longer training, so the step has one valley: it is
// narrowed down by thirds.
BestSplit FindBestSplit(const PostTraining& asked, const PostTrainingParts& parts, const Samples& sampled,
                        const std::vector<DeviceSplit>& splits) {
  Trace off = Trace::Off();
  std::map<std::size_t, DeviceSplit> compared;
  const auto at = [&](std::size_t place) {
    const auto [entry, is_new] = compared.try_emplace(place);
    if (is_new) {
      SplitStep step = StepOn(asked, parts, sampled, splits[place], off);
      if (!step.learning.issues.empty()) step.split.fits = false;
      entry->second = step.split;
    }
    return entry->second;
  };
  std::size_t low = 0, high = splits.size();
  while (high - low > kFew) {
    const std::size_t third = (high - low) / 3, left = low + third, right = high - 1 - third;
    const DeviceSplit a = at(left), b = at(right);
    // Where neither fits, the side with the most training devices is the likelier.
    const bool goes_left = a.fits || b.fits ? IsFaster(a, b) : true;
    goes_left ? high = right : low = left;
  }
  BestSplit found;
  for (std::size_t i = low; i < high; ++i) at(i);
  for (const auto& [place, split] : compared) {
    if (!(split.step_time > Seconds{})) continue;
    if (found.compared.empty() || IsFaster(split, found.best)) found.best = split;
    found.compared.push_back(split);
  }
  return found;
}

}  // namespace slipstick
