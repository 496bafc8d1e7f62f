// Sizing questions answered by hand.
#include <gtest/gtest.h>

#include <string>

#include "tests/core/sizing/sized.h"

namespace slipstick {
namespace {

TEST(SizeByHand, WeightsSetTheDevicesAndServersThePowerAndCost) {
  // Llama-3.1-70B in bf16: 70.55e9 parameters x 2 bytes = 141.1 GB. An H100 offers 79.2 GiB = 85.0 GB: one cannot hold
  // the weights; two hold 70.6 GB each and have room in 0.9 x 85.0 = 76.5 GB. One request per 100 s is almost no load.
  const Assignments scenario{"serving.precision.weights=bf16", "serving.prompt=512", "serving.output=64"};
  const Json singly = First({scenario[0], scenario[1], scenario[2], "cost.system.devices_per_host=1"},
                            {{"requests_per_s", 0.01}, {"clusters", {"dgx-h100"}}});
  ASSERT_TRUE(singly["holds"].get<bool>());
  EXPECT_EQ(CountAt(singly, "deployment.devices"), 2);
  EXPECT_EQ(CountAt(singly, "deployment.devices_per_replica"), 2);

  // A spare replica makes at least 4 devices; sold by the server, 8, of 700 W x 1.82 each and a PUE of 1.25: 12.74 kW.
  // A rack of 11 kW holds one server of 8 x 700 W x 1.82 = 10.19 kW.
  const Json question{{"requests_per_s", 0.01},
                      {"clusters", {"dgx-h100"}},
                      {"spare_replicas", 1},
                      {"power_per_rack", "11 kW"},
                      {"power", "13 kW"}};
  const Json served = First(scenario, question);
  ASSERT_TRUE(served["holds"].get<bool>());
  EXPECT_EQ(CountAt(served, "deployment.devices"), 8);
  EXPECT_EQ(CountAt(served, "deployment.servers"), 1);
  EXPECT_EQ(CountAt(served, "deployment.racks"), 1);
  EXPECT_EQ(CountAt(served, "deployment.spare_replicas"), 1);
  EXPECT_NEAR(*NumberAt(served, "deployment.power_w"), 8 * 700 * 1.82 * 1.25, 1e-6);
  // All 8 devices are paid for: 8 x the cost per GPU-hour over 0.01 x 3,600 x 64 = 2,304 output tokens per hour.
  const double hour = 8 * *NumberAt(served, "cost.device_hour_usd");
  EXPECT_NEAR(*NumberAt(served, "cost.usd_per_hour"), hour, 1e-9 * hour);
  EXPECT_NEAR(*NumberAt(served, "cost.usd_per_million_output_tokens"), hour / 2304 * 1e6, 1e-9 * hour / 2304 * 1e6);
  EXPECT_NEAR(*NumberAt(served, "cost.usd_per_million_tokens"), hour / (36 * 576) * 1e6,
              1e-9 * hour / (36 * 576) * 1e6);

  // 12 kW is less than the server's 12.74, and 10 kW per rack less than its 10.19.
  Json less = question;
  less["power"] = "12 kW";
  const Json refused = First(scenario, less);
  EXPECT_FALSE(refused["holds"].get<bool>());
  EXPECT_EQ(refused["reason"], "power");
  EXPECT_EQ(CountAt(refused, "needed_devices"), 8);
  Json narrow = question;
  narrow["power_per_rack"] = "10 kW";
  EXPECT_EQ(First(scenario, narrow)["reason"], "power_per_rack");
}

// RunPod's list of October 2026: 3.49 $ for an H100 and 4.59 $ for an H200 per hour; it has no MI355X.
TEST(SizeByHand, TheRentFollowsTheDevice) {
  const Assignments scenario{"model=llama-3.1-8b", "cluster=dgx-h100", "cost.rental=runpod-h100-on-demand"};
  const auto sized = [&](const char* cluster) {
    return First(scenario, {{"requests_per_s", 0.01}, {"clusters", {cluster}}});
  };
  EXPECT_NEAR(*NumberAt(sized("dgx-h100"), "cost.usd_per_hour"), 8 * 3.49, 1e-9);
  const Json h200 = sized("dgx-h200");
  EXPECT_NEAR(*NumberAt(h200, "cost.usd_per_hour"), 8 * 4.59, 1e-9);
  EXPECT_EQ(h200["overrides"]["cost.rental"], "runpod-h200-on-demand");
  EXPECT_EQ(sized("hgx-mi355x")["reason"], "rental");
}

// At 335 GB/s, the 16.06 GB of Llama-3.1-8B's weights take 48 ms per token on one H100, and 24 ms on two.
TEST(SizeByHand, InputsOfTheOwnClusterStayAndThoseDroppedAreNamed) {
  const Assignments scenario{"model=llama-3.1-8b", "serving.precision.weights=bf16", "cluster=dgx-h100",
                             "cluster.device.memory.bandwidth=335 GB/s", "cost.system.devices_per_host=1"};
  const auto sized = [&](const char* cluster) {
    return First(scenario, {{"requests_per_s", 0.01}, {"tpot", "40 ms"}, {"clusters", {cluster}}});
  };
  EXPECT_EQ(CountAt(sized("dgx-h100"), "deployment.devices_per_replica"), 2);
  const Json h200 = sized("dgx-h200");
  EXPECT_EQ(CountAt(h200, "deployment.devices_per_replica"), 1);
  EXPECT_EQ(h200["remarks"].back(), "Left out, as written for another cluster: cluster.device");
}

TEST(SizeByHand, WarningsOfTheReportAreRemarks) {
  const Json sized = First({"model=llama-3.1-8b", "serving.prompt=200000", "serving.output=300"},
                           {{"requests_per_s", 0.01}, {"clusters", {"dgx-h100"}}});
  ASSERT_FALSE(sized["remarks"].empty());
  EXPECT_NE(TextOf(sized["remarks"][0]).find("131,072"), std::string::npos) << JsonText(sized["remarks"]);
}

TEST(SizeByHand, AReplicaMayTakeThreeServers) {
  // DeepSeek-V3 in bf16: 671e9 parameters x 2 bytes = 1,342 GB. A server of 8 H100 offers 8 x 0.9 x 85.0 = 612 GB: two
  // cannot hold the weights, three can.
  const Json sized =
      First({"model=deepseek-v3", "serving.precision.weights=bf16", "serving.prompt=512", "serving.output=64"},
            {{"requests_per_s", 0.01}, {"clusters", {"dgx-h100"}}});
  ASSERT_TRUE(sized["holds"].get<bool>());
  EXPECT_EQ(CountAt(sized, "deployment.devices"), 24);
  EXPECT_EQ(CountAt(sized, "deployment.devices_per_replica"), 24);
}

TEST(SizeByHand, AQueueSetsTheReplicas) {
  // Engines that run one request at a time with one output token are M/D/1 queues. Llama-3.1-8B on 8,192 tokens in
  // bf16: 2 x 6.98e9 x 8,192 = 114.4 TFLOP of products take 0.164 s at 0.865 / 1.225 of 989 TFLOP/s; attention takes
  // 1.0 ms per layer (tests/validation/hopper/h100.csv, cuDNN), 0.032 s; norms, residuals, rotation and activation move
  // 1.4 GB per layer, 0.016 s at 2.8 TB/s: S = 0.212 s. TTFT = S (1 + rho / (2 (1 - rho))) <= 1 s where rho <= 0.881
  // per replica (Pollaczek and Khinchine), so 10 requests/s take 10 x 0.212 / 0.881 = 2.41 replicas: 3. It is 3 for any
  // S between 0.181 and 0.255 s.
  const Json one_device{
      {"requests_per_s", 10}, {"ttft", 1}, {"clusters", {"dgx-h100"}}, {"limits", {"tp<=1", "pp<=1"}}};
  const Json sized = First(kOneAtATime, one_device);
  ASSERT_TRUE(sized["holds"].get<bool>());
  EXPECT_EQ(CountAt(sized, "deployment.replicas"), 3);
  EXPECT_EQ(CountAt(sized, "deployment.devices"), 3);
  // rho = 10 / 3 x 0.212 = 0.71; TTFT reaches 1 s at 3 x 0.881 / 0.212 = 12.5 requests/s.
  EXPECT_NEAR(*NumberAt(sized, "at_peak.utilization"), 0.71, 0.05);
  EXPECT_NEAR(*NumberAt(sized, "headroom.requests_per_s"), 12.5, 1.0);
  EXPECT_EQ(sized["headroom"]["breaks_first"], "ttft");

  // 1.7 times the rate at the peak is 17 requests/s: 4.09 replicas, so 5, for any S between 0.208 and 0.251 s. The mean
  // rate needs 3 of them, so at the mean 2 may fail.
  Json peak = one_device;
  peak["peak_over_mean"] = 1.7;
  const Json peaked = First(kOneAtATime, peak);
  EXPECT_EQ(CountAt(peaked, "deployment.replicas"), 5);
  EXPECT_EQ(CountAt(peaked, "spare.at_peak"), 0);
  EXPECT_EQ(CountAt(peaked, "spare.at_mean"), 2);

  // 132 TFLOP take 0.132 s at the peak rate: no number of devices answers within 0.1 s.
  Json fast = one_device;
  fast["ttft"] = 0.1;
  const Json refused = First(kOneAtATime, fast);
  EXPECT_FALSE(refused["holds"].get<bool>());
  EXPECT_EQ(refused["reason"], "ttft");
  EXPECT_GT(*NumberAt(refused, "nearest.ttft_s"), 0.132);
}

TEST(SizeByHand, APercentileTakesMoreReplicasThanTheMean) {
  // As above, S = 0.212 s. One replica at 1.415 requests/s is busy for 0.3 of the time: the closed form's mean is S /
  // (1 - 0.3) = 1.43 S. With equal service times (M/D/1), P(wait <= t) = 0.7 exp(0.3 t/S) up to S, and 0.7 (exp(0.3
  // t/S) - 0.3 (t/S - 1) exp(0.3 (t/S - 1))) up to 2 S: 70 % of the requests do not wait, 10 % wait longer than 0.84 S,
  // 1 % longer than 1.9 S. So one replica meets 2.3 S at the mean, the median and 90 %. At 99 % it takes two, each busy
  // for 0.15 of the time; with random routing, 1 % of the requests would wait longer than 1.1 S.
  const auto sized = [&](const char* percentile) {
    return First(kOneAtATime, {{"requests_per_s", 1.415},
                               {"ttft", 0.488},
                               {"percentile", percentile},
                               {"clusters", {"dgx-h100"}},
                               {"limits", {"tp<=1", "pp<=1"}}});
  };
  EXPECT_TRUE(sized("mean")["simulated"].is_null());
  EXPECT_EQ(CountAt(sized("mean"), "deployment.replicas"), 1);
  const Json median = sized("50"), most = sized("90"), all = sized("99");
  EXPECT_EQ(CountAt(median, "deployment.replicas"), 1);
  EXPECT_NEAR(*NumberAt(median, "simulated.ttft_s"), 0.212, 0.03);
  EXPECT_EQ(CountAt(most, "deployment.replicas"), 1);
  EXPECT_NEAR(*NumberAt(most, "simulated.ttft_s"), 1.84 * 0.212, 0.05);
  EXPECT_EQ(CountAt(all, "deployment.replicas"), 2);
  EXPECT_LE(*NumberAt(all, "simulated.ttft_s"), 0.488);
  // `evaluate` simulates the same requests.
  Json overrides = all["overrides"];
  overrides["serving.simulate.requests"] = all["simulated"]["requests"];
  EXPECT_EQ(ReportOf(kOneAtATime, overrides)["serving"]["ttft_percentiles_s"]["p99"], all["simulated"]["ttft_s"]);
}

TEST(SizeByHand, TheFirstTokenSetsTheTensorParallelDegree) {
  // Llama-3.1-70B on 8,192 tokens in fp8: 2 x 68.5e9 x 8,192 = 1,122 TFLOP of products, at 0.778 / 1.225 of 1,979
  // TFLOP/s per H100, and 88 TFLOP of attention. Two devices take 0.446 s for products, at least 0.044 s for attention,
  // and 160 all-reduces of 8,192 x 8,192 x 2 bytes = 134 MB at 134 MB / 450 GB/s or more, 0.048 s: they miss 0.5 s.
  // Four take 0.223 s, attention at 0.61 of 989 TFLOP/s 0.036 s, 160 x 1.5 x 134 MB / (0.84 x 450 GB/s) = 0.085 s, ten
  // passes of 134 MB per layer over norms and residuals 0.038 s, and handling, 8 ms and 2.5 us per token of text, 0.028
  // s: 0.41 s, which holds.
  const Assignments scenario{"serving.prompt=8192", "serving.output=100", "cost.system.devices_per_host=1"};
  const Json sized = First(
      scenario, {{"requests_per_s", 0.01}, {"ttft", "500 ms"}, {"clusters", {"dgx-h100"}}, {"limits", {"pp<=1"}}});
  ASSERT_TRUE(sized["holds"].get<bool>());
  EXPECT_EQ(CountAt(sized, "deployment.devices"), 4);
  EXPECT_EQ(CountAt(sized, "deployment.mapping.tp"), 4);
  EXPECT_NEAR(*NumberAt(sized, "at_peak.ttft_s"), 0.41, 0.07);
}

TEST(SizeByHand, AChipThatIsNotSoldIsNamed) {
  const auto remarks = [](const char* cluster) {
    return First({"model=llama-3.1-8b"}, {{"requests_per_s", 1}, {"clusters", {cluster}}})["remarks"].dump();
  };
  EXPECT_NE(remarks("tpu-v5p-pod").find("No price of TPU v5p"), std::string::npos);
  EXPECT_EQ(remarks("dgx-h100").find("No price"), std::string::npos);
}

TEST(SizeByHand, MarketPricesSplitTheCost) {
  // Prompts of 1,000 tokens, 400 of them cached, and 500 output tokens. At 1, 0.1 and 4 $ per 1 M tokens a request
  // earns (600 + 40 + 2,000) x 1e-6 = 0.00264 $, and 10 requests/s earn 95.04 $ per hour.
  const Json sized =
      First({"serving.prompt=1000", "serving.output=500", "serving.prefix_hit=0.4"},
            {{"requests_per_s", 10},
             {"clusters", {"dgx-h100"}},
             {"prices", {{"input", "1 $/Mtoken"}, {"cached_input", "0.1 $/Mtoken"}, {"output", "4 $/Mtoken"}}}});
  ASSERT_TRUE(sized["holds"].get<bool>());
  const double cost = *NumberAt(sized, "cost.usd_per_hour");
  EXPECT_NEAR(*NumberAt(sized, "cost.market.revenue_usd_per_hour"), 95.04, 1e-9);
  EXPECT_NEAR(*NumberAt(sized, "cost.market.margin"), 1 - cost / 95.04, 1e-12);
  const Json& paid = sized["cost"]["market"]["cost_usd_per_million_tokens"];
  EXPECT_NEAR(paid["output"].get<double>(), 4 * cost / 95.04, 1e-9);
  // Break-even is at 10 requests/s times the cost over 95.04 $ per hour, with 500 tokens per request and 86,400 s per
  // day, of which the devices are in use for 90 %.
  const Json& even = sized["cost"]["market"]["break_even"];
  EXPECT_NEAR(even["requests_per_s"].get<double>(), 10 * cost / 95.04, 1e-9);
  EXPECT_NEAR(even["output_tokens_per_day"].get<double>() / (10 * cost / 95.04 * 500 * 0.9 * 86400), 1, 1e-12);
  EXPECT_NEAR(even["most_requests_per_s"].get<double>(), *NumberAt(sized, "headroom.requests_per_s"), 1e-9);
  EXPECT_EQ(even["in_reach"].get<bool>(), 10 * cost / 95.04 <= *NumberAt(sized, "headroom.requests_per_s"));
  // At the break-even prices the tokens of an hour pay exactly its cost.
  const double requests = 36000;
  EXPECT_NEAR(requests * (600 * paid["input"].get<double>() + 400 * paid["cached_input"].get<double>() +
                          500 * paid["output"].get<double>()),
              cost * 1e6, 1e-3);
}

}  // namespace
}  // namespace slipstick
