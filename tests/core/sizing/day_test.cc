// A fleet through the day, by hand. As in size_test.cc, engines run one request at a time with one output token, S =
// 0.212 s on one H100. In an M/M/1 queue TTFT is 1 s at 0.788 / 0.212 = 3.72 requests/s per replica.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/sizing/sized.h"

namespace slipstick {
namespace {

Json QuestionWith(const Json& more) {
  Json question{{"requests_per_s", 10}, {"ttft", 1}, {"clusters", {"dgx-h100"}}, {"limits", {"tp<=1", "pp<=1"}}};
  question.update(more);
  return question;
}
Json Sized(const Json& more) { return First(kOneAtATime, QuestionWith(more)); }

// 1.7 times the mean of 10 is 17 requests/s, which needs 5 replicas; 6.5 needs 2 and 10 needs 3. Used: 5 + 2 + 2 + 3 of
// 4 x 5.
TEST(Day, IsServedAtItsPeakAndIdlesAtOtherTimes) {
  const Json sized = Sized({{"day", {34, 13, 13, 20}}});
  EXPECT_EQ(sized["deployment"]["replicas"], 5);
  const std::vector<double> rates{17, 6.5, 6.5, 10};
  const std::vector<int> needed{5, 2, 2, 3};
  ASSERT_EQ(sized["day"]["parts"].size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Json& part = sized["day"]["parts"][i];
    EXPECT_NEAR(part["requests_per_s"].get<double>(), rates[i], 1e-9);
    EXPECT_EQ(part["needed_devices"], needed[i]) << i;
    EXPECT_NEAR(part["utilization"].get<double>(), rates[i] / 5 * 0.212, 0.05) << i;
  }
  EXPECT_NEAR(sized["day"]["needed_devices"].get<double>(), 3, 1e-12);
  EXPECT_NEAR(sized["day"]["idle_share"].get<double>(), 0.4, 1e-12);
  EXPECT_NEAR(sized["day"]["idle_usd_per_hour"].get<double>(), 0.4 * sized["cost"]["usd_per_hour"].get<double>(), 1e-9);
}

// A day is sized by its peak over its mean; its cost per token is that at the mean rate.
TEST(Day, IsSizedAsItsPeakOverTheMean) {
  Json day = Sized({{"day", {34, 13, 13, 20}}}), peak = Sized({{"peak_over_mean", 1.7}});
  EXPECT_TRUE(peak["day"].is_null());
  EXPECT_TRUE(peak["two_pools"]["day"].is_null());
  for (Json* answer : {&day, &peak}) answer->erase("day"), (*answer)["two_pools"].erase("day");
  EXPECT_EQ(day, peak);
}

TEST(Day, ThatIsFlatIsOneRateAndIdlesNoReplica) {
  Json flat = Sized({{"day", {3, 3, 3}}}), one = Sized(Json::object());
  EXPECT_EQ(flat["day"]["needed_devices"], one["deployment"]["devices"]);
  EXPECT_NEAR(flat["day"]["idle_share"].get<double>(), 0, 1e-12);
  for (Json* answer : {&flat, &one}) answer->erase("day"), (*answer)["two_pools"].erase("day");
  EXPECT_EQ(flat, one);
}

// A night without traffic keeps only the spare replica.
TEST(Day, KeepsItsSpareReplicas) {
  const Json sized = Sized({{"day", {1, 0}}, {"spare_replicas", 1}});
  EXPECT_EQ(sized["day"]["parts"][1]["needed_devices"], 1);
  EXPECT_EQ(sized["day"]["parts"][1]["utilization"], 0);
}

// 3 of 5 devices are in use in the mean of the day. Those rented on demand are paid while in use; reserved ones always.
TEST(Day, GivesBackWhatIsRentedOnDemand) {
  const auto paid = [](const std::string& term) {
    Assignments scenario = kOneAtATime;
    scenario.insert(scenario.end(),
                    {"cost.rental.price=3 $/h", "cost.rental.term=" + term, "cost.system.utilisation=1"});
    return First(scenario, QuestionWith({{"day", {34, 13, 13, 20}}}));
  };
  const Json on_demand = paid("on_demand"), reserved = paid("reserved");
  EXPECT_NEAR(*NumberAt(on_demand, "cost.usd_per_hour"), 3 * 3, 1e-9);
  EXPECT_NEAR(*NumberAt(reserved, "cost.usd_per_hour"), 5 * 3, 1e-9);
  EXPECT_EQ(*NumberAt(on_demand, "day.idle_usd_per_hour"), 0);
  EXPECT_NEAR(*NumberAt(reserved, "day.idle_usd_per_hour"), 2 * 3, 1e-9);
}

// Each part of the day needs as many devices as two pools sized for its rate alone; the limits allow one kind of
// replica. The other devices of the pools for the peak are idle.
TEST(Day, OfTwoPoolsNeedsTheDevicesOfEachRate) {
  const Assignments scenario{"model=llama-3.1-8b", "cluster=dgx-h100", "serving.prompt=2000", "serving.output=200",
                             "cost.system.devices_per_host=1"};
  const auto sized = [&](const Json& more) {
    Json question{{"ttft", "300 ms"}, {"tpot", "10 ms"}, {"clusters", {"dgx-h100"}}, {"limits", {"tp<=1", "pp<=1"}}};
    question.update(more);
    return First(scenario, question, R"({"version": 3})")["two_pools"];
  };
  const Json pools = sized({{"requests_per_s", 50}, {"day", {4, 1, 3, 0}}});
  ASSERT_TRUE(pools["holds"].get<bool>()) << pools.dump();
  const std::vector<double> rates{100, 25, 75, 0};
  double needed = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const Json& part = pools["day"]["parts"][i];
    EXPECT_NEAR(part["requests_per_s"].get<double>(), rates[i], 1e-9);
    const double devices = part["needed_prefill_devices"].get<double>() + part["needed_decode_devices"].get<double>();
    needed += devices / 4;
    EXPECT_EQ(devices, rates[i] > 0 ? *NumberAt(sized({{"requests_per_s", rates[i]}}), "deployment.devices") : 0) << i;
  }
  EXPECT_NEAR(*NumberAt(pools, "day.needed_devices"), needed, 1e-9);
  const double idle = 1 - needed / *NumberAt(pools, "deployment.devices");
  EXPECT_GT(idle, 0.3);
  EXPECT_NEAR(*NumberAt(pools, "day.idle_share"), idle, 1e-9);
  EXPECT_NEAR(*NumberAt(pools, "day.idle_usd_per_hour"), idle * *NumberAt(pools, "cost.usd_per_hour"), 1e-6);
}

TEST(Day, HasRatesAndOnePeak) {
  const auto path = [](const Json& more) {
    const Answer answer = SizeAnswer(R"({"version": 1})", kOneAtATime, QuestionWith(more));
    return answer.issues.size() == 1 ? answer.issues[0].path : "";
  };
  EXPECT_EQ(path({{"day", {0, 0}}}), "day");
  EXPECT_EQ(path({{"day", {2, -1}}}), "day");
  EXPECT_EQ(path({{"day", std::vector<int>(289, 1)}}), "day");
  EXPECT_EQ(path({{"day", {2, 1}}, {"peak_over_mean", 2}}), "peak_over_mean");
}

}  // namespace
}  // namespace slipstick
