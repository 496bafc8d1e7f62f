// All valid mappings of a training run, as an indexed set: Size(), At(i).
//
// The order depends only on the inputs, so an index means the same mapping on every machine and in every shard.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/hardware/cluster.h"
#include "core/mapping/parallelism.h"
#include "core/search/limits.h"
#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// The members that a training search chooses.
struct TrainingChoice {
  TrainingMapping mapping;
  Recompute recompute = Recompute::kNone;
  Offload offload;
};

// Only mappings that the framework's code runs, unless a limit requests more. The experts' exchange overlaps wherever
// possible. Offloads none, all or the run's own share of activations and of optimizer state; none without host memory.
// Omits rank orders that put every group on the same links as an earlier order.
class TrainingSpace {
 public:
  TrainingSpace(const Model& model, const Cluster& cluster, const TrainingRun& run, Count devices,
                const SpaceLimits& named);
  [[nodiscard]] Count Size() const { return size_; }
  [[nodiscard]] TrainingChoice At(Count index) const;
  static std::vector<std::string_view> Members();

 private:
  struct Passes {  // path of the micro-batches through the stages
    PipelineSchedule schedule;
    Count virtual_stages;
    bool sequence_parallel;
    Count micro_batch;
  };
  static std::vector<Passes> PassesOf(const FrameworkCapabilities& can, const Model& model, Count tp, Count pp,
                                      Count sequences, const SpaceLimits& limits);
  struct Block {  // all mappings with the same degrees
    Count tp, pp, cp, ep, expert_tp, dp;
    std::vector<std::size_t> orders;  // indices into orders_
    std::vector<Count> zeros;
    std::vector<std::optional<ExpertDispatch>> dispatchers;
    std::vector<Passes> passes;
    Count offset = 0;
    // `shared`: number of choices for the members that all blocks have in common.
    [[nodiscard]] std::size_t Size(std::size_t shared) const {
      return shared * zeros.size() * passes.size() * orders.size() * dispatchers.size();
    }
  };
  std::vector<Block> blocks_;
  std::vector<Recompute> recomputes_;
  std::vector<Offload> offloads_;
  std::vector<std::string> orders_;
  TrainingMapping base_;
  FrameworkCapabilities can_;
  Count size_ = 0;
};

}  // namespace slipstick
