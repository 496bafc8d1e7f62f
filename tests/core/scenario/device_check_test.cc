// Chips that cannot exist are refused, with fixes that were tried.
#include "core/scenario/device_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/catalogue/presets.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"
#include "tests/support/issue_words.h"

namespace slipstick::testing {
namespace {

Result<Scenario> Parsed(const Assignments& assignments) {
  const Result<Json> request = ReadRequest("", Assignments{"model=llama-3.1-8b", "training=null"} + assignments);
  return request ? ParseScenario(*request) : Result<Scenario>(request.issues);
}

// The fixes offered for the issue at a path; a failure if there is none.
std::vector<std::string> FixesAt(const std::string& path, const Assignments& assignments) {
  const Assignments all = Assignments{"model=llama-3.1-8b", "training=null"} + assignments;
  std::vector<std::string> words;
  bool is_found = false;
  for (const Issue& issue : EvaluateAnswer("", all).issues) {
    if (issue.path != path) continue;
    is_found = true;
    for (const Fix& fix : issue.fixes) {
      words.push_back(WordsOf(fix));
      Issues left = ParseScenario(WithFix(*ReadRequest("", all), fix)).issues;
      EXPECT_TRUE(std::none_of(left.begin(), left.end(), [&](const Issue& one) { return one.path == path; }))
          << words.back();
    }
  }
  EXPECT_TRUE(is_found) << path;
  return words;
}

bool HasWarning(const Assignments& assignments, const std::string& words) {
  const Result<Scenario> scenario = Parsed(assignments);
  EXPECT_TRUE(scenario) << (scenario.issues.empty() ? "" : scenario.issues[0].message);
  return scenario && std::any_of(scenario->warnings.begin(), scenario->warnings.end(),
                                 [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

// 1 + 0.143 + 0.1 + 0.033 = 1.276 dies.
TEST(ImpossibleChips, SpendABudgetTwice) {
  const std::string design = "cluster.device.design";
  EXPECT_EQ(FixesAt(design + ".area_split", {design + "=h100-like", design + ".area_split.core=1"}).front(),
            design + ".area_split.core=0.724");
  EXPECT_FALSE(FixesAt(design + ".area_split",
                       {design + "=a100-like", design + ".area_split.core=0.9", design + ".area_split.l2=0.9"})
                   .empty());
  EXPECT_FALSE(FixesAt(design + ".power_split", {design + "=h100-like", design + ".power_split.core=1"}).empty());
  EXPECT_FALSE(FixesAt(design + ".edge_split",
                       {design + "=h100-like", design + ".edge_split.memory=0.9", design + ".edge_split.network=0.9"})
                   .empty());
  for (const Json& entry : PresetCatalogue("chip_design"))
    EXPECT_TRUE(Parsed({design + "=" + entry["id"].get<std::string>()})) << entry["id"];
}

TEST(ImpossibleChips, IdleAboveTheirPowerLimit) {
  EXPECT_EQ(FixesAt("cluster.device.tdp", {"cluster.device.tdp=1 W"}), Assignments{"cluster.device.tdp="});
  EXPECT_EQ(FixesAt("cluster.device.tdp", {"cluster.device.tdp=70 W"}), Assignments{"cluster.device.tdp="});
  EXPECT_EQ(FixesAt("cluster.device.tdp", {"cluster.device.idle=2000 W"}), Assignments{"cluster.device.idle="});
  const std::string share = "cluster.device.design.idle_share";
  EXPECT_EQ(FixesAt(share, {"cluster.device.design=h100-like", share + "=1"}), Assignments{share + "="});
}

// 80 GB of a data sheet are 80 GiB for a program, or a little less than 81 where the data sheet rounds down.
TEST(ImpossibleChips, OfferMoreMemoryThanTheyHave) {
  const std::string usable = "cluster.device.memory.usable";
  const Assignments fixes = FixesAt(usable, {usable + "=200 GB"});
  ASSERT_EQ(fixes.size(), 2U);
  EXPECT_EQ(fixes[0], usable + "=\"80 GiB\"");
  EXPECT_EQ(fixes[1], usable + "=");
  EXPECT_TRUE(Parsed({usable + "=80 GiB"}));
  EXPECT_FALSE(Parsed({usable + "=82 GiB"}));
}

// 100 W leave 30 W beyond idling, and HBM3 takes 3.7 pJ per bit: 30 / (8 * 3.7e-12) = 1.0135 TB/s. Its 3.35 TB/s take
// 99.2 W, so a limit of 170 W feeds them.
TEST(ImpossibleChips, StreamBeyondTheirPowerLimit) {
  const auto bandwidth = [](const std::string& tdp) {
    return In(Parsed({"cluster=dgx-h100", "cluster.device.tdp=" + tdp})->cluster.device.memory.bandwidth, kTBps);
  };
  EXPECT_NEAR(bandwidth("100 W"), 30 / (8 * 3.7), 1e-12);
  EXPECT_DOUBLE_EQ(bandwidth("170 W"), 3.35);
  EXPECT_LT(bandwidth("169 W"), 3.35);
  EXPECT_TRUE(
      HasWarning({"cluster=dgx-h100", "cluster.device.tdp=100 W"}, "30 W beyond idling, which feed 1.014 TB/s"));
  EXPECT_FALSE(HasWarning({"cluster=dgx-h100", "cluster.device.tdp=170 W"}, "beyond idling"));
  // No device of the catalogue is limited.
  for (const Json& entry : PresetCatalogue("device"))
    EXPECT_FALSE(HasWarning({"cluster=single-" + entry["id"].get<std::string>()}, "beyond idling")) << entry["id"];
}

// 144 x 7 = 1,008 mm^2 on a die of 814; 814 / 144 = 5.6528 mm^2 fit, or 116 units of 7.
TEST(ImpossibleChips, HaveUnitsLargerThanTheDie) {
  const std::string die = "cost.device.dies.0.";
  const Assignments fixes = FixesAt(die + "unit_area", {"cluster=dgx-h100", die + "unit_area=7 mm^2"});
  ASSERT_EQ(fixes.size(), 2U);
  EXPECT_EQ(fixes[0], die + "unit_area=\"5.652 mm^2\"");
  EXPECT_EQ(fixes[1], die + "units=116");
  EXPECT_FALSE(FixesAt(die + "unit_area", {"cluster=dgx-h100", die + "units=400"}).empty());
  EXPECT_EQ(FixesAt(die + "spare_units", {"cluster=dgx-h100", die + "spare_units=144"}),
            Assignments{die + "spare_units=143"});
}

Ratio DieYieldOf(const Assignments& assignments) {
  const Result<Scenario> scenario = Parsed(assignments);
  EXPECT_TRUE(scenario);
  return DieYield(scenario->cost->device.dies.at(0));
}

// Without spares a die must be whole: (1 + area D / alpha)^-alpha, with 0.09 per cm^2 and alpha 3 of the catalogue's 4 nm:
// (1 + 0.09 * 8.14 / 3)^-3 = 0.519. With 12 spares: the mean of a binomial distribution over the gamma distribution of D.
TEST(DesignedDies, HaveTheSparesThatTheDesignLeaves) {
  const Assignments h100{"cluster=dgx-h100", "cluster.device.design=h100-like", "cost.device.dies.0.node.clustering=3"};
  const std::string enabled = "cluster.device.design.units_enabled=";
  EXPECT_NEAR(DieYieldOf(h100 + Assignments{enabled + "1"}), std::pow(1 + 0.09 * 8.14 / 3, -3), 1e-6);
  EXPECT_NEAR(DieYieldOf(h100), 0.729, 0.002);  // 12 spares
  EXPECT_GT(DieYieldOf(h100 + Assignments{enabled + "0.8"}), DieYieldOf(h100));
  // The A100's 128 SMs of 3.716 mm^2 (engine_test.cc), 108 of them enabled.
  const DieInput a100 = Parsed({"cluster=dgx-a100", "cluster.device.design=a100-like"})->cost->device.dies.at(0);
  EXPECT_EQ(a100.units, 128);
  EXPECT_EQ(a100.spare_units, 20);
  EXPECT_NEAR(a100.unit_area.base(), 3.716, 0.005);
  // Blackwell: 74 of the 80 SMs of each die.
  const Result<Scenario> b200 = Parsed({"cluster=dgx-b200", "cluster.device.design=b200-like"});
  const DieInput half = SplitCosts(b200->partition, *b200->cost)->device.dies.at(0);
  EXPECT_EQ(half.units, 80);
  EXPECT_EQ(half.spare_units, 6);
}

}  // namespace
}  // namespace slipstick::testing
