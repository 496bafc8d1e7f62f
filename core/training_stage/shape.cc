#include "core/training_stage/shape.h"

namespace slipstick {

namespace {

// Of all tokens, those in long documents are more: the mean of the squares over the mean.
double AttendedTokens(const TrainingRun& run) {
  const auto sequence = static_cast<double>(run.sequence);
  if (!run.documents || IsPadded(run)) return sequence;
  const double length = static_cast<double>(run.documents->length), variation = run.documents->variation;
  return min(sequence, length * (1 + variation * variation));
}

}  // namespace

TrainingShape ShapeOf(const TrainingRun& run) {
  const TrainingMapping& mapping = run.mapping;
  TrainingShape shape;
  shape.tensor = static_cast<double>(mapping.tp);
  shape.context = static_cast<double>(mapping.cp);
  shape.pipeline = static_cast<double>(mapping.pp);
  shape.chunks = static_cast<double>(mapping.virtual_stages);
  shape.expert = static_cast<double>(mapping.ep);
  shape.expert_tensor = static_cast<double>(mapping.expert_tp);
  shape.data = static_cast<double>(mapping.dp.value_or(1));
  shape.devices = shape.tensor * shape.context * shape.pipeline * shape.data;
  shape.sequence_split = mapping.sequence_parallel ? shape.tensor : 1;
  shape.micro_batch = static_cast<double>(mapping.micro_batch);
  shape.micro_batches = static_cast<double>(run.global_batch) / (shape.data * shape.micro_batch);
  shape.sequence = static_cast<double>(run.sequence);
  shape.attended = AttendedTokens(run);
  shape.counted = static_cast<double>(IsPadded(run) ? run.documents->length : run.sequence);
  shape.tokens = shape.micro_batch * shape.sequence / shape.context;
  shape.sequence_parallel_tokens = shape.tokens / shape.sequence_split;
  return shape;
}

bool IsPadded(const TrainingRun& run) { return run.documents && run.documents->layout == DocumentLayout::kPadded; }

double ShardRanks(const TrainingRun& run, double data_ranks) {
  if (run.mapping.zero == 0) return 1;
  if (!run.mapping.shard_within) return data_ranks;
  const double within = static_cast<double>(*run.mapping.shard_within) * static_cast<double>(run.mapping.cp);
  return min(data_ranks, within);
}

double OffloadedGradients(const TrainingRun& run) {
  return run.offload.gradients.value_or(run.framework.offload.gradients ? run.offload.optimizer : Ratio(0));
}

std::string_view InputOfOffloadedGradients(const TrainingRun& run) {
  if (run.offload.gradients) return "training.offload.gradients";
  return run.framework.offload.gradients ? "training.offload.optimizer" : "training.framework.offload.gradients";
}

}  // namespace slipstick
