// The figures that a search can look for, limit, or span a front with: outputs of a report that are marked as sought.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/evaluation/report.h"

namespace slipstick {

// What the figures of a place are read from.
struct EvaluatedPoint {
  const TrainingPart* training = nullptr;
  const ServingPart* serving = nullptr;
};

struct SearchFigure {
  std::string name;
  bool larger_is_better = false;
  double (*of_training)(const TrainingPart&) = nullptr;  // one of the two
  double (*of_serving)(const ServingPart&) = nullptr;
  [[nodiscard]] double Read(const EvaluatedPoint& point) const;
};

// Of "training" or "serving".
const std::vector<SearchFigure>& SearchFigures(std::string_view of);
// Null where there is none.
const SearchFigure* FindSearchFigure(std::string_view of, std::string_view name);
std::string SearchFigureNames(std::string_view of);

// The members that a search chooses, as paths of a scenario: "training.mapping.tp".
std::vector<std::string> MemberPaths(std::string_view of);

// {"training": [{"name","better"}], "serving": […], "members": {"training": [path], "serving": […]}}: what can be searched for and
// among what.
Json SearchObjectives();

}  // namespace slipstick
