// What every verb gives: JSON text, either the answer or the issues of the request.
#pragma once

#include <string>

#include "core/base/issue.h"

namespace slipstick {

struct Answer {
  // The answer, or {"issues": [{"path","message","fixes": [{"path","value","label","also"}]}]}. A fix without a value leaves its
  // member out; "also" lists what has to change with it, as {"path","value"}.
  std::string text;
  Issues issues;  // the same issues; empty if answered
};

Answer WrongRequest(Issues issues);

// A change as the command line takes it: "training.mapping.tp=4"; "without PATH" where a member is to be left out.
std::string AssignmentText(const Change& change);

}  // namespace slipstick
