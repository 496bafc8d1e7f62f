// Which activations the backward pass recomputes.
#pragma once

#include "core/training_stage/training_run.h"

namespace slipstick {

// Selective recomputation of a layer. Each part is 1 or 0, as a Ratio, which keeps the node of the choice.
struct RecomputePlan {
  Ratio norms = 0;                   // norms and activation functions
  Ratio latents = 0;                 // queries, keys and values that MLA projects up from its latents
  Ratio core = 0;                    // the attention core
  bool framework_selection = false;  // operators that the framework selects
  Ratio share = 0;                   // share of the forward pass that the framework's selection repeats
  friend bool operator==(const RecomputePlan&, const RecomputePlan&) = default;
};

struct RecomputeChoice {
  RecomputePlan selective;   // of the layers that are not recomputed as a whole
  Ratio full_share = 0;      // share of the layers that are recomputed as a whole
  bool is_leading = false;   // they are the first layers of each virtual stage; false: the same share of every stage
  Ratio per_checkpoint = 1;  // mean number of layers per checkpoint
  // The share for MTP modules, which are no layers of a virtual stage.
  [[nodiscard]] Ratio ModuleShare() const { return is_leading ? Ratio(0) : full_share; }
  friend bool operator==(const RecomputeChoice&, const RecomputeChoice&) = default;
};

}  // namespace slipstick
