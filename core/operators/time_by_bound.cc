#include "core/operators/time_by_bound.h"

#include "core/base/figure.h"

namespace slipstick {

ByBound<Ratio> SharesOf(const TimeByBound& operators) {
  const Seconds whole = operators.Total();
  ByBound<Ratio> shares;
  shares.compute = 1;
  if (!(whole > Seconds{})) return shares;
  for (std::size_t i = 0; i < kBoundParts<Ratio>.size(); ++i)
    shares.*kBoundParts<Ratio>[i] = operators.*kBoundParts<Seconds>[i] / whole;
  return shares;
}

TimeByBound SplitByBound(Seconds total, const ByBound<Ratio>& shares, const ByBound<Seconds>& beside) {
  constexpr std::array<std::string_view, kBoundParts<Seconds>.size()> kTitles{
      "Compute-bound",         "Bound by L1, shared memory or the intake of the SMs",
      "Bound by the L2 cache", "Memory-bandwidth-bound",
      "Communication-bound",   "Latency-bound",
      "Pipeline bubble"};
  TimeByBound split;
  for (std::size_t i = 0; i < kTitles.size(); ++i) {
    const Ratio share = shares.*kBoundParts<Ratio>[i];
    const Seconds other = beside.*kBoundParts<Seconds>[i];
    split.*kBoundParts<Seconds>[i] = Figure(kTitles[i], share > 0 ? total * share + other : other,
                                            "the operators that it bounds, of the report's list");
  }
  return split;
}

}  // namespace slipstick
