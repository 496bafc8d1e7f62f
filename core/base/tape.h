// What a quantity remembers: the operation that made it, on a tape.
//
// Plain arithmetic writes the tape, as operator overloading does in reverse-mode automatic differentiation (CppAD,
// Adept, Stan Math). A number has a node if it was made from one that has; the first nodes are the inputs that a tape
// binds (Tape::Input). So there is no switch and no global state: numbers that no tape has bound record nothing, and an
// operation on them costs one branch.
//
// The tape owns its nodes and must outlive every number that has one. Data that outlive a tape (the embedded catalogue,
// tables made once, memos) hold numbers without nodes. Only one thread writes a tape.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/operation.h"

namespace slipstick {

inline constexpr int kDimensions = 8;
using Dimension = std::array<int, kDimensions>;  // exponents, in the order of the base units of quantity.h

class Tape;
struct Node;

// An operand without a node is a literal.
struct Operand {
  const Node* node = nullptr;
  double value = 0;
};

inline constexpr double kUnknownShare = std::numeric_limits<double>::quiet_NaN();

// The texts of a node. Inputs and figures have them; nodes without are intermediate results of a formula.
struct Label {
  std::string title;   // of a figure or a constant
  std::string note;    // only if the title leaves something open
  std::string source;  // of the formula, or of the number
  std::string path;    // of an input
  Dimension dimension{};
  std::vector<std::string> options{};  // names of a choice's operands
  std::vector<double> compared{};      // the values that were compared, one per option
  Dimension compared_in{};
  std::size_t chosen = 0;
  std::vector<double> shares{};  // of a procedure, per operand: % change of the result per %, or kUnknownShare
  bool is_constant = false;      // an input that is a row of a table, not of the scenario
};

// One recorded operation.
struct Node {
  Op op = Op::kInput;
  double value = 0;              // in base units
  std::array<Operand, 3> few{};  // operands of an operation with at most three
  std::vector<Operand> many{};   // of a choice or a procedure
  const Label* label = nullptr;  // null: an intermediate result
  Tape* tape = nullptr;
  std::size_t place = 0;  // index on the tape; greater than the operands' indices

  [[nodiscard]] std::size_t arity() const;
  [[nodiscard]] const Operand& operand(std::size_t i) const { return many.empty() ? few[i] : many[i]; }
};

class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // The node of the input at a path: one per path and value.
  const Node* Input(std::string_view path, double value, const Dimension& dimension);
  // As Input, for a fitted constant, which is a row of a table.
  const Node* Constant(std::string_view path, double value, const Dimension& dimension, std::string_view title,
                       std::string_view source);
  const Node* Add(Node node);
  const Node* Add(Node node, Label label);
  [[nodiscard]] const std::deque<Node>& nodes() const { return nodes_; }
  // Data that numbers with nodes refer to, made once per key and kept as long as the tape.
  template <class T, class Make>
  T& Kept(const std::string& key, const Make& make) {
    std::shared_ptr<void>& kept = kept_[key];
    if (kept == nullptr) kept = std::shared_ptr<T>(make());
    return *static_cast<T*>(kept.get());
  }

 private:
  const Node* Known(double value, Label label);

  std::deque<Node> nodes_;  // a deque, because growing it moves no node
  std::deque<Label> labels_;
  std::unordered_map<std::string, std::vector<const Node*>> inputs_;
  std::unordered_map<std::string, std::shared_ptr<void>> kept_;
};

namespace internal {

// Adding a literal 0 or multiplying by a literal 1 records nothing: the result has the node of the other operand.
// Formulas call these everywhere, so they take plain numbers, which WebAssembly passes without memory accesses.
[[gnu::noinline, gnu::cold]] const Node* Record(Op op, double value, const Node* a, double a_value);
[[gnu::noinline, gnu::cold]] const Node* Record(Op op, double value, const Node* a, double a_value, const Node* b,
                                                double b_value);
[[gnu::noinline, gnu::cold]] const Node* Record(Op op, double value, const Node* a, double a_value, const Node* b,
                                                double b_value, const Node* c, double c_value);

constexpr const Node* Join(Op op, double value, Operand a) {
  if (a.node == nullptr) [[likely]]
    return nullptr;
  return Record(op, value, a.node, a.value);
}
constexpr const Node* Join(Op op, double value, Operand a, Operand b) {
  if (a.node == nullptr && b.node == nullptr) [[likely]]
    return nullptr;
  return Record(op, value, a.node, a.value, b.node, b.value);
}
constexpr const Node* Join(Op op, double value, Operand a, Operand b, Operand c) {
  if (a.node == nullptr && b.node == nullptr && c.node == nullptr) [[likely]]
    return nullptr;
  return Record(op, value, a.node, a.value, b.node, b.value, c.node, c.value);
}

// The result of an operation as a figure. Texts are passed as plain numbers, too.
[[gnu::noinline, gnu::cold]] const Node* Named(const Node* node, const char* title, std::size_t title_size,
                                               const char* note, std::size_t note_size, const char* source,
                                               std::size_t source_size, const Dimension& dimension);
// Records an operation with a label; null if none of the operands has a node.
[[gnu::cold]] const Node* Found(Op op, double value, std::vector<Operand> operands, Label label);

}  // namespace internal
}  // namespace slipstick
