// Figures that a search can optimize, limit or use for a Pareto frontier: outputs marked as searchable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/evaluation/report.h"

namespace slipstick {

// The report of one mapping.
struct EvaluatedPoint {
  const TrainingPart* training = nullptr;
  const ServingPart* serving = nullptr;
};

struct SearchFigure {
  std::string name;
  bool larger_is_better = false;
  double (*of_training)(const TrainingPart&) = nullptr;  // exactly one of the two is set
  double (*of_serving)(const ServingPart&) = nullptr;
  [[nodiscard]] double Read(const EvaluatedPoint& point) const;
};

// `of`: "training" or "serving".
const std::vector<SearchFigure>& SearchFigures(std::string_view of);
// Null if there is none.
const SearchFigure* FindSearchFigure(std::string_view of, std::string_view name);
std::string SearchFigureNames(std::string_view of);

// The inputs that a search chooses, as paths of a scenario: "training.mapping.tp".
std::vector<std::string> MemberPaths(std::string_view of);

// {"training": [{"name","better"}], "serving": […], "members": {"training": [path], "serving": […]}}: the
// searchable figures, and the inputs that a search chooses.
Json SearchObjectives();

}  // namespace slipstick
