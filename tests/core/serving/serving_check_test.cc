// Contradictory loads give issues at their paths.
#include "tests/core/serving/served.h"
#include "tests/support/issue_words.h"

namespace slipstick {
namespace {

void ExpectIssue(const std::vector<std::string>& assignments, const std::string& path, const std::string& words) {
  const Result<Scenario> scenario = ScenarioOf(assignments);
  ASSERT_FALSE(scenario) << path;
  for (const Issue& issue : scenario.issues) {
    if (issue.path == path && WordsOf(issue).find(words) != std::string::npos) return;
  }
  ADD_FAILURE() << "no issue at " << path << " with '" << words << "'; first: " << scenario.issues[0].path << ": "
                << WordsOf(scenario.issues[0]);
}

const std::vector<std::string> kChecked{"model=llama-3.1-70b", "cluster=dgx-h100", "serving.devices=8"};

TEST(ServingCheck, NamesTheNearestDegrees) {
  ExpectIssue(kChecked + std::vector<std::string>{"serving.mapping.tp=6"}, "serving.mapping.tp",
              "fix serving.mapping.tp=4; fix serving.mapping.tp=8");
  ExpectIssue(kChecked + std::vector<std::string>{"serving.mapping.tp=4", "serving.mapping.pp=81"},
              "serving.mapping.pp", "80 layers");
  ExpectIssue(kChecked + std::vector<std::string>{"serving.mapping.tp=16"}, "serving.mapping",
              "needs more than 8 devices");
  ExpectIssue(kChecked + std::vector<std::string>{"serving.mapping.tp=4", "serving.mapping.replicas=3"},
              "serving.mapping.replicas", "= 2");
  ExpectIssue(kChecked + std::vector<std::string>{"serving.mapping.ep=2"}, "serving.mapping.ep", "no experts");
  ExpectIssue(kChecked + std::vector<std::string>{"serving.devices=7", "serving.mapping.tp=2"}, "serving.devices",
              "fix serving.devices=6; fix serving.devices=8");
  ExpectIssue(kChecked + std::vector<std::string>{"serving.devices=4096", "serving.mapping.tp=8"}, "serving.devices",
              "At most the cluster's");
  ExpectIssue(kChecked + std::vector<std::string>{"serving.mapping.tp=8", "serving.engine=llamacpp"},
              "serving.mapping.tp", "Must be 1");
  const std::vector<std::string> experts{"model=qwen3-30b-a3b", "cluster=dgx-h100", "serving.devices=4"};
  for (const char* engine : {"serving.engine=llamacpp-2025", "serving.engine=mlx"}) {
    ExpectIssue(experts + std::vector<std::string>{engine, "serving.mapping.tp=2", "serving.mapping.pp=2"},
                "serving.mapping.pp", "not both");
    ExpectIssue(experts + std::vector<std::string>{engine, "serving.mapping.attention_dp=4"},
                "serving.mapping.attention_dp", "no DP attention");
    ExpectIssue(experts + std::vector<std::string>{engine, "serving.mapping.tp=4", "serving.mapping.ep=4"},
                "serving.mapping.ep", "no expert parallelism");
  }
  ExpectIssue(
      kChecked + std::vector<std::string>{"serving.mapping.tp=8", "serving.concurrency=4", "serving.requests_per_s=2"},
      "serving.requests_per_s", "not both");
  ExpectIssue({"model=gemma-4-e2b", "cluster=dgx-h100", "serving.mapping.tp=1", "serving.mapping.pp=2"},
              "serving.mapping.pp", "share a KV cache");
  ExpectIssue({"model=qwen3-235b-a22b", "cluster=dgx-h100", "serving.mapping.tp=4", "serving.mapping.ep=3",
               "serving.engine=sglang"},
              "serving.mapping.ep", "fix serving.mapping.ep=2; fix serving.mapping.ep=4");
}

// vLLM's --enable-expert-parallel has no degree: EP is TP times DP attention.
TEST(ServingCheck, AnEngineMaySpreadExpertsOverAllRanksOrNone) {
  const std::vector<std::string> experts{"model=qwen3-235b-a22b", "cluster=dgx-h100", "serving.mapping.tp=4",
                                         "serving.mapping.attention_dp=2"};
  ExpectIssue(experts + std::vector<std::string>{"serving.engine=vllm", "serving.mapping.ep=4"}, "serving.mapping.ep",
              "fix serving.mapping.ep=1; fix serving.mapping.ep=8");
  EXPECT_TRUE(ScenarioOf(experts + std::vector<std::string>{"serving.engine=vllm", "serving.mapping.ep=8"}));
  EXPECT_TRUE(ScenarioOf(experts + std::vector<std::string>{"serving.engine=sglang", "serving.mapping.ep=4"}));
}

TEST(ServingCheck, FindsAllFaultsAtOnce) {
  const Result<Scenario> scenario = ScenarioOf(
      kChecked + std::vector<std::string>{"serving.mapping.tp=6", "serving.mapping.ep=2", "serving.mapping.pp=100"});
  ASSERT_FALSE(scenario);
  EXPECT_GE(scenario.issues.size(), 3U);
}

TEST(ServingCheck, FillsDevicesAndReplicas) {
  const Result<Scenario> scenario = ScenarioOf({"model=llama-3.1-8b", "cluster=dgx-h100", "serving.mapping.tp=2"});
  ASSERT_TRUE(scenario);
  EXPECT_EQ(scenario->serving->devices, 8);
  EXPECT_EQ(scenario->serving->mapping.replicas, 4);
}

TEST(ServingCheck, LetsAnEngineThatPadsSplitAnyHeads) {
  EXPECT_TRUE(ScenarioOf({"model=llama-2-13b", "cluster=trn1-32xlarge", "serving.devices=16", "serving.mapping.tp=16",
                          "serving.engine=neuron"}));
}

TEST(ServingCheck, StandsHugeDegrees) {
  ExpectIssue(kChecked + std::vector<std::string>{"serving.mapping.tp=1048576", "serving.mapping.pp=1048576",
                                                  "serving.mapping.attention_dp=1048576"},
              "serving.mapping", "needs more than 8 devices");
}

}  // namespace
}  // namespace slipstick
