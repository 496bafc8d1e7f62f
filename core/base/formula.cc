#include "core/base/formula.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>

namespace slipstick {

class Formula::Reader {
 public:
  Reader(std::string_view text, std::span<const std::string_view> names) : text_(text), names_(names) {}

  Result<Formula> Read() {
    Sum();
    if (fault_.empty() && Peek() != '\0') Fail("unexpected '" + std::string(text_.substr(place_, 12)) + "'");
    if (!fault_.empty()) return Issues{{"", fault_}};
    return std::move(formula_);
  }

 private:
  void Add(Op op, std::size_t operands) { formula_.steps_.push_back({Step::Kind::kOperation, op, 0, operands}); }

  void Sum() {
    Product();
    while (fault_.empty()) {
      if (Take('+')) {
        Product(), Add(Op::kAdd, 2);
      } else if (Take('-')) {
        Product(), Add(Op::kSubtract, 2);
      } else {
        break;
      }
    }
  }

  void Product() {
    Factor();
    while (fault_.empty()) {
      if (Take('*')) {
        Factor(), Add(Op::kMultiply, 2);
      } else if (Take('/')) {
        Factor(), Add(Op::kDivide, 2);
      } else {
        break;
      }
    }
  }

  void Factor() {
    if (Take('-')) return Factor(), Add(Op::kNegate, 1);
    if (Take('(')) return Sum(), Expect(')');
    const char c = Peek();
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') return Number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') return SymbolOrCall();
    Fail(c == '\0' ? "ends early" : "unexpected '" + std::string(1, c) + "'");
  }

  void Number() {
    const std::string rest(text_.substr(place_));
    char* end = nullptr;
    const double value = std::strtod(rest.c_str(), &end);
    place_ += static_cast<std::size_t>(end - rest.c_str());
    formula_.steps_.push_back({Step::Kind::kNumber, Op::kSame, value, 0});
  }

  void SymbolOrCall() {
    const std::size_t start = place_;
    while (place_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[place_])) || text_[place_] == '_'))
      ++place_;
    const std::string_view name = text_.substr(start, place_ - start);
    if (!Take('(')) {
      const auto found = std::find(names_.begin(), names_.end(), name);
      if (found == names_.end()) return Fail("'" + std::string(name) + "' has no value");
      return formula_.steps_.push_back(
          {Step::Kind::kSymbol, Op::kSame, 0, static_cast<std::size_t>(found - names_.begin())});
    }
    std::size_t arguments = 0;
    do {
      Sum(), ++arguments;
    } while (fault_.empty() && Take(','));
    Expect(')');
    Call(name, arguments);
  }

  void Call(std::string_view name, std::size_t arguments) {
    struct Function {
      Op op;
      std::size_t least, most;  // arguments
    };
    constexpr std::size_t kAny = -1;
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
      if (NameOf(function.op) == name && arguments >= function.least && arguments <= function.most)
        return Add(function.op, arguments);
    }
    Fail("there is no function '" + std::string(name) + "' of " + std::to_string(arguments));
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
  void Fail(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
    place_ = text_.size();
  }

  std::string_view text_;
  std::span<const std::string_view> names_;
  std::size_t place_ = 0;
  std::string fault_;
  Formula formula_;
};

Result<Formula> Formula::Parse(std::string_view text, std::span<const std::string_view> names) {
  return Reader(text, names).Read();
}

double Formula::Value(std::span<const double> values) const {
  std::vector<double> stack;
  for (const Step& step : steps_) {
    if (step.kind != Step::Kind::kOperation) {
      stack.push_back(step.kind == Step::Kind::kNumber ? step.number : values[step.count]);
    } else {
      const double result = ValueOf(step.op, std::span(stack).last(step.count));
      stack.resize(stack.size() - step.count);
      stack.push_back(result);
    }
  }
  return stack.back();
}

// Forward for the values of all steps, then back from the last one: each step hands its derivative on to its operands.
std::vector<double> Formula::Gradient(std::span<const double> values) const {
  std::vector<double> derivatives(values.size()), results(steps_.size()), by(steps_.size()), operands;
  std::vector<std::size_t> stack, operands_of;  // places of steps; of each step's operands, one after the other
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.kind != Step::Kind::kOperation) {
      results[i] = step.kind == Step::Kind::kNumber ? step.number : values[step.count];
    } else {
      operands.clear();
      for (std::size_t from = stack.size() - step.count; from < stack.size(); ++from) {
        operands.push_back(results[stack[from]]);
        operands_of.push_back(stack[from]);
      }
      results[i] = ValueOf(step.op, operands);
      stack.resize(stack.size() - step.count);
    }
    stack.push_back(i);
  }
  by.back() = 1;
  std::size_t end = operands_of.size();
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    if (step.kind == Step::Kind::kNumber) continue;
    if (step.kind == Step::Kind::kSymbol) {
      derivatives[step.count] += by[i];
      continue;
    }
    const auto own = std::span(operands_of).subspan(end -= step.count, step.count);
    if (by[i] == 0) continue;
    operands.clear();
    for (const std::size_t operand : own) operands.push_back(results[operand]);
    for (std::size_t j = 0; j < own.size(); ++j) by[own[j]] += by[i] * SlopeOf(step.op, results[i], operands, j);
  }
  return derivatives;
}

}  // namespace slipstick
