#include "core/software/graph_sizes.h"

#include <algorithm>
#include <cmath>

#include "core/base/field_table.h"

namespace slipstick {

constexpr FieldRow kGraphSizesFields[] = {
    Of<&GraphSizes::up_to>("up_to", "Largest number of sequences of the row").Between(1, 1 << 20),
    Of<&GraphSizes::every>("every", "Multiples of this number are captured; absent: powers of two")
        .Between(1, 1 << 20)};
constinit const Fields Schema<GraphSizes>::fields(kGraphSizesFields);

double CapturedSequences(const std::vector<GraphSizes>& rows, double sequences) {
  for (const GraphSizes& row : rows) {
    const auto largest = static_cast<double>(row.up_to);
    if (sequences > largest + kRoundingGuard) continue;
    const double least = std::max(1.0, sequences - kRoundingGuard);
    const double next = row.every ? std::ceil(least / static_cast<double>(*row.every)) * static_cast<double>(*row.every)
                                  : std::exp2(std::ceil(std::log2(least) - kRoundingGuard));
    return std::max(sequences, std::min(next, largest));
  }
  return sequences;
}

}  // namespace slipstick
