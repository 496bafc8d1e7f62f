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
  Ratio clustering = 1;  // alpha of the negative binomial: small where defects come in clusters
  Ratio layers = 1;      // critical layers of Bose-Einstein
  Ratio manual = 1;      // the yield itself, for kManual
};

// Mean defects per die x >= 0 -> yield in (0, 1].
Ratio Yield(const YieldLaw& law, Ratio faults);

}  // namespace slipstick
