// Numbers of sequences for which an engine captures its decode step as a CUDA graph.
//
// A step with another number is padded with empty sequences to the next captured number (member `graph_sizes` of an
// engine's preset): their rows pass through every product, but they have no context for attention.
#pragma once

#include <optional>
#include <vector>

#include "core/base/field.h"
#include "core/base/tally.h"

namespace slipstick {

struct GraphSizes {
  Tally up_to = 1;             // the largest number of the row, itself captured
  std::optional<Tally> every;  // multiples of this; absent: powers of two
};
FIELDS_OF(GraphSizes);

// The smallest captured number that is at least `sequences`, from the first row that reaches it; beyond the last row no
// graph is replayed, and there is no padding.
double CapturedSequences(const std::vector<GraphSizes>& rows, double sequences);

}  // namespace slipstick
