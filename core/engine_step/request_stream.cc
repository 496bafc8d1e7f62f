#include "core/engine_step/request_stream.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/fix.h"

namespace slipstick {
namespace {

bool Ascends(const std::vector<LengthQuantile>& quantiles) {
  if (quantiles.size() < 2 || quantiles.front().share != 0 || quantiles.back().share != 1) return false;
  for (std::size_t i = 1; i < quantiles.size(); ++i) {
    if (!(quantiles[i].share > quantiles[i - 1].share) || quantiles[i].tokens < quantiles[i - 1].tokens) return false;
  }
  return true;
}

// Between two quantiles the logarithm of the length grows linearly, as core/simulation/lengths.cc draws it.
double VariationOf(const std::vector<LengthQuantile>& quantiles) {
  double mean = 0, square = 0;
  for (std::size_t i = 1; i < quantiles.size(); ++i) {
    const auto low = static_cast<double>(quantiles[i - 1].tokens), high = static_cast<double>(quantiles[i].tokens);
    const double share = quantiles[i].share - quantiles[i - 1].share, growth = std::log(high / low);
    mean += share * (growth > 0 ? (high - low) / growth : low);
    square += share * (growth > 0 ? (high * high - low * low) / growth / 2 : low * low);
  }
  return std::sqrt(std::max(0.0, square / (mean * mean) - 1));
}

void CheckDistribution(const LengthDistribution& distribution, const std::string& path, Issues& issues) {
  if (distribution.kind != LengthKind::kQuantiles || Ascends(distribution.quantiles)) return;
  issues.push_back({path + ".quantiles",
                    "Shares must ascend from 0 to 1, and lengths with them",
                    {SetTo(path + ".kind", NameOf(LengthKind::kFixed))}});
}

}  // namespace

double VariationOf(const LengthDistribution& distribution) {
  switch (distribution.kind) {
    case LengthKind::kFixed:
      return 0;
    case LengthKind::kUniform:
      return std::min(std::numbers::inv_sqrt3, distribution.variation);  // no length is below 0
    case LengthKind::kLognormal:
      return distribution.variation;
    case LengthKind::kQuantiles:
      return VariationOf(distribution.quantiles);
  }
  return 0;
}

void CheckRequestLengths(const RequestLengths& lengths, const std::string& path, Issues& issues) {
  CheckDistribution(lengths.prompt, path + ".prompt", issues);
  CheckDistribution(lengths.output, path + ".output", issues);
}

}  // namespace slipstick
