// The mappings that the tuner tries for a serving load, and its reasons against the others.
#include "core/search/serving_tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>

#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::operator+;
using testing::Assignments;
using testing::Number;

// Mixtral has 32 layers and 8 experts. With TP 1, a replica has PP 2^a (a up to 5) and DP attention 2^b, and under vLLM
// none or all of at most 8 ranks share the experts: 69 mappings of at most 1,024 devices, whatever the cluster.
TEST(ServingTuner, TriesNoReplicaOfMoreThanAThousandDevices) {
  for (const std::string devices : {"2048", "1048576"}) {
    const Result<Scenario> scenario = ParseScenario(
        *ReadRequest("", {"version=3", "training=null", "cost=null", "model=mixtral-8x7b", "cluster=dgx-h100",
                          "cluster.devices=" + devices, "serving.devices=" + devices, "serving.mapping.tp=1"}));
    ASSERT_TRUE(scenario);
    ServingLoad load = *scenario->serving;
    load.mapping = ServingMapping{};  // parsing has chosen a mapping
    EXPECT_EQ(TuneServing(scenario->model, scenario->cluster, load, {"tp"}).tried, 69) << devices;
  }
}

// Beyond capacity the mapping is the one that serves most, and none is said to lack memory that has it.
TEST(ServingTuner, BeyondCapacityServesMost) {
  const auto answer = [](const std::string& rate) {
    return *ParseJson(EvaluateAnswer("",
                                     {"training=null", "model=gpt-oss-120b", "cluster=dgx-h100", "serving.prompt=2000",
                                      "serving.output=500", "serving.requests_per_s=" + rate},
                                     "", false)
                          .text);
  };
  const Json served = answer("44"), overloaded = answer("46");
  EXPECT_TRUE(served["serving"]["feasible"]);
  EXPECT_FALSE(overloaded["serving"]["feasible"]);
  EXPECT_GE(overloaded["serving"]["tokens_per_s"], served["serving"]["tokens_per_s"]);
  for (const Json* one : {&served, &overloaded})
    EXPECT_EQ((*one)["serving"]["chosen"].dump().find("fit"), std::string::npos);
}

// No mapping of 4 devices, the greatest common divisor of 8 and 20, holds DeepSeek-R1: each pool has one of its own.
TEST(ServingTuner, PoolsWithoutACommonMappingHaveTheirOwn) {
  const Json answer =
      *ParseJson(EvaluateAnswer("",
                                {"training=null", "model=deepseek-r1", "cluster=dgx-h200", "cluster.devices=28",
                                 "serving.disaggregated.prefill_devices=8", "serving.disaggregated.decode_devices=20",
                                 "serving.requests_per_s=2", "serving.prompt=4000", "serving.output=500"},
                                "", false)
                     .text);
  EXPECT_TRUE(answer["serving"]["feasible"]);
  EXPECT_EQ(answer["scenario"]["serving"]["disaggregated"]["prefill_mapping"]["tp"], 8);
}

// Qwen3-235B's experts have 1,536 columns: an eighth of them, 192, is no multiple of the 128 that share a scale in fp8
// (https://github.com/vllm-project/vllm/issues/17569).
TEST(ServingTuner, KeepsBlocksThatShareAScaleWhole) {
  const Assignments alone{"training=null", "model=qwen3-235b-a22b", "cluster=dgx-h200", "serving.concurrency=1"};
  const auto answer = [](const Assignments& asked) { return *ParseJson(EvaluateAnswer("", asked, "", false).text); };
  const Json chosen = answer(alone)["scenario"]["serving"]["mapping"];
  EXPECT_EQ(chosen["tp"], 8);
  EXPECT_EQ(chosen["ep"], 8);
  const auto cut = [&](const std::string& ep) {
    return answer(alone + Assignments{"serving.mapping.tp=8", "serving.mapping.ep=" + ep})["warnings"].dump().find(
               "that share a scale") != std::string::npos;
  };
  EXPECT_TRUE(cut("1"));
  EXPECT_FALSE(cut("8"));
}

// At a given arrival rate all mappings serve the same throughput. The ratio stated for another degree is that of the
// scenario with this degree.
TEST(ServingTuner, SaysHowMuchLongerATokenTakesElsewhere) {
  const auto answer = [](const Assignments& asked) { return *ParseJson(EvaluateAnswer("", asked, "", false).text); };
  int compared = 0;
  for (const char* model : {"model=llama-3.1-8b", "model=llama-3.1-70b", "model=qwen3-30b-a3b"}) {
    const Assignments asked{
        "version=3", "training=null", "cost=null", "cluster=dgx-h100", "cluster.devices=8", "serving.requests_per_s=1",
        model};
    const Json best = answer(asked);
    for (const Json& one : best["serving"]["chosen"]) {
      std::smatch words;
      const std::string why = TextOf(one["why"]);
      if (!std::regex_match(why, words, std::regex(R"([^0-9;]* (\d+) takes ([0-9.]+) times as long per token\.)")))
        continue;
      const Json other = answer(asked + Assignments{TextOf(one["path"]) + "=" + words[1].str()});
      EXPECT_NEAR(std::stod(words[2]), Number(other, "serving.tpot_s") / Number(best, "serving.tpot_s"), 0.05 + 1e-9)
          << model << " " << why;
      ++compared;
    }
  }
  EXPECT_GE(compared, 4);
}

// llama.cpp's --split-mode is layer unless told otherwise; MLX's ranks take either. Neither has DP attention or EP.
TEST(ServingTuner, SplitsAReplicaAsTheEngineDoes) {
  const auto answer = [](const Assignments& asked) { return *ParseJson(EvaluateAnswer("", asked, "", false).text); };
  const Assignments two{"version=3",
                        "training=null",
                        "cost=null",
                        "model=qwen3-32b",
                        "cluster=single-rtx-3090",
                        "cluster.devices=2",
                        "serving.engine=llamacpp-2025",
                        "serving.precision.weights=q8_0",
                        "serving.batch=1"};
  const Json layers = answer(two)["scenario"]["serving"]["mapping"];
  EXPECT_EQ(Number(layers, "pp"), 2) << JsonText(layers);
  EXPECT_EQ(Number(layers, "tp"), 1);
  const Json tensors = answer(two + Assignments{"serving.mapping.tp=2"})["scenario"]["serving"]["mapping"];
  EXPECT_EQ(Number(tensors, "tp"), 2);
  for (const char* engine : {"serving.engine=llamacpp-2025", "serving.engine=mlx"}) {
    const Json experts = answer({"version=3", "training=null", "cost=null", "model=gpt-oss-120b", "cluster=dgx-h100",
                                 "cluster.devices=4", engine})["scenario"]["serving"]["mapping"];
    EXPECT_EQ(Number(experts, "attention_dp"), 1) << engine;
    EXPECT_EQ(Number(experts, "ep"), 1) << engine;
    EXPECT_EQ(std::min(Number(experts, "tp"), Number(experts, "pp")), 1) << engine;
  }
}

}  // namespace
}  // namespace slipstick
