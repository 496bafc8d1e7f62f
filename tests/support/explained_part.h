// The explanation of a part of a report.
#pragma once

#include <vector>

#include "core/base/explanation.h"
#include "core/evaluation/report.h"

namespace slipstick {

template <class Part>
std::vector<FigureRecord> ExplainedPart(const Part& part) {
  std::vector<ShownNumber> shown;
  AddShown(part, shown);
  return Explain(shown);
}

}  // namespace slipstick
