// The number of requests of a class i in flight is proportional to its share w of the arrivals times its time in a
// slot, w T: the mix in flight differs from the mix that arrives. The contexts of a decode step are means over the
// requests in flight, and a request always takes part in its own steps:
//
//   r_i = w_i T_i / sum(w T)                    share of those in flight
//   step_i = step + (own_i - step) / running    own_i: of a step in which all are as long as it
#include "core/serving/traffic_classes.h"

#include <algorithm>
#include <cmath>

#include "core/engine_step/memo.h"
#include "core/serving/phase_time.h"

namespace slipstick {
namespace {

ServingLoad LoadOf(const ServingLoad& all, Count prompt, Count output) {
  ServingLoad load = all;
  load.mixture.clear();
  load.prompt = prompt;
  load.output = output;
  return load;
}

}  // namespace

TrafficClass::TrafficClass(const Model& model, const Cluster& cluster, const ServingLoad& all, const RequestClass& one)
    : of(one),
      load(LoadOf(all, one.prompt_tokens, one.output_tokens)),
      load_met(LoadOf(all, one.prompt_tokens, all.output)),
      deployment(Deploy(model, cluster, load)),
      met(Deploy(model, cluster, load_met)),
      budget(KvCacheBudgetOf(deployment)),
      held(HeldByRequestOf(deployment, load.prompt, load.output)) {}

TrafficClasses::TrafficClasses(const Model& model, const Cluster& cluster, const ServingLoad& load, ServingMemo* memo)
    : load_(load) {
  for (const RequestClass& one : load.mixture) classes_.emplace_back(model, cluster, load, one);
  if (memo == nullptr) return;
  std::vector<ServingMemo>& memos = memo->OfClasses(2 * classes_.size());
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    classes_[i].deployment.memo = &memos[2 * i];
    classes_[i].met.memo = &memos[2 * i + 1];
    memos[2 * i].Enter(classes_[i].load);
    memos[2 * i + 1].Enter(classes_[i].load_met);
  }
}

double TrafficClasses::MeanOutput() const {
  return Mean([&](std::size_t i) { return static_cast<double>(classes_[i].load.output); });
}

std::vector<double> TrafficClasses::RelativeOutputs() const {
  std::vector<double> relative;
  for (const TrafficClass& one : classes_) relative.push_back(static_cast<double>(one.load.output) / MeanOutput());
  return relative;
}

Cycles TrafficClasses::Settled(double running, const CycleOfClass& cycle_of) const {
  constexpr int kMostRounds = 60;
  std::vector<Seconds> tokens;  // steps in which all sequences have the length of a class
  for (const TrafficClass& one : classes_) tokens.push_back(DecodeOf(one.deployment, running).token);
  Cycles cycles;
  cycles.of.resize(size());
  std::vector<double>& relative = cycles.relative = RelativeOutputs();
  for (int round = 0; round < kMostRounds; ++round) {
    const Seconds step = Mean([&](std::size_t i) { return relative[i] * tokens[i]; });
    for (std::size_t i = 0; i < size(); ++i) {
      DecodeTimes decode;
      decode.token = step + (tokens[i] - step) / running;
      cycles.of[i] = cycle_of(i, decode, relative[i]);
    }
    cycles.mean = Mean([&](std::size_t i) { return cycles.of[i].time; });
    double change = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double now = cycles.of[i].time / cycles.mean;
      change = std::max(change, std::abs(now - relative[i]));
      relative[i] = now;
    }
    if (change < kRoundingGuard) break;
  }
  cycles.variation = Mean([&](std::size_t i) { return relative[i] * relative[i]; }) - 1;
  return cycles;
}

}  // namespace slipstick
