// Defaults move to legal values; written values stay.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/catalogue/presets.h"
#include "core/exploration/search_job.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

Scenario Of(const std::vector<std::string>& assignments, const std::string& text = R"({"version": 1})") {
  const Result<Json> request = ReadRequest(text, assignments);
  EXPECT_TRUE(request);
  const Result<Scenario> scenario = ParseScenario(*request);
  EXPECT_TRUE(scenario) << (assignments.empty() ? text : assignments[0]) << ": "
                        << (scenario.issues.empty() ? "" : scenario.issues[0].path + ": " + scenario.issues[0].message);
  return scenario ? *scenario : Scenario{};
}

std::vector<std::string> IssuePaths(const std::vector<std::string>& assignments) {
  std::vector<std::string> paths;
  for (const Issue& issue : ParseScenario(*ReadRequest(R"({"version": 1})", assignments)).issues)
    paths.emplace_back(issue.path);
  return paths;
}

Json Report(const std::vector<std::string>& assignments) {
  return *ParseJson(EvaluateAnswer(R"({"version": 1})", assignments, "", false).text);
}

// Matrix products use the checkpoint's format where the device has it, and 16 bit where only weights are narrow: H100
// has no fp4, A100 no fp8.
TEST(LegalDefaults, ActivationsFollowWrittenWeights) {
  const auto activations = [](const std::string& cluster, const std::string& weights,
                              const std::string& version = "3") {
    return Of({"model=llama-3.1-8b", "cluster=" + cluster, "serving.precision.weights=" + weights},
              R"({"version": )" + version + "}")
        .serving->precision.activations;
  };
  for (const auto& [weights, expected] : {std::pair<std::string, Precision>{"bf16", Precision::kBf16},
                                          {"fp16", Precision::kFp16},
                                          {"fp8", Precision::kFp8},
                                          {"int8", Precision::kBf16},
                                          {"int4", Precision::kBf16},
                                          {"nvfp4", Precision::kBf16},
                                          {"mxfp4", Precision::kBf16},
                                          {"q4_k_m", Precision::kBf16}})
    EXPECT_EQ(activations("dgx-h100", weights), expected) << weights;
  EXPECT_EQ(activations("dgx-b200", "nvfp4"), Precision::kNvfp4);
  EXPECT_EQ(activations("dgx-a100", "fp8"), Precision::kBf16);
  EXPECT_EQ(activations("dgx-h100", "bf16", "2"), Precision::kFp8) << "as links of the second version mean it";
  EXPECT_EQ(Of({"serving.precision.weights=bf16", "serving.precision.activations=fp8"}, R"({"version": 3})")
                .serving->precision.activations,
            Precision::kFp8);
}

// NVIDIA's Model Optimizer writes FP8 as kv_cache_quant_algo into its checkpoints in nvfp4, and vLLM, SGLang and
// TensorRT-LLM use that format unless a command sets another one. A100 does not support fp8.
TEST(LegalDefaults, KvCacheHasTheFormatOfTheCheckpoint) {
  const auto kv_cache = [](std::vector<std::string> assignments, const std::string& version = "3") {
    assignments.insert(assignments.begin(), {"model=llama-3.1-8b", "serving.devices=1"});
    return Of(assignments, R"({"version": )" + version + "}").serving->precision.kv_cache;
  };
  for (const std::string engine : {"vllm", "sglang", "trtllm"})
    EXPECT_EQ(kv_cache({"cluster=dgx-b200", "serving.precision.weights=nvfp4", "serving.engine=" + engine}),
              Precision::kFp8)
        << engine;
  EXPECT_EQ(kv_cache({"cluster=dgx-b200", "serving.precision.weights=nvfp4", "serving.engine=ideal"}),
            Precision::kBf16);
  EXPECT_EQ(kv_cache({"cluster=dgx-b200", "serving.precision.weights=nvfp4", "serving.precision.kv_cache=bf16"}),
            Precision::kBf16);
  EXPECT_EQ(kv_cache({"cluster=dgx-b200", "serving.precision.weights=nvfp4", "serving.engine.follows_kv_cache=false"}),
            Precision::kBf16);
  EXPECT_EQ(kv_cache({"cluster=dgx-a100", "serving.precision.weights=nvfp4"}), Precision::kBf16);
  EXPECT_EQ(kv_cache({"cluster=dgx-b200", "serving.precision.weights=fp8"}), Precision::kBf16);
  for (const std::string version : {"1", "2"})
    EXPECT_EQ(kv_cache({"cluster=dgx-b200", "serving.precision.weights=nvfp4"}, version), Precision::kBf16) << version;
}

// For DeepSeek-V4, vLLM (issue 47174) and SGLang support only an fp8 cache. For DeepSeek-V3.2 and GLM-5, "auto" means fp8
// in SGLang from compute capability 10 on and bfloat16 below it; in vLLM it means the type of the model.
TEST(LegalDefaults, EngineSelectsTheFormatOfTheKvCacheOfSparseAttention) {
  const auto kv_cache = [](const std::string& model, const std::string& cluster, const std::string& engine) {
    return Of({"model=" + model, "cluster=" + cluster, "serving.devices=8", "serving.engine=" + engine},
              R"({"version": 3})")
        .serving->precision.kv_cache;
  };
  EXPECT_EQ(kv_cache("deepseek-v4-flash", "dgx-h200", "vllm"), Precision::kFp8);
  EXPECT_EQ(kv_cache("deepseek-v4-flash", "dgx-b200", "sglang"), Precision::kFp8);
  EXPECT_EQ(kv_cache("deepseek-v4-flash", "dgx-b200", "ideal"), Precision::kBf16);
  EXPECT_EQ(kv_cache("deepseek-v3.2", "dgx-b200", "sglang"), Precision::kFp8);
  EXPECT_EQ(kv_cache("glm-5", "pcie5-server", "sglang"), Precision::kFp8);
  EXPECT_EQ(kv_cache("deepseek-v3.2", "dgx-h200", "sglang"), Precision::kBf16);
  EXPECT_EQ(kv_cache("deepseek-v3.2", "dgx-b200", "vllm"), Precision::kBf16);
  EXPECT_EQ(kv_cache("deepseek-r1", "dgx-b200", "sglang"), Precision::kBf16);
  EXPECT_EQ(kv_cache("minimax-m3", "dgx-b200", "sglang"), Precision::kBf16);
}

// gpt-oss-120b is published in MXFP4, 60.8 GiB (model card, table 1), so it fits one GPU with 80 GB; activations stay
// in bf16.
TEST(LegalDefaults, WeightsAreServedAsPublishedWhereThatIsNarrower) {
  const std::vector<std::string> one_h100{"version=2", "model=gpt-oss-120b", "cluster=single-h100-sxm5-80gb"};
  const ServingPrecision published = Of(one_h100).serving->precision;
  EXPECT_EQ(published.weights, Precision::kMxfp4);
  EXPECT_EQ(published.activations, Precision::kBf16);
  const Json report = Report(one_h100);
  EXPECT_TRUE(report["serving"]["feasible"].get<bool>());
  EXPECT_NEAR(report["serving"]["memory_bytes"]["weights"].get<double>() / kGiB.factor, 60.8, 0.01 * 60.8);
  const ServingPrecision written =
      Of({"version=2", "model=gpt-oss-120b", "serving.precision.weights=bf16"}).serving->precision;
  EXPECT_EQ(written.weights, Precision::kBf16);
  EXPECT_EQ(written.activations, Precision::kFp8);
  EXPECT_EQ(Of({"version=2", "model=gpt-oss-120b", "serving.precision.activations=fp8"}).serving->precision.activations,
            Precision::kFp8);
  EXPECT_EQ(Of({"version=2", "model=deepseek-v3"}).serving->precision.activations,
            Precision::kFp8);                                                         // fp8 is the default
  EXPECT_EQ(Of({"model=gpt-oss-120b"}).serving->precision.weights, Precision::kFp8);  // of version 1
}

TEST(LegalDefaults, APromptFitsTheModelsPositions) {
  const Scenario scenario = Of({"model=gpt3-175b"});  // 2,048 learned positions
  EXPECT_EQ(scenario.serving->prompt, 2048 - 256);
  EXPECT_EQ(scenario.serving->output, 256);
}

TEST(LegalDefaults, AWrittenPromptShortensTheOutput) {
  const Scenario scenario = Of({"model=gpt3-175b", "serving.prompt=2000"});
  EXPECT_EQ(scenario.serving->prompt, 2000);
  EXPECT_EQ(scenario.serving->output, 48);
  EXPECT_EQ(IssuePaths({"model=gpt3-175b", "serving.prompt=2048"}), std::vector<std::string>{"serving.prompt"});
  EXPECT_EQ(IssuePaths({"model=gpt3-175b", "serving.prompt=2000", "serving.output=49"}),
            std::vector<std::string>{"serving.prompt"});
}

TEST(LegalDefaults, OneDeviceGetsDegreesOfOne) {
  const Scenario scenario = Of({"cluster=single-rtx-4090"});
  EXPECT_EQ(*scenario.serving->devices, 1);
  EXPECT_EQ(scenario.serving->mapping.tp, 1);
  EXPECT_EQ(scenario.training->mapping.tp, 1);
  EXPECT_EQ(scenario.training->mapping.pp, 1);
  EXPECT_EQ(scenario.training->mapping.virtual_stages, 1);
  EXPECT_EQ(scenario.training->global_batch, 512);
}

TEST(LegalDefaults, LegalValuesStay) {
  const Scenario asked = Of({"model=llama-3.1-8b", "serving.mapping.tp=4"}), standard = Of({});
  EXPECT_EQ(*asked.serving->devices, 8);
  EXPECT_EQ(*asked.serving->mapping.replicas, 2);
  EXPECT_EQ(asked.training->mapping, standard.training->mapping);
}

// llama.cpp has no fp8: unless written, weights are in the usual file format or in the model's published one.
TEST(LegalDefaults, WeightsAreOfAFormatThatTheEngineHas) {
  const auto weights = [](const std::vector<std::string>& assignments) { return Of(assignments).serving->precision; };
  const ServingPrecision usual = weights({"model=llama-3.1-8b", "serving.engine=llamacpp-2025"});
  EXPECT_EQ(usual.weights, Precision::kQ4KM);
  EXPECT_EQ(usual.activations, Precision::kFp16);
  EXPECT_EQ(weights({"model=llama-3.1-8b", "serving.engine=llamacpp"}).weights, Precision::kQ4KM);
  EXPECT_EQ(weights({"model=gpt-oss-20b", "serving.engine=llamacpp-2025"}).weights, Precision::kMxfp4);
  EXPECT_EQ(weights({"model=gpt-oss-20b", "serving.engine=llamacpp"}).weights,
            Precision::kQ4KM);  // this engine is older than the format
  EXPECT_EQ(weights({"model=gpt-oss-20b", "serving.engine=llamacpp-2025", "serving.precision.weights=q8_0"}).weights,
            Precision::kQ8_0);
  EXPECT_EQ(weights({"model=gpt-oss-20b"}).weights, Precision::kFp8);
}

TEST(LegalDefaults, DegreesDivideTheDevices) {
  // On 72 devices tp 8 fits and pp 4 does not; 3 is nearer than 9. 513 is the multiple of dp 3 nearest to 512.
  const Scenario scenario = Of({"cluster=gb200-nvl72"});
  EXPECT_EQ(scenario.training->mapping.tp, 8);
  EXPECT_EQ(scenario.training->mapping.pp, 3);
  EXPECT_EQ(scenario.training->global_batch, 513);
  EXPECT_EQ(Of({"serving.devices=4"}).serving->mapping.tp, 4);
  EXPECT_EQ(*Of({"serving.mapping.tp=16"}).serving->devices, 16);
  EXPECT_EQ(*Of({"serving.mapping.attention_dp=8", "model=deepseek-v3", "serving.mapping.ep=64"}).serving->devices, 64);
  EXPECT_EQ(Of({"serving.engine=llamacpp"}).serving->mapping.tp, 1);  // this engine only splits layers
  EXPECT_EQ(Of({"training.mapping.pp=1"}).training->mapping.virtual_stages, 1);
  EXPECT_FALSE(
      Of({"serving.disaggregated.prefill_devices=8", "serving.disaggregated.decode_devices=16"}).serving->devices !=
      24);
}

// 671 GB of fp8 weights leave no room for a KV cache on eight devices of 80 GB.
TEST(LegalDefaults, ALargeModelTakesMoreDevices) {
  const Scenario scenario = Of({"model=deepseek-v3"});
  EXPECT_EQ(*scenario.serving->devices, 16);
  EXPECT_TRUE(Report({"model=deepseek-v3"})["serving"]["feasible"].get<bool>());
  EXPECT_EQ(*Of({"model=deepseek-v3", "cluster=dgx-h100"}).serving->devices, 8);  // the whole cluster
  EXPECT_EQ(*Of({"model=deepseek-v3", "serving.devices=8"}).serving->devices, 8);
}

TEST(LegalDefaults, IllegalWrittenValuesStayAndAreIssues) {
  EXPECT_EQ(IssuePaths({"model=llama-3.1-8b", "training.mapping.tp=7"}).back(), "training.mapping.tp");
  EXPECT_EQ(IssuePaths({"cluster=single-rtx-4090", "serving.devices=8"}), std::vector<std::string>{"serving.devices"});
  EXPECT_EQ(IssuePaths({"cluster=single-rtx-4090", "serving.mapping.tp=8"}).size(), 1u);
  // A written part stays unchanged.
  const Result<Scenario> scenario = ParseScenario(*ReadRequest(
      R"({"cluster": {"preset": "single-rtx-4090"}, "training": null, "serving": {"devices": 8, "mapping": {"tp": 8}}})",
      {}));
  EXPECT_FALSE(scenario);
}

TEST(LegalDefaults, ARequestWithoutAWrittenListCountsAsWritten) {
  Json request = DefaultRequest(1);
  request["cluster"] = Json{{"preset", "single-rtx-4090"}};
  EXPECT_FALSE(ParseScenario(request));
  EXPECT_FALSE(ParseScenario(*CompleteRequest(request)));
  request["written"] = Json::array({"cluster"});
  EXPECT_TRUE(ParseScenario(request));
}

// The report states the chosen values; as a request they give the same figures.
TEST(LegalDefaults, TheReportsScenarioGivesTheSameFigures) {
  for (const std::vector<std::string>& assignments : {std::vector<std::string>{"model=gpt3-175b"},
                                                      {"cluster=single-h200-sxm"},
                                                      {"cluster=gb200-nvl72"},
                                                      {"model=deepseek-v3"}}) {
    const Json report = Report(assignments);
    const Json again = *ParseJson(EvaluateAnswer(JsonText(report["scenario"]), {}, "", false).text);
    for (const char* part : {"training", "serving"})
      EXPECT_EQ(JsonText(again[part]), JsonText(report[part])) << assignments[0];
  }
}

TEST(LegalDefaults, ASearchUsesTheDevicesOfItsAnswer) {
  for (const std::vector<std::string>& assignments :
       {std::vector<std::string>{"cluster=single-h200-sxm", "model=llama-3.1-8b"},
        {"model=deepseek-v3"},
        {"cluster=gb200-nvl72"}}) {
    const Json request = *ReadRequest(R"({"version": 1})", assignments);
    SearchSpec spec;
    spec.part = "serving";
    spec.top = 3;
    spec.limits = {"batch<=32", "prefill_devices=0"};
    const Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(request, spec);
    ASSERT_TRUE(job) << assignments[0] << job.issues[0].path << job.issues[0].message;
    while ((*job)->Step(1000)) {
    }
    const Json found = (*job)->Report();
    ASSERT_FALSE(found["best"].empty()) << assignments[0];
    for (const Json& entry : found["best"]) {
      std::vector<Assignment> overrides;
      for (const auto& [path, value] : entry["overrides"].items()) overrides.push_back({path, value});
      Json one = request;
      Apply(one, overrides);
      const Json report = *ParseJson(EvaluateAnswer(JsonText(one), {}, "", false).text);
      ASSERT_FALSE(report.contains("issues")) << JsonText(report);
      EXPECT_NEAR(
          entry["tokens_per_s_per_device"].get<double>() / report["serving"]["tokens_per_s_per_device"].get<double>(),
          1, 1e-12);
    }
  }
}

// Every model on every cluster is sampled both ways: all clusters with four models, all models on five clusters.
TEST(LegalDefaults, EveryModelAnswersOnEveryCluster) {
  std::vector<std::string> models, clusters;
  for (const Json& entry : PresetCatalogue("model")) models.push_back(entry["id"].get<std::string>());
  for (const Json& entry : PresetCatalogue("cluster")) clusters.push_back(entry["id"].get<std::string>());
  for (const std::string& model : models) {
    for (const std::string& cluster : clusters) {
      const bool is_model =
          model == "gpt2-xl" || model == "gpt3-175b" || model == "llama-3.1-8b" || model == "deepseek-v3";
      const bool is_cluster = cluster == "single-t4" || cluster == "single-m2-ultra" || cluster == "dgx-h100" ||
                              cluster == "gb200-nvl72" || cluster == "tpu-v4-pod";
      if (!is_model && !is_cluster) continue;
      const Result<Scenario> scenario = ParseScenario(*CompleteRequest(
          Json{{"version", 1}, {"model", Json{{"preset", model}}}, {"cluster", Json{{"preset", cluster}}}}));
      EXPECT_TRUE(scenario) << model << " on " << cluster << ": " << scenario.issues[0].path << ": "
                            << scenario.issues[0].message;
    }
  }
}

}  // namespace
}  // namespace slipstick
