// Die yield from the mean number of killer defects per die.
//
// x = area * defect density (* critical-area ratio). All models have Y(0) = 1; at equal x > 0
// Poisson < Murphy < negative binomial (alpha 2) < Seeds. Two models are printed as "Seeds", and Bose-Einstein is
// printed with the density of all layers and with that of one layer: each has its own name here.
#pragma once

#include "core/base/field.h"

namespace slipstick {

enum class YieldModel {
  kPoisson,
  kMurphy,
  kMurphyRectangular,
  kSeeds,
  kSeedsSqrt,
  kBoseEinstein,
  kBoseEinsteinPerLayer,
  kNegativeBinomial,
  kManual
};
ENUM_NAMES(YieldModel, {kPoisson, "poisson"}, {kMurphy, "murphy"}, {kMurphyRectangular, "murphy_rectangular"},
           {kSeeds, "seeds"}, {kSeedsSqrt, "seeds_sqrt"}, {kBoseEinstein, "bose_einstein"},
           {kBoseEinsteinPerLayer, "bose_einstein_per_layer"}, {kNegativeBinomial, "negative_binomial"},
           {kManual, "manual"});

struct YieldLaw {
  YieldModel model = YieldModel::kNegativeBinomial;
  Ratio clustering = 1;  // alpha of the negative binomial: small if defects occur in clusters
  Ratio layers = 1;      // critical layers of Bose-Einstein
  Ratio manual = 1;      // the yield itself, for kManual
};

// Mean defects per die x >= 0 -> yield in (0, 1].
Ratio Yield(const YieldLaw& law, Ratio faults);

// Dies that remain good with some of their units broken: spare units and harvesting bins.
//
// n units of area a and a base area that must be whole. At density D a unit is bad with q = 1 - exp(-a D), so
//   P(D) = exp(-base D) * sum over j <= spares of C(n, j) q^j (1 - q)^(n - j).
// If the yield model has a density that varies from die to die, P is averaged over its distribution: gamma for the
// negative binomial, triangular and uniform for Murphy's two, Levy for exp(-sqrt(x)). Without spares the result is the
// model's plain yield; if all units may be bad, it is the yield of the base.
struct HarvestDie {
  SquareMillimetres base;       // must be whole
  SquareMillimetres unit_area;  // of one unit
  Count units = 1;
  Count spares = 0;  // blocks that may be defective
};

// Share of dies with a whole base and at most `spares` bad units. Relative error below 1e-12 up to 20 spares.
double HarvestYield(const YieldLaw& law, const HarvestDie& die, PerArea defect_density);

}  // namespace slipstick
