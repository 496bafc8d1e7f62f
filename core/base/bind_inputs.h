// Binds inputs to a tape: one walk over the field tables gives each number of a struct the node of its path.
//
//   Cluster bound = cluster;  // a copy: its nodes must not outlive the tape
//   BindInputs(bound, "cluster", tape);
//
// A number that already has a node keeps it: something else says where it comes from. Without a tape nothing is bound.
// BindConstants does the same for a table of fitted constants.
//
// Doubles, counts that are not a Tally, and catalogue entries carry no nodes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/tape.h"
#include "core/base/type.h"

namespace slipstick {

// A number of a struct, with its help text.
struct BoundNumber {
  const std::string& path;
  double value;
  const Dimension& dimension;
  std::string_view help;
};
using NodeOfNumber = std::function<const Node*(const BoundNumber& number)>;

namespace internal {
void BindNumbers(const Type& type, void* object, const std::string& path, std::string_view help,
                 const NodeOfNumber& node_of);
}

template <class T>
void BindNumbers(T& object, const std::string& path, const NodeOfNumber& node_of) {
  internal::BindNumbers(internal::kType<T>, &object, path, "", node_of);
}

// If `tape` is null, numbers get no nodes.
template <class T>
void BindInputs(T& object, const std::string& path, Tape* tape) {
  if (tape == nullptr) return;
  BindNumbers(object, path,
              [tape](const BoundNumber& number) { return tape->Input(number.path, number.value, number.dimension); });
}

// Binds a table that is named by its path, "kernels.hopper.peer_reduce": each of its numbers gets its own row in an
// explanation, with this source. A path that is already bound keeps its source.
template <class T>
void BindConstants(T& table, const std::string& path, std::string_view source, Tape* tape) {
  if (tape == nullptr) return;
  BindNumbers(table, path, [tape, source](const BoundNumber& number) {
    return tape->Constant(number.path, number.value, number.dimension, number.help, source);
  });
}

// Binds a number that follows from an input but is not one itself: from a flag, a name, or an absent part.
template <class Q>
Q InputAt(std::string_view path, Q value, Tape* tape) {
  return tape == nullptr ? value : Q::FromBase(value.base(), tape->Input(path, value.base(), Q::kDimension));
}

// Binds a number that has its own row in an explanation but is in no bound table.
template <class Q>
Q ConstantAt(std::string_view path, Q value, std::string_view title, std::string_view source, Tape* tape) {
  if (tape == nullptr) return value;
  return Q::FromBase(value.base(), tape->Constant(path, value.base(), Q::kDimension, title, source));
}

}  // namespace slipstick
