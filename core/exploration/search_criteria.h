// The criteria of a search: the objective, the other figures of a frontier, and limits on figures.
#pragma once

#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/exploration/search_figures.h"
#include "core/search/limits.h"

namespace slipstick {

// A condition on a figure that a mapping must meet.
struct FigureLimit {
  const SearchFigure* figure;
  bool at_most;
  double bound;
  [[nodiscard]] bool IsOfMemory() const { return figure->name.starts_with("memory"); }
};

struct SearchCriteria {
  std::vector<const SearchFigure*> figures;  // the objective first
  std::vector<FigureLimit> limits;
};

// Reads "PATH<=VALUE", "PATH>=VALUE" or "PATH=a,b" into the limits of mapping members or of figures. `part`: "training"
// or "serving".
void ReadLimit(const std::string& text, const std::string& part, SpaceLimits& members,
               std::vector<FigureLimit>& figures, Issues& issues);

// Removes the part: "training.step_time_s" for "training" becomes "step_time_s".
std::string WithoutPart(std::string path, const std::string& part);

}  // namespace slipstick
