// Every model of the catalog trains with all of its layers; its stages lose none.
#include "core/catalogue/presets.h"
#include "core/training/memory.h"
#include "core/training_stage/attention_core.h"
#include "core/training_stage/context.h"
#include "tests/core/preset.h"
#include "tests/core/training/scenarios.h"
#include "tests/support/explained.h"

namespace slipstick {
namespace {

Scenario OnNode(const std::string& model, const std::string& training) {
  return TrainingScenario(R"({"preset": ")" + model + "\"}", R"({"preset": "dgx-h100", "devices": 8})", training);
}

constexpr const char* kOneStage =
    R"({"sequence": 8192, "global_batch": 8, "recompute": "full", "framework": {"preset": "megatron"}, "mapping": {"pp": 1}})";
constexpr const char* kTwoStages =
    R"({"sequence": 8192, "global_batch": 8, "recompute": "full", "framework": {"preset": "megatron"}, "mapping": {"pp": 2}})";

TEST(Families, StagesHoldEveryLayer) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "model") continue;
    const std::string model(preset.id);
    Issues issues;
    const bool on_one = FromPreset<Model>(preset.id, issues).MostStages() == 1;  // layers that share a KV cache
    const Scenario scenario = OnNode(model, on_one ? kOneStage : kTwoStages);
    const TrainingReport report = EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {});
    Count layers = 0;
    for (const TrainingStage& stage : report.stages) layers += stage.layers;
    EXPECT_EQ(layers, scenario.model.layers) << model;
  }
}

TEST(Families, LayersAreCountedByKind) {
  // Qwen3-Next has attention in every fourth of 48 layers and experts in all; Jamba attention in every eighth of 32 and
  // experts in every second; DeepSeek-V3's first three of 61 are dense; every second of gpt-oss's 36 has a window.
  struct Expected {
    const char* model;
    double dense, experts, window, window_experts, recurrent, recurrent_experts;
  };
  for (const Expected& expected :
       {Expected{"qwen3-next-80b-a3b", 0, 12, 0, 0, 0, 36}, Expected{"jamba-v0.1", 0, 4, 0, 0, 16, 12},
        Expected{"deepseek-v3", 3, 58, 0, 0, 0, 0}, Expected{"gpt-oss-120b", 0, 18, 0, 18, 0, 0},
        Expected{"nemotron-h-8b", 4, 0, 0, 0, 24, 0}, Expected{"llama-3.1-8b", 32, 0, 0, 0, 0, 0}}) {
    const Scenario scenario = OnNode(expected.model, kTwoStages);
    const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
    const KindCounts counts = CountKinds(context, {scenario.model.layers}).front();
    EXPECT_EQ((counts.of[{FeedForward::kDense, Mixer::kFullAttention}]), expected.dense) << expected.model;
    EXPECT_EQ((counts.of[{FeedForward::kExperts, Mixer::kFullAttention}]), expected.experts) << expected.model;
    EXPECT_EQ((counts.of[{FeedForward::kDense, Mixer::kWindow}]), expected.window) << expected.model;
    EXPECT_EQ((counts.of[{FeedForward::kExperts, Mixer::kWindow}]), expected.window_experts) << expected.model;
    EXPECT_EQ((counts.of[{FeedForward::kDense, Mixer::kRecurrence}]), expected.recurrent) << expected.model;
    EXPECT_EQ((counts.of[{FeedForward::kExperts, Mixer::kRecurrence}]), expected.recurrent_experts) << expected.model;
  }
}

// Under full recomputation a layer keeps its input: 2 bytes x 8192 tokens x 4096. The last of two stages holds 14 of
// them for one micro-batch, 0.94 GB. With these the run does not fit; without twelve of them it would.
TEST(Families, CheckpointsOfRecurrentLayersCount) {
  const Scenario scenario = OnNode("nemotron-h-8b", kTwoStages);
  Tape tape;
  const TrainingContext context = ContextWithNodes(scenario.model, scenario.cluster, *scenario.training, tape);
  const LayerWorks works = WorksOf(context);
  const StagePlan plan = PlanLayers(context, works);
  const RecomputeChoice recompute = ChoiceFor(scenario.model, *scenario.training, plan.stages);
  double in_flight = 0;
  for (const FigureRecord& figure : FiguresOf(StageMemory({context, works}, plan.stages, 1, recompute).activations)) {
    if (figure.symbol == "layer_activations_in_flight") in_flight = figure.value;
  }
  EXPECT_DOUBLE_EQ(in_flight, 14 * 2.0 * 8192 * 4096);

  const TrainingReport report = Evaluated(scenario);
  ASSERT_EQ(report.infeasible.size(), 1u);
  EXPECT_EQ(report.infeasible.front().reason, "memory");
  EXPECT_LT(report.memory.Total() - Bytes::FromBase(12 * 2.0 * 8192 * 4096), report.memory.capacity);
}

// Two layers at a time are gathered in 16 bits. Jamba's largest has a recurrence that is larger than attention's four
// matrices: 4096 x 16384 in, 8192 x 4096 out, and from its 8192 channels steps of rank 256, two states of 16 and the
// way back. It also has 16 experts of three matrices of 4096 x 14336, a router and two norms.
TEST(Families, WorkspaceGathersTheLargestLayersWhole) {
  const Scenario scenario = OnNode(
      "jamba-v0.1",
      R"({"sequence": 4096, "global_batch": 8, "framework": {"preset": "megatron"}, "mapping": {"tp": 1, "zero": 3}})");
  const double experts = 16 * 3.0 * 4096 * 14336, router = 4096 * 16, norms = 2 * 4096;
  const double recurrence = 4096.0 * 2 * 8192 + 8192.0 * 4096 + 8192.0 * (256 + 2 * 16) + 256.0 * 8192;
  const double small = 8192.0 * (4 + 1 + 1 + 16 + 1) + 256 + 2 * 16;
  const double largest = recurrence + small + experts + router + norms;
  const TrainingReport report = Evaluated(scenario);
  EXPECT_NEAR(report.memory.workspace.base(), 1.5 * kGiB.factor + 2 * 2 * largest, 1);
}

// A recurrence has no scores: flash attention changes neither its time nor its activations, except for the dropout
// masks, 2 bytes per element of the residual stream.
TEST(Families, RecurrencesKeepNoScores) {
  const auto layer = [](bool fused) {
    Scenario scenario = OnNode("nemotron-h-8b", kTwoStages);
    scenario.training->flash_attention = fused;
    const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
    const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(),
                                  {FeedForward::kDense, Mixer::kRecurrence});
    return std::pair{TimeCore(context, work.attention).forward.time, LayerActivations(context, work, {})};
  };
  const auto [fused_time, fused_kept] = layer(true);
  const auto [unfused_time, unfused_kept] = layer(false);
  EXPECT_EQ(fused_time, unfused_time);
  EXPECT_LE(unfused_kept - fused_kept, 2 * 8192 * 4096 * kB);
}

// Bytes per token of a layer of Nemotron 3 Nano: residual stream of 2688; experts and shared expert have one input
// matrix.
struct NanoLayer {
  LayerKind kind;
  RecomputePlan plan;
};
double NanoBytes(const NanoLayer& layer) {
  const Scenario scenario =
      OnNode("nemotron-3-nano-30b-a3b", R"({"sequence": 8192, "global_batch": 8, "framework": {"preset": "megatron",
             "experts": {"imbalance": 1}}, "mapping": {"ep": 8}})");
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(), layer.kind);
  return LayerActivations(context, work, layer.plan).base() / context.shape.tokens;
}

// Experts with squared ReLU keep its input and its output in 16 bits. Megatron-Bridge measured 4.194 GB less where 23
// layers recompute it for 8,192 tokens and six experts each: 23 * 8192 * 6 * 1856 * 2 bytes.
TEST(Families, ExpertsWithoutAGateKeepNone) {
  constexpr LayerKind kExperts{FeedForward::kExperts, Mixer::kFullAttention};
  const double attention = 2 * (32 + 2) * 256 + 4 * 32, shared = 4 * 3712, rows = 6 * (2 * 2688 + 4 * 1856);
  EXPECT_DOUBLE_EQ(NanoBytes({kExperts, {}}), 8 * 2688 + attention + shared + rows);
  const double repeated = NanoBytes({kExperts, {}}) - NanoBytes({kExperts, {.norms = 1}});
  EXPECT_DOUBLE_EQ(repeated, 4 * 2688 + 2 * 3712 + 6 * 2 * 1856);
  EXPECT_NEAR(23 * 8192 * 6 * 2 * 1856.0, 4.194e9, 4e6);
}

// Megatron-Core's Mamba-2 keeps its input projection, 2 * 4096 + 2 * 8 * 128 + 64 columns, and three outputs of 4096:
// before the gate, gated, and normalized. The gated delta rule keeps 8192 convolved columns, keys and queries of 16
// heads and their repetition for 32 heads, values and their gate, and three outputs of 4096.
TEST(Families, RecurrencesKeepTheTensorsThatTheirKernelsSave) {
  constexpr LayerKind kMixer{FeedForward::kDense, Mixer::kRecurrence};
  EXPECT_DOUBLE_EQ(NanoBytes({kMixer, {}}), 4 * 2688 + 2 * (10304 + 3 * 4096) + 4 * 64);
  for (const int tp : {1, 2}) {
    const Scenario scenario =
        OnNode("qwen3-next-80b-a3b",
               R"({"sequence": 4096, "global_batch": 8, "mapping": {"tp": )" + std::to_string(tp) + R"(, "ep": 8}})");
    const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
    const auto bytes = [&](Mixer mixer) {
      const LayerWork work =
          WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {FeedForward::kExperts, mixer});
      return LayerActivations(context, work, {}).base() / context.shape.tokens * tp;
    };
    // Queries, outputs, their gate and the gated outputs have 16 heads of 256; keys and values have two. Queries and
    // keys are also kept before their norms.
    const double attention = 4 * 4096 + 2 * 512 + 4096 + 512, recurrence = 8192 + 4096 + 8192 + 5 * 4096;
    EXPECT_DOUBLE_EQ(bytes(Mixer::kRecurrence) - bytes(Mixer::kFullAttention),
                     2 * (recurrence - attention) + 4 * (32 - 16));
  }
}

// A norm of queries and keys keeps its input. Qwen3-8B has 32 query heads and eight key heads of 128; its other tensors
// are those of Llama.
TEST(Families, NormsOfQueriesAndKeysKeepTheirInputs) {
  const Scenario scenario = OnNode("qwen3-8b", R"({"sequence": 4096, "global_batch": 8, "mapping": {}})");
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {});
  const double core = 2 * (2 * 32 + 2 * 8) * 128 + 4 * 32, norms = 2 * (32 + 8) * 128;
  EXPECT_DOUBLE_EQ(LayerActivations(context, work, {}).base() / context.shape.tokens,
                   8 * 4096 + core + norms + 6 * 12288);
}

// A mixer without an MLP has one norm and keeps its input and output, half of what a layer with both keeps.
TEST(Families, LayersWithoutAnMlpHaveOneNorm) {
  EXPECT_DOUBLE_EQ(NanoBytes({{FeedForward::kDense, Mixer::kFullAttention}, {}}),
                   4 * 2688 + 2 * (32 + 2) * 256 + 4 * 32);
}

// A single device holds all published parameters, including tables, biases and MTP modules.
TEST(Families, ADeviceAloneHoldsTheWholeModel) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "model") continue;
    const std::string model(preset.id);
    const Scenario scenario = OnNode(model, R"({"sequence": 1024, "global_batch": 8, "mapping": {}})");
    const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
    const LayerWorks works = WorksOf(context);
    const ParameterCount count = CountParameters(scenario.model);
    // Not included: the head's bias, and learned positions beyond the sequence.
    const double held = PlanLayers(context, works).stages.front().weights.Base();
    const double modules = MtpModules(scenario.model, *scenario.training) * count.mtp_module;
    EXPECT_NEAR(held / (count.total + modules), 1,
                scenario.model.positions.encoding == Position::kLearned ? 0.02 : 5e-5)
        << model;
  }
}

}  // namespace
}  // namespace slipstick
