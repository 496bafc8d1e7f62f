// Operators of a layer of a pipeline stage with what they take.
#pragma once

#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/operators/time_by_bound.h"

namespace slipstick {

struct TimedOperator {
  std::string name;
  Flops flops;
  Bytes bytes;                      // to and from memory
  std::vector<Bytes> level_bytes;   // caches from the innermost, then memory
  std::vector<Seconds> level_time;  // of those bytes at the stated bandwidths; 0: not stated
  Seconds time;
  Bound bound = Bound::kCompute;
};
// Operators of a kind of layer: their time by what bounds them and, where asked for, a list of them.
struct LayerOperators {
  bool is_listed = true;
  std::vector<TimedOperator> list;
  TimeByBound by_bound;
};

}  // namespace slipstick
