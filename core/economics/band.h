// How far a guessed number may lie from its middle value: what Monte Carlo draws from and the tornado turns.
#pragma once

#include "core/base/field.h"

namespace slipstick {

// Ends over the middle value, so that changing the value moves the band with it. {1, 1}: known.
struct Band {
  double low = 1;
  double high = 1;
};
template <>
struct Schema<Band> {
  static constexpr auto fields = std::tuple{
      Of("low", &Band::low, "Low end over the value. No figure of a report uses it: it acts in a cost study").Above(0).AtMost(1).Advanced(),
      Of("high", &Band::high, "High end over the value. No figure of a report uses it: it acts in a cost study")
          .Between(1, 100)
          .Advanced()};
};

}  // namespace slipstick
