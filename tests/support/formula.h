// A formula of an explanation with the values of its symbols.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/formula.h"

namespace slipstick::testing {

struct FormulaResult {
  double value = 0;
  std::string fault;  // "" if the text is valid and every symbol is bound
};

inline FormulaResult EvaluateFormula(std::string_view text, const std::map<std::string, double>& symbols) {
  std::vector<std::string_view> names;
  std::vector<double> values;
  for (const auto& [name, value] : symbols) names.push_back(name), values.push_back(value);
  const Result<Formula> formula = Formula::Parse(text, names);
  return formula ? FormulaResult{formula->Value(values), ""} : FormulaResult{0, formula.issues.front().message};
}

}  // namespace slipstick::testing
