// The value of a formula of an explanation, read from its text: + - * / ( ), numbers, symbols, and the functions of
// quantity.h.
#pragma once

#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/operation.h"
#include "tests/support/operation_value.h"

namespace slipstick::testing {

struct FormulaResult {
  double value = 0;
  std::string fault;  // "" if the text is valid and every symbol is bound
};

class FormulaReader {
 public:
  FormulaReader(std::string_view text, const std::map<std::string, double>& symbols) : text_(text), symbols_(symbols) {}

  FormulaResult Read() {
    const double value = Sum();
    if (fault_.empty() && Peek() != '\0') Fail("unexpected '" + std::string(text_.substr(place_, 12)) + "'");
    return fault_.empty() ? FormulaResult{value, ""} : FormulaResult{0, fault_};
  }

 private:
  double Sum() {
    double sum = Product();
    while (fault_.empty()) {
      if (Take('+')) {
        sum += Product();
      } else if (Take('-')) {
        sum -= Product();
      } else {
        break;
      }
    }
    return sum;
  }

  double Product() {
    double product = Factor();
    while (fault_.empty()) {
      if (Take('*')) {
        product *= Factor();
      } else if (Take('/')) {
        product /= Factor();
      } else {
        break;
      }
    }
    return product;
  }

  double Factor() {
    if (Take('-')) return -Factor();
    if (Take('(')) {
      const double inner = Sum();
      return Expect(')'), inner;
    }
    const char c = Peek();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return Number();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') return SymbolOrCall();
    return Fail(c == '\0' ? "ends early" : "unexpected '" + std::string(1, c) + "'");
  }

  double Number() {
    const std::string rest(text_.substr(place_));
    char* end = nullptr;
    const double value = std::strtod(rest.c_str(), &end);
    place_ += static_cast<std::size_t>(end - rest.c_str());
    return value;
  }

  double SymbolOrCall() {
    const std::size_t start = place_;
    while (place_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[place_])) != 0 || text_[place_] == '_'))
      ++place_;
    const std::string name(text_.substr(start, place_ - start));
    if (!Take('(')) {
      const auto found = symbols_.find(name);
      return found != symbols_.end() ? found->second : Fail("'" + name + "' has no value");
    }
    std::vector<double> arguments;
    do {
      arguments.push_back(Sum());
    } while (fault_.empty() && Take(','));
    Expect(')');
    struct Function {
      Op op;
      std::size_t least, most;  // number of arguments
    };
    constexpr std::size_t kAny = static_cast<std::size_t>(-1);
    constexpr std::array<Function, 10> kFunctions{{{Op::kMax, 2, kAny},
                                                   {Op::kMin, 2, kAny},
                                                   {Op::kSqrt, 1, 1},
                                                   {Op::kPow, 2, 2},
                                                   {Op::kLog2, 1, 1},
                                                   {Op::kLog, 1, 1},
                                                   {Op::kExp, 1, 1},
                                                   {Op::kCeil, 1, 1},
                                                   {Op::kFloor, 1, 1},
                                                   {Op::kNorm, 3, 3}}};
    for (const Function& function : kFunctions) {
      if (NameOf(function.op) == name && arguments.size() >= function.least && arguments.size() <= function.most)
        return ValueOf(function.op, arguments);
    }
    return Fail("there is no function '" + name + "'");
  }

  char Peek() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
    return place_ < text_.size() ? text_[place_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++place_;
    return true;
  }
  void Expect(char c) {
    if (fault_.empty() && !Take(c)) Fail(std::string("expected '") + c + "'");
  }
  double Fail(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
    place_ = text_.size();
    return 0;
  }

  std::string_view text_;
  const std::map<std::string, double>& symbols_;
  std::size_t place_ = 0;
  std::string fault_;
};

inline FormulaResult EvaluateFormula(std::string_view text, const std::map<std::string, double>& symbols) {
  return FormulaReader(text, symbols).Read();
}

}  // namespace slipstick::testing
