#include "core/engine_step/request_stream.h"

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

void CheckDistribution(const LengthDistribution& distribution, const std::string& path, Issues& issues) {
  if (distribution.kind != LengthKind::kQuantiles || Ascends(distribution.quantiles)) return;
  issues.push_back({path + ".quantiles",
                    "Shares must ascend from 0 to 1, and lengths with them",
                    {SetTo(path + ".kind", NameOf(LengthKind::kFixed))}});
}

}  // namespace

void CheckRequestLengths(const RequestLengths& lengths, const std::string& path, Issues& issues) {
  CheckDistribution(lengths.prompt, path + ".prompt", issues);
  CheckDistribution(lengths.output, path + ".output", issues);
}

}  // namespace slipstick
