// Numbers of sequences for which an engine captures its decode step as a CUDA graph.
//
// A step of any other number is filled up with empty sequences to the next one that was captured (member `graph_sizes`
// of an engine's preset): their rows pass through every product, but they have no context to attend to.
#pragma once

#include <optional>
#include <vector>

#include "core/base/field.h"
#include "core/base/tally.h"

namespace slipstick {

struct GraphSizes {
  Tally up_to = 1;             // the largest of the row, itself captured
  std::optional<Tally> every;  // multiples of it; absent: powers of two
};
FIELDS_OF(GraphSizes);

// The smallest captured number that is not below `sequences`, of the first row that reaches it; beyond the last row no
// graph is replayed, and nothing is filled up.
double CapturedSequences(const std::vector<GraphSizes>& rows, double sequences);

}  // namespace slipstick
