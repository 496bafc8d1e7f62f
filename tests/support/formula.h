// The formula language of core/base/trace.h, evaluated: + - * / ( ), numbers, symbols, and the functions of quantity.h.
#pragma once

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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
    return {value, fault_};
  }

 private:
  double Sum() {
    double value = Product();
    while (fault_.empty()) {
      if (Take('+')) {
        value += Product();
      } else if (Take('-')) {
        value -= Product();
      } else {
        break;
      }
    }
    return value;
  }

  double Product() {
    double value = Factor();
    while (fault_.empty()) {
      if (Take('*')) {
        value *= Factor();
      } else if (Take('/')) {
        value /= Factor();
      } else {
        break;
      }
    }
    return value;
  }

  double Factor() {
    if (Take('-')) return -Factor();
    if (Take('(')) {
      const double value = Sum();
      Expect(')');
      return value;
    }
    const char c = Peek();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return Number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return SymbolOrCall();
    Fail(c == '\0' ? "ends early" : "unexpected '" + std::string(1, c) + "'");
    return 0;
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
    while (place_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[place_])) || text_[place_] == '_')) ++place_;
    const std::string name(text_.substr(start, place_ - start));
    if (!Take('(')) {
      const auto found = symbols_.find(name);
      if (found == symbols_.end()) Fail("'" + name + "' has no value");
      return found == symbols_.end() ? 0 : found->second;
    }
    std::vector<double> arguments;
    do {
      arguments.push_back(Sum());
    } while (fault_.empty() && Take(','));
    Expect(')');
    return Call(name, arguments);
  }

  double Call(const std::string& name, const std::vector<double>& x) {
    const std::size_t n = x.size();
    if ((name == "max" || name == "min") && n >= 2) {
      double value = x[0];
      for (const double one : x) value = name == "max" ? std::fmax(value, one) : std::fmin(value, one);
      return value;
    }
    if (name == "sqrt" && n == 1) return std::sqrt(x[0]);
    if (name == "log2" && n == 1) return std::log2(x[0]);
    if (name == "log" && n == 1) return std::log(x[0]);
    if (name == "exp" && n == 1) return std::exp(x[0]);
    if (name == "ceil" && n == 1) return std::ceil(x[0]);
    if (name == "floor" && n == 1) return std::floor(x[0]);
    if (name == "pow" && n == 2) return std::pow(x[0], x[1]);
    if (name == "norm" && n == 3) {
      const double large = std::fmax(x[0], x[1]), small = std::fmin(x[0], x[1]);
      return large > 0 ? large * std::pow(1 + std::pow(small / large, x[2]), 1 / x[2]) : 0;
    }
    Fail("there is no function '" + name + "' of " + std::to_string(n));
    return 0;
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
  void Fail(const std::string& fault) {
    if (fault_.empty()) fault_ = fault;
    place_ = text_.size();
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
