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
  void Add(Operation operation, std::size_t count) { formula_.steps_.push_back({operation, 0, count}); }

  void Sum() {
    Product();
    while (fault_.empty()) {
      if (Take('+')) {
        Product(), Add(Operation::kAdd, 2);
      } else if (Take('-')) {
        Product(), Add(Operation::kSubtract, 2);
      } else {
        break;
      }
    }
  }

  void Product() {
    Factor();
    while (fault_.empty()) {
      if (Take('*')) {
        Factor(), Add(Operation::kMultiply, 2);
      } else if (Take('/')) {
        Factor(), Add(Operation::kDivide, 2);
      } else {
        break;
      }
    }
  }

  void Factor() {
    if (Take('-')) return Factor(), Add(Operation::kMinus, 1);
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
    formula_.steps_.push_back({Operation::kNumber, value, 0});
  }

  void SymbolOrCall() {
    const std::size_t start = place_;
    while (place_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[place_])) || text_[place_] == '_'))
      ++place_;
    const std::string_view name = text_.substr(start, place_ - start);
    if (!Take('(')) {
      const auto found = std::find(names_.begin(), names_.end(), name);
      if (found == names_.end()) return Fail("'" + std::string(name) + "' has no value");
      return Add(Operation::kSymbol, static_cast<std::size_t>(found - names_.begin()));
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
      std::string_view name;
      Operation operation;
      std::size_t least, most;  // arguments
    };
    constexpr std::size_t kAny = -1;
    constexpr std::array<Function, 10> kFunctions{{{"max", Operation::kMax, 2, kAny},
                                                   {"min", Operation::kMin, 2, kAny},
                                                   {"sqrt", Operation::kSqrt, 1, 1},
                                                   {"pow", Operation::kPow, 2, 2},
                                                   {"log2", Operation::kLog2, 1, 1},
                                                   {"log", Operation::kLog, 1, 1},
                                                   {"exp", Operation::kExp, 1, 1},
                                                   {"ceil", Operation::kCeil, 1, 1},
                                                   {"floor", Operation::kFloor, 1, 1},
                                                   {"norm", Operation::kNorm, 3, 3}}};
    for (const Function& function : kFunctions) {
      if (function.name == name && arguments >= function.least && arguments <= function.most)
        return Add(function.operation, arguments);
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

Formula::Dual Formula::Apply(Operation operation, std::span<const Dual> x) {
  const auto [a, da] = x[0];
  const auto by_value = [](const Dual& one, const Dual& other) { return one.value < other.value; };
  switch (operation) {
    case Operation::kMinus:
      return {-a, -da};
    case Operation::kAdd:
      return {a + x[1].value, da + x[1].derivative};
    case Operation::kSubtract:
      return {a - x[1].value, da - x[1].derivative};
    case Operation::kMultiply:
      return {a * x[1].value, da * x[1].value + a * x[1].derivative};
    case Operation::kDivide:
      return {a / x[1].value, (da - a / x[1].value * x[1].derivative) / x[1].value};
    case Operation::kMax:
      return *std::max_element(x.begin(), x.end(), by_value);
    case Operation::kMin:
      return *std::min_element(x.begin(), x.end(), by_value);
    case Operation::kSqrt:
      return {std::sqrt(a), a > 0 ? da / (2 * std::sqrt(a)) : 0};
    case Operation::kPow: {
      const double power = std::pow(a, x[1].value);
      return {power, a > 0 ? power * (x[1].value * da / a + x[1].derivative * std::log(a)) : 0};
    }
    case Operation::kLog2:
      return {std::log2(a), da / (a * std::log(2))};
    case Operation::kLog:
      return {std::log(a), da / a};
    case Operation::kExp:
      return {std::exp(a), std::exp(a) * da};
    case Operation::kCeil:
      return {std::ceil(a), da};
    case Operation::kFloor:
      return {std::floor(a), da};
    case Operation::kNorm: {
      const Dual &large = a >= x[1].value ? x[0] : x[1], &small = a >= x[1].value ? x[1] : x[0];
      if (!(large.value > 0)) return {};
      const double p = x[2].value, ratio = small.value / large.value;
      const double sum = 1 + std::pow(ratio, p);
      const double norm = large.value * std::pow(sum, 1 / p);
      return {norm, norm / sum *
                        (large.derivative / large.value +
                         (ratio > 0 ? std::pow(ratio, p) * small.derivative / small.value : 0))};
    }
    case Operation::kNumber:
    case Operation::kSymbol:
      break;
  }
  return x[0];
}

double Formula::Value(std::span<const double> values) const {
  std::vector<Dual> stack;
  for (const Step& step : steps_) {
    if (step.operation == Operation::kNumber || step.operation == Operation::kSymbol) {
      stack.push_back({step.operation == Operation::kNumber ? step.number : values[step.count], 0});
    } else {
      const Dual result = Apply(step.operation, std::span(stack).last(step.count));
      stack.resize(stack.size() - step.count);
      stack.push_back(result);
    }
  }
  return stack.back().value;
}

// Forward for the values of all steps, then back from the last one: each step hands its derivative on to its operands.
std::vector<double> Formula::Gradient(std::span<const double> values) const {
  std::vector<double> derivatives(values.size());
  std::vector<Dual> results(steps_.size()), operands;
  std::vector<std::size_t> stack, operands_of;  // places of steps; of each step's operands, one after the other
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.operation == Operation::kNumber || step.operation == Operation::kSymbol) {
      results[i].value = step.operation == Operation::kNumber ? step.number : values[step.count];
    } else {
      operands.clear();
      for (std::size_t from = stack.size() - step.count; from < stack.size(); ++from) {
        operands.push_back({results[stack[from]].value, 0});
        operands_of.push_back(stack[from]);
      }
      results[i].value = Apply(step.operation, operands).value;
      stack.resize(stack.size() - step.count);
    }
    stack.push_back(i);
  }
  results.back().derivative = 1;
  std::size_t end = operands_of.size();
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    if (step.operation == Operation::kNumber) continue;
    if (step.operation == Operation::kSymbol) {
      derivatives[step.count] += results[i].derivative;
      continue;
    }
    const auto own = std::span(operands_of).subspan(end -= step.count, step.count);
    if (results[i].derivative == 0) continue;
    operands.clear();
    for (const std::size_t operand : own) operands.push_back({results[operand].value, 0});
    for (std::size_t j = 0; j < own.size(); ++j) {
      operands[j].derivative = 1;
      results[own[j]].derivative += results[i].derivative * Apply(step.operation, operands).derivative;
      operands[j].derivative = 0;
    }
  }
  return derivatives;
}

}  // namespace slipstick
