// The first nodes of a tape: one walk over the field tables gives each number of a struct the node of its path.
//
//   Cluster bound = cluster;  // a copy: its nodes must not outlive the tape
//   BindInputs(bound, "cluster", tape);
//
// A number that has a node keeps it: something else already says where it comes from. Without a tape nothing is bound.
// BindConstants does the same for a table of fitted constants.
//
// Doubles, counts that are no Tally, and catalogue entries carry no nodes.
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

// `tape`: null: numbers have no nodes.
template <class T>
void BindInputs(T& object, const std::string& path, Tape* tape) {
  if (tape == nullptr) return;
  BindNumbers(object, path,
              [tape](const BoundNumber& number) { return tape->Input(number.path, number.value, number.dimension); });
}

// Of a table that is named by its path, "kernels.hopper.peer_reduce": its numbers are rows of their own in an
// explanation, with this source. A path that is bound already keeps its source.
template <class T>
void BindConstants(T& table, const std::string& path, std::string_view source, Tape* tape) {
  if (tape == nullptr) return;
  BindNumbers(table, path, [tape, source](const BoundNumber& number) {
    return tape->Constant(number.path, number.value, number.dimension, number.help, source);
  });
}

// A number that an input stands for which is none itself: a flag, a name, a part that is absent.
template <class Q>
Q InputAt(std::string_view path, Q value, Tape* tape) {
  return tape == nullptr ? value : Q::FromBase(value.base(), tape->Input(path, value.base(), Q::kDimension));
}

// A number that is a row of its own in an explanation, but stands in no table that is bound.
template <class Q>
Q ConstantAt(std::string_view path, Q value, std::string_view title, std::string_view source, Tape* tape) {
  if (tape == nullptr) return value;
  return Q::FromBase(value.base(), tape->Constant(path, value.base(), Q::kDimension, title, source));
}

}  // namespace slipstick
