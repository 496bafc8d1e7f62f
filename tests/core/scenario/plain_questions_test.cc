// Version 3: a number without a unit is in its field's unit, and unwritten inputs follow the written ones, in JSON and
// in assignments.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/exploration/solve.h"
#include "core/exploration/sweep.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::operator+;

Json Evaluated(const testing::Assignments& assignments, std::string_view request = "") {
  Json answer = Json::parse(EvaluateAnswer(request, assignments, "", false).text, nullptr, false);
  EXPECT_FALSE(answer.is_discarded());
  return answer;
}

const testing::Assignments kCostOnly{"training=null", "serving=null"};

// "0,12" is 0.12 in much of Europe; "1,25" may be 1.25 or 125.
TEST(PlainNumber, WithACommaIsOfferedAsItMayBeMeant) {
  const auto offered = [](const std::string& assignment) {
    std::vector<std::string> values;
    const Answer answer = EvaluateAnswer("", {assignment}, "", false);
    for (const Fix& fix : answer.issues.at(0).fixes) values.push_back(fix.change.value);
    return values;
  };
  EXPECT_EQ(offered("cost.electricity=0,12 $/kWh"), (std::vector<std::string>{R"("0.12 $/kWh")"}));
  EXPECT_EQ(offered("cost.electricity=1,25 $/kWh"), (std::vector<std::string>{R"("1.25 $/kWh")", R"("125 $/kWh")"}));
}

// Eight replicas of eight devices have eight times the memory and the bandwidth of one.
TEST(PlainQuestion, AWrittenClusterServesWithAllItsDevicesUnlessItTrainsToo) {
  const auto devices = [](const testing::Assignments& assignments) {
    return testing::Number(Evaluated(testing::Assignments{"model=llama-3.3-70b"} + assignments),
                           "scenario.serving.devices");
  };
  EXPECT_EQ(devices({"training=null", "cluster=dgx-h100", "cluster.devices=64"}), 64);
  EXPECT_EQ(devices({"training=null", "cluster=gb200-nvl72"}), 72);
  EXPECT_EQ(devices({"training=null", "cluster=gb200-nvl72", "serving.devices=16"}), 16);
  EXPECT_EQ(devices({"training=null"}), 8);
  EXPECT_EQ(devices({"cluster=dgx-h100", "cluster.devices=64"}), 8);
}

TEST(PlainNumber, IsInTheUnitOfItsField) {
  struct Row {
    std::string path, number, unit;
  };
  for (const Row& row : {Row{"cost.electricity", "0.12", "$/kWh"}, Row{"cost.lifetime", "5", "year"},
                         Row{"cost.rental.price", "2.5", "$/h"}, Row{"cost.device.dies.0.area", "600", "mm^2"},
                         Row{"cluster.device.tdp", "600", "W"}}) {
    const Json bare = Evaluated(kCostOnly + testing::Assignments{row.path + "=" + row.number}),
               spelled = Evaluated(kCostOnly + testing::Assignments{row.path + "=" + row.number + " " + row.unit});
    EXPECT_EQ(testing::Number(bare, "cost.device_hour_usd"), testing::Number(spelled, "cost.device_hour_usd"))
        << row.path;
    const Json* units = testing::Find(bare, "units_assumed");
    ASSERT_NE(units, nullptr) << row.path;
    EXPECT_EQ((*units)[0]["path"], row.path);
    EXPECT_EQ((*units)[0]["value"], row.number + " " + row.unit);
    EXPECT_FALSE(spelled.contains("units_assumed"));
  }
}

TEST(PlainNumber, OfJsonIsInBaseUnitsAndOfATextInThoseOfItsField) {
  const auto tdp = [](const std::string& value) {
    return testing::Number(
        Evaluated({}, R"({"cluster": {"device": {"tdp": )" + value + R"(}}, "training": null, "serving": null})"),
        "scenario.cluster.device.tdp");
  };
  EXPECT_EQ(tdp("650"), 650);  // W is a joule per second
  EXPECT_EQ(tdp("\"650\""), 650);
  const auto memory = [](const std::string& value) {
    return testing::Number(Evaluated({}, R"({"cluster": {"device": {"memory": {"capacity": )" + value +
                                             R"(}}}, "training": null, "serving": null})"),
                           "scenario.cluster.device.memory.capacity");
  };
  EXPECT_EQ(memory("141e9"), 141e9);
  EXPECT_EQ(memory("\"141\""), 141e9);
}

TEST(PlainNumber, IsInBaseUnitsInEarlierVersions) {
  for (const std::string version : {"version=1", "version=2"}) {
    const Json report = Evaluated(kCostOnly + testing::Assignments{version, "cost.lifetime=157788000"});
    EXPECT_EQ(testing::Number(report, "scenario.cost.lifetime"), 5 * 31557600.) << version;
    EXPECT_FALSE(report.contains("units_assumed"));
  }
}

TEST(PlainNumber, IsInTheUnitOfItsFieldInSweepsAndSolves) {
  const auto column = [](const std::string& axis) {
    return SweepAnswer("", kCostOnly, {axis}, {"cost.device_hour_usd"}).text;
  };
  const auto figures = [](const std::string& csv) {
    std::vector<std::string> last;
    for (std::size_t at = csv.find('\n'); at != std::string::npos && at + 1 < csv.size(); at = csv.find('\n', at + 1)) {
      const std::string line = csv.substr(at + 1, csv.find('\n', at + 1) - at - 1);
      last.push_back(line.substr(line.rfind(',') + 1));
    }
    return last;
  };
  EXPECT_EQ(figures(column("cost.lifetime=3,4,5")), figures(column("cost.lifetime=3 year,4 year,5 year")));
  EXPECT_EQ(figures(column("cost.electricity=0.08:0.12:3")),
            figures(column("cost.electricity=0.08 $/kWh:0.12 $/kWh:3")));
  const auto solved = [](const std::string& range) {
    return (*ParseJson(SolveAnswer("", kCostOnly, range, "cost.device_hour_usd<=2").text))["value"];
  };
  EXPECT_NEAR(solved("cost.lifetime=1:10").get<double>(), solved("cost.lifetime=1 year:10 year").get<double>(), 1);
}

TEST(UnknownUnit, IsNamedAndTheKnownOneOffered) {
  struct Row {
    std::string assignment, unknown, fix;
  };
  for (const Row& row :
       {Row{"cost.device.dies.0.area=1e3 mm2", "mm2", "1e3 mm^2"},
        Row{"cluster.device.memory.capacity=80 gb", "gb", "80 GB"},
        Row{"cluster.device.memory.bandwidth=3.35 tb/s", "tb", "3.35 TB/s"},
        Row{"cost.electricity=8 cents/kWh", "cents", ""}, Row{"cost.electricity=0.12 €/kWh", "€", ""}}) {
    const Json answer = Evaluated({row.assignment});
    ASSERT_TRUE(answer.contains("issues")) << row.assignment;
    const Json& issue = answer["issues"][0];
    EXPECT_NE(TextOf(issue["message"]).find("unknown unit \"" + row.unknown + "\""), std::string::npos)
        << TextOf(issue["message"]);
    if (row.fix.empty()) continue;
    ASSERT_FALSE(issue["fixes"].empty()) << row.assignment;
    EXPECT_EQ(issue["fixes"][0]["value"], row.fix);
  }
}

// The same question as JSON and as assignments.
struct Question {
  std::string json;
  testing::Assignments assignments;
};
const Question kQuestions[] = {
    {R"({"model": {"preset": "qwen3-30b-a3b"}, "cluster": {"preset": "dgx-h100", "devices": 8}, "training": {"mapping": "auto"}})",
     {"model=qwen3-30b-a3b", "cluster=dgx-h100", "cluster.devices=8", "training.mapping=auto"}},
    {R"({"model": "gpt-oss-120b", "cluster": "single-h100-sxm5-80gb", "serving": {"prompt": 4000}})",
     {"model=gpt-oss-120b", "cluster=single-h100-sxm5-80gb", "serving.prompt=4000"}},
    {R"({"cluster": {"devices": 8}})", {"cluster.devices=8"}},
    {R"({"training": {"mapping": {"tp": 4}}, "serving": null})", {"training.mapping.tp=4", "serving=null"}},
    {R"({"serving": {"engine": {"preset": "trtllm"}, "batch": 8}})",
     {"serving.engine.preset=trtllm", "serving.batch=8"}},
    {R"({"cluster": {"networks": [{}, {"bandwidth": "6.25 GB/s"}]}, "serving": {}})",
     {"cluster.networks.1.bandwidth=6.25 GB/s"}},
    {R"({"model": {"layers": 40}, "cost": {"lifetime": "3"}})", {"model.layers=40", "cost.lifetime=3"}}};

TEST(Request, OfVersionThreeMeansTheSameAsJsonAndAsAssignments) {
  for (const Question& question : kQuestions) {
    const Json json = Evaluated({}, question.json), assigned = Evaluated(question.assignments);
    EXPECT_EQ(JsonText(json), JsonText(assigned)) << question.json;
    Json stated = *ParseJson(question.json);
    stated["version"] = 3;
    EXPECT_EQ(JsonText(Evaluated({}, JsonText(stated))), JsonText(json)) << question.json;
    EXPECT_EQ(json["scenario"]["version"], 3);
  }
}

TEST(Request, OfVersionThreeTakesAWholeModelAsItStands) {
  const Json report = Evaluated(
      {}, R"({"model": {"layers": 12, "hidden": 768, "heads": 12, "ffn": 3072, "vocab": 50257}, "serving": null,
                                        "cluster": "single-h100-sxm5-80gb", "cost": null})");
  EXPECT_EQ(report["scenario"]["model"]["kv_heads"], 12);  // equal to the heads, not the default model's 8
  EXPECT_EQ(report["scenario"]["model"]["moe"], nullptr);
}

TEST(Request, OfAResolvedScenarioHasTheSameAnswer) {
  for (const Question& question : kQuestions) {
    Json report = Evaluated({}, question.json);
    Json again = Evaluated({}, JsonText(report["scenario"]));
    ASSERT_TRUE(again.contains("scenario")) << JsonText(again);
    report.erase("units_assumed");
    // A mapping that was chosen is now written; hints are only about chosen mappings.
    for (const char* part : {"training", "serving"}) {
      if (report[part].is_object()) report[part]["chosen"] = again[part]["chosen"] = nullptr;
    }
    EXPECT_EQ(JsonText(again), JsonText(report)) << question.json;
  }
}

// They pay for their share of servers and network, whether training on all of them is asked too or not.
TEST(Cost, OfServingOnAFewDevicesIsThatOfTheDevicesThatServe) {
  const Json few = Evaluated({"training=null", "cluster.devices=512", "serving.devices=8"}),
             both = Evaluated({"cluster.devices=512", "serving.devices=8"});
  EXPECT_EQ(testing::Number(few, "cost.devices"), 8);
  EXPECT_EQ(testing::Number(both, "cost.devices"), 512);
  for (const char* figure : {"cost.device_hour_usd", "serving.cost_usd_per_million_tokens",
                             "serving.network_energy_j_per_token", "serving.embodied_g_per_million_tokens"})
    EXPECT_NEAR(testing::Number(few, figure) / testing::Number(both, figure), 1, 1e-12) << figure;
  EXPECT_NEAR(testing::Number(few, "cost.system_usd") / testing::Number(both, "cost.system_usd"), 8.0 / 512, 1e-12);
}

}  // namespace
}  // namespace slipstick
