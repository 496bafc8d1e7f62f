#include "tests/support/cost_tools/google_cost.h"

#include <cmath>

#include "core/economics/yield.h"

namespace slipstick::google_cost {

double DiesPerWafer(Millimetres width, Millimetres height) {
  constexpr double kPi = 3.14159265358979323846;
  const SquareMillimetres cell = (width + 0.1 * kMm) * (height + 0.1 * kMm);
  return std::round(294 * kMm * kPi * (300 * kMm / (4 * cell) - 1 / sqrt(2 * cell)));
}

double YieldWithSpares(SquareMillimetres area, PerArea defect_density, Count layers, SquareMillimetres spare_area,
                       Count units, Count spares) {
  const double plain =
      Yield({YieldModel::kBoseEinsteinPerLayer, 0, static_cast<double>(layers), 0}, area * defect_density);
  const double p = spare_area * defect_density;
  const double n = static_cast<double>(units + spares), k = static_cast<double>(spares);
  const double ways = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
  return plain + ways * std::pow(p, k) * std::pow(1 - p, n - k);
}

}  // namespace slipstick::google_cost
