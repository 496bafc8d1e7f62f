// What the mappings of one run share, kept from one evaluation to the next. Figures are the same with and without it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/training/flops.h"
#include "core/training/stage.h"
#include "core/training/stage_time.h"

namespace slipstick {

class CollectiveMemo {
 public:
  template <class Compute>
  Seconds Get(CollectiveType type, Bytes bytes, const GroupPlacement& group, const Compute& compute) {
    Entry* entry = Place(type, bytes, group);
    if (entry == nullptr) return compute();
    if (!Holds(*entry, type, bytes, group)) Fill(*entry, type, bytes, group, compute());
    return entry->time;
  }

 private:
  static constexpr std::size_t kEntries = 1024, kLevels = 6;
  struct Entry {
    CollectiveType type = CollectiveType::kAllReduce;
    Bytes bytes{};
    std::size_t levels = 0;  // 0: empty
    std::array<double, kLevels> extent{};
    Seconds time{};
  };
  Entry* Place(CollectiveType type, Bytes bytes, const GroupPlacement& group);  // null: not kept
  static bool Holds(const Entry& entry, CollectiveType type, Bytes bytes, const GroupPlacement& group);
  static void Fill(Entry& entry, CollectiveType type, Bytes bytes, const GroupPlacement& group, Seconds time);

  std::vector<Entry> entries_;
};

// Of one model, cluster and run, of which only `run.mapping`, `run.recompute` and `run.offload` change. All three outlive it and stay in
// place.
class TrainingMemo {
 public:
  TrainingMemo(const Model& model, const Cluster& cluster, const TrainingRun& run);
  TrainingMemo(const TrainingMemo&) = delete;
  TrainingMemo& operator=(const TrainingMemo&) = delete;

  // Of the run as it is now; valid until the next call.
  const TrainingContext& Context();
  const LayerWorks& Works();
  const LayerTimes& Times(const RecomputeChoice& recompute);
  // A plan that does not depend on times.
  const StagePlan& Plan();
  const StepFlops& FlopsOf(const RecomputeChoice& recompute);

 private:
  static constexpr std::size_t kTimes = 512;
  struct Timed {
    TrainingMapping mapping;
    RecomputeChoice recompute;
    Strides strides;
    LayerTimes times;
  };
  const Model& model_;
  const TrainingRun& run_;
  std::shared_ptr<const StepCluster> prepared_;
  CollectiveMemo collectives_;
  TrainingMapping placed_, worked_, planned_;  // that context, works and plan were made for
  std::optional<TrainingContext> context_;
  std::optional<LayerWorks> works_;
  std::optional<StagePlan> plan_;
  std::vector<std::unique_ptr<Timed>> times_;
  std::vector<std::pair<RecomputeChoice, StepFlops>> flops_;
};

}  // namespace slipstick
