// The values that a search may choose for a member.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace slipstick {

// A range, a list, or both; a member without a limit takes every valid value. Booleans count as 0 and 1.
struct SpaceLimit {
  double low = 0;
  double high = 1e18;              // larger than any count
  std::vector<std::string> among;  // as written; empty: any
  std::vector<double> numbers;     // the numbers in `among`

  [[nodiscard]] bool Allows(Count value) const { return Allows(static_cast<double>(value)); }
  [[nodiscard]] bool Allows(double number) const {
    return number >= low && number <= high &&
           (among.empty() || std::find(numbers.begin(), numbers.end(), number) != numbers.end());
  }
  [[nodiscard]] bool Allows(std::string_view word) const {
    return among.empty() || std::find(among.begin(), among.end(), word) != among.end();
  }
};
// Limits by member name in the mapping ("tp", "micro_batch", "schedule", "batch", …).
using SpaceLimits = std::map<std::string, SpaceLimit, std::less<>>;

template <class Value>
bool Allows(const SpaceLimits& limits, std::string_view member, const Value& value) {
  const auto found = limits.find(member);
  return found == limits.end() || found->second.Allows(value);
}

// The candidates that are within the limits.
inline std::vector<Count> Kept(const SpaceLimits& limits, std::string_view member, std::vector<Count> candidates) {
  candidates.erase(
      std::remove_if(candidates.begin(), candidates.end(), [&](Count one) { return !Allows(limits, member, one); }),
      candidates.end());
  return candidates;
}

// The block that holds an index; `offset` is a block's first index, and blocks are in ascending order.
template <class Block>
const Block& BlockAt(const std::vector<Block>& blocks, Count index) {
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), index,
                                      [](Count at, const Block& block) { return at < block.offset; });
  return *(after - 1);
}

// Divisors in ascending order.
std::vector<Count> Divisors(Count n);

}  // namespace slipstick
