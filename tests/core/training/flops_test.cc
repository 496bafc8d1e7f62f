#include "core/training_stage/flops.h"

#include "core/catalogue/presets.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

StepFlops FlopsOf(const std::string& model, int devices, const std::string& training) {
  const Scenario scenario =
      TrainingScenario(model, R"({"preset": "dgx-a100", "devices": )" + std::to_string(devices) + "}", training);
  return CountFlops(scenario.model, *scenario.training,
                    ChoiceFor(scenario.model, *scenario.training, StagesOf(scenario)));
}

// Korthikanti et al. 2022, appendix A, by hand: 72·B·L·s·h²(1 + s/6h + V/12hL), 96·…, and the selective form as
// printed.
TEST(Flops, AreKorthikantisForGpt) {
  struct Row {
    const char* name;
    int layers, hidden, heads, batch;
    double model, full, selective;
  };
  for (const Row& row : {Row{"22B", 48, 6144, 64, 4, 1.143561e15, 1.519594e15, 1.202934e15},
                         Row{"175B", 96, 12288, 96, 64, 1.410915e17, 1.879571e17, 1.448914e17},
                         Row{"530B", 105, 20480, 128, 280, 1.852230e18, 2.468438e18, 1.882536e18},
                         Row{"1T", 128, 25600, 160, 512, 6.425876e18, 8.565086e18, 6.510318e18}}) {
    const auto of = [&](const char* recompute) {
      return FlopsOf(
          Gpt(row.layers, row.hidden, row.heads), 1,
          R"({"sequence": 2048, "global_batch": )" + std::to_string(row.batch) +
              R"(, "precision": "fp16", "flash_attention": false, "framework": {"preset": "megatron-2022"}, "recompute": ")" +
              recompute + R"("})");
    };
    EXPECT_NEAR(of("none").model.base(), row.model, 1e-6 * row.model) << row.name;
    EXPECT_EQ(of("none").hardware, of("none").model);
    EXPECT_NEAR(of("full").hardware.base(), row.full, 1e-6 * row.full) << row.name;
    EXPECT_NEAR(of("selective").hardware.base(), row.selective, 1e-6 * row.selective) << row.name;
  }
}

// By hand for 4,096 tokens: 6(Pm + hV) and 12·L·a·d·s per token.
TEST(Flops, OfModernModelsAreSixPerWeightPlusUnmaskedAttention) {
  struct Row {
    const char* preset;
    double linear, core;
  };
  for (const Row& row : {Row{"llama-2-7b", 39642464256, 6442450944}, Row{"llama-2-70b", 412279111680, 32212254720},
                         Row{"llama-3.1-8b", 45027950592, 6442450944}}) {
    const StepFlops flops = FlopsOf(R"({"preset": ")" + std::string(row.preset) + R"("})", 8,
                                    R"({"sequence": 4096, "global_batch": 8, "framework": {"preset": "megatron"}})");
    EXPECT_DOUBLE_EQ(flops.model.base() / (8 * 4096), row.linear + row.core) << row.preset;
  }
}

// The adapters of the model are those of the layers on its stages.
TEST(Flops, OfAdaptersAreThoseOfTheStages) {
  int models = 0;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "model") continue;
    for (const std::string targets : {"attention", "all"}) {
      const std::string pp = FindPreset("model", preset.id)->contains("kv_shared_layers") ? "1" : "2";
      const Result<Scenario> scenario = ParseScenario(*ParseJson(
          R"({"version": 1, "model": ")" + std::string(preset.id) +
          R"(", "cluster": {"preset": "dgx-h100", "devices": 8}, "serving": null, "cost": null, "training": {"sequence": 4096,
              "global_batch": 8, "trainable": "lora", "framework": {"preset": "megatron", "lora_targets": ")" +
          targets + R"("}, "mapping": {"pp": )" + pp + "}}}"));
      if (!scenario) continue;
      ++models;
      double adapters = 0;
      for (const Stage& stage : StagesOf(*scenario)) adapters += stage.weights.adapters;
      EXPECT_NEAR(AdapterParameters(scenario->model, scenario->training->framework) / adapters, 1, 1e-12)
          << preset.id << " " << targets;
    }
  }
  EXPECT_GT(models, 300);
}

TEST(Flops, OfLoraAreFourPerFrozenWeight) {
  const StepFlops flops = FlopsOf(R"({"preset": "llama-2-7b"})", 8,
                                  R"({"sequence": 4096, "global_batch": 8, "trainable": "lora",
                                      "framework": {"preset": "megatron", "lora_rank": 16}})");
  // Rank 16 on q, k, v (one GEMM here) and the output: 16·32·(4096 + 12288 + 8192) adapters.
  const double adapters = 16.0 * 32 * (4096 + 12288 + 8192);
  EXPECT_DOUBLE_EQ(flops.model.base() / (8 * 4096), 39642464256.0 * 4 / 6 + 6442450944 + 6 * adapters);
}

// Under a causal mask a token attends to half of the sequence on average; with a window of w in s tokens to w - w²/2s,
// here 2048 - 512. The core takes 12·L·a·d per token and key.
TEST(Flops, OfCausalAttentionCountTheTokensBefore) {
  struct Row {
    const char* model;
    double full, causal;  // keys per token
  };
  constexpr double linear = 45027950592, key = 12.0 * 32 * 4096;
  for (const Row& row : {Row{R"({"preset": "llama-3.1-8b"})", 4096, 2048},
                         Row{R"({"preset": "llama-3.1-8b", "sliding_window": 2048})", 2048, 1536}}) {
    const std::string training = R"({"sequence": 4096, "global_batch": 8, "framework": {"preset": "megatron"}})";
    const StepFlops flops = FlopsOf(row.model, 8, training);
    EXPECT_DOUBLE_EQ(flops.model.base() / (8 * 4096), linear + key * row.full) << row.model;
    EXPECT_DOUBLE_EQ(flops.model_causal.base() / (8 * 4096), linear + key * row.causal) << row.model;

    const TrainingReport report =
        Evaluated(TrainingScenario(row.model, R"({"preset": "dgx-a100", "devices": 8})", training));
    const double peak = 8 * 312e12 * report.step_time.base();
    EXPECT_DOUBLE_EQ(report.model_flops_utilization, flops.model.base() / peak) << row.model;
    EXPECT_DOUBLE_EQ(report.model_flops_utilization_causal, flops.model_causal.base() / peak) << row.model;
  }
}

// Gemma 4 31B at 4,096 tokens: 10 layers have 32 heads of 512 over all tokens, 50 layers heads of 256 over a window of
// 1,024.
TEST(Flops, OfLocalLayersHaveTheirOwnHeads) {
  const StepFlops flops = FlopsOf(R"({"preset": "gemma-4-31b"})", 8,
                                  R"({"sequence": 4096, "global_batch": 8, "framework": {"preset": "megatron"}})");
  const double local = 5376.0 * (32 + 16 + 16) * 256 + 32 * 256 * 5376.0,
               full = 5376.0 * (32 + 4) * 512 + 32 * 512 * 5376.0;
  const double linear = 6 * (10 * full + 50 * local + 60 * 3 * 5376.0 * 21504 + 262144 * 5376.0);
  const double core = 12 * (10 * 32 * 512.0 * 4096 + 50 * 32 * 256.0 * 1024);
  EXPECT_NEAR(flops.model.base() / (8 * 4096), linear + core, 1);
}

// Gemma 4 E2B at 4,096 tokens: 7 layers have 8 heads of 512 over all tokens, 28 layers heads of 256 over a window of
// 512. 15 layers project keys and values; the MLP of the other 20 is twice as wide; each layer's embedding has three
// projections of 256.
TEST(Flops, OfSharedKeysAreProjectedOnce) {
  const StepFlops flops = FlopsOf(R"({"preset": "gemma-4-e2b"})", 8,
                                  R"({"sequence": 4096, "global_batch": 8, "framework": {"preset": "megatron"}})");
  const double queries = 28 * 2 * 8 * 256 * 1536.0 + 7 * 2 * 8 * 512 * 1536.0,
               keys = 12 * 2 * 256 * 1536.0 + 3 * 2 * 512 * 1536.0;
  const double mlps = 3 * 1536.0 * (15 * 6144 + 20 * 12288), embedded = 35 * 3 * 1536.0 * 256;
  const double core = 12 * (7 * 8 * 512.0 * 4096 + 28 * 8 * 256.0 * 512);
  EXPECT_NEAR(flops.model.base() / (8 * 4096), 6 * (queries + keys + mlps + embedded + 262144 * 1536.0) + core, 1);
}

TEST(Flops, OfExpertsCountThoseATokenVisits) {
  const StepFlops flops = FlopsOf(R"({"preset": "mixtral-8x7b"})", 8,
                                  R"({"sequence": 4096, "global_batch": 8, "framework": {"preset": "megatron"}})");
  const double attention = 2.0 * 4096 * 4096 + 2 * 4096.0 * 1024, experts = 2 * 3 * 4096.0 * 14336, router = 4096 * 8;
  const double linear = 6 * (32 * (attention + experts + router) + 4096.0 * 32000);
  EXPECT_NEAR(flops.model.base() / (8 * 4096), linear + 12.0 * 32 * 4096 * 4096, 1);
}

}  // namespace
}  // namespace slipstick
