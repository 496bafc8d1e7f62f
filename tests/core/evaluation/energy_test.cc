// Energy per run and per token at the meter, its carbon, and the price of a changed device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/evaluation/report.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

Json ReportOf(const std::vector<std::string>& assignments) {
  const Result<Json> request = ReadRequest(R"({"version": 1})", assignments);
  EXPECT_TRUE(request);
  return Ask(*request, "*");
}

// DGX H100: 10.2 kW over 8 * 700 W is 1.82; mean load 0.75; PUE 1.25. The rest of the server draws 700 * 0.82 * 0.75 =
// 430.5 W per device.
constexpr double kServer = 430.5, kPue = 1.25;
// 512 devices: 16 leaves and 8 spines of 64 ports (QM9700, 747 W) and two links of 17.5 W per device.
constexpr double kNetwork = 24 * 747.0 / 512 + 2 * 17.5;

TEST(Energy, RunAtTheMeter) {
  const Json report = ReportOf({"cluster=dgx-h100", "cluster.devices=512"});
  const double devices = Number(report, "training.device_energy_j");
  const double device_seconds =
      Number(report, "training.time_to_train_s") * Number(report, "scenario.training.devices");
  EXPECT_NEAR(Number(report, "training.energy_j") / ((devices + device_seconds * (kServer + kNetwork)) * kPue), 1,
              1e-12);
  EXPECT_NEAR(Number(report, "training.network_energy_j") / (device_seconds * kNetwork), 1, 1e-12);
  EXPECT_NEAR(Number(report, "training.server_energy_j") / (device_seconds * kServer), 1, 1e-12);
  EXPECT_EQ(devices + Number(report, "training.server_energy_j") + Number(report, "training.network_energy_j") +
                Number(report, "training.building_energy_j"),
            Number(report, "training.energy_j"));
  EXPECT_NEAR(Number(report, "training.tokens_per_j") * Number(report, "training.energy_j") /
                  Number(report, "scenario.training.tokens"),
              1, 1e-12);
  EXPECT_GT(Number(report, "training.run.energy_j"), Number(report, "training.energy_j"));
}

// Embodied carbon of the device, plus 909 g per watt of its share of the server, at most 700 * 0.82 = 574 W, and the
// network.
double EmbodiedGrams(const Json& report) { return Number(report, "cost.carbon.embodied_g") + (574 + kNetwork) * 909; }

// Electricity at 380 g/kWh; embodied carbon in proportion to the time used, of 4 years at 90 % utilization.
TEST(Energy, CarbonPerRun) {
  const Json report = ReportOf({"cluster=dgx-h100", "cluster.devices=512"});
  EXPECT_NEAR(Number(report, "training.tco2") / (Number(report, "training.energy_j") / 3.6e6 * 380 / 1e6), 1, 1e-12);
  EXPECT_NEAR(Number(report, "training.run.tco2") / (Number(report, "training.run.energy_j") / 3.6e6 * 380 / 1e6), 1,
              1e-12);
  const double device_seconds =
      Number(report, "training.time_to_train_s") * Number(report, "scenario.training.devices");
  const double share = device_seconds / (4 * 365.25 * 86400 * 0.9);
  EXPECT_NEAR(Number(report, "training.tco2_embodied") / (EmbodiedGrams(report) / 1e6 * share), 1, 1e-9);
}

TEST(Energy, EmbodiedCarbonHoldsServerAndNetwork) {
  const Json report = ReportOf({"cluster=dgx-h100", "cluster.devices=512"});
  EXPECT_NEAR(Number(report, "cost.carbon.system_embodied_g") / EmbodiedGrams(report), 1, 1e-9);
  // Figures that rest on an estimate are listed as assumed until the request states the input.
  const auto is_assumed = [](const Json& of) {
    return of["cost"]["assumed"].dump().find("\"cost.carbon.system\"") != std::string::npos;
  };
  EXPECT_TRUE(is_assumed(report));
  EXPECT_FALSE(is_assumed(ReportOf({"cluster=dgx-h100", "cluster.devices=512", "cost.carbon.system=100 g/W"})));
}

TEST(Energy, TokenAtTheMeter) {
  const Json report = ReportOf({"cluster=dgx-h100", "cluster.devices=512"});
  const double devices = Number(report, "serving.device_energy_j_per_token");
  const double device_seconds = 1 / Number(report, "serving.tokens_per_s_per_device");
  EXPECT_NEAR(Number(report, "serving.energy_j_per_token") / ((devices + device_seconds * (kServer + kNetwork)) * kPue),
              1, 1e-9);
  // At 380 g/kWh; embodied carbon in proportion to the time used, of 4 years at 90 % utilization.
  EXPECT_NEAR(Number(report, "serving.carbon_g_per_million_tokens") /
                  (Number(report, "serving.energy_j_per_token") * 1e6 / 3.6e6 * 380),
              1, 1e-9);
  EXPECT_NEAR(Number(report, "serving.embodied_g_per_million_tokens") /
                  (EmbodiedGrams(report) * 1e6 * device_seconds / (4 * 365.25 * 86400 * 0.9)),
              1, 1e-9);
  EXPECT_NEAR(Number(report, "serving.tokens_per_j") * Number(report, "serving.energy_j_per_token"), 1, 1e-12);
}

// An explanation shows a figure of a token under that title, though the report shows that of a million.
TEST(Energy, TitlesSayWhatTheValueIs) {
  const Json report = ReportOf({"cluster=dgx-h100", "cluster.devices=512"});
  const auto title = [&](const char* path) {
    for (const Json& figure : report["explanations"]) {
      if (figure["path"] == path) return figure["title"].get<std::string>();
    }
    return std::string();
  };
  EXPECT_EQ(title("serving.cost_usd_per_million_tokens"), "Price of a token");
  EXPECT_EQ(title("serving.carbon_g_per_million_tokens"), "Emitted");
  EXPECT_EQ(title("training.tco2"), "Operational carbon of training");
  EXPECT_EQ(title("serving.tpot_s"), "Time per output token (TPOT)");
  // Servers and network are in it.
  EXPECT_EQ(OutputTitle("serving.embodied_g_per_million_tokens").find("devices"), std::string_view::npos);
}

// Llama 3.1 405B took 30.84 M GPU-hours, for which its makers count 8,930 t at the GPU's 700 W (model card, July 2024):
// 290 g per hour. A server at full load draws 1.82 times that, and the building a quarter more.
TEST(Energy, CarbonOfAnHourIsAboveThatOfTheGpuAlone) {
  const Json report = ReportOf({"cluster=dgx-h100", "cluster.devices=512"});
  const double hour = Number(report, "cost.carbon.operation_g_per_device_hour");
  EXPECT_GT(hour, 290);
  EXPECT_LT(hour, 290 * 1.82 * 1.25);
  EXPECT_NEAR(hour, (700 * 1.82 * 0.75 + kNetwork) * kPue * 380 / 1000, 0.01);
}

// A rented device has the same switches as an owned one.
TEST(Energy, ARentedNetworkDrawsTheSame) {
  const Json owned = ReportOf({"cluster=dgx-h100", "cluster.devices=512"}),
             rented = ReportOf({"cluster=dgx-h100", "cluster.devices=512", "cost.rental=aws-h100-on-demand"});
  EXPECT_EQ(Number(owned, "training.network_energy_j"), Number(rented, "training.network_energy_j"));
}

TEST(Energy, DevicesOnlyWithoutTheCostQuestion) {
  const Json report = ReportOf({"cluster=dgx-h100", "cluster.devices=512", "cost=null"});
  EXPECT_EQ(Number(report, "training.energy_j"), Number(report, "training.device_energy_j"));
  EXPECT_EQ(Number(report, "serving.energy_j_per_token"), Number(report, "serving.device_energy_j_per_token"));
  for (const char* path : {"training.server_energy_j", "training.building_energy_j", "training.tco2",
                           "serving.server_energy_j_per_token"}) {
    ASSERT_NE(Find(report, path), nullptr) << path;
    EXPECT_TRUE(Find(report, path)->is_null()) << path;
  }
  bool said = false;
  for (const Json& figure : report["explanations"])
    said |= figure["path"] == Json("training.energy_j") &&
            figure["note"].get<std::string>().find("devices only") != std::string::npos;
  EXPECT_TRUE(said);
}

std::string WarningOf(std::vector<std::string> assignments, const char* with = "unmodified") {
  assignments.insert(assignments.begin(), {"training=null", "serving=null"});
  const Json report = ReportOf(assignments);
  std::string found;
  for (const Json& warning : report["warnings"]) {
    const std::string text = warning.get<std::string>();
    if (text.find(with) != std::string::npos) found += text;
  }
  return found;
}
const char* const kBoth = "Price and bill of materials are for the unmodified H100 SXM5";
const char* const kPrice =
    "The price is for the unmodified H100 SXM5: with cost.device.price=null it follows the parts";

TEST(ChangedDevice, ChangedRatesAtTheOldPriceGiveAWarning) {
  for (const char* change :
       {"peak.bf16=1200 TFLOP/s", "memory.bandwidth=5 TB/s", "units=144", "clock=2 GHz", "tdp=1000 W"})
    EXPECT_EQ(WarningOf({"cluster=dgx-h100", std::string("cluster.device.") + change}), kBoth) << change;
}

TEST(ChangedDevice, AnUpdatedBillKeepsThePriceWarning) {
  for (const char* change : {"memory.capacity=160 GB", "memory.technology=HBM4", "die.area=700 mm^2", "die.node=3nm"})
    EXPECT_EQ(WarningOf({"cluster=dgx-h100", std::string("cluster.device.") + change}), kPrice) << change;
}

TEST(ChangedDevice, NoWarningWithoutACostlyChangeOrWithANewPrice) {
  EXPECT_EQ(WarningOf({"cluster=dgx-h100"}), "");
  EXPECT_EQ(WarningOf({"cluster=dgx-h100", "cluster.device.efficiency.stream=0.8"}), "");
  EXPECT_EQ(WarningOf({"cluster=dgx-h100", "cluster.device.peak.bf16=1200 TFLOP/s", "cost.device.price=40000 $"}), "");
  EXPECT_EQ(WarningOf({"cluster=dgx-h100", "cluster.device.design.preset=h100-like"}), "");
  EXPECT_EQ(WarningOf({"cluster=tpu-v5p-pod", "cluster.device.memory.capacity=190 GB"}), "")
      << "priced by its bill, which follows";
}

TEST(ChangedDevice, AnEditedBillThatLeavesThePriceGivesAWarning) {
  for (const char* edit : {"margin=0.5", "dies.0.node=2nm", "design.volume=1000", "memory.price=20 $/GB"}) {
    EXPECT_EQ(WarningOf({"cluster=dgx-h100", std::string("cost.device.") + edit}), kPrice) << edit;
    EXPECT_EQ(WarningOf({"cluster=dgx-h100", std::string("cost.device.") + edit, "cost.device.price=null"}), "")
        << edit;
  }
  EXPECT_EQ(WarningOf({"cluster=dgx-h100", "cost.device.price_band.low=0.5"}), "");
}

// A design cost of hundreds of millions of dollars over a thousand devices.
TEST(ChangedDevice, APriceBelowTheCostGivesAWarning) {
  EXPECT_NE(WarningOf({"cluster=dgx-b200", "cost.device.design.volume=1000"}, "to make").find("price is $40,000"),
            std::string::npos);
  EXPECT_EQ(WarningOf({"cluster=dgx-b200"}, "to make"), "");
}

// The catalogue has no bill of a GH200, nor the price of a chip of one's own.
TEST(ChangedDevice, AGuessedPriceGivesAWarning) {
  const auto guessed = [](std::vector<std::string> assignments) { return WarningOf(assignments, "No price of"); };
  EXPECT_NE(guessed({"cluster.device=gh200-96gb"}).find("estimated manufacturing cost at a margin of 60 %"),
            std::string::npos);
  EXPECT_EQ(guessed({"cluster.device=gh200-96gb", "cost.device.price=40000 $"}), "");
  EXPECT_EQ(guessed({"cluster=hgx-mi350x"}), "");
  EXPECT_EQ(guessed({"cluster=dgx-h100"}), "");
  EXPECT_NE(guessed({"cluster=dgx-h100", "cluster.device.design.area=700 mm^2"}), "");
  EXPECT_EQ(guessed({"cluster=dgx-h100", "version=3", "cluster.device.design=b200-like"}), "");
}

// Three stacks of 16 GB in place of five.
TEST(ChangedDevice, ABillWithLessMemoryThanTheDeviceHasGivesAWarning) {
  const auto warning = [](const std::string& change) {
    return WarningOf({"cluster=dgx-h100", change}, "GB of memory");
  };
  EXPECT_EQ(warning("cost.device.memory.stacks=3"),
            "The bill of materials has 48 GB of memory, the device 80 GB: its speed and room are those of "
            "cluster.device.memory");
  EXPECT_NE(warning("cost.device.memory.stacks=0"), "");
  for (const char* fine : {"cost.device.memory.stacks=6", "cluster.device.memory.capacity=141 GB",
                           "cluster.device.design=b200-like", "partition.chiplets=2"})
    EXPECT_EQ(warning(fine), "") << fine;
}

// The power budget of a b200-like chip allows a thousandth less than its stacks give; with three stacks of HBM4, an
// h100-like chip's allows two thirds.
TEST(DesignedDevice, AMemoryThatReachesWhatItsStacksGiveHasNoWarning) {
  EXPECT_EQ(WarningOf({"cluster=dgx-h100", "cluster.device.design=b200-like"}, "would give"), "");
  EXPECT_EQ(WarningOf({"cluster=dgx-h100", "cluster.device.design=h100-like", "cluster.device.design.dram=hbm4"},
                      "would give"),
            "3 × HBM4 would give 6.14 TB/s; the memory's power budget allows 4.23 TB/s");
}

}  // namespace
}  // namespace slipstick::testing
