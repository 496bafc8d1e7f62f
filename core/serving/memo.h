// What a search's mappings share: passes of the same ranks over the same requests, whatever replicas and pools are around them.
// Figures are the same with and without it.
#pragma once

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/operators/gemm.h"
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
    pool_prefill_.clear();
  }
  template <class Compute>
  const DecodeTimes& Decode(double sequences, const Compute& compute) {
    const auto [place, is_new] = decode_.try_emplace(sequences);
    if (is_new) place->second = compute();
    return place->second;
  }
  template <class Compute>
  const PrefillTimes& Prefill(const ServingLoad& load, double running, const Compute& compute) {
    return Kept(prefill_, load, running, compute);
  }
  // On the devices of a pool of its own, beside a decode group with `running` sequences.
  template <class Compute>
  const PrefillTimes& PoolPrefill(const ServingLoad& load, double running, const Compute& compute) {
    return Kept(pool_prefill_, load, running, compute);
  }
  // Of one product on the devices, which does not depend on the ranks around it.
  template <class Compute>
  const KernelTime& Product(const Gemm& gemm, const Compute& compute) {
    if (products_.empty()) products_.resize(kProducts);
    const double mixed = gemm.m * 73856093 + gemm.n * 19349663 + gemm.k * 83492791 + static_cast<double>(gemm.weights);
    TimedProduct& entry = products_[static_cast<std::size_t>(std::fmod(mixed, kProducts))];
    if (!(entry.gemm == gemm)) entry = {gemm, compute()};
    return entry.time;
  }

 private:
  static constexpr std::size_t kProducts = 4093;
  struct TimedProduct {
    Gemm gemm{0, 0, 0};
    KernelTime time;
  };
  using Prefills = std::map<std::pair<double, double>, PrefillTimes>;  // by chunk, and sequences of a group
  template <class Compute>
  static const PrefillTimes& Kept(Prefills& kept, const ServingLoad& load, double running, const Compute& compute) {
    const auto [place, is_new] = kept.try_emplace({static_cast<double>(load.prefill_chunk.value_or(0)), running});
    if (is_new) place->second = compute();
    return place->second;
  }

  ServingMapping ranks_;
  ServingPrecision formats_;
  std::map<double, DecodeTimes> decode_;  // by sequences of a group
  Prefills prefill_, pool_prefill_;
  std::vector<TimedProduct> products_;
};

}  // namespace slipstick
