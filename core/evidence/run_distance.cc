#include "core/evidence/run_distance.h"

#include <algorithm>
#include <cmath>

namespace slipstick {
namespace {

constexpr double kHalfPrecision = 1;  // `bits` of 16-bit operands

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
      return spreads.step;
  }
  return spreads.step;
}

}  // namespace

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

double ExpectedSpread(MeasuredKind kind, const RunSetting& setting, const RunDistance& weights) {
  if (kind == MeasuredKind::kWholeRun) return 1;  // they have a median, no interval
  const Spread& spread = SpreadOf(kind, weights.spread);
  return spread.base + spread.network * setting.network + spread.latency * setting.latency +
         spread.waiting * setting.waiting + (setting.has_experts ? spread.experts : 0) +
         spread.halving * std::max(0., kHalfPrecision - setting.bits);
}

}  // namespace slipstick
