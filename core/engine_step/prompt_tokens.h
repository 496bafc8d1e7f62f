// Prompt tokens that a prefill computes, at least one; the other tokens hit the prefix cache.
#pragma once

#include "core/engine_step/serving_load.h"

namespace slipstick {

struct PromptTokens {
  Ratio tokens = 1, cached = 0;
};
PromptTokens ComputedTokens(const ServingLoad& load);

}  // namespace slipstick
