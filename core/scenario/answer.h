// The answer of a command as JSON text, or the issues of its request.
#pragma once

#include <string>

#include "core/base/issue.h"

namespace slipstick {

struct Answer {
  // The answer, or {"issues": [{"path","message","fixes": [{"path","value","label","also"}]}]}. A fix without a value
  // leaves its member out; "also" lists further changes as {"path","value"}.
  std::string text;
  Issues issues;  // the same issues; empty if there is an answer
};

Answer WrongRequest(Issues issues);

// A change as a command-line argument, "training.mapping.tp=4", or "without PATH" for a member to leave out.
std::string AssignmentText(const Change& change);

}  // namespace slipstick
