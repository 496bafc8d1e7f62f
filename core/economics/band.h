// Uncertainty band of an input: Monte Carlo samples it, and the tornado chart moves the input to its ends.
#pragma once

#include "core/base/field.h"

namespace slipstick {

// Ends as ratios to the value, so that the band moves with it. {1, 1}: known exactly.
struct Band {
  double low = 1;
  double high = 1;
  friend bool operator==(const Band&, const Band&) = default;
};
FIELDS_OF(Band);

}  // namespace slipstick
