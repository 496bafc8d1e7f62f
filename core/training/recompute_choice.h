// Which activations the backward pass recomputes.
#pragma once

#include "core/training/training_run.h"

namespace slipstick {

// Selective recomputation of a layer.
struct RecomputePlan {
  bool norms = false;                // norms and activation functions
  bool core = false;                 // the attention core
  bool framework_selection = false;  // operators that the framework selects
  double share = 0;                  // of the forward pass, that the framework's selection repeats
  friend bool operator==(const RecomputePlan&, const RecomputePlan&) = default;
};

struct RecomputeChoice {
  RecomputePlan selective;  // of the layers that are not recomputed as a whole
  double full_share = 0;    // share of the layers that are
  friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};

// For none, selective and full. auto starts as none; recompute.h decides it.
RecomputeChoice ChoiceFor(const TrainingRun& run);

}  // namespace slipstick
