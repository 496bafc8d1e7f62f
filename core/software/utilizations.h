// The plain roofline of papers: an operator takes the longer of its FLOPs over a fraction of the peak and its bytes
// over a fraction of a level's bandwidth, with the same fractions for all operators.
#pragma once

#include "core/base/field.h"

namespace slipstick {

struct Utilizations {
  Ratio compute = 1;  // of the dense peak
  Ratio memory = 1;   // of the bandwidths of the memory and of each cache
  Ratio network = 1;  // of the bandwidth of each network level
};
FIELDS_OF(Utilizations);

}  // namespace slipstick
