// The numbers that every part of a training step is computed from: degrees, tokens, and the slices a device holds.
#pragma once

#include "core/training/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// Of one device of the mapping. Counts as double: they only enter formulas.
struct TrainingShape {
  double tensor = 1, context = 1, pipeline = 1, chunks = 1, expert = 1, expert_tensor = 1, data = 1;
  double sequence_split = 1;  // tensor with sequence parallelism, else 1
  double devices = 1;
  double micro_batch = 1, micro_batches = 1;  // sequences in one pass; passes a step
  double sequence = 1;
  double tokens = 1;      // of one pass on a device
  double own_tokens = 1;  // of them, those whose residual stream the device keeps under sequence parallelism
  [[nodiscard]] double DataRanks() const { return data * context; }  // that hold the same dense weights
  [[nodiscard]] double ExpertDataRanks() const { return data * context * tensor / (expert * expert_tensor); }
};
TrainingShape ShapeOf(const TrainingRun& run);

// Ranks that the optimizer's state is split over, of those that hold the same weights.
double ShardRanks(const TrainingRun& run, double data_ranks);

// Stages whose weights a device holds: under dualpipe its own and its mirror's.
double WeightCopies(const TrainingRun& run);

}  // namespace slipstick
