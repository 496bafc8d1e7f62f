#include "core/economics/yield.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/figure.h"

namespace slipstick {
namespace {

// Accurate also for few faults.
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

namespace {

struct Faults {
  double base;  // mean defects on the base
  double unit;  // mean defects on a unit
  Count units;
  Count spares;
};

// Adds exp(log_weight) * exp(-base s) * C(n, j) q^j (1-q)^(n-j) at s times the mean density, for j = 0 … spares. term_0
// = exp(-(base + n unit) s); term_(j+1) = term_j (n-j)/(j+1) q/(1-q). If term_0 underflows, the terms are kept as
// logarithms.
void AddTerms(const Faults& faults, double scale, double log_weight, double& sum) {
  const double unit = faults.unit * scale;
  const double log_first = log_weight - (faults.base + static_cast<double>(faults.units) * faults.unit) * scale;
  const double odds = std::expm1(unit);
  if (log_first > -600) {
    double term = std::exp(log_first);
    for (Count j = 0; j <= faults.spares; ++j) {
      sum += term;
      term *= static_cast<double>(faults.units - j) / static_cast<double>(j + 1) * odds;
    }
  } else if (unit > 0) {
    double log_term = log_first;
    const double log_odds = unit > 30 ? unit : std::log(odds);
    for (Count j = 0; j <= faults.spares; ++j) {
      sum += std::exp(log_term);
      log_term += std::log(static_cast<double>(faults.units - j) / static_cast<double>(j + 1)) + log_odds;
    }
  }
}

// Integral over the gamma density of shape alpha and mean 1, by the trapezoid rule in u = ln(s): the integrand is
// analytic and vanishes at both ends, so the rule converges exponentially.
void AddOverGamma(const Faults& faults, double alpha, double& sum) {
  // log density in u, up to its constant: alpha (u - e^u + 1), 0 at its peak u = 0.
  constexpr double kNegligible = 35;
  double low = -1 - kNegligible / alpha, high = std::log(2 + kNegligible / alpha);
  for (int i = 0; i < 4; ++i) low = std::exp(low) - 1 - kNegligible / alpha;
  for (int i = 0; i < 6; ++i) high = std::log(1 + high + kNegligible / alpha);
  if (alpha > 40) {
    low = std::max(low, -std::sqrt(2 * kNegligible / alpha) * 1.5);
    high = std::min(high, std::sqrt(2 * kNegligible / alpha));
  }
  const double step =
      std::min({0.33, 0.6 / std::sqrt(alpha), 0.42 / std::sqrt(static_cast<double>(faults.spares) + 1)});
  const double constant = alpha * std::log(alpha) - alpha - std::lgamma(alpha) + std::log(step);
  const int count = static_cast<int>(std::ceil((high - low) / step));
  for (int i = 0; i <= count; ++i) {
    const double u = low + step * i;
    const double scale = std::exp(u);
    AddTerms(faults, scale, constant + alpha * (u - scale + 1), sum);
  }
}

// Integral of a smooth weight over s in [0, 2] by Gauss-Legendre on panels (5 nodes each).
template <class Weight>
void AddOverInterval(const Faults& faults, Weight weight, double& sum) {
  constexpr int kPanels = 16;
  const double seventy = 70, root = 2 * std::sqrt(seventy) / 7;
  const double outer = std::sqrt(5 + root) / 3, inner = std::sqrt(5 - root) / 3;
  const double of_outer = (322 - 13 * std::sqrt(seventy)) / 900, of_inner = (322 + 13 * std::sqrt(seventy)) / 900;
  const double nodes[] = {-outer, -inner, 0, inner, outer};
  const double weights[] = {of_outer, of_inner, 2 - 2 * (of_outer + of_inner), of_inner, of_outer};
  const double half = 1.0 / kPanels;
  for (int panel = 0; panel < kPanels; ++panel) {
    for (int i = 0; i < 5; ++i) {
      const double s = half * (2 * panel + 1 + nodes[i]);
      AddTerms(faults, s, std::log(half * weights[i] * weight(s)), sum);
    }
  }
}

// exp(-sqrt(x)) is the mean of exp(-x / (2 z^2)) over a half-normal z: the trapezoid rule in ln(z).
void AddOverLevy(const Faults& faults, double& sum) {
  constexpr double kStep = 0.1, kLow = -36, kHigh = 2.3;
  const double log_density = std::log(kStep * std::sqrt(2 / std::numbers::pi));
  for (double v = kLow; v < kHigh; v += kStep) {
    const double z = std::exp(v);
    AddTerms(faults, 1 / (2 * z * z), log_density + v - z * z / 2, sum);
  }
}

}  // namespace

double HarvestYield(const YieldLaw& law, const HarvestDie& die, PerArea defect_density) {
  Faults faults{die.base * defect_density, die.unit_area * defect_density, die.units,
                std::clamp<Count>(die.spares, 0, die.units)};
  double sum = 0;
  switch (law.model) {
    case YieldModel::kPoisson:
      AddTerms(faults, 1, 0, sum);
      break;
    case YieldModel::kSeeds:
      AddOverGamma(faults, 1, sum);
      break;
    case YieldModel::kBoseEinstein:
      AddOverGamma(faults, law.layers, sum);
      break;
    case YieldModel::kBoseEinsteinPerLayer:
      faults.base *= law.layers, faults.unit *= law.layers;
      AddOverGamma(faults, law.layers, sum);
      break;
    case YieldModel::kNegativeBinomial:
      law.clustering < 1e6 ? AddOverGamma(faults, law.clustering, sum) : AddTerms(faults, 1, 0, sum);
      break;
    case YieldModel::kMurphy:
      AddOverInterval(faults, [](double s) { return s < 1 ? s : 2 - s; }, sum);
      break;
    case YieldModel::kMurphyRectangular:
      AddOverInterval(faults, [](double) { return 0.5; }, sum);
      break;
    case YieldModel::kSeedsSqrt:
      AddOverLevy(faults, sum);
      break;
    case YieldModel::kManual:
      sum = law.manual;
  }
  return std::min(sum, 1.0);
}

}  // namespace slipstick
