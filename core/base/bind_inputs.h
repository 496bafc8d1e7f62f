// The first nodes of a tape: one walk over the field tables gives each number of a struct the node of its path.
//
//   Cluster bound = cluster;  // a copy: its nodes must not outlive the tape
//   BindInputs(bound, "cluster", [&](const std::string& path, double value, const Dimension& dimension) {
//     return tape.Input(path, value, dimension);
//   });
//
// Doubles, counts that are no Tally, and catalogue entries carry no nodes yet.
#pragma once

#include <functional>
#include <string>

#include "core/base/trace.h"
#include "core/base/type.h"

namespace slipstick {

using NodeOfInput = std::function<const Node*(const std::string& path, double value, const Dimension& dimension)>;

namespace internal {
void BindNumbers(const Type& type, void* object, const std::string& path, const NodeOfInput& node_of);
}

template <class T>
void BindInputs(T& object, const std::string& path, const NodeOfInput& node_of) {
  internal::BindNumbers(internal::kType<T>, &object, path, node_of);
}

// With the nodes by which a trace that is on knows the inputs.
template <class T>
void BindInputs(T& object, const std::string& path, Trace& trace) {
  if (!trace.on()) return;
  BindInputs(object, path, [&trace](const std::string& at, double value, const Dimension& dimension) {
    return trace.InputNode(at, value, dimension);
  });
}

}  // namespace slipstick
