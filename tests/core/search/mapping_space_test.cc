#include "core/search/mapping_space.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace slipstick {
namespace {

Model Dense() {
  Model model;
  model.layers = 8, model.hidden = 1024, model.heads = 8, model.ffn = 4096, model.vocab = 1000;
  Issues issues;
  Complete(model, "model", issues);
  return model;
}

TrainingRun RunOf(Count batch) {
  TrainingRun run;
  run.sequence = 1024, run.global_batch = batch;
  return run;
}

using Key = std::tuple<Count, Count, Count, Count, Count, Count, Count, Count, bool, Recompute>;
Key KeyOf(const TrainingChoice& c) {
  return {c.mapping.tp,
          c.mapping.cp,
          c.mapping.ep,
          c.mapping.expert_tp,
          c.mapping.pp,
          c.mapping.virtual_stages,
          c.mapping.micro_batch,
          c.mapping.zero,
          c.mapping.sequence_parallel,
          c.recompute};
}

TEST(TrainingSpace, OneDeviceHasTheMicroBatchesTimesTheRecomputations) {
  // tp = pp = cp = dp = 1; micro-batch 1, 2 or 4; recompute none or full (flash attention): 6.
  EXPECT_EQ(TrainingSpace(Dense(), RunOf(4), 1, {}).Size(), 6);
}

TEST(TrainingSpace, EveryPlaceIsLegalAndOnce) {
  const TrainingRun run = RunOf(16);
  const TrainingSpace space(Dense(), run, 8, {});
  std::set<Key> seen;
  for (Count i = 0; i < space.Size(); ++i) {
    const TrainingChoice choice = space.At(i);
    const TrainingMapping& m = choice.mapping;
    EXPECT_EQ(m.tp * m.pp * m.cp * *m.dp, 8);
    EXPECT_EQ(run.global_batch % (*m.dp * m.micro_batch), 0);
    EXPECT_EQ(8 % m.tp, 0);
    EXPECT_TRUE(m.virtual_stages == 1 || 8 % (m.pp * m.virtual_stages) == 0);
    EXPECT_TRUE(seen.insert(KeyOf(choice)).second) << i;
  }
  EXPECT_GT(space.Size(), 500);
}

TEST(TrainingSpace, LimitsCutIt) {
  const TrainingSpace space(Dense(), RunOf(16), 8, {{"tp", {2, 4}}, {"zero", {1, 1}}});
  EXPECT_GT(space.Size(), 0);
  for (Count i = 0; i < space.Size(); ++i) {
    EXPECT_GE(space.At(i).mapping.tp, 2);
    EXPECT_LE(space.At(i).mapping.tp, 4);
    EXPECT_EQ(space.At(i).mapping.zero, 1);
  }
  EXPECT_EQ(TrainingSpace(Dense(), RunOf(16), 8, {{"tp", {3, 3}}}).Size(), 0);
}

TEST(ServingSpace, EveryPlaceUsesAllDevices) {
  ServingLoad load;
  const ServingSpace space(Dense(), load, 8, {}, {});
  EXPECT_GT(space.Size(), 0);
  for (Count i = 0; i < space.Size(); ++i) {
    const ServingMapping m = space.At(i).mapping;
    EXPECT_EQ(m.tp * m.pp * m.attention_dp * *m.replicas, 8);
  }
}

}  // namespace
}  // namespace slipstick
