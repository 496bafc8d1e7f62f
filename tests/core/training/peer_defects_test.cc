// Defects of other published training models, as regression tests.
#include <cmath>

#include "core/training/memory.h"
#include "core/training/schedule.h"
#include "core/training_stage/flops.h"
#include "core/workload/model.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

Scenario Gpt3(const std::string& mapping, const std::string& more = "") {
  return TrainingScenario(Gpt(96, 12288, 96), R"({"preset": "dgx-a100", "devices": 512})",
                          R"({"sequence": 2048, "global_batch": 512, "framework": {"preset": "megatron"}, )" + more +
                              R"("mapping": )" + mapping + "}");
}
constexpr const char* kTp8Pp8 = R"({"tp": 8, "pp": 8, "sequence_parallel": true})";

// calculon: full recomputation counted as 7.64 forward passes (running sums of prefix sums). It is one pass, of the
// layers only.
TEST(PeerDefects, FullRecomputationIsOneForwardPass) {
  const Scenario none = Gpt3(kTp8Pp8), full = Gpt3(kTp8Pp8, R"("recompute": "full", )");
  const Flops model = CountFlops(none.model, *none.training, {}).model;
  const Flops again =
      CountFlops(full.model, *full.training, ChoiceFor(full.model, *full.training, StagesOf(full))).hardware - model;
  const double head = 6.0 * 512 * 2048 * 12288 * 51200;
  EXPECT_NEAR(again.base(), (model.base() - head) / 3, 1e-9 * again.base());
  // In time it is at most the forward pass.
  const TrainingReport repeated = Evaluated(full);
  EXPECT_LE(repeated.time.recompute, repeated.time.forward);
  EXPECT_GT(repeated.time.recompute.base(), 0.9 * repeated.time.forward.base());
}

// calculon: overlap exposed more communication than the links carried in 39 of 55 cases, since an exposed tile was
// counted twice.
TEST(PeerDefects, OverlapNeverShowsMoreThanTheLinksCarry) {
  for (const char* recompute : {"none", "selective", "full"}) {
    for (const int tp : {2, 4, 8}) {
      Scenario scenario = Gpt3(R"({"tp": )" + std::to_string(tp) + R"(, "pp": 8, "sequence_parallel": true})",
                               R"("recompute": ")" + std::string(recompute) + R"(", )");
      scenario.training->mapping.overlap.tp = false;
      const TrainingReport plain = Evaluated(scenario);
      scenario.training->mapping.overlap.tp = true;
      const TrainingReport hidden = Evaluated(scenario);
      EXPECT_EQ(plain.communication.tp, hidden.communication.tp);
      EXPECT_EQ(plain.time.tp, plain.communication.tp);
      EXPECT_LT(hidden.time.tp, plain.time.tp);
      EXPECT_EQ(hidden.time.forward, plain.time.forward);  // no communication counts as compute
      EXPECT_EQ(hidden.step_time, hidden.time.Total());
    }
  }
}

// calculon: step tables gave 84.9 us for 15.9 GFLOP and 57.0 us for 16.0 GFLOP.
TEST(PeerDefects, MoreWorkIsNeverFaster) {
  double last = 0;
  for (int sequence = 1984; sequence <= 2304; sequence += 16) {
    const Scenario scenario =
        TrainingScenario(Gpt(24, 4096, 32), R"({"preset": "dgx-a100", "devices": 8})",
                         R"({"sequence": )" + std::to_string(sequence) +
                             R"(, "global_batch": 64, "framework": {"preset": "megatron"}, "mapping": {"tp": 8}})");
    const double time = Evaluated(scenario).step_time.base();
    EXPECT_GE(time, last) << sequence;
    last = time;
  }
}

// calculon: it checked the memory only after the whole evaluation.
TEST(PeerDefects, MemoryIsCheckedBeforeTimes) {
  const Scenario scenario = Gpt3(R"({"tp": 1, "pp": 1})");
  const TrainingReport report =
      EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {false, false, false});
  ASSERT_FALSE(report.infeasible.empty());
  EXPECT_EQ(report.infeasible.front().reason, "memory");
  EXPECT_EQ(report.step_time, Seconds{});
}

// calculon, vidur, LLM-Viewer: embedding, head and logits were missing. The stages together hold every parameter once
// and a tied table twice; the last stage holds logits.
TEST(PeerDefects, MemoryHoldsTheEmbeddingTheHeadAndTheLogits) {
  const Scenario scenario = TrainingScenario(
      R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 32})",
      R"({"sequence": 8192, "global_batch": 32, "framework": {"preset": "megatron"}, "mapping": {"tp": 4, "pp": 4}})");
  const TrainingReport report = Evaluated(scenario);
  double weights = 0;
  for (const TrainingStage& stage : report.stages) weights += 4 * stage.memory.weights.base();
  // Each of the four TP ranks holds the norms.
  EXPECT_NEAR(weights, 2 * 8030261248.0, 1e-3 * 2 * 8030261248.0);
  EXPECT_GE(weights, 2 * 8030261248.0);
  const TrainingStage &third = report.stages[2], &last = report.stages[3];
  const double logits = 8 * 8192.0 * 128256 / 4;
  EXPECT_GT((last.memory.activations - third.memory.activations / 2).base(), logits * 0.99);
}

// Megatron's script: it gave the same activations for none and full, and ignored gated MLPs and experts.
TEST(PeerDefects, ActivationsDependOnRecomputationGatesAndExperts) {
  const auto activations = [](const std::string& model, const std::string& recompute) {
    return Evaluated(TrainingScenario(model, R"({"preset": "dgx-h100", "devices": 8})",
                                      R"({"sequence": 4096, "global_batch": 8, "recompute": ")" + recompute +
                                          R"(", "framework": {"preset": "megatron"}})"))
        .memory.activations.base();
  };
  const std::string shape = R"({"layers": 32, "hidden": 4096, "heads": 32, "ffn": 14336, "vocab": 32000)";
  const std::string gated = shape + "}", plain = shape + R"(, "gated": false})";
  const std::string experts = shape + R"(, "moe": {"experts": 8, "top_k": 2}})";
  EXPECT_GT(activations(gated, "none"), 5 * activations(gated, "full"));
  // Gate and up in place of one matrix: 2 more bytes per token and inner unit in each of 32 layers.
  EXPECT_NEAR(activations(gated, "none") - activations(plain, "none"), 32 * 4096.0 * 2 * 14336, 1);
  // Two experts per token keep twice as much as a dense MLP, plus a copy of each row (imbalance 1.1).
  const double dense = 6.0 * 14336, routed = 1.1 * 2 * (6.0 * 14336 + 2 * 4096);
  EXPECT_NEAR(activations(experts, "none") - activations(gated, "none"), 32 * 4096 * (routed - dense),
              1e-6 * 32 * 4096 * routed);
}

// EleutherAI: gradients and optimizer were not divided by tp·pp (1,958 GiB per GPU for GPT-3 on 64), and ZeRO sharded
// over all GPUs instead of dp.
TEST(PeerDefects, StatesAreDividedByTensorAndPipelineAndOnlyThenByData) {
  const auto report = [](int zero) {
    return Evaluated(TrainingScenario(Gpt(96, 12288, 96), R"({"preset": "dgx-a100", "devices": 64})",
                                      R"({"sequence": 2048, "global_batch": 64, "framework": {"preset": "megatron"},
                                          "mapping": {"tp": 8, "pp": 8, "zero": )" +
                                          std::to_string(zero) + "}}"));
  };
  const double share = 175e9 / 64;
  EXPECT_NEAR(report(0).memory.optimizer.base(), 12 * share, 0.05 * 12 * share);
  EXPECT_NEAR(report(0).memory.gradients.base(), 4 * share, 0.05 * 4 * share);
  EXPECT_EQ(report(1).memory.optimizer, report(0).memory.optimizer);  // dp is 1: nothing is sharded
}

// Megatron-Bridge: experts were divided by tp instead of ep·expert_tp. SimAI: tp 1 with ep above 1 failed.
TEST(PeerDefects, ExpertsFollowTheirOwnDegrees) {
  for (const int tp : {1, 2, 4}) {
    const Scenario scenario = TrainingScenario(
        R"({"preset": "mixtral-8x7b"})", R"({"preset": "dgx-h100", "devices": 32})",
        R"({"sequence": 4096, "global_batch": 64, "framework": {"preset": "megatron"}, "mapping": {"ep": 4, "expert_tp": 2, "tp": )" +
            std::to_string(tp) + "}}");
    const TrainingContext context = MakeContext(scenario.model, scenario.cluster, *scenario.training);
    EXPECT_EQ(WorkOf(scenario.model, *scenario.training, context.shape, context.device(), {FeedForward::kExperts})
                  .weights.experts,
              2 * 3.0 * 4096 * 14336 / 2);
    EXPECT_GT(Evaluated(scenario).time.ep, Seconds{});
  }
}

// llm-analysis: ZeRO-3's gathers were counted at ZeRO-0; there was no bubble and no pipeline or data-parallel
// communication; MoE FLOPs lacked top-k; embedding and head had one table (Llama-2-7B as 6.61 B).
TEST(PeerDefects, EveryDegreeHasItsOwnCommunication) {
  const auto with = [](const std::string& mapping) {
    return Evaluated(TrainingScenario(
        R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-h100", "devices": 8})",
        R"({"sequence": 4096, "global_batch": 64, "framework": {"preset": "megatron"}, "mapping": )" + mapping + "}"));
  };
  const TrainingReport tensor = with(R"({"tp": 8})"), pipeline = with(R"({"pp": 8})");
  const TrainingReport replicas = with(R"({"zero": 0})"), sharded = with(R"({"zero": 3})");
  EXPECT_EQ(tensor.communication.dp, Seconds{});
  EXPECT_EQ(tensor.time.bubble, Seconds{});
  EXPECT_GT(pipeline.time.bubble, Seconds{});
  EXPECT_GT(pipeline.time.pp, Seconds{});
  EXPECT_GT(replicas.communication.dp, Seconds{});
  EXPECT_GT(sharded.communication.dp, 2 * replicas.communication.dp);  // once per micro-batch, not once per step
  EXPECT_NEAR(
      CountParameters(TrainingScenario(R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-h100"})", "{}").model).total,
      6738415616.0, 0);
}

TEST(PeerDefects, ArithmeticOfExpertsCountsTopK) {
  const auto flops = [](int top_k) {
    const Scenario scenario =
        TrainingScenario(R"({"preset": "mixtral-8x7b", "moe": {"top_k": )" + std::to_string(top_k) + "}}",
                         R"({"preset": "dgx-h100", "devices": 8})", R"({"sequence": 4096, "global_batch": 8})");
    return Evaluated(scenario).model_flops_per_step.base();
  };
  const double expert = 6.0 * 8 * 4096 * 32 * 3 * 4096 * 14336;
  EXPECT_NEAR(flops(2) - flops(1), expert, 1e-6 * expert);
  EXPECT_NEAR(flops(4) - flops(2), 2 * expert, 1e-6 * expert);
}

// EleutherAI: MLPs had two matrices (a 72 B model as 56 B).
TEST(PeerDefects, GatedMlpsHaveThreeMatrices) {
  const Model model = TrainingScenario(R"({"preset": "qwen2.5-72b"})", R"({"preset": "dgx-h100"})", "{}").model;
  EXPECT_NEAR(CountParameters(model).total, 72.7e9, 0.05e9);
}

// LLM-Tools: it counted a KV cache in training. Grouped heads change weights, their states and activations, and nothing
// else.
TEST(PeerDefects, TrainingKeepsNoKvCache) {
  const auto with = [](int kv_heads) {
    return Evaluated(
               TrainingScenario(
                   R"({"preset": "llama-2-7b", "kv_heads": )" + std::to_string(kv_heads) + "}",
                   R"({"preset": "dgx-h100", "devices": 8})",
                   R"({"sequence": 4096, "global_batch": 8, "recompute": "full", "framework": {"preset": "megatron"}})"))
        .memory;
  };
  // Full recomputation restores one layer at a time, 4·d bytes per token and KV head.
  EXPECT_NEAR((with(32).activations - with(8).activations).base(), 4096.0 * 4 * 128 * 24, 1);
}

// RAPID-LLM: 64 micro-batches on 8 stages overflowed the stack and took minutes.
TEST(PeerDefects, DeepPipelinesAreAnswered) {
  const Scenario scenario = TrainingScenario(
      Gpt(96, 12288, 96), R"({"preset": "dgx-a100", "devices": 384})",
      R"({"sequence": 2048, "global_batch": 2048, "framework": {"preset": "megatron"}, "mapping": {"tp": 8, "pp": 48, "virtual_stages": 2}})");
  const TrainingReport report = Evaluated(scenario, true);
  ASSERT_TRUE(report.timeline_cut);
  EXPECT_EQ(report.timeline_cut->of, 48 * 2 * 2 * 2048);
  EXPECT_EQ(report.timeline.size(), 48U * (16384 / 48));
  EXPECT_GT(report.step_time, Seconds{});
}

// SimAI: it gave the same time at 32 and 64 GPUs.
TEST(PeerDefects, MoreDevicesTrainFaster) {
  double last = 0;
  for (const int devices : {8, 16, 32, 64, 128}) {
    const Scenario scenario = TrainingScenario(
        R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-h100", "devices": )" + std::to_string(devices) + "}",
        R"({"sequence": 4096, "global_batch": 512, "framework": {"preset": "megatron"}, "mapping": {"zero": 1}})");
    const double rate = Evaluated(scenario).tokens_per_s.base();
    EXPECT_GT(rate, last);
    last = rate;
  }
}

// Interleaving where the stages do not divide the micro-batches: every pass runs and takes time.
TEST(PeerDefects, OddMicroBatchesRunToTheEnd) {
  const PipelineShape even{PipelineSchedule::kOneFOneB, 4, 3, 8}, odd{PipelineSchedule::kOneFOneB, 4, 3, 9};
  const std::vector<StagePass> passes(12, StagePass{1 * kS, 2 * kS, {}});
  EXPECT_EQ(Timeline(odd, passes).size(), 9U * 12 * 2);
  EXPECT_GE(ScheduleLength(odd, passes), ScheduleLength(even, passes) + 9 * kS);
}

}  // namespace
}  // namespace slipstick
