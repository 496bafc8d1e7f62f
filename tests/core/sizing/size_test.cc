// Sizing: the same figures from `evaluate`, no cheaper deployment found by `search`, and
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

// Engines that run one request at a time, under bursts: the 90th percentile needs several times the replicas of the mean. The limit of devices
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
      // All devices that are bought are paid for, those of spare replicas too.
      Json bought = cluster["overrides"];
      bought["serving"] = nullptr, bought["cluster.devices"] = cluster["deployment"]["devices"];
      EXPECT_EQ(ReportOf(one.scenario, bought)["cost"]["system_usd"], cluster["cost"]["system_usd"]);
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
