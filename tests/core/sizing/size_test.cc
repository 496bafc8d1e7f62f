// Sizing: questions answered by hand, the same figures from `evaluate`, no cheaper deployment found by `search`, and
// bounds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/exploration/search_job.h"
#include "core/scenario/request.h"
#include "tests/core/sizing/sized.h"
#include "tests/support/random_scenarios.h"

namespace slipstick {
namespace {

using testing::Random;

Json RequestOf(const Assignments& assignments, const Json& overrides) {
  return WithOverrides(*ReadRequest(R"({"version": 1})", assignments), overrides);
}
Json ReportOf(const Assignments& assignments, const Json& overrides) {
  const Answer answer = EvaluateAnswer(JsonText(RequestOf(assignments, overrides)));
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return *ParseJson(answer.text);
}

Count CountAt(const Json& json, const char* path) { return static_cast<Count>(NumberAt(json, path).value_or(-1)); }

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

// The same engines under bursts: the 90th percentile needs several times the replicas of the mean. The limit of devices
// still holds.
TEST(Size, APercentileKeepsTheLimitOfDevices) {
  const Assignments bursts = [] {
    Assignments assignments = kOneAtATime;
    assignments.insert(assignments.end(), {"serving.arrivals.kind=gamma", "serving.arrivals.burstiness=0.1"});
    return assignments;
  }();
  Json question{{"requests_per_s", 1.415},
                {"ttft", 0.488},
                {"percentile", "90"},
                {"clusters", {"dgx-h100"}},
                {"limits", {"tp<=1", "pp<=1"}}};
  const Count needed = CountAt(First(bursts, question), "deployment.devices");
  ASSERT_GE(needed, 4);
  for (Count most = 1; most <= needed; ++most) {
    question["devices"] = most;
    const Json sized = First(bursts, question);
    EXPECT_EQ(sized["holds"].get<bool>(), most == needed) << most;
    EXPECT_EQ(CountAt(sized, most == needed ? "deployment.devices" : "needed_devices"), needed) << most;
  }
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
  // day.
  const Json& even = sized["cost"]["market"]["break_even"];
  EXPECT_NEAR(even["requests_per_s"].get<double>(), 10 * cost / 95.04, 1e-9);
  EXPECT_NEAR(even["output_tokens_per_day"].get<double>() / (10 * cost / 95.04 * 500 * 86400), 1, 1e-12);
  EXPECT_NEAR(even["most_requests_per_s"].get<double>(), *NumberAt(sized, "headroom.requests_per_s"), 1e-9);
  EXPECT_EQ(even["in_reach"].get<bool>(), 10 * cost / 95.04 <= *NumberAt(sized, "headroom.requests_per_s"));
  // At the break-even prices the tokens of an hour pay exactly its cost.
  const double requests = 36000;
  EXPECT_NEAR(requests * (600 * paid["input"].get<double>() + 400 * paid["cached_input"].get<double>() +
                          500 * paid["output"].get<double>()),
              cost * 1e6, 1e-3);
}

struct Case {
  const char* name;
  Assignments scenario;
  Json question;
};
std::vector<Case> Cases() {
  return {
      {"dense, several clusters",
       {"serving.prompt=2000", "serving.output=300"},
       {{"requests_per_s", 120},
        {"peak_over_mean", 1.5},
        {"ttft", 1},
        {"tpot", 0.03},
        {"clusters", {"dgx-h100", "dgx-h200", "tpu-v5p-pod"}}}},
      {"experts",
       {"model=deepseek-v3", "serving.engine=sglang"},
       {{"requests_per_s", 120}, {"tpot", 0.06}, {"clusters", {"dgx-h200"}}}},
      {"own cluster, cached prompts, a spare replica",
       {"model=llama-3.1-8b", "cluster=hgx-mi300x", "serving.prefix_hit=0.5", "training.mapping.tp=16"},
       {{"requests_per_s", 90}, {"ttft", 0.5}, {"spare_replicas", 1}}},
      {"formats",
       {"model=llama-3.1-8b"},
       {{"requests_per_s", 400}, {"tpot", 0.008}, {"clusters", {"dgx-b200"}}, {"limits", {"weights=fp8,bf16"}}}},
  };
}

TEST(Size, EvaluateGivesTheSameFigures) {
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    const Json answer = Asked(one.scenario, one.question);
    for (const Json& cluster : answer["clusters"]) {
      SCOPED_TRACE(cluster["cluster"].dump());
      ASSERT_TRUE(cluster["holds"].get<bool>());
      const Json report = ReportOf(one.scenario, cluster["overrides"]);
      for (const auto& [key, value] : cluster["at_peak"].items()) {
        if (key != "utilization") {
          EXPECT_EQ(report["serving"][key], value) << key;
        }
      }
      EXPECT_EQ(report["cost"]["device_hour_usd"], cluster["cost"]["device_hour_usd"]);
      EXPECT_EQ(report["cost"]["system_usd"], cluster["cost"]["system_usd"]);
      EXPECT_TRUE(report["serving"]["feasible"].get<bool>());
      Json at_mean = cluster["overrides"];
      at_mean["serving.requests_per_s"] = one.question["requests_per_s"];
      EXPECT_EQ(ReportOf(one.scenario, at_mean)["serving"]["tpot_s"], cluster["at_mean"]["tpot_s"]);
    }
  }
}

// Whether a report meets the targets of a question.
bool Holds(const Json& report, const Json& question) {
  const auto within = [&](const char* target, const char* figure) {
    return !question.contains(target) || report["serving"][figure].get<double>() <= question[target].get<double>();
  };
  return report["serving"]["feasible"].get<bool>() && within("ttft", "ttft_s") && within("tpot", "tpot_s");
}

TEST(Size, TheHeadroomIsWhereTheTargetsEnd) {
  int compared = 0;
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    const Json answer = Asked(one.scenario, one.question);
    for (const Json& cluster : answer["clusters"]) {
      Json overrides = cluster["overrides"];
      const double most = *NumberAt(cluster, "headroom.requests_per_s");
      overrides["serving.requests_per_s"] = most * 0.999;
      EXPECT_TRUE(Holds(ReportOf(one.scenario, overrides), one.question));
      overrides["serving.requests_per_s"] = most * 1.001;
      EXPECT_FALSE(Holds(ReportOf(one.scenario, overrides), one.question));
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6);
}

// `search` tries every deployment on a number of devices. None may meet the targets on the next smaller purchase: one
// server fewer, or half a slice of a torus.
TEST(Size, SearchFindsNothingOnFewerServers) {
  int compared = 0;
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.name);
    const Json answer = Asked(one.scenario, one.question);
    for (const Json& cluster : answer["clusters"]) {
      const Count servers = CountAt(cluster, "deployment.servers"), devices = CountAt(cluster, "deployment.devices");
      const Count spare = CountAt(cluster, "deployment.spare_replicas");
      if (servers < 2 || spare > 0) continue;
      Json overrides = cluster["overrides"];
      Json fewer = Json::object();
      for (const char* path : {"training", "serving.requests_per_s", "serving.prompt", "serving.output", "cluster"}) {
        if (overrides.contains(path)) fewer[path] = overrides[path];
      }
      fewer["cluster.devices"] = fewer["serving.devices"] =
          cluster["cluster"] == "tpu-v5p-pod" ? devices / 2 : devices / servers * (servers - 1);
      SearchSpec spec;
      spec.part = "serving";
      spec.limits = {"prefill_devices<=0"};
      if (one.question.contains("limits")) spec.limits.push_back(one.question["limits"][0].get<std::string>());
      for (const char* target : {"ttft", "tpot"}) {
        if (one.question.contains(target))
          spec.limits.push_back(std::string(target) + "_s<=" + one.question[target].dump());
      }
      const auto job = SearchJob::Make(RequestOf(one.scenario, fewer), spec);
      ASSERT_TRUE(job) << job.issues[0].path << ": " << job.issues[0].message;
      (*job)->Step((*job)->SpaceSize());
      EXPECT_EQ((*job)->progress().feasible, 0) << cluster["cluster"];
      ++compared;
    }
  }
  EXPECT_GE(compared, 3);
}

// Dollars per hour; none if no deployment meets the targets.
std::optional<double> CostOf(const Assignments& scenario, const Json& question) {
  return NumberAt(First(scenario, question), "cost.usd_per_hour");
}

TEST(Size, MoreTrafficNeverCostsLessAndLooserTargetsNeverMore) {
  Random random(7);
  int held = 0;
  for (int i = 0; i < 40; ++i) {
    const Assignments scenario{"model=" + random.Of<std::string>({"llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b"}),
                               "serving.engine=" + random.Of<std::string>({"vllm", "trtllm", "ideal"}),
                               "serving.prompt=" + random.Of<std::string>({"128", "1024", "8192"}),
                               "serving.output=" + random.Of<std::string>({"16", "256", "1024"}),
                               "cost.system.devices_per_host=1"};
    Json question{{"requests_per_s", random.Of<double>({0.1, 1, 7, 50, 300})},
                  {"ttft", random.Of<double>({0.1, 0.5, 2})},
                  {"tpot", random.Of<double>({0.008, 0.02, 0.05})},
                  {"clusters", {random.Of<std::string>({"dgx-h100", "dgx-a100", "gb200-nvl72", "single-h200-sxm"})}}};
    SCOPED_TRACE(question.dump() + " " + scenario[0] + " " + scenario[1] + " " + scenario[2] + " " + scenario[3]);
    const std::optional<double> cost = CostOf(scenario, question);
    const auto changed = [&](const char* member, double factor) {
      Json other = question;
      other[member] = other[member].get<double>() * factor;
      return CostOf(scenario, other);
    };
    const std::optional<double> more = changed("requests_per_s", 1.3);
    if (more) {
      EXPECT_TRUE(cost && *cost <= *more);
    }
    for (const char* target : {"ttft", "tpot"}) {
      const std::optional<double> looser = changed(target, 1.2);
      if (cost) {
        EXPECT_TRUE(looser && *looser <= *cost) << target;
      }
    }
    if (cost) ++held;
  }
  EXPECT_GT(held, 15);
}

TEST(Size, AHigherPercentileNeverCostsLessThanTheMean) {
  for (const char* cluster : {"dgx-h100", "gb200-nvl72", "tpu-v5p-pod"}) {
    Json question{
        {"requests_per_s", 40}, {"peak_over_mean", 1.5}, {"ttft", 0.5}, {"tpot", 0.03}, {"clusters", {cluster}}};
    const double mean = *NumberAt(First({}, question), "cost.usd_per_hour");
    for (const char* percentile : {"90", "99"}) {
      question["percentile"] = percentile;
      const Json sized = First({}, question);
      EXPECT_GE(*NumberAt(sized, "cost.usd_per_hour"), mean) << cluster;
      EXPECT_LE(*NumberAt(sized, "simulated.ttft_s"), 0.5) << cluster;
      EXPECT_LE(*NumberAt(sized, "simulated.tpot_s"), 0.03) << cluster;
      EXPECT_GE(*NumberAt(sized, "headroom.requests_per_s"), 60) << cluster;
    }
  }
}

TEST(Size, ClustersWhereNothingHoldsSayWhy) {
  const Json answer =
      Asked({"model=deepseek-v3"}, {{"requests_per_s", 1}, {"tpot", 0.05}, {"clusters", {"single-l4", "dgx-h200"}}});
  EXPECT_EQ(answer["best"], 1);
  EXPECT_EQ(answer["clusters"][0]["reason"], "memory");
  EXPECT_FALSE(answer["clusters"][0]["message"].get<std::string>().empty());
  const Json budget = First({}, {{"requests_per_s", 100}, {"budget_per_hour", "10 $/h"}, {"clusters", {"dgx-h100"}}});
  EXPECT_EQ(budget["reason"], "budget_per_hour");
  const Json none = Asked({}, {{"requests_per_s", 100}, {"budget", "1000 $"}, {"clusters", {"dgx-h100"}}});
  EXPECT_EQ(none["clusters"][0]["reason"], "budget");
  EXPECT_TRUE(none["best"].is_null());
}

TEST(Size, WrongQuestionsAreIssues) {
  const auto path_of = [](const Assignments& scenario, const Json& question) {
    const Answer answer = SizeAnswer(R"({"version": 1})", scenario, question);
    return answer.issues.empty() ? "" : answer.issues[0].path;
  };
  EXPECT_EQ(path_of({}, Json::object()), "requests_per_s");
  EXPECT_EQ(path_of({"serving.requests_per_s=3"}, Json::object()), "");
  EXPECT_EQ(path_of({}, {{"requests_per_s", -1}}), "requests_per_s");
  EXPECT_EQ(path_of({}, {{"requests_per_s", 1}, {"tpot", "3 GB"}}), "tpot");
  EXPECT_EQ(path_of({}, {{"requests_per_s", 1}, {"percentile", "95"}}), "percentile");
  EXPECT_EQ(path_of({}, {{"requests_per_s", 1}, {"clusters", {"dgx-h1000"}}}), "clusters.0");
  EXPECT_EQ(path_of({}, {{"requests_per_s", 1}, {"limits", {"replicas<=3"}}}), "limits");
  EXPECT_EQ(path_of({}, {{"requests_per_s", 1}, {"limits", {"ttft_s<=3"}}}), "limits");
  EXPECT_EQ(path_of({}, {{"requests_per_s", 1}, {"unknown", 1}}), "unknown");
  EXPECT_EQ(path_of({"serving=null"}, {{"requests_per_s", 1}}), "serving");
  EXPECT_EQ(path_of({"cost=null"}, {{"requests_per_s", 1}}), "cost");
  EXPECT_FALSE(SizeSpecAnswer("[]").issues.empty());
  EXPECT_FALSE(SizeSpecAnswer("{").issues.empty());
  EXPECT_TRUE(
      SizeSpecAnswer(R"({"requests_per_s": 1, "request": {"model": {"preset": "llama-3.1-8b"}}})").issues.empty());
}

}  // namespace
}  // namespace slipstick
