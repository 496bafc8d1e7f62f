// Degrees and token counts of a training step.
#pragma once

#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

struct TrainingShape {
  Ratio tensor = 1, context = 1, pipeline = 1, chunks = 1, expert = 1, expert_tensor = 1, data = 1;
  Ratio sequence_split = 1;  // tensor under sequence parallelism, else 1
  Ratio devices = 1;
  Ratio micro_batch = 1;    // sequences
  Ratio micro_batches = 1;  // per step and data-parallel replica
  Ratio sequence = 1;
  Ratio attended = 1;  // mean, over tokens, of the length of their document; attention stays within documents
  Ratio counted = 1;   // tokens of a sequence that are not padding
  Ratio tokens = 1;    // of a micro-batch on one device
  Ratio sequence_parallel_tokens = 1;           // of these, tokens whose residual stream the device holds
  [[nodiscard]] Ratio DataRanks() const;        // ranks that hold the same dense weights
  [[nodiscard]] Ratio ExpertDataRanks() const;  // ranks that hold the same experts
};
TrainingShape ShapeOf(const TrainingRun& run);

// Number of the `ranks` (which hold the same weights) that split a state that ZeRO shards from stage `from` on. With
// `shard_within`, each group of that many data-parallel ranks holds a whole copy.
Ratio ShardRanks(int from, const TrainingRun& run, const TrainingShape& shape, Ratio ranks);

// Modules of multi-token prediction that the run trains.
Ratio MtpModules(const Model& model, const TrainingRun& run);

}  // namespace slipstick
