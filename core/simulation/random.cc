#include "core/simulation/random.h"

#include <cmath>
#include <numbers>

#include "core/base/random_bits.h"

namespace slipstick {

double Random::Uniform() { return UniformOf(MixedBits(state_ += kGoldenStep)); }

double Random::Exponential() { return -std::log(1 - Uniform()); }

// Box and Muller 1958; uses one of the two values.
double Random::Normal() {
  const double radius = std::sqrt(2 * Exponential());
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

// Marsaglia and Tsang 2000; for a shape below 1, a draw for shape + 1 times a power of a uniform draw.
double Random::Gamma(double shape) {
  if (shape < 1) {
    const double larger = Gamma(shape + 1);
    return larger * std::pow(1 - Uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = Normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - Uniform()) < x * x / 2 + d * (1 - v + std::log(v))) return d * v;
  }
}

}  // namespace slipstick
