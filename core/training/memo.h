// Caches results that the mappings of one run share. Figures are the same with and without the memo.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/training_stage/collective_memo.h"
#include "core/training_stage/flops.h"
#include "core/training_stage/stage.h"
#include "core/training_stage/stage_time.h"

namespace slipstick {

// For one model, cluster and run, which must outlive it. Only the run's mapping, recompute and offload may change.
class TrainingMemo {
 public:
  TrainingMemo(const Model& model, const Cluster& cluster, const TrainingRun& run);
  TrainingMemo(const TrainingMemo&) = delete;
  TrainingMemo& operator=(const TrainingMemo&) = delete;

  // For the current values of the run; the references are valid until the next call.
  const TrainingContext& Context();
  const LayerWorks& Works();
  const LayerTimes& Times(const RecomputeChoice& recompute);
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
  TrainingMapping context_mapping_, works_mapping_, plan_mapping_;  // for which context_, works_ and plan_ were made
  std::optional<TrainingContext> context_;
  std::optional<LayerWorks> works_;
  std::optional<StagePlan> plan_;
  std::vector<std::unique_ptr<Timed>> times_;
  std::vector<std::pair<RecomputeChoice, StepFlops>> flops_;
};

}  // namespace slipstick
