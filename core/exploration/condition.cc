#include "core/exploration/condition.h"

#include <algorithm>
#include <optional>

#include "core/base/units.h"

namespace slipstick {

Result<Condition> ParseCondition(std::string_view text) {
  const std::size_t less = text.find("<="), more = text.find(">=");
  const std::size_t at = std::min(less, more);
  if (at == std::string_view::npos || at == 0)
    return Issues{{"until", "Enter PATH<=VALUE or PATH>=VALUE, not " + std::string(text)}};
  const std::string_view right = text.substr(at + 2);
  const std::optional<Measure> bound = ParseMeasure(right);
  const bool is_path = right.find('.') != std::string_view::npos && right.find_first_of("0123456789") != 0;
  if (!bound && !is_path)
    return Issues{{"until", "Enter a number after " + std::string(text.substr(at, 2)) + ", not " + std::string(right)}};
  return Condition{std::string(text.substr(0, at)), at == less, bound ? bound->value : 0,
                   bound ? "" : std::string(right)};
}

}  // namespace slipstick
