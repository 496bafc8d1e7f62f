#include <algorithm>

#include "tests/core/training/scenarios.h"
#include "tests/support/issue_words.h"

namespace slipstick {
namespace {

const char kLlama[] = R"({"preset": "llama-3.1-70b"})";
const char kCluster[] = R"({"preset": "dgx-h100", "devices": 64})";

std::string WordsAt(const Issues& issues, const std::string& path) {
  const auto found = std::find_if(issues.begin(), issues.end(), [&](const Issue& issue) { return issue.path == path; });
  return found == issues.end() ? "" : WordsOf(*found);
}

std::string Training(const std::string& members) {
  return R"({"sequence": 4096, "global_batch": 64, "framework": {"preset": "megatron"}, )" + members + "}";
}

TEST(Validation, FillsDevicesAndDataParallelism) {
  const Scenario scenario = TrainingScenario(kLlama, kCluster, Training(R"("mapping": {"tp": 4, "pp": 2, "cp": 2})"));
  EXPECT_EQ(*scenario.training->devices, 64);
  EXPECT_EQ(*scenario.training->mapping.dp, 4);
}

TEST(Validation, NamesTheMemberAndTheNearestValues) {
  struct Row {
    const char* mapping;
    const char* path;
    const char* text;
  };
  for (const Row& row :
       {Row{R"({"tp": 3})", "training.mapping", "fix training.mapping.tp=2; fix training.mapping.tp=4"},
        Row{R"({"tp": 8, "dp": 4})", "training.mapping.dp", "= 8"},
        Row{R"({"ep": 2})", "training.mapping.ep", "the model has no experts"},
        Row{R"({"pp": 2, "virtual_stages": 64})", "training.mapping.virtual_stages", "at most 41"},
        Row{R"({"virtual_stages": 2})", "training.mapping.virtual_stages", "without pipeline parallelism"},
        Row{R"({"micro_batch": 3})", "training.global_batch", "fix training.global_batch=192"},
        Row{R"({"order": "tp-dp"})", "training.mapping.order", "innermost first"},
        Row{R"({"pp": 2, "schedule": "zb-v"})", "training.mapping.virtual_stages", "must be 2"},
        Row{R"({"pp": 2, "virtual_stages": 2, "schedule": "gpipe"})", "training.mapping.virtual_stages", "under gpipe"},
        Row{R"({"cp": 16, "cp_kind": "ulysses", "tp": 8})", "training.mapping", "does not divide"},
        Row{R"({"shard_within": 3, "zero": 1})", "training.mapping.shard_within",
            "fix training.mapping.shard_within=2; fix training.mapping.shard_within=4"}}) {
    const Issues issues = TrainingIssues(kLlama, kCluster, Training(R"("mapping": )" + std::string(row.mapping)));
    EXPECT_NE(WordsAt(issues, row.path).find(row.text), std::string::npos)
        << row.mapping << " -> " << (issues.empty() ? "no issue" : issues.front().path + ": " + issues.front().message);
  }
}

TEST(Validation, FindsStagesWithoutTheKvCacheOfTheirLayers) {
  const Issues issues = TrainingIssues(R"({"preset": "gemma-4-e4b"})", kCluster, Training(R"("mapping": {"pp": 2})"));
  EXPECT_NE(WordsAt(issues, "training.mapping.pp").find("fix training.mapping.pp=1"), std::string::npos);
}

TEST(Validation, FindsWhatDoesNotDivideTheHeads) {
  const Issues issues = TrainingIssues(R"({"layers": 8, "hidden": 1536, "heads": 12, "ffn": 6144, "vocab": 32000})",
                                       kCluster, Training(R"("mapping": {"tp": 8})"));
  // 6 and 12 divide the heads too, but not the 64 devices.
  EXPECT_NE(WordsAt(issues, "training.mapping.tp").find("fix training.mapping.tp=4"), std::string::npos);
}

TEST(Validation, RefusesFormatsThatNobodyTrainsIn) {
  EXPECT_NE(
      WordsAt(TrainingIssues(kLlama, kCluster, Training(R"("precision": "int4")")), "training.precision").find("nvfp4"),
      std::string::npos);
}

TEST(Validation, ReportsEveryFaultAtOnce) {
  EXPECT_GE(
      TrainingIssues(kLlama, kCluster, Training(R"("precision": "int8", "mapping": {"tp": 128, "order": "x"})")).size(),
      3U);
}

}  // namespace
}  // namespace slipstick
