// Weights, gradients and optimizer states, and the micro-batches that pipeline schedules hold.
#include "core/training/memory.h"

#include <algorithm>
#include <array>

#include "core/training/schedule.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

// Megatron-Core trains the model's MTP modules; torchtitan and transformers leave them out. Adapters are only on
// layers, and a run may state its number of modules.
TEST(MtpModules, AreThoseThatTheFrameworkTrains) {
  const auto trained = [](const std::string& rest) {
    const Scenario scenario = TrainingScenario(R"({"preset": "qwen3.5-4b"})", R"({"preset": "dgx-h100", "devices": 8})",
                                               R"({"sequence": 4096, "global_batch": 8)" + rest + "}");
    return static_cast<double>(MtpModules(scenario.model, *scenario.training));
  };
  EXPECT_EQ(trained(R"(, "framework": {"preset": "megatron"})"), 1);
  EXPECT_EQ(trained(R"(, "framework": {"preset": "megatron"}, "trainable": "lora")"), 0);
  EXPECT_EQ(trained(R"(, "framework": {"preset": "megatron"}, "mtp_modules": 0)"), 0);
  EXPECT_EQ(trained(R"(, "framework": {"preset": "fsdp"})"), 0);
  EXPECT_EQ(trained(R"(, "framework": {"preset": "fsdp"}, "mtp_modules": 1)"), 1);
}

// KempnerForge trains Llama-3.1-70B on 160 H200 at TP 4 with four micro-batches a step, between which FSDP2 keeps whole
// fp32 gradients (set_requires_gradient_sync): 4 bytes for each of 70.55 billion weights / 4. It peaks at 82.9 GB
// (benchmarks/weak_scaling_160gpu/README.md). With one micro-batch, the 40 data-parallel ranks share them.
TEST(TrainingMemory, OfGradientsThatAreReducedOncePerStepIsThatOfWholeGradients) {
  const auto memory = [](int batch, const char* once, int zero) {
    return Evaluated(TrainingScenario(
                         R"({"preset": "llama-3.1-70b"})", R"({"preset": "dgx-h200", "devices": 160})",
                         R"({"sequence": 4096, "precision": "bf16", "recompute": "full", "global_batch": )" +
                             std::to_string(batch) +
                             R"(, "framework": {"preset": "fsdp", "exchange": {"reduces_once": )" + once +
                             R"(}}, "mapping": {"tp": 4, "micro_batch": 2, "sequence_parallel": true,
                                             "zero": )" +
                             std::to_string(zero) +
                             R"(}, "state": {"master_weights": "none", "moments": "bf16", "gradients": "fp32"}})"))
        .memory;
  };
  const auto gradients = [&memory](int batch, const char* once, int zero) {
    return memory(batch, once, zero).gradients.base() / 1e9;
  };
  for (const int zero : {2, 3}) EXPECT_NEAR(gradients(320, "true", zero), 70.55, 0.02);
  EXPECT_NEAR(gradients(320, "false", 3), 70.55 / 40, 0.001);
  EXPECT_NEAR(gradients(80, "true", 3), 70.55 / 40, 0.001);
  EXPECT_NEAR(memory(320, "true", 3).Total().base() / 82.9e9, 1, 0.05);
}

// Megatron-LM reduces fp32 gradients in fp8 as in bf16 unless --grad-reduce-in-bf16 is set (megatron/training/arguments.py),
// so the format is an assumption until the run states it. torchtitan has fp32 in both.
TEST(TrainingMemory, OfGradientsInAnEightBitRecipeRestsOnAnAssumedFormat) {
  const auto assumes = [](const char* framework, const char* more) {
    const Scenario scenario =
        TrainingScenario(R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 64})",
                         R"({"sequence": 4096, "global_batch": 64, "mapping": {"tp": 1, "pp": 1},
                                                   "framework": {"preset": ")" +
                             std::string(framework) + R"("})" + more + "}");
    const std::vector<std::string> assumed =
        EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {true, false}).assumed;
    return std::find(assumed.begin(), assumed.end(), "training.state.gradients") != assumed.end();
  };
  EXPECT_TRUE(assumes("megatron", R"(, "precision": "fp8")"));
  EXPECT_FALSE(assumes("megatron", R"(, "precision": "bf16")"));
  EXPECT_FALSE(assumes("megatron", R"(, "precision": "fp8", "state": {"gradients": "bf16"})"));
  EXPECT_FALSE(assumes("fsdp", R"(, "precision": "fp8")"));
}

// Llama-2-7B, 4,194,304 tokens over 64 ranks: keys and values of all tokens of a layer are 32 heads x 128 elements x 2 of
// 2 bytes each, and as much again for their gradients until they are reduced. Keys and values on a ring are never whole.
TEST(ContextParallelism, AnAllGatherHoldsTheKeysAndValuesOfAllRanks) {
  const auto activations = [](const std::string& kind) {
    const Scenario scenario = TrainingScenario(
        R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-h100", "devices": 64})",
        R"({"sequence": 4194304, "global_batch": 1, "framework": {"preset": "fsdp"}, "recompute": "full",
            "mapping": {"cp": 64, "zero": 3, "cp_kind": ")" +
            kind + R"("}})");
    return In(Evaluated(scenario).memory.activations, kB);
  };
  EXPECT_NEAR(activations("all_gather") - activations("ring"), 2 * 4194304.0 * 32 * 128 * 2 * 2, 1);
}

// Llama 3 405B (Grattafiori et al. 2024, 3.3.2): 126 layers on 16 x 8 virtual stages of one layer each; the first holds
// only the embedding, the last only the head. It trained on 80 GB at 8,192 tokens without recomputation, with gradients
// and optimizer sharded over 64 ranks.
TEST(Placement, CountsEmbeddingAndHeadAsLayersWhereThatMakesTheStagesEqual) {
  Scenario scenario =
      TrainingScenario(R"({"preset": "llama-3.1-405b"})", R"({"preset": "dgx-h100", "devices": 8192})",
                       R"({"sequence": 8192, "global_batch": 2048, "framework": {"preset": "megatron"}, "mapping": {
                                           "tp": 8, "pp": 16, "virtual_stages": 8, "zero": 2, "sequence_parallel": true}})");
  const std::vector<Stage> stages = StagesOf(scenario);
  for (std::size_t i = 0; i < stages.size(); ++i) EXPECT_EQ(stages[i].layers.Total(), i == 0 || i == 15 ? 7 : 8) << i;
  EXPECT_TRUE(Evaluated(scenario).infeasible.empty());
  scenario.training->framework.ends_as_layers = false;
  EXPECT_EQ(StagesOf(scenario)[0].layers.Total(), 8);
  EXPECT_FALSE(Evaluated(scenario).infeasible.empty());
}

// Llama-2-70B fine-tuned in fp8 on 16 H100 at TP 4 and PP 4 had one data-parallel rank, so nothing was sharded
// (NVIDIA's performance summary of NeMo 24.07). The optimizer keeps two fp32 moments, and of the fp32 weights the 16
// bits that bf16 lacks: 2 · 4 + 2 bytes.
TEST(States, InEightBitRecipesKeepOnlyTheRestOfTheMasterWeights) {
  const TrainingReport report = Evaluated(TrainingScenario(
      R"({"preset": "llama-2-70b"})", R"({"preset": "dgx-h100", "devices": 16})",
      R"({"sequence": 4096, "global_batch": 32, "precision": "fp8", "framework": {"preset": "megatron"}, "recompute": "none",
          "mapping": {"tp": 4, "pp": 4, "zero": 1, "sequence_parallel": true}})"));
  const double parameters = report.memory.weights / (2 * kB);
  EXPECT_DOUBLE_EQ(report.memory.gradients / (2 * kB), parameters);
  EXPECT_NEAR(In(report.memory.optimizer - 0.095 * kGiB, kB), 10 * parameters, 1);
  EXPECT_TRUE(report.infeasible.empty());
}

// Llama-2-7B under FSDP: fp32 weights, gradients and two moments, 16 bytes per parameter, sharded.
TEST(States, OfZero3AreShardedOverAllDataRanks) {
  for (const int devices : {8, 64}) {
    const Scenario scenario = TrainingScenario(
        R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-h100", "devices": )" + std::to_string(devices) + "}",
        R"({"sequence": 4096, "global_batch": )" + std::to_string(devices) +
            R"(, "framework": {"preset": "fsdp", "memory": {"fixed_static": "0 GiB"}},
                                                       "mapping": {"zero": 3}})");
    const TrainingReport report = Evaluated(scenario);
    const double expected = 16 * 6738415616.0 / devices;
    EXPECT_NEAR(In(report.memory.weights + report.memory.gradients + report.memory.optimizer, kB), expected,
                1e-6 * expected)
        << devices;
  }
}

TEST(States, DivideExpertsByTheirOwnGroups) {
  const Scenario scenario = TrainingScenario(
      R"({"preset": "mixtral-8x7b"})", R"({"preset": "dgx-h100", "devices": 64})",
      R"({"sequence": 4096, "global_batch": 64, "precision": "bf16", "framework": {"preset": "megatron"},
                           "mapping": {"tp": 2, "ep": 8, "expert_tp": 1, "zero": 1, "sequence_parallel": true}})");
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  const LayerWork work =
      WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {FeedForward::kExperts});
  EXPECT_EQ(work.weights.experts, 3.0 * 4096 * 14336);  // one of eight experts, not split over tp
  EXPECT_EQ(context.shape.ExpertDataRanks(), 8);
}

TEST(InFlight, IsWhatEachScheduleHolds) {
  PipelineDegrees pipeline;
  pipeline.stages = 8, pipeline.micro_batches = 64;
  EXPECT_EQ(PassesInFlight(pipeline, PipelineSchedule::kOneFOneB, 0), 8);
  EXPECT_EQ(PassesInFlight(pipeline, PipelineSchedule::kOneFOneB, 7), 1);
  EXPECT_EQ(PassesInFlight(pipeline, PipelineSchedule::kGpipe, 3), 64);
  EXPECT_EQ(PassesInFlight(pipeline, PipelineSchedule::kZbH1, 7), 8);
  pipeline.chunks = 3;
  EXPECT_DOUBLE_EQ(PassesInFlight(pipeline, PipelineSchedule::kOneFOneB, 0), 8 * (1 + 7.0 / 24));  // p(1 + (p-1)/(pv))
  pipeline.micro_batches = 8;
  EXPECT_DOUBLE_EQ(PassesInFlight(pipeline, PipelineSchedule::kOneFOneB, 0), 8);  // all micro-batches
}

// DeepSeek-V3 technical report, table 2: p + 1 micro-batches, and the weights of two stages. Counted in the simulated
// schedule: a device holds p - i micro-batches of the half that it serves as stage i, and i + 1 of the half that it
// serves as stage p - 1 - i.
TEST(InFlight, UnderDualPipeIsOfBothEnds) {
  const Count p = 8, m = 48;
  PipelineDegrees pipeline;
  pipeline.stages = p, pipeline.micro_batches = m;
  const StagePass pass{1 * kS, 1 * kS, 1 * kS};
  const std::vector<ScheduledPass> passes =
      Timeline({PipelineSchedule::kDualPipe, p, 1, m}, std::vector<StagePass>(8, pass));
  for (Count device = 0; device < p; ++device) {
    std::array<double, 2> held{}, most{};
    for (const ScheduledPass& one : passes) {
      if (one.stage != device) continue;
      const std::size_t mirrored = one.micro_batch < m / 2 ? 0 : 1;
      if (one.kind == "forward") most[mirrored] = std::max(most[mirrored], ++held[mirrored]);
      if (one.kind == "backward") --held[mirrored];
    }
    const double stage = static_cast<double>(device), other = static_cast<double>(p - 1 - device);
    EXPECT_EQ(PassesInFlight(pipeline, PipelineSchedule::kDualPipe, stage), p - stage);
    EXPECT_NEAR(most[0], PassesInFlight(pipeline, PipelineSchedule::kDualPipe, stage), 1) << device;
    EXPECT_NEAR(most[1], PassesInFlight(pipeline, PipelineSchedule::kDualPipe, other), 1) << device;
  }
}

// Six layers on four stages, where embedding and head count as a layer each: 1, 2, 2, 1. Under DualPipe the first
// device holds stages 0 and 3, with the embedding of one and the head of the other: 2 layers of 12h² + 13h and both
// tables, not twice the first stage. A middle device holds 4 layers and no table.
TEST(States, UnderDualPipeAreOfTheStageAndItsMirror) {
  Scenario scenario = TrainingScenario(
      R"({"layers": 6, "hidden": 1024, "heads": 16, "ffn": 4096, "vocab": 51200, "gated": false, "norm": "layer",
                                           "biases": "all", "position": "alibi", "tied_embeddings": false})",
      R"({"preset": "dgx-h100", "devices": 4})",
      R"({"sequence": 2048, "global_batch": 16, "framework": {"preset": "megatron"},
                                           "mapping": {"pp": 4, "schedule": "dualpipe"}})");
  const TrainingReport report = Evaluated(scenario);
  const TrainingReport all = EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {.advice = true});
  const double h = 1024, layer = 12 * h * h + 13 * h, table = 51200 * h;
  for (const std::size_t end : {std::size_t{0}, std::size_t{3}}) {
    EXPECT_DOUBLE_EQ(In(all.stages[end].memory.weights, kB), 2 * (2 * layer + 2 * table + 2 * h)) << end;
  }
  for (const std::size_t middle : {std::size_t{1}, std::size_t{2}}) {
    EXPECT_DOUBLE_EQ(In(all.stages[middle].memory.weights, kB), 2 * 4 * layer) << middle;
  }
  // p + 1 micro-batches: of one layer at the ends, of two in the middle.
  const Bytes one = (all.stages[1].memory.activations) / 10;
  EXPECT_GT(all.stages[0].memory.activations, 5 * one);
  EXPECT_EQ(report.memory.Total(), all.memory.Total());
}

// PyTorch keeps gradients and optimizer state in the format of its weights: with AdamW, 16-bit weights without fp32
// masters take 8 bytes per parameter and fp32 weights 16, stated or not. Under ZeRO 2 each rank holds all weights in 16
// bits and its share of the fp32 weights, gradients and moments: 2 + 16 / 8 bytes on eight devices (Rajbhandari et al.
// 2020, table 1, with fp32 gradients). Library workspaces are not included.
TEST(TrainingMemory, OfWeightsThatTheOptimizerUpdates) {
  const auto state_bytes = [](const char* state, const char* mapping, int devices) {
    const TrainingReport report = Evaluated(TrainingScenario(
        R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-a100", "devices": )" + std::to_string(devices) + "}",
        R"({"sequence": 512, "global_batch": 8, "framework": {"preset": "fsdp", "memory": {"fixed_static": "0 GiB"}},
            "mapping": )" +
            std::string(mapping) + state + "}"));
    return (report.memory.weights + report.memory.gradients + report.memory.optimizer).base() / 6738415616;
  };
  EXPECT_NEAR(state_bytes("", "{}", 1), 16, 1e-9);
  EXPECT_NEAR(state_bytes(R"(, "state": {"master_weights": "fp32"})", "{}", 1), 16, 1e-9);
  EXPECT_NEAR(state_bytes(R"(, "state": {"master_weights": "none"})", "{}", 1), 8, 1e-9);
  EXPECT_NEAR(state_bytes(R"(, "state": {"master_weights": "bf16", "moments": "fp32"})", "{}", 1), 12, 1e-9);
  EXPECT_NEAR(state_bytes("", R"({"zero": 2})", 8), 2 + 16 / 8., 1e-9);
  EXPECT_NEAR(state_bytes(R"(, "state": {"master_weights": "none"})", R"({"zero": 2})", 8), 2 + 6 / 8., 1e-9);
  EXPECT_NEAR(state_bytes("", R"({"zero": 3})", 8), 16 / 8., 1e-9);
}

}  // namespace
}  // namespace slipstick
