// The search against brute force: the answer is the same with and without pruning, in one piece and in shards.
#include "core/exploration/search_job.h"

#include <gtest/gtest.h>

#include <array>

#include "core/base/schema.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/request.h"
#include "tests/core/exploration/searched.h"
#include "tests/support/random_scenarios.h"

namespace slipstick {
namespace {

using testing::Catalogue;
using testing::Random;

// A small random training problem: a model on a cluster of a few devices, with any framework.
Json SmallProblem(Random& random, const Catalogue& catalogue) {
  const Count heads = random.Of<Count>({2, 4, 6, 8}), devices = random.Of<Count>({2, 4, 6, 8, 16});
  Json model{{"layers", random.Of<Count>({2, 3, 4, 6, 8})},
             {"hidden", 512 * heads},
             {"heads", heads},
             {"ffn", 2048 * heads},
             {"gated", random.Chance(50)},
             {"vocab", random.Of<Count>({32000, 128256})}};
  if (random.Chance(30)) model["moe"] = Json{{"experts", 4}, {"top_k", 2}, {"dense_layers", random.Chance(50) ? 1 : 0}};
  const std::string precision = random.Of<std::string>({"bf16", "fp16", "fp8"});
  Json cluster{{"preset", random.Of<std::string>({"dgx-a100", "dgx-h100", "tpu-v5e-pod", "hgx-mi300x"})},
               {"devices", devices}};
  // A node has four devices, so that groups cross nodes; some mappings do not fit the memory.
  cluster["networks"] = Json::array({Json{{"size", 4}}});
  cluster["device"] =
      Json{{"memory", Json{{"capacity", 1e9 * static_cast<double>(random.Of<Count>({12, 24, 48, 80}))}}},
           {"host", Json{{"memory", 1e9 * static_cast<double>(random.Of<Count>({0, 4, 16, 256}))}}}};
  return Json{{"version", 1},
              {"model", std::move(model)},
              {"cluster", std::move(cluster)},
              {"training",
               {{"sequence", random.Of<Count>({512, 4096, 16384})},
                {"global_batch", random.Of<Count>({48, 96})},
                {"precision", precision},
                {"flash_attention", random.Chance(70)},
                {"framework", {{"preset", random.Of(catalogue.frameworks)}}}}},
              {"serving", nullptr},
              {"cost", Json::object()}};
}

Json Parsed(std::string_view text) {
  Result<Json> json = ParseJson(text);
  EXPECT_TRUE(json);
  return json ? *json : Json();
}

std::vector<std::string> AllFigures() {
  std::vector<std::string> names;
  for (const char* name :
       {"step_time_s", "time_to_train_s", "tokens_per_s", "tokens_per_s_per_device", "model_flops_utilization",
        "memory_bytes.total", "memory_headroom_bytes", "energy_j", "cost_usd", "tokens_per_usd", "tokens_per_j"}) {
    names.push_back(name);
  }
  return names;
}

SearchProgress SearchAll(const Json& request, SearchSpec spec, bool prune, Count shards = 1) {
  spec.prune = prune;
  spec.shards = shards;
  SearchProgress all;
  for (spec.shard = 0; spec.shard < shards; ++spec.shard) {
    const Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(request, spec);
    EXPECT_TRUE(job) << job.issues[0].path << ": " << job.issues[0].message;
    if (!job) return all;
    while ((*job)->Step(100)) {
    }
    Merge(all, (*job)->progress(), (*job)->options());
  }
  return all;
}

void ExpectSame(const std::vector<Found>& a, const std::vector<Found>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].index, b[i].index) << what << " " << i;
    EXPECT_EQ(a[i].figures, b[i].figures) << what << " " << i;
  }
}

// With pruning, mappings share sub-results and evaluation may stop at bounds; without, each is evaluated alone and
// completely.
TEST(SearchJob, PruningAndSharingChangeNothingOnTwoHundredProblems) {
  const Catalogue catalogue;
  const std::vector<std::string> figures = AllFigures();
  Count evaluated = 0, decided = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Json request = SmallProblem(random, catalogue);
    SearchSpec spec;
    spec.objective = random.Of(figures);
    spec.top = 1 + random.Below(20);
    for (std::uint64_t more = random.Below(3); more > 0; --more) spec.pareto.push_back(random.Of(figures));
    if (random.Chance(20)) spec.limits.push_back("memory_headroom_bytes>=2 GB");
    if (random.Chance(10)) spec.limits.push_back("step_time_s<=5 s");
    spec.limits.push_back("micro_batch<=2");
    if (random.Chance(80)) spec.limits.push_back("cp<=1");
    if (random.Chance(70)) spec.limits.push_back("order=tp-cp-ep-dp-pp");
    if (random.Chance(50)) spec.limits.push_back("zero<=1");
    if (random.Chance(50)) spec.limits.push_back("offload.optimizer<=0");
    if (random.Chance(50)) spec.limits.push_back("training.offload.activations=0");
    const SearchProgress pruned = SearchAll(request, spec, true), whole = SearchAll(request, spec, false);
    const std::string name = "seed " + std::to_string(seed) + " " + spec.objective;
    ExpectSame(pruned.best, whole.best, name + " best");
    ExpectSame(pruned.front, whole.front, name + " front");
    EXPECT_EQ(pruned.done, whole.done) << name;
    EXPECT_EQ(pruned.feasible, whole.feasible) << name;
    EXPECT_EQ(pruned.rejected, whole.rejected) << name;
    evaluated += pruned.evaluated;
    decided += pruned.done;
    if (seed % 20 == 0) {
      for (const Count shards : {2, 4}) {
        const SearchProgress parts = SearchAll(request, spec, true, shards);
        ExpectSame(parts.best, whole.best, name + " best of shards");
        ExpectSame(parts.front, whole.front, name + " front of shards");
        EXPECT_EQ(parts.feasible, whole.feasible) << name;
        EXPECT_EQ(parts.rejected, whole.rejected) << name;
      }
    }
  }
  EXPECT_LT(evaluated, decided);
}

// A small random serving problem: dense, with experts or with a latent KV cache, on any engine.
Json SmallServingProblem(Random& random, const Catalogue& catalogue) {
  const Count heads = random.Of<Count>({4, 8});
  Json model{{"layers", 4},     {"hidden", 128 * heads}, {"heads", heads}, {"kv_heads", random.Of<Count>({1, 2, 4})},
             {"head_dim", 128}, {"ffn", 512 * heads},    {"gated", true},  {"vocab", 32000}};
  if (random.Chance(30)) model["moe"] = Json{{"experts", 4}, {"top_k", 2}};
  Json cluster{{"preset", random.Of<std::string>({"dgx-a100", "dgx-h100"})}, {"devices", 8}};
  cluster["networks"] = Json::array({Json{{"size", 4}}});
  cluster["device"] = Json{{"memory", Json{{"capacity", 1e9 * static_cast<double>(random.Of<Count>({2, 8, 80}))}}}};
  return Json{{"version", 1},
              {"model", std::move(model)},
              {"cluster", std::move(cluster)},
              {"training", nullptr},
              {"serving",
               {{"prompt", random.Of<Count>({1024, 4096})},
                {"output", 128},
                {"devices", random.Of<Count>({2, 4, 8})},
                {"engine", {{"preset", random.Of(catalogue.engines)}}}}},
              {"cost", Json::object()}};
}

// With sharing, mappings reuse passes timed for others; without, each is timed alone.
TEST(SearchJob, SharingChangesNothingOnServingProblems) {
  const Catalogue catalogue;
  Count split = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Json request = SmallServingProblem(random, catalogue);
    SearchSpec spec;
    spec.part = "serving";
    spec.objective =
        random.Of<std::string>({"tokens_per_s_per_device", "tpot_s", "ttft_s", "cost_usd_per_million_tokens"});
    if (random.Chance(50)) spec.pareto = {"tokens_per_s_per_user"};
    if (random.Chance(30)) spec.limits.push_back("tpot_s<=20 ms");
    spec.limits.push_back("batch<=64");
    if (random.Chance(70)) spec.limits.push_back("prefill_devices=0");
    const std::string name = "seed " + std::to_string(seed) + " " + spec.objective;
    const SearchProgress shared = SearchAll(request, spec, true), alone = SearchAll(request, spec, false);
    ExpectSame(shared.best, alone.best, name + " best");
    ExpectSame(shared.front, alone.front, name + " front");
    EXPECT_EQ(shared.feasible, alone.feasible) << name;
    EXPECT_EQ(shared.rejected, alone.rejected) << name;
    for (const Count shards : {2, 4}) {
      const SearchProgress parts = SearchAll(request, spec, true, shards);
      ExpectSame(parts.best, alone.best, name + " best of shards");
      ExpectSame(parts.front, alone.front, name + " front of shards");
      EXPECT_EQ(parts.rejected, alone.rejected) << name;
    }
    spec.limits.push_back("cp>=2");
    split += SearchJob::Make(request, spec) ? 1 : 0;
  }
  EXPECT_GT(split, 10);  // problems that may use context parallelism
}

// The mappings of both spaces, set as assignments, are scenarios with the figures found.
TEST(SearchJob, OverridesGiveTheFiguresFound) {
  const Json training =
      Parsed(R"({"model": {"preset": "mixtral-8x7b"}, "cluster": {"preset": "dgx-h100", "devices": 32},
      "training": {"sequence": 4096, "global_batch": 64}, "serving": null})");
  const Json serving = Parsed(R"({"model": {"preset": "mixtral-8x7b"}, "cluster": {"preset": "dgx-h100", "devices": 16},
      "training": null, "serving": {"prompt": 2048, "output": 256, "devices": 16}})");
  Json closed_loop = serving, open_loop = serving;
  closed_loop["serving"]["concurrency"] = 24;
  open_loop["serving"]["requests_per_s"] = 3;
  for (const Json* asked : std::array<const Json*, 4>{&training, &serving, &closed_loop, &open_loop}) {
    const bool trains = asked == &training;
    SearchSpec spec;
    spec.part = trains ? "training" : "serving";
    spec.pareto = {trains ? "energy_j" : "tokens_per_s_per_user"};
    spec.top = 20;
    Json with_version = *asked;
    with_version["version"] = 1;
    Result<Json> request = CompleteRequest(std::move(with_version));
    ASSERT_TRUE(request);
    const Json report = Searched(*request, spec);
    ASSERT_FALSE(report["pareto"].empty());
    ExpectOverridesGiveTheFigures(*request, report, spec.part);
  }
}

// DeepSeek-V3 decoding on 96 H100: with few ranks the experts leave no room for as many sequences as 100 ms allows. The
// batches tried include those that divide evenly over the ranks, although 96 is no power of two.
TEST(SearchJob, WideExpertParallelismIsFoundForDecoding) {
  for (const char* redundant : {"serving.redundant_experts=0", "serving.redundant_experts=32"}) {
    const Result<Json> request = ReadRequest(
        R"({"version": 1})", {"model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=96", "training=null",
                              "cost=null", "serving.devices=96", "serving.engine=sglang", "serving.prompt=2000",
                              "serving.output=100", "serving.prefix_hit=1", redundant});
    ASSERT_TRUE(request);
    SearchSpec spec;
    spec.part = "serving";
    spec.objective = "tokens_per_s_per_device";
    spec.limits = {"tpot_s<=100 ms", "tp=1", "pp=1"};
    const Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(*request, spec);
    ASSERT_TRUE(job) << job.issues[0].message;
    while ((*job)->Step(1000)) {
    }
    const Json best = (*job)->Report()["best"][0]["overrides"];
    EXPECT_GE(best["serving.mapping.ep"].get<Count>(), 32);
    EXPECT_EQ(best["serving.batch"].get<Count>() % best["serving.mapping.attention_dp"].get<Count>(), 0);
  }
}

// A number of requests that is written stays: every layout serves eight, two or four of them per replica.
TEST(SearchJob, KeepsTheConcurrencyThatIsWritten) {
  const Json request = *ReadRequest(
      "", {"training=null", "model=llama-3.3-70b", "cluster=dgx-h100", "serving.prompt=4000", "serving.concurrency=8"});
  SearchSpec spec;
  spec.part = "serving";
  spec.top = 50;
  spec.limits = {"prefill_devices=0", "pp=1", "prefill_chunk=0"};
  const Json report = Searched(request, spec);
  EXPECT_EQ(report["space"], 4) << "tp 1, 2, 4 and 8, each with one batch";
  ExpectOverridesGiveTheFigures(request, report, "serving");
  for (const Json& one : report["best"]) {
    const Result<Scenario> scenario = ParseScenario(WithOverrides(request, one["overrides"]));
    const Json serving = (*Evaluate(*scenario, ReportDetail::Figures()))["serving"];
    EXPECT_NEAR(*NumberAt(serving, "requests_in_flight") + *NumberAt(serving, "requests_waiting"), 8, 1e-6);
  }
  spec.limits.push_back("batch=64");
  const Json of_batch = Searched(request, spec)["best"][0]["overrides"];
  EXPECT_EQ(of_batch["serving.batch"], 64) << "a limit on the batch replaces it";
  EXPECT_TRUE(of_batch["serving.concurrency"].is_null());
}

// An axis over an input that the search chooses restricts the search. Here pools from the axis once stood beside one
// shared pool, a contradiction.
TEST(SearchJob, KeepsToAnAxisOfPools) {
  const Result<Json> request =
      ReadRequest("", {"version=1", "model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=64", "training=null",
                       "serving.devices=64", "serving.disaggregated.prefill_devices=16",
                       "serving.disaggregated.decode_devices=48"});
  ASSERT_TRUE(request);
  SearchSpec spec;
  spec.part = "serving";
  spec.top = 50;
  spec.limits = {"tp<=2", "pp<=1", "batch=32"};
  spec.axes = {"serving.disaggregated.prefill_devices=16,32"};
  Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(*request, spec);
  ASSERT_TRUE(job) << job.issues.front().message;
  while ((*job)->Step(1000)) {
  }
  const Json report = (*job)->Report();
  ASSERT_FALSE(report["best"].empty());
  for (const Json& one : report["best"]) {
    const Json& overrides = one["overrides"];
    EXPECT_FALSE(overrides.contains("serving.disaggregated")) << overrides;
    const Count prefill = overrides["serving.disaggregated.prefill_devices"].get<Count>();
    EXPECT_TRUE(prefill == 16 || prefill == 32) << overrides;
    EXPECT_EQ(prefill + overrides["serving.disaggregated.decode_devices"].get<Count>(), 64) << overrides;
  }
}

}  // namespace
}  // namespace slipstick
