// Advice: each change has the figures of the changed scenario, no change made by hand beats the first one, and limits
// hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/advice/advice_job.h"
#include "core/advice/mapping_search.h"
#include "core/advice/successors.h"
#include "core/api/api.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

Json Advised(const Assignments& assignments, const Json& question = Json::object()) {
  const Answer answer = RunJob<AdviceJob>(R"({"version": 1})", assignments, question, {});
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}

Json ReportOf(const Assignments& assignments, const Json& overrides = Json::object()) {
  const Json request = WithOverrides(*ReadRequest(R"({"version": 1})", assignments), overrides);
  const Answer answer = EvaluateAnswer(JsonText(request), {}, "", false);
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}

double Number(const Json& json, const std::string& path) { return NumberAt(json, path).value_or(-1); }

const Json* Find(const Json& list, const std::string& id) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Json& one) { return one["id"] == id; });
  return found == list.end() ? nullptr : &*found;
}

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

TEST(Advice, AScenarioThatDoesNotFitIsRepairedFirst) {
  for (const Asked& asked : AskedScenarios()) {
    const Json advice = Advised(asked.scenario, asked.question);
    if (advice["feasible"] == true) continue;
    SCOPED_TRACE(asked.name);
    ASSERT_FALSE(advice["changes"].empty());
    EXPECT_EQ(ReportOf(asked.scenario, advice["changes"][0]["overrides"])[TextOf(advice["for"])]["feasible"], true);
  }
}

TEST(Advice, BuysNothingWhereASettingMakesItFit) {
  // LoRA of a 7B model fits 24 GB with full recomputation (published), so no purchase is proposed.
  const Assignments lora{"model=llama-2-7b", "cluster=single-rtx-4090", "training.trainable=lora"};
  const Json fitted = Advised(lora, {{"top", 100}});
  ASSERT_NE(Find(fitted["changes"], "recompute.full"), nullptr);
  for (const Json& change : fitted["changes"]) EXPECT_NE(change["needs"], "purchase") << TextOf(change["id"]);
  EXPECT_EQ((*Find(fitted["changes"], TextOf(fitted["without_purchase"])))["needs"], "settings");
  // DeepSeek-V3 has 671e9 parameters. At 16 or more bytes each, full training fits neither 8 nor 64 H100 (5.1 TB).
  const Json large = Advised({"model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=8"}, {{"top", 100}});
  ASSERT_FALSE(large["changes"].empty());
  EXPECT_GT(large["changes"][0]["overrides"]["cluster.devices"].get<Count>(), 64);
  EXPECT_EQ(large["changes"][0]["needs"], "purchase");
  // Adapters are other work, so they are proposed only where nothing else helps.
  EXPECT_NE(Find(large["changes"], "trainable.qlora"), nullptr);
  EXPECT_EQ(
      Find(Advised({"model=llama-3.1-405b", "cluster.devices=16384"}, {{"top", 100}})["changes"], "trainable.lora"),
      nullptr);
}

TEST(Advice, FourBitWeightsServeAModelThatOtherwiseDoesNotFit) {
  // 32.8e9 parameters at 4.85 bits (Q4_K_M) are 19.9 GB; in fp8 they are 32.8 GB, and a GeForce RTX 4090 has 24.
  const Json advice = Advised({"version=3", "model=qwen3-32b", "cluster=single-rtx-4090", "training=null"},
                              {{"for", "serving"}, {"top", 100}});
  EXPECT_EQ(advice["feasible"], false);
  ASSERT_EQ(advice["without_purchase"], "weights.int4");
  const Json& change = *Find(advice["changes"], "weights.int4");
  EXPECT_EQ(Find(advice["changes"], "weights.int4_few"), nullptr);  // the request states no batch: as many as fit run
  EXPECT_GE(change["figures"]["serving.requests_in_flight"].get<double>(), 1);
  EXPECT_LT(change["figures"]["serving.memory_bytes.total"].get<double>(), 24 * 1.073741824e9);
  const std::string message = TextOf(ReportOf({"version=3", "model=qwen3-32b", "cluster=single-rtx-4090",
                                               "training=null"})["serving"]["infeasible"][0]["message"]);
  EXPECT_TRUE(message.starts_with("Out of memory: the weights alone need 31.96 GiB of 23.52 GiB per device"))
      << message;
  EXPECT_TRUE(message.ends_with("use 4-bit weights, a smaller model or more devices")) << message;
  // 671e9 parameters take 407 GB at 4.85 bits: no format fits them into the 24 GB of an RTX 3090.
  const std::string none = TextOf(ReportOf({"version=3", "model=deepseek-v3", "cluster=single-rtx-3090",
                                            "training=null"})["serving"]["infeasible"][0]["message"]);
  EXPECT_TRUE(none.ends_with("; use a smaller model or more devices")) << none;
  // The engine reserves memory for its largest step; beside a longer prompt only llama.cpp leaves room.
  EXPECT_EQ(Advised({"version=3", "model=qwen3-32b", "cluster=single-rtx-4090", "training=null", "serving.prompt=16k",
                     "serving.concurrency=1"},
                    {{"for", "serving"}, {"top", 100}})["without_purchase"],
            "weights.q4_k_m");
  // The other choice is a smaller model: the publisher's largest that is no older and, at 8 bits, leaves room for a KV
  // cache.
  EXPECT_EQ(advice["changes"].back()["id"], "model.qwen3-14b");
  EXPECT_EQ(advice["changes"].back()["needs"], "other_work");
  // No other engine is proposed where a setting is enough.
  EXPECT_EQ(
      Find(Advised({"version=3", "training=null"}, {{"for", "serving"}, {"top", 100}})["changes"], "weights.q4_k_m"),
      nullptr);
}

TEST(Advice, FineTuningIsProposedWhereACardCannotHoldPreTraining) {
  // 8.03e9 parameters at 18 bytes of weights, gradients and optimizer state are 145 GB; frozen at 4 bits they are 4 GB.
  const Assignments scenario{"version=3", "model=llama-3.1-8b", "cluster=single-rtx-4090", "serving=null"};
  const Json advice = Advised(scenario, {{"top", 100}});
  EXPECT_EQ(advice["feasible"], false);
  EXPECT_EQ(advice["without_purchase"], "trainable.qlora");
  // 100 M tokens at 6 × 8e9 FLOP are 4.8e18 FLOP: eight hours at 165 TFLOP/s.
  EXPECT_LT(Number(*Find(advice["changes"], "trainable.qlora"), "figures.training.time_to_train_s"), 30 * 3600.0);
  const std::string message = TextOf(ReportOf(scenario)["training"]["infeasible"][0]["message"]);
  EXPECT_NE(message.find("fine-tune with QLoRA, choose a smaller model or add devices"), std::string::npos) << message;
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

// Llama-3.3-70B in int4 has 70.55e9 x 4.25 bits = 37.5 GB of weights and more for its embedding and LM head in 16 bits:
// one RTX 5090 of 32 GB cannot hold them, two can. In fp8 it takes four.
TEST(Advice, TwoChangesThatOnlyFitTogetherAreProposed) {
  const Json changes =
      Advised({"version=3", "training=null", "model=llama-3.3-70b", "cluster=single-rtx-5090", "serving.concurrency=1"},
              {{"for", "serving"}})["changes"];
  EXPECT_EQ(Find(changes, "weights.int4"), nullptr);
  EXPECT_EQ(Find(changes, "devices.x2"), nullptr);
  EXPECT_EQ(changes[0]["id"], "devices_int4.x2");
  ASSERT_NE(Find(changes, "devices.x4"), nullptr);
}

}  // namespace
}  // namespace slipstick
