// Explanations of recorded numbers.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/explanation.h"
#include "core/base/quantity.h"

namespace slipstick {

// The figures that these numbers depend on, then the numbers themselves with paths "of.0", "of.1", the last one last.
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

// The origins of all terms.
inline std::set<std::string> Origins(const std::vector<FigureRecord>& figures) {
  std::set<std::string> origins;
  for (const FigureRecord& figure : figures) {
    for (const Term& term : figure.terms) origins.insert(term.origin);
  }
  return origins;
}

}  // namespace slipstick
