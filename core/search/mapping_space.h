// Every legal way to spread a training run or a serving load over the devices, as a countable set: Size(), At(i).
//
// The order is fixed by the inputs alone, so that a place means the same mapping on every machine and in every shard.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/hardware/cluster.h"
#include "core/mapping/parallelism.h"
#include "core/serving/serving_load.h"
#include "core/training/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// Smallest and largest value of a member, by its name in the mapping ("tp", "micro_batch", "batch", …). A member that is
// not named is searched over everything that is legal.
struct SpaceLimit {
  double low = 0;
  double high = 1e18;  // larger than any count
};
using SpaceLimits = std::map<std::string, SpaceLimit, std::less<>>;

// The members a training search chooses.
struct TrainingChoice {
  TrainingMapping mapping;
  Recompute recompute = Recompute::kNone;
};
class TrainingSpace {
 public:
  TrainingSpace(const Model& model, const TrainingRun& run, Count devices, const SpaceLimits& limits);
  [[nodiscard]] Count Size() const { return size_; }
  [[nodiscard]] TrainingChoice At(Count index) const;
  static std::vector<std::string_view> Members();

 private:
  struct Block {  // all mappings that share the degrees
    Count tp, pp, cp, ep, expert_tp, dp;
    std::vector<Count> micro_batches, virtual_stages, zeros;
    std::vector<PipelineSchedule> schedules;
    std::vector<bool> sequence_parallel;
    Count offset = 0;
  };
  std::vector<Block> blocks_;
  std::vector<Recompute> recomputes_;
  TrainingMapping base_;
  Count size_ = 0;
};

// The members a serving search chooses.
struct ServingChoice {
  ServingMapping mapping;
  Count batch = 1;
  ServingPrecision precision;
};
class ServingSpace {
 public:
  // `precisions` lists the number formats to try; the load's own is always among them.
  ServingSpace(const Model& model, const ServingLoad& load, Count devices, const std::vector<ServingPrecision>& precisions,
               const SpaceLimits& limits);
  [[nodiscard]] Count Size() const { return static_cast<Count>(blocks_.size() * batches_.size() * precisions_.size()); }
  [[nodiscard]] ServingChoice At(Count index) const;
  static std::vector<std::string_view> Members();

 private:
  std::vector<ServingMapping> blocks_;
  std::vector<Count> batches_;
  std::vector<ServingPrecision> precisions_;
};

}  // namespace slipstick
