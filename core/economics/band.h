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
  static const Fields fields;
};

}  // namespace slipstick
