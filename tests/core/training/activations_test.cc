// Activations, with and without recomputation, and the memory of Korthikanti's figure 1.
#include "core/training/memory.h"
#include "core/training/schedule.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

// Korthikanti et al. 2022: the shapes of figure 1 (sequence 2048, tensor parallel 8).
struct Shape {
  const char* name;
  int layers, hidden, heads, pipeline, chunks, micro_batch;
  // MiB per layer: with tensor parallelism; with sequence parallelism and selective recomputation.
  double tensor_mib, selective_mib;
  // GiB of the first stage: no recomputation; sequence parallelism; selective; both; full, with 2sbh per layer.
  double tensor, sequence, selective, both, full;
};
const Shape kFigure1[] = {
    {"22B", 48, 6144, 64, 1, 1, 4, 1264, 204, 59.25, 39.5625, 29.25, 9.5625, 4.5},
    {"175B", 96, 12288, 96, 8, 3, 1, 552, 102, 66.84375, 41.4140625, 37.78125, 12.3515625, 5.8125},
    {"530B", 105, 20480, 128, 35, 3, 1, 840, 170, 114.0234375, 66.513671875, 70.5859375, 23.076171875, 10.859375},
    {"1T", 128, 25600, 160, 64, 1, 1, 1050, 212.5, 131.25, 76.5625, 81.25, 26.5625, 12.5},
};

Scenario Figure1Scenario(const Shape& shape, bool sequence_parallel, const char* recompute) {
  const int devices = 8 * shape.pipeline;
  return TrainingScenario(
      Gpt(shape.layers, shape.hidden, shape.heads),
      R"({"preset": "dgx-a100", "devices": )" + std::to_string(devices) + "}",
      R"({"sequence": 2048, "global_batch": )" + std::to_string(shape.micro_batch * 2 * shape.pipeline) +
          R"(, "precision": "fp16", "flash_attention": false, "framework": {"preset": "megatron-2022"}, "recompute": ")" +
          recompute + R"(", "mapping": {"tp": 8, "sequence_parallel": )" + (sequence_parallel ? "true" : "false") +
          R"(, "pp": )" + std::to_string(shape.pipeline) + R"(, "virtual_stages": )" + std::to_string(shape.chunks) +
          R"(, "micro_batch": )" + std::to_string(shape.micro_batch) + "}}");
}

double LayerBytes(const Shape& shape, bool sequence_parallel, const char* recompute) {
  const Scenario scenario = Figure1Scenario(shape, sequence_parallel, recompute);
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {});
  return (std::string(recompute) == "full"
              ? LayerCheckpoint(context)
              : LayerActivations(context, work, ChoiceFor(scenario.model, *scenario.training, {}).selective))
      .base();
}

double FirstStageGib(const Shape& shape, bool sequence_parallel, const char* recompute) {
  const Scenario scenario = Figure1Scenario(shape, sequence_parallel, recompute);
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  const double layers = static_cast<double>(shape.layers) / shape.pipeline;
  return layers *
         PassesInFlight({shape.pipeline, shape.chunks, context.shape.micro_batches}, PipelineSchedule::kOneFOneB, 0) *
         LayerBytes(shape, sequence_parallel, recompute) / kGiB.factor;
}

TEST(Activations, AreKorthikantisTable2ToTheByte) {
  for (const Shape& shape : kFigure1) {
    const double s = 2048, b = shape.micro_batch, h = shape.hidden, a = shape.heads, t = 8, sbh = s * b * h;
    EXPECT_DOUBLE_EQ(LayerBytes(shape, false, "none"), sbh * (10 + 24 / t + 5 * a * s / (h * t))) << shape.name;
    EXPECT_DOUBLE_EQ(LayerBytes(shape, true, "none"), sbh / t * (34 + 5 * a * s / h)) << shape.name;
    EXPECT_DOUBLE_EQ(LayerBytes(shape, false, "selective"), sbh * (10 + 24 / t)) << shape.name;
    EXPECT_DOUBLE_EQ(LayerBytes(shape, true, "selective"), sbh * 34 / t) << shape.name;
    EXPECT_DOUBLE_EQ(LayerBytes(shape, false, "full"), 2 * sbh) << shape.name;
    EXPECT_DOUBLE_EQ(LayerBytes(shape, true, "full"), 2 * sbh / t) << shape.name;
    EXPECT_DOUBLE_EQ(LayerBytes(shape, false, "none") / kMiB.factor, shape.tensor_mib) << shape.name;
    EXPECT_DOUBLE_EQ(LayerBytes(shape, true, "selective") / kMiB.factor, shape.selective_mib) << shape.name;
  }
}

// tf32 is a mode of products of fp32 tensors. In 32 bits every tensor takes twice the bytes of 16 bits, but the
// log-sum-exps of 16 heads, which are in 4 bytes anyway; a row of 1,024 is sent in 4,096 bytes.
TEST(Activations, InFp32AndTf32TakeFourBytesEach) {
  const auto scenario_in = [](const std::string& precision) {
    return TrainingScenario(Gpt(2, 1024, 16), R"({"preset": "dgx-a100", "devices": 8})",
                            R"({"sequence": 2048, "global_batch": 8, "framework": {"preset": "pytorch"}, "recompute":
                                "none", "precision": ")" +
                                precision + R"(", "mapping": {"tp": 2, "zero": 0}})");
  };
  const auto layer = [](const Scenario& scenario) {
    const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
    const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {});
    return LayerActivations(context, work, {}).base();
  };
  const double half = layer(scenario_in("bf16"));
  for (const char* precision : {"fp32", "tf32"}) {
    const Scenario scenario = scenario_in(precision);
    EXPECT_DOUBLE_EQ(layer(scenario), 2 * half - 2048 * 4 * 8) << precision;
    const TrainingReport report = EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {true, false});
    for (const CollectiveUse& use : report.collectives.uses()) {
      if (use.group != "tp") continue;
      EXPECT_DOUBLE_EQ(In(use.bytes, kB), 2048 * 1024 * 4.0) << precision;
    }
  }
}

TEST(Activations, OfTheFirstStageAreKorthikantisFigure1) {
  for (const Shape& shape : kFigure1) {
    EXPECT_NEAR(FirstStageGib(shape, false, "none"), shape.tensor, 1e-9) << shape.name;
    EXPECT_NEAR(FirstStageGib(shape, true, "none"), shape.sequence, 1e-9) << shape.name;
    EXPECT_NEAR(FirstStageGib(shape, false, "selective"), shape.selective, 1e-9) << shape.name;
    EXPECT_NEAR(FirstStageGib(shape, true, "selective"), shape.both, 1e-9) << shape.name;
    EXPECT_NEAR(FirstStageGib(shape, false, "full"), shape.full, 1e-9) << shape.name;
  }
}

TrainingReport Recomputed(const Shape& shape, RecomputeMethod method, Count layers, bool sequence_parallel = false) {
  Scenario scenario = Figure1Scenario(shape, sequence_parallel, "full");
  scenario.training->recompute_method = method;
  scenario.training->recompute_layers = layers;
  return Evaluated(scenario);
}

// Groups of n layers keep one checkpoint of 2sbh bytes each, and the activations of one group during its backward pass:
// L/n checkpoints and n layers of A bytes, less the group's input, which is a checkpoint. Optimus (arXiv 2407.14645)
// states N·A_inp + (L/N)·(A − A_inp) with N = L/n checkpoints, which leaves out the inputs of a group's other layers,
// (n − 1)·A_inp.
TEST(Activations, OfUniformRecomputationAreCheckpointsAndAGroup) {
  const Shape& shape = kFigure1[0];
  for (const bool sequence_parallel : {false, true}) {
    const double t = 8, s = 2048, h = shape.hidden, sbh = s * shape.micro_batch * h, split = sequence_parallel ? t : 1;
    const double layer = sbh * (10 / split + 24 / t + 5 * shape.heads * s / (h * t)), checkpoint = 2 * sbh / split;
    const double ends = Recomputed(shape, RecomputeMethod::kUniform, 1, sequence_parallel).memory.activations.base() -
                        (shape.layers * checkpoint + layer - checkpoint);  // embedding and head
    for (const int n : {1, 2, 3, 6, 12, 48}) {
      const double checkpoints = 48.0 / n, expected = checkpoints * checkpoint + n * layer - checkpoint;
      const double activations =
          Recomputed(shape, RecomputeMethod::kUniform, n, sequence_parallel).memory.activations.base() - ends;
      EXPECT_NEAR(activations, expected, 1) << n;
      const double published = checkpoints * checkpoint + n * (layer - checkpoint);
      EXPECT_NEAR(activations - published, (n - 1) * checkpoint, 1) << n;
    }
    // 48 layers in groups of 5: ten checkpoints.
    const double uneven =
        Recomputed(shape, RecomputeMethod::kUniform, 5, sequence_parallel).memory.activations.base() - ends;
    EXPECT_NEAR(uneven, 10 * checkpoint + 5 * layer - checkpoint, 1);
  }
}

// At the published optimum, √(L·(A − A_inp)/A_inp) checkpoints, memory is least.
TEST(Activations, OfUniformRecomputationAreLeastAtTheSquareRootOfTheLayers) {
  // A = 1264 MiB, A_inp = 96 MiB: √(48 · 1168 / 96) = 24.2 checkpoints, two layers each
  const Shape& shape = kFigure1[0];
  const auto activations = [&](Count n) { return Recomputed(shape, RecomputeMethod::kUniform, n).memory.activations; };
  for (const Count n : {1, 4, 6, 12, 48}) EXPECT_LT(activations(2), activations(n)) << n;
}

// Each of the first n layers of a virtual stage keeps only its input; one of them at a time is recomputed.
TEST(Activations, OfRecomputationByBlocksKeepTheOtherLayersWhole) {
  for (const Shape& shape : {kFigure1[0], kFigure1[1]}) {
    const double t = 8, s = 2048, h = shape.hidden, sbh = s * shape.micro_batch * h, p = shape.pipeline,
                 v = shape.chunks;
    const double layer = sbh * (10 + 24 / t + 5 * shape.heads * s / (h * t)), checkpoint = 2 * sbh,
                 layers = shape.layers / (p * v);
    const auto in_flight = [&](double n) {
      return p * (1 + (p - 1) / (p * v)) * v * (n * checkpoint + (layers - n) * layer);
    };
    const double all = Recomputed(shape, RecomputeMethod::kBlock, 1024).memory.activations.base();
    EXPECT_NEAR(all, Recomputed(shape, RecomputeMethod::kUniform, 1).memory.activations.base(), 1) << shape.name;
    for (const int n : {1, 2, 3}) {
      const double activations = Recomputed(shape, RecomputeMethod::kBlock, n).memory.activations.base();
      EXPECT_NEAR(activations - all, in_flight(n) - in_flight(layers), 8) << shape.name << " " << n;
    }
  }
}

// A layer that is not recomputed saves its forward pass: the recomputation time is that of the repeated layers.
TEST(Recomputation, ByBlocksTakesTheTimeOfItsLayers) {
  const Shape& shape = kFigure1[0];
  const TrainingReport all = Recomputed(shape, RecomputeMethod::kUniform, 1);
  for (const int n : {12, 24, 36}) {
    const TrainingReport some = Recomputed(shape, RecomputeMethod::kBlock, n);
    EXPECT_NEAR(some.time.recompute / all.time.recompute, n / 48.0, 1e-9) << n;
    EXPECT_LT(some.step_time, all.step_time);
    // Hardware FLOPs: with full recomputation the layers run 4/3 times, the head once.
    const double model_share = some.model_flops_utilization / some.hardware_flops_utilization;
    const double all_share = all.model_flops_utilization / all.hardware_flops_utilization;
    EXPECT_NEAR(1 / model_share - 1, (1 / all_share - 1) * n / 48, 1e-9) << n;
  }
  for (const Count n : {2, 6, 48})
    EXPECT_EQ(Recomputed(shape, RecomputeMethod::kUniform, n).step_time, all.step_time) << n;
}

// Only checkpoints are offloaded: groups of two layers have half as many.
TEST(Recomputation, OfGroupsOffloadsTheirInputs) {
  Scenario scenario = Figure1Scenario(kFigure1[0], false, "full");
  scenario.training->offload.activations = 1;
  const TrainingReport each = Evaluated(scenario);
  scenario.training->recompute_layers = 2;
  const TrainingReport pairs = Evaluated(scenario);
  EXPECT_DOUBLE_EQ(pairs.memory.host / each.memory.host, 0.5);
  EXPECT_DOUBLE_EQ(pairs.communication.offload / each.communication.offload, 0.5);
}

TEST(Activations, WithoutParallelismAre34Plus5AsOverH) {
  const Scenario scenario =
      TrainingScenario(Gpt(4, 1024, 16), R"({"preset": "single-a100-sxm4-80gb"})",
                       R"({"sequence": 2048, "global_batch": 1, "precision": "fp16", "flash_attention": false,
                                                 "framework": {"preset": "megatron-2022"}})");
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {});
  EXPECT_EQ(LayerActivations(context, work, {}).base(), 2048.0 * 1024 * (34 + 5.0 * 16 * 2048 / 1024));
}

// A modern layer keeps 8h + 4·a·d + 4·n_kv·d + 4a + 6f bytes per token; sums by hand for three models.
TEST(Activations, OfAFlashAttentionLayerMatchHandCounts) {
  struct Row {
    const char* preset;
    int tp;
    bool sequence_parallel;
    double bytes;
  };
  for (const Row& row :
       {Row{"llama-2-7b", 1, false, 131712}, Row{"llama-2-7b", 8, false, 45136}, Row{"llama-2-7b", 8, true, 16464},
        Row{"llama-3.1-8b", 1, false, 139392}, Row{"llama-2-70b", 1, false, 274688},
        Row{"llama-2-70b", 8, false, 91680}, Row{"llama-2-70b", 8, true, 34336}}) {
    const Scenario scenario = TrainingScenario(
        R"({"preset": ")" + std::string(row.preset) + R"("})", R"({"preset": "dgx-h100", "devices": 8})",
        R"({"sequence": 4096, "global_batch": 8, "precision": "bf16", "framework": {"preset": "megatron"}, "mapping": {"tp": )" +
            std::to_string(row.tp) + R"(, "sequence_parallel": )" + (row.sequence_parallel ? "true" : "false") + "}}");
    const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
    const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {});
    EXPECT_DOUBLE_EQ(LayerActivations(context, work, {}).base() / context.shape.tokens, row.bytes)
        << row.preset << " tp " << row.tp;
  }
}

// An MTP module (DeepSeek-V3 technical report, 2.2) is a layer, 131,712 bytes per token of Llama-2-7B. Before it come
// the norms of two hidden states and their projection, 2 · (h + h + 2h); after it the final norm and the head, 2 · 2h.
// The probabilities of its tokens are kept in fp32 until its backward pass, which is the last.
TEST(Activations, OfMtpModulesAreThoseOfALayerAndAHead) {
  const auto held = [](int modules) {
    return Evaluated(TrainingScenario(R"({"preset": "llama-2-7b", "mtp_layers": )" + std::to_string(modules) + "}",
                                      R"({"preset": "dgx-h100", "devices": 8})",
                                      R"({"sequence": 4096, "global_batch": 8, "precision": "bf16", "recompute": "none",
                             "framework": {"preset": "megatron"}, "mapping": {"tp": 1, "micro_batch": 1}})"))
        .memory.activations.base();
  };
  const double per_token = 131712 + 8 * 4096 + 4 * 4096 + 4 * 32000;
  EXPECT_NEAR(held(1) - held(0), 4096 * per_token, 1);
  EXPECT_NEAR(held(2) - held(1), 4096 * per_token, 1);
}

// In 8 bits the outputs of norms and activation functions weigh half; when recomputed they weigh nothing in any format.
// A layer of Llama-2-7B (h 4096, f 11008, 32 heads) in bytes per token: 8h + 8h + 128 + 6f in 16 bits. fp8 keeps the
// outputs of two norms and of the activation in a byte each: 6h + 8h + 128 + 5f. Without these tensors both keep 4h +
// 8h + 128 + 4f.
TEST(Activations, RecomputedInEightBitAreSubtractedOnce) {
  for (const char* precision : {"bf16", "fp8"}) {
    const bool narrow = std::string(precision) == "fp8";
    const Scenario scenario = TrainingScenario(
        R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-h100", "devices": 8})",
        R"({"sequence": 4096, "global_batch": 8, "framework": {"preset": "megatron"}, "precision": ")" +
            std::string(precision) + R"("})");
    const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
    const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {});
    const auto per_token = [&](bool norms) {
      return LayerActivations(context, work, {.norms = norms}).base() / context.shape.tokens;
    };
    EXPECT_DOUBLE_EQ(per_token(false), narrow ? 14 * 4096 + 128 + 5 * 11008 : 16 * 4096 + 128 + 6 * 11008) << precision;
    EXPECT_DOUBLE_EQ(per_token(true), 12 * 4096 + 128 + 4 * 11008) << precision;
  }
}

// DeepSeek-V3 (technical report, 3.2.3) recomputes norms and MLA's up-projections. Per token a layer keeps queries and
// keys of 192 and values and outputs of 128 for 128 heads: 81,920 elements in 16 bits. It also keeps the latents, 1,536
// + 512, before and after their norms, with the shared rotary key, 64. When recomputed, the outputs, 16,384, one copy
// of the latents and the rotary key stay.
TEST(Activations, OfLatentAttentionRecomputedKeepTheLatents) {
  const Scenario scenario =
      TrainingScenario(R"({"preset": "deepseek-v3"})", R"({"preset": "dgx-h100", "devices": 512})",
                       R"({"sequence": 4096, "global_batch": 512, "framework": {"preset": "megatron"},
                                                 "recompute": "selective", "mapping": {"ep": 64}})");
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {});
  const auto per_token = [&](const RecomputePlan& plan) {
    return LayerActivations(context, work, plan).base() / context.shape.tokens;
  };
  EXPECT_DOUBLE_EQ(per_token({}) - per_token({.latents = true}), 2 * (81920 - 16384 + 1536 + 512));
  EXPECT_EQ(ChoiceFor(scenario.model, *scenario.training, {}).selective,
            (RecomputePlan{.norms = true, .latents = true, .core = true}));
}

// Recomputation takes the time of the two projections: 2 · (1536 · 128 · 192 + 512 · 128 · 256) FLOPs per token and
// layer.
TEST(Recomputation, OfLatentAttentionRepeatsItsUpProjections) {
  const auto executed = [](const char* recompute) {
    return Evaluated(
               TrainingScenario(
                   R"({"preset": "deepseek-v3", "layers": 4, "moe": {"dense_layers": 4}, "mtp_layers": 0})",
                   R"({"preset": "dgx-h100", "devices": 64})",
                   R"({"sequence": 4096, "global_batch": 64, "framework": {"preset": "megatron"}, "recompute": ")" +
                       std::string(recompute) + R"(", "mapping": {"zero": 1}})"))
        .hardware_flops_per_device;
  };
  const double projections = 2.0 * (1536 * 128 * 192 + 512 * 128 * 256) * 4 * 4096;
  EXPECT_NEAR((executed("selective") - executed("none")).base(), projections, projections / 1000);
}

// 12Lh² parameters at 18 bytes over tp·pp: 45.5625, 45.5625 and 31.640625 GiB of figure 1, plus tables, norms and
// biases, which the figure leaves out.
TEST(States, OfMegatronAre18BytesAParameter) {
  const Scenario scenario = Figure1Scenario(kFigure1[0], false, "none");
  const TrainingReport report = Evaluated(scenario);
  const double parameters = (report.memory.weights / (2 * kB));
  EXPECT_DOUBLE_EQ(report.memory.gradients / (4 * kB), parameters);
  EXPECT_NEAR(In(report.memory.optimizer - 0.095 * kGiB, kB), 12 * parameters, 1);
  EXPECT_GT(18 * 12.0 * 48 * 6144 * 6144 / 8, 45.56 * kGiB.factor);
  EXPECT_GT(18 * parameters, 45.5625 * kGiB.factor);
  EXPECT_LT(18 * parameters, 45.5625 * 1.03 * kGiB.factor);
}

}  // namespace
}  // namespace slipstick
