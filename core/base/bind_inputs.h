// The first nodes of a tape: one walk over the field tables gives each number of a struct the node of its path.
//
//   Cluster bound = cluster;  // a copy: its nodes must not outlive the tape
//   BindInputs(bound, "cluster", trace);
//
// BindConstants does the same for a table of fitted constants.
//
// Doubles, counts that are no Tally, and catalogue entries carry no nodes yet.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/trace.h"
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
void BindInputs(T& object, const std::string& path, const NodeOfNumber& node_of) {
  internal::BindNumbers(internal::kType<T>, &object, path, "", node_of);
}

// With the nodes by which a trace that is on knows the inputs.
template <class T>
void BindInputs(T& object, const std::string& path, Trace& trace) {
  if (!trace.on()) return;
  BindInputs(object, path, [&trace](const BoundNumber& number) {
    return trace.InputNode(number.path, number.value, number.dimension);
  });
}

// Of a table that is named by its path, "kernels.hopper.peer_reduce": its numbers are rows of their own in an
// explanation, with this source. A path that is bound already keeps its source.
template <class T>
void BindConstants(T& table, const std::string& path, std::string_view source, Trace& trace) {
  if (!trace.on()) return;
  BindInputs(table, path, [&trace, source](const BoundNumber& number) {
    return trace.tape().Constant(number.path, number.value, number.dimension, number.help, source);
  });
}

}  // namespace slipstick
