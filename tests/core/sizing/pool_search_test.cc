// Sizing on two pools: against every way to size them, and with the same figures from `evaluate`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/serving/serving.h"
#include "core/sizing/replica_judge.h"
#include "tests/core/sizing/sized.h"
#include "tests/support/random_scenarios.h"

namespace slipstick {
namespace {

Json RequestOnPools(const Assignments& assignments, const Json& overrides = Json::object()) {
  return WithOverrides(*ReadRequest(R"({"version": 3})", assignments), overrides);
}
Json SizedOn(const Assignments& assignments, const Json& question) {
  return First(assignments, question, R"({"version": 3})");
}

// The fewest devices of two pools, of replicas with at most 4 x 2 devices, that meet the targets; 0 if it takes more
// than `most`.
Count FewestByTryingAll(const Assignments& assignments, const std::vector<RequestClass>& mixture, double rate,
                        const LatencyTargets& targets, Count most) {
  Assignments on_pools = assignments;
  on_pools.insert(on_pools.end(), {"training=null", "cluster.devices=16", "serving.mapping.tp=1",
                                   "serving.disaggregated.prefill_devices=8", "serving.requests_per_s=1"});
  const Result<Scenario> scenario = ParseScenario(RequestOnPools(on_pools));
  if (!scenario) {
    ADD_FAILURE() << scenario.issues.front().message;
    return 0;
  }
  struct Kind {
    Count tp, pp;
    [[nodiscard]] Count Devices() const { return tp * pp; }
  };
  const std::vector<Kind> kinds{{1, 1}, {2, 1}, {4, 1}, {1, 2}, {2, 2}, {4, 2}};
  Count fewest = most + 1;
  for (const Kind& prefill : kinds) {
    for (const Kind& decode : kinds) {
      ServingMemo memo;
      for (Count prefillers = 1; prefillers * prefill.Devices() < fewest; ++prefillers) {
        for (Count decoders = 1; prefillers * prefill.Devices() + decoders * decode.Devices() < fewest; ++decoders) {
          ServingLoad load = *scenario->serving;
          load.requests_per_s = rate;
          load.mixture = mixture;
          load.mapping.tp = decode.tp, load.mapping.pp = decode.pp, load.mapping.replicas = decoders;
          ServingMapping mapping = load.mapping;
          mapping.tp = prefill.tp, mapping.pp = prefill.pp, mapping.replicas = prefillers;
          load.disaggregated->prefill_mapping = mapping;
          load.disaggregated->prefill_devices = prefillers * prefill.Devices();
          load.disaggregated->decode_devices = decoders * decode.Devices();
          load.devices = load.disaggregated->prefill_devices + load.disaggregated->decode_devices;
          Cluster cluster = scenario->cluster;
          cluster.devices = *load.devices;
          const ServingReport report = EvaluateServing(scenario->model, cluster, load, false, nullptr, &memo);
          if (VerdictOn(report, rate, targets).holds()) fewest = *load.devices;
        }
      }
    }
  }
  return fewest > most ? 0 : fewest;
}

// Devices are sold one by one, so the cheapest deployment has the fewest.
int HeldOfTen(bool mixed) {
  testing::Random random(46);
  int held = 0;
  for (int problem = 0; problem < 10; ++problem) {
    const Count prompt = random.Of<Count>({500, 1000, 2000, 4000}), output = random.Of<Count>({50, 100, 300});
    const auto between = [&random](double low, double high) {
      return low + (high - low) * static_cast<double>(random.Below(1000)) / 1000;
    };
    const double rate = between(1, 20), ttft = between(0.2, 1.5), tpot = between(0.008, 0.03);
    const Assignments scenario{problem % 2 == 0 ? "model=llama-3.1-8b" : "model=qwen3-14b", "cluster=dgx-a100",
                               "serving.prompt=" + std::to_string(prompt), "serving.output=" + std::to_string(output),
                               "cost.system.devices_per_host=1"};
    Json question{{"requests_per_s", rate},
                  {"ttft", std::to_string(1e3 * ttft) + " ms"},
                  {"tpot", std::to_string(1e3 * tpot) + " ms"},
                  {"devices", 24},
                  {"limits", {"tp<=4", "pp<=2"}}};
    std::vector<RequestClass> mixture;
    Assignments mean = scenario;
    if (mixed) {  // a quarter of the requests have prompts three times as long, and half the output
      mixture = {{0.75, prompt, output}, {0.25, 3 * prompt, output / 2}};
      mean.push_back("serving.prompt=" + std::to_string(3 * prompt / 2));
      mean.push_back("serving.output=" + std::to_string(std::llround(0.875 * static_cast<double>(output))));
      for (const RequestClass& one : mixture) {
        question["mixture"].push_back(
            {{"weight", one.weight}, {"prompt_tokens", one.prompt_tokens}, {"output_tokens", one.output_tokens}});
      }
    }
    const LatencyTargets targets{Seconds::FromBase(ttft), Seconds::FromBase(tpot)};
    const Count fewest = FewestByTryingAll(mean, mixture, rate, targets, 24);
    const Json pools = SizedOn(scenario, question)["two_pools"];
    const Count found = pools["holds"].get<bool>() ? static_cast<Count>(*NumberAt(pools, "deployment.prefill_devices") +
                                                                        *NumberAt(pools, "deployment.decode_devices"))
                                                   : 0;
    EXPECT_EQ(found, fewest) << problem << ": " << pools.dump();
    held += fewest > 0;
  }
  return held;
}

TEST(TwoPools, AreTheCheapestOfAllThatHold) { EXPECT_GE(HeldOfTen(false), 5) << "the problems must have answers"; }

TEST(TwoPools, AreTheCheapestOfAllThatHoldAMixture) {
  EXPECT_GE(HeldOfTen(true), 5) << "the problems must have answers";
}

TEST(TwoPools, EvaluateGivesTheSameFiguresAndTheBillOfBothPools) {
  const Assignments scenario{"model=llama-3.1-70b", "cluster=dgx-h100", "serving.prompt=4000", "serving.output=300",
                             "serving.disaggregated.prefill_device=l40s"};
  const Json pools = SizedOn(scenario, {{"requests_per_s", 22}, {"ttft", "2 s"}, {"tpot", "25 ms"}})["two_pools"];
  ASSERT_TRUE(pools["holds"].get<bool>()) << pools.dump();
  const Answer answer = EvaluateAnswer(JsonText(RequestOnPools(scenario, pools["overrides"])));
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  const Json report = *ParseJson(answer.text);
  for (const char* figure : {"ttft_s", "tpot_s", "requests_per_s", "energy_j_per_token"})
    EXPECT_EQ(*NumberAt(report, std::string("serving.") + figure), *NumberAt(pools, std::string("at_peak.") + figure));
  const double prefill = *NumberAt(pools, "deployment.prefill_devices"),
               decode = *NumberAt(pools, "deployment.decode_devices");
  EXPECT_EQ(prefill + decode, *NumberAt(pools, "deployment.devices")) << "no device of a server is left over";
  EXPECT_NEAR(*NumberAt(pools, "cost.usd_per_hour"),
              prefill * *NumberAt(report, "cost.prefill_pool.device_hour_usd") +
                  decode * *NumberAt(report, "cost.device_hour_usd"),
              1e-9 * *NumberAt(pools, "cost.usd_per_hour"));
}

// In one pool, waiting sessions keep their prefixes unless the request says otherwise; separate pools keep none.
TEST(TwoPools, EvaluateGivesTheSameFiguresWhereOnePoolKeepsPrefixes) {
  const Assignments scenario{"model=llama-3.1-8b", "cluster=dgx-h100", "serving.prompt=8000", "serving.output=300",
                             "serving.prefix_hit=0.75"};
  const Json pools = SizedOn(scenario, {{"requests_per_s", 20}, {"ttft", "2 s"}, {"tpot", "25 ms"}})["two_pools"];
  ASSERT_TRUE(pools["holds"].get<bool>()) << pools.dump();
  const Json report = *ParseJson(EvaluateAnswer(JsonText(RequestOnPools(scenario, pools["overrides"]))).text);
  for (const char* figure : {"ttft_s", "tpot_s", "requests_per_s", "memory_bytes.total"})
    EXPECT_EQ(*NumberAt(report, std::string("serving.") + figure), *NumberAt(pools, std::string("at_peak.") + figure));
  EXPECT_NE(pools["remarks"].dump().find("Two pools keep no prefixes of waiting sessions"), std::string::npos);
}

// One prompt of 30,000 tokens takes 9.8 GB of KV cache, and beside fp8 weights of 72.7 GB an H100 keeps 1.4 GB.
TEST(TwoPools, PrefillWhereAPromptFits) {
  const Assignments scenario{"model=llama-3.1-70b", "cluster=dgx-h100", "serving.prompt=30000", "serving.output=300",
                             "serving.prefix_hit=0.95"};
  const Json pools = SizedOn(scenario, {{"requests_per_s", 20}, {"ttft", "2 s"}, {"tpot", "40 ms"}})["two_pools"];
  ASSERT_TRUE(pools["holds"].get<bool>()) << pools.dump();
  EXPECT_GT(*NumberAt(pools, "deployment.prefill_mapping.tp") * *NumberAt(pools, "deployment.prefill_mapping.pp"), 1);
}

// Both pools use one format: of two, that of the cheaper deployment. The overrides state it.
// Each pool is bought in servers of its own kind, 8 H100 and 72 GB200, and draws what they draw. Liquid-cooled GB200
// servers take 1.2 times their devices' power or so, H100 servers 1.82 times.
TEST(TwoPools, AreBoughtInServersOfTheirOwnKind) {
  const Json pools = First({"model=llama-3.1-70b", "cluster=gb200-nvl72", "serving.prompt=2500", "serving.output=300",
                            "serving.disaggregated.prefill_device=h100-sxm5-80gb"},
                           {{"requests_per_s", 110}, {"ttft", 1.5}, {"tpot", 0.015}})["two_pools"];
  ASSERT_TRUE(pools["holds"].get<bool>()) << pools.dump();
  const Count prefill = CountAt(pools, "deployment.prefill_devices");
  EXPECT_GT(prefill % 8, 0) << "whole servers hide the rounding";
  EXPECT_EQ(CountAt(pools, "deployment.devices"), (prefill + 7) / 8 * 8 + 72);
}

TEST(TwoPools, ChooseAFormatForBoth) {
  const Assignments scenario{"model=llama-3.1-70b",
                             "cluster=dgx-h100",
                             "serving.prompt=4000",
                             "serving.output=300",
                             "serving.precision.weights=bf16",
                             "cost.system.devices_per_host=1"};
  const auto sized = [&](const char* weights) {
    return SizedOn(scenario,
                   {{"requests_per_s", 20}, {"ttft", "2 s"}, {"tpot", "25 ms"}, {"limits", {weights}}})["two_pools"];
  };
  const Json either = sized("weights=bf16,fp8"), wide = sized("weights=bf16"), narrow = sized("weights=fp8");
  const auto cost = [](const Json& pools) { return *NumberAt(pools, "cost.usd_per_hour"); };
  EXPECT_LT(cost(narrow), cost(wide)) << "half the bytes";
  EXPECT_EQ(cost(either), cost(narrow));
  EXPECT_EQ(either["overrides"]["serving.precision.weights"], "fp8");
  const Json report = *ParseJson(EvaluateAnswer(JsonText(RequestOnPools(scenario, either["overrides"]))).text);
  EXPECT_EQ(*NumberAt(report, "serving.tpot_s"), *NumberAt(either, "at_peak.tpot_s"));
}

// A percentile needs a simulation, which pools do not have; on a torus the links depend on the slice.
TEST(TwoPools, SayWhyTheyAreNotCompared) {
  const Json on_torus = SizedOn({"cluster=tpu-v5p-pod"}, {{"requests_per_s", 1}, {"ttft", "2 s"}})["two_pools"];
  EXPECT_EQ(on_torus["reason"], "topology");
  const Json pools =
      SizedOn({"cluster=dgx-h100"}, {{"requests_per_s", 1}, {"ttft", "2 s"}, {"percentile", "99"}})["two_pools"];
  EXPECT_FALSE(pools["holds"].get<bool>());
  EXPECT_EQ(pools["reason"], "percentile");
}

}  // namespace
}  // namespace slipstick
