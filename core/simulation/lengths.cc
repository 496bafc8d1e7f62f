#include "core/simulation/lengths.h"

#include <cmath>

namespace slipstick {
namespace {

// Between two quantiles the logarithm of the length grows linearly: for the two published traces, the means are closer
// than with linear lengths.
double AtShare(const std::vector<LengthQuantile>& quantiles, double share) {
  std::size_t above = 1;
  while (above + 1 < quantiles.size() && quantiles[above].share < share) ++above;
  const LengthQuantile &low = quantiles[above - 1], &high = quantiles[above];
  const double part = (share - low.share) / (high.share - low.share);
  return static_cast<double>(low.tokens) *
         std::pow(static_cast<double>(high.tokens) / static_cast<double>(low.tokens), part);
}

// The value below which this share of a standard normal distribution lies, by bisection.
double NormalAtShare(double share) {
  double low = -10, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

// `normal`: of a standard normal distribution.
double Lognormal(const LengthDistribution& distribution, double mean, double normal) {
  const double variance = std::log(1 + distribution.variation * distribution.variation);  // of the logarithm
  return mean * std::exp(std::sqrt(variance) * normal - variance / 2);
}

}  // namespace

double LengthAtShare(const LengthDistribution& distribution, double mean, double share) {
  if (distribution.kind == LengthKind::kUniform)
    return mean * (1 + min(1.0, std::sqrt(3.0) * distribution.variation) * (2 * share - 1));
  if (distribution.kind == LengthKind::kLognormal) return Lognormal(distribution, mean, NormalAtShare(share));
  return distribution.kind == LengthKind::kQuantiles ? AtShare(distribution.quantiles, share) : mean;
}

Count DrawLength(const LengthDistribution& distribution, double mean, Random& random) {
  double length = mean;
  if (distribution.kind == LengthKind::kLognormal) {
    length = Lognormal(distribution, mean, random.Normal());
  } else if (distribution.kind != LengthKind::kFixed) {
    length = LengthAtShare(distribution, mean, random.Uniform());
  }
  constexpr double kLongestLength = 1 << 28;
  return static_cast<Count>(std::llround(min(kLongestLength, max(1.0, length))));
}

double DrawGap(const Arrivals& arrivals, Random& random) {
  if (arrivals.kind == ArrivalKind::kPoisson) return random.Exponential();
  return random.Gamma(arrivals.burstiness) / arrivals.burstiness;
}

}  // namespace slipstick
