#include "core/evidence/run_distance.h"

#include <cmath>

namespace slipstick {
const Spread& SpreadOf(MeasuredKind kind, const Spreads& spreads) {
  switch (kind) {
    case MeasuredKind::kTrainingMemory:
    case MeasuredKind::kServingMemory:
      return spreads.memory;
    case MeasuredKind::kTokenTime:
      return spreads.token;
    case MeasuredKind::kThroughput:
      return spreads.throughput;
    case MeasuredKind::kStaticLatency:
      return spreads.batch;
    case MeasuredKind::kFirstToken:
      return spreads.first_token;
    case MeasuredKind::kStepTime:
    case MeasuredKind::kWholeRun:
    case MeasuredKind::kImageOrClip:
      return spreads.step;
  }
  return spreads.step;
}

const LogSpread& EndsOf(MeasuredKind kind, const Spreads& spreads, bool is_measured) {
  if (kind == MeasuredKind::kImageOrClip) return spreads.image_or_clip;
  const Spread& spread = SpreadOf(kind, spreads);
  return is_measured ? spread.measured : spread.unmeasured;
}

double DistanceOf(const RunSetting& a, const RunSetting& b, const RunDistance& weights) {
  const double device = a.architecture != b.architecture ? weights.architecture
                        : a.device != b.device           ? weights.device
                                                         : 0;
  const double software = a.software != b.software ? weights.software : 0;
  const double experts = a.has_experts != b.has_experts ? weights.experts : 0;
  const double sizes = weights.bits * std::abs(a.bits - b.bits) + weights.devices * std::abs(a.devices - b.devices) +
                       weights.load * std::abs(a.load - b.load) + weights.length * std::abs(a.length - b.length);
  const double shares =
      weights.network * std::abs(a.network - b.network) + weights.waiting * std::abs(a.waiting - b.waiting);
  return device + software + experts + sizes + shares;
}

}  // namespace slipstick
