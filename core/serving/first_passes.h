// Passes over prompts under an engine that prefills before it decodes. It runs pass after pass until nobody came in an
// earlier step, and only then decodes. With arrivals at a rate L, decode steps of d and passes of p,
//
//   (1 - exp(-L d)) exp(L p)
//
// passes in the mean come between two decode steps: one if somebody came in the decode step, and another after each
// unless nobody came in it. The prompts that come between two decode steps are spread over these passes, and a pass
// takes no less than its launches and the reading of the weights. So with short prompts a pass holds few of them.
#pragma once

#include <functional>

#include "core/engine_step/deployment.h"
#include "core/engine_step/prompt_tokens.h"

namespace slipstick {

// Time of a prompt in passes of `prompts` that only prefill. While others decode, the host launches them ahead, unless
// prefills and decode steps take turns.
Seconds PrefillApart(const Deployment& deployment, Ratio prompts, const PromptTokens& prompt);

// Mean time of passes that hold some prompts each: whole ones, `prompts` in the mean and at most `most`. Many hold one,
// which takes more than its part of a larger pass. Of a Poisson number with a mean of m, those that are not zero have a
// mean p = m / (1 - exp(-m)), and a share p - m of them are one; larger ones count as of their mean.
Seconds MeanOver(const std::function<Seconds(double prompts)>& pass_of, Ratio prompts, Ratio most);

// A pass holds whole prompts: with a mean of `prompts`, at most `most`, its time lies between those of whole numbers.
Seconds MeanPass(const Deployment& deployment, Ratio prompts, Ratio most, const PromptTokens& prompt);

// Mean prompts of a pass if `ending` requests end, and as many come, between two decode steps that take `decode`; from
// 1 to `most`.
Ratio PromptsOfPass(const Deployment& deployment, Seconds decode, Ratio ending, Ratio most, const PromptTokens& prompt);

}  // namespace slipstick
