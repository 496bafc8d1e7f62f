#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

// Llama 2 in fp8 on 8 H100, as NeMo fine-tunes it.
std::string Tuned(const std::string& more) {
  return R"({"framework": {"preset": "megatron"}, "precision": "fp8", "tokens": "1 Gtoken", )" + more + "}";
}
TrainingReport ReportOf(const std::string& more, const std::string& model = "llama-2-7b") {
  return Evaluated(
      TrainingScenario(R"({"preset": ")" + model + R"("})", R"({"preset": "dgx-h100", "devices": 8})", Tuned(more)));
}

// NeMo 24.07 fine-tunes on question answering packed to 4,096 tokens (NVIDIA/NeMo
// docs/source/performance/performance_summary.md). Its tables give TFLOP/s over tokens/s: 39.84 and 77.4 GFLOP per
// token, for training all weights. 6N is 39.64 and 77.12 G; full attention would add 6.44 and 10.07. The difference is
// attention over documents of about 115 tokens, 12 * layers * hidden * 115.
TEST(Documents, ExplainPublishedFlops) {
  for (const auto& [model, published] :
       {std::pair<const char*, double>{"llama-2-7b", 39.84e9}, {"llama-2-13b", 77.38e9}}) {
    const TrainingReport report = ReportOf(
        R"("sequence": 4096, "global_batch": 32, "documents": {"length": 115, "variation": 0}, "mapping": {"zero": 1})",
        model);
    EXPECT_NEAR(report.model_flops_per_step.base() / (32 * 4096), published, published / 1000) << model;
  }
}

// Only attention depends on where a document ends: one sequence of four documents of 1,024 tokens takes as long as four
// sequences of 1,024.
TEST(Documents, PackedTakeTheTimeOfSeparateSequences) {
  const TrainingReport packed = ReportOf(
      R"("sequence": 4096, "global_batch": 32, "documents": {"length": 1024, "variation": 0}, "mapping": {"zero": 1})");
  const TrainingReport apart =
      ReportOf(R"("sequence": 1024, "global_batch": 128, "mapping": {"zero": 1, "micro_batch": 4})");
  EXPECT_NEAR(packed.step_time / apart.step_time, 1, 1e-12);
  EXPECT_NEAR(packed.tokens_per_s / apart.tokens_per_s, 1, 1e-12);
  EXPECT_NEAR(packed.model_flops_per_step_causal / apart.model_flops_per_step_causal, 1, 1e-12);
  EXPECT_NEAR(packed.memory.activations / apart.memory.activations, 1, 1e-12);
  EXPECT_EQ(packed.useful_tokens_per_s, packed.tokens_per_s);
  const TrainingReport whole = ReportOf(R"("sequence": 4096, "global_batch": 32, "mapping": {"zero": 1})");
  EXPECT_LT(packed.step_time, whole.step_time);
}

// Weighted by tokens, the mean document has sum(l^2) / sum(l) tokens: for lengths 256 and 768 (mean 512, variation 1/2)
// it is 640.
TEST(Documents, AreWeighedByTheirTokens) {
  const auto step = [](const char* documents) {
    return ReportOf(R"("sequence": 4096, "global_batch": 32, "mapping": {"zero": 1}, "documents": )" +
                    std::string(documents))
        .step_time;
  };
  EXPECT_NEAR(step(R"({"length": 512, "variation": 0.5})") / step(R"({"length": 640, "variation": 0})"), 1, 1e-12);
  EXPECT_NEAR(step(R"({"length": 4096, "variation": 2})") / step("null"), 1, 1e-12);
}

// A document of 512 padded to a sequence of 4,096 tokens costs as much as a full sequence; one token in eight is
// useful.
TEST(Documents, PaddedWasteTheRestOfTheSequence) {
  const TrainingReport padded = ReportOf(
      R"("sequence": 4096, "global_batch": 32, "documents": {"length": 512, "layout": "padded"}, "mapping": {"zero": 1})");
  const TrainingReport whole = ReportOf(R"("sequence": 4096, "global_batch": 32, "mapping": {"zero": 1})");
  EXPECT_EQ(padded.step_time, whole.step_time);
  EXPECT_EQ(padded.tokens_per_s, whole.tokens_per_s);
  EXPECT_NEAR(padded.useful_tokens_per_s / whole.tokens_per_s, 1.0 / 8, 1e-12);
  EXPECT_NEAR(padded.time_to_train / whole.time_to_train, 8, 1e-12);
}

// XLA's kernel computes the whole square, masked or not.
TEST(Documents, SaveNothingWhereKernelsDoNotSkip) {
  const auto step = [](const char* documents) {
    return Evaluated(
               TrainingScenario(
                   R"({"preset": "llama-2-7b"})", R"({"preset": "tpu-v5p-pod", "devices": 8})",
                   R"({"sequence": 4096, "global_batch": 32, "framework": {"preset": "xla"}, "mapping": {"zero": 3},
                                          "documents": )" +
                       std::string(documents) + "}"))
        .step_time;
  };
  EXPECT_EQ(step(R"({"length": 512})"), step("null"));
}

TEST(Documents, AreNotLongerThanASequence) {
  const Issues issues = TrainingIssues(R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-h100", "devices": 8})",
                                       Tuned(R"("sequence": 2048, "global_batch": 8, "documents": {"length": 4096})"));
  ASSERT_EQ(issues.size(), 1U);
  EXPECT_EQ(issues[0].path, "training.documents.length");
}

}  // namespace
}  // namespace slipstick
