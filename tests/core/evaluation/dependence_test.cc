// Measured dependence agrees with the derivations: where moving an input moves a headline figure, the derivation of
// that figure leads to the input. Scenarios of every kind of model, engine, framework and package.
#include "core/exploration/dependence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/evaluation/evaluate.h"
#include "core/exploration/sensitivity.h"
#include "golden_requests.h"
#include "tests/core/training/drawn.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

constexpr const char* kHeadlines[] = {"training.step_time_s",
                                      "training.memory_bytes.total",
                                      "serving.tpot_s",
                                      "serving.ttft_s",
                                      "serving.memory_bytes.total",
                                      "cost.device_usd",
                                      "serving.cost_usd_per_million_tokens",
                                      "diffusion.latency_s",
                                      "diffusion.memory_bytes.total",
                                      "diffusion.cost_usd"};

// The marked path comes from multiplied shares, dependence and sensitivity from moved inputs. These cannot move one
// degree of parallelism alone, so training memory, whose path leads to one, is left out.
TEST(Dependence, AgreesWithThePathsMarkedInDerivations) {
  for (const std::string answer :
       {"training.step_time_s", "serving.tpot_s", "serving.ttft_s", "serving.memory_bytes.total", "cost.device_usd"}) {
    const std::string input = LedTo(Ask(Json::object(), answer)["explanations"], answer);
    const Json moved = *ParseJson(DependenceAnswer(R"({"version": 1})", {}, input).text);
    ASSERT_EQ(moved["inputs"].size(), 1u) << input;
    const auto figures = moved["inputs"][0]["figures"].get<std::vector<std::string>>();
    EXPECT_NE(std::find(figures.begin(), figures.end(), answer), figures.end())
        << answer << " does not move with " << input;

    const Json ranked = *ParseJson(SensitivityAnswer(R"({"version": 1})", {}, answer, 0.2).text);
    std::string largest;
    double most = 0;
    for (const Json& one : ranked["inputs"]) {
      if (!one["elasticity"].is_number() || std::abs(one["elasticity"].get<double>()) <= most) continue;
      most = std::abs(one["elasticity"].get<double>());
      largest = TextOf(one["path"]);
    }
    EXPECT_EQ(input, largest) << answer;
  }
}

class Derivations : public ::testing::TestWithParam<GoldenRequest> {};

TEST_P(Derivations, LeadToEveryInputThatMovesTheAnswer) {
  const Json request = testing::WithVersion(*ParseJson(GetParam().text));
  const Json report = Ask(request, "*");
  ASSERT_TRUE(report.contains("explanations")) << JsonText(report).substr(0, 500);
  std::unordered_map<std::string, std::set<std::string>> rests_on;
  for (const Json& figure : report["explanations"]) {
    for (const Json& term : figure["terms"]) rests_on[TextOf(figure["path"])].insert(TextOf(term["origin"]));
  }
  const auto reached_from = [&](const std::string& path) {
    std::set<std::string> seen{path};
    for (std::vector<std::string> open{path}; !open.empty();) {
      const std::string at = open.back();
      open.pop_back();
      for (const std::string& origin : rests_on[at]) {
        if (seen.insert(origin).second) open.push_back(origin);
      }
    }
    return seen;
  };
  std::unordered_map<std::string, std::set<std::string>> reached;
  for (const char* headline : kHeadlines) reached[headline] = reached_from(headline);

  // Simulating requests takes longest and moves no headline figure, so it is not repeated for every input.
  Json unplayed = request;
  if (Find(request, "serving.simulate") != nullptr) SetPath(unplayed, "serving.simulate", nullptr);
  const Json without = Ask(unplayed);
  for (const char* headline : kHeadlines) {
    const Json *figure = Find(report, headline), *same = Find(without, headline);
    ASSERT_EQ(figure == nullptr, same == nullptr) << headline;
    if (figure != nullptr) {
      EXPECT_EQ(*figure, *same) << headline;
    }
  }

  const Json moved = *ParseJson(DependenceAnswer(JsonText(unplayed), {}).text);
  int pairs = 0;
  for (const Json& input : moved["inputs"]) {
    for (const Json& figure : input["figures"]) {
      const auto headline = reached.find(TextOf(figure));
      if (headline == reached.end()) continue;
      ++pairs;
      EXPECT_TRUE(headline->second.contains(TextOf(input["path"])))
          << headline->first << " does not lead to " << TextOf(input["path"]);
    }
  }
  EXPECT_GT(pairs, 30);
}

// Checks that every term of every formula has an origin; terms in `seen` are already reported. Returns the number of
// terms.
int ExpectOrigins(const Json& report, std::set<std::string>& seen) {
  int terms = 0;
  for (const Json& figure : report["explanations"]) {
    for (const Json& term : figure["terms"]) {
      ++terms;
      if (!TextOf(term["origin"]).empty() || !seen.insert(TextOf(figure["path"]) + " " + TextOf(term["symbol"])).second)
        continue;
      ADD_FAILURE() << TextOf(term["symbol"]) << " of " << TextOf(figure["path"]) << " = " << TextOf(figure["formula"])
                    << " has no origin";
    }
  }
  return terms;
}

TEST_P(Derivations, HaveAnOriginForEveryTerm) {
  const Json report = Ask(*ParseJson(GetParam().text), "*");
  ASSERT_TRUE(report.contains("explanations")) << JsonText(report).substr(0, 500);
  std::set<std::string> seen;
  EXPECT_GT(ExpectOrigins(report, seen), 500);
}

// Devices known only by their data sheets, and every family of kernels, under every framework.
TEST(TrainingDerivations, HaveAnOriginForEveryTermOnAnyDevice) {
  constexpr int kDrawn = 500;
  std::set<std::string> seen;
  int terms = 0;
  for (std::uint64_t seed = 0; seed < kDrawn; ++seed) {
    const DrawnRun drawn = DrawnTraining(seed);
    if (!drawn.scenario) continue;
    SCOPED_TRACE(drawn.text);
    ReportDetail detail;
    detail.explain = "*";
    terms += ExpectOrigins(*Evaluate(*drawn.scenario, detail), seen);
  }
  // Rare cases: a stage without layers, a network without a scale-up domain, dedicated dispatch within a node.
  for (const char* rare :
       {R"({"model": "gemma-3-1b", "cluster": {"preset": "tpu-v4-pod", "devices": 8}, "serving": null, "training": {
        "framework": "internevo", "global_batch": 384, "offload": {"activations": 0.5}, "mapping": {"pp": 4, "schedule": "zb-v",
        "virtual_stages": 2, "tp": 1, "zero": 1}}})",
        R"({"model": "llama-2-7b", "cluster": {"preset": "laptop", "devices": 16}, "serving": null, "training": {
        "framework": "fsdp", "global_batch": 384, "mapping": {"tp": 1, "pp": 1, "virtual_stages": 1, "cp": 8, "cp_kind": "ulysses"}}})",
        R"({"model": "mixtral-8x7b", "cluster": {"preset": "dgx-a100", "devices": 64}, "serving": null, "training": {
        "framework": "hai-llm", "global_batch": 384, "mapping": {"tp": 1, "pp": 1, "virtual_stages": 1, "ep": 8, "zero": 1}}})"}) {
    SCOPED_TRACE(rare);
    EXPECT_GT(ExpectOrigins(Ask(*ParseJson(rare), "*"), seen), 500);
  }
  EXPECT_GT(terms, 500 * kDrawn / 2);
}

const GoldenRequest kFurtherScenarios[] = {
    {"chiplets",
     R"({"model": "llama-3.1-70b", "cluster": {"preset": "hgx-mi300x", "devices": 64}, "training": {"recompute": "full", "mapping": {"tp": 8}},
        "serving": {"devices": 8, "engine": "sglang", "mapping": {"tp": 8}, "requests_per_s": 2}})"},
    {"low_rank_adapters",
     R"({"model": "llama-3.1-8b", "cluster": {"preset": "dgx-h100", "devices": 8}, "serving": null, "training": {
        "framework": {"preset": "fsdp", "lora_rank": 16}, "global_batch": 64, "offload": {"optimizer": 0.5}, "mapping": {"tp": 1, "pp": 1, "zero": 3}}})"},
    {"quantized_weights",
     R"({"model": "mixtral-8x7b", "cluster": {"preset": "dgx-h100", "devices": 8}, "serving": null, "training": {
        "trainable": "lora", "frozen_precision": "nf4", "global_batch": 64, "recompute": "full", "mapping": {"tp": 2, "pp": 1, "ep": 2,
        "virtual_stages": 1, "zero": 3}}})"},
    {"offloaded_state", R"({"model": "opt-13b", "cluster": "single-v100-sxm2-32gb", "serving": null, "training": {
        "framework": "megatron-deepspeed", "precision": "fp16", "flash_attention": false, "recompute": "full", "sequence": 1024, "global_batch": 16,
        "offload": {"optimizer": 1, "parameters": 0.5}, "mapping": {"tp": 1, "pp": 1, "virtual_stages": 1, "zero": 2}}})"},
    {"roofline",
     R"({"model": "mixtral-8x7b", "cluster": {"preset": "dgx-h100", "devices": 64}, "training": {"framework": "roofline",
        "mapping": {"tp": 4, "pp": 2, "ep": 4}}, "serving": {"engine": "roofline", "mapping": {"tp": 8}}})"},
    {"windows",
     R"({"model": "gemma-3-27b", "cluster": {"preset": "dgx-h200", "devices": 16}, "training": {"recompute": "full", "mapping":
        {"tp": 4, "pp": 2, "virtual_stages": 1}}, "serving": {"devices": 4, "engine": "vllm", "mapping": {"tp": 4}, "concurrency": 64}})"},
    {"selected_blocks",
     R"({"model": "minimax-m3", "cluster": {"preset": "dgx-h200", "devices": 8}, "training": null, "serving": {"devices": 8,
        "engine": "vllm", "mapping": {"tp": 8}, "prompt": 16384, "precision": {"weights": "fp8"}, "concurrency": 16}})"},
    {"local_heads",
     R"({"model": "gemma-4-26b-a4b", "cluster": {"preset": "dgx-h200", "devices": 16}, "training": {"recompute": "full", "mapping":
        {"tp": 2, "pp": 2, "ep": 4, "virtual_stages": 1}}, "serving": {"devices": 4, "engine": "vllm", "mapping": {"tp": 2}, "concurrency": 64}})"},
    {"shared_kv_caches",
     R"({"model": "gemma-4-e2b", "cluster": {"preset": "dgx-h200", "devices": 8}, "training": {"recompute": "full", "global_batch": 64, "mapping":
        {"tp": 2, "pp": 1, "virtual_stages": 1}}, "serving": {"devices": 4, "engine": "vllm", "mapping": {"tp": 2}, "concurrency": 64}})"},
    {"compressed_history",
     R"({"model": "deepseek-v4-flash", "cluster": {"preset": "dgx-h200", "devices": 64}, "training": {"recompute": "full", "mapping": {"tp": 2,
        "pp": 2, "ep": 16, "virtual_stages": 1}}, "serving": {"devices": 8, "engine": "vllm", "mapping": {"tp": 8}, "prompt": 16384, "concurrency": 64}})"},
    {"recomputed_blocks",
     R"({"model": "deepseek-v3", "cluster": {"preset": "dgx-h100", "devices": 256}, "serving": null, "training": {"mapping": {"tp": 4, "pp": 8,
        "ep": 8, "virtual_stages": 2}, "global_batch": 512, "recompute": "full", "recompute_method": "block", "recompute_layers": 2}})"},
    {"recomputed_groups",
     R"({"model": "gemma-3-27b", "cluster": {"preset": "dgx-h100", "devices": 64}, "serving": null, "training": {"mapping": {"tp": 4, "pp": 4,
        "virtual_stages": 2}, "recompute": "full", "recompute_layers": 3, "offload": {"activations": 0.5}}})"},
    {"post_training",
     R"({"model": "llama-3.1-8b", "cluster": {"preset": "dgx-h100", "devices": 16}, "training": {"sequence": 4096,
        "mapping": {"tp": 1, "pp": 2, "virtual_stages": 1}}, "serving": {"prompt": 128, "output": 1024, "devices": 1, "engine": "vllm",
        "mapping": {"tp": 1}}, "post_training": {"algorithm": "ppo", "max_response": 3968, "placement": "pools", "steps_off": 1}})"},
    {"colocated_post_training",
     R"({"model": "deepseek-v2-lite", "cluster": {"preset": "dgx-h100", "devices": 16}, "training": {"sequence": 4096,
        "mapping": {"tp": 2, "pp": 1, "ep": 8, "virtual_stages": 1}}, "serving": {"prompt": 128, "output": 1024, "devices": 2,
        "engine": "vllm", "mapping": {"tp": 2}}, "post_training": {"sync_rate": "50 GB/s"}})"},
    {"images",
     R"({"version": 3, "cluster": {"preset": "dgx-h100"}, "diffusion": {"model": "stable-diffusion-3.5-large", "offload": true, "batch": 2,
        "guidance_parallel": true, "ulysses": 2, "compiled": false}})"},
    {"clips",
     R"({"version": 3, "cluster": {"preset": "dgx-h100"}, "diffusion": {"model": "wan2.1-t2v-14b", "ring": 4, "attention": "flash3"}})"},
    {"wide_experts",
     R"({"model": "deepseek-v3", "cluster": {"preset": "hgx-h800", "devices": 2048}, "training": {"mapping": {"tp": 1, "pp": 16,
        "ep": 64, "virtual_stages": 1}, "global_batch": 15360, "sequence": 4096, "recompute": "full"},
        "serving": {"devices": 64, "mapping": {"tp": 1, "attention_dp": 64, "ep": 64}}})"},
    {"direct_wires",
     R"({"model": "deepseek-v3", "cluster": {"preset": "dgx-h100", "devices": 256, "networks": [{"topology": "ring"}, {"topology": "torus"}]},
        "training": {"mapping": {"tp": 1, "pp": 8, "ep": 32, "virtual_stages": 1}, "global_batch": 512, "recompute": "full"},
        "serving": {"devices": 64, "engine": "sglang", "mapping": {"tp": 1, "pp": 2, "attention_dp": 32, "ep": 32}}})"},
    {"hypercubes",
     R"({"model": "deepseek-v3", "cluster": {"preset": "dgx-h100", "devices": 64, "networks": [{"topology": "hypercube"}, {"topology": "ring"}]},
        "training": null, "serving": {"devices": 64, "engine": "sglang", "mapping": {"tp": 1, "attention_dp": 32, "ep": 32},
        "disaggregated": {"prefill_devices": 32, "decode_devices": 32}}})"}};
INSTANTIATE_TEST_SUITE_P(Golden, Derivations, ::testing::ValuesIn(GoldenRequests()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Further, Derivations, ::testing::ValuesIn(kFurtherScenarios),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace slipstick::testing
