// Wide expert parallelism: work per device, expert exchange, and its overlap.
#include <cmath>

#include "core/base/fix.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// DeepSeek-V3 in fp8 on `ranks` H100 with `each` sequences per device.
std::vector<std::string> Wide(int ranks, int each) {
  const std::string all = std::to_string(ranks);
  return {"model=deepseek-v3",
          "cluster=dgx-h100",
          "cluster.devices=" + all,
          "serving.engine=sglang",
          "serving.devices=" + all,
          "serving.mapping.attention_dp=" + all,
          "serving.mapping.ep=" + all,
          "serving.batch=" + std::to_string(ranks * each),
          "serving.prompt=2000",
          "serving.output=100",
          "serving.precision.weights=fp8",
          "serving.precision.activations=fp8"};
}

const ServedOperator* Find(const std::vector<ServedOperator>& operators, std::string_view name) {
  for (const ServedOperator& one : operators) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// Each attention group has a scheduler: 18,432 sequences on 72 groups are 256 each.
TEST(WideExpertParallel, AHostWorksForItsOwnSequences) {
  const ServingReport report = Serve(Wide(72, 256), true);
  const ServedOperator* host = Find(report.decode_operators, "engine overhead per sequence");
  ASSERT_NE(host, nullptr);
  EXPECT_NEAR(host->count, 256, 1e-6);
  EXPECT_LT(report.decode_step, 884.7 * kMs / 4);
}

// DeepEP's low-latency kernels over 9 nodes, 64 tokens to 8 of 256 experts, 50 GB/s per device (times in us):
// dispatch: 7168 (1 + 4/128) + 16 = 7408 bytes; 64 * 8 * 7408 * 8/9 / (0.96 * 50 GB/s) = 70.24; 8.2 + 3.7 + 8.3 (1 + log2 9)/2 = 29.20
// combine: 2 * 7168 + 16 = 14352 bytes; 64 * 8 * 14352 * 8/9 / (0.92 * 50 GB/s) = 142.00; 10.1 + 1.4 + 9.3 (1 + log2 9)/2 = 30.89
TEST(WideExpertParallel, DispatchTravelsInFp8AndCombineInSixteenBit) {
  const ServingReport report =
      Serve(Wide(72, 64) + std::vector<std::string>{"serving.engine.two_batch_overlap=false", "model.moe.imbalance=1.000000001"}, true);
  const ServedOperator* exchange = Find(report.decode_operators, "expert exchange");
  ASSERT_NE(exchange, nullptr);
  EXPECT_NEAR(exchange->count, 58, 1e-9);
  EXPECT_NEAR(In(exchange->time, kUs), 70.24 + 29.20 + 142.00 + 30.89, 0.02);
}

// TensorRT-LLM's one-sided kernels on the 72 ranks of one NVLink domain, 900 GB/s (times in us): 64 tokens to the 72 (1 - (71/72)^8)
// = 7.622 ranks that they reach; dispatch of 7168 (1 + 4/128) bytes: 11.7 + 1.75 log2 72 + 4.006 ((71/72)/0.63 + 0.54/72) = 28.80; combine
// of 2 * 7168 bytes: 10.7 + 3.8 log2 72 + 7.770 (71/72)/0.66 = 45.76
TEST(WideExpertParallel, OneScaleUpDomainHasKernelsOfItsOwn) {
  const ServingReport report = Serve(Wide(72, 64) + std::vector<std::string>{"cluster=gb200-nvl72", "serving.engine=trtllm"}, true);
  const ServedOperator* exchange = Find(report.decode_operators, "expert exchange");
  ASSERT_NE(exchange, nullptr);
  EXPECT_NEAR(In(exchange->time, kUs), 28.80 + 45.76, 0.02);
}

// With more ranks each one reads fewer expert weights, until the network is the bottleneck: the rate rises, then flattens.
TEST(WideExpertParallel, TheRatePerDeviceRisesAndThenFlattens) {
  double best = 0, first = 0;
  for (const int ranks : {8, 16, 32, 72, 144}) {
    const double rate = 64 / In(Serve(Wide(ranks, 64)).decode_step, kS);
    if (first == 0) first = rate;
    best = std::max(best, rate);
    EXPECT_GT(rate, 0.96 * best) << ranks;
  }
  EXPECT_GT(best, 1.2 * first);
}

TEST(WideExpertParallel, TwoBatchesInTurnHideWhatComputingCan) {
  for (const int each : {8, 64, 256}) {
    const std::vector<std::string> load = Wide(72, each);
    const ServingReport hidden = Serve(load, true),
                        in_turn = Serve(load + std::vector<std::string>{"serving.engine.two_batch_overlap=false"}, true);
    EXPECT_LE(hidden.decode_step, in_turn.decode_step) << each;
    // Two halves send the same bytes: overlap saves at most the exchange time.
    const ServedOperator* exchange = Find(in_turn.decode_operators, "expert exchange");
    ASSERT_NE(exchange, nullptr);
    EXPECT_GE(hidden.decode_step, in_turn.decode_step - exchange->count * exchange->time) << each;
  }
  const ServingReport hidden = Serve(Wide(72, 256)),
                      in_turn = Serve(Wide(72, 256) + std::vector<std::string>{"serving.engine.two_batch_overlap=false"});
  EXPECT_LT(hidden.decode_step, 0.9 * in_turn.decode_step);
}

TEST(WideExpertParallel, AStepTakesItsOperatorsTogether) {
  for (const int each : {8, 256}) {
    const ServingReport report = Serve(Wide(72, each), true);
    Seconds sum;
    for (const ServedOperator& one : report.decode_operators) sum += one.count * one.time;
    EXPECT_NEAR(sum / report.decode_step, 1, 1e-9) << each;
  }
}

// DeepSeek-V3's report, 3.4: decoding on 320 devices, each with one expert, 64 of them redundant or shared.
TEST(WideExpertParallel, RedundantExpertsFillMoreRanksThanExperts) {
  EXPECT_FALSE(ScenarioOf(Wide(320, 64)));
  const std::vector<std::string> filled = Wide(320, 64) + std::vector<std::string>{"serving.redundant_experts=64"};
  const ServingReport one = Serve(filled);
  EXPECT_TRUE(one.infeasible.empty());
  // 256 devices hold one expert each as well; 288 experts on 72 devices are 4 each, 4/9 more than without redundant ones.
  EXPECT_NEAR(one.memory.weights / Serve(Wide(256, 64)).memory.weights, 1, 1e-9);
  const ServingReport four = Serve(Wide(72, 64) + std::vector<std::string>{"serving.redundant_experts=32"});
  const double expert = 58 * 3.0 * 7168 * 2048;
  EXPECT_NEAR((four.memory.weights - Serve(Wide(72, 64)).memory.weights).base() / (expert * 32 / 72), 1, 1e-9);
}

TEST(WideExpertParallel, RedundantExpertsFillEveryRank) {
  const Result<Scenario> scenario = ScenarioOf(Wide(72, 64) + std::vector<std::string>{"serving.redundant_experts=30"});
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.issues[0].path, "serving.redundant_experts");
  EXPECT_EQ(scenario.issues[0].fixes, Fixes{SetTo("serving.redundant_experts", 32)});  // 288 = 4 * 72; 216 is below the 256 there are
}

TEST(WideExpertParallel, CopiesOfBusyExpertsShareTheirTokens) {
  const std::vector<std::string> uneven = Wide(72, 256) + std::vector<std::string>{"model.moe.imbalance=1.5"};
  const Seconds even = Serve(Wide(72, 256) + std::vector<std::string>{"model.moe.imbalance=1.000000001"}).decode_step;
  const Seconds without = Serve(uneven).decode_step,
                with = Serve(uneven + std::vector<std::string>{"serving.redundant_experts=32"}).decode_step;
  EXPECT_GT(without, with);
  EXPECT_GT(with, even);
}

}  // namespace
}  // namespace slipstick
