// The mappings that the tuner tries for a serving load, and its reasons against the others.
#include "core/search/serving_tuner.h"

#include <gtest/gtest.h>

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

// Mixtral has 32 layers and 8 experts. With TP 1, a replica has PP 2^a (a up to 5) and DP attention 2^b, and 1, 2, 4 or
// 8 ranks share the experts: 168 mappings of at most 1,024 devices, whatever the cluster.
TEST(ServingTuner, TriesNoReplicaOfMoreThanAThousandDevices) {
  for (const std::string devices : {"2048", "1048576"}) {
    const Result<Scenario> scenario = ParseScenario(
        *ReadRequest("", {"version=3", "training=null", "cost=null", "model=mixtral-8x7b", "cluster=dgx-h100",
                          "cluster.devices=" + devices, "serving.devices=" + devices, "serving.mapping.tp=1"}));
    ASSERT_TRUE(scenario);
    ServingLoad load = *scenario->serving;
    load.mapping = ServingMapping{};  // parsing has chosen a mapping
    EXPECT_EQ(TuneServing(scenario->model, scenario->cluster, load, {"tp"}).tried, 168) << devices;
  }
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

}  // namespace
}  // namespace slipstick
