// Wide expert parallelism: work per device, expert exchange, and its overlap.
#include <algorithm>
#include <cmath>

#include "core/base/fix.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/expert_time.h"
#include "core/engine_step/layers_time.h"
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

// Each attention group has its own scheduler: 18,432 sequences on 72 groups are 256 each.
TEST(WideExpertParallel, AHostWorksForItsOwnSequences) {
  const ServingReport report = Serve(Wide(72, 256), true);
  const ServedOperator* host = Find(report.operators.decode, "engine overhead per sequence");
  ASSERT_NE(host, nullptr);
  EXPECT_NEAR(host->count, 256, 1e-6);
  EXPECT_LT(report.decode_step, 884.7 * kMs / 4);
}

// DeepEP's low-latency kernels over 9 nodes, 64 tokens to 8 of 256 experts, 50 GB/s per device (times in us):
// dispatch: 7168 (1 + 4/128) + 16 = 7408 bytes; 64 * 8 * 7408 * 8/9 / (0.94 * 50 GB/s) = 71.73; setup 8.5 + 3 + 9 (1 +
// log2 9)/2 = 30.26
// combine: 2 * 7168 + 16 = 14352 bytes; 64 * 8 * 14352 * 8/9 / (0.94 * 50 GB/s) = 138.97; the same setup
TEST(WideExpertParallel, DispatchTravelsInFp8AndCombineInSixteenBit) {
  const ServingReport report = Serve(Wide(72, 64) + std::vector<std::string>{"serving.engine.two_batch_overlap=false",
                                                                             "model.moe.imbalance=1.000000001"},
                                     true);
  const ServedOperator* exchange = Find(report.operators.decode, "expert exchange");
  ASSERT_NE(exchange, nullptr);
  EXPECT_NEAR(exchange->count, 58, 1e-9);
  EXPECT_NEAR(In(exchange->time, kUs), 71.73 + 30.26 + 138.97 + 30.26, 0.02);
}

// TensorRT-LLM's one-sided kernels on the 72 ranks of one NVLink domain, 900 GB/s (times in us): 64 tokens each reach
// 72 (1 - (71/72)^8) = 7.622 ranks.
// dispatch of 7168 (1 + 4/128) bytes: 11 + 2.8 log2 72 + 4.006 (71/72)/0.62 = 34.65
// combine of 2 * 7168 bytes: 11 + 2.8 log2 72 + 7.770 (71/72)/0.62 = 40.63
TEST(WideExpertParallel, OneScaleUpDomainHasItsOwnKernels) {
  const ServingReport report =
      Serve(Wide(72, 64) + std::vector<std::string>{"cluster=gb200-nvl72", "serving.engine=trtllm",
                                                    "model.moe.imbalance=1.000000001"},
            true);
  const ServedOperator* exchange = Find(report.operators.decode, "expert exchange");
  ASSERT_NE(exchange, nullptr);
  EXPECT_NEAR(In(exchange->time, kUs), 34.65 + 40.63, 0.02);
}

// With more ranks each reads fewer expert weights. Beyond some degree the exchange outgrows what computation can hide,
// and the busiest rank the mean.
TEST(WideExpertParallel, TheRatePerDeviceRisesToABestDegreeAndFallsWithTheExposedExchange) {
  double last = 0;
  for (const int ranks : {8, 16, 32, 72}) {
    const double rate = 64 / In(Serve(Wide(ranks, 64)).decode_step, kS);
    EXPECT_GT(rate, last) << ranks;
    last = rate;
  }
  Seconds exposed;
  for (const int ranks : {128, 192, 256}) {
    const ServingReport report = Serve(Wide(ranks, 64), true);
    const ServedOperator* exchange = Find(report.operators.decode, "exposed expert exchange");
    ASSERT_NE(exchange, nullptr) << ranks;
    EXPECT_GT(exchange->time, exposed) << ranks;
    exposed = exchange->time;
    EXPECT_LE(64 / In(report.decode_step, kS), last) << ranks;
    last = 64 / In(report.decode_step, kS);
  }
}

// SGLang on 96 H100 (LMSYS, 2025-05-05): 22,282 output tokens/s per node of the decode pool at 256 sequences per
// device, and 54,543 prompt tokens/s per node of a prefill pool of 32 devices with chunks of 16,384 on each
// (--chunked-prefill-size 524288). Without the overlap of two batches at least a quarter of it is lost.
TEST(WideExpertParallel, ThePublishedDeploymentOfSglang) {
  const std::vector<std::string> balanced{"serving.redundant_experts=32"};
  EXPECT_NEAR(256 / In(Serve(Wide(72, 256) + balanced).decode_step, kS), 22282 / 8., 0.2 * 22282 / 8);
  const std::vector<std::string> pools{"cluster.devices=104",
                                       "serving.devices=104",
                                       "serving.disaggregated.prefill_devices=32",
                                       "serving.disaggregated.decode_devices=72",
                                       "serving.disaggregated.prefill_mapping.attention_dp=32",
                                       "serving.disaggregated.prefill_mapping.ep=32",
                                       "serving.prefill_chunk=16384",
                                       "serving.output=20"};
  const auto prefilled = [&](const std::vector<std::string>& more) {
    return Serve(Wide(72, 256) + pools + more).requests_per_s * 2000 / 32;
  };
  EXPECT_NEAR(prefilled({}), 54543 / 8., 0.2 * 54543 / 8);
  EXPECT_LT(prefilled({"serving.disaggregated.prefill_mapping.overlap.ep=false"}), prefilled({}) / 1.25);
}

// Two half batches of 10 ms each: 6 of attention, 3 of experts, 1 of dense layers; dispatch takes 4 ms, combine 5.
// Attention hides all of both; the experts leave 1 ms of the dispatch and 2 of the combine exposed: 2 * 10 + 3. A
// normal kernel leaves 108 of 132 SMs.
TEST(WideExpertParallel, AnExchangeIsExposedByWhatTheOtherHalfCannotCover) {
  const Result<Scenario> scenario = ScenarioOf(Wide(72, 64));
  ASSERT_TRUE(scenario);
  const Deployment deployment = Deploy(scenario->model, scenario->cluster, *scenario->serving);
  LayersCost half;
  half.compute = 10 * kMs, half.attention = 6 * kMs, half.experts = 3 * kMs, half.dispatch = 4 * kMs,
  half.combine = 5 * kMs;
  EXPECT_NEAR(In(TwoBatches(half, deployment, Phase::kDecode), kMs), 23, 1e-9);
  const double taken = 24 / 132.;
  EXPECT_NEAR(In(TwoBatches(half, deployment, Phase::kPrefill), kMs),
              6 + taken * 4 + std::max(4., 3 + taken * 4) + std::max(5., 3 + taken * 5) + 6 + taken * 5 + 2, 1e-9);
  half.dispatch = half.combine = 40 * kMs;  // more than the computation can hide
  EXPECT_NEAR(In(TwoBatches(half, deployment, Phase::kDecode), kMs), 4 * 40 + 2, 1e-9);
}

TEST(WideExpertParallel, OverlapIsAnInputWithTheEnginesDefault) {
  const auto step = [](const std::string& engine, const std::string& more) {
    return Serve(Wide(72, 256) + std::vector<std::string>{"serving.engine=" + engine, more}).decode_step;
  };
  const std::string on = "serving.mapping.overlap.ep=true", off = "serving.mapping.overlap.ep=false",
                    same = "serving.output=100";
  EXPECT_EQ(step("sglang", on), step("sglang", same));
  EXPECT_EQ(step("sglang", off), step("sglang", "serving.engine.two_batch_overlap=false"));
  EXPECT_EQ(step("trtllm", off), step("trtllm", same));
  EXPECT_LT(step("trtllm", on), step("trtllm", same));
}

TEST(WideExpertParallel, TwoBatchesInTurnHideWhatComputingCan) {
  for (const int each : {8, 64, 256}) {
    const std::vector<std::string> load = Wide(72, each);
    const ServingReport hidden = Serve(load, true),
                        in_turn =
                            Serve(load + std::vector<std::string>{"serving.engine.two_batch_overlap=false"}, true);
    EXPECT_LE(hidden.decode_step, in_turn.decode_step) << each;
    // Both halves send the same bytes, so overlap saves at most the exchange time.
    const ServedOperator* exchange = Find(in_turn.operators.decode, "expert exchange");
    ASSERT_NE(exchange, nullptr);
    EXPECT_GE(hidden.decode_step, in_turn.decode_step - exchange->count * exchange->time) << each;
  }
  const ServingReport hidden = Serve(Wide(72, 256)),
                      in_turn =
                          Serve(Wide(72, 256) + std::vector<std::string>{"serving.engine.two_batch_overlap=false"});
  EXPECT_LT(hidden.decode_step, 0.9 * in_turn.decode_step);
}

TEST(WideExpertParallel, AStepTakesItsOperatorsTogether) {
  for (const int each : {8, 256}) {
    const ServingReport report = Serve(Wide(72, each), true);
    Seconds sum;
    for (const ServedOperator& one : report.operators.decode) sum += one.count * one.time;
    EXPECT_NEAR(sum / report.decode_step, 1, 1e-9) << each;
  }
}

// DeepSeek-V3's report, 3.4: decoding on 320 devices with one expert each, 64 of them redundant or shared.
TEST(WideExpertParallel, RedundantExpertsFillMoreRanksThanExperts) {
  const Result<Scenario> scenario = ScenarioOf(Wide(320, 64));
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.issues[0].fixes.back(), SetTo("serving.redundant_experts", 64));
  const std::vector<std::string> filled = Wide(320, 64) + std::vector<std::string>{"serving.redundant_experts=64"};
  const ServingReport one = Serve(filled);
  EXPECT_TRUE(one.infeasible.empty());
  // 256 devices hold one expert each as well, and 64 devices 4 each, as 72 devices hold of 288 experts.
  EXPECT_NEAR(one.memory.weights / Serve(Wide(256, 64)).memory.weights, 1, 1e-9);
  const ServingReport four = Serve(Wide(72, 64) + std::vector<std::string>{"serving.redundant_experts=32"});
  EXPECT_NEAR(four.memory.weights / Serve(Wide(64, 64)).memory.weights, 1, 1e-9);
}

// No rank holds a part of an expert: 256 experts on 72 ranks are 4 on the fullest, and the answer says how many copies
// fill the others.
TEST(WideExpertParallel, RanksHoldWholeExperts) {
  const ServingReport uneven = Serve(Wide(72, 64));
  EXPECT_NEAR(uneven.memory.weights / Serve(Wide(64, 64)).memory.weights, 1, 1e-9);
  const auto says_copies = [](const std::string& text) {
    return text.find("serving.redundant_experts=32") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(uneven.warnings.begin(), uneven.warnings.end(), says_copies));
  const ServingReport filled = Serve(Wide(72, 64) + std::vector<std::string>{"serving.redundant_experts=32"});
  EXPECT_FALSE(std::any_of(filled.warnings.begin(), filled.warnings.end(), says_copies));
}

TEST(WideExpertParallel, RedundantExpertsFillEveryRank) {
  const Result<Scenario> scenario = ScenarioOf(Wide(72, 64) + std::vector<std::string>{"serving.redundant_experts=30"});
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.issues[0].path, "serving.redundant_experts");
  EXPECT_EQ(scenario.issues[0].fixes,
            Fixes{SetTo("serving.redundant_experts", 32)});  // 288 = 4 * 72; 216 is fewer than the 256 experts
}

// 72 ranks hold 256 / 72 experts each, or 4 with 32 copies: the busiest has 1 + 0.29 sqrt(2 ln(72) 72 / 256) = 1.4498
// or 1 + 0.29 sqrt(2 ln(72) / 4) = 1.4241 times the mean. On 32 ranks with 9 experts each it is 1.2545; measured, 1.25.
TEST(WideExpertParallel, TheRemainingImbalanceFallsWithRedundantExperts) {
  const auto imbalance = [](int ranks, int redundant) {
    const Result<Scenario> scenario = ScenarioOf(
        Wide(ranks, 64) + std::vector<std::string>{"serving.redundant_experts=" + std::to_string(redundant)});
    return scenario ? ImbalanceOf(Deploy(scenario->model, scenario->cluster, *scenario->serving)).base() : 0;
  };
  EXPECT_NEAR(imbalance(72, 0), 1.4498, 5e-5);
  EXPECT_NEAR(imbalance(72, 32), 1.4241, 5e-5);
  EXPECT_NEAR(imbalance(32, 32), 1.2545, 5e-5);
}

// Within a server there are no copies: with 32 experts per rank, whose loads vary by 1.2 of their mean, the busiest has
// 1 + 1.2 sqrt(2 ln(8) 8 / 256) = 1.4326.
TEST(WideExpertParallel, WithinAServerNothingBalances) {
  const auto imbalance = [](const std::string& more) {
    const Result<Scenario> scenario = ScenarioOf(Wide(8, 64) + std::vector<std::string>{more});
    return scenario ? ImbalanceOf(Deploy(scenario->model, scenario->cluster, *scenario->serving)).base() : 0;
  };
  EXPECT_NEAR(imbalance("serving.redundant_experts=0"), 1.4326, 5e-5);
  EXPECT_NEAR(imbalance("serving.redundant_experts=32"), 1 + 0.29 * std::sqrt(2 * std::log(8.) / 36), 1e-9);
}

TEST(WideExpertParallel, CopiesOfBusyExpertsShareTheirTokens) {
  const std::vector<std::string> uneven = Wide(72, 256) + std::vector<std::string>{"model.moe.imbalance=1.5"};
  const Seconds even = Serve(Wide(72, 256) + std::vector<std::string>{"model.moe.imbalance=1.000000001"}).decode_step;
  const Seconds without = Serve(uneven).decode_step,
                with = Serve(uneven + std::vector<std::string>{"serving.redundant_experts=32"}).decode_step;
  EXPECT_GT(without, with);
  EXPECT_GT(with, even);
}

// The experts of the 8 ranks compute 8 prompts that are prefilled together, or the one of a request that is alone:
// 2000 tokens, 8 experts each, 3 products of 7168 x 2048, an eighth of them on a rank, 1.4326 times that on the busiest.
TEST(WideExpertParallel, ALoneRequestPrefillsOnlyItsOwnTokens) {
  const auto flops = [](const std::string& load) {
    const ServingReport report = Serve(Wide(8, 1) + std::vector<std::string>{load}, true);
    const ServedOperator* experts = Find(report.operators.prefill, "experts");
    return experts == nullptr ? 0 : experts->flops.base();
  };
  const double lone = 2. * 2000 * 8 * 3 * 7168 * 2048 / 8 * 1.4326;
  EXPECT_NEAR(flops("serving.batch=1") / lone, 1, 1e-4);
  EXPECT_NEAR(flops("serving.concurrency=1") / lone, 1, 1e-4);
  EXPECT_NEAR(flops("serving.concurrency=3") / lone, 3, 3e-4);
  EXPECT_NEAR(flops("serving.concurrency=64") / lone, 8, 8e-4);
}

// Requests that arrive at random rarely meet: one per 1,000 s waits for no other group.
TEST(WideExpertParallel, RequestsThatArriveSeldomPrefillOnlyTheirOwnTokens) {
  const auto first_token = [](const std::string& load) { return In(Serve(Wide(8, 1) + std::vector{load}).ttft, kS); };
  const double alone = first_token("serving.batch=1");
  EXPECT_GT(first_token("serving.batch=8"), 1.3 * alone);
  EXPECT_NEAR(first_token("serving.requests_per_s=0.001") / alone, 1, 0.01);
}

}  // namespace
}  // namespace slipstick
