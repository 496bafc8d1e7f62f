// Prefill passes of an engine that prefills before it decodes: it runs pass after pass until no request arrived during
// an earlier step, and only then decodes. With arrivals at a rate L, decode steps of d and passes of p,
//
//   (1 - exp(-L d)) exp(L p)
//
// passes run between two decode steps on average: one if a request arrived in the decode step, and another after each
// pass in which one arrived. The prompts that arrive between two decode steps are spread over these passes. As a pass
// takes at least its launches and the reading of the weights, passes hold few prompts if prompts are short.
#pragma once

#include <functional>

#include "core/engine_step/deployment.h"
#include "core/serving/prompt_time.h"

namespace slipstick {

// Prefill time per prompt in prefill-only passes of `prompts` each. While others decode, the host launches these passes
// ahead, unless prefill passes and decode steps take turns.
Seconds PrefillApart(const Deployment& deployment, Ratio prompts, const PromptTokens& prompt);

// Mean time of passes with a whole number of prompts each: `prompts` on average, at most `most`. Many have one prompt,
// which takes more than its share of a larger pass. If a Poisson number has the mean m, its non-zero values have the
// mean p = m / (1 - exp(-m)), and a share p - m of them are 1; larger ones are treated as equal to their mean.
Seconds MeanOver(const std::function<Seconds(double prompts)>& pass_of, Ratio prompts, Ratio most);

// Time of a mean pass: interpolated, because a pass holds a whole number of prompts, at most `most`.
Seconds MeanPass(const Deployment& deployment, Ratio prompts, Ratio most, const PromptTokens& prompt);

// Mean prompts per pass, from 1 to `most`, if `ending` requests end between two decode steps and as many arrive.
// `decode`: time of a decode step.
Ratio PromptsOfPass(const Deployment& deployment, Seconds decode, Ratio ending, Ratio most, const PromptTokens& prompt);

}  // namespace slipstick
