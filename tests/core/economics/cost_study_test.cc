#include "core/studies/cost_study.h"

#include <gtest/gtest.h>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/scenario/answer.h"

namespace slipstick {
namespace {

Json Ask(const std::string& request) {
  const Answer answer = CostStudyAnswer(request);
  EXPECT_TRUE(answer.issues.empty()) << request << answer.text;
  return *ParseJson(answer.text);
}

TEST(CostStudy, AreaCurvesCrossAtTheirCrossovers) {
  const Json area = Ask(R"({"kind": "area", "low": 100, "high": 1600, "points": 16, "chiplets": [1, 2, 4],
                            "partition": {"package": {"preset": "organic-mcm"}}})");
  ASSERT_EQ(area["curves"].size(), 3U);
  ASSERT_EQ(area["areas_mm2"].size(), 16U);
  EXPECT_EQ(area["reticle_mm2"], 858);
  for (const Json& curve : area["curves"]) {
    for (std::size_t i = 1; i < 16; ++i)
      EXPECT_GT(curve["recurring_usd"][i].get<double>(), 0.98 * curve["recurring_usd"][i - 1].get<double>());
  }
  // One die past the field cannot be printed; two of half the area can.
  EXPECT_FALSE(area["curves"][0]["fits_reticle"][9].get<bool>());
  EXPECT_TRUE(area["curves"][1]["fits_reticle"][9].get<bool>());
  for (const Json& crossover : area["crossovers"]) {
    if (crossover["recurring_area_mm2"].is_null()) continue;
    const double at = crossover["recurring_area_mm2"].get<double>();
    EXPECT_GE(at, 100);
    EXPECT_LE(at, 1616);
  }
}

TEST(CostStudy, WaferSampleIsSeededAndNearItsYield) {
  const Json one = Ask(R"({"kind": "wafer", "seed": 3})"), again = Ask(R"({"kind": "wafer", "seed": 3})"),
             other = Ask(R"({"kind": "wafer", "seed": 4})");
  EXPECT_EQ(one["gross"], 66);
  EXPECT_EQ(one["dies"], again["dies"]);
  EXPECT_NE(one["dies"], other["dies"]);
  EXPECT_NEAR(one["good"].get<double>(), one["expected_good"].get<double>(), 16);
}

TEST(CostStudy, YieldFanOfEveryModel) {
  const Json fan = Ask(R"({"kind": "yields", "points": 5})");
  // Half of the wafers lost: half of the yield, by every model, as on the wafer itself.
  const Json
      half = Ask(
          R"({"kind": "yields", "points": 5, "scenario": {"cost": {"device": {"dies": [{"process_yield": 0.5}]}}}})"),
      wafer = Ask(R"({"kind": "wafer", "scenario": {"cost": {"device": {"dies": [{"process_yield": 0.5}]}}}})");
  for (std::size_t i = 0; i < fan["models"].size(); ++i) {
    const double own = half["models"][i]["own_yield"].get<double>();
    EXPECT_NEAR(own, 0.5 * fan["models"][i]["own_yield"].get<double>(), 1e-12) << i;
    if (half["models"][i]["chosen"] == true) {
      EXPECT_NEAR(own, wafer["whole_yield"].get<double>(), 1e-12);
    }
  }
  ASSERT_EQ(fan["models"].size(), 8U);
  for (const Json& model : fan["models"]) EXPECT_EQ(model["yield"].size(), 5U);
}

TEST(CostStudy, PartitionAddsUpAndCarriesItsLinks) {
  const Json split = Ask(
      R"({"kind": "partition", "partition": {"chiplets": 4, "bandwidth": "2 TB/s", "package": {"preset": "interposer"}}})");
  for (const char* which : {"whole", "split"}) {
    double sum = 0;
    for (const Json& line : split[which]["device_usd_parts"]) sum += line["cost_usd"].get<double>();
    EXPECT_EQ(sum, split[which]["device_usd"].get<double>());
  }
  EXPECT_NEAR(split["die_area_mm2"].get<double>(), 814.0 / 4 + 8 * 0.811, 1e-9);
  EXPECT_NEAR(split["link_power_w"].get<double>(), 4 * 2e12 * 0.3 * 8e-12, 1e-9);
}

// Two dies on an organic substrate save the interposer, but the five HBM stacks need it: a warning says so.
TEST(CostStudy, PartitionOnASubstrateThatCannotCarryHbmGivesAWarning) {
  const auto ask = [](const char* package) {
    return Ask(std::string(R"({"kind": "partition", "partition": {"chiplets": 2, "package": {"preset": ")") + package +
               "\"}}}");
  };
  const Json organic = ask("organic-mcm"), interposer = ask("interposer");
  ASSERT_EQ(organic["split"]["warnings"].size(), 1U);
  EXPECT_EQ(organic["split"]["warnings"][0],
            "HBM3 needs a silicon interposer or bridge: an organic substrate cannot carry HBM");
  EXPECT_EQ(organic["whole"]["warnings"].size(), 0U);
  EXPECT_EQ(interposer["split"]["warnings"].size(), 0U);
}

// An MI300X has eight compute dies on four I/O dies, and keeps these however its compute is cut: the study's bill is that
// of the same device in `evaluate`. One die of 8 × 115 mm^2 is larger than the field of 858 mm^2, four of 230 are not.
TEST(CostStudy, PartitionKeepsTheOtherDies) {
  const Json study =
      Ask(R"({"kind": "partition", "partition": {"chiplets": 4}, "scenario": {"cluster": {"preset": "hgx-mi300x"}}})");
  const Json evaluated = *ParseJson(
      EvaluateAnswer(R"({"cluster": "hgx-mi300x", "partition": {"chiplets": 4}, "training": null, "serving": null})")
          .text);
  EXPECT_NEAR(study["split"]["device_usd"].get<double>(), evaluated["cost"]["device_usd"].get<double>(), 1e-6);
  for (const char* which : {"whole", "split"}) EXPECT_EQ(study[which]["device_usd_parts"][1]["name"], "IOD dies (4)");
  EXPECT_EQ(study["split"]["warnings"].size(), 0U);
  ASSERT_EQ(study["whole"]["warnings"].size(), 1U);
  EXPECT_NE(JsonText(study["whole"]["warnings"]).find("larger than the reticle field"), std::string::npos);
}

TEST(CostStudy, SamplesDoNotDependOnTheSteps) {
  const Json whole = Ask(R"({"kind": "monte_carlo", "first": 0, "last": 20})"),
             tail = Ask(R"({"kind": "monte_carlo", "first": 15, "last": 20})");
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(whole["device_usd"][15 + i], tail["device_usd"][i]);
  EXPECT_LE(whole["device_usd_quantiles"]["p5"].get<double>(), whole["device_usd_quantiles"]["p95"].get<double>());
}

TEST(CostStudy, CountsHoldEverySample) {
  const Json answer = Ask(R"({"kind": "monte_carlo", "last": 300, "draws": false})");
  EXPECT_FALSE(answer.contains("device_usd"));
  double all = 0;
  for (const Json& count : answer["device_hour_usd_counts"]["counts"]) all += count.get<double>();
  EXPECT_EQ(all, 300.0);
  // The first 18 of 36 equal steps hold the samples below the middle.
  const Json drawn = Ask(R"({"kind": "monte_carlo", "last": 300})"), &counted = drawn["device_usd_counts"];
  const double middle = (*NumberAt(counted, "from") + *NumberAt(counted, "to")) / 2;
  int below = 0, in_steps = 0;
  for (const Json& value : drawn["device_usd"]) below += value.get<double>() < middle ? 1 : 0;
  for (std::size_t i = 0; i < 18; ++i) in_steps += counted["counts"][i].get<int>();
  EXPECT_EQ(in_steps, below);
  EXPECT_EQ(counted["counts"].size(), 36U);
  EXPECT_LE(answer["device_hour_usd_counts"]["from"].get<double>(),
            answer["device_hour_usd_quantiles"]["p5"].get<double>());
  EXPECT_GE(answer["device_hour_usd_counts"]["to"].get<double>(),
            answer["device_hour_usd_quantiles"]["p95"].get<double>());
}

// Thin links slow memory-bound work and wide ones do not. The power of the links slows arithmetic, and the price
// follows the bill of materials.
TEST(CostStudy, PartitionMovesTheAnswers) {
  const auto ask = [](const char* bandwidth) {
    return Ask(
        std::string(
            R"({"kind": "partition", "partition": {"chiplets": 4, "package": {"preset": "interposer"}, "bandwidth": ")") +
        bandwidth + "\"}}")["performance"];
  };
  const Json thin = ask("0.25 TB/s"), wide = ask("4 TB/s");
  EXPECT_EQ(wide["split"]["memory_bandwidth_bytes_per_s"].get<double>(), 3.35e12);
  EXPECT_EQ(thin["split"]["memory_bandwidth_bytes_per_s"].get<double>(), 1e12);
  EXPECT_GT(thin["split"]["serving"]["tpot_s"].get<double>(), wide["split"]["serving"]["tpot_s"].get<double>());
  EXPECT_GE(wide["split"]["training"]["step_time_s"].get<double>(),
            wide["whole"]["training"]["step_time_s"].get<double>());
  EXPECT_LT(wide["split"]["cost"]["device_hour_usd"].get<double>(),
            wide["whole"]["cost"]["device_hour_usd"].get<double>());
}

// A scenario, or the chip that it names, may cut the device already; studies cut it themselves.
TEST(CostStudy, BeginsWithTheWholeDie) {
  for (const char* cluster : {R"("dgx-h100")", R"({"device": {"design": "b200-like"}})"}) {
    for (const char* kind : {"tornado", "yields", "partition"}) {
      const auto with = [&](const std::string& partition) {
        return Ask(std::string(R"({"kind": ")") + kind + R"(", "scenario": {"cluster": )" + cluster + partition + "}}");
      };
      const Json whole = with(R"(, "partition": null)");
      EXPECT_EQ(with(""), whole) << kind << cluster;
      EXPECT_EQ(with(R"(, "partition": {"chiplets": 4, "package": {"preset": "organic-mcm"}})"), whole)
          << kind << cluster;
    }
  }
}

TEST(CostStudy, TornadoIsSorted) {
  const Json tornado = Ask(R"({"kind": "tornado"})");
  double last = 1e9;
  for (const Json& swing : tornado["swings"]) {
    const double width =
        std::abs(swing["device_hour_usd"][1].get<double>() - swing["device_hour_usd"][0].get<double>());
    EXPECT_LE(width, last);
    last = width;
  }
}

TEST(CostStudy, WrongRequestsAreIssuesAtTheirPaths) {
  const auto path = [](const char* request) {
    const Answer answer = CostStudyAnswer(request);
    return answer.issues.empty() ? std::string("none") : answer.issues[0].path;
  };
  EXPECT_EQ(path("{}"), "kind");
  EXPECT_EQ(path(R"({"kind": "pie"})"), "kind");
  EXPECT_EQ(path(R"({"kind": "wafer", "die": 9})"), "die");
  EXPECT_EQ(path(R"({"kind": "tornado", "scenario": {"cluster": {"preset": "dgx-h1000"}}})"),
            "scenario.cluster.preset");
  EXPECT_EQ(path(R"({"kind": "monte_carlo", "first": 5, "last": 1})"), "last");
  EXPECT_EQ(path("[1"), "1");
}

}  // namespace
}  // namespace slipstick
