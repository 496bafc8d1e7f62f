// Explanations from a tape: the formula of a figure, its terms, and how far each of them moves it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/tape.h"

namespace slipstick {

// A term of a formula: an input, another figure, or an intermediate result that is too long to be written out.
struct FormulaTerm {
  std::string symbol;
  const Node* node = nullptr;
  double derivative = 0;  // of the figure by this term, the other terms kept
};

struct NodeFormula {
  std::string text;  // in the language of explanation.h; "" of inputs, choices and procedures
  std::vector<FormulaTerm> terms;
};

// The operations that lead to a node, down to the nearest terms.
NodeFormula FormulaOf(const Node& node);

// "Cost per good die" -> "cost_per_good_die"; an input is called by the last part of its path, without numbers.
std::string SymbolOf(const Node& node);

// The derivatives of a node by every node on its tape up to it, in one pass backwards. Of max, min and choices that of
// what they chose, of steps (ceil, floor) that of the line through them, of procedures the shares that they state.
std::vector<double> DerivativesOf(const Node& node);

// The values of all nodes of a tape where the inputs have other values: choices stay as they were chosen, procedures
// keep what they found.
std::vector<double> Replayed(const Tape& tape, const std::function<double(const Node& input)>& value_of);

}  // namespace slipstick
