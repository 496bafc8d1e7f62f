// What a search's mappings share: passes of the same ranks over the same requests, whatever replicas and pools are around them.
// Figures are the same with and without it.
#pragma once

#include <map>
#include <utility>

#include "core/serving/request_flow.h"

namespace slipstick {

// Of one model, cluster and load, of which only what a search chooses changes.
class ServingMemo {
 public:
  // Forgets what other ranks or formats gave.
  void Enter(const ServingLoad& load) {
    ServingMapping ranks = load.mapping;
    ranks.replicas.reset();
    if (ranks == ranks_ && load.precision == formats_) return;
    ranks_ = ranks;
    formats_ = load.precision;
    decode_.clear();
    prefill_.clear();
  }
  template <class Compute>
  const DecodeTimes& Decode(double sequences, const Compute& compute) {
    const auto [place, is_new] = decode_.try_emplace(sequences);
    if (is_new) place->second = compute();
    return place->second;
  }
  template <class Compute>
  const PrefillTimes& Prefill(const ServingLoad& load, double running, const Compute& compute) {
    const auto [place, is_new] = prefill_.try_emplace({static_cast<double>(load.prefill_chunk.value_or(0)), running});
    if (is_new) place->second = compute();
    return place->second;
  }

 private:
  ServingMapping ranks_;
  ServingPrecision formats_;
  std::map<double, DecodeTimes> decode_;                       // by sequences of a group
  std::map<std::pair<double, double>, PrefillTimes> prefill_;  // by chunk, and sequences of a group
};

}  // namespace slipstick
