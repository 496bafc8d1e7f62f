// Weights on one device, and how ZeRO splits their states over the ranks that hold the same weights.
#pragma once

#include "core/training_stage/shape.h"

namespace slipstick {

struct HeldWeights {
  Ratio dense = 0;     // routed experts and adapters apart
  Ratio experts = 0;   // routed
  Ratio adapters = 0;  // low-rank; the others are then frozen
  [[nodiscard]] Ratio Base() const { return dense + experts; }
  HeldWeights& operator+=(const HeldWeights& other);
};
HeldWeights operator*(Ratio count, const HeldWeights& weights);

// The weights that the optimizer updates. Adapters count as dense: the same ranks hold them.
HeldWeights TrainedOf(const TrainingRun& run, const HeldWeights& weights);

// Whether a rank accumulates the whole gradients of its weights over the micro-batches, and then reduces them once,
// although ZeRO shards them.
bool AccumulatesWhole(const TrainingRun& run, const TrainingShape& shape);

// Number of ranks that split a state, among those with the same weights; 1: each rank holds all of it.
struct Shards {
  Ratio dense = 1, experts = 1;
};
// Shards of a state that ZeRO splits from stage `from` on.
Shards ShardsFrom(int from, const TrainingRun& run, const TrainingShape& shape);

// A rank's part of a state of the weights, without adapters.
Ratio PerRank(const HeldWeights& weights, const Shards& shards);

}  // namespace slipstick
