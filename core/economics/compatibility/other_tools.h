// Formulas of further tools, to compare with them digit by digit: ttm-cas, Google's chiplets-cost-model, RapidChiplet's and
// LLMCompass' die models are variants of these.
#pragma once

#include "core/economics/wafer.h"

namespace slipstick {

namespace ttm_cas {  // github.com/PrincetonUniversity/ttm-cas at d98ac05: no edge, no scribe
double DiesPerWafer(SquareMillimetres area);
double DieYield(SquareMillimetres area, PerArea defect_density);
Dollars GoodDie(SquareMillimetres area, PerArea defect_density, Dollars wafer_price);
}  // namespace ttm_cas

namespace google_cost {  // github.com/google/chiplets-cost-model at 2cbd30c
// round(294 pi (300 / (4A) - 1 / sqrt(2A))): mixes the usable and the full diameter, 2.7 % above the consistent form.
double DiesPerWafer(Millimetres width, Millimetres height);
// Bose-Einstein a layer plus C(n, k) p^k (1-p)^(n-k), p = share * D0: added even without spares, so it can exceed 1.
double YieldWithSpares(SquareMillimetres area, PerArea defect_density, Count layers, SquareMillimetres spare_area, Count units, Count spares);
}  // namespace google_cost

}  // namespace slipstick
