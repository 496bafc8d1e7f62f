// Explanations of a report: each number that it shows, with its formula, its terms, and the figures and inputs that
// they come from. All of it is derived from the tape (tape.h, provenance.h).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/tape.h"

namespace slipstick {

struct Term {
  std::string symbol;
  double value = 0;  // in base units
  Dimension dimension{};
  std::string origin;  // path of the figure, input or constant; "": a number of the formula itself
  std::size_t figure;  // index of that figure in the list; kNoFigure for an input
};
inline constexpr std::size_t kNoFigure = static_cast<std::size_t>(-1);

// One option of a choice, with the value by which the options were compared.
struct Option {
  std::string name;  // "tile 128 × 256"
  double value = 0;  // in base units
  bool is_chosen = false;
};

// kProcedure: computed step by step, by a simulation or a search, without a formula; the note says which.
enum class FigureKind { kFormula, kChoice, kConstant, kProcedure };

struct FigureRecord {
  std::string path;     // path in the report, or the question's path and the symbol: "training.step_time_s"
  std::string symbol;   // name in formulas
  std::string title;    // short
  std::string note;     // meaning and validity
  std::string source;   // source of the formula
  std::string formula;  // + - * / ( ), numbers, symbols and the functions of quantity.h; "" for other kinds
  double value = 0;
  Dimension dimension{};
  std::vector<Term> terms;
  FigureKind kind = FigureKind::kFormula;
  std::vector<Option> among{};   // the options of a choice
  Dimension compared{};          // dimension of the options' values
  std::vector<double> shares{};  // per term: % change of the figure per % change of the term; 0: unknown
};

// A number that a report shows at a path. It has no node if its value is 0 because the scenario lacks that part.
struct ShownNumber {
  std::string path;
  Dimension dimension{};
  double value = 0;
  const Node* node = nullptr;
};

// Rules that set inputs, keyed by the paths of these inputs: "dense peak over four".
using InputRules = std::map<std::string_view, std::string_view>;

// The figures of all numbers that a report shows, preceded by the figures that they rest on. A figure that has no path
// in the report is named by its symbol, below the question that met it first. Figures that use an input which was set
// by a rule, not a measurement, cite the rule.
std::vector<FigureRecord> Explain(std::span<const ShownNumber> shown, const InputRules& rules = {});

}  // namespace slipstick
