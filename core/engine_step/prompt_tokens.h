// Prompt tokens that a prefill computes, at least one; the others hit the prefix cache.
#pragma once

#include "core/base/figure.h"
#include "core/engine_step/serving_load.h"

namespace slipstick {

struct PromptTokens {
  Ratio tokens = 1, cached = 0;
};
inline PromptTokens ComputedTokens(const ServingLoad& load) {
  const Ratio prompt(load.prompt);
  const Ratio tokens = Figure("Prompt tokens computed", max(1.0, ceil(prompt * (1 - load.prefix_hit))),
                              "the others hit the prefix cache");
  return {tokens, Figure("Prompt tokens in the prefix cache", prompt - tokens)};
}

}  // namespace slipstick
