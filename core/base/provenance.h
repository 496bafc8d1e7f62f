// Explanations from a tape: the formula of a figure, its terms, and how far each of them moves it.
#pragma once

#include <string>
#include <vector>

#include "core/base/tape.h"

namespace slipstick {

// A term of a formula: an input, another figure, or an intermediate result that is too long to be written out.
struct FormulaTerm {
  std::string symbol;
  const Node* node = nullptr;
  double derivative = 0;  // of the figure by this term, with the other terms held constant; NaN: unknown
};

struct NodeFormula {
  std::string text;  // in the language of explanation.h; "" for inputs, choices and procedures
  std::vector<FormulaTerm> terms;
};

// The operations that lead to a node, down to the nearest terms.
NodeFormula FormulaOf(const Node& node);

// "Cost per good die" -> "cost_per_good_die"; an input's symbol is the last part of its path that is not a number.
std::string SymbolOf(const Node& node);

// The derivatives of a node by every node on its tape up to it, in one backward pass. For max, min and choices they
// follow the chosen operand, for steps (ceil, floor) the line through them, for procedures the shares that these state.
// Not a number where a procedure with an unknown share lies between.
std::vector<double> DerivativesOf(const Node& node);

}  // namespace slipstick
