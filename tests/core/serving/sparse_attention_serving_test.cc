// Serving models with sparse attention.
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

const std::vector<std::string> kNode{"cluster=dgx-h200",
                                     "serving.devices=8",
                                     "serving.mapping.tp=8",
                                     "serving.engine=sglang",
                                     "serving.precision.weights=fp8",
                                     "serving.batch=1"};

// A tensor-parallel rank scores with all 64 heads of the indexer and attends with 16 of 128 heads. With a prompt of
// 4,095 and two outputs the step sees 4,096 tokens.
TEST(SparseServing, DecodeStepDoesTheWorkThatTheShapesSay) {
  const ServingReport report =
      Serve(kNode + std::vector<std::string>{"model=deepseek-v3.2", "serving.prompt=4095", "serving.output=2"}, true);
  EXPECT_NEAR(AttentionOf(report.operators.decode).flops.base(), 2.0 * 4096 * 64 * 128 + 2.0 * 2048 * 16 * 1088, 1);
  EXPECT_EQ(AttentionOf(report.operators.decode).count, 61);
}

// DeepSeek-V3.2 at TP 8: of a prompt of 2,048 each of 16 heads attends to 2,048 x 2,049 / 2 pairs, with keys of 192 and
// values of 128 numbers, and nothing is scored. A longer one is scored with 64 heads of 128 and attends on the latent.
TEST(SparseServing, OnlyPromptsOfNoMoreThanIsSelectedAreDense) {
  const auto flops = [](const std::string& prompt) {
    const ServingReport report =
        Serve(kNode + std::vector<std::string>{"model=deepseek-v3.2", "serving.prompt=" + prompt}, true);
    return AttentionOf(report.operators.prefill).flops.base();
  };
  const double pairs = 2048 * 2049 / 2.0, longer = 4096 * 4097 / 2.0;
  EXPECT_NEAR(flops("2048") / (pairs * 2 * 16 * 320), 1, 1e-9);
  EXPECT_NEAR(flops("4096") / ((pairs + 2048 * 2048) * 2 * 16 * 1088 + longer * 2 * 64 * 128), 1, 1e-9);
}

// GLM-5.2: 21 of 78 layers score and select; every layer attends to the selected tokens.
TEST(SparseServing, LayersShareASelection) {
  const ServingReport report =
      Serve(kNode + std::vector<std::string>{"model=glm-5.2", "serving.prompt=4095", "serving.output=2"}, true);
  EXPECT_NEAR(AttentionOf(report.operators.decode).flops.base(),
              21.0 / 78 * 2 * 4096 * 32 * 128 + 2.0 * 2048 * 8 * 1088, 1);
}

// The projections of the indexer run in as many layers as select: 21 of GLM-5.2's, all 78 of GLM-5's, which has the
// same shape.
TEST(SparseServing, OnlyLayersThatSelectLaunchTheIndexersProjections) {
  const auto time = [](const std::string& model) {
    const ServingReport report = Serve(kNode + std::vector<std::string>{"model=" + model}, true);
    double layers = 0, seconds = 0;
    for (const ServedOperator& one : report.operators.decode) {
      if (one.name == "indexer projection") layers += one.count, seconds += one.count * one.time.base();
    }
    return std::pair{layers, seconds};
  };
  const auto [layers, seconds] = time("glm-5.2");
  const auto [all_layers, all_seconds] = time("glm-5");
  EXPECT_NEAR(layers / all_layers, 21.0 / 78, 1e-9);
  EXPECT_NEAR(seconds / all_seconds, 21.0 / 78, 1e-9);
}

// A row of FlashMLA in fp8 has 512 bytes for the latent, 16 for scales and 128 for the rotary part in 16 bit; a key has 132
// bytes. A log of vLLM on RTX PRO 6000 gives 54,728 bytes per token for GLM-5.2 with its draft module, which are 79 rows
// and 22 keys; the model alone has 78 and 21. Rows of FlashInfer's kernels on B200 have 576 elements without scales, as
// have all rows in 16 bit.
TEST(SparseServing, RowsInFp8HaveScalesForFlashMla) {
  const auto per_token = [](const std::string& cluster, const std::string& kv_cache) {
    return Serve({"model=glm-5.2", "cluster=" + cluster, "serving.devices=8", "serving.mapping.tp=8",
                  "serving.precision.weights=fp8", "serving.precision.kv_cache=" + kv_cache, "serving.batch=1"})
        .kv_cache_per_token.base();
  };
  EXPECT_NEAR(per_token("dgx-h200", "fp8"), 78 * 656 + 21 * 132, 1e-6);
  EXPECT_NEAR(per_token("pcie5-server", "fp8"), 78 * 656 + 21 * 132, 1e-6);
  EXPECT_NEAR(per_token("dgx-b200", "fp8"), 78 * 576 + 21 * 132, 1e-6);
  EXPECT_NEAR(per_token("dgx-h200", "bf16"), 78 * 1152 + 21 * 132, 1e-6);
}

// MiniMax-M3 on 8 devices: a rank has 8 query heads, their KV head and their indexer head. 57 of 60 layers score 8,192
// tokens with one head of 128 and attend to 2,048; the others attend to all.
TEST(SparseServing, BlocksAreSelectedForEachKvHead) {
  const ServingReport report =
      Serve(kNode + std::vector<std::string>{"model=minimax-m3", "serving.prompt=8191", "serving.output=2"}, true);
  const double selected = 2.0 * 8192 * 128 + 4.0 * 2048 * 8 * 128, whole = 4.0 * 8192 * 8 * 128;
  EXPECT_NEAR(AttentionOf(report.operators.decode).flops.base(), (57 * selected + 3 * whole) / 60, 1);
  EXPECT_EQ(AttentionOf(report.operators.decode).count, 60);
}

// Published: at a million tokens MiniMax-M3 decodes 15 times as fast as MiniMax-M2, whose 8 KV heads of 128 are read in
// full. A layer that selects reads a key of 128 elements per token where M2 reads 2,048; ours is 12 times as fast.
TEST(SparseServing, BlocksPayAtLongContexts) {
  const auto attention = [](const std::string& model, const std::string& prompt) {
    const ServingReport report = Serve(
        kNode + std::vector<std::string>{"model=" + model, "serving.mapping.tp=1", "serving.mapping.attention_dp=8",
                                         "serving.mapping.ep=8", "serving.batch=8", "model.indexer.layers=60",
                                         "serving.prompt=" + prompt},
        true);
    return AttentionOf(report.operators.decode).time;
  };
  const auto whole = [](const std::string& prompt) {
    const ServingReport report = Serve(
        kNode + std::vector<std::string>{"model=minimax-m2.7", "serving.mapping.tp=1", "serving.mapping.attention_dp=8",
                                         "serving.mapping.ep=8", "serving.batch=8", "serving.prompt=" + prompt},
        true);
    return AttentionOf(report.operators.decode).time;
  };
  EXPECT_GT(whole("1000000") / attention("minimax-m3", "1000000"), 10);
  EXPECT_LT(whole("1000000") / attention("minimax-m3", "1000000"), 16);
  EXPECT_LT(whole("2048") / attention("minimax-m3", "2048"), 1);
}

TEST(SparseServing, NeverGetsFasterAsTheContextGrows) {
  for (const std::string model : {"deepseek-v3.2", "glm-5"}) {
    Seconds token, first;
    for (const std::string prompt : {"256", "1024", "2047", "2049", "4096", "16384", "65536", "131072"}) {
      const ServingReport report =
          Serve(kNode + std::vector<std::string>{"model=" + model, "serving.prompt=" + prompt});
      EXPECT_GE(report.tpot, token) << model << " " << prompt;
      EXPECT_GE(report.ttft, first) << model << " " << prompt;
      token = report.tpot, first = report.ttft;
    }
  }
}

// With DP attention, as these models are served (TP ranks would each score with all 64 heads of the indexer). At 128k a
// prompt takes less than 0.8 of the time with full attention, and a token less time; at 1k neither does.
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

// Engines that time a layer as a whole only have full attention: a warning names what was computed instead of the
// sparse kernels.
TEST(SparseServing, EnginesWithoutItsKernelsSaySo) {
  const auto warns = [](const std::string& engine, const std::string& cluster, const std::string& model,
                        const std::string& text) {
    const ServingReport report =
        Serve({"model=" + model, "cluster=" + cluster, "serving.engine=" + engine, "serving.batch=1"});
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
