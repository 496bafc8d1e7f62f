// Mappings left to the tuner: their meaning, the degrees that stay pinned, and the choices for known runs.
#include "core/scenario/auto_mapping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/evaluation/evaluate.h"
#include "core/scenario/parse_scenario.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

Scenario Settled(const std::vector<std::string>& assignments, const std::string& text = R"({"version": 1})") {
  const Result<Scenario> scenario = ParseScenario(*ReadRequest(text, assignments));
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.issues.front().path + ": " + scenario.issues.front().message);
  return scenario ? *scenario : Scenario{};
}

const Chosen* Find(const Scenario& scenario, const std::string& path) {
  const auto at =
      std::find_if(scenario.chosen.begin(), scenario.chosen.end(), [&](const Chosen& one) { return one.path == path; });
  return at == scenario.chosen.end() ? nullptr : &*at;
}

TEST(AutoMapping, VersionOneKeepsItsMapping) {
  const Scenario scenario = Settled({});
  EXPECT_EQ(scenario.training->mapping.pp, 4);
  EXPECT_EQ(scenario.serving->mapping.tp, 8);
  EXPECT_TRUE(scenario.chosen.empty());
}

TEST(AutoMapping, IsTheSameHoweverItIsRequested) {
  const Scenario two = Settled({"version=2"});
  EXPECT_FALSE(two.chosen.empty());
  for (const Scenario& other :
       {Settled({}, R"({"version": 2})"), Settled({"training.mapping=auto", "serving.mapping=auto"}),
        Settled({}, R"({"version": 2, "cost": null})")}) {
    EXPECT_EQ(other.training->mapping, two.training->mapping);
    EXPECT_EQ(other.serving->mapping, two.serving->mapping);
  }
}

TEST(AutoMapping, PinnedMembersStayAndTheOthersFollow) {
  for (const std::string pin : {"1", "2", "8"}) {
    const Scenario scenario = Settled({"version=2", "training.mapping.tp=" + pin, "serving.mapping.pp=2"});
    EXPECT_EQ(std::to_string(scenario.training->mapping.tp), pin);
    EXPECT_EQ(scenario.serving->mapping.pp, 2);
    EXPECT_EQ(Find(scenario, "training.mapping.tp"), nullptr);
    EXPECT_NE(Find(scenario, "training.mapping.pp"), nullptr);
  }
  // In a mapping without "auto", degrees that are left out are 1.
  const Scenario plain = Settled({"cluster.devices=8"}, R"({"version": 2, "training": {"mapping": {"tp": 4}}})");
  EXPECT_EQ(plain.training->mapping.tp, 4);
  EXPECT_EQ(plain.training->mapping.pp, 1);
}

TEST(AutoMapping, AResolvedReportGivesTheSameMapping) {
  const Scenario scenario = Settled({"version=2", "model=mixtral-8x7b"});
  const Json written = Write(scenario);
  EXPECT_EQ(JsonText(Write(*ParseScenario(written))), JsonText(written));
}

TEST(AutoMapping, EveryChosenMemberHasItsReason) {
  const Scenario scenario = Settled({"version=2"});
  for (const char* path : {"training.mapping.tp", "training.mapping.pp", "training.mapping.micro_batch",
                           "training.recompute", "serving.mapping.tp"}) {
    const Chosen* const chosen = Find(scenario, path);
    ASSERT_NE(chosen, nullptr) << path;
    EXPECT_EQ(chosen->why.back(), '.') << chosen->why;
  }
  // Weights, gradients and moments of 70 billion parameters, 18 bytes each, over only 4 x 2 devices.
  EXPECT_NE(Find(scenario, "training.mapping.zero")->why.find("ZeRO 0 does not fit"), std::string::npos);
}

// Llama 3 405B was trained on 16,384 H100 with TP 8, PP 16, DP 128 at sequences of 8,192 (Grattafiori et al. 2024,
// table 4): tensor parallelism within the node, some pipeline stages, no recomputation.
TEST(AutoMapping, Llama405B) {
  const Scenario scenario = Settled(
      {"version=2", "serving=null", "model=llama-3.1-405b", "cluster.devices=16384", "training.global_batch=2048"});
  const TrainingMapping& mapping = scenario.training->mapping;
  EXPECT_EQ(mapping.tp, 8);
  EXPECT_GE(mapping.pp, 4);
  EXPECT_LE(mapping.pp, 16);
  EXPECT_EQ(scenario.training->recompute, Recompute::kNone);
}

// DeepSeek-V3's pre-training took 2.664 million H800 hours for 14.8T tokens (technical report, table 1), on 2,048
// devices with 16 pipeline stages and experts over 64 (3.2). The request states only these; the other choices stay
// within the framework's features.
TEST(AutoMapping, DeepSeekV3AsItsReportDescribesIt) {
  const std::vector<std::string> described{"version=2",
                                           "serving=null",
                                           "cost=null",
                                           "model=deepseek-v3",
                                           "cluster=hgx-h800",
                                           "cluster.devices=2048",
                                           "training.precision=fp8",
                                           "training.global_batch=15360",
                                           "training.sequence=4096",
                                           "training.tokens=14.8T",
                                           "training.mapping.pp=16",
                                           "training.mapping.ep=64"};
  const auto hours = [](const Scenario& scenario) {
    const Json report = *Evaluate(scenario, ReportDetail::Figures());
    EXPECT_EQ(report["training"]["feasible"], true);
    return report["training"]["time_to_train_s"].get<double>() / 3600 * 2048;
  };
  constexpr double kPublished = 2.664e6;
  const Scenario scenario = Settled(described);
  EXPECT_NEAR(hours(scenario), kPublished, 0.12 * kPublished);
  EXPECT_EQ(scenario.training->mapping.dispatch, ExpertDispatch::kDedicated);
  // Under DeepSeek's own framework: DualPipe, dispatch in 8 bits.
  std::vector<std::string> own = described;
  own.emplace_back("training.framework=hai-llm");
  const Scenario theirs = Settled(own);
  EXPECT_EQ(theirs.training->mapping.schedule, PipelineSchedule::kDualPipe);
  EXPECT_EQ(theirs.training->mapping.tp, 1);
  EXPECT_NEAR(hours(theirs), kPublished, 0.12 * kPublished);
}

// 10,000 devices are 2^4 x 5^4. Llama 3.1 405B has 128 heads, 126 layers and 2^13 tokens: no degree takes the 5^4 that
// 2,048 data-parallel batches leave over. 125 ranks divide a batch near it.
TEST(AutoMapping, ABatchThatNoMappingDividesComesWithOneThatAMappingDivides) {
  const std::vector<std::string> asked{"model=llama-3.1-405b", "cluster=dgx-h100", "cluster.devices=10000",
                                       "serving=null"};
  const auto with = [&](const std::string& batch) {
    std::vector<std::string> assignments = asked;
    assignments.push_back("training.global_batch=" + batch);
    return ParseScenario(*ReadRequest(R"({"version": 3, "training": {"mapping": {"auto": true}}})", assignments));
  };
  const Result<Scenario> refused = with("2048");
  ASSERT_EQ(refused.issues.size(), 1U);
  EXPECT_EQ(refused.issues.front().path, "training.global_batch");
  EXPECT_EQ(refused.issues.front().message, "No mapping of 10,000 devices divides 2,048 sequences");
  ASSERT_EQ(refused.issues.front().fixes.size(), 1U);
  const std::string fix = refused.issues.front().fixes.front().change.value;
  EXPECT_NEAR(std::stod(fix), 2048, 2048 / 8.);
  EXPECT_TRUE(with(fix)) << fix;
}

// Twice the memory allows every mapping of before. The best one has PP 8, in a V, which no walk from a shallow pipeline
// reaches. Walks end within a percent of each other.
TEST(AutoMapping, MoreMemoryIsHardlySlower) {
  const auto step = [](const std::vector<std::string>& more) {
    std::vector<std::string> assignments{"version=3",
                                         "model=gemma-2-9b",
                                         "cluster=dgx-v100",
                                         "cluster.devices=64",
                                         "training.framework=fsdp-eager",
                                         "training.sequence=512",
                                         "training.global_batch=64",
                                         "training.optimizer=adafactor",
                                         "serving=null"};
    assignments.insert(assignments.end(), more.begin(), more.end());
    const Scenario scenario = Settled(assignments, "{}");
    return EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {}).step_time;
  };
  EXPECT_LE(step({"cluster.device.memory.capacity=64 GB", "cluster.device.memory.usable=68 GB"}), 1.01 * step({}));
}

TEST(AutoMapping, WhereNothingFitsTheNearestMappingIsUsed) {
  const Scenario scenario = Settled({"version=2", "model=llama-3.1-405b", "cluster=single-rtx-4090"});
  const Json report = *Evaluate(scenario, ReportDetail::Figures());
  EXPECT_EQ(report["training"]["feasible"], false);
  EXPECT_EQ(report["serving"]["feasible"], false);
  EXPECT_EQ(scenario.training->recompute, Recompute::kAuto);
}

TEST(AutoMapping, DefaultsFollowWhatIsWritten) {
  // 512 is not divisible by 3, so on 96 devices the batch moves.
  const Scenario batch = Settled({"version=2", "serving=null", "cluster.devices=96"});
  EXPECT_NEAR(static_cast<double>(batch.training->global_batch), 512, 64);
  // DeepSeek-V3's 671 GB in fp8 do not fit the 8 x 79.2 GiB of a node.
  const Scenario grown = Settled({"version=2", "training=null", "model=deepseek-v3"});
  EXPECT_EQ(grown.serving->devices, 16);
}

// Without output tokens, no other mapping serves more prompts, however long a next token would take.
TEST(AutoMapping, WithoutOutputServesTheMostPrompts) {
  for (const std::string model : {"mistral-7b", "gemma-3-27b", "opt-13b", "qwen3-30b-a3b"}) {
    for (const std::string engine : {"vllm", "sglang", "trtllm"}) {
      const std::vector<std::string> asked{
          "training=null",    "model=" + model,  "cluster=hgx-mi300x", "serving.engine=" + engine,
          "serving.output=1", "serving.batch=8", "serving.prompt=1024"};
      const auto rate = [&](const std::string& mapping) {
        std::vector<std::string> assignments = asked;
        assignments.push_back("serving.mapping=" + mapping);
        const Result<Json> report = Evaluate(Settled(assignments), ReportDetail::Figures());
        return (*report)["serving"]["feasible"].get<bool>() ? (*report)["serving"]["requests_per_s"].get<double>() : 0;
      };
      const double most = rate("auto");
      for (const char* pinned :
           {R"({"tp": 1})", R"({"tp": 2})", R"({"tp": 4})", R"({"tp": 1, "pp": 2})", R"({"tp": 2, "pp": 2})"}) {
        EXPECT_LE(rate(pinned), most * (1 + 1e-9)) << model << ' ' << engine << ' ' << pinned;
      }
    }
  }
}

TEST(AutoMapping, MustBeTrueOrFalse) {
  EXPECT_EQ(ParseScenario(*ReadRequest(R"({"version": 1})", {"training.mapping.auto=3"})).issues.front().path,
            "training.mapping.auto");
}

Json Served(std::vector<std::string> assignments) {
  assignments.emplace_back("training=null");
  return (*ParseJson(EvaluateAnswer(R"({"version": 3})", assignments, "", false).text))["serving"];
}

TEST(AutoMapping, RequestsAreCountedInTotalWhateverTheMapping) {
  for (const char* tp : {"serving.mapping.tp=4", "serving.mapping.tp=8"}) {
    EXPECT_EQ(Served({tp, "serving.mapping.pp=1"})["requests_in_flight"], 32) << tp;
    EXPECT_EQ(Served({tp, "serving.mapping.pp=1", "serving.concurrency=100"})["requests_in_flight"], 100) << tp;
  }
  // A written batch per replica replaces the default total: two replicas of TP 4 on 8 GPUs.
  EXPECT_EQ(Served({"serving.mapping.tp=4", "serving.mapping.pp=1", "serving.batch=32"})["requests_in_flight"], 64);
  EXPECT_EQ(Settled({"serving.requests_per_s=2"}, R"({"version": 3})").serving->concurrency, std::nullopt);
  for (const char* version : {R"({"version": 1})", R"({"version": 2})"})
    EXPECT_EQ(Settled({}, version).serving->concurrency, std::nullopt) << version;
}

TEST(AutoMapping, MappingsAreComparedAtEqualTotalLoad) {
  const std::string total = "serving.concurrency=100";
  const double fastest = Served({total, "serving.mapping.tp=8"})["tpot_s"].get<double>();
  const Json chosen = Served({total});
  EXPECT_EQ(chosen["requests_in_flight"], 100);
  // No mapping of 8 GPUs that holds the same 100 requests within twice the shortest time per token is faster; TP 1
  // holds one request per replica and the others wait.
  for (const char* tp : {"1", "2", "4", "8"}) {
    const Json other = Served({total, std::string("serving.mapping.tp=") + tp, "serving.mapping.pp=1"});
    const bool holds = other["feasible"].get<bool>() && other["requests_waiting"].get<double>() == 0;
    if (!holds || other["tpot_s"].get<double>() > 2 * fastest) continue;
    EXPECT_EQ(other["requests_in_flight"], 100) << tp;
    EXPECT_LE(other["tokens_per_s"].get<double>(), chosen["tokens_per_s"].get<double>() * (1 + 1e-9)) << tp;
  }
}

TEST(AutoMapping, AMappingThatLetsRequestsWaitDoesNotWinByItsShortTokens) {
  double served = 0, user = 1e9;
  for (const char* requests : {"64", "128", "256", "512"}) {
    const Json now = Served({std::string("serving.concurrency=") + requests});
    EXPECT_EQ(now["requests_waiting"], 0) << requests;  // TP 8 holds 700 requests of 2,304 tokens
    EXPECT_GT(now["tokens_per_s"].get<double>(), served) << requests;
    EXPECT_LT(1 / now["tpot_s"].get<double>(), user) << requests;
    served = now["tokens_per_s"].get<double>(), user = 1 / now["tpot_s"].get<double>();
  }
  // More requests than any mapping holds: no mapping serves more than a full one does.
  EXPECT_GE(Served({"serving.concurrency=4096"})["tokens_per_s"].get<double>(), served);
}

}  // namespace
}  // namespace slipstick
