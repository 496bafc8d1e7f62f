// Shapes and parameter counts: published figures and hand calculation.
#include "core/workload/model.h"

#include <gtest/gtest.h>

#include "core/workload/layer_counts.h"
#include "tests/core/workload/named_model.h"

namespace slipstick {
namespace {

Model Gpt(Count layers, Count hidden, Count heads) {
  Model model;
  model.layers = layers, model.hidden = hidden, model.heads = heads, model.ffn = 4 * hidden, model.vocab = 51200;
  model.gated = false, model.tied_embeddings = true, model.norms.kind = Norm::kLayer, model.biases = Biases::kAll;
  model.positions.encoding = Position::kLearned, model.positions.rows = 2048;
  return model;
}

// Narayanan et al. 2021: P = 12 L h^2 (1 + 13/(12h) + (V+s)/(12 L h)) counts everything except the final norm's 2h.
TEST(Parameters, GptFormulaOfNarayanan) {
  for (const auto& [layers, hidden, heads] :
       {std::tuple<Count, Count, Count>{24, 2304, 24}, {30, 3072, 32}, {128, 25600, 160}}) {
    const double l = static_cast<double>(layers), h = static_cast<double>(hidden);
    const double formula = 12 * l * h * h + 13 * l * h + (51200 + 2048) * h;
    EXPECT_DOUBLE_EQ(CountParameters(Gpt(layers, hidden, heads)).total, formula + 2 * h);
  }
}

struct ActiveRow {
  const char* id;
  double active;  // parameters active for one token, embedding and head included
};
void PrintTo(const ActiveRow& row, std::ostream* out) { *out << row.id; }
class ActiveTest : public testing::TestWithParam<ActiveRow> {};
TEST_P(ActiveTest, OfMixturesOfExperts) { EXPECT_EQ(CountParameters(Named(GetParam().id)).active, GetParam().active); }
// Sums of the checkpoints' tensors with top_k of the experts. The announcements round them (12.9, 39, 36, 21, 2.4, 37,
// 3.3, 22 and 32 billion).
INSTANTIATE_TEST_SUITE_P(Table, ActiveTest,
                         testing::Values(ActiveRow{"mixtral-8x7b", 12879925248},
                                         ActiveRow{"mixtral-8x22b", 39161468928}, ActiveRow{"dbrx", 36469708800},
                                         ActiveRow{"deepseek-v2", 21375800320},
                                         ActiveRow{"deepseek-v2-lite", 2661150208},
                                         ActiveRow{"deepseek-v3", 37552297472}, ActiveRow{"qwen3-30b-a3b", 3353032704},
                                         ActiveRow{"qwen3-235b-a22b", 22190763520}));

TEST(Parameters, ActiveIsNearWhatWasAnnounced) {
  EXPECT_NEAR(CountParameters(Named("kimi-k2")).active, 32.9e9, 0.05e9);
  EXPECT_NEAR(CountParameters(Named("llama-4-maverick")).active, 17.2e9, 0.05e9);
  // OpenAI's model card counts the head but not the embedding: 5.13 and 3.61 billion.
  EXPECT_NEAR(CountParameters(Named("gpt-oss-120b")).active - 201088.0 * 2880, 5.13e9, 0.01e9);
  EXPECT_NEAR(CountParameters(Named("gpt-oss-20b")).active - 201088.0 * 2880, 3.61e9, 0.01e9);
}

TEST(Parameters, DeepSeekV3ByParts) {
  const ParameterCount count = CountParameters(Named("deepseek-v3"));
  EXPECT_EQ(count.attention_per_layer, 187107328);  // includes two norms of 1,536 and 512
  EXPECT_EQ(count.mtp_module, 11610068224);         // without the module's copies of embedding and head
  EXPECT_EQ(count.active - count.embedding, 36625618432);
}

// Gemma 4 31B: 5,376 wide, 32 query heads. Every sixth layer is global, with 4 KV heads of 512 and no value projection;
// the others are local, with 16 KV heads of 256. Each layer has norms of queries and keys. The total is 10 and 50 of
// these, 60 MLPs, 4 norms per layer and one at the end, and a tied embedding.
TEST(Parameters, Gemma4HasHeadsOfItsOwnInLocalLayers) {
  const ParameterCount count = CountParameters(Named("gemma-4-31b"));
  const double local = 5376.0 * (32 + 16 + 16) * 256 + 32 * 256 * 5376.0 + 2 * 256;
  const double full = 5376.0 * (32 + 4) * 512 + 32 * 512 * 5376.0 + 2 * 512;
  EXPECT_EQ(count.attention_per_layer, full);
  EXPECT_EQ(count.total, 10 * full + 50 * local + 60 * (3 * 5376.0 * 21504 + 4 * 5376) + 5376 + 262144 * 5376.0);
  // Announced: 3.8 of 25.2 billion.
  EXPECT_NEAR(CountParameters(Named("gemma-4-26b-a4b")).active, 3.8e9, 0.05e9);
}

// Gemma 4 E2B: 1,536 wide, 8 query heads and one KV head; every fifth of 35 layers has heads of 512, the others of 256.
// The last 20 have only queries, with one norm, and an MLP of 12,288 in place of 6,144. Each layer has a table of 256
// per token, a projection of the embedding to that width, a gate and a projection back, and five norms; the addition to
// the tables has one norm of 256.
TEST(Parameters, Gemma4E2BSharesKvCachesAndEmbedsEveryLayer) {
  const Model model = Named("gemma-4-e2b");
  const ParameterCount count = CountParameters(model);
  const double own = 12 * (1536.0 * (8 + 2) * 256 + 8 * 256 * 1536.0 + 2 * 256) +
                     3 * (1536.0 * (8 + 2) * 512 + 8 * 512 * 1536.0 + 2 * 512);
  const double shared = 16 * (2 * 1536.0 * 8 * 256 + 256) + 4 * (2 * 1536.0 * 8 * 512 + 512);
  const double mlps = 3 * 1536.0 * (15 * 6144 + 20 * 12288), embedded = 35 * 3 * 1536.0 * 256,
               norms = (35 * 5 + 1) * 1536.0 + 256;
  const double effective = 262144 * 1536.0 + own + shared + mlps + embedded + norms, tables = 35 * 262144.0 * 256;
  EXPECT_EQ(count.total, effective + tables);
  EXPECT_EQ(count.matrices, own - 12 * 512 - 3 * 1024 + shared - 16 * 256 - 4 * 512 + mlps + embedded);
  // Announced: 2.3 billion effective.
  EXPECT_NEAR(count.active, 2.3e9, 0.05e9);
  EXPECT_EQ(CountLayers(model).window, 28);
}

// DeepSeek-V4-Flash: 4,096 wide, 64 heads of 512 that share one KV row. Queries go through a rank of 1,024; outputs of
// 8 groups of 8 heads go to 1,024 each, then back. 21 of 43 layers make entries from two rows with two weights, 512
// wide, and indexer keys of 128 likewise, for an indexer of 64 heads; 20 layers make entries from one row with one
// weight. Before attention and before the experts there are hyper-connections of 24 numbers from four streams. Also
// norms of queries, rows, entries and keys, sinks, and weights for 4 and 128 positions.
TEST(Parameters, DeepSeekV4CompressesTheHistory) {
  const ParameterCount count = CountParameters(Named("deepseek-v4-flash"));
  const double h = 4096,
               common = h * 1024 + 1024 * 64 * 512.0 + h * 512 + 8 * 1024 * 4096.0 + 8 * 1024 * h + 2 * 24 * 4 * h;
  EXPECT_NEAR(common - 2 * 24 * 4 * h, 106.95e6, 0.01e6);
  const double selecting = 4 * 512 * h + (4 * 128 + 64) * h + 1024 * 64 * 128.0 + 9 * (512 + 128),
               heavy = 2 * 512 * h + 129 * 512;
  const double small = 1024 + 512 + 64 + 2 * 27;
  EXPECT_NEAR(count.attention_per_layer * 43, 43 * (common + small) + 21 * selecting + 20 * heavy, 1);
  EXPECT_NEAR(count.active, 13.3e9 + 129280 * h, 0.2e9);
  EXPECT_NEAR(CountParameters(Named("deepseek-v4-pro")).active, 49e9 + 129280 * 7168.0, 0.5e9);
}

// MiniMax-M3: 64 query and 4 KV heads of 128, 6,144 wide; 57 of 60 layers have an indexer with 4 heads, one key of 128
// and two norms.
TEST(Parameters, MiniMaxM3HasAnIndexerInMostLayers) {
  const Model model = Named("minimax-m3");
  const ParameterCount count = CountParameters(model);
  const double attention = 6144.0 * (64 + 8) * 128 + 64 * 128 * 6144.0 + 2 * 128,
               indexer = 6144.0 * (4 + 1) * 128 + 2 * 128;
  const double moe = 129 * 3.0 * 6144 * 3072 + 128 * 6144 + 128;
  EXPECT_NEAR(count.attention_per_layer * 60, 60 * attention + 57 * indexer, 1);
  EXPECT_NEAR(count.total,
              60 * (attention + 2 * 6144) + 57 * (indexer + moe) + 3 * 3.0 * 6144 * 12288 + 6144 + 2 * 200064 * 6144.0,
              1);
}

// A layer's indexer has 1,536 x 64 x 128 weights for queries, 7,168 x 128 for keys, 7,168 x 64 for head weights, and a
// layer norm of 2 x 128.
TEST(Parameters, DeepSeekV32HasAnIndexerInEveryLayer) {
  const ParameterCount count = CountParameters(Named("deepseek-v3.2"));
  const double indexer = 12582912 + 917504 + 458752 + 256;
  EXPECT_EQ(count.attention_per_layer, 187107328 + indexer);
  EXPECT_EQ(count.total, 671026419200 + 61 * indexer);
  EXPECT_EQ(count.mtp_module, 11610068224 + indexer);
  // The files hold 685.4 billion, with the MTP module and its copies of embedding and head.
  EXPECT_NEAR(count.total + count.mtp_module + 2 * 129280.0 * 7168, 685.4e9, 0.05e9);
  EXPECT_NEAR(CountParameters(Named("glm-5")).active, 41.8e9, 0.1e9);  // announced: 40; the embedding is 0.95 more
}

// GLM-5.2 is GLM-5 with an indexer on 21 of its 78 layers.
TEST(Parameters, LayersThatReuseASelectionHaveNoIndexer) {
  const double indexer = 2048.0 * 32 * 128 + 6144 * (128 + 32) + 256;
  EXPECT_NEAR(CountParameters(Named("glm-5.2")).total, CountParameters(Named("glm-5")).total - 57 * indexer, 1);
}

// Each block is one mixer or one MLP: 23 + 6 + 23.
TEST(Parameters, Nemotron3NanoByParts) {
  const ParameterCount count = CountParameters(Named("nemotron-3-nano-30b-a3b"));
  const double mamba = 2688.0 * (2 * 4096 + 2 * 8 * 128 + 64) + 4096 * 2688 + (4096 + 2048) * 5 + 3 * 64 + 4096;
  const double attention = 2688.0 * (32 + 2 * 2) * 128 + 4096 * 2688;
  const double experts = 128.0 * 2 * 2688 * 1856, others = 2688.0 * 128 + 128 + 2.0 * 2688 * 3712;
  const double ends = 2 * 131072.0 * 2688 + 53 * 2688;
  EXPECT_EQ(count.total, 23 * mamba + 6 * attention + 23 * (experts + others) + ends);
  EXPECT_EQ(count.active, 23 * mamba + 6 * attention + 23 * (experts * 6 / 128 + others) + ends);
  EXPECT_NEAR(count.active - count.embedding, 3.2e9, 0.05e9);  // announced, without the embedding
}

// Routed experts work at a quarter of the width behind a projection, shared experts at the full width.
TEST(Parameters, LatentExperts) {
  const ParameterCount super = CountParameters(Named("nemotron-3-super-120b-a12b"));
  EXPECT_EQ(super.moe_per_layer, 4096.0 * 512 + 512 + 2 * 4096.0 * 1024 + 512 * 2 * 1024.0 * 2688 + 2 * 4096.0 * 5376);
  EXPECT_NEAR(super.active - super.embedding, 12.2e9, 0.1e9);  // announced: 12
  const ParameterCount ultra = CountParameters(Named("nemotron-3-ultra-550b-a55b"));
  EXPECT_NEAR(ultra.active - ultra.embedding, 55e9, 0.1e9);
}

// 24 layers of latent attention with a gate, and 69 of delta attention with a full gate.
TEST(Parameters, KimiK3ByParts) {
  const ParameterCount count = CountParameters(Named("kimi-k3"));
  const double wide = 96 * 128;
  EXPECT_EQ(count.attention_per_layer,
            7168.0 * 1536 + 1536 * 96 * 192 + 7168 * 576 + 512 * 96 * 256 + 2 * 7168 * wide + 1536 + 512);
  EXPECT_NEAR(count.linear_attention_per_layer, 5 * 7168 * wide + 7168 * (96 + 128) + 128 * wide,
              0.2e6);                                           // and small parameters
  EXPECT_NEAR(count.active - count.embedding, 104.2e9, 0.1e9);  // published: 104
}

TEST(Parameters, WeightsInMatrixProducts) {
  EXPECT_EQ(CountParameters(Named("llama-2-7b")).matrices, 6476005376);
  EXPECT_EQ(CountParameters(Named("llama-2-70b")).matrices, 68451041280);
  EXPECT_EQ(CountParameters(Named("llama-3.1-8b")).matrices, 6979321856);
}

TEST(Parameters, EachPartCounts) {
  Model model;
  model.layers = 2, model.hidden = 8, model.heads = 2, model.kv_heads = 1, model.head_dim = 4, model.ffn = 16,
  model.vocab = 10;
  // q has 64, k and v 32 each, o 64; three matrices have 128; two norms have 8.
  const double layer = 64 + 32 + 32 + 64 + 3 * 128 + 16;
  EXPECT_EQ(CountParameters(model).total, 2 * layer + 8 + 2 * 80);
  model.tied_embeddings = true;
  EXPECT_EQ(CountParameters(model).total, 2 * layer + 8 + 80);
  model.head_bias = true;
  EXPECT_EQ(CountParameters(model).head, 10);
  model.head_bias = false;
  model.biases = Biases::kQkv;
  EXPECT_EQ(CountParameters(model).attention_per_layer, 192 + 16);
  model.biases = Biases::kAttention;
  EXPECT_EQ(CountParameters(model).attention_per_layer, 192 + 16 + 8);
  EXPECT_EQ(CountParameters(model).dense_mlp_per_layer, 384);
  model.biases = Biases::kMlp;
  EXPECT_EQ(CountParameters(model).attention_per_layer, 192);
  EXPECT_EQ(CountParameters(model).dense_mlp_per_layer, 384 + 2 * 16 + 8);
  model.biases = Biases::kNone;
  model.norms.queries_and_keys = QkNorm::kHead;
  EXPECT_EQ(CountParameters(model).attention_per_layer, 192 + 8);
  model.norms.queries_and_keys = QkNorm::kAllHeads;
  EXPECT_EQ(CountParameters(model).attention_per_layer, 192 + 12);
  model.norms.queries_and_keys = QkNorm::kNone;
  model.attention_sinks = true;
  EXPECT_EQ(CountParameters(model).attention_per_layer, 192 + 2);
  model.attention_sinks = false;
  model.norms.kind = Norm::kLayer, model.norms.per_layer = 1;
  EXPECT_EQ(CountParameters(model).norms_per_layer, 16);
  model.norms.kind = Norm::kLayerWithoutBias;
  EXPECT_EQ(CountParameters(model).norms_per_layer, 8);
  model.moe = Moe{.experts = 4, .top_k = 1, .shared_experts = 1, .expert_ffn = 2, .shared_ffn = 2, .dense_layers = 1};
  EXPECT_EQ(CountParameters(model).moe_per_layer, 5 * 48 + 32);
  EXPECT_EQ(CountParameters(model).moe_active_per_layer, 2 * 48 + 32);
  model.moe->router_bias = true, model.moe->shared_gate = true;
  EXPECT_EQ(CountParameters(model).moe_per_layer, 5 * 48 + 32 + 4 + 8);
  EXPECT_EQ(CountParameters(model).total, 2 * (192 + 8) + 384 + (5 * 48 + 32 + 4 + 8) + 8 + 80);
}

TEST(Layers, ThatSeeAWindowOrHaveExperts) {
  EXPECT_EQ(CountLayers(Named("gemma-3-27b")).window, 52);  // every sixth of 62 layers is global
  EXPECT_EQ(CountLayers(Named("gemma-2-9b")).window, 21);
  EXPECT_EQ(CountLayers(Named("gpt-oss-120b")).window, 18);
  EXPECT_EQ(CountLayers(Named("mistral-7b")).window, 32);
  EXPECT_EQ(CountLayers(Named("llama-3.1-8b")).window, 0);
  EXPECT_EQ(CountLayers(Named("deepseek-v3")).moe, 58);
  EXPECT_EQ(CountLayers(Named("llama-4-maverick")).moe, 24);
  EXPECT_EQ(CountLayers(Named("llama-4-scout")).moe, 48);
  EXPECT_EQ(CountLayers(Named("llama-3.1-8b")).moe, 0);
}

TEST(Complete, FillsWhatFollows) {
  const Model mixtral = Named("mixtral-8x7b");
  EXPECT_EQ(mixtral.moe->expert_ffn, 14336);
  EXPECT_EQ(mixtral.moe->shared_ffn, 0);
  EXPECT_EQ(Named("deepseek-v2").moe->shared_ffn, 2 * 1536);
  Model model = Gpt(2, 64, 4);
  Issues issues;
  ValidateAndFillDefaults(model, "model", issues);
  EXPECT_TRUE(issues.empty());
  EXPECT_EQ(model.head_dim, 16);
  EXPECT_EQ(model.kv_heads, 4);
}

TEST(Complete, ReportsContradictionsAtTheirPaths) {
  Model model = Gpt(2, 65, 4);
  Issues issues;
  ValidateAndFillDefaults(model, "model", issues);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].path, "model.head_dim");

  model = Gpt(2, 64, 4);
  model.kv_heads = 3;
  model.moe = Moe{.experts = 4, .top_k = 5, .dense_layers = 3};
  issues.clear();
  ValidateAndFillDefaults(model, "model", issues);
  ASSERT_EQ(issues.size(), 3u);
  EXPECT_EQ(issues[0].path, "model.kv_heads");
  EXPECT_EQ(issues[1].path, "model.moe.top_k");
  EXPECT_EQ(issues[2].path, "model.moe.dense_layers");
}

// Where some layers have no MLP, the others either all have experts or none does.
TEST(Complete, LayersWithoutAnMlpDoNotMixExpertsAndDenseOnes) {
  struct Mix {
    Moe moe;
    bool is_legal;
  };
  for (const auto& [moe, is_legal] :
       {Mix{{.experts = 4, .top_k = 1}, true}, Mix{{.experts = 4, .top_k = 1, .dense_layers = 1}, false},
        Mix{{.experts = 4, .top_k = 1, .moe_every = 2}, false}}) {
    Model model = Gpt(4, 64, 4);
    model.mlp_layers = 2;
    model.moe = moe;
    Issues issues;
    ValidateAndFillDefaults(model, "model", issues);
    EXPECT_EQ(issues.empty(), is_legal);
    if (!is_legal) {
      ASSERT_EQ(issues.size(), 1u);
      EXPECT_EQ(issues[0].path, "model.mlp_layers");
    }
  }
}

TEST(Complete, AnIndexerNeedsLatentAttention) {
  Model model = Gpt(2, 64, 4);
  model.indexer = Indexer{};
  Issues issues;
  ValidateAndFillDefaults(model, "model", issues);
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].path, "model.indexer");
}

}  // namespace
}  // namespace slipstick
