#include "core/engine_step/prompt_tokens.h"

#include "core/base/figure.h"

namespace slipstick {

PromptTokens ComputedTokens(const ServingLoad& load) {
  const Ratio prompt(load.prompt);
  const Ratio tokens = Figure("Prompt tokens computed", max(1.0, ceil(prompt * (1 - load.prefix_hit))),
                              "the others hit the prefix cache");
  return {tokens, Figure("Prompt tokens in the prefix cache", prompt - tokens)};
}

}  // namespace slipstick
