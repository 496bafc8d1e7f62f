#include "core/search/limits.h"

namespace slipstick {

std::vector<Count> Divisors(Count n) {
  std::vector<Count> low, high;
  for (Count d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d * d != n) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

}  // namespace slipstick
