// Formulas of Google's chiplets-cost-model (github.com/google/chiplets-cost-model at 2cbd30c), for comparison digit by
// digit.
#pragma once

#include "core/economics/wafer.h"

namespace slipstick::google_cost {

// round(294 pi (300 / (4A) - 1 / sqrt(2A))): mixes the usable and the full diameter, 2.7 % above the consistent form.
double DiesPerWafer(Millimetres width, Millimetres height);
// Bose-Einstein per layer plus C(n, k) p^k (1-p)^(n-k), p = share * D0: it is added even without spares, so the sum can
// exceed 1.
double YieldWithSpares(SquareMillimetres area, PerArea defect_density, Count layers, SquareMillimetres spare_area,
                       Count units, Count spares);

}  // namespace slipstick::google_cost
