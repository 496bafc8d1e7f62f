#include "core/training_stage/shape.h"

#include "core/base/figure.h"

namespace slipstick {

namespace {

// Whether sequences end in padding.
bool IsPadded(const TrainingRun& run) { return run.documents && run.documents->layout == DocumentLayout::kPadded; }

// Mean document length over tokens (long documents have more of them): the mean of the squares over the mean.
Ratio AttendedTokens(const TrainingRun& run) {
  const Ratio sequence = run.sequence;
  if (!run.documents || IsPadded(run)) return sequence;
  const Ratio length = run.documents->length, variation = run.documents->variation;
  return Figure("Attended tokens", min(sequence, length * (1 + variation * variation)),
                "length of the document that a token is in, in the mean: long documents hold more of the tokens; none "
                "passes a sequence");
}

}  // namespace

Ratio TrainingShape::DataRanks() const { return Figure("Ranks that hold the same dense weights", data * context); }
Ratio TrainingShape::ExpertDataRanks() const {
  return Figure("Ranks that hold the same experts", data * context * tensor / (expert * expert_tensor));
}

TrainingShape ShapeOf(const TrainingRun& run) {
  const TrainingMapping& mapping = run.mapping;
  TrainingShape shape;
  shape.tensor = mapping.tp;
  shape.context = mapping.cp;
  shape.pipeline = mapping.pp;
  shape.chunks = mapping.virtual_stages;
  shape.expert = mapping.ep;
  shape.expert_tensor = mapping.expert_tp;
  shape.data = mapping.dp.value_or(1);
  shape.devices = shape.tensor * shape.context * shape.pipeline * shape.data;
  shape.sequence_split = mapping.sequence_parallel ? shape.tensor : Ratio(1);
  shape.micro_batch = mapping.micro_batch;
  shape.micro_batches = Figure("Micro-batches per step", Ratio(run.global_batch) / (shape.data * shape.micro_batch),
                               "of one data-parallel replica");
  shape.sequence = run.sequence;
  shape.attended = AttendedTokens(run);
  shape.counted = IsPadded(run) ? run.documents->length : run.sequence;
  shape.tokens = Figure("Tokens of a micro-batch", shape.micro_batch * shape.sequence / shape.context, "on one device");
  shape.sequence_parallel_tokens = shape.tokens;
  if (mapping.sequence_parallel)
    shape.sequence_parallel_tokens =
        Figure("Tokens whose residual stream the device holds", shape.tokens / shape.sequence_split,
               "sequence parallelism splits them over the TP ranks");
  return shape;
}

Ratio ShardRanks(int from, const TrainingRun& run, const TrainingShape& shape, Ratio ranks) {
  const TrainingMapping& mapping = run.mapping;
  const Ratio zero = mapping.zero, is_sharded = from == 1 ? min(1, zero) : floor(zero / from);
  const Ratio copies = mapping.shard_within ? max(1, shape.data / Ratio(*mapping.shard_within)) : Ratio(1);
  return Figure("Shards", max(1, is_sharded * ranks / copies),
                "ranks that split a state, of one copy; one where ZeRO does not split it");
}

Ratio MtpModules(const Model& model, const TrainingRun& run) {
  if (run.mtp_modules) return *run.mtp_modules;
  return run.framework.capabilities.mtp && run.trainable == Trainable::kAll ? Ratio(model.mtp_layers) : Ratio(0);
}

}  // namespace slipstick
