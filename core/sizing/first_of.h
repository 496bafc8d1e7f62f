// Bisection over counts.
#pragma once

#include "core/base/units.h"

namespace slipstick {

// The first value in `begin` to `end` - 1 for which a monotonic condition holds; `end` if none.
template <class Condition>
Count FirstOf(Count begin, Count end, const Condition& holds) {
  Count low = begin - 1, high = end;
  while (high - low > 1) {
    const Count middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace slipstick
