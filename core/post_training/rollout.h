// Rollouts: every sample of a step, from its prompt to the end of its response, on the replicas of the serving part.
#pragma once

#include <string>
#include <vector>

#include "core/post_training/step_inputs.h"

namespace slipstick {

// Response lengths of a step, in tokens: the means of equal shares of the samples in ascending order, and the longest
// one.
struct ResponseLengths {
  std::vector<double> shares;
  double longest = 1;
  [[nodiscard]] double Mean() const;
  // The mean sequence length, including the prompt, over tokens rather than sequences.
  [[nodiscard]] double MeanOfToken(double prompt) const;
};
struct Samples {
  Ratio count = 1, mean_response, longest_response;
  ResponseLengths lengths;
};
// `output`: mean length of a response before the longest are cut off.
Samples SamplesOf(const PostTraining& asked, const ServingLoad& load, Ratio output);

struct Rollouts {
  Seconds time;
  Ratio running = 0, slots_in_use = 0;
  std::string infeasible;  // "" if the engine can hold the model and a sequence
};
// Times the rollouts on at most `devices` devices.
Rollouts TimeRollouts(const StepInputs& inputs, Ratio devices, const Samples& sampled);

}  // namespace slipstick
