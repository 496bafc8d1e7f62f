#include "core/training_stage/held_weights.h"

namespace slipstick {

HeldWeights& HeldWeights::operator+=(const HeldWeights& other) {
  dense += other.dense;
  experts += other.experts;
  adapters += other.adapters;
  return *this;
}

HeldWeights operator*(Ratio count, const HeldWeights& weights) {
  return {count * weights.dense, count * weights.experts, count * weights.adapters};
}

HeldWeights TrainedOf(const TrainingRun& run, const HeldWeights& weights) {
  if (run.optimizer == Optimizer::kNone) return {};
  if (run.trainable == Trainable::kLora) return {weights.adapters, 0, 0};
  return {weights.dense, weights.experts, 0};
}

bool AccumulatesWhole(const TrainingRun& run, const TrainingShape& shape) {
  return run.framework.exchange.reduces_once && run.mapping.zero >= 2 && shape.DataRanks() > 1 &&
         shape.micro_batches > 1;
}

Shards ShardsFrom(int from, const TrainingRun& run, const TrainingShape& shape) {
  if (from == 2 && AccumulatesWhole(run, shape)) return {};
  return {ShardRanks(from, run, shape, shape.DataRanks()), ShardRanks(from, run, shape, shape.ExpertDataRanks())};
}

Ratio PerRank(const HeldWeights& weights, const Shards& shards) {
  const Ratio dense = weights.dense / shards.dense;
  return weights.experts > 0 ? dense + weights.experts / shards.experts : dense;
}

}  // namespace slipstick
