// Sessions: a user or an agent sends one turn after the other, each with the whole conversation so far. They determine
// the prompts of a load and their prefix-cache hits.
#pragma once

#include "core/base/field.h"
#include "core/base/quantity.h"
#include "core/base/tally.h"

namespace slipstick {

struct Sessions {
  Tally turns = 1;          // per session
  Tally system_prompt = 0;  // tokens at the beginning of every session
  Tally opening = 0;        // tokens that follow in each session before the first turn
  Tally added = 1;          // tokens that the user or a tool adds before each answer
  Seconds gap;              // mean time between turns, exponentially distributed
};
FIELDS_OF(Sessions);

// Prompt of turn k: system prompt, opening, k additions and k - 1 answers. If Number is Ratio, results have nodes.
template <class Number>
Number PromptOfTurn(const Sessions& sessions, Number output, Number turn) {
  return Number(sessions.system_prompt) + Number(sessions.opening) + turn * Number(sessions.added) +
         (turn - 1) * output;
}
// Tokens at the end of a turn, which the next turn reuses from the prefix cache.
template <class Number>
Number ContextAfter(const Sessions& sessions, Number output, Number turn) {
  return Number(sessions.system_prompt) + Number(sessions.opening) + turn * (Number(sessions.added) + output);
}
inline Count LongestPrompt(const Sessions& sessions, Count output) {
  return PromptOfTurn<Count>(sessions, output, sessions.turns);
}
// Mean prompt over all turns, rounded.
inline Count MeanPrompt(const Sessions& sessions, Count output) {
  return (PromptOfTurn<Count>(sessions, output, 1) + LongestPrompt(sessions, output) + 1) / 2;
}

}  // namespace slipstick
