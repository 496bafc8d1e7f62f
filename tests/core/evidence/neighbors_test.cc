// Intervals from the errors of measured runs, against hand calculation and for the repository's own runs.
#include "core/evidence/neighbors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/catalogue/presets.h"
#include "core/evaluation/evidence_files.h"
#include "core/evidence/run_setting.h"
#include "core/studies/coverage.h"
#include "tests/core/preset.h"

namespace slipstick {
namespace {

MeasuredRun Measured(std::string_view device, int source, double log_error,
                     MeasuredKind kind = MeasuredKind::kTokenTime) {
  MeasuredRun run;
  run.id = device, run.source = source, run.kind = kind, run.log_error = log_error;
  run.setting.device = device, run.setting.architecture = "hopper";
  return run;
}

RunDistance Plain() {
  RunDistance plain;
  plain.tail_below = plain.tail_above = 0.05, plain.device = 8 * (std::pow(2, 1. / 8) - 1);
  Spreads& spread = plain.spread;  // none
  for (Spread* one :
       {&spread.step, &spread.memory, &spread.token, &spread.throughput, &spread.batch, &spread.first_token}) {
    *one = {};
  }
  return plain;
}

Likely RangeOf(std::vector<MeasuredRun> runs, const RunDistance& distance, const RunSetting& setting,
               MeasuredKind kind = MeasuredKind::kTokenTime, int left_out = kNoSource) {
  OrderRuns(runs);
  Likely likely = LikelyRange(kind, setting, {runs, distance}, left_out);
  likely.nearest.clear();  // they point into `runs`
  return likely;
}

const RunSetting kH100 = Measured("h100", 0, 0).setting, kH200 = Measured("h200", 0, 0).setting;

// Memory does not depend on what takes the time.
TEST(Neighbors, OfMemoryDoNotDependOnSharesOfTheTime) {
  RunDistance distance = Plain();
  distance.network = 5;
  const std::vector<MeasuredRun> runs{Measured("h100", 0, 0.2, MeasuredKind::kTrainingMemory),
                                      Measured("h200", 1, -0.1, MeasuredKind::kTrainingMemory)};
  RunSetting busy = kH100;
  busy.network = 0.9;
  const Likely of_memory = RangeOf(runs, distance, kH100, MeasuredKind::kTrainingMemory),
               of_busy = RangeOf(runs, distance, busy, MeasuredKind::kTrainingMemory);
  EXPECT_EQ(of_memory.low, of_busy.low);
  EXPECT_EQ(of_memory.high, of_busy.high);
  EXPECT_EQ(of_memory.distance, of_busy.distance);
}

// The issue for an unusable row names the row and the member at fault.
TEST(EvidenceFiles, TheIssueOfARowNamesItsFault) {
  const auto fault = [](const std::string& figure, const std::string& value) {
    const std::string text =
        R"({"publisher": "A", "campaign": "B", "source": "C", "rows": [{"id": "one", "model": "llama-3.1-8b", )"
        R"("cluster": {"preset": "dgx-h100"}, "serving": {"batch": 8}, "figure": ")" +
        figure + R"(", "value": )" + value + "}]}";
    const EvidenceFiles read = ReadEvidence({{"file", text}}, CatalogueDistance());
    return read.issues.empty() ? std::string() : read.issues.front().path + " " + read.issues.front().message;
  };
  EXPECT_EQ(fault("serving.tpot_s", "0.01"), "");
  EXPECT_EQ(fault("serving.tpot", "0.01"), "file one figure: \"serving.tpot\" cannot be compared with this scenario");
  EXPECT_EQ(fault("serving.tpot_s", R"("10 ms")"),
            "file one value: Enter a number above 0, in base units (seconds, bytes)");
}

// A file must state its publisher, campaign and source; otherwise it is refused.
TEST(EvidenceFiles, AFileStatesItsPublisherCampaignAndSource) {
  const Json whole{{"publisher", "A"}, {"campaign", "B"}, {"source", "C"}, {"rows", Json::array()}};
  EXPECT_TRUE(ReadEvidence({{"file", JsonText(whole)}}, CatalogueDistance()).issues.empty());
  for (const char* key : {"publisher", "campaign", "source"}) {
    for (const Json& none : {Json(), Json(""), Json(5)}) {
      Json file = whole;
      file[key] = none;
      if (none.is_null()) file.erase(key);
      const Issues issues = ReadEvidence({{"file", JsonText(file)}}, CatalogueDistance()).issues;
      ASSERT_EQ(issues.size(), 1U) << key << JsonText(none);
      EXPECT_EQ(issues[0].path, "file " + std::string(key));
    }
  }
}

TEST(Neighbors, TheIntervalHoldsNineOfTenErrors) {
  std::vector<MeasuredRun> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(Measured("h100", 0, (i - 49.5) / 100));  // -0.495 … 0.495
  RunDistance distance = Plain();
  distance.tail_below = distance.tail_above = 0.045;
  const Likely likely = RangeOf(runs, distance, kH100);
  EXPECT_NEAR(likely.low, std::exp(-0.455), 1e-9);  // the fifth of a hundred errors
  EXPECT_NEAR(likely.high, std::exp(0.455), 1e-9);  // the 96th
}

// A hundred exact runs of one source and one run of another source that is off by half: each source has half of the
// weight.
TEST(Neighbors, ASourceOfManyDoesNotDrownOneOfFew) {
  std::vector<MeasuredRun> runs(100, Measured("h100", 0, 0));
  runs.push_back(Measured("h100", 1, 0.4));
  EXPECT_NEAR(RangeOf(runs, Plain(), kH100).high, std::exp(0.4), 1e-9);
}

// For an H200, runs on H100 count half. Of the total weight, (1/2) / (1 + 1/2) is theirs.
TEST(Neighbors, NearerRunsCountMore) {
  RunDistance distance = Plain();
  distance.tail_above = 0.34;
  EXPECT_NEAR(RangeOf({Measured("h200", 0, 0), Measured("h100", 1, 0.4)}, distance, kH200).high, 1, 1e-9);
  distance.tail_above = 0.32;
  EXPECT_NEAR(RangeOf({Measured("h200", 0, 0), Measured("h100", 1, 0.4)}, distance, kH200).high, std::exp(0.4), 1e-9);
}

TEST(Neighbors, WidensWithDistance) {
  const std::vector<MeasuredRun> runs{Measured("h100", 0, -0.1), Measured("h100", 0, 0), Measured("h100", 0, 0.1)};
  RunDistance distance = Plain();
  distance.widening = 1;
  EXPECT_NEAR(RangeOf(runs, distance, kH100).high, std::exp(0.1), 1e-9);
  EXPECT_NEAR(RangeOf(runs, distance, kH200).high, std::exp(0.1 * (1 + distance.device)),
              1e-9);  // one device further away
}

// Where tokens take longer than predicted, throughput is lower.
TEST(Neighbors, ARateIsTheInverseOfItsTime) {
  const std::vector<MeasuredRun> runs{Measured("h100", 0, 0), Measured("h100", 0, 0.3)};
  EXPECT_NEAR(RangeOf(runs, Plain(), kH100).high, std::exp(0.3), 1e-9);
  const Likely rate = RangeOf(runs, Plain(), kH100, MeasuredKind::kThroughput);
  EXPECT_NEAR(rate.low, std::exp(-0.3), 1e-9);
  EXPECT_NEAR(rate.high, 1, 1e-9);
}

// Of a hundred errors from -0.495 to 0.495 in steps of 0.01, five are left out at the low end and twenty at the high
// end. A rate leaves out twenty at its high end too, where times are short.
TEST(Neighbors, TheEndsMayLeaveOutDifferentShares) {
  std::vector<MeasuredRun> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(Measured("h100", 0, (i - 49.5) / 100));
  RunDistance distance = Plain();
  distance.tail_below = 0.045, distance.tail_above = 0.205;
  const Likely time = RangeOf(runs, distance, kH100);
  EXPECT_NEAR(time.low, std::exp(-0.455), 1e-9);
  EXPECT_NEAR(time.high, std::exp(0.295), 1e-9);  // the 80th
  const Likely rate = RangeOf(runs, distance, kH100, MeasuredKind::kThroughput);
  EXPECT_NEAR(rate.low, std::exp(-0.455), 1e-9);
  EXPECT_NEAR(rate.high, std::exp(0.295), 1e-9);
}

// The next publisher may differ from exact neighbors by 5 % towards faster and 10 % towards slower, and by 20 and 40 %
// where no run has this software, this kind of model and this architecture together.
TEST(Neighbors, TheNextPublisherMayDiffer) {
  RunDistance distance = Plain();
  distance.spread.step = {{0.05, 0.1}, {0.2, 0.4}, {}};
  const std::vector<MeasuredRun> runs{Measured("h100", 0, 0, MeasuredKind::kStepTime)};
  const auto range = [&](const RunSetting& setting) {
    return RangeOf(runs, distance, setting, MeasuredKind::kStepTime);
  };
  EXPECT_NEAR(range(kH200).low, std::exp(-0.05), 1e-9);
  EXPECT_NEAR(range(kH200).high, std::exp(0.1), 1e-9);
  RunSetting routed = kH100, other = kH100, older = kH100;
  routed.has_experts = true, other.software = "sglang", older.architecture = "ampere";
  for (const RunSetting& setting : {routed, other, older}) {
    EXPECT_FALSE(range(setting).is_measured);
    EXPECT_NEAR(range(setting).low, std::exp(-0.2), 1e-9);
    EXPECT_NEAR(range(setting).high, std::exp(0.4), 1e-9);
  }
}

// A run of an excluded source does not make its kind of setting measured.
TEST(Neighbors, ALeftOutSourceMeasuredNothing) {
  RunDistance distance = Plain();
  distance.spread.token = {{0.1, 0.1}, {0.3, 0.3}, {}};
  MeasuredRun routed = Measured("h100", 1, 0);
  routed.setting.has_experts = true;
  const std::vector<MeasuredRun> runs{Measured("h100", 0, 0), routed};
  EXPECT_NEAR(RangeOf(runs, distance, routed.setting).high, std::exp(0.1), 1e-9);
  EXPECT_NEAR(RangeOf(runs, distance, routed.setting, MeasuredKind::kTokenTime, 1).high, std::exp(0.3), 1e-9);
}

// The spreads for the publisher, 0.3, and for the tuning, 0.4, are independent: together 0.5.
TEST(Neighbors, TheTuningWidensTheInterval) {
  RunDistance distance = Plain();
  distance.spread.token = {{0.3, 0.3}, {0.3, 0.3}, {}};
  RunSetting stock = kH100;
  stock.tuning = {0, 0.4};
  const Likely likely = RangeOf({Measured("h100", 0, 0)}, distance, stock);
  EXPECT_NEAR(likely.low, std::exp(-0.3), 1e-9);
  EXPECT_NEAR(likely.high, std::exp(0.5), 1e-9);
}

// Three quarters of a first token are a wait for memory. With a little more memory there is no wait, so the low end has
// a quarter of the time left.
TEST(Neighbors, TheLowEndIsWithoutTheQueue) {
  RunDistance distance = Plain();
  distance.spread.first_token.measured = {0.2, 0.2};
  RunSetting queued = kH100;
  queued.queued = 0.75;
  const std::vector<MeasuredRun> runs{Measured("h100", 0, 0, MeasuredKind::kFirstToken)};
  const Likely likely = RangeOf(runs, distance, queued, MeasuredKind::kFirstToken);
  EXPECT_NEAR(likely.low, std::exp(-0.2) / 4, 1e-9);
  EXPECT_NEAR(likely.high, std::exp(0.2), 1e-9);
}

TEST(Neighbors, ALeftOutSourceSaysNothing) {
  const std::vector<MeasuredRun> runs{Measured("h100", 0, 0.1), Measured("h100", 1, 0.5)};
  EXPECT_NEAR(RangeOf(runs, Plain(), kH100, MeasuredKind::kTokenTime, 1).high, std::exp(0.1), 1e-9);
}

TEST(PublishedRuns, AreReadFromTheirLines) {
  const std::string lines =
      "first run\t3\t4\th100\thopper\tvllm\t1\t0\t30000\t55850\t361234\t110000\t1\t25\t9000\t0\t-2810\t1.25e-05\n"
      "second\t12\t0\ttpu-v5p\ttpu\tmaxtext\t0\t10000\t0\t0\t0\t0\t0\t0\t0\t0\t2000\t19.5\n";
  const std::vector<MeasuredRun> runs = RunsOf(lines);
  ASSERT_EQ(runs.size(), 2U);
  const MeasuredRun& first = runs[0];
  EXPECT_EQ(first.id, "first run");
  EXPECT_EQ(first.source, 3);
  EXPECT_EQ(first.kind, MeasuredKind::kStaticLatency);
  EXPECT_EQ(first.setting.device, "h100");
  EXPECT_EQ(first.setting.architecture, "hopper");
  EXPECT_EQ(first.setting.software, "vllm");
  EXPECT_TRUE(first.setting.has_experts);
  EXPECT_EQ(first.setting.devices, 3);
  EXPECT_EQ(first.setting.load, 5.585);
  EXPECT_EQ(first.setting.parameters, 36.1234);
  EXPECT_EQ(first.setting.length, 11);
  EXPECT_EQ(first.setting.network, 1e-4);
  EXPECT_EQ(first.setting.latency, 0.0025);
  EXPECT_EQ(first.setting.waiting, 0.9);
  EXPECT_EQ(first.log_error, -0.281);
  EXPECT_EQ(first.predicted, 1.25e-5);
  EXPECT_EQ(runs[1].id, "second");
  EXPECT_FALSE(runs[1].setting.has_experts);
  EXPECT_EQ(runs[1].setting.bits, 1);
  EXPECT_EQ(runs[1].predicted, 19.5);
  EXPECT_EQ(LineOf(first) + LineOf(runs[1]), lines);
}

TEST(PublishedRuns, CoverEveryKindEngineAndFramework) {
  EXPECT_GE(MeasuredRuns().size(), 600U);
  std::set<MeasuredKind> kinds;
  std::set<std::string_view> software;
  for (const MeasuredRun& run : MeasuredRuns()) {
    kinds.insert(run.kind), software.insert(run.setting.software);
    EXPECT_TRUE(std::isfinite(run.log_error)) << run.id;
  }
  EXPECT_EQ(kinds.size(), 9U);
  // The last three appear only in tests/validation/training_runs.csv, and no run there sets an interval.
  const std::set<std::string_view> others{"ideal", "roofline", "pytorch", "megatron-launched", "neuronx"};
  for (const PresetText& preset : PresetTexts()) {
    if ((preset.kind != "engine" && preset.kind != "framework") || others.contains(preset.id)) continue;
    EXPECT_TRUE(software.contains(preset.id)) << preset.id;
  }
}

EvidenceFiles OwnRuns() {
  EvidenceFiles own;
  own.runs.assign(MeasuredRuns().begin(), MeasuredRuns().end());
  own.sources.assign(MeasuredSources().begin(), MeasuredSources().end());
  own.distance = MeasuredDistance();
  return own;
}

// Each run is tested against an interval from the other sources.
TEST(PublishedRuns, IntervalsHoldWhatOtherSourcesMeasured) {
  const EvidenceFiles own = OwnRuns();
  // These runs set constants of the model, which the next publisher's runs do not: more than 90 % of them are to lie in
  // their intervals.
  const auto widest = [](MeasuredKind kind) {
    const bool is_short =
        kind == MeasuredKind::kStepTime || kind == MeasuredKind::kTokenTime || kind == MeasuredKind::kStaticLatency;
    return is_short ? 0.4 : kind == MeasuredKind::kFirstToken ? 1.2 : 0.5;
  };
  for (const auto& [kind, coverage] : CoverageOf(own, own).kinds) {
    if (coverage.runs < 30) continue;
    EXPECT_GE(coverage.Held(), 0.9) << TitleOf(kind) << ", half-width " << coverage.MedianHalfWidth();
    EXPECT_LE(coverage.MedianHalfWidth(), widest(kind)) << TitleOf(kind);
  }
}

// The page takes its figures from here: every kind but whole runs is listed, and every run is counted.
TEST(PublishedRuns, CoverageIsAnsweredByKind) {
  const Result<Json> answer = ParseJson(CoverageAnswer().text);
  int runs = 0;
  for (const Json& kind : (*answer)["kinds"]) {
    runs += kind["runs"].get<int>();
    EXPECT_GT(kind["held"], 0.7) << kind["kind"];
    EXPECT_GT(kind["half_width"], 0) << kind["kind"];
  }
  const auto is_whole = [](const MeasuredRun& run) { return run.kind == MeasuredKind::kWholeRun; };
  EXPECT_EQ(runs, std::count_if(MeasuredRuns().begin(), MeasuredRuns().end(),
                                [&](const MeasuredRun& run) { return !is_whole(run); }));
}

// By Little's law, with ten requests/s and five waiting, each waits half a second; but never longer than the first
// token takes beyond its own prefill.
TEST(RunSetting, GivesTheQueuesShareOfAFirstToken) {
  const Model model = FromPreset<Model>("llama-3.1-8b");
  const Cluster cluster = FromPreset<Cluster>("dgx-h100");
  ServingReport report;
  report.batch = 1;
  report.prefill = 200 * kMs, report.ttft = 1 * kS;
  report.requests_per_s = 10;
  const auto queued = [&](double waiting) {
    report.requests_waiting = waiting;
    return SettingOf(MeasuredKind::kFirstToken, model, cluster, ServingLoad(), report).queued;
  };
  EXPECT_EQ(queued(0), 0);
  EXPECT_NEAR(queued(5), 0.5, 1e-9);
  EXPECT_NEAR(queued(9), 0.8, 1e-9);
}

}  // namespace
}  // namespace slipstick
