// Chip designs modeled on real chips: node and budgets reproduce the data sheet.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/catalogue/presets.h"
#include "core/economics/cost.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {
namespace {

Scenario ScenarioOf(const std::vector<std::string>& assignments) {
  Result<Json> request = ReadRequest("", assignments);
  EXPECT_TRUE(request);
  if (!request) return {};
  (*request)["training"] = nullptr;
  (*request)["serving"] = nullptr;
  Result<Scenario> scenario = ParseScenario(*request);
  for (const Issue& issue : scenario.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return scenario ? *scenario : Scenario{};
}

struct RealChip {
  const char *cluster, *design;
  std::optional<double> bf16, fp8, fp4;  // dense TFLOP/s
  double memory, capacity;               // GB/s, GB
  std::optional<double> l2;              // MiB; none if software manages the on-chip memory
  double links;                          // GB/s, one direction
  const char* source;
};
const RealChip kRealChips[] = {
    {"dgx-a100", "a100-like", 312, {}, {}, 2039, 80, 40, 300, "NVIDIA A100 data sheet, 2021"},
    {"dgx-h100", "h100-like", 989.4, 1978.9, {}, 3350, 80, 50, 450, "NVIDIA H100 data sheet, 2022"},
    {"dgx-b200", "b200-like", 2250, 4500, 9000, 8000, 186, 126, 900, "NVIDIA B200 data sheet and device query, 2024"},
    {"dgx-b200", "rubin-like", 4000, 17500, 35000, 22000, 288, {}, 1800, "NVIDIA Rubin platform page, 2026"},
    {"hgx-mi355x", "mi355x-like", 2516.6, 5033.2, 10066, 8000, 288, 256, 537.6, "AMD MI355X data sheet, 2025"},
    {"tpu-v5p-pod", "tpu7x-like", 2307, 4614, {}, 7380, 192, {}, 600, "Google Cloud TPU7x documentation, 2025"},
    {"tpu-v5e-pod", "tpu-v5e-like", 197, {}, {}, 819, 16, {}, 200, "Google Cloud TPU v5e documentation, 2023"}};

void ExpectNear(const std::optional<double>& real, double value, const RealChip& chip, const char* what) {
  if (!real) return;
  EXPECT_NEAR(value / *real, 1, 0.1) << chip.design << " " << what << ", " << chip.source;
}

TEST(Designs, NodeAndBudgetsGiveTheDataSheetWithinTenPercent) {
  for (const RealChip& chip : kRealChips) {
    const Cluster cluster =
        ScenarioOf({std::string("cluster=") + chip.cluster, std::string("cluster.device.design=") + chip.design})
            .cluster;
    const Device& device = cluster.device;
    ASSERT_EQ(device.caches.size(), 2U) << chip.design;
    const auto peak = [](const std::optional<FlopsPerSecond>& rate) { return rate ? In(*rate, kTFlops) : 0; };
    ExpectNear(chip.bf16, peak(device.peak.bf16), chip, "bf16");
    ExpectNear(chip.fp8, peak(device.peak.fp8), chip, "fp8");
    ExpectNear(chip.fp4, peak(device.peak.fp4), chip, "fp4");
    ExpectNear(chip.memory, In(device.memory.bandwidth, kGBps), chip, "memory");
    ExpectNear(chip.capacity, In(device.memory.capacity, kGB), chip, "capacity");
    ExpectNear(chip.l2, In(device.caches[1].capacity, kMiB), chip, "L2");
    ExpectNear(chip.links, In(cluster.networks[0].bandwidth, kGBps), chip, "links");
  }
}

// Two dies of a B200, and eight dies of an MI355X with two base dies, each within the exposure field.
TEST(Designs, DiesOfTodayCanBeMade) {
  const auto dies_of = [](const char* cluster, const char* design) {
    const Scenario scenario = ScenarioOf({cluster, design});
    const std::optional<CostInputs> split = SplitCosts(scenario.partition, *scenario.cost);
    EXPECT_TRUE(split) << design;
    const CostReport cost = EvaluateCost(scenario.cluster, split.value_or(*scenario.cost));
    for (const Infeasibility& reason : cost.infeasible) ADD_FAILURE() << design << ": " << reason.message;
    return cost.dies;
  };
  const std::vector<DieReport> b200 = dies_of("cluster=dgx-b200", "cluster.device.design=b200-like");
  ASSERT_EQ(b200.size(), 1U);
  EXPECT_EQ(b200[0].count, 2);
  EXPECT_NEAR(b200[0].area.base(), 800, 0.05 * 800);
  const std::vector<DieReport> mi355x = dies_of("cluster=hgx-mi355x", "cluster.device.design=mi355x-like");
  ASSERT_EQ(mi355x.size(), 2U);
  EXPECT_EQ(mi355x[0].count, 8);
  EXPECT_NEAR(mi355x[0].area.base(), 110, 0.1 * 110);
  EXPECT_EQ(mi355x[1].count, 2);
  EXPECT_EQ(mi355x[1].node, "6 nm");
  EXPECT_NEAR(mi355x[1].area.base(), 740, 0.1 * 740);
}

// A chip that does not exist yet runs the newest kernels, unless the request or the design names others.
TEST(Designs, RunTheNewestKernelsUnlessOthersAreNamed) {
  const auto family = [](std::vector<std::string> assignments) {
    assignments.insert(assignments.begin(), "cluster=dgx-a100");
    return ScenarioOf(assignments).cluster.device.architecture.name();
  };
  EXPECT_EQ(family({}), "ampere");
  EXPECT_EQ(family({"cluster.device.design=a100-like"}), "blackwell");
  EXPECT_EQ(family({"cluster.device.design.node=2nm"}), "blackwell");
  EXPECT_EQ(family({"cluster.device.design=a100-like", "cluster.device.architecture=hopper"}), "hopper");
  EXPECT_EQ(family({"cluster.device.design=mi355x-like"}), "cdna");
  EXPECT_EQ(family({"cluster.device.design=tpu7x-like"}), "tpu");
  // Links of former versions keep their meaning.
  EXPECT_EQ(family({"version=2", "cluster.device.design=a100-like"}), "ampere");
}

// A chip is as fast on every cluster, whose own device it replaces: the rules for a data sheet give what was not measured.
TEST(Designs, RunByTheRulesForADataSheet) {
  const auto device_of = [](const std::string& cluster, const std::vector<std::string>& more) {
    std::vector<std::string> assignments{"cluster=" + cluster};
    assignments.insert(assignments.end(), more.begin(), more.end());
    return ScenarioOf(assignments).cluster.device;
  };
  const std::string design = "cluster.device.design";
  for (const char* chip : {"a100-like", "h100-like", "b200-like", "rubin-like", "mi355x-like", "tpu-v5e-like"}) {
    const Device there = device_of("dgx-h100", {design + "=" + chip});
    EXPECT_EQ(there.efficiency.rated_power, there.tdp) << chip;
    for (const char* cluster : {"dgx-a100", "dgx-b300", "tpu-v5e-pod", "gb200-nvl72"}) {
      const Device here = device_of(cluster, {design + "=" + chip});
      EXPECT_EQ(here.efficiency, there.efficiency) << chip << " " << cluster;
      EXPECT_EQ(here.exponentials, there.exponentials) << chip << " " << cluster;
    }
  }
  // By hand from the generic rules: 700 W over 990 TFLOP/s are 0.707 pJ/FLOP, more than the 0.67 from which GEMMs reach
  // most, and long runs then take 0.858 / 0.707 = 1.21 times as long; 3.35 TB/s are less than the 6 above which streams
  // reach less.
  const Efficiency h100 = device_of("dgx-a100", {design + "=h100-like"}).efficiency;
  EXPECT_EQ(*h100.gemm_efficiency, 0.86);
  EXPECT_NEAR(*h100.sustained_clock_derating, 0.21, 0.02);
  EXPECT_EQ(*h100.bandwidth_efficiency, 0.82);
  // What the request writes stays.
  const std::vector<std::string> half{design + "=h100-like", design + ".power=350 W"};
  std::vector<std::string> written = half;
  written.insert(written.end(), {"cluster.device.efficiency.rated_power=700 W", "cluster.device.efficiency.matrix=0.5",
                                 "cluster.device.exponentials=32"});
  EXPECT_EQ(device_of("dgx-h100", half).efficiency.rated_power, 350 * kWatt);
  EXPECT_EQ(device_of("dgx-h100", written).efficiency.rated_power, 700 * kWatt);
  EXPECT_EQ(device_of("dgx-h100", written).efficiency.gemm_efficiency, Ratio(0.5));
  EXPECT_EQ(device_of("dgx-h100", written).exponentials, Ratio(32));
  // Links of former versions keep their meaning.
  EXPECT_EQ(device_of("dgx-h100", {"version=2", half[0], half[1]}).efficiency.rated_power, 700 * kWatt);
}

// A resolved scenario holds the rules' values as numbers: they still follow the design.
TEST(Designs, KeepFollowingTheRulesWhenResolved) {
  const Scenario first = ScenarioOf({"cluster=dgx-h100", "cluster.device.design=h100-like"});
  Json resolved = Write(first);
  const Result<Scenario> again = ParseScenario(resolved);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->cluster.device.efficiency, first.cluster.device.efficiency);
  EXPECT_TRUE(again->cluster.device.assumed.rated_power);
  SetPath(resolved, "cluster.device.design.power", 350);
  const Result<Scenario> halved = ParseScenario(resolved);
  ASSERT_TRUE(halved);
  EXPECT_EQ(halved->cluster.device.efficiency.rated_power, 350 * kWatt);
}

// By the same kernels, each is as near to the speed of the chip that it resembles as to its data sheet: a tenth.
TEST(Designs, RunAsFastAsTheChipsThatTheyResemble) {
  struct Pair {
    const char *cluster, *design, *family, *model;
  };
  const auto figure = [](const std::vector<std::string>& assignments, const char* path) {
    const std::optional<double> value = NumberAt(*ParseJson(EvaluateAnswer("", assignments, "").text), path);
    EXPECT_TRUE(value) << path;
    return value.value_or(0);
  };
  for (const Pair& pair : {Pair{"dgx-a100", "a100-like", "ampere", "llama-3.1-8b"},
                           Pair{"dgx-h100", "h100-like", "hopper", "llama-3.1-8b"},
                           Pair{"dgx-b200", "b200-like", "blackwell", "llama-3.1-8b"},
                           Pair{"tpu-v5e-pod", "tpu-v5e-like", "tpu", "llama-3.2-1b"}}) {
    const std::vector<std::string> asked{std::string("cluster=") + pair.cluster, std::string("model=") + pair.model,
                                         "cluster.devices=8"};
    std::vector<std::string> served = asked, trained = asked;
    served.insert(served.end(), {"training=null", "serving.devices=1", "serving.mapping.tp=1", "serving.prompt=8192",
                                 "serving.concurrency=8", "serving.output=128"});
    trained.insert(trained.end(), {"serving=null", "training.mapping.tp=2", "training.precision=bf16"});
    for (const auto& [assignments, path] : {std::pair(served, "serving.ttft_s"), std::pair(served, "serving.tpot_s"),
                                            std::pair(trained, "training.step_time_s")}) {
      std::vector<std::string> designed = assignments;
      designed.insert(designed.end(), {std::string("cluster.device.design=") + pair.design,
                                       std::string("cluster.device.architecture=") + pair.family});
      EXPECT_NEAR(figure(designed, path) / figure(assignments, path), 1, 0.1) << pair.design << " " << path;
    }
  }
}

// Each sells within a tenth of the price of the chip that it resembles, as the catalogue's bills state it, on whatever
// cluster, and has its own name.
TEST(Designs, SellAtThePriceOfTheChipsThatTheyResemble) {
  struct Sold {
    const char *design, *name;
    double price;  // $
  };
  for (const Sold& sold : {Sold{"a100-like", "A100-like", 15000}, Sold{"h100-like", "H100-like", 33500},
                           Sold{"b200-like", "B200-like", 40000}, Sold{"mi355x-like", "MI355X-like", 23000},
                           Sold{"rubin-like", "Rubin-like", 55000}, Sold{"tpu7x-like", "TPU7x-like", 16000}}) {
    for (const char* cluster : {"dgx-h100", "hgx-mi355x"}) {
      const Scenario scenario =
          ScenarioOf({std::string("cluster=") + cluster, std::string("cluster.device.design=") + sold.design});
      const std::optional<CostInputs> split = SplitCosts(scenario.partition, *scenario.cost);
      const CostReport cost = EvaluateCost(scenario.cluster, split.value_or(*scenario.cost));
      EXPECT_NEAR(cost.device_price.base() / sold.price, 1, 0.1) << sold.design << " " << cluster;
      EXPECT_EQ(scenario.cluster.device.name, sold.name);
    }
  }
  // The request's own bill stays, and links of former versions keep their meaning.
  const auto bill = [](std::vector<std::string> assignments) {
    assignments.insert(assignments.begin(), {"cluster=dgx-h100", "cluster.device.design=b200-like"});
    return ScenarioOf(assignments).cost->device.preset;
  };
  EXPECT_EQ(bill({}), "b200-sxm");
  EXPECT_EQ(bill({"cost.device=mi300x"}), "mi300x");
  EXPECT_EQ(bill({"cost.device.margin=0.5"}), "b200-sxm");
  EXPECT_EQ(bill({"version=2"}), "h100-sxm5-80gb");
}

// At the highest voltage, 0.15 V above nominal, more power is of no use: a warning says how much of it the core wastes.
TEST(Designs, SayWhichPowerTheyCannotUse) {
  const auto answer = [](const char* power) {
    return *ParseJson(EvaluateAnswer("",
                                     {"cluster=dgx-h100", "cluster.device.design=h100-like", "training=null",
                                      "serving.devices=1", "model=llama-3.1-8b", power},
                                     "")
                          .text);
  };
  const auto warns = [&](const char* power) {
    return answer(power)["warnings"].dump().find("highest voltage") != std::string::npos;
  };
  EXPECT_FALSE(warns("cluster.device.design.power=700 W"));
  EXPECT_TRUE(warns("cluster.device.design.power=2000 W"));
  // What 5,000 W cannot use more than 2,000 W is the core's 62 % of the difference.
  const auto unused = [](double power) {
    ChipDesign design =
        ScenarioOf({"cluster=dgx-h100", "cluster.device.design=h100-like"}).cluster.device.design.value();
    design.power = power * kWatt;
    return DeriveChip(design, std::nullopt, "design")->core_unused;
  };
  EXPECT_NEAR((unused(5000) - unused(2000)).base(), 0.62 * 3000, 1e-6);
  EXPECT_NEAR(unused(700).base(), 0, 1e-6);
}

TEST(Designs, ComeWithTheirDiesUnlessTheRequestSays) {
  const auto chiplets = [](std::vector<std::string> assignments) {
    assignments.insert(assignments.begin(), {"cluster=dgx-b200", "cluster.device.design=b200-like"});
    const Scenario scenario = ScenarioOf(assignments);
    return scenario.partition ? scenario.partition->chiplets : 1;
  };
  EXPECT_EQ(chiplets({}), 2);
  EXPECT_EQ(chiplets({"partition.chiplets=4"}), 4);
  // A resolved scenario reads back unchanged.
  const Scenario first = ScenarioOf({"cluster=dgx-b200", "cluster.device.design=b200-like"});
  Result<Scenario> again = ParseScenario(Write(first));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->partition->chiplets, 2);
  EXPECT_EQ(again->cluster.device.architecture, first.cluster.device.architecture);
}

}  // namespace
}  // namespace slipstick
