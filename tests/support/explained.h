// Explanations of numbers that have nodes.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/explanation.h"
#include "core/base/quantity.h"

namespace slipstick {

// The figures that numbers rest on, and they themselves, the last one last; "of.0", "of.1" are their paths.
template <class... Q>
std::vector<FigureRecord> FiguresOf(const Q&... numbers) {
  std::vector<ShownNumber> shown;
  (shown.push_back({"of." + std::to_string(shown.size()), Q::kDimension, numbers.base(), numbers.node()}), ...);
  return Explain(shown);
}

inline const FigureRecord* Titled(const std::vector<FigureRecord>& figures, std::string_view title) {
  for (const FigureRecord& figure : figures) {
    if (figure.title == title) return &figure;
  }
  return nullptr;
}

inline const FigureRecord* AtPath(const std::vector<FigureRecord>& figures, std::string_view path) {
  for (const FigureRecord& figure : figures) {
    if (figure.path == path) return &figure;
  }
  return nullptr;
}

// What all terms come from.
inline std::set<std::string> Origins(const std::vector<FigureRecord>& figures) {
  std::set<std::string> origins;
  for (const FigureRecord& figure : figures) {
    for (const Term& term : figure.terms) origins.insert(term.origin);
  }
  return origins;
}

}  // namespace slipstick
