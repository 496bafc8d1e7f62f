#include "core/base/tape.h"

namespace slipstick {

std::size_t Node::arity() const {
  switch (op) {
    case Op::kInput:
      return 0;
    case Op::kSame:
    case Op::kNegate:
    case Op::kSqrt:
    case Op::kExp:
    case Op::kLog:
    case Op::kLog2:
    case Op::kCeil:
    case Op::kFloor:
      return 1;
    case Op::kNorm:
      return 3;
    case Op::kChoice:
    case Op::kProcedure:
      return many.size();
    default:
      return 2;
  }
}

const Node* Tape::Known(double value, Label label) {
  std::vector<const Node*>& known = inputs_[label.path];
  for (const Node* node : known) {
    if (node->value == value) return node;
  }
  Node input;
  input.value = value;
  return known.emplace_back(Add(std::move(input), std::move(label)));
}

const Node* Tape::Input(std::string_view path, double value, const Dimension& dimension) {
  Label label;
  label.path = path;
  label.dimension = dimension;
  return Known(value, std::move(label));
}

const Node* Tape::Constant(std::string_view path, double value, const Dimension& dimension, std::string_view title,
                           std::string_view source) {
  Label label;
  label.path = path;
  label.dimension = dimension;
  label.title = title;
  label.source = source;
  label.is_constant = true;
  return Known(value, std::move(label));
}

const Node* Tape::Add(Node node) {
  node.tape = this;
  node.place = nodes_.size();
  return &nodes_.emplace_back(std::move(node));
}

const Node* Tape::Add(Node node, Label label) {
  node.label = &labels_.emplace_back(std::move(label));
  return Add(std::move(node));
}

namespace internal {
namespace {

// The operand that an operation returns unchanged; null if there is none.
const Node* Unchanged(Op op, const Operand& a, const Operand& b) {
  const auto is = [](const Operand& operand, double literal) {
    return operand.node == nullptr && operand.value == literal;
  };
  switch (op) {
    case Op::kAdd:
      return is(a, 0) ? b.node : is(b, 0) ? a.node : nullptr;
    case Op::kSubtract:
      return is(b, 0) ? a.node : nullptr;
    case Op::kMultiply:
      return is(a, 1) ? b.node : is(b, 1) ? a.node : nullptr;
    case Op::kDivide:
      return is(b, 1) ? a.node : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

const Node* Record(Op op, double value, const Node* a, double a_value) {
  return Record(op, value, a, a_value, nullptr, 0);
}

const Node* Record(Op op, double value, const Node* a, double a_value, const Node* b, double b_value) {
  if (const Node* same = Unchanged(op, {a, a_value}, {b, b_value})) return same;
  return Record(op, value, a, a_value, b, b_value, nullptr, 0);
}

const Node* Record(Op op, double value, const Node* a, double a_value, const Node* b, double b_value, const Node* c,
                   double c_value) {
  Node node;
  node.op = op;
  node.value = value;
  node.few = {{{a, a_value}, {b, b_value}, {c, c_value}}};
  const Node* any = a != nullptr ? a : b != nullptr ? b : c;
  return any->tape->Add(std::move(node));
}

const Node* Named(const Node* node, const char* title, std::size_t title_size, const char* note, std::size_t note_size,
                  const char* source, std::size_t source_size, const Dimension& dimension) {
  Label label;
  label.title.assign(title, title_size);
  label.note.assign(note, note_size);
  label.source.assign(source, source_size);
  label.dimension = dimension;
  // A copy shares the operands; where the original is used elsewhere, it stays an intermediate result.
  Node named = *node;
  if (node->label != nullptr) {
    named = Node{};
    named.op = Op::kSame;
    named.value = node->value;
    named.few[0] = {node, node->value};
  }
  return node->tape->Add(std::move(named), std::move(label));
}

const Node* Found(Op op, double value, std::vector<Operand> operands, Label label) {
  Tape* tape = nullptr;
  for (const Operand& operand : operands) {
    if (operand.node != nullptr) tape = operand.node->tape;
  }
  if (tape == nullptr) return nullptr;
  Node node;
  node.op = op;
  node.value = value;
  node.many = std::move(operands);
  return tape->Add(std::move(node), std::move(label));
}

}  // namespace internal
}  // namespace slipstick
