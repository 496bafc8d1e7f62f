#include "core/economics/yield.h"

#include "core/base/figure.h"

namespace slipstick {
namespace {

// Exact where there are few faults.
Ratio MeanSurvival(Ratio x) { return Exactly(x == 0 ? 1 : -std::expm1(-x.base()) / x.base(), (1 - exp(-x)) / x); }

Ratio NegativeBinomial(Ratio x, Ratio alpha) {
  return Exactly(std::exp(-alpha.base() * std::log1p(x.base() / alpha.base())), pow(1 + x / alpha, -alpha));
}

struct Row {
  YieldModel model;
  Ratio (*yield)(Ratio faults, const YieldLaw& law);
  std::string_view note, source;
};
constexpr Row kModels[] = {
    {YieldModel::kPoisson, [](Ratio x, const YieldLaw&) { return exp(-x); }, "independent defects",
     "Hofstein and Heiman 1963"},
    {YieldModel::kMurphy,
     [](Ratio x, const YieldLaw&) {
       const Ratio survival = MeanSurvival(x);
       return survival * survival;
     },
     "triangular distribution of defect density", "Murphy 1964"},
    {YieldModel::kMurphyRectangular, [](Ratio x, const YieldLaw&) { return MeanSurvival(2 * x); },
     "uniform distribution of defect density, 0 to twice the mean", "Murphy 1964"},
    {YieldModel::kSeeds, [](Ratio x, const YieldLaw&) { return 1 / (1 + x); },
     "exponential distribution of defect density", "Seeds 1967; Price 1970"},
    {YieldModel::kSeedsSqrt, [](Ratio x, const YieldLaw&) { return exp(-sqrt(x)); },
     "empirical, also published as Seeds; pessimistic below one fault per die", "Moore 1970"},
    {YieldModel::kBoseEinstein, [](Ratio x, const YieldLaw& law) { return NegativeBinomial(x, law.layers); },
     "defect density summed over all critical layers", "Price 1970"},
    {YieldModel::kBoseEinsteinPerLayer,
     [](Ratio x, const YieldLaw& law) {
       return Exactly(std::exp(-law.layers.base() * std::log1p(x.base())), pow(1 + x, -law.layers));
     },
     "defect density per critical layer", "Price 1970"},
    {YieldModel::kNegativeBinomial, [](Ratio x, const YieldLaw& law) { return NegativeBinomial(x, law.clustering); },
     "clustered defects; Poisson in the limit of no clustering", "Stapper 1973"},
    {YieldModel::kManual, [](Ratio, const YieldLaw& law) { return law.manual; }, "the given yield", ""},
};

}  // namespace

Ratio Yield(const YieldLaw& law, Ratio faults) {
  for (const Row& one : kModels) {
    if (one.model == law.model)
      return Figure("Share of dies without a killer defect", one.yield(faults, law), one.note, one.source);
  }
  return law.manual;
}

}  // namespace slipstick
