#include "core/base/provenance.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <unordered_map>

#include "core/base/issue.h"

namespace slipstick {
namespace {

constexpr std::size_t kLongestPart = 24;  // largest intermediate result, in operations, that a formula still writes out

// The derivative of a node by its operand at index `i`, if it was computed.
double Slope(const Node& node, std::size_t i) {
  if (node.op == Op::kChoice) return i == node.label->chosen ? 1 : 0;
  if (node.op == Op::kProcedure) {
    const double operand = node.many[i].value, share = node.label->shares[i];
    return operand != 0 || std::isnan(share) ? share * node.value / operand : 0;
  }
  const std::array<double, 3> x{node.few[0].value, node.few[1].value, node.few[2].value};
  return SlopeOf(node.op, node.value, std::span(x).first(node.arity()), i);
}

enum Binding { kSum = 1, kProduct, kSign, kCall };

Binding BindingOf(const Node& node) {
  switch (node.op) {
    case Op::kAdd:
    case Op::kSubtract:
      return kSum;
    case Op::kMultiply:
    case Op::kDivide:
      return kProduct;
    case Op::kNegate:
      return kSign;
    default:
      return kCall;
  }
}

// The fewest digits that read back as the same number.
std::string Text(double literal) {
  std::array<char, 32> digits{};
  for (const int precision : {6, 9, 12, 15, 17}) {
    std::snprintf(digits.data(), digits.size(), "%.*g", precision, std::abs(literal));
    if (std::strtod(digits.data(), nullptr) == std::abs(literal)) break;
  }
  const std::string text = digits.data();
  return std::signbit(literal) && literal != 0 ? "(-" + text + ")" : text;
}

bool HasFormula(Op op) { return op != Op::kInput && op != Op::kChoice && op != Op::kProcedure; }

// Writes the formula of one node, and collects its terms in the order in which they appear.
class Writer {
 public:
  explicit Writer(const Node& root) : root_(root) {}

  NodeFormula Write() {
    if (HasFormula(root_.op)) {
      formula_.text = Of(root_);
    } else {
      for (std::size_t i = 0; i < root_.arity(); ++i) {
        if (const Node* node = root_.operand(i).node) SymbolFor(*node);
      }
    }
    Differentiate();
    return std::move(formula_);
  }

 private:
  [[nodiscard]] bool IsTerm(const Node& node) { return node.label != nullptr || SizeOf(node) > kLongestPart; }

  // Number of operations that a formula writes for an intermediate result.
  std::size_t SizeOf(const Node& node) {
    const auto [known, is_new] = sizes_.try_emplace(&node, 1);
    if (!is_new) return known->second;
    std::size_t size = 1;
    for (std::size_t i = 0; i < node.arity(); ++i) {
      const Node* operand = node.operand(i).node;
      if (operand != nullptr && !IsTerm(*operand)) size += SizeOf(*operand);
    }
    return sizes_[&node] = size;
  }

  std::string Of(const Node& node) {
    const std::string name(NameOf(node.op));
    const Binding binding = BindingOf(node);
    if (binding == kCall) return node.op == Op::kSame ? Of(node.operand(0), kSum) : name + "(" + Listed(node) + ")";
    if (binding == kSign) return name + Of(node.operand(0), kSign);
    // Operands are written left to right, because the terms are listed in reading order.
    std::string text = Of(node.operand(0), binding);
    const bool is_apart = node.op == Op::kSubtract || node.op == Op::kDivide;  // a - (b - c)
    text += name;
    text += Of(node.operand(1), is_apart ? static_cast<Binding>(binding + 1) : binding);
    return text;
  }

  std::string Listed(const Node& call) {
    std::string arguments;
    for (std::size_t i = 0; i < call.arity(); ++i) {
      if (i > 0) arguments += ", ";
      arguments += Of(call.operand(i), kSum);
    }
    return arguments;
  }

  // Puts the operand in parentheses if it binds less tightly than `weakest`.
  std::string Of(const Operand& operand, Binding weakest) {
    if (operand.node == nullptr) return Text(operand.value);
    if (IsTerm(*operand.node)) return SymbolFor(*operand.node);
    inside_.push_back(operand.node);
    const std::string text = Of(*operand.node);
    return BindingOf(*operand.node) < weakest ? "(" + text + ")" : text;
  }

  std::string SymbolFor(const Node& node) {
    std::vector<FormulaTerm>& terms = formula_.terms;
    const auto known = std::find_if(terms.begin(), terms.end(), [&](const FormulaTerm& t) { return t.node == &node; });
    if (known != terms.end()) return known->symbol;
    const std::string name = SymbolOf(node);
    std::string symbol = name;
    const auto is_taken = [&] {
      return std::any_of(terms.begin(), terms.end(), [&](const FormulaTerm& term) { return term.symbol == symbol; });
    };
    for (int next = 2; is_taken(); ++next) symbol = name + "_" + std::to_string(next);
    return terms.emplace_back(FormulaTerm{symbol, &node, 0}).symbol;
  }

  // Propagates derivatives backwards through the intermediate results of this formula alone.
  void Differentiate() {
    std::unordered_map<const Node*, double> by{{&root_, 1}};
    std::sort(inside_.begin(), inside_.end(), [](const Node* a, const Node* b) { return a->place > b->place; });
    inside_.erase(std::unique(inside_.begin(), inside_.end()), inside_.end());
    inside_.insert(inside_.begin(), &root_);
    for (const Node* node : inside_) {
      for (std::size_t i = 0; i < node->arity(); ++i) {
        if (const Node* operand = node->operand(i).node) by[operand] += by[node] * Slope(*node, i);
      }
    }
    for (FormulaTerm& term : formula_.terms) term.derivative = by[term.node];
  }

  const Node& root_;
  NodeFormula formula_;
  std::vector<const Node*> inside_;  // intermediate results that the formula writes out
  std::unordered_map<const Node*, std::size_t> sizes_;
};

}  // namespace

std::string SymbolOf(const Node& node) {
  if (node.label == nullptr) return "part";
  if (node.op == Op::kInput) {
    std::string_view rest = node.label->path;
    rest = rest.substr(0, rest.rfind(" ("));  // "serving.prefill.kv_len (2)" is computed more than once
    for (std::size_t dot = rest.rfind('.'); dot != std::string_view::npos; dot = rest.rfind('.')) {
      const std::string_view last = rest.substr(dot + 1);
      if (!IsPlace(last)) return std::string(last);
      rest = rest.substr(0, dot);
    }
    return std::string(rest);
  }
  std::string symbol;
  for (const char c : node.label->title) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      symbol += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!symbol.empty() && symbol.back() != '_') {
      symbol += '_';
    }
  }
  while (!symbol.empty() && symbol.back() == '_') symbol.pop_back();
  return symbol.empty() || std::isdigit(static_cast<unsigned char>(symbol[0])) != 0 ? "of_" + symbol : symbol;
}

NodeFormula FormulaOf(const Node& node) { return Writer(node).Write(); }

std::vector<double> DerivativesOf(const Node& node) {
  std::vector<double> by(node.place + 1);
  by[node.place] = 1;
  for (std::size_t place = node.place + 1; place-- > 0;) {
    if (by[place] == 0) continue;
    const Node& at = node.tape->nodes()[place];
    for (std::size_t i = 0; i < at.arity(); ++i) {
      if (const Node* operand = at.operand(i).node) by[operand->place] += by[place] * Slope(at, i);
    }
  }
  return by;
}

}  // namespace slipstick
