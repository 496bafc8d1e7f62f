#include "core/engine_step/prompt_tokens.h"

namespace slipstick {

PromptTokens ComputedTokens(const ServingLoad& load, Trace& trace) {
  const auto prompt = static_cast<double>(load.prompt);
  const double prefix_hit = load.prefix_hit;
  FIGURE(trace, tokens, max(1.0, ceil(prompt * (1 - prefix_hit))),
         (Note{"Prompt tokens computed", "the others hit the prefix cache"}), prompt, prefix_hit);
  FIGURE(trace, cached, prompt - tokens, (Note{"Prompt tokens in the prefix cache", ""}), prompt, tokens);
  return {tokens, cached};
}

}  // namespace slipstick
