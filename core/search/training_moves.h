// The legal mappings of a training run as points with neighbors, for a search that walks from point to point.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hardware/cluster.h"
#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// The members of a mapping that a tuner chooses; data parallelism follows from these.
enum class MappingAxis {
  kTp,
  kCp,
  kPp,
  kEp,
  kExpertTp,
  kVirtualStages,
  kMicroBatch,
  kZero,
  kSchedule,
  kSequenceParallel,
  kDispatch,
  kExpertOverlap
};
inline constexpr std::array<std::string_view, 12> kAxisNames{"tp",          "cp",
                                                             "pp",          "ep",
                                                             "expert_tp",   "virtual_stages",
                                                             "micro_batch", "zero",
                                                             "schedule",    "sequence_parallel",
                                                             "dispatch",    "overlap.ep"};

class Degrees {
 public:
  Count& operator[](MappingAxis member) { return values_[static_cast<std::size_t>(member)]; }
  Count operator[](MappingAxis member) const { return values_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] PipelineSchedule Schedule() const {
    return static_cast<PipelineSchedule>((*this)[MappingAxis::kSchedule]);
  }
  [[nodiscard]] Count ModelParallel() const {
    return (*this)[MappingAxis::kTp] * (*this)[MappingAxis::kCp] * (*this)[MappingAxis::kPp];
  }
  friend bool operator==(const Degrees& a, const Degrees& b) { return a.values_ == b.values_; }
  friend bool operator<(const Degrees& a, const Degrees& b) { return a.values_ < b.values_; }

 private:
  std::array<Count, kAxisNames.size()> values_{1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
};

// What a tuner may choose.
struct TrainingFreedom {
  std::vector<std::string> pinned{};  // members of the mapping that stay as they are
  bool recompute = false;             // chooses the least recomputation that fits
  bool global_batch = false;          // may move to a near multiple of the data-parallel ranks
  double batch_gain = 0;              // relative gain in time per sequence that a moved batch needs
  Count batch_near = 8;               // maximum move of the batch: one part in this many
};

class TrainingMoves {
 public:
  // All arguments must outlive it.
  TrainingMoves(const Model& model, const Cluster& cluster, const TrainingRun& run, const TrainingFreedom& freedom);

  [[nodiscard]] bool IsFree(MappingAxis member) const { return free_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] bool IsLegal(const Degrees& degrees) const;
  // Whether the member has an effect at these degrees.
  [[nodiscard]] bool Matters(MappingAxis member, const Degrees& degrees) const;
  // The run's batch or, if it may move, the nearest valid multiple.
  [[nodiscard]] Count GlobalBatch(const Degrees& degrees) const;
  [[nodiscard]] TrainingMapping MappingOf(const Degrees& degrees) const;

  // Starting points of a walk: every legal tensor-parallel degree within the innermost network level, with some
  // expert-parallel degrees; each is a column of ascending pipeline depths. Degrees beyond that level are used only if
  // there are no others.
  [[nodiscard]] std::vector<std::vector<Degrees>> Columns() const;
  // The same degrees with the most sharding, if there is more.
  [[nodiscard]] std::optional<Degrees> FullySharded(const Degrees& degrees) const;
  // Visits legal points that differ in one degree, or in two whose product is constant.
  using Visit = std::function<void(const Degrees&)>;
  void VisitNeighbors(const Degrees& from, const Visit& visit) const;
  // Visits pipelines of a few stages from a point that has none, with each schedule and the least sharding that is
  // free: intermediate neighbors may be slower than both ends.
  void VisitNewPipelines(const Degrees& from, const Visit& visit) const;

 private:
  [[nodiscard]] Degrees Pinned() const;
  [[nodiscard]] bool FitsModel(const Degrees& degrees) const;
  [[nodiscard]] bool FitsSchedule(const Degrees& degrees) const;
  [[nodiscard]] bool FitsBatch(const Degrees& degrees) const;
  // Whether the framework can run this batch with the chosen virtual stages.
  [[nodiscard]] bool InterleavesBatch(const Degrees& degrees) const;
  [[nodiscard]] Count DataRanks(const Degrees& degrees) const { return devices_ / degrees.ModelParallel(); }
  // Virtual stages per device that all hold the same number of layers; powers of two if only 1 does.
  [[nodiscard]] std::vector<Count> VirtualStages(Count pp) const;
  // Sets the members that follow a moved degree: virtual stages, micro-batch, sharding.
  [[nodiscard]] Degrees Settled(Degrees degrees) const;
  // Whether experts are on more ranks than the framework's own dispatch kernels support.
  [[nodiscard]] bool IsTooWideForDispatch(const Degrees& degrees) const;
  // Sets the choices of the expert exchange where they matter: as in `from`, or at their initial values.
  [[nodiscard]] Degrees WithExchange(const Degrees& from, Degrees to) const;
  void VisitStages(const Degrees& from, const Visit& visit) const;
  void VisitSplits(const Degrees& from, const Visit& visit) const;
  void VisitAround(const Degrees& from, const Degrees& to, Count factor, const Visit& visit) const;

  const Model& model_;
  const Cluster& cluster_;
  const TrainingRun& run_;
  const TrainingFreedom& freedom_;
  Count devices_;
  bool keeps_batch_near_ = true;  // a batch that may move stays near the run's, unless no mapping is legal then
  std::array<bool, kAxisNames.size()> free_{};
  std::vector<Count> factors_;  // prime factors of the devices
  std::vector<Count> zeros_;
  std::vector<PipelineSchedule> schedules_;
};

}  // namespace slipstick
