// Models with sparse attention, served.
#include <algorithm>
#include <map>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

const ServedOperator& AttentionOf(const std::vector<ServedOperator>& operators) {
  for (const ServedOperator& one : operators) {
    if (one.name == "attention") return one;
  }
  ADD_FAILURE();
  return operators.front();
}

const std::vector<std::string> kNode{
    "cluster=dgx-h200", "serving.devices=8", "serving.mapping.tp=8", "serving.engine=sglang", "serving.precision.weights=fp8",
    "serving.batch=1"};

// A tensor-parallel rank scores with all 64 heads and attends with 16 of 128. Prompt 4,095 and two outputs: the step sees 4,096 tokens.
TEST(SparseServing, DecodeStepDoesTheWorkThatTheShapesSay) {
  const ServingReport report =
      Serve(kNode + std::vector<std::string>{"model=deepseek-v3.2", "serving.prompt=4095", "serving.output=2"}, true);
  EXPECT_NEAR(AttentionOf(report.decode_operators).flops.base(), 2.0 * 4096 * 64 * 128 + 2.0 * 2048 * 16 * 1088, 1);
  EXPECT_EQ(AttentionOf(report.decode_operators).count, 61);
}

// GLM-5.2: 21 of 78 layers score and select, every layer attends to the selected tokens.
TEST(SparseServing, LayersShareASelection) {
  const ServingReport report = Serve(kNode + std::vector<std::string>{"model=glm-5.2", "serving.prompt=4095", "serving.output=2"}, true);
  EXPECT_NEAR(AttentionOf(report.decode_operators).flops.base(), 21.0 / 78 * 2 * 4096 * 32 * 128 + 2.0 * 2048 * 8 * 1088, 1);
}

TEST(SparseServing, NeverGetsFasterAsTheContextGrows) {
  for (const std::string model : {"deepseek-v3.2", "glm-5"}) {
    Seconds token, first;
    for (const std::string prompt : {"256", "1024", "2047", "2049", "4096", "16384", "65536", "131072"}) {
      const ServingReport report = Serve(kNode + std::vector<std::string>{"model=" + model, "serving.prompt=" + prompt});
      EXPECT_GE(report.tpot, token) << model << " " << prompt;
      EXPECT_GE(report.ttft, first) << model << " " << prompt;
      token = report.tpot, first = report.ttft;
    }
  }
}

// As these models are served, with DP attention (TP ranks would each score with all 64 heads of the indexer): at 128k a prompt takes less
// than 0.8 of the time and a token less than the same model's that attends to everything, at 1k neither.
TEST(SparseServing, PaysAtLongContextsOnly) {
  const auto served = [](const std::string& model, const std::string& prompt) {
    return Serve({"cluster=dgx-h200", "serving.devices=8", "serving.mapping.attention_dp=8", "serving.mapping.ep=8",
                  "serving.engine=sglang", "serving.precision.weights=fp8", "serving.batch=16", "model=" + model,
                  "serving.prompt=" + prompt});
  };
  EXPECT_LT(served("deepseek-v3.2", "131072").ttft, 0.8 * served("deepseek-v3.1", "131072").ttft);
  EXPECT_LT(served("deepseek-v3.2", "131072").tpot, served("deepseek-v3.1", "131072").tpot);
  EXPECT_GE(served("deepseek-v3.2", "1024").ttft, served("deepseek-v3.1", "1024").ttft);
}

// Engines that time a layer as a whole know attention to the whole context only: what is computed in place of what was asked is said.
TEST(SparseServing, EnginesWithoutItsKernelsSaySo) {
  const auto warns = [](const std::string& engine, const std::string& cluster, const std::string& model, const std::string& text) {
    const ServingReport report = Serve({"model=" + model, "cluster=" + cluster, "serving.engine=" + engine, "serving.batch=1"});
    return std::any_of(report.warnings.begin(), report.warnings.end(),
                       [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
  };
  const std::map<std::string, std::string> with{
      {"indexer", "deepseek-v3.2"}, {"sliding windows", "gemma-3-27b"}, {"heads of its local layers", "gemma-4-31b"}};
  for (const auto& [text, model] : with) {
    EXPECT_TRUE(warns("llamacpp", "dgx-h200", model, text)) << text;
    EXPECT_TRUE(warns("gaudi", "gaudi3-hls3", model, text)) << text;
    EXPECT_FALSE(warns("vllm", "dgx-h200", model, text)) << text;
    EXPECT_FALSE(warns("llamacpp", "dgx-h200", "deepseek-v3.1", text)) << text;
  }
}

}  // namespace
}  // namespace slipstick
