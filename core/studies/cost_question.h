// Request of a cost study (cost_study.h), read and checked.
#pragma once

#include <vector>

#include "core/base/field_table.h"
#include "core/economics/partition.h"
#include "core/scenario/scenario.h"

namespace slipstick {

enum class CostQuestion { kArea, kWafer, kYields, kPartition, kMonteCarlo, kTornado };
ENUM_NAMES(CostQuestion, {kArea, "area"}, {kWafer, "wafer"}, {kYields, "yields"}, {kPartition, "partition"},
           {kMonteCarlo, "monte_carlo"}, {kTornado, "tornado"});

struct CostStudy {
  CostQuestion kind = CostQuestion::kArea;
  Partition partition;
  std::vector<Count> chiplets{1, 2, 4, 8};
  SquareMillimetres low = 50 * kMm2, high = 2000 * kMm2;
  Count points = 60;
  Count die = 0;
  Count seed = 1;
  Count first = 0, last = 1000;
  bool draws = true;
};
template <>
struct Schema<CostStudy> {
  static constexpr FieldRow kRows[] = {Of<&CostStudy::kind>("kind", "Kind of study").Required(),
                                       Of<&CostStudy::partition>("partition", "Partition into chiplets"),
                                       Of<&CostStudy::chiplets>("chiplets", "Chiplet counts to compare").Between(1, 64),
                                       Of<&CostStudy::low>("low", "Smallest area").In(kMm2).Between(0.01, 60000),
                                       Of<&CostStudy::high>("high", "Largest area").In(kMm2).Between(0.01, 60000),
                                       Of<&CostStudy::points>("points", "Points per curve").Between(2, 400),
                                       Of<&CostStudy::die>("die", "Index of the die").Between(0, 63),
                                       Of<&CostStudy::seed>("seed", "Random seed").Between(0, 1LL << 50),
                                       Of<&CostStudy::first>("first", "First sample").Between(0, 1LL << 40),
                                       Of<&CostStudy::last>("last", "One past the last sample").Between(0, 1LL << 40),
                                       Of<&CostStudy::draws>("draws", "Return every sample")};
  static constexpr Fields fields{kRows};
};

struct StudyInput {
  CostStudy study;
  Scenario scenario;
};

// Areas of a curve's points, from the smallest to the largest.
inline std::vector<SquareMillimetres> Areas(const CostStudy& study) {
  std::vector<SquareMillimetres> areas;
  const double last = static_cast<double>(study.points - 1);
  for (Count i = 0; i < study.points; ++i)
    areas.push_back(study.low + (study.high - study.low) * (static_cast<double>(i) / last));
  return areas;
}

}  // namespace slipstick
