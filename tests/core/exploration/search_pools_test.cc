// Searches of mappings for a prefill pool and a decode pool of two kinds of device.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/exploration/best_mapping.h"
#include "tests/core/exploration/searched.h"

namespace slipstick {
namespace {

Json RequestOf(const std::vector<std::string>& assignments) {
  const Result<Json> request = ReadRequest(R"({"version": 3, "training": null})", assignments);
  EXPECT_TRUE(request) << (request ? "" : request.issues[0].message);
  return request ? *request : Json();
}

SearchSpec ServingSearch(const std::vector<std::string>& limits, const std::string& objective = "") {
  SearchSpec spec;
  spec.part = "serving";
  spec.objective = objective;
  spec.limits = limits;
  return spec;
}

const std::vector<std::string> kOnTwoKinds{"model=mixtral-8x7b",
                                           "cluster=dgx-h100",
                                           "cluster.devices=8",
                                           "serving.disaggregated.prefill_device=l40s",
                                           "serving.disaggregated.prefill_devices=4",
                                           "serving.disaggregated.decode_devices=2"};
std::vector<std::string> OnTwoKinds(const std::vector<std::string>& more) {
  std::vector<std::string> all = kOnTwoKinds;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// In a static batch, a closed and an open loop, with prefixes kept for idle sessions, and together with one shared
// pool.
TEST(SearchPools, OverridesOfPoolsOfTwoKindsGiveTheFiguresFound) {
  const std::vector<std::vector<std::string>> loads{
      {}, {"serving.concurrency=24"}, {"serving.requests_per_s=3"}, {"serving.prefix_hit=0.5", "cost=null"}};
  for (const std::vector<std::string>& load : loads) {
    const Json request = RequestOf(OnTwoKinds(load));
    const bool is_priced = load.empty() || load.back() != "cost=null";
    SearchSpec spec =
        ServingSearch({"batch<=256"}, is_priced ? "cost_usd_per_million_tokens" : "tokens_per_s_per_device");
    spec.pareto = {"ttft_s", "tpot_s"};
    for (const char* pools : {"prefill_devices=4", "prefill_devices=0,4"}) {
      spec.limits.push_back(pools);
      const Json report = Searched(request, spec);
      ExpectOverridesGiveTheFigures(request, report, "serving");
      spec.limits.pop_back();
    }
  }
}

// Where both pools share a mapping, the search ignores the request's mapping of the prefill pool.
TEST(SearchPools, OverridesOfPoolsThatShareAMappingGiveTheFiguresFound) {
  const Json request =
      RequestOf({"model=mixtral-8x7b", "cluster=dgx-h100", "cluster.devices=8", "serving.prefix_hit=0.5",
                 "serving.disaggregated.prefill_devices=4", "serving.disaggregated.decode_devices=4",
                 "serving.disaggregated.prefill_mapping.tp=4"});
  for (const char* axis :
       {"", "serving.disaggregated.prefill_mapping.tp=1,2", "serving.disaggregated.prefill_device=l40s,null"}) {
    SearchSpec spec = ServingSearch({"batch=4,256"});
    spec.top = 50;
    if (*axis != 0) spec.axes = {axis};
    ExpectOverridesGiveTheFigures(request, Searched(request, spec), "serving");
  }
}

// An axis over the prefill devices, where 0 means one shared pool.
TEST(SearchPools, OneSharedPoolIsFoundBesidePoolsOfTwoKinds) {
  const Json request = RequestOf(OnTwoKinds({}));
  SearchSpec on_either = ServingSearch({"batch=16,64", "serving.disaggregated.prefill_devices=0,4"});
  on_either.top = 1000;
  const Json either = Searched(request, on_either);
  const Json two = Searched(request, ServingSearch({"batch=16,64"}));
  const Json shared =
      Searched(RequestOf({"model=mixtral-8x7b", "cluster=dgx-h100", "cluster.devices=8", "serving.devices=6"}),
               ServingSearch({"batch=16,64", "prefill_devices=0"}));
  EXPECT_EQ(either["space"], two["space"].get<Count>() + shared["space"].get<Count>());
  EXPECT_EQ(either["feasible"], two["feasible"].get<Count>() + shared["feasible"].get<Count>());
  const auto best = [](const Json& report) { return *NumberAt(report["best"][0], "tokens_per_s_per_device"); };
  EXPECT_EQ(best(either), std::max(best(two), best(shared)));
  std::optional<double> best_shared;
  for (const Json& one : either["best"]) {
    const Json* pools = FindMember(one["overrides"], "serving.disaggregated");
    if (pools == nullptr || best_shared) continue;
    best_shared = NumberAt(one, "tokens_per_s_per_device");
    EXPECT_EQ(one["overrides"]["serving.devices"], 6);
  }
  EXPECT_EQ(best_shared, best(shared));

  // The shared pool counts once, although two kinds of prefill device are compared.
  on_either.axes = {"serving.disaggregated.prefill_device=l40s,a40"};
  EXPECT_EQ(Searched(request, on_either)["space"], 2 * two["space"].get<Count>() + shared["space"].get<Count>());
}

TEST(SearchPools, LimitsOfEitherPoolRestrictItsMapping) {
  const Json request = RequestOf(OnTwoKinds({}));
  SearchSpec spec = ServingSearch({"batch=16", "serving.mapping.tp=1", "serving.disaggregated.prefill_mapping.tp=2,4",
                                   "prefill_mapping.pp=1", "prefill_mapping.ep<=1"});
  spec.top = 1000;
  const Json report = Searched(request, spec);
  ASSERT_FALSE(report["best"].empty());
  for (const Json& one : report["best"]) {
    const Json& overrides = one["overrides"];
    EXPECT_EQ(overrides["serving.mapping.tp"], 1);
    EXPECT_GE(overrides["serving.disaggregated.prefill_mapping.tp"], 2);
    EXPECT_EQ(overrides["serving.disaggregated.prefill_mapping.pp"], 1);
    EXPECT_EQ(overrides["serving.disaggregated.prefill_mapping.ep"], 1);
    EXPECT_EQ(overrides["serving.disaggregated.prefill_devices"], 4);
    EXPECT_EQ(overrides["serving.disaggregated.decode_devices"], 2);
  }
}

TEST(SearchPools, TextsOfAMappingDistinguishThePools) {
  EXPECT_EQ(MappingText({{"serving.mapping.tp", 4}, {"serving.disaggregated.prefill_mapping.tp", 2}}),
            "tp 4, prefill pool tp 2");
}

TEST(SearchPools, DevicesOfTwoKindsAreNotDivided) {
  const auto job = SearchJob::Make(RequestOf(OnTwoKinds({})), ServingSearch({"prefill_devices=3"}));
  ASSERT_FALSE(job);
  ASSERT_EQ(job.issues.size(), 1u);
  EXPECT_EQ(job.issues[0].path, "limit");
  EXPECT_NE(job.issues[0].message.find("(4 prefill, 2 decode)"), std::string::npos) << job.issues[0].message;
}

}  // namespace
}  // namespace slipstick
