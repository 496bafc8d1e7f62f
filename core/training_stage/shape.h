// Degrees and token counts of a training step.
#pragma once

#include <string_view>

#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// Counts are doubles because they only enter formulas.
struct TrainingShape {
  double tensor = 1, context = 1, pipeline = 1, chunks = 1, expert = 1, expert_tensor = 1, data = 1;
  double sequence_split = 1;  // tensor under sequence parallelism, else 1
  double devices = 1;
  double micro_batch = 1;    // sequences
  double micro_batches = 1;  // per step and data-parallel replica
  double sequence = 1;
  double attended = 1;  // length of the document that a token is in, in the mean: attention stays within
  double counted = 1;   // tokens of a sequence that are no padding
  double tokens = 1;    // of a micro-batch on one device
  double sequence_parallel_tokens = 1;  // of them, those whose residual stream the device holds
  [[nodiscard]] double DataRanks() const { return data * context; }  // ranks that hold the same dense weights
  [[nodiscard]] double ExpertDataRanks() const { return data * context * tensor / (expert * expert_tensor); }
};
// Whether sequences end in padding.
bool IsPadded(const TrainingRun& run);
TrainingShape ShapeOf(const TrainingRun& run);

// Ranks that ZeRO splits the optimizer state over, out of the data_ranks that hold the same weights.
double ShardRanks(const TrainingRun& run, double data_ranks);

// Share of the gradients in host memory, and the input that it comes from.
double OffloadedGradients(const TrainingRun& run);
std::string_view InputOfOffloadedGradients(const TrainingRun& run);

}  // namespace slipstick
