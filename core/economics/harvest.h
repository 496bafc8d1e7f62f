// Dies that stay good with some of their units broken: spare units and harvesting bins.
//
// n units of area a and a base area that must be whole. At density D a unit is bad with q = 1 - exp(-a D), so
//   P(D) = exp(-base D) * sum over j <= spares of C(n, j) q^j (1 - q)^(n - j).
// Where the yield model lets the density vary from die to die, P is averaged over its distribution: a gamma for the
// negative binomial, a triangle and a rectangle for Murphy's two, a Levy for exp(-sqrt(x)). With no spares the result
// is the model's plain yield; with all of them it is that of the base.
#pragma once

#include <vector>

#include "core/economics/yield.h"

namespace slipstick {

struct HarvestDie {
  SquareMillimetres base;       // must be whole
  SquareMillimetres unit_area;  // of one unit
  Count units = 1;
  Count spares = 0;  // blocks that may be defective
};

// Share of dies with a whole base and at most `spares` bad units. Relative error below 1e-12 up to 20 spares.
double HarvestYield(const YieldLaw& law, const HarvestDie& die, PerArea defect_density);

// Share of dies with a whole base and exactly j bad units, j = 0 … die.spares.
std::vector<double> HarvestBins(const YieldLaw& law, const HarvestDie& die, PerArea defect_density);

}  // namespace slipstick
