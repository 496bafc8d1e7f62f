// Whole steps: published step times are reproduced. Physical laws on random mappings are in guards_test.cc.
#include <algorithm>
#include <cmath>

#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

TEST(Step, FullRecomputationMayStopBeforeTheLastGemm) {
  // By hand: a layer with h 4096 and f 4h on 2,048 tokens. Its forward GEMMs do 2 x 2048 x 12 h^2 FLOPs, a third of
  // them in the second GEMM of the MLP; roofline's GEMMs run at 0.7 of 989 TFLOP/s.
  const double h = 4096, rate = 0.7 * 989e12, last_gemm = 2 * 2048 * 4 * h * h / rate;
  const auto recomputed = [](const std::string& stops) {
    return Evaluated(TrainingScenario(Gpt(2, 4096, 32), R"({"preset": "dgx-h100", "devices": 1})",
                                      R"({"sequence": 2048, "global_batch": 1, "precision": "bf16", "recompute": "full",
                                          "framework": {"preset": "roofline", "compute": {"stops_recomputing": )" +
                                          stops + R"(}}, "mapping": {"tp": 1, "pp": 1, "micro_batch": 1}})"))
        .time.recompute.base();
  };
  EXPECT_NEAR(recomputed("false") - recomputed("true"), 2 * last_gemm, 1e-3 * last_gemm);
}

TEST(Step, PassesOverTheLogitsRunAtTheRateOfMemory) {
  // By hand: 2,048 tokens with a vocabulary of 51,200, roofline's 6 bytes per logit at 0.8 of 3.35 TB/s, whatever rate
  // other passes reach.
  const double loss = 2048.0 * 51200 * 6 / (0.8 * 3.35e12);
  for (const char* rate : {"1", "0.25"}) {
    const std::vector<FigureRecord> figures =
        Explained(TrainingScenario(Gpt(2, 4096, 32), R"({"preset": "dgx-h100", "devices": 1})",
                                   R"({"sequence": 2048, "global_batch": 1, "precision": "bf16", "recompute": "none",
                             "framework": {"preset": "roofline", "compute": {"element_wise": )" +
                                       std::string(rate) + R"(}}, "mapping": {"tp": 1, "pp": 1, "micro_batch": 1}})"));
    const auto found = std::find_if(figures.begin(), figures.end(),
                                    [](const FigureRecord& one) { return one.title == "Softmax and loss"; });
    ASSERT_NE(found, figures.end());
    EXPECT_NEAR(found->value, loss, 1e-6 * loss) << rate;
  }
}

// Measured steps of Korthikanti et al. 2022, table 5 (seconds): within 6 %.
TEST(Step, OfThe175BModelIsNearTheMeasuredOne) {
  struct Row {
    const char* recompute;
    bool sequence_parallel;
    double seconds;
  };
  for (const Row& row : {Row{"full", false, 18.13}, Row{"selective", true, 13.75}}) {
    const Scenario scenario = TrainingScenario(
        Gpt(96, 12288, 96), R"({"preset": "dgx-a100", "devices": 64})",
        R"({"sequence": 2048, "global_batch": 64, "precision": "fp16", "flash_attention": false, "framework": {"preset": "megatron-2022"}, "recompute": ")" +
            std::string(row.recompute) +
            R"(", "mapping": {"tp": 8, "pp": 8, "virtual_stages": 3, "sequence_parallel": )" +
            (row.sequence_parallel ? "true" : "false") + "}}");
    EXPECT_NEAR(Evaluated(scenario).step_time.base(), row.seconds, 0.06 * row.seconds) << row.recompute;
  }
}

// GPT-NeoX-20B (Black et al. 2022): 150,000 steps of 1,536 contexts in 1,830 hours on 96 A100 of 40 GB, including
// evaluations and restarts. At the paper's 117 TFLOP/s per GPU it would have taken 1,985 hours.
TEST(Step, OfGptNeoxIsNearItsTrainingTime) {
  const TrainingReport report = Evaluated(TrainingScenario(
      R"({"preset": "gpt-neox-20b"})", R"({"preset": "dgx-a100-40gb", "devices": 96})",
      R"({"sequence": 2048, "global_batch": 1536, "recompute": "full", "flash_attention": false, "framework": {"preset": "megatron-deepspeed"},
          "mapping": {"tp": 2, "pp": 4, "micro_batch": 4, "zero": 1, "sequence_parallel": false}})"));
  EXPECT_NEAR(In(report.step_time, kS) / (1830 * 3600. / 150000), 1, 0.15);
}

// A layer's launches take 1 s, plus 2 s per further TP rank in a pipeline; its kernels take almost none. Two layers and
// four micro-batches: (4 + 2 - 1) passes of a stage of one layer, or four of both layers.
TEST(Step, TensorParallelRanksLengthenLaunchesInAPipelineIfTheFrameworkDoes) {
  const auto step = [](int tp, int pp) {
    const std::string mapping =
        R"({"tp": )" + std::to_string(tp) + R"(, "pp": )" + std::to_string(pp) + R"(, "micro_batch": 1})";
    return Evaluated(TrainingScenario(
                         Gpt(2, 1024, 16), R"({"preset": "dgx-h100", "devices": )" + std::to_string(tp * pp) + "}",
                         R"({"sequence": 1024, "global_batch": 4, "recompute": "none", "framework": {"compute":
                                          {"layer_launch": "1 s", "pipelined_launch": "2 s"}}, "mapping": )" +
                             mapping + "}"))
        .step_time.base();
  };
  constexpr double kJitter = 0.03;
  EXPECT_NEAR(step(2, 2), 5 * (1 + 2 * 2), kJitter * 25);
  EXPECT_NEAR(step(1, 2), 5 * 1, kJitter * 5);
  EXPECT_NEAR(step(2, 1), 4 * 2 * 1, kJitter * 8);
}

TEST(Timeline, IsAsLongAsTheStep) {
  for (const char* mapping :
       {R"({"tp": 8, "pp": 4, "virtual_stages": 5, "sequence_parallel": true})",
        R"({"tp": 8, "pp": 4, "sequence_parallel": true})", R"({"tp": 8, "pp": 4, "schedule": "zb-h1"})",
        R"({"tp": 8, "pp": 4, "schedule": "dualpipe"})",
        R"({"tp": 8, "pp": 4, "virtual_stages": 2, "schedule": "zb-v"})",
        R"({"tp": 8, "pp": 8, "schedule": "gpipe"})"}) {
    const Scenario scenario =
        TrainingScenario(R"({"preset": "llama-3.1-70b"})", R"({"preset": "dgx-h100", "devices": 64})",
                         R"({"sequence": 4096, "global_batch": 64, "framework": {"preset": "megatron"}, "mapping": )" +
                             std::string(mapping) + "}");
    const TrainingReport report = Evaluated(scenario, true);
    double end = 0;
    for (const ScheduledPass& box : report.timeline) end = std::max(end, box.end.base());
    EXPECT_NEAR(end, report.step_time.base(), 1e-9 * end) << mapping;
  }
}

TEST(Report, SaysWhyMemoryDoesNotFitAndWhatWould) {
  const Scenario scenario = TrainingScenario(
      R"({"preset": "llama-3.1-70b"})", R"({"preset": "dgx-h100", "devices": 64})",
      R"({"sequence": 8192, "global_batch": 64, "framework": {"preset": "megatron"}, "mapping": {"tp": 4}})");
  const TrainingReport report = Evaluated(scenario);
  ASSERT_EQ(report.infeasible.size(), 1U);
  EXPECT_EQ(report.infeasible.front().reason, "memory");
  EXPECT_NE(report.infeasible.front().message.find("would fit"), std::string::npos)
      << report.infeasible.front().message;
}

// Spreading experts 16 ways leaves nothing to divide the data by: with PP 8, the two devices of a stage cannot hold 16
// ranks of experts.
TEST(Report, NamesNoSplitThatTheExpertsForbid) {
  const Scenario scenario = TrainingScenario(
      R"({"preset": "glm-4.5"})", R"({"preset": "single-rtx-pro-6000", "devices": 16})",
      R"({"sequence": 4096, "global_batch": 2048, "framework": {"preset": "hai-llm"}, "precision": "nvfp4",
          "optimizer": "sgd", "mapping": {"ep": 16, "dp": 16}})");
  const TrainingReport report = Evaluated(scenario);
  ASSERT_EQ(report.infeasible.size(), 1U);
  EXPECT_EQ(report.infeasible.front().message.find("PP "), report.infeasible.front().message.find("PP or CP"))
      << report.infeasible.front().message;
}

// torchtitan's selective checkpointing saves the results of reduce-scatters but not of all-gathers: of the 2 x 2 x 2
// collectives of a layer, the backward pass repeats the two all-gathers.
TEST(Step, SelectiveRecomputationRepeatsAllGathersWhereTheFrameworkDoes) {
  const auto link = [](const std::string& recompute, const std::string& framework, bool overlap) {
    const Scenario scenario =
        TrainingScenario(R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 64})",
                         R"({"sequence": 8192, "global_batch": 96, "recompute": ")" + recompute +
                             R"(", "framework": {"preset": ")" + framework +
                             R"("}, "mapping": {"tp": 8, "micro_batch": 12, "zero": 3, "sequence_parallel": true,
                                                                      "overlap": {"tp": )" +
                             (overlap ? "true" : "false") + "}}}");
    return EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {true, false});
  };
  const TrainingReport none = link("none", "fsdp", false), selective = link("selective", "fsdp", false);
  Seconds gather;
  for (const CollectiveUse& use : selective.collectives.uses()) {
    if (use.group == "tp" && use.pattern == CollectiveType::kAllGather) gather = use.time;
  }
  EXPECT_GT(gather, Seconds{});
  EXPECT_NEAR((selective.time.tp - none.time.tp) / (2 * 32 * gather), 1, 1e-9);
  EXPECT_NEAR((link("selective", "fsdp", true).time.tp - link("none", "fsdp", true).time.tp) / (0.6 * 2 * 32 * gather),
              1, 1e-9);
  EXPECT_EQ(link("selective", "megatron", false).time.tp, link("none", "megatron", false).time.tp);
}

// The exposed share of the TP exchange of a GPT on 32 devices.
double ExposedTensorShare(const std::string& cluster, const std::string& framework, int tp,
                          const std::string& overlap = "null") {
  const TrainingReport report =
      Evaluated(TrainingScenario(Gpt(2, 4096, 32), R"({"preset": ")" + cluster + R"(", "devices": 32})",
                                 R"({"sequence": 4096, "global_batch": 32, "framework": {"preset": ")" + framework +
                                     R"("}, "recompute": "none", "mapping": {"tp": )" + std::to_string(tp) +
                                     R"(, "sequence_parallel": true, "overlap": {"tp": )" + overlap + "}}}"));
  const bool warns = std::any_of(report.warnings.begin(), report.warnings.end(), [](const std::string& text) {
    return text.find("does not overlap TP communication between nodes") != std::string::npos;
  });
  EXPECT_EQ(warns, overlap == "true" && framework == "megatron" && cluster == "dgx-h100" && tp > 8);
  return report.time.tp / report.communication.tp;
}

// Userbuffers hide the exchange within a node or an NVLink domain only (NVIDIA/TransformerEngine, issue 1071). Megatron
// exposes 0.24 of what overlaps, torchtitan 0.6, the ideal framework nothing.
TEST(Step, TensorParallelExchangeHidesWithinAScaleUpDomain) {
  EXPECT_NEAR(ExposedTensorShare("dgx-h100", "megatron", 8), 0.24, 1e-9);
  EXPECT_NEAR(ExposedTensorShare("dgx-h100", "megatron", 16), 1, 1e-9);
  EXPECT_NEAR(ExposedTensorShare("dgx-h100", "fsdp", 16), 1, 1e-9);
  EXPECT_NEAR(ExposedTensorShare("gb200-nvl72", "megatron", 16), 0.24, 1e-9);
  EXPECT_NEAR(ExposedTensorShare("dgx-h100", "megatron", 16, "true"), 0.24, 1e-9);
  EXPECT_NEAR(ExposedTensorShare("gb200-nvl72", "ideal", 16), 0, 1e-9);
}

// Seconds of the optimizer step of a GPT with two layers of 1,024 on eight devices, which reach 1 of their 2 TB/s.
double OptimizerTime(const std::string& optimizer, const std::string& mapping) {
  const std::string cluster = R"({"preset": "dgx-h100", "devices": 8,
      "device": {"preset": "h100-sxm5-80gb", "memory": {"bandwidth": "2 TB/s"}, "efficiency": {"stream": 0.5}}})";
  return In(
      Evaluated(TrainingScenario(
                    Gpt(2, 1024, 16), cluster,
                    R"({"sequence": 2048, "global_batch": 8, "framework": {"preset": "megatron"}, "optimizer": ")" +
                        optimizer + R"(", "mapping": )" + mapping + "}"))
          .time.optimizer,
      kS);
}

// Bytes per parameter: the state is read and written (AdamW 2 x 12, SGD with momentum 2 x 8), with 10 for gradient and
// weight where it is updated; every gradient takes 6, for the norm and for zeroing. There are 2 (12 h^2 + 13 h) +
// 51,200 h + 2,048 h + 2 h parameters. ZeRO 1 updates an eighth of them on each device; under ZeRO 2 a device also
// holds only an eighth of the gradients.
TEST(Step, TheOptimizerReadsAndWritesItsStateOnce) {
  const double parameters = 2 * (12 * 1024.0 * 1024 + 13 * 1024) + (51200 + 2048 + 2) * 1024.0, rate = 1e12;
  EXPECT_NEAR(OptimizerTime("adamw", R"({"zero": 0})") / (40 * parameters / rate), 1, 1e-9);
  EXPECT_NEAR(OptimizerTime("sgd", R"({"zero": 0})") / (32 * parameters / rate), 1, 1e-9);
  EXPECT_NEAR(OptimizerTime("adamw", R"({"zero": 1})") / ((34.0 / 8 + 6) * parameters / rate), 1, 1e-9);
  EXPECT_NEAR(OptimizerTime("adamw", R"({"zero": 2})") / (40.0 / 8 * parameters / rate), 1, 1e-9);
}

Seconds StepTimeOf(int devices, double overhead) {
  Scenario scenario = TrainingScenario(
      R"({"preset": "llama-3.2-1b"})", R"({"preset": "dgx-h100", "devices": )" + std::to_string(devices) + "}",
      R"({"sequence": 4096, "global_batch": 4, "framework": {"preset": "fsdp"}, "mapping": {"tp": 1, "pp": 1, "micro_batch": 2}})");
  scenario.training->framework.step_overhead = overhead * kMs;
  return Evaluated(scenario).step_time;
}

// Steps of Llama-3.2-1B on one H100 take as long as their two passes and the update (tests/validation/hopper/h100.csv:
// 169 ms where those take 165), and no longer if gradients are clipped and the loss is read.
TEST(Step, OfOneDeviceWaitsForNoOther) {
  EXPECT_EQ(StepTimeOf(1, 32), StepTimeOf(1, 0));
  EXPECT_NEAR((StepTimeOf(2, 32) - StepTimeOf(2, 0)) / (32 * kMs), 1, 1e-9);
}

}  // namespace
}  // namespace slipstick
