// Two pools of different devices in one bill: each pool has the price, power and carbon of its own devices.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/scenario/request.h"
#include "core/scenario/scenario.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

Json PoolsReport(std::vector<std::string> more) {
  std::vector<std::string> assignments{"model=llama-3.1-70b",
                                       "cluster=dgx-h200",
                                       "training=null",
                                       "cluster.devices=24",
                                       "serving.prompt=4096",
                                       "serving.output=256",
                                       "serving.concurrency=32",
                                       "serving.disaggregated.prefill_devices=16",
                                       "serving.disaggregated.decode_devices=8"};
  assignments.insert(assignments.end(), more.begin(), more.end());
  const Result<Json> request = ReadRequest("{}", assignments);
  EXPECT_TRUE(request);
  return Ask(*request, "*");
}

constexpr const char* kL40s = "serving.disaggregated.prefill_device=l40s";

// Rented on demand at 4 $/h and 1 $/h: 8 * 4 + 16 * 1 = 48 $ per hour in use.
TEST(TwoPoolsCost, RentOfEachPool) {
  const Json report = PoolsReport({kL40s, "cost.rental.price=4 $/h", "cost.prefill_pool.rental.price=1 $/h"});
  const double per_million = 1e6 / 3600 / Number(report, "serving.tokens_per_s");
  EXPECT_NEAR(Number(report, "serving.cost_usd_per_million_tokens") / (48 * per_million), 1, 1e-12);
  EXPECT_NEAR(Number(report, "serving.pools.decode.cost_usd_per_million_tokens") / (32 * per_million), 1, 1e-12);
  EXPECT_NEAR(Number(report, "serving.pools.prefill.cost_usd_per_million_tokens") / (16 * per_million), 1, 1e-12);
  EXPECT_NEAR(Number(report, "serving.tokens_per_usd") / (1e6 / (48 * per_million)), 1, 1e-12);
}

// The catalogue's prices: an H200 is 36,000 $, an L40S 7,500 $.
TEST(TwoPoolsCost, BillsOfTheCatalogue) {
  const Json report = PoolsReport({kL40s});
  EXPECT_EQ(Number(report, "cost.devices"), 8);
  EXPECT_EQ(Number(report, "cost.device_price_usd"), 36000);
  EXPECT_EQ(Number(report, "cost.prefill_pool.devices"), 16);
  EXPECT_EQ(Number(report, "cost.prefill_pool.device_price_usd"), 7500);
  const Json& parts = report["cost"]["system_usd_parts"];
  EXPECT_EQ(parts.back()["name"], "prefill pool");
  EXPECT_EQ(parts.back()["cost_usd"], report["cost"]["prefill_pool"]["system_usd"]);
  double sum = 0;
  for (const Json& part : parts) sum += part["cost_usd"].get<double>();
  EXPECT_EQ(sum, Number(report, "cost.system_usd"));
  EXPECT_TRUE(report["warnings"].empty() ||
              report["warnings"].dump().find("count the prefill pool") == std::string::npos);
}

// Two pools of 8 share one switch of 36,000 $ with cables of 1,320 $ a device, two of 64 a tree of six with cables of
// 2,560 $: the KV cache of each request crosses it. Each pool pays for its devices' share.
TEST(TwoPoolsCost, OneNetworkJoinsBothPools) {
  for (const auto& [devices, price] : {std::pair(8, 36000 + 16 * 1320.0), std::pair(64, 6 * 36000 + 128 * 2560.0)}) {
    const std::string each = std::to_string(devices);
    const Json report = PoolsReport(
        {"serving.disaggregated.prefill_device=h100-sxm5-80gb", "cluster.devices=" + std::to_string(2 * devices),
         "serving.disaggregated.prefill_devices=" + each, "serving.disaggregated.decode_devices=" + each});
    const auto network = [](const Json& parts) {
      double sum = 0;
      for (const Json& part : parts) sum += part["name"] == "network" ? part["cost_usd"].get<double>() : 0;
      return sum;
    };
    EXPECT_NEAR(network(report["cost"]["system_usd_parts"]), price / 2, 0.01) << devices;
    // An H100's hour is that of a cluster of as many H100s as both pools have devices.
    const Json alike = Ask(*ReadRequest("{}", {"cluster=dgx-h100", "cluster.devices=" + std::to_string(2 * devices),
                                               "training=null", "serving=null"}),
                           "");
    EXPECT_NEAR(Number(report, "cost.prefill_pool.device_hour_usd") / Number(alike, "cost.device_hour_usd"), 1, 1e-12);
    EXPECT_GT(Number(report, "serving.network_energy_j_per_token"), 0) << devices;
  }
}

// The pool's system is that of the catalogue's cluster of its device. An H100 has one, an L40S has none.
TEST(TwoPoolsCost, SystemOfThePool) {
  const Json h100 = PoolsReport({"serving.disaggregated.prefill_device=h100-sxm5-80gb"});
  EXPECT_EQ(h100["scenario"]["cost"]["prefill_pool"]["system"]["preset"], "dgx-h100");
  const std::string assumed = PoolsReport({kL40s})["cost"]["assumed"].dump();
  EXPECT_NE(assumed.find("\"cost.prefill_pool.system\""), std::string::npos);
}

// Devices that idle at almost their rated power draw it at any load: 350 W for an L40S, 700 W for an H200.
TEST(TwoPoolsCost, PowerOfEachDevice) {
  const Json report =
      PoolsReport({kL40s, "serving.disaggregated.prefill_device.idle=349.9 W", "cluster.device.idle=699.9 W"});
  const double watts = Number(report, "serving.device_energy_j_per_token") * Number(report, "serving.tokens_per_s");
  EXPECT_GE(watts, (16 * 349.9 + 8 * 699.9) * (1 - 1e-12));
  EXPECT_LE(watts, (16 * 350.0 + 8 * 700.0) * (1 + 1e-12));
}

// Devices that draw nothing when idle take the same energy per request, however few requests come.
TEST(TwoPoolsCost, ThePrefillPoolRests) {
  const auto energy = [](const std::string& rate) {
    const Json report =
        PoolsReport({kL40s, "serving.disaggregated.prefill_device.idle=0 W", "cost=null", "serving.concurrency=null",
                     "serving.mapping.tp=8", "serving.mapping.pp=1", "serving.requests_per_s=" + rate});
    return Number(report, "serving.pools.prefill.energy_j_per_token");
  };
  EXPECT_NEAR(energy("0.5") / energy("1"), 1, 1e-9);
}

TEST(TwoPoolsCost, PartsAddUp) {
  for (const char* device : {kL40s, "serving.disaggregated.prefill_device=null"}) {
    const Json report = PoolsReport({device});
    for (const char* figure : {"cost_usd_per_million_tokens", "energy_j_per_token", "carbon_g_per_million_tokens",
                               "embodied_g_per_million_tokens"}) {
      const std::string name(figure);
      EXPECT_NEAR((Number(report, "serving.pools.prefill." + name) + Number(report, "serving.pools.decode." + name)) /
                      Number(report, "serving." + name),
                  1, 1e-12)
          << device << " " << name;
    }
  }
}

// Two pools of equal devices cost as much as one cluster: a GPU-hour over the tokens of a GPU.
TEST(TwoPoolsCost, EqualDevicesCostAsOneCluster) {
  const Json report = PoolsReport({});
  EXPECT_EQ(Number(report, "cost.devices"), 24);
  EXPECT_TRUE(report["cost"]["prefill_pool"].is_null());
  EXPECT_NEAR(
      Number(report, "serving.cost_usd_per_million_tokens") /
          (Number(report, "cost.device_hour_usd") / 3600 / Number(report, "serving.tokens_per_s_per_device") * 1e6),
      1, 1e-12);
}

// The explanation leads to the device price of either pool.
TEST(TwoPoolsCost, ExplanationsLeadToBothBills) {
  std::string inputs;
  const Json report = PoolsReport({kL40s});
  for (const Json& figure : report["explanations"]) {
    for (const Json& term : figure["terms"]) inputs += term["origin"].dump();
  }
  EXPECT_NE(inputs.find("cost.prefill_pool.device.price"), std::string::npos);
  EXPECT_NE(inputs.find("cost.device.price"), std::string::npos);
}

// Pools of equal size have equal figures, but each depends on the devices of its own pool.
TEST(TwoPoolsCost, EqualFiguresOfThePoolsStayApart) {
  const Json report = PoolsReport({kL40s, "cluster.devices=16", "serving.disaggregated.prefill_devices=8"});
  int of_prefill = 0, of_decode = 0;
  for (const Json& figure : report["explanations"]) {
    if (TextOf(figure["path"]).find(".device_hours_in_use_over_the_depreciation_period") == std::string::npos) continue;
    const bool is_prefill = figure["terms"].dump().find("serving.disaggregated.prefill_devices") != std::string::npos;
    ++(is_prefill ? of_prefill : of_decode);
  }
  EXPECT_EQ(of_prefill, 1);
  EXPECT_EQ(of_decode, 1);
}

}  // namespace
}  // namespace slipstick::testing
