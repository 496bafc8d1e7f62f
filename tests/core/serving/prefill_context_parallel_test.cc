// Prefill context parallelism: work and exchange by hand, and Meta's measurement (Context Parallelism for Scalable
// Million-Token Inference, arXiv 2411.01783). Llama 3.1 405B on 16 nodes of 8 H100 with TP 8 in each node; the nodes
// share a prompt by ring attention, and feed-forward weights are in fp8.
#include <algorithm>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

const std::vector<std::string> kMeta{"model=llama-3.1-405b",
                                     "cluster=dgx-h100",
                                     "cluster.devices=128",
                                     "serving.devices=128",
                                     "serving.engine=ideal",
                                     "serving.mapping.tp=8",
                                     "serving.mapping.prefill_cp=16",
                                     "serving.precision.weights=fp8",
                                     "serving.precision.activations=fp8",
                                     "serving.batch=1",
                                     "serving.output=2"};

Seconds FirstToken(const std::string& prompt, const std::vector<std::string>& more = {}) {
  return Serve(kMeta + std::vector<std::string>{"serving.prompt=" + prompt} + more).ttft;
}

// Published: 77 s and 3.8 s. Their devices are limited to 500 W: 63 % utilization means 4.9e18 FLOP in 77 s on 128
// devices of 800 TFLOP/s. At 128k, where a device has 8k tokens, theirs takes 1.5 times as long as ours for reasons not
// modeled, so ours is a lower bound.
TEST(PrefillContextParallel, ReachesThePublishedFirstTokens) {
  const std::vector<std::string> held{"cluster.device.peak.bf16=800 TFLOP/s", "cluster.device.peak.fp16=800 TFLOP/s",
                                      "cluster.device.peak.fp8=1600 TFLOP/s",
                                      "cluster.device.memory.bandwidth=2400 GB/s"};
  EXPECT_NEAR(In(FirstToken("1000000", held), kS) / 77, 1, 0.10);
  EXPECT_LT(In(FirstToken("131072", held), kS), 3.8);
}

// At a million tokens, 93 % of a single node's rate per node: the exchange hides behind attention.
TEST(PrefillContextParallel, ScalesNearlyLinearlyWithLongPrompts) {
  const Seconds sixteen = FirstToken("1000000"),
                one = FirstToken("1000000", {"serving.devices=8", "serving.mapping.prefill_cp=1"});
  EXPECT_NEAR(one / (16 * sixteen), 0.93, 0.07);
}

const ServedOperator& Named(const std::vector<ServedOperator>& operators, const std::string& name) {
  const auto found =
      std::find_if(operators.begin(), operators.end(), [&](const ServedOperator& one) { return one.name == name; });
  if (found == operators.end()) ADD_FAILURE() << name;
  return found == operators.end() ? operators.front() : *found;
}

const std::vector<std::string> kFour{
    "model=llama-3.1-8b",           "cluster=dgx-h100", "serving.devices=8",   "serving.mapping.tp=2",
    "serving.mapping.prefill_cp=4", "serving.batch=1",  "serving.prompt=16384"};

// Each of four ranks has a quarter of the causal pairs and of the rows.
TEST(PrefillContextParallel, SplitsTheWork) {
  const ServingReport split = Serve(kFour, true),
                      whole = Serve(kFour + std::vector<std::string>{"serving.mapping.prefill_cp=1"}, true);
  for (const std::string name : {"attention", "QKV projection"}) {
    EXPECT_NEAR(Named(split.operators.prefill, name).flops / Named(whole.operators.prefill, name).flops, 0.25, 1e-3)
        << name;
  }
  EXPECT_GT(Named(split.operators.prefill, "context-parallel exchange").time, Seconds{});
  EXPECT_LT(split.prefill, 0.5 * whole.prefill);
  EXPECT_GE(split.ttft, split.prefill);
}

// 8 KV heads of 128 in 32 layers, 16 bit: 131,072 bytes per token, divided by TP 2 and four parts of the context.
TEST(PrefillContextParallel, SplitsTheKvCache) {
  const ServingReport report = Serve(kFour + std::vector<std::string>{"serving.engine=ideal", "serving.output=16"});
  EXPECT_NEAR(report.kv_cache.base(), 16400.0 * 131072 / 2 / 4, 16 * 131072.0);
  const auto context = [](const std::string& cp) {
    return Serve(kFour + std::vector<std::string>{"serving.mapping.prefill_cp=" + cp}).max_context;
  };
  EXPECT_NEAR(static_cast<double>(context("4")) / static_cast<double>(context("1")), 4, 0.01);
}

// A gather hides nothing; a ring hides as much as attention covers. More ranks never make a long prompt slower.
TEST(PrefillContextParallel, ARingHidesWhatAGatherDoesNot) {
  const std::vector<std::string> gather{"serving.engine.prompt_exchange=all_gather"};
  EXPECT_LT(FirstToken("1000000"), FirstToken("1000000", gather));
  Seconds before = FirstToken("131072", {"serving.devices=8", "serving.mapping.prefill_cp=1"});
  for (const std::string cp : {"2", "4", "8", "16"}) {
    const Seconds now = FirstToken(
        "131072", {"serving.devices=" + std::to_string(8 * std::stoi(cp)), "serving.mapping.prefill_cp=" + cp});
    EXPECT_LT(now, before) << cp;
    before = now;
  }
}

TEST(PrefillContextParallel, IsAnIssueWhereTheEngineLacksIt) {
  for (const std::string engine : {"trtllm", "lmdeploy", "fastertransformer"}) {
    const Result<Scenario> scenario = ScenarioOf(kFour + std::vector<std::string>{"serving.engine=" + engine});
    ASSERT_FALSE(scenario) << engine;
    EXPECT_EQ(scenario.issues.front().path, "serving.mapping.prefill_cp") << engine;
    EXPECT_FALSE(scenario.issues.front().fixes.empty()) << engine;
  }
  const Result<Scenario> hybrid = ScenarioOf(kFour + std::vector<std::string>{"model=qwen3-next-80b-a3b"});
  ASSERT_FALSE(hybrid);
  EXPECT_EQ(hybrid.issues.front().path, "serving.mapping.prefill_cp");
}

}  // namespace
}  // namespace slipstick
