// Valid counts nearest to a wrong one, for the fixes of an issue.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/quantity.h"

namespace slipstick {

// The divisors of `whole` nearest to `value`, below and above it, that pass.
template <class Passes>
std::vector<Count> NearestDivisors(Count whole, Count value, const Passes& passes) {
  Count below = 0, above = 0;
  for (Count i = 1; i * i <= whole; ++i) {
    if (whole % i != 0) continue;
    for (const Count divisor : {i, whole / i}) {
      if (!passes(divisor)) continue;
      if (divisor <= value) below = std::max(below, divisor);
      if (divisor >= value) above = above == 0 ? divisor : std::min(above, divisor);
    }
  }
  std::vector<Count> values;
  if (below != 0) values.push_back(below);
  if (above != 0 && above != below) values.push_back(above);
  return values;
}
inline std::vector<Count> NearestDivisors(Count whole, Count value) {
  return NearestDivisors(whole, value, [](Count) { return true; });
}

// The multiples of `unit` nearest to `value`, below and above it, up to `limit`.
inline std::vector<Count> NearestMultiples(Count value, Count unit, Count limit) {
  std::vector<Count> values;
  const Count below = std::min(value, limit) / unit * unit;
  if (below > 0) values.push_back(below);
  if (below + unit <= limit) values.push_back(below + unit);
  return values;
}

}  // namespace slipstick
