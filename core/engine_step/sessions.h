// Sessions: a user or an agent sends one turn after the other, each with all that was said before it. They give the
// prompts of a load, and what of them is in the prefix cache.
#pragma once

#include "core/base/field.h"
#include "core/base/quantity.h"
#include "core/base/tally.h"

namespace slipstick {

struct Sessions {
  Tally turns = 1;          // of a session
  Tally system_prompt = 0;  // tokens that all sessions begin with
  Tally opening = 0;        // tokens that a session begins with after those
  Tally added = 1;          // tokens that the user or a tool adds before each answer
  Seconds gap;              // mean, exponential
};
FIELDS_OF(Sessions);

// Turn k has the system prompt, the opening, k additions and the k - 1 answers before it; these formulas remember.
template <class Number>
Number PromptOfTurn(const Sessions& sessions, Number output, Number turn) {
  return Number(sessions.system_prompt) + Number(sessions.opening) + turn * Number(sessions.added) +
         (turn - 1) * output;
}
// Tokens at the end of a turn, which the next one finds again.
template <class Number>
Number ContextAfter(const Sessions& sessions, Number output, Number turn) {
  return Number(sessions.system_prompt) + Number(sessions.opening) + turn * (Number(sessions.added) + output);
}
inline Count LongestPrompt(const Sessions& sessions, Count output) {
  return PromptOfTurn<Count>(sessions, output, sessions.turns);
}
// Of all turns, rounded.
inline Count MeanPrompt(const Sessions& sessions, Count output) {
  return (PromptOfTurn<Count>(sessions, output, 1) + LongestPrompt(sessions, output) + 1) / 2;
}

}  // namespace slipstick
