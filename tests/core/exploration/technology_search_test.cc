// A search over technologies and mappings together.
#include <gtest/gtest.h>

#include "core/evaluation/evaluate.h"
#include "core/exploration/search_job.h"
#include "core/exploration/search_shard.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

const std::vector<std::string> kScenario{"model=llama-3.1-8b",        "cluster=dgx-h100",
                                         "cluster.devices=16",        "serving=null",
                                         "training.global_batch=32",  "cluster.device.design=h100-like",
                                         "partition.bandwidth=4 TB/s"};

SearchSpec Spec() {
  SearchSpec spec;
  spec.objective = "time_to_train_s";
  spec.pareto = {"cost_usd"};
  spec.axes = {"partition.chiplets=1,2", "cluster.device.design.node.preset=7nm,3nm",
               "cluster.device.design.dram.preset=hbm2e,hbm3e", "cluster.networks.0.topology=switch,ring"};
  spec.limits = {"cp<=1", "order=tp-cp-ep-dp-pp", "micro_batch<=2", "offload.optimizer<=0",
                 "training.offload.activations=0"};
  spec.top = 5;
  return spec;
}

SearchProgress Search(const Json& request, SearchSpec spec, bool prune, Count shards) {
  SearchProgress all;
  spec.prune = prune;
  spec.shards = shards;
  for (spec.shard = 0; spec.shard < shards; ++spec.shard) {
    const auto job = SearchJob::Make(request, spec);
    EXPECT_TRUE(job) << job.issues[0].path << ": " << job.issues[0].message;
    if (!job) return all;
    while ((*job)->Step(1000)) {
    }
    Merge(all, (*job)->progress(), (*job)->options());
  }
  return all;
}

// The frontier is the same with and without bounds, in one piece and in three.
TEST(TechnologySearch, BoundsAndShardsChangeNothing) {
  const Result<Json> request = ReadRequest(R"({"version": 1})", kScenario);
  ASSERT_TRUE(request);
  const SearchProgress pruned = Search(*request, Spec(), true, 1), whole = Search(*request, Spec(), false, 1),
                       parts = Search(*request, Spec(), true, 3);
  EXPECT_GT(whole.front.size(), 1U);
  EXPECT_LT(pruned.evaluated, whole.evaluated);
  for (const SearchProgress* other : {&pruned, &parts}) {
    ASSERT_EQ(other->front.size(), whole.front.size());
    for (std::size_t i = 0; i < whole.front.size(); ++i) {
      EXPECT_EQ(other->front[i].index, whole.front[i].index);
      EXPECT_EQ(other->front[i].figures, whole.front[i].figures);
    }
    EXPECT_EQ(other->done, whole.done);
    EXPECT_EQ(other->feasible, whole.feasible);
    EXPECT_EQ(other->rejected, whole.rejected);
  }
}

// Each point of the frontier, set as assignments, is a scenario with the figures found. The best of all is the best of
// the searches within each technology.
TEST(TechnologySearch, FindsWhatEachTechnologyFindsAlone) {
  const Result<Json> request = ReadRequest(R"({"version": 1})", kScenario);
  ASSERT_TRUE(request);
  const auto joint = SearchJob::Make(*request, Spec());
  ASSERT_TRUE(joint);
  while ((*joint)->Step(1000)) {
  }
  const Json report = (*joint)->Report();
  for (const Json& entry : report["pareto"]) {
    Json one = *request;
    for (const auto& [path, value] : entry["overrides"].items()) Apply(one, {{path, value}});
    const Result<Scenario> scenario = ParseScenario(one);
    ASSERT_TRUE(scenario) << JsonText(entry) << scenario.issues[0].path << ": " << scenario.issues[0].message;
    const Result<Json> evaluated = Evaluate(*scenario, ReportDetail::Figures());
    for (const char* figure : {"time_to_train_s", "cost_usd"})
      EXPECT_NEAR(entry[figure].get<double>() / (*evaluated)["training"][figure].get<double>(), 1, 1e-12)
          << JsonText(entry);
  }
  double best = 1e300;
  Count space = 0;
  for (const char* chiplets : {"1", "2"}) {
    for (const char* node : {"7nm", "3nm"}) {
      for (const char* dram : {"hbm2e", "hbm3e"}) {
        for (const char* topology : {"switch", "ring"}) {
          SearchSpec spec = Spec();
          spec.axes.clear();
          Json one = *request;
          for (const auto& [path, value] : {std::pair{"partition.chiplets", chiplets},
                                            {"cluster.device.design.node.preset", node},
                                            {"cluster.device.design.dram.preset", dram},
                                            {"cluster.networks.0.topology", topology}})
            Apply(one, {*ParseAssignment(std::string(path) + "=" + value)});
          const auto alone = SearchJob::Make(one, spec);
          ASSERT_TRUE(alone);
          while ((*alone)->Step(1000)) {
          }
          space += (*alone)->SpaceSize();
          best = std::min(best, (*alone)->progress().best[0].figures[0]);
        }
      }
    }
  }
  EXPECT_EQ((*joint)->SpaceSize(), space);
  EXPECT_EQ((*joint)->progress().best[0].figures[0], best);
}

// A die of 1,600 mm^2 is larger than the reticle field of 26 x 33 mm; two of 800 mm^2 and their links fit it.
TEST(TechnologySearch, RejectsWhatCannotBeMade) {
  std::vector<std::string> scenario = kScenario;
  scenario.insert(scenario.end(), {"cluster.device.design.area=1500 mm^2",
                                   "cluster.device.design.package_area=3200 mm^2", "cost.device.dies.0.aspect=1"});
  const Result<Json> request = ReadRequest(R"({"version": 1})", scenario);
  ASSERT_TRUE(request);
  SearchSpec spec = Spec();
  spec.axes = {"partition.chiplets=1,4"};
  const SearchProgress found = Search(*request, spec, true, 1);
  const auto job = SearchJob::Make(*request, spec);
  ASSERT_TRUE(job);
  EXPECT_EQ(found.rejected.at("reticle"), (*job)->SpaceSize() / 2);
  EXPECT_GT(found.feasible, 0);
  for (const Json& entry : (*job)->Report(found)["pareto"]) EXPECT_EQ(entry["overrides"]["partition.chiplets"], 4);
}

TEST(TechnologySearch, CountsImpossibleTechnologiesAndRefusesWhenAllAre) {
  const Result<Json> request = ReadRequest(R"({"version": 1})", kScenario);
  ASSERT_TRUE(request);
  SearchSpec spec = Spec();
  spec.axes = {"cluster.device.design.power_split.memory=0,0.145"};
  EXPECT_EQ(Search(*request, spec, true, 1).rejected.at("technology"), 1);
  spec.axes = {"cluster.device.design.power_split.memory=0"};
  const auto none = SearchJob::Make(*request, spec);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.issues[0].path, "cluster.device.design.power_split.memory");
  spec.axes = {"cluster.device.design.node"};
  EXPECT_FALSE(SearchJob::Make(*request, spec));
}

}  // namespace
}  // namespace slipstick
