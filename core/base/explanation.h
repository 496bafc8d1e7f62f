// Explanations of a report: each number that it shows, with its formula, its terms, and the figures and inputs that
// they come from. All of it follows from what the tape recorded (tape.h, provenance.h).
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
  std::size_t figure;  // place of that figure among all; kNoFigure of an input
};
inline constexpr std::size_t kNoFigure = static_cast<std::size_t>(-1);

// What a choice chose among, by what it compared.
struct Option {
  std::string name;  // "tile 128 × 256"
  double value = 0;  // in base units
  bool is_chosen = false;
};

// kProcedure: found step by step, by a simulation or a search that no formula stands for; the note says which.
enum class FigureKind { kFormula, kChoice, kConstant, kProcedure };

struct FigureRecord {
  std::string path;     // that of the report, or of the question and the symbol: "training.step_time_s"
  std::string symbol;   // name in formulas
  std::string title;    // short
  std::string note;     // meaning and validity
  std::string source;   // source of the formula
  std::string formula;  // + - * / ( ), numbers, symbols and the functions of quantity.h; "" of other kinds
  double value = 0;
  Dimension dimension{};
  std::vector<Term> terms;
  FigureKind kind = FigureKind::kFormula;
  std::vector<Option> among{};   // of a choice
  Dimension compared{};          // of their values
  std::vector<double> shares{};  // by how many per cent it moves when a term moves by one; 0 where that is not known
};

// A number that a report shows at a path. Without a node: 0, of what the scenario does not have.
struct ShownNumber {
  std::string path;
  Dimension dimension{};
  double value = 0;
  const Node* node = nullptr;
};

// Rules that set inputs, by the paths of these: "dense peak over four".
using InputRules = std::map<std::string_view, std::string_view>;

// The figures of all numbers that a report shows, and those that they rest on, which come before them. One of these
// that no path shows is called by its symbol below the question that met it first. Figures that use an input which a
// rule set, not a measurement, cite the rule.
std::vector<FigureRecord> Explain(std::span<const ShownNumber> shown, const InputRules& rules = {});

}  // namespace slipstick
