// KV cache and weights, exactly; memory budgets of engines against their logs.
#include "core/serving/serving_memory.h"

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

const std::vector<std::string> kOneH100{"cluster=single-h100-sxm5-80gb", "serving.batch=1"};

struct CacheCase {
  std::string model;
  double bytes_per_token;  // 16 bit, all layers, from the published shapes
};

TEST(KvCachePerToken, IsThatOfThePublishedShapes) {
  const CacheCase cases[] = {
      {"llama-2-7b", 524288},
      {"llama-2-13b", 819200},
      {"llama-2-70b", 327680},
      {"llama-3.1-8b", 131072},
      {"llama-3.1-70b", 327680},
      {"llama-3.1-405b", 516096},
      {"mistral-7b", 131072},
      {"qwen2.5-7b", 57344},
      {"qwen2.5-72b", 327680},
      {"qwen3-30b-a3b", 98304},
      {"qwen3-235b-a22b", 192512},
      {"deepseek-v3", 70272},
      {"deepseek-v2", 69120},
      {"deepseek-v2-lite", 31104},
      {"gemma-2-9b", 344064},
      // the indexer's key: 128 in fp8 and a 4-byte scale in each of 61 and 78 layers
      {"deepseek-v3.2", 70272 + 61 * 132},
      // 50 local layers with 16 KV heads of 256, 10 with 4 of 512; 25 with 8 and 5 with 2
      {"gemma-4-31b", 50 * 16384 + 10 * 8192},
      {"gemma-4-26b-a4b", 25 * 8192 + 5 * 4096},
      // 15 layers have keys and values, 3 of them with a KV head of 512; of 24 layers, 4 with two; the others have 256
      {"gemma-4-e2b", 2 * (3 * 512 + 12 * 256) * 2},
      {"gemma-4-e4b", 2 * (4 * 2 * 512 + 20 * 2 * 256) * 2},
      {"glm-5", 78 * (1152 + 132)},
      {"glm-5.2", 78 * 1152 + 21 * 132},  // an indexer in 21 layers
      // the indexer's key in the KV cache's 16 bits, in 57 of 60 layers
      {"minimax-m3", 60 * 2 * 4 * 128 * 2 + 57 * 128 * 2},
      {"kimi-k3", 24 * 576 * 2},
      {"nemotron-3-nano-30b-a3b", 6 * 2 * 2 * 128 * 2},
      {"nemotron-3-ultra-550b-a55b", 12 * 2 * 2 * 128 * 2}};
  for (const CacheCase& one : cases) {
    const ServingReport report = Serve(kOneH100 + std::vector<std::string>{"model=" + one.model});
    EXPECT_DOUBLE_EQ(report.kv_cache_per_token.base(), one.bytes_per_token) << one.model;
  }
}

// vLLM's memory for a sequence of Gemma 4 31B, beyond the tokens in flight. A page of 2,621,440 bytes holds keys and
// values of 32 tokens for the 10 global layers, or of 16 tokens for ten local ones (262,144 tokens: 8,192 pages;
// windows of 1,024: 5 x 64). A running sequence holds half of its output on average.
TEST(KvCachePerToken, OfLocalLayersEndsAtTheWindow) {
  const std::vector<std::string> gemma{"model=gemma-4-31b", "cluster=single-h200-sxm", "serving.engine=vllm",
                                       "serving.batch=1",   "serving.prompt=262080",   "serving.output=128"};
  EXPECT_DOUBLE_EQ(Serve(gemma).kv_cache.base(), (8192 + 5 * 64) * 2621440.0);
  // On four devices each holds one KV head of the global layers and four of the local ones.
  const std::vector<std::string> split{"cluster=dgx-h200", "serving.devices=4", "serving.mapping.tp=4"};
  EXPECT_DOUBLE_EQ(Serve(gemma + split).kv_cache.base(), (8192 + 5 * 64) * 2621440.0 / 4);
}

// A sequence of Gemma 4 E2B: three layers with a KV head of 512 hold all of it, twelve layers with one of 256 at most
// the window of 512. Twenty layers hold nothing.
TEST(KvCachePerToken, OfSharedLayersIsHeldOnce) {
  const std::vector<std::string> gemma{"model=gemma-4-e2b", "cluster=single-h100-sxm5-80gb", "serving.engine=vllm",
                                       "serving.batch=1",   "serving.prompt=65472",          "serving.output=128"};
  EXPECT_DOUBLE_EQ(Serve(gemma).kv_cache.base(), 2 * 2 * (3 * 512 * 65536.0 + 12 * 256 * 512.0));
}

TEST(KvCachePerToken, FollowsKvHeadsAndHeadSizeNotQueryHeads) {
  // Head size and KV heads come from the model; hidden / heads would differ for each.
  const std::vector<std::string> shape{"cluster=single-h100-sxm5-80gb",
                                       "model.layers=10",
                                       "model.hidden=1024",
                                       "model.heads=16",
                                       "model.ffn=4096",
                                       "model.vocab=32000",
                                       "model.kv_heads=4",
                                       "model.head_dim=128"};
  EXPECT_DOUBLE_EQ(Serve(shape).kv_cache_per_token.base(), 2 * 10 * 4 * 128 * 2);
  EXPECT_DOUBLE_EQ(Serve(shape + std::vector<std::string>{"serving.precision.kv_cache=fp8"}).kv_cache_per_token.base(),
                   10240);
}

// One device holds every parameter of the published checkpoints in 16 bit, including expert biases, recurrence time
// steps and attention sinks, but not the final norm, the embedding norm and the head bias.
TEST(Weights, IncludeTheWholeModel) {
  for (const std::string model : {"llama-3.1-8b",
                                  "gpt-oss-20b",
                                  "gpt-oss-120b",
                                  "jamba-v0.1",
                                  "kimi-linear-48b-a3b",
                                  "qwen3-next-80b-a3b",
                                  "minimax-text-01",
                                  "deepseek-v3",
                                  "deepseek-v3.2",
                                  "glm-5.2",
                                  "kimi-k3",
                                  "nemotron-3-nano-30b-a3b",
                                  "nemotron-3-super-120b-a12b",
                                  "gemma-4-31b",
                                  "gemma-4-26b-a4b",
                                  "gemma-4-e2b",
                                  "gemma-4-e4b",
                                  "minimax-m3",
                                  "deepseek-v2-lite",
                                  "qwen2-57b-a14b",
                                  "olmo-2-7b",
                                  "qwen3-8b"}) {
    const Result<Scenario> scenario = ScenarioOf(kOneH100 + std::vector<std::string>{"model=" + model});
    ASSERT_TRUE(scenario) << model;
    const Bytes weights = WeightsOf(Deploy(scenario->model, scenario->cluster, *scenario->serving));
    EXPECT_NEAR(weights.base() / (2 * CountParameters(scenario->model).total), 1, 2e-6) << model;
  }
}

TEST(KvCacheOfSequence, HoldsNoMoreThanTheWindowWhereThereIsOne) {
  const std::vector<std::string> shape{"cluster=single-h100-sxm5-80gb",
                                       "model.layers=12",
                                       "model.hidden=1024",
                                       "model.heads=16",
                                       "model.ffn=4096",
                                       "model.vocab=32000",
                                       "model.sliding_window=512",
                                       "serving.engine=ideal",
                                       "serving.prompt=4000",
                                       "serving.output=96"};
  const double layer_token = 2 * 1024 * 2;
  EXPECT_DOUBLE_EQ(Serve(shape).kv_cache.base(), 12 * 512 * layer_token);
  // Every sixth layer is global: two of twelve.
  EXPECT_DOUBLE_EQ(Serve(shape + std::vector<std::string>{"model.global_every=6"}).kv_cache.base(),
                   (10 * 512 + 2 * 4096) * layer_token);
}

// TensorRT-LLM keeps the whole sequence in every layer, SGLang eight tenths of it in layers with a window. One layer
// holds 4,096 bytes per token.
TEST(KvCacheOfSequence, HoldsTheEnginesShareInLayersWithAWindow) {
  const auto serve = [](double share, const char* prompt) {
    return Serve({"cluster=single-h100-sxm5-80gb", "model.layers=12", "model.hidden=1024", "model.heads=16",
                  "model.ffn=4096", "model.vocab=32000", "model.sliding_window=512", "model.global_every=6",
                  "serving.engine=ideal", "serving.output=96", std::string("serving.prompt=") + prompt,
                  "serving.engine.memory.window_share=" + std::to_string(share)});
  };
  const double layer_token = 4096;
  EXPECT_DOUBLE_EQ(serve(1, "4000").kv_cache.base(), 12 * 4096 * layer_token);
  EXPECT_DOUBLE_EQ(serve(0.5, "4000").kv_cache.base(), (10 * 2048 + 2 * 4096) * layer_token);
  EXPECT_DOUBLE_EQ(serve(0.5, "704").kv_cache.base(),
                   (10 * 512 + 2 * 800) * layer_token);  // the window is larger than that
  // In the longest context, 12 layers grow with it in place of two.
  const double all = serve(1, "4000").max_context, windows = serve(0, "4000").max_context;
  EXPECT_NEAR((windows * 2 + 10 * 512) / (all * 12), 1, 1e-4);
}

TEST(KvCacheOfSequence, IsReplicatedBeyondTheKvHeadsAndNeverSplitWhereLatent) {
  const std::vector<std::string> load{"cluster=dgx-h100", "cluster.devices=16", "serving.engine=ideal",
                                      "serving.prompt=1000", "serving.output=24"};
  const auto at = [&](const char* model, int tp) {
    return Serve(load + std::vector<std::string>{std::string("model=") + model, "serving.devices=" + std::to_string(tp),
                                                 "serving.mapping.tp=" + std::to_string(tp)})
        .kv_cache.base();
  };
  EXPECT_DOUBLE_EQ(at("llama-3.1-70b", 8), 1024.0 * 327680 / 8);
  EXPECT_DOUBLE_EQ(at("llama-3.1-70b", 16), 1024.0 * 327680 / 8) << "eight KV heads over sixteen ranks: one each";
  EXPECT_DOUBLE_EQ(at("deepseek-v3", 8), 1024.0 * 70272);
}

TEST(Weights, AreTheCheckpointsOnOneDevice) {
  // Published parameter counts, two bytes each.
  EXPECT_NEAR(Serve(kOneH100 + std::vector<std::string>{"model=llama-3.1-8b"}).memory.weights.base(), 2 * 8030261248.0,
              1e5);
  EXPECT_NEAR(Serve(kOneH100 + std::vector<std::string>{"model=llama-2-7b"}).memory.weights.base(), 2 * 6738415616.0,
              1e5);
  // Tied embeddings are stored only once.
  EXPECT_NEAR(Serve(kOneH100 + std::vector<std::string>{"model=llama-3.2-1b"}).memory.weights.base(), 2 * 1235814400.0,
              1e5);
}

TEST(Weights, OfFp8KeepEmbeddingAndHeadInSixteenBit) {
  const ServingReport report =
      Serve(kOneH100 + std::vector<std::string>{"model=llama-3.1-8b", "serving.precision.weights=fp8",
                                                "serving.precision.activations=fp8"});
  const double matrices = 6979321856.0, ends = 2 * 525336576.0;
  EXPECT_NEAR(report.memory.weights.base(), matrices + 2 * ends, 2e6);
}

TEST(Weights, OfExpertsAreSplitOverTheirGroup) {
  const std::vector<std::string> load{"cluster=dgx-h200", "model=qwen3-235b-a22b", "serving.devices=8",
                                      "serving.mapping.tp=8"};
  const Bytes tensor = Serve(load).memory.weights;
  const Bytes expert = Serve(load + std::vector<std::string>{"serving.mapping.ep=8"}).memory.weights;
  EXPECT_NEAR(tensor / expert, 1, 1e-9) << "eight experts' eighths or an eighth of the experts";
  EXPECT_NEAR(In(tensor, kGB), 2 * 235.09 / 8, 1.5);
}

TEST(Budget, DoesNotEndAtTheModelsOwnContext) {
  EXPECT_GT(Serve(kOneH100 + std::vector<std::string>{"model=llama-2-7b"}).max_context, 4096);
}

// GLM-5 in 4 bits takes 390 GiB. macOS gives the GPU 384 of the M3 Ultra's 477 unless told otherwise.
TEST(Budget, NamesTheUsableMemoryWhereTheDeviceHasMore) {
  const std::vector<std::string> glm{"cluster=single-m3-ultra", "model=glm-5", "serving.engine=mlx", "serving.batch=1",
                                     "serving.precision.weights=q4_0"};
  const ServingReport lacks = Serve(glm);
  ASSERT_FALSE(lacks.infeasible.empty());
  EXPECT_NE(lacks.infeasible[0].message.find("cluster.device.memory.usable"), std::string::npos)
      << lacks.infeasible[0].message;
  EXPECT_TRUE(Serve(glm + std::vector<std::string>{"cluster.device.memory.usable=440 GiB"}).infeasible.empty());
  // 405 billion weights exceed all of an H100's memory.
  const ServingReport never = Serve(kOneH100 + std::vector<std::string>{"model=llama-3.1-405b"});
  ASSERT_FALSE(never.infeasible.empty());
  EXPECT_EQ(never.infeasible[0].message.find("usable"), std::string::npos) << never.infeasible[0].message;
}

TEST(Budget, FillsABatchOfMax) {
  const std::vector<std::string> load{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=trtllm",
                                      "serving.batch=max"};
  const ServingReport report = Serve(load);
  EXPECT_EQ(report.batch, report.max_batch);
  EXPECT_TRUE(report.infeasible.empty());
  EXPECT_LE(report.memory.Total(), report.memory.capacity);
  const ServingReport more = Serve({"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=trtllm",
                                    "serving.batch=" + std::to_string(report.max_batch + 1)});
  ASSERT_EQ(more.infeasible.size(), 1U);
  EXPECT_EQ(more.infeasible[0].reason, "kv_cache");
  EXPECT_GT(more.tokens_per_s.base(), 0) << "figures stay";
}

TEST(Budget, RefusesAModelThatDoesNotFit) {
  const ServingReport report = Serve(kOneH100 + std::vector<std::string>{"model=llama-3.1-70b"});
  ASSERT_FALSE(report.infeasible.empty());
  EXPECT_EQ(report.infeasible[0].reason, "memory");
  EXPECT_EQ(report.max_batch, 0);
}

}  // namespace
}  // namespace slipstick
