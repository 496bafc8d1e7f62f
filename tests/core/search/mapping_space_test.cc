#include "core/search/mapping_space.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/schema.h"
#include "core/search/serving_space.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

Model Dense() {
  Model model;
  model.layers = 8, model.hidden = 1024, model.heads = 8, model.ffn = 4096, model.vocab = 1000;
  Issues issues;
  ValidateAndFillDefaults(model, "model", issues);
  return model;
}

TrainingRun RunOf(Count batch) {
  TrainingRun run = Standard<TrainingRun>();
  run.sequence = 1024, run.global_batch = batch;
  return run;
}

SpaceLimit Between(double low, double high) {
  SpaceLimit limit;
  limit.low = low, limit.high = high;
  return limit;
}
SpaceLimit Among(std::vector<std::string> words) {
  SpaceLimit limit;
  limit.among = std::move(words);
  return limit;
}

// Two nodes of eight.
Cluster TwoNodes() {
  Cluster cluster;
  cluster.devices = 16;
  cluster.networks.resize(2);
  cluster.networks[0].size = 8;
  cluster.networks[1].size = 2;
  return cluster;
}

// Limits without offload.
SpaceLimits OnDevice(SpaceLimits limits) {
  limits["offload.activations"] = limits["offload.optimizer"] = Between(0, 0);
  return limits;
}

using Key = std::tuple<Count, Count, Count, Count, Count, Count, Count, Count, bool, Recompute, PipelineSchedule,
                       std::string, double, double>;
Key KeyOf(const TrainingChoice& c) {
  return {c.mapping.tp,          c.mapping.cp,       c.mapping.ep,
          c.mapping.expert_tp,   c.mapping.pp,       c.mapping.virtual_stages,
          c.mapping.micro_batch, c.mapping.zero,     c.mapping.sequence_parallel,
          c.recompute,           c.mapping.schedule, c.mapping.order,
          c.offload.activations, c.offload.optimizer};
}

TEST(TrainingSpace, OneDeviceHasTheMicroBatchesTimesTheRecomputations) {
  // tp = pp = cp = dp = 1; micro-batch 1, 2 or 4; recompute none or full (flash attention): 6.
  EXPECT_EQ(TrainingSpace(Dense(), TwoNodes(), RunOf(4), 1, OnDevice({})).Size(), 6);
}

TEST(TrainingSpace, OffloadsActivationsAndOptimizerState) {
  EXPECT_EQ(TrainingSpace(Dense(), TwoNodes(), RunOf(4), 1, {}).Size(), 6 * 2 * 2);
  EXPECT_EQ(TrainingSpace(Dense(), TwoNodes(), RunOf(4), 1, {{"offload.optimizer", Between(1, 1)}}).Size(), 6 * 2);
  TrainingRun own = RunOf(4);
  own.offload.activations = 0.5;  // the run's share
  EXPECT_EQ(TrainingSpace(Dense(), TwoNodes(), own, 1, {}).Size(), 6 * 3 * 2);
  own.optimizer = Optimizer::kNone;
  EXPECT_EQ(TrainingSpace(Dense(), TwoNodes(), own, 1, {}).Size(), 6 * 3);
  Cluster without = TwoNodes();
  without.device.host.memory = {};
  EXPECT_EQ(TrainingSpace(Dense(), without, RunOf(4), 1, {}).Size(), 6);
}

TEST(TrainingSpace, EveryIndexIsAValidMappingAndUnique) {
  const TrainingRun run = RunOf(16);
  const TrainingSpace space(Dense(), TwoNodes(), run, 8, {});
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

TEST(TrainingSpace, LimitsRestrictIt) {
  const TrainingSpace space(Dense(), TwoNodes(), RunOf(16), 8, {{"tp", Between(2, 4)}, {"zero", Between(1, 1)}});
  EXPECT_GT(space.Size(), 0);
  for (Count i = 0; i < space.Size(); ++i) {
    EXPECT_GE(space.At(i).mapping.tp, 2);
    EXPECT_LE(space.At(i).mapping.tp, 4);
    EXPECT_EQ(space.At(i).mapping.zero, 1);
  }
  EXPECT_EQ(TrainingSpace(Dense(), TwoNodes(), RunOf(16), 8, {{"tp", Between(3, 3)}}).Size(), 0);
}

// Mappings that the framework does not implement are left out, unless a limit names them.
TEST(TrainingSpace, StaysWithinTheFramework) {
  TrainingRun run = RunOf(16);
  run.framework.capabilities.schedules = {"1f1b"};
  run.framework.capabilities.zero = {0, 1};
  run.framework.capabilities.parallelism = {"tp", "pp"};
  run.framework.capabilities.interleaves = false;
  const TrainingSpace inside(Dense(), TwoNodes(), run, 8, {});
  EXPECT_GT(inside.Size(), 0);
  for (Count i = 0; i < inside.Size(); ++i) {
    const TrainingMapping mapping = inside.At(i).mapping;
    EXPECT_EQ(mapping.schedule, PipelineSchedule::kOneFOneB);
    EXPECT_LE(mapping.zero, 1);
    EXPECT_EQ(mapping.cp * mapping.virtual_stages, 1);
  }
  EXPECT_GT(TrainingSpace(Dense(), TwoNodes(), run, 8, {{"schedule", Among({"zb-h1"})}}).Size(), 0);
  EXPECT_GT(TrainingSpace(Dense(), TwoNodes(), run, 8, {{"zero", Between(3, 3)}}).Size(), 0);
  // A range that allows none of the framework's values goes beyond them; other ranges stay within them.
  const auto zeros = [&](double low, double high) {
    const TrainingSpace space(Dense(), TwoNodes(), run, 8, {{"zero", Between(low, high)}, {"dp", Between(2, 8)}});
    std::set<Count> all;
    for (Count i = 0; i < space.Size(); ++i) all.insert(space.At(i).mapping.zero);
    return all;
  };
  EXPECT_EQ(zeros(2, 3), (std::set<Count>{2, 3}));
  EXPECT_EQ(zeros(1, 3), (std::set<Count>{1}));
  EXPECT_GT(TrainingSpace(Dense(), TwoNodes(), run, 8, {{"cp", Between(2, 8)}}).Size(), 0);
}

// Tokens reach their experts by either kind of kernel; dedicated kernels serve up to a number of ranks. The exchange
// overlaps where passes pair.
TEST(TrainingSpace, ChoosesHowTokensReachTheirExperts) {
  Model model = Dense();
  model.moe = Moe{};
  TrainingRun run = RunOf(16);
  run.framework.capabilities.dispatchers = {"all_to_all", "dedicated"};
  run.framework.capabilities.dedicated_ranks = 4;
  run.framework.capabilities.overlaps_experts = true;
  const TrainingSpace space(model, TwoNodes(), run, 8, OnDevice({}));
  Count dedicated = 0, library = 0;
  for (Count i = 0; i < space.Size(); ++i) {
    const TrainingMapping mapping = space.At(i).mapping;
    const Count ranks = mapping.ep * mapping.expert_tp;
    EXPECT_EQ(mapping.dispatch.has_value(), ranks > 1);
    if (mapping.dispatch == ExpertDispatch::kDedicated) {
      EXPECT_LE(ranks, 4);
    }
    (mapping.dispatch == ExpertDispatch::kDedicated ? dedicated : library) += 1;
    const bool pairs = mapping.pp == 1 || mapping.virtual_stages > 1;
    EXPECT_EQ(mapping.overlap.ep.value_or(false),
              ranks > 1 && pairs && mapping.schedule == PipelineSchedule::kOneFOneB);
  }
  EXPECT_GT(dedicated, 0);
  EXPECT_GT(library, dedicated);
}

TEST(TrainingSpace, EveryIndexIsAScenario) {
  for (const bool experts : {false, true}) {
    Model model = Dense();
    if (experts) model.moe = Moe{};
    const TrainingRun run = RunOf(32);
    const TrainingSpace space(model, TwoNodes(), run, 16, {});
    for (Count i = 0; i < space.Size(); i += 7) {
      TrainingRun one = run;
      const TrainingChoice choice = space.At(i);
      one.mapping = choice.mapping;
      one.recompute = choice.recompute;
      one.offload = choice.offload;
      Issues issues;
      ValidateAndFillDefaults(one, model, TwoNodes(), "training", issues);
      ASSERT_TRUE(issues.empty()) << i << ": " << issues[0].path << " " << issues[0].message;
    }
  }
}

TEST(TrainingSpace, RankOrdersDifferInTheLinksOfSomeGroup) {
  // dp inside the node and pp across nodes, or the reverse: with tp 4 and cp 1, one of them gets the node's other half.
  const SpaceLimits limits{{"tp", Between(4, 4)},          {"cp", Between(1, 1)},
                           {"pp", Between(2, 2)},          {"zero", Between(0, 0)},
                           {"micro_batch", Between(1, 1)}, {"sequence_parallel", Between(0, 0)},
                           {"schedule", Among({"1f1b"})},  {"virtual_stages", Between(1, 1)},
                           {"recompute", Among({"none"})}};
  const TrainingSpace space(Dense(), TwoNodes(), RunOf(16), 16, OnDevice(limits));
  std::set<std::string> orders;
  for (Count i = 0; i < space.Size(); ++i) orders.insert(space.At(i).mapping.order);
  EXPECT_TRUE(orders.count("tp-cp-ep-dp-pp") == 1);
  EXPECT_TRUE(orders.count("cp-tp-pp-ep-dp") == 1 || orders.count("tp-cp-pp-ep-dp") == 1 ||
              orders.count("cp-pp-tp-ep-dp") == 1);
  EXPECT_EQ(static_cast<Count>(orders.size()), space.Size());
  EXPECT_LT(space.Size(), 7);  // fewer than the 24 orders

  // In one node every order is the same.
  EXPECT_EQ(TrainingSpace(Dense(), TwoNodes(), RunOf(16), 8,
                          OnDevice({{"tp", Between(4, 4)},
                                    {"pp", Between(1, 1)},
                                    {"cp", Between(1, 1)},
                                    {"micro_batch", Between(1, 1)},
                                    {"zero", Between(0, 0)},
                                    {"sequence_parallel", Between(0, 0)}}))
                .Size(),
            2);  // recomputation none or full
}

TEST(TrainingSpace, ALimitListsWords) {
  const TrainingSpace space(Dense(), TwoNodes(), RunOf(16), 8, {{"schedule", Among({"zb-h1", "dualpipe"})}});
  ASSERT_GT(space.Size(), 0);
  for (Count i = 0; i < space.Size(); ++i) {
    const TrainingMapping m = space.At(i).mapping;
    EXPECT_TRUE(m.schedule == PipelineSchedule::kZbH1 || (m.schedule == PipelineSchedule::kDualPipe && m.pp % 2 == 0));
  }
}

TEST(ServingSpace, EveryIndexIsALoad) {
  Cluster cluster = TwoNodes();
  for (const bool experts : {false, true}) {
    Model model = Dense();
    if (experts) model.moe = Moe{};
    ServingLoad load = Standard<ServingLoad>();
    load.prompt = 4096;
    const ServingSpace space(model, load, 16, {});
    ASSERT_GT(space.Size(), 0);
    Count split = 0, chunked = 0;
    for (Count i = 0; i < space.Size(); ++i) {
      const ServingChoice choice = space.At(i);
      ServingLoad one = load;
      one.mapping = choice.mapping;
      one.batch = {false, choice.batch};
      one.prefill_chunk = choice.prefill_chunk;
      one.disaggregated = choice.disaggregated;
      const ServingMapping& m = one.mapping;
      const Count prefill = choice.disaggregated ? choice.disaggregated->prefill_devices : Tally(0);
      ASSERT_EQ(m.tp * m.pp * m.attention_dp * *m.replicas + prefill, 16);
      split += prefill > 0 ? 1 : 0;
      chunked += choice.prefill_chunk ? 1 : 0;
      Issues issues;
      ValidateAndFillDefaults(one, model, cluster, "serving", issues);
      ASSERT_TRUE(issues.empty()) << i << ": " << issues[0].path << " " << issues[0].message;
    }
    EXPECT_GT(split, 0);
    EXPECT_GT(chunked, 0);
  }
}

// Eight heads over two KV heads: tp 8 would hold each KV head four times, tp 4 twice, tp 2 once.
TEST(ServingSpace, ContextIsSplitWhereRanksWouldCopyTheKvCache) {
  Model model = Dense();
  model.kv_heads = 2;
  const auto degrees = [&](const ServingLoad& load) {
    std::set<std::pair<Count, Count>> found;
    const ServingSpace space(model, load, 8,
                             {{"pp", Between(1, 1)}, {"replicas", Between(1, 1)}, {"prefill_devices", Between(0, 0)}});
    for (Count i = 0; i < space.Size(); ++i) found.emplace(space.At(i).mapping.tp, space.At(i).mapping.cp);
    return found;
  };
  EXPECT_EQ(degrees({}), (std::set<std::pair<Count, Count>>{{8, 1}, {8, 4}}));
  ServingLoad own;
  own.mapping.tp = 8, own.mapping.cp = 2;
  EXPECT_EQ(degrees(own).count({8, 2}), 1u);
  ServingLoad whole;
  whole.engine.composition = Composition::kCompiledGraph;  // this engine has no context parallelism
  EXPECT_EQ(degrees(whole), (std::set<std::pair<Count, Count>>{{8, 1}}));
}

// A prompt of 32k leaves 8k tokens to each of four ranks; a prompt of 4k is not split. Models with recurrent layers and
// engines without prefill context parallelism never split one.
TEST(ServingSpace, LongPromptsAreSplitOverRanks) {
  const auto parts = [](const Model& model, const ServingLoad& load) {
    std::set<Count> found;
    const ServingSpace space(model, load, 16, {});
    for (Count i = 0; i < space.Size(); ++i) {
      const ServingMapping m = space.At(i).mapping;
      found.insert(m.prefill_cp);
      if (!space.At(i).disaggregated) {
        EXPECT_EQ(m.tp * m.pp * m.attention_dp * m.prefill_cp * *m.replicas, 16);
      }
    }
    return found;
  };
  ServingLoad load = Standard<ServingLoad>();
  load.engine.communication.prompt_exchange = PromptExchange::kAllGather;
  load.prompt = 32768;
  EXPECT_EQ(parts(Dense(), load), (std::set<Count>{1, 2, 4}));
  Model hybrid = Dense();
  hybrid.linear_attention = LinearAttention{};
  EXPECT_EQ(parts(hybrid, load), std::set<Count>{1});
  load.prompt = 4096;
  EXPECT_EQ(parts(Dense(), load), std::set<Count>{1});
  load.mapping.prefill_cp = 8;
  EXPECT_EQ(parts(Dense(), load), (std::set<Count>{1, 8}));
  load.engine.communication.prompt_exchange = PromptExchange::kNone;
  load.mapping.prefill_cp = 1;
  load.prompt = 32768;
  EXPECT_EQ(parts(Dense(), load), std::set<Count>{1});
}

TEST(ServingSpace, PrecisionsAreTheLoadsOwnUnlessListed) {
  const ServingLoad& load = Standard<ServingLoad>();
  const ServingSpace own(Dense(), load, 8, {});
  const ServingSpace listed(Dense(), load, 8,
                            {{"weights", Among({"bf16", "fp8"})}, {"kv_cache", Among({"bf16", "fp8", "int8"})}});
  EXPECT_EQ(listed.Size(), 6 * own.Size());
  for (Count i = 0; i < own.Size(); ++i) EXPECT_EQ(own.At(i).precision.weights, load.precision.weights);
}

}  // namespace
}  // namespace slipstick
