// A partition into chiplets as an input of the scenario, and its effects on memory, power, edge and bill of materials.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "core/evaluation/evaluate.h"
#include "core/exploration/sweep.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

Result<Scenario> ScenarioWith(std::vector<std::string> assignments) {
  assignments.insert(assignments.begin(), {"training=null", "serving=null", "cluster=dgx-h100"});
  const Result<Json> request = ReadRequest(R"({"version": 1})", assignments);
  if (!request) return request.issues;
  return ParseScenario(*request);
}
Json ReportWith(const std::vector<std::string>& assignments) {
  const Result<Scenario> scenario = ScenarioWith(assignments);
  EXPECT_TRUE(scenario) << scenario.issues[0].path << ": " << scenario.issues[0].message;
  return scenario ? *Evaluate(*scenario, {}) : Json::object();
}

// 814 mm^2 in two dies: 407 mm^2 each plus eight modules of 0.811 mm^2 for 4 TB/s, which take 9.6 of the 700 W at 0.3
// pJ per bit. Each die reads half of its data from the other: the link allows 8 TB/s, more than the memory's 3.35.
TEST(Partition, OfACatalogueDevice) {
  const Json report = ReportWith({"partition.chiplets=2", "partition.bandwidth=4 TB/s"});
  const Json& die = report["cost"]["dies"][0];
  EXPECT_EQ(die["count"], 2);
  EXPECT_NEAR(die["area_mm2"].get<double>(), 407 + 8 * 0.811, 1e-9);
  const Json& device = report["scenario"]["cluster"]["device"];
  EXPECT_NEAR(device["die"]["link_power"].get<double>(), 4e12 * 8 * 0.3e-12, 1e-9);
  EXPECT_DOUBLE_EQ(device["memory"]["bandwidth"].get<double>(), 3.35e12);
  EXPECT_DOUBLE_EQ(device["tdp"].get<double>(), 700);
}

// With a link of 1 TB/s two dies stream 2 TB/s.
TEST(Partition, LinksBoundTheMemory) {
  const Json slow = ReportWith({"partition.chiplets=2", "partition.bandwidth=1 TB/s"});
  EXPECT_DOUBLE_EQ(slow["scenario"]["cluster"]["device"]["memory"]["bandwidth"].get<double>(), 2e12);
  const Json designed =
      ReportWith({"partition.chiplets=2", "partition.bandwidth=1 TB/s", "cluster.device.design=h100-like"});
  EXPECT_DOUBLE_EQ(designed["technology"]["memory"]["bandwidth"].get<double>(), 2e12);
  EXPECT_EQ(designed["technology"]["memory"]["bound"], "links");
  EXPECT_NE(JsonText(designed["warnings"]).find("die-to-die links allow 2 TB/s"), std::string::npos);
}

// Eight modules for 4 TB/s miss the edge of a 407 mm^2 die by a rounding error: seven are offered, and the search for a
// fix ends. The modules' area is 0, so that the die keeps its size.
TEST(Partition, LinksThatMissTheEdgeByARounding) {
  for (const double over : {1e-4, 1e-9, 1e-11, 1e-12, 1e-13}) {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g mm", 4 * std::sqrt(407.0) / 8 * (1 + over));
    const Result<Scenario> scenario = ScenarioWith(
        {"partition.chiplets=2", "partition.bandwidth=4 TB/s", "partition.interface.module_bandwidth=500 GB/s",
         "partition.interface.module_area=0", std::string("partition.interface.module_edge=") + text});
    ASSERT_FALSE(scenario) << over;
    ASSERT_EQ(scenario.issues.size(), 1u) << over;
    EXPECT_EQ(scenario.issues[0].path, "partition.bandwidth");
    EXPECT_NE(scenario.issues[0].fixes[0].change.value.find("3500000000000"), std::string::npos);
  }
}

// Links draw from the power of the circuits: four links of 4 TB/s take 38.4 of 700 W, and memory gets 14.5 % of the
// rest. Two adjacent dies have six outer sides.
TEST(Partition, OfADesign) {
  const Json four =
      ReportWith({"partition.chiplets=4", "partition.bandwidth=4 TB/s", "cluster.device.design=h100-like"});
  EXPECT_NEAR(four["technology"]["memory"]["bandwidth_of_power"].get<double>(), (700 - 4 * 9.6) * 0.145 / (3.7e-12 * 8),
              1e3);
  const Json two =
      ReportWith({"partition.chiplets=2", "partition.bandwidth=4 TB/s", "cluster.device.design=h100-like"});
  EXPECT_NEAR(two["technology"]["memory"]["sites_by_shoreline"].get<double>(),
              0.585 * 6 * std::sqrt(407 + 8 * 0.811) / 11, 1e-9);
}

// Memory and network are on the I/O die, whose edge has to hold them beside its links. A fifth of 814 mm^2 takes 1.6 /
// 0.88 of its area at 14 nm, plus its links (three in a ring, two ends on each die).
TEST(Partition, AnIoDieHasTheEdge) {
  const Json report = ReportWith({"partition.chiplets=2", "partition.bandwidth=4 TB/s", "partition.io_share=0.2",
                                  "partition.io_node=14nm", "cluster.device.design=h100-like",
                                  "cluster.device.design.package_area=3000 mm^2"});
  const double io = 814 * 0.2 * 1.6 / 0.88 + 2 * 8 * 0.811;
  EXPECT_NEAR(report["cost"]["dies"][1]["area_mm2"].get<double>(), io, 1e-9);
  EXPECT_EQ(report["cost"]["dies"][1]["node"], "14 nm");
  EXPECT_NEAR(report["technology"]["memory"]["sites_by_shoreline"].get<double>(),
              0.585 * (4 * std::sqrt(io) - 2 * 8 * 0.3888) / 11, 1e-9);
}

// A resolved scenario resolves to itself.
TEST(Partition, OfAReportGivesTheSameReport) {
  for (const char* design : {"cluster.device.design=null", "cluster.device.design=h100-like"}) {
    const Json once = ReportWith({"partition.chiplets=4", "partition.bandwidth=1 TB/s", design});
    const Result<Scenario> again = ParseScenario(once["scenario"]);
    ASSERT_TRUE(again) << again.issues[0].path << ": " << again.issues[0].message;
    EXPECT_EQ(JsonText(*Evaluate(*again, {})), JsonText(once)) << design;
  }
}

TEST(Partition, HbmNeedsACarrierThatHoldsIt) {
  for (const char* package : {"cost.device.package=organic-mcm", "partition.package=organic-mcm"}) {
    const Result<Scenario> refused = ScenarioWith({package});
    ASSERT_FALSE(refused);
    const Issue& issue = refused.issues[0];
    EXPECT_EQ(issue.path, std::string(package).substr(0, std::string(package).find('=')) + ".preset");
    ASSERT_FALSE(issue.fixes.empty());
    for (const Fix& fix : issue.fixes)
      EXPECT_TRUE(ScenarioWith({fix.change.path + "=" + TextOf(fix.change.value)})) << fix.change.path;
  }
  // Another kind of memory brings its package.
  EXPECT_EQ(ReportWith({"cluster.device=rtx-4090",
                        "cluster.device.memory.technology=HBM3"})["scenario"]["cost"]["device"]["package"]["preset"],
            "interposer");
}

// Dies without links cannot read each other's memory: a designed chip lacks links, not power for its memory.
TEST(Partition, LinksOfADesignNeedBandwidth) {
  const std::vector<std::string> asked{"cluster.device.design=h100-like", "partition.chiplets=2",
                                       "partition.overhead=0"};
  const Result<Scenario> refused = ScenarioWith(asked);
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.issues.size(), 1U);
  EXPECT_EQ(refused.issues[0].path, "partition.bandwidth");
  ASSERT_EQ(refused.issues[0].fixes.size(), 2U);
  for (const Fix& fix : refused.issues[0].fixes) {
    std::vector<std::string> mended = asked;
    mended.push_back(fix.change.path + "=" + TextOf(fix.change.value));
    EXPECT_TRUE(ScenarioWith(mended)) << fix.change.path;
  }
}

// 200 TB/s take 391 modules of 0.3888 mm, 152 mm where the edge has 81 mm.
TEST(Partition, LinksNeedRoomOnTheEdge) {
  const Result<Scenario> refused = ScenarioWith({"partition.chiplets=2", "partition.bandwidth=200 TB/s"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.issues[0].path, "partition.bandwidth");
  ASSERT_EQ(refused.issues[0].fixes.size(), 1U);
  const Fix& fix = refused.issues[0].fixes[0];
  EXPECT_TRUE(ScenarioWith({"partition.chiplets=2", fix.change.path + "=" + JsonText(fix.change.value)}));
}

// The die count is an input like any other.
TEST(Partition, IsSwept) {
  const Answer answer =
      SweepAnswer(R"({"version": 1})", {"cluster=dgx-h100", "training=null", "partition.bandwidth=4 TB/s"},
                  {"partition.chiplets=1,2,4"}, {"cost.device_usd"}, {}, "");
  ASSERT_TRUE(answer.issues.empty());
  double last = 1e9;
  for (const char* row : {"\n1,", "\n2,", "\n4,"}) {
    const std::size_t at = answer.text.find(row);
    ASSERT_NE(at, std::string::npos);
    const double cost = std::stod(answer.text.substr(at + 3));
    EXPECT_LT(cost, last);
    last = cost;
  }
}

}  // namespace
}  // namespace slipstick
