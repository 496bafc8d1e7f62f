// The first nodes of a tape: one walk over the field tables gives each number of a struct the node of its path.
//
//   Cluster bound = cluster;  // a copy: its nodes must not outlive the tape
//   BindInputs(bound, "cluster", [&](const std::string& path, double value, const Dimension& dimension) {
//     return tape.Input(path, value, dimension);
//   });
//
// Counts and catalogue entries carry no nodes yet.
#pragma once

#include <functional>
#include <string>

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

}  // namespace slipstick
