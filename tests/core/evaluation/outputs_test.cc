// The described outputs are those of the reports, in the units that their names state.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/base/fix.h"
#include "core/base/json.h"
#include "core/exploration/search_figures.h"
#include "core/exploration/search_job.h"
#include "core/exploration/search_spec.h"
#include "core/exploration/sweep.h"
#include "core/scenario/answer.h"
#include "core/scenario/request.h"
#include "golden_requests.h"

namespace slipstick {
namespace {

std::map<std::string, Json> Described() {
  const Json answer = *ParseJson(DescribeAnswer().text);
  std::map<std::string, Json> outputs;
  for (const Json& output : answer["outputs"]) {
    EXPECT_TRUE(outputs.emplace(TextOf(output["path"]), output).second) << output["path"] << " twice";
  }
  return outputs;
}

void CollectPaths(const Json& json, const std::string& path, std::set<std::string>& paths) {
  paths.insert(path);
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) CollectPaths(value, path + "." + key, paths);
  } else if (json.is_array()) {
    for (const Json& one : json) {
      if (one.is_object()) CollectPaths(one, path + ".*", paths);
    }
  }
}

// Paths in the golden reports, in one with chosen mappings and a chosen chip, and in one of post-training. List entries
// count once.
std::set<std::string> ReportedPaths() {
  std::set<std::string> paths;
  std::vector<std::string> requests{
      R"({"version": 2, "cluster": {"preset": "dgx-h100", "device": {"design": {"preset": "h100-like"}}}})",
      R"({"version": 2, "model": {"preset": "qwen3-8b"}, "cluster": {"preset": "dgx-h100", "devices": 16},
                                         "post_training": {"placement": "pools"}})",
      R"({"version": 3, "cluster": {"preset": "dgx-h100", "devices": 16}, "training": null, "serving": {"disaggregated":
          {"prefill_devices": 8, "decode_devices": 8, "prefill_device": "l40s"}}})",
      R"({"version": 3, "model": {"preset": "llama-3.1-8b"}, "cluster": {"preset": "single-h100-sxm5-80gb"}, "training": null,
          "serving": {"sessions": {"turns": 4, "added": 500, "gap": "5 s"}, "simulate": {"requests": 50}}})",
      R"({"version": 3, "cluster": {"preset": "dgx-h100"}, "diffusion": {"model": "hunyuanvideo", "ulysses": 4}})",
      R"({"version": 1, "training": {"global_batch": 65536, "mapping": {"tp": 8, "pp": 4}}, "serving": null})"};
  for (const testing::GoldenRequest& golden : testing::GoldenRequests()) requests.emplace_back(golden.text);
  for (const std::string& request : requests) {
    const Json report = *ParseJson(EvaluateAnswer(request).text);
    for (const char* part : {"training", "serving", "post_training", "diffusion", "cost", "technology"}) {
      if (!report.contains(part)) continue;
      if (!report[part].is_object()) continue;
      for (const auto& [key, value] : report[part].items()) CollectPaths(value, std::string(part) + "." + key, paths);
    }
  }
  std::erase_if(paths, [](const std::string& path) { return path.ends_with(".*"); });
  return paths;
}

TEST(Outputs, MatchTheReports) {
  const std::map<std::string, Json> described = Described();
  const std::set<std::string> reported = ReportedPaths();
  for (const std::string& path : reported) EXPECT_TRUE(described.contains(path)) << path << " is not described";
  for (const auto& [path, output] : described) {
    // Every golden scenario is feasible.
    if (path.find(".infeasible.*") != std::string::npos) continue;
    EXPECT_TRUE(reported.contains(path)) << path << " is in no report";
  }
}

// The unit in the last member name of a path. Members of a breakdown have the unit of the whole.
std::string UnitOfName(std::string path) {
  const auto ends = [&path](const char* suffix) { return path.ends_with(suffix); };
  while (!path.empty()) {
    if (ends("tokens_per_s") || ends("tokens_per_s_per_device") || ends("tokens_per_s_per_user")) return "token/s";
    if (ends("requests_per_s") || ends("sessions_per_s")) return "/s";
    if (ends("tokens_per_usd")) return "token/$";
    if (ends("tokens_per_j")) return "token/J";
    if (ends("flops_per_usd")) return "FLOP/$";
    if (ends("flops_per_j")) return "FLOP/J";
    if (ends("bytes_per_token")) return "B/token";
    if (ends("_j_per_token")) return "J/token";
    if (ends("_usd") || ends("_usd_per_million_tokens")) return "$";
    if (ends("_bytes") || ends(".bytes") || ends("_bytes_per_sequence")) return "B";
    if (ends("_j")) return "J";
    if (ends("_s")) return "s";
    if (ends("_g") || ends("_g_per_device_hour")) return "g";
    if (ends("_mm2")) return "mm^2";
    if (ends("flops") || ends("flops_per_step") || ends("flops_per_step_causal")) return "FLOP";
    if (ends("utilization") || ends("utilization_causal") || ends("yield") || ends("goodput")) return "%";
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos || path.ends_with(".*")) return "";
    path.erase(dot);
  }
  return "";
}

TEST(Outputs, HaveTheUnitsOfTheirNames) {
  int checked = 0;
  for (const auto& [path, output] : Described()) {
    EXPECT_FALSE(TextOf(output["title"]).empty()) << path;
    if (output["kind"] != "number") continue;
    const std::string unit = UnitOfName(path);
    if (unit.empty()) continue;
    EXPECT_EQ(output.value("unit", std::string()), unit) << path;
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

TEST(Outputs, SearchFiguresAreReportOutputs) {
  const std::map<std::string, Json> described = Described();
  for (const std::string of : {"training", "serving"}) {
    for (const SearchFigure& figure : SearchFigures(of)) {
      const auto found = described.find(of + "." + figure.name);
      ASSERT_NE(found, described.end()) << figure.name;
      EXPECT_TRUE(found->second["sought"]) << figure.name;
      EXPECT_EQ(found->second["better"], figure.larger_is_better ? "larger" : "smaller") << figure.name;
    }
  }
}

// Search figures equal report figures to the last digit.
TEST(Outputs, SearchAndReportAgree) {
  for (const std::string of : {"training", "serving"}) {
    for (const SearchFigure& figure : SearchFigures(of)) {
      SearchSpec spec;
      spec.part = of;
      spec.objective = figure.name;
      spec.top = 1;
      spec.limits = of == "training"
                        ? std::vector<std::string>{"schedule=1f1b", "tp=8", "pp=4", "micro_batch=1", "cp=1"}
                        : std::vector<std::string>{"batch=16", "prefill_devices=0"};
      const Json request = *ReadRequest(R"({"version": 1})", {"cluster.devices=64"});
      const Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(request, spec);
      ASSERT_TRUE(job) << job.issues[0].path << " " << job.issues[0].message;
      while ((*job)->Step(1000)) {
      }
      const Json best = (*job)->Report()["best"];
      ASSERT_FALSE(best.empty()) << of << " " << figure.name;
      std::vector<Assignment> overrides;
      for (const auto& [path, value] : best[0]["overrides"].items()) overrides.push_back({path, value});
      Json one = request;
      Apply(one, overrides);
      const Json report = *ParseJson(EvaluateAnswer(JsonText(one), {}, "", false).text);
      const std::optional<double> said = NumberAt(report, of + "." + figure.name);
      if (!said) continue;  // the figure is in searches only
      EXPECT_EQ(best[0][figure.name].get<double>(), *said) << of << " " << figure.name;
    }
  }
}

// Except where the output is a million times the figure: a figure in $/token is no cost of a million tokens.
TEST(Outputs, GiveFiguresTheirTitles) {
  const Json report = *ParseJson(EvaluateAnswer(R"({"version": 1})", {}, "*", false).text);
  const std::map<std::string, Json> described = Described();
  int named = 0;
  for (const Json& figure : report["explanations"]) {
    const auto found = described.find(TextOf(figure["path"]));
    if (found == described.end()) continue;
    const bool is_of_a_million = TextOf(figure["path"]).find("per_million") != std::string::npos;
    EXPECT_EQ(figure["title"] == found->second["title"], !is_of_a_million) << figure["path"];
    ++named;
  }
  EXPECT_GT(named, 20);
}

TEST(Outputs, CanBeSweepColumns) {
  const Answer answer =
      SweepAnswer(R"({"version": 1})", {}, {"serving.batch=1,2"}, {"training.step_times", "serving.tpot_s"});
  ASSERT_EQ(answer.issues.size(), 1u);
  EXPECT_EQ(answer.issues[0].path, "report");
  EXPECT_EQ(answer.issues[0].fixes[0], SetTo("report", "training.step_time_s"));
}

}  // namespace
}  // namespace slipstick
