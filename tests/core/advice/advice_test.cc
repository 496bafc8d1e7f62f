// Advice: each change has the figures of the changed scenario, no change made by hand beats the first one, and limits
// hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/advice/mapping_search.h"
#include "core/advice/successors.h"
#include "core/scenario/parse_scenario.h"
#include "tests/core/advice/advised.h"

namespace slipstick {
namespace {

Assignments OnTwoKinds() {
  return {"model=mixtral-8x7b",
          "cluster=dgx-h100",
          "cluster.devices=16",
          "training=null",
          "serving.batch=64",
          "serving.mapping.tp=8",
          "serving.disaggregated.prefill_device=l40s",
          "serving.disaggregated.prefill_devices=8",
          "serving.disaggregated.decode_devices=8"};
}

struct Asked {
  const char* name;
  Assignments scenario;
  Json question;
};
const std::vector<Asked>& AskedScenarios() {
  static const auto& all = *new std::vector<Asked>{
      {"default", {}, Json::object()},
      {"default serving", {}, {{"for", "serving"}}},
      {"interactivity", {"model=llama-3.1-8b", "serving.devices=4"}, {{"for", "serving"}, {"objective", "tpot_s"}}},
      {"deepseek on eight", {"model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=8"}, Json::object()},
      {"deepseek served on eight",
       {"model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=8"},
       {{"for", "serving"}}},
      {"lora on one", {"model=llama-2-7b", "cluster=single-rtx-4090", "training.trainable=lora"}, Json::object()},
      {"405b", {"model=llama-3.1-405b", "cluster.devices=16384"}, Json::object()},
      {"without cost", {"cost=null", "training=null"}, Json::object()},
      {"rate", {"training=null", "serving.requests_per_s=2"}, Json::object()},
      {"two pools",
       {"model=mixtral-8x7b", "training=null", "serving.disaggregated={}", "serving.requests_per_s=2"},
       Json::object()},
      {"pools of two kinds", OnTwoKinds(), Json::object()},
      {"written degrees", {"training.mapping={\"tp\":4,\"pp\":8,\"dp\":16}", "training.devices=512"}, Json::object()}};
  return all;
}

TEST(Advice, EveryFigureIsThatOfTheChangedScenarioAndTheBestComesFirst) {
  for (const Asked& asked : AskedScenarios()) {
    SCOPED_TRACE(asked.name);
    const Json advice = Advised(asked.scenario, asked.question);
    const std::string part = TextOf(advice["for"]), figure = TextOf(advice["figure"]);
    const Json before = ReportOf(asked.scenario);
    EXPECT_EQ(advice["value"], *MemberAt(before, figure));
    EXPECT_EQ(advice["feasible"], before[part]["feasible"]);
    const bool larger = figure == "serving.tokens_per_s_per_device";
    for (const char* list : {"changes", "pairs"}) {
      double last = 1e300;
      bool is_other_work = false;  // these come last
      for (const Json& change : advice[list]) {
        SCOPED_TRACE(TextOf(change["id"]));
        const Json after = ReportOf(asked.scenario, change["overrides"]);
        EXPECT_EQ(after[part]["feasible"], true);
        for (const auto& [path, value] : change["figures"].items()) {
          const Json* reported = MemberAt(after, path);
          EXPECT_EQ(value, reported == nullptr ? Json(nullptr) : *reported) << path;
        }
        const double old_value = Number(before, figure), new_value = Number(after, figure),
                     gain = change["gain"].get<double>();
        EXPECT_DOUBLE_EQ(gain, larger ? new_value / old_value : old_value / new_value);
        if (change["needs"] == "other_work" && !is_other_work) last = 1e300;
        EXPECT_TRUE(!is_other_work || change["needs"] == "other_work");
        is_other_work = change["needs"] == "other_work";
        EXPECT_LE(gain, last);
        last = gain;
        EXPECT_FALSE(TextOf(change["title"]).empty());
        EXPECT_FALSE(TextOf(change["effort"]).empty());
      }
    }
    for (const Json& pair : advice["pairs"]) {
      for (const Json& of : pair["of"]) {
        const Json* single = Find(advice["changes"], TextOf(of));
        if (single != nullptr) {
          EXPECT_GT(pair["gain"].get<double>(), (*single)["gain"].get<double>()) << TextOf(pair["id"]);
        }
      }
    }
  }
}

// The number of replicas follows from the other degrees, unless the request states it.
TEST(Advice, StatesTheDegreesThatDoNotFollow) {
  const Json scenario = WithOverrides(Json::object(), {{"training.mapping.tp", 1}, {"training.mapping.dp", 8}}),
             found{{"training.mapping.tp", 2}, {"training.mapping.dp", 4}};
  EXPECT_EQ(ChangedMembers(found, Json::object(), scenario), (Json{{"training.mapping.tp", 2}}));
  EXPECT_EQ(ChangedMembers(found, scenario, scenario), found);
}

TEST(Advice, NoChangeMadeByHandBeatsTheFirst) {
  const Json advice = Advised({});
  const double best = advice["changes"][0]["gain"].get<double>(), now = advice["value"].get<double>();
  for (const char* change : {"cluster.preset=dgx-h200", "cluster.preset=dgx-b200", "cluster.preset=dgx-b300",
                             "cluster.preset=gb200-nvl72", "cluster.preset=gb300-nvl72", "cluster.devices=1024",
                             "training.precision=fp8", "training.global_batch=1024", "training.recompute=full",
                             "training.mapping.tp=4", "training.mapping.pp=2", "training.mapping.virtual_stages=10"}) {
    const Json after = ReportOf({change});
    if (after["training"]["feasible"] != true) continue;
    EXPECT_LE(now / Number(after, "training.time_to_train_s"), best) << change;
  }
}

// Neither pool can use the other pool's kind of device.
TEST(Advice, KeepsThePoolsOfTwoKindsAndChangesTheirMappings) {
  const Json changes = Advised(OnTwoKinds(), {{"top", 100}})["changes"];
  EXPECT_EQ(Find(changes, "mapping"), nullptr);
  EXPECT_EQ(Find(changes, "disaggregation"), nullptr);
  const Json* const best = Find(changes, "mapping.pools");
  ASSERT_NE(best, nullptr);
  const Json serving = ReportOf(OnTwoKinds(), (*best)["overrides"])["scenario"]["serving"];
  EXPECT_EQ(serving["disaggregated"]["prefill_device"]["preset"], "l40s");
  EXPECT_EQ(serving["disaggregated"]["prefill_devices"], 8);
  EXPECT_EQ(serving["disaggregated"]["decode_devices"], 8);
  EXPECT_TRUE(serving["disaggregated"]["prefill_mapping"].is_object());
}

// Schedules, ZeRO stages, degrees and overlaps that the framework does not implement are not proposed.
TEST(Advice, StaysWithinTheFramework) {
  for (const char* framework :
       {"megatron", "fsdp", "hai-llm", "composer", "nanotron", "internevo", "megatron-deepspeed"}) {
    SCOPED_TRACE(framework);
    const Assignments asked{"version=2",          "model=mixtral-8x7b", "cluster=dgx-h100",
                            "cluster.devices=64", "serving=null",       "training.framework=" + std::string(framework)};
    const Json can = ReportOf(asked)["scenario"]["training"]["framework"]["capabilities"];
    const auto runs = [&](const char* list, const Json& one) {
      return can[list].empty() || std::find(can[list].begin(), can[list].end(), one) != can[list].end();
    };
    const Json advice = Advised(asked, {{"top", 100}});
    EXPECT_FALSE(advice["changes"].empty());
    for (const char* list : {"changes", "pairs"}) {
      for (const Json& change : advice[list]) {
        SCOPED_TRACE(TextOf(change["id"]));
        const Json mapping = ReportOf(asked, change["overrides"])["scenario"]["training"]["mapping"];
        if (mapping["pp"] != 1) {
          EXPECT_TRUE(runs("schedules", mapping["schedule"]));
        }
        if (mapping["dp"].get<Count>() * mapping["cp"].get<Count>() > 1) {
          EXPECT_TRUE(runs("zero", mapping["zero"]));
        }
        for (const char* degree : {"tp", "cp", "pp", "ep"})
          EXPECT_TRUE(mapping[degree] == 1 || runs("parallelism", degree)) << degree;
        EXPECT_TRUE(mapping["virtual_stages"] == 1 || can["interleaves"] == true);
        const bool overlaps = mapping["overlap"]["ep"] == true && mapping["schedule"] != "dualpipe";
        EXPECT_TRUE(!overlaps || can["overlaps_experts"] == true);
      }
    }
  }
}

TEST(Advice, DoublingDevicesAtMostHalvesTheTimeAndCheaperElectricityTheCost) {
  const Json advice = Advised({}, {{"top", 100}});
  const Json* twice = Find(advice["changes"], "devices.x2");
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ((*twice)["overrides"]["cluster.devices"], 1024);
  EXPECT_EQ((*twice)["needs"], "purchase");
  EXPECT_GT((*twice)["gain"].get<double>(), 1.5);
  EXPECT_LE((*twice)["gain"].get<double>(), 2);
  // The time stays. The cost per device-hour falls by half of its electricity; the operator's margin is 0.
  const Json* cheap = Find(advice["changes"], "electricity.half");
  ASSERT_NE(cheap, nullptr);
  EXPECT_EQ((*cheap)["gain"], 1.0);
  const Json before = ReportOf({});
  double electricity = 0;
  for (const Json& line : before["cost"]["system_usd_parts"]) {
    if (line["name"] == "electricity") electricity = line["cost_usd"].get<double>();
  }
  const double share = electricity / Number(before, "cost.system_usd"), cost = Number(before, "training.cost_usd");
  EXPECT_GT(share, 0);
  EXPECT_NEAR((*cheap)["figures"]["training.cost_usd"].get<double>(), cost * (1 - share / 2), 1e-9 * cost);
}

std::vector<std::string> SuccessorIds(const char* cluster) {
  const Scenario scenario = *ParseScenario(*ReadRequest(R"({"version": 1})", {std::string("cluster=") + cluster}));
  std::vector<std::string> ids;
  for (const Successor& one : SuccessorsOf(Write(scenario))) ids.push_back(one.cluster);
  return ids;
}

// These lists depend on the catalogue: add a new cluster where it belongs.
TEST(Successors, FollowVendorMemoryLinksAndYear) {
  using Ids = std::vector<std::string>;
  // H800 and H20 are newer than H100 but no better. Domains of 8 GPUs come before domains of 72.
  EXPECT_EQ(SuccessorIds("dgx-h100"), (Ids{"dgx-h200", "dgx-b200", "dgx-b300", "gb200-nvl72", "gb300-nvl72"}));
  EXPECT_EQ(SuccessorIds("hgx-mi300x"), (Ids{"hgx-mi325x", "hgx-mi350x", "hgx-mi355x"}));
  EXPECT_EQ(SuccessorIds("gb300-nvl72"), Ids{});
  // A graphics card is followed by graphics cards.
  EXPECT_EQ(SuccessorIds("single-rtx-4090"), (Ids{"single-rtx-5090", "single-rtx-pro-6000"}));
  // A device that is only announced succeeds nothing.
  for (const std::string& id : SuccessorIds("single-h100-pcie-80gb")) EXPECT_NE(id, "single-rubin");
}

TEST(Advice, KeepsItsLimits) {
  // 512 H100 at 700 W, with servers that draw 1.82 times that, and 36 kW of switches and optics take 861 kW under a PUE
  // of 1.25. Twice as many need twice the power.
  const Json tight = Advised({}, {{"limits", {"power<=861 kW"}}, {"top", 100}});
  EXPECT_EQ(Find(tight["changes"], "devices.x2"), nullptr);
  EXPECT_NE(Find(tight["changes"], "precision.fp8"), nullptr);
  const Json poor = Advised({}, {{"limits", {"budget<=36000000"}}, {"top", 100}});
  for (const Json& change : poor["changes"]) EXPECT_LE(change["figures"]["cost.system_usd"].get<double>(), 36e6);
  EXPECT_FALSE(poor["changes"].empty());
  const Json wide = Advised({}, {{"limits", {"tp>=8"}}, {"top", 100}});
  for (const Json& change : wide["changes"]) {
    EXPECT_GE(Number(ReportOf({}, change["overrides"]), "scenario.training.mapping.tp"), 8) << TextOf(change["id"]);
  }
  const Json fast = Advised({}, {{"for", "serving"}, {"limits", {"serving.tpot_s<=21 ms"}}, {"top", 100}});
  for (const Json& change : fast["changes"]) EXPECT_LE(change["figures"]["serving.tpot_s"].get<double>(), 0.021);
}

// Like with like: the scenario serves on 8 of 512 devices, and so does the newer device.
TEST(Advice, NewerDevicesServeAsManyAsNow) {
  const Json advice =
      Advised({"version=3", "training=null"}, {{"for", "serving"}, {"objective", "tpot_s"}, {"top", 100}});
  const Json* newer = Find(advice["changes"], "device.dgx-b200");
  ASSERT_NE(newer, nullptr);
  EXPECT_EQ((*newer)["overrides"]["serving.devices"], 8);
}

TEST(Successors, SmallerModelsAreByTheSamePublisherAndNoOlder) {
  const Scenario scenario = *ParseScenario(*ReadRequest(R"({"version": 3})", {"model=llama-3.1-8b"}));
  std::vector<std::string> ids;
  for (const SmallerModel& one : SmallerModelsOf(Write(scenario))) ids.push_back(one.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"llama-3.2-3b", "llama-3.2-1b"}));  // of 2024; LLaMA-7B is of 2023
  // Llama-3-8B has as many parameters as Llama-3.1-8B, and a context of 8,192 tokens in place of 131,072.
  ids.clear();
  for (const SmallerModel& one :
       SmallerModelsOf(Write(*ParseScenario(*ReadRequest(R"({"version": 3})", {"model=llama-3.3-70b"})))))
    ids.push_back(one.id);
  const auto newer = std::find(ids.begin(), ids.end(), "llama-3.1-8b");
  ASSERT_NE(newer, ids.end());
  EXPECT_LT(newer, std::find(ids.begin(), ids.end(), "llama-3-8b"));
  EXPECT_TRUE(
      SmallerModelsOf(Write(*ParseScenario(*ReadRequest(R"({"version": 3})", {"model.preset=llama-3.2-1b"})))).empty());
}

TEST(AdviceSteps, ReportProgressAndEndWithTheWholeAnswer) {
  AdviceSteps steps(R"({"request": {"version": 1}, "for": "training", "top": 5})");
  ASSERT_EQ(steps.issues(), "");
  std::size_t most = 0;
  while (steps.Step(1)) {
    const Json known = *ParseJson(steps.Report());
    EXPECT_FALSE(known["done"].get<bool>());
    EXPECT_GE(known["changes"].size(), most);
    most = known["changes"].size();
  }
  EXPECT_EQ(*ParseJson(steps.Report()), Advised({}, {{"top", 5}}));
  EXPECT_EQ(most, 5);
}

TEST(Advice, RefusesWhatItCannotAnswer) {
  const auto path_of = [](const Assignments& scenario, const Json& question) {
    const Answer answer = RunJob<AdviceJob>(R"({"version": 1})", scenario, question, {});
    return answer.issues.empty() ? "answered" : answer.issues[0].path;
  };
  EXPECT_EQ(path_of({}, {{"for", "cost"}}), "for");
  EXPECT_EQ(path_of({}, {{"objective", "beauty"}}), "objective");
  EXPECT_EQ(path_of({}, {{"limits", {"beauty<=3"}}}), "limit");
  EXPECT_EQ(path_of({}, {{"limits", {"power"}}}), "until");
  EXPECT_EQ(path_of({"serving=null"}, {{"for", "serving"}}), "serving");
  EXPECT_EQ(path_of({"cost=null"}, {{"objective", "cost_usd"}}), "cost");
  EXPECT_EQ(path_of({"model=nonsense"}, Json::object()), "model.preset");
  EXPECT_EQ(path_of({}, {{"nonsense", 1}}), "nonsense");
  EXPECT_NE(AdviceSteps("{").issues(), "");
}

// RunPod rents a B200 at 1.95 times the price of an H100 (6.79 and 3.49 $), more than it gains at 32 requests.
TEST(Advice, NewerDevicesHaveTheirOwnRent) {
  const Assignments rented{"version=3",
                           "training=null",
                           "model=llama-3.1-70b",
                           "cluster=dgx-h100",
                           "cluster.devices=8",
                           "serving.devices=8",
                           "cost.rental=runpod-h100-on-demand"};
  const Json changes = Advised(rented, {{"for", "serving"}})["changes"];
  EXPECT_EQ(Find(changes, "device.dgx-b200"), nullptr);
  EXPECT_EQ(Find(changes, "device.gb300-nvl72"), nullptr);  // no price of RunPod's
  const Json faster = Advised(rented, {{"for", "serving"}, {"objective", "serving.tpot_s"}})["changes"];
  const Json* b200 = Find(faster, "device.dgx-b200");
  ASSERT_NE(b200, nullptr);
  EXPECT_EQ((*b200)["overrides"]["cost.rental"], "runpod-b200-on-demand");
}

}  // namespace
}  // namespace slipstick
