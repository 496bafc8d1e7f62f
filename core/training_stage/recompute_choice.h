// Which activations the backward pass recomputes.
#pragma once

#include "core/training_stage/training_run.h"

namespace slipstick {

// Selective recomputation of a layer. Of its parts 1 or 0: a ratio remembers what chose it.
struct RecomputePlan {
  Ratio norms = 0;                   // norms and activation functions
  Ratio latents = 0;                 // queries, keys and values that MLA projects up from its latents
  Ratio core = 0;                    // the attention core
  bool framework_selection = false;  // operators that the framework selects
  Ratio share = 0;                   // of the forward pass, that the framework's selection repeats
  friend bool operator==(const RecomputePlan&, const RecomputePlan&) = default;
};

struct RecomputeChoice {
  RecomputePlan selective;   // of the layers that are not recomputed as a whole
  Ratio full_share = 0;      // share of the layers that are
  bool is_leading = false;   // these are the first of each virtual stage; else the same share of every stage
  Ratio per_checkpoint = 1;  // layers per checkpoint, in the mean
  friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};

}  // namespace slipstick
