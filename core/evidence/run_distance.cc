#include "core/evidence/run_distance.h"

#include <cmath>

namespace slipstick {

double DistanceOf(const RunSetting& a, const RunSetting& b, const RunDistance& weights) {
  const double device = a.architecture != b.architecture ? weights.architecture : a.device != b.device ? weights.device : 0;
  const double software = a.software != b.software ? weights.software : 0;
  const double experts = a.has_experts != b.has_experts ? weights.experts : 0;
  const double sizes = weights.bits * std::abs(a.bits - b.bits) + weights.devices * std::abs(a.devices - b.devices) +
                       weights.load * std::abs(a.load - b.load) + weights.parameters * std::abs(a.parameters - b.parameters) +
                       weights.length * std::abs(a.length - b.length);
  const double shares = weights.network * std::abs(a.network - b.network) + weights.latency * std::abs(a.latency - b.latency) +
                        weights.waiting * std::abs(a.waiting - b.waiting);
  return device + software + experts + sizes + shares;
}

double StretchOf(MeasuredKind kind, const RunDistance& weights) {
  const Stretch& stretch = weights.stretch;
  switch (kind) {
    case MeasuredKind::kTrainingMemory:
    case MeasuredKind::kServingMemory:
      return stretch.memory;
    case MeasuredKind::kTokenTime:
      return stretch.token;
    case MeasuredKind::kThroughput:
      return stretch.throughput;
    case MeasuredKind::kStaticLatency:
      return stretch.batch;
    case MeasuredKind::kFirstToken:
      return stretch.first_token;
    case MeasuredKind::kStepTime:
    case MeasuredKind::kWholeRun:
      return stretch.step;
  }
  return 1;
}

double ExpectedSpread(MeasuredKind kind, const RunSetting& setting, const RunDistance& weights) {
  if (kind == MeasuredKind::kStepTime) return weights.calm_step + setting.network;
  if (kind == MeasuredKind::kFirstToken) return weights.calm_first_token + setting.waiting;
  return 1;
}

}  // namespace slipstick
