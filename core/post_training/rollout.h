// Rollouts: every sample of a step, from its prompt to the end of its response, on the replicas of the serving part.
#pragma once

#include <string>
#include <vector>

#include "core/base/trace.h"
#include "core/post_training/post_training.h"

namespace slipstick {

// Response lengths of a step: the means of equal shares of the samples in ascending order, and the longest one. In tokens.
struct ResponseLengths {
  std::vector<double> shares;
  double longest = 1;
  [[nodiscard]] double Mean() const;
  // The mean length of the sequence, prompt included, that a token belongs to.
  [[nodiscard]] double MeanOfToken(double prompt) const;
};
ResponseLengths ResponseLengthsOf(const PostTraining& asked, const ServingLoad& load, double samples);

struct Rollouts {
  Seconds time;
  double running = 0, slots_in_use = 0;
  Count devices = 0;       // that generate: whole replicas
  std::string infeasible;  // "" if the engine holds the model and a sequence
};
Count DevicesPerReplica(const ServingMapping& mapping);
// On at most `devices`.
Rollouts TimeRollouts(const PostTraining& asked, const PostTrainingParts& parts, Count devices, double samples,
                      const ResponseLengths& lengths, Trace& trace);

}  // namespace slipstick
