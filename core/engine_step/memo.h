// Results shared by the mappings of a search: passes of the same ranks over the same requests, for any number of
// replicas and pools. Figures are identical with and without the memo.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/engine_step/phases.h"
#include "core/engine_step/serving_load.h"
#include "core/operators/gemm.h"

namespace slipstick {

// Valid for one model, cluster and load; only the inputs that a search varies may change.
class ServingMemo {
 public:
  // Drops results for other ranks or formats.
  void Enter(const ServingLoad& load) {
    ServingMapping ranks = load.mapping;
    if (ranks.attention_dp == 1) ranks.replicas.reset();  // else replicas decide how many groups prefill together
    std::optional<ServingMapping> prefill_ranks =
        load.disaggregated ? load.disaggregated->prefill_mapping : std::nullopt;
    if (prefill_ranks && prefill_ranks->attention_dp == 1) prefill_ranks->replicas.reset();
    if (prefill_ranks != prefill_ranks_) pool_prefill_.clear();
    prefill_ranks_ = prefill_ranks;
    if (ranks == ranks_ && load.precision == formats_) return;
    ranks_ = ranks;
    formats_ = load.precision;
    decode_.clear();
    prefill_.clear();
    pool_prefill_.clear();
  }
  template <class Compute>
  const DecodeTimes& Decode(double sequences, const Compute& compute) {
    const auto [entry, is_new] = decode_.try_emplace(sequences);
    if (is_new) entry->second = compute();
    return entry->second;
  }
  template <class Compute>
  const PrefillTimes& Prefill(const ServingLoad& load, double running, const Compute& compute) {
    return Lookup(prefill_, load, running, compute);
  }
  // Prefill on a prefill pool, for a decode group with `running` sequences.
  template <class Compute>
  const PrefillTimes& PoolPrefill(const ServingLoad& load, double running, const Compute& compute) {
    return Lookup(pool_prefill_, load, running, compute);
  }
  // One GEMM on one device: independent of the ranks around it.
  template <class Compute>
  const KernelTime& Product(const Gemm& gemm, const Compute& compute) {
    if (products_.empty()) products_.resize(kProducts);
    const double mixed = gemm.m * 73856093 + gemm.n * 19349663 + gemm.k * 83492791 + static_cast<double>(gemm.weights);
    TimedProduct& slot = products_[static_cast<std::uint64_t>(mixed) % kProducts];
    if (!(slot.gemm == gemm)) slot = {gemm, compute()};
    return slot.time;
  }

  // One memo per class of requests: each class is a load of its own.
  std::vector<ServingMemo>& OfClasses(std::size_t count) {
    if (classes_.size() != count) classes_ = std::vector<ServingMemo>(count);
    return classes_;
  }

 private:
  static constexpr std::size_t kProducts = 4093;
  struct TimedProduct {
    Gemm gemm{0, 0, 0};
    KernelTime time;
  };
  using Prefills = std::map<std::pair<double, double>, PrefillTimes>;  // by prefill chunk and sequences per group
  template <class Compute>
  static const PrefillTimes& Lookup(Prefills& entries, const ServingLoad& load, double running,
                                    const Compute& compute) {
    const auto [entry, is_new] = entries.try_emplace({static_cast<double>(load.prefill_chunk.value_or(0)), running});
    if (is_new) entry->second = compute();
    return entry->second;
  }

  ServingMapping ranks_;
  std::optional<ServingMapping> prefill_ranks_;  // of a prefill pool with its own mapping
  ServingPrecision formats_;
  std::map<double, DecodeTimes> decode_;  // by sequences per group
  Prefills prefill_, pool_prefill_;
  std::vector<TimedProduct> products_;
  std::vector<ServingMemo> classes_;
};

}  // namespace slipstick
