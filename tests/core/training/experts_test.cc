// Experts: dispatch kernels, and tokens dropped beyond the capacity.
#include "core/training_stage/exchange.h"
#include "core/training_stage/stage.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

Scenario DeepSeek(const std::string& experts, int ep = 64) {
  return TrainingScenario(
      R"({"preset": "deepseek-v3"})", R"({"preset": "dgx-h100", "devices": 512})",
      R"({"sequence": 4096, "global_batch": 1024, "framework": {"preset": "megatron", "experts": {)" + experts +
          R"(}}, "mapping": {"pp": 8, "zero": 1, "ep": )" + std::to_string(ep) + "}}");
}

Seconds ExpertLinkTime(const Scenario& scenario) { return Evaluated(scenario).communication.ep; }

// DeepEP's kernels send one copy per node and beat an all-to-all that sends one row per expert.
TEST(ExpertDispatch, OfDedicatedKernelsCrossesTheNetworkOnceANode) {
  const Seconds library = ExpertLinkTime(DeepSeek("")),
                dedicated = ExpertLinkTime(DeepSeek(R"("dispatch": "dedicated")"));
  EXPECT_LT(dedicated, library);
  EXPECT_LT(ExpertLinkTime(DeepSeek(R"("dispatch": "dedicated", "dispatch_bytes": 1.03)")), dedicated);
  // Without a limit on nodes, more copies cross the network.
  Scenario free = DeepSeek(R"("dispatch": "dedicated")");
  EXPECT_EQ(free.model.moe->node_limit, 4);
  free.model.moe->node_limit = 0;
  EXPECT_GT(ExpertLinkTime(free), dedicated);
}

// An all-to-all of permuted rows sends one row per expert, even if one rank holds several of a token's experts
// (NVIDIA/Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py: num_out_tokens = tokens · topk).
TEST(ExpertDispatch, OfALibrarySendsARowPerExpert) {
  const Scenario scenario = DeepSeek("", 8);
  const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
  const LayerWork work = WorkOf(scenario.model, *scenario.training, context.shape, context.device(),
                                {FeedForward::kExperts, Mixer::kFullAttention});
  EXPECT_DOUBLE_EQ(work.dispatched_tokens, 8 * 4096);
}

TEST(ExpertDispatch, InEightBitHalvesTheWayOut) {
  const Seconds wide = ExpertLinkTime(DeepSeek("")), narrow = ExpertLinkTime(DeepSeek(R"("dispatch_bytes": 1)"));
  EXPECT_GT(narrow, wide / 2);
  EXPECT_NEAR(narrow / wide, 0.75, 0.01);  // dispatch takes half as long, combine the same
}

// Loads are uniform between 0.5 and 1.5 of the mean; of a capacity of 1.25, 0.25·0.25/2 exceeds it.
TEST(Capacity, DropsTheTokensBeyondIt) {
  Scenario scenario = DeepSeek("");
  const auto dropped = [&](double imbalance, double capacity) {
    scenario.model.moe->imbalance = imbalance;
    scenario.model.moe->capacity_factor = capacity;
    return Evaluated(scenario).dropped_tokens;
  };
  EXPECT_DOUBLE_EQ(dropped(1.5, 1.25), 0.03125);
  EXPECT_EQ(dropped(1.5, 1.5), 0);
  EXPECT_EQ(dropped(1.5, 0), 0);  // dropless
  // Half of the experts are busy, with loads uniform between 0 and 4: half of (4 - 2)²/(2·4) exceeds 2.
  EXPECT_DOUBLE_EQ(dropped(4, 2), 0.25);
  EXPECT_NEAR(dropped(1.5, 0.4), 0.6, 1e-12);  // all experts full
  double last = 1;
  for (double capacity = 0.25; capacity <= 3; capacity += 0.25) {
    const double now = dropped(3, capacity);
    EXPECT_LE(now, last);
    EXPECT_GE(now, 0);
    last = now;
  }
}

TEST(Capacity, BoundsTheWorkOfTheBusiest) {
  Scenario scenario = DeepSeek("");
  scenario.model.moe->imbalance = 2;
  const TrainingReport free = Evaluated(scenario);
  scenario.model.moe->capacity_factor = 1.25;
  EXPECT_LT(Evaluated(scenario).time.forward, free.time.forward);
}

// Dedicated kernels move routed rows at the memory's rate, whatever rate the compiler's other passes reach. 16,384
// tokens with 8 experts each, evenly routed, are 131,072 rows of 2,048 per device. 10 bytes more per element in 48
// layers are 128.8 GB: 38.5 ms at 3.35 TB/s, of which a stream reaches 0.84.
TEST(ExpertRows, MoveAtTheRateOfTheMemory) {
  const auto forward = [](const std::string& element_wise, const std::string& permute) {
    return Evaluated(
               TrainingScenario(
                   R"({"preset": "qwen3-30b-a3b"})", R"({"preset": "dgx-h100", "devices": 8})",
                   R"({"sequence": 4096, "global_batch": 32, "framework": {"preset": "fsdp", "compute": {"element_wise": )" +
                       element_wise + R"(}, "experts": {"imbalance": 1, "permute_traffic": )" + permute +
                       R"(}}, "mapping": {"ep": 8, "micro_batch": 4, "zero": 2}})"))
        .time.forward;
  };
  const Seconds slow = forward("0.42", "20") - forward("0.42", "10"),
                fast = forward("0.9", "20") - forward("0.9", "10");
  EXPECT_NEAR(slow / fast, 1, 1e-9);
  EXPECT_NEAR(slow.base(), 0.0385 / 0.84, 0.0005);
}

// torchtitan's selective checkpointing saves results of plain GEMMs and attention, but not those of routed experts: the
// work of four more experts per token is repeated, and one layer's rows are held at a time, 16,384 tokens with 6 bytes
// for each of 768 inner elements and 2 for each of 2,048 of a row: 570 MB.
TEST(ExpertRows, AreRecomputedUnderSelectiveCheckpointing) {
  const auto report = [](const std::string& top_k) {
    return Evaluated(TrainingScenario(
        R"({"preset": "qwen3-30b-a3b", "moe": {"top_k": )" + top_k + "}}", R"({"preset": "dgx-b200", "devices": 8})",
        R"({"sequence": 8192, "global_batch": 16, "recompute": "selective", "framework": {"preset": "fsdp", "experts": {"imbalance": 1}},
            "mapping": {"zero": 3, "micro_batch": 2}})"));
  };
  const TrainingReport eight = report("8"), four = report("4");
  EXPECT_NEAR((eight.time.recompute - four.time.recompute) / (eight.time.forward - four.time.forward), 1, 1e-9);
  EXPECT_NEAR((eight.memory.activations - four.memory.activations).base(), 16384 * 4 * (6 * 768 + 2 * 2048), 1);
}

// Megatron-Core's 16-bit passes over experts with biases, counted in its code: forward 16 bytes per inner and 28 per
// output element, backward 24 and 40. Both widths of gpt-oss are 2880. Its 8-bit kernels fuse these passes.
TEST(ExpertBiases, CostTheirPassesInSixteenBitOnly) {
  const auto evaluated = [](const char* precision, const char* experts) {
    return Evaluated(TrainingScenario(
        R"({"preset": "gpt-oss-20b"})", R"({"preset": "dgx-h100", "devices": 8})",
        std::string(R"({"sequence": 4096, "global_batch": 64, "recompute": "none", "precision": ")") + precision +
            R"(", "framework": {"preset": "megatron", "experts": {)" + experts + R"(}}, "mapping": {"ep": 8}})"));
  };
  const char* fused = R"("unfused_biases": false)";
  const StepTime plain = evaluated("bf16", fused).time, biased = evaluated("bf16", "").time;
  EXPECT_GT(biased.forward, plain.forward);
  EXPECT_NEAR((biased.backward - plain.backward) / (biased.forward - plain.forward), 64.0 / 44, 1e-6);
  EXPECT_EQ(evaluated("fp8", "").step_time, evaluated("fp8", fused).step_time);
}

// DeepSeek-V3's published placements on 16 chunks: four layers each, and one with the head and the MTP module
// (NVIDIA/Megatron-Bridge, recipes/deepseek). The head costs about three layers, so its chunk has the fewest.
TEST(PlaceLayers, LeavesTheHeadsChunkShort) {
  const std::vector<Count> chunks = PlaceLayers(61, 8, 2, PipelineSchedule::kOneFOneB, {1, 0, 3}, false);
  std::vector<Count> expected(15, 4);
  expected.push_back(1);
  EXPECT_EQ(chunks, expected);
  EXPECT_EQ(PlaceLayers(61, 16, 1, PipelineSchedule::kOneFOneB, {1, 0, 3}, false), expected);
}

// Without expert_tp each TP rank holds whole experts; Megatron-Core's default splits them.
TEST(ExpertTensor, DefaultOfTheFrameworkIsNamedWhereTheRunDiffers) {
  const auto warnings = [](const char* model, const char* framework, const char* mapping) {
    const Scenario scenario =
        TrainingScenario(R"({"preset": ")" + std::string(model) + "\"}", R"({"preset": "dgx-h100", "devices": 64})",
                         R"({"sequence": 4096, "global_batch": 64, "framework": {"preset": ")" +
                             std::string(framework) + R"("}, "mapping": )" + mapping + "}");
    return EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {}).warnings;
  };
  const std::vector<std::string> expected{
      "ETP is 1; the default of Megatron-Core is TP (8): training.mapping.expert_tp 8"};
  EXPECT_EQ(warnings("mixtral-8x22b", "megatron", R"({"tp": 8, "pp": 4})"), expected);
  EXPECT_TRUE(warnings("mixtral-8x22b", "megatron", R"({"tp": 8, "pp": 4, "expert_tp": 8})").empty());
  EXPECT_TRUE(warnings("mixtral-8x22b", "megatron", R"({"pp": 4, "ep": 8})").empty());
  EXPECT_TRUE(
      warnings("mixtral-8x22b", "fsdp", R"({"tp": 8, "pp": 4, "zero": 2})").empty());  // torchtitan's default is 1
  EXPECT_TRUE(warnings("llama-3.1-70b", "megatron", R"({"tp": 8, "pp": 4})").empty());
}

// An imbalance of 1 is even; if the request states none, the framework's 1.1 applies. More imbalance never shortens a
// step.
TEST(Imbalance, OfOneIsEvenAndMoreIsNeverFaster) {
  Scenario scenario = TrainingScenario(
      R"({"preset": "deepseek-v3"})", R"({"preset": "dgx-h100", "devices": 256})",
      R"({"sequence": 4096, "global_batch": 2048, "recompute": "full", "framework": {"preset": "megatron"},
                                           "mapping": {"pp": 4, "ep": 64, "zero": 1}})");
  ASSERT_FALSE(scenario.model.moe->imbalance.has_value());
  const Seconds unstated = Evaluated(scenario).step_time;
  scenario.model.moe->imbalance = 1.1;
  EXPECT_DOUBLE_EQ(Evaluated(scenario).step_time.base(), unstated.base());
  Seconds before;
  for (const double imbalance : {1.0, 1.001, 1.01, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 3.0, 4.0, 8.0}) {
    scenario.model.moe->imbalance = imbalance;
    const Seconds now = Evaluated(scenario).step_time;
    EXPECT_GE(now, before) << imbalance;
    before = now;
  }
}

// Launches bound the step of one sequence of 512 tokens per rank.
TEST(Imbalance, IsNeverFasterWhereLaunchesBoundTheStep) {
  Scenario scenario = TrainingScenario(
      R"({"preset": "qwen3-30b-a3b"})", R"({"preset": "dgx-h100", "devices": 8})",
      R"({"sequence": 512, "global_batch": 64, "recompute": "full", "framework": {"preset": "megatron"},
                                           "mapping": {"ep": 8, "zero": 1}})");
  Seconds before;
  for (double imbalance = 1; imbalance < 4; imbalance += 0.05) {
    scenario.model.moe->imbalance = imbalance;
    const Seconds now = Evaluated(scenario).step_time;
    EXPECT_GE(now, before) << imbalance;
    before = now;
  }
}

}  // namespace
}  // namespace slipstick
