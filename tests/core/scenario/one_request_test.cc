// Every verb completes a request by the same rules, so all give the same figures.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/catalogue/presets.h"
#include "core/evaluation/evaluate.h"
#include "core/exploration/search_spec.h"
#include "core/exploration/sensitivity.h"
#include "core/exploration/solve.h"
#include "core/exploration/sweep.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/studies/paper_study.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::Find;

struct StudyPoint {
  std::string name, text;                // as a file
  std::vector<std::string> assignments;  // as command-line arguments
  Json study, found;                     // found: the study's own answer
};

Json Parsed(std::string_view text) {
  Result<Json> json = ParseJson(text);
  EXPECT_TRUE(json) << text.substr(0, 200);
  return json ? std::move(*json) : Json();
}

std::string Value(const Json& value) { return value.is_string() ? std::string(TextOf(value)) : JsonText(value); }

// The report without its pipeline timeline.
Json ReportOf(const StudyPoint& point) { return Parsed(EvaluateAnswer(point.text, point.assignments, "", false).text); }

// Every point of the studies that evaluate scenarios, except those that optimize a chip design, as only sweeps do.
std::vector<StudyPoint> StudyPoints() {
  std::vector<StudyPoint> points;
  for (const Json& study : PresetCatalogue("study")) {
    if (study.contains("verb") || study.contains("optimise")) continue;
    const std::string id = study["id"].get<std::string>();
    const Count size = *StudySize(id);
    for (Count at = 0; at < size; ++at) {
      const Json& point = study["points"][at];
      StudyPoint one{id + ", " + point["label"].get<std::string>(), JsonText(study["request"]), {}, study, {}};
      for (const auto& [path, value] : point["overrides"].items()) {
        one.assignments.push_back(path + "=" + Value(value));
      }
      one.found = Parsed(StudyPointAnswer(id, at).text)["point"];
      points.push_back(std::move(one));
    }
  }
  return points;
}

// The path of the report's first numeric figure; empty if it has none.
std::string FigureOf(const StudyPoint& point) {
  for (const char* path : {"training.step_time_s", "training.memory_bytes.total", "serving.tpot_s"}) {
    const Json report = ReportOf(point);
    const Json* figure = Find(report, path);
    if (figure != nullptr && figure->is_number()) return path;
  }
  return "";
}

class OneRequest : public ::testing::Test {
 protected:
  static const std::vector<StudyPoint>& Points() {
    static const std::vector<StudyPoint> points = StudyPoints();
    return points;
  }
};

TEST_F(OneRequest, StudiesAgreeWithEvaluate) {
  EXPECT_GT(Points().size(), 60u);
  for (const StudyPoint& point : Points()) {
    const Json report = ReportOf(point);
    ASSERT_FALSE(report.contains("issues")) << point.name << JsonText(report).substr(0, 300);
    for (const Json& path : point.study["report"]) {
      const Json* figure = MemberAt(report, TextOf(path));
      EXPECT_EQ(JsonText(point.found["figures"][TextOf(path)]), JsonText(figure != nullptr ? *figure : Json()))
          << point.name << " " << TextOf(path);
    }
  }
}

TEST_F(OneRequest, SweepsAgreeWithEvaluate) {
  for (const StudyPoint& point : Points()) {
    const std::string figure = FigureOf(point);
    // As the command line sweeps, then as the page does, with the point's changes as axes.
    const std::vector<std::string> axis{"cluster.device.idle=1 W"};
    const Json expected = ReportOf(point);
    const std::string csv = SweepAnswer(point.text, point.assignments, axis, {figure}).text;
    const std::string row = csv.substr(csv.find('\n') + 1);
    EXPECT_EQ(row, "1 W," + JsonText(*Find(expected, figure)) + ",") << point.name;
    Json spec{{"request", Parsed(point.text)}, {"axes", point.assignments}, {"report", Json::array({figure})}};
    bool has_comma = false;
    for (const std::string& text : point.assignments)
      has_comma = has_comma || text.find_first_of(",:") != std::string::npos;
    if (has_comma) continue;  // it would be an axis of several values
    const Json rows = Parsed(SweepRowsAnswer(JsonText(spec), 0, 1).text);
    EXPECT_EQ(JsonText(rows["rows"][0]["figures"][0]), JsonText(*Find(expected, figure))) << point.name;
  }
}

TEST_F(OneRequest, SolveAndSensitivityAgreeWithEvaluate) {
  for (const StudyPoint& point : Points()) {
    const std::string figure = FigureOf(point);
    const Json expected = ReportOf(point);
    const Json solved =
        Parsed(SolveAnswer(point.text, point.assignments, "cluster.device.idle=1 W:2 W", figure + ">=0").text);
    // Solving an infeasible scenario works only for conditions on memory.
    const Json& feasible = *Find(expected, figure.substr(0, figure.find('.')) + ".feasible");
    if (feasible.get<bool>()) {
      ASSERT_EQ(solved.value("which", ""), "everywhere") << point.name << JsonText(solved);
      EXPECT_EQ(JsonText(*Find(solved, "figure.value")), JsonText(*Find(expected, figure))) << point.name;
    }
  }
  // A sensitivity evaluates hundreds of scenarios, so only one point per study is compared.
  std::string last;
  for (const StudyPoint& point : Points()) {
    if (point.study["id"].get<std::string>() == last) continue;
    last = point.study["id"].get<std::string>();
    const std::string figure = FigureOf(point);
    const Json expected = ReportOf(point);
    const Json answer = Parsed(SensitivityAnswer(point.text, point.assignments, figure, 0.2).text);
    EXPECT_EQ(JsonText(answer["value"]), JsonText(*Find(expected, figure))) << point.name;
  }
}

// A search limited to the mapping of the point finds the figure of the point.
TEST_F(OneRequest, SearchesAgreeWithEvaluate) {
  int found = 0;
  for (const StudyPoint& point : Points()) {
    const Json expected = ReportOf(point);
    const Json& training = expected["training"];
    if (training.is_null() || !training["feasible"].get<bool>()) continue;
    SearchSpec spec;
    spec.top = 1;
    const Json& run = expected["scenario"]["training"];
    // A search would choose the settings that the point leaves to its framework, so they are pinned.
    std::vector<std::string> pinned = point.assignments;
    if (run["mapping"]["dispatch"].is_null()) {
      pinned.push_back("training.mapping.dispatch=" + Value(run["framework"]["experts"]["dispatch"]));
    }
    if (run["mapping"]["overlap"]["ep"].is_null() && run["mapping"]["schedule"] == Json("1f1b")) {
      pinned.emplace_back("training.mapping.overlap.ep=false");
    }
    for (const char* member : {"tp", "pp", "cp", "ep", "expert_tp", "virtual_stages", "micro_batch", "zero",
                               "sequence_parallel", "schedule"}) {
      spec.limits.push_back(std::string(member) + "=" + Value(run["mapping"][member]));
    }
    spec.limits.push_back("recompute=" + run["recompute"].get<std::string>());
    const Result<Json> request = ReadRequest(point.text, pinned);
    ASSERT_TRUE(request);
    const Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(*request, spec);
    if (!job) continue;  // the search space lacks this mapping
    while ((*job)->Step(1000)) {
    }
    const Json report = (*job)->Report();
    if (report["best"].empty() ||
        !(report["best"][0]["overrides"]["training.mapping.order"] == run["mapping"]["order"]))
      continue;
    ++found;
    EXPECT_NEAR(report["best"][0]["step_time_s"].get<double>() / training["step_time_s"].get<double>(), 1, 1e-12)
        << point.name;
  }
  EXPECT_GT(found, 20);
}

// The settings of the points match their labels.
TEST_F(OneRequest, AStudyWithoutSequenceParallelismHasNone) {
  const auto memory = [](const std::string& id, const std::string& label) {
    for (const StudyPoint& point : Points()) {
      if (point.name == id + ", " + label)
        return point.found["figures"]["training.memory_bytes.activations"].get<double>();
    }
    ADD_FAILURE() << "no point " << label;
    return 0.0;
  };
  // Korthikanti et al. 2022, equations 1 and 2: activations of a layer without recomputation are sbh(10 + 24/t +
  // 5as/(ht)), with sequence parallelism sbh/t (34 + 5as/h). 22B: s 2048, b 4, h 6144, a 64, t 8, 48 layers.
  const double sbh = 2048.0 * 4 * 6144, scores = 5.0 * 64 * 2048 / 6144;
  const double layers = 48 * sbh * (10 + 24.0 / 8 + scores / 8);
  EXPECT_NEAR(memory("training-memory", "22B, none") / layers, 1, 0.06);
  const double selective = 48 * sbh * (10 + 24.0 / 8);
  EXPECT_NEAR(memory("training-memory", "22B, selective") / selective, 1, 0.15);
  const double both = 48 * sbh * 34 / 8;
  EXPECT_NEAR(memory("training-memory", "22B, selective + SP") / both, 1, 0.30);
}

TEST_F(OneRequest, EachOfTheFiveDimensionsChangesTheAnswer) {
  std::vector<Json> steps;
  for (const StudyPoint& point : Points()) {
    if (point.study["id"].get<std::string>() == "five-dimensions") steps.push_back(point.found["figures"]);
  }
  ASSERT_GE(steps.size(), 5u);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_NE(JsonText(steps[i - 1]["training.step_time_s"]), JsonText(steps[i]["training.step_time_s"])) << i;
  }
}

TEST(Request, AbsentPartsAreTheDefaultScenariosAndWrittenPartsStandAlone) {
  const Json request = *ReadRequest(R"({"version": 1, "training": {"mapping": {"tp": 2}}})", {});
  const Scenario scenario = *ParseScenario(request);
  EXPECT_EQ(scenario.training->mapping.tp, 2);
  EXPECT_EQ(scenario.training->mapping.pp, 1);
  EXPECT_FALSE(scenario.training->mapping.sequence_parallel);
  EXPECT_EQ(scenario.serving->mapping.tp, 8);
}

TEST(Request, CompletingACompleteOneChangesNothing) {
  const Json request = *ReadRequest(R"({"model": {"preset": "gpt3-175b"}})", {"serving.batch=4"});
  EXPECT_EQ(JsonText(*CompleteRequest(request)), JsonText(request));
}

// Brackets of a list entry are read as the dots that paths have.
TEST(Assignments, TakeBracketsAroundAnIndex) {
  EXPECT_EQ(*ReadRequest("", {"cost.device.dies[0].yield_model=poisson"}),
            *ReadRequest("", {"cost.device.dies.0.yield_model=poisson"}));
}

TEST(Request, TheOrderOfAssignmentsDoesNotMatter) {
  const Json one = *ReadRequest(R"({"version": 1})", {"cluster=dgx-a100", "cluster.devices=64"}),
             other = *ReadRequest(R"({"version": 1})", {"cluster.devices=64", "cluster=dgx-a100"});
  EXPECT_EQ(ParseScenario(one)->cluster.devices, 64);
  EXPECT_EQ(ParseScenario(other)->cluster.devices, 64);
}

TEST(Request, AWrittenNumberOfDevicesHoldsForAnotherCluster) {
  const auto devices = [](std::string_view file, const std::vector<std::string>& assignments) {
    const Result<Json> request = ReadRequest(file, assignments);
    const Result<Scenario> scenario = request ? ParseScenario(*request) : Result<Scenario>(request.issues);
    return scenario ? scenario->cluster.devices : Tally(0);
  };
  const std::string_view file = R"({"cluster": {"preset": "dgx-h100", "devices": 64}})";
  EXPECT_EQ(devices(file, {"cluster=dgx-b200"}), 64);
  EXPECT_EQ(devices(file, {"cluster.preset=dgx-b200"}), 64);
  EXPECT_EQ(devices("", {"cluster.devices=64", "cluster=dgx-b200"}), 64);
  EXPECT_EQ(devices(file, {"cluster=dgx-b200", "cluster.devices=16"}), 16);
  EXPECT_EQ(devices("", {"cluster=dgx-b200"}), 8) << "the preset's, as nobody wrote a number";
}

TEST(Request, AnInvalidWrittenListIsAnIssue) {
  for (const char* text : {R"({"written": 1})", R"({"written": [1]})", R"({"written": {"a": 1}})"}) {
    EXPECT_FALSE(ReadRequest(text, {})) << text;
  }
}

// A preset named by a text stays when members below it are set.
TEST(Request, PresetsStayUnderFurtherAssignments) {
  const auto resolved = [](const std::vector<std::string>& assignments) {
    const Result<Scenario> scenario = ParseScenario(*ReadRequest(R"({"version": 1})", assignments));
    EXPECT_TRUE(scenario) << assignments[0] << scenario.issues[0].path << scenario.issues[0].message;
    return scenario ? Write(*scenario) : Json();
  };
  struct Case {
    std::string path, preset, member, value;
  };
  const std::vector<std::string> designed{"cluster=dgx-a100", "cluster.devices=512"};
  for (const Case& one : std::vector<Case>{
           {"cluster.device", "h200-sxm", "tdp", "600 W"},
           {"cluster.device.design", "h100-like", "area", "600"},
           {"cluster.device.design.node", "5nm", "", ""},
           {"cluster.device.design.dram", "hbm4", "", ""},
           {"cluster.networks.1", "infiniband-xdr", "size", "128"},
           {"serving.engine", "sglang", "step", "1 ms"},
           {"training.framework", "fsdp", "step_overhead", "1 ms"},
       }) {
    std::vector<std::string> longhand = designed, shorthand = designed;
    if (one.path.starts_with("cluster.device.design.")) {
      longhand.push_back("cluster.device.design.preset=a100-like");
      shorthand.push_back("cluster.device.design=a100-like");
    }
    longhand.push_back(one.path + ".preset=" + one.preset);
    shorthand.push_back(one.path + "=" + one.preset);
    if (!one.value.empty()) {
      longhand.push_back(one.path + "." + one.member + "=" + one.value);
      shorthand.insert(shorthand.begin(), one.path + "." + one.member + "=" + one.value);
    }
    EXPECT_EQ(JsonText(resolved(shorthand)), JsonText(resolved(longhand))) << one.path;
  }
}

}  // namespace
}  // namespace slipstick
