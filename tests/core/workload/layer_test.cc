// Shapes of a layer on one device, by hand from published models.
#include "core/workload/layer.h"

#include <gtest/gtest.h>

#include "core/base/bind_inputs.h"
#include "core/catalogue/presets.h"
#include "tests/core/workload/named_model.h"
#include "tests/support/explained.h"

namespace slipstick {
namespace {

// DeepSeek-V3 (arXiv 2412.19437): hidden size 7168, 128 heads of 128 + 64, ranks 1536 and 512, values of 128; on 4
// ranks each has 32 heads.
TEST(Layer, LatentAttentionOnFourRanks) {
  const Model model = Named("deepseek-v3");
  const MatrixProducts products = MixerProducts(model, Mixer::kFullAttention, WidthsOf(model, 4, 1));
  struct Expected {
    ProductId id;
    double outputs, inputs;
  };
  for (const Expected& expected :
       {Expected{ProductId::kQueryDown, 1536, 7168}, Expected{ProductId::kQueryUp, 32 * 192, 1536},
        Expected{ProductId::kKeyValueDown, 576, 7168}, Expected{ProductId::kKeyValueUp, 32 * 256, 512},
        Expected{ProductId::kAttentionOut, 7168, 32 * 128}}) {
    const MatrixProduct* product = products.Find(expected.id);
    ASSERT_NE(product, nullptr);
    EXPECT_EQ(product->outputs, expected.outputs) << TraitsOf(expected.id).name;
    EXPECT_EQ(product->inputs, expected.inputs) << TraitsOf(expected.id).name;
  }
}

// Jamba (arXiv 2403.19887): 128 heads of 64 channels, states of 16, steps of rank 256.
TEST(Layer, ChannelsOfARecurrenceHaveStepsAndStates) {
  const Model model = Named("jamba-v0.1");
  const MatrixProducts products = MixerProducts(model, Mixer::kRecurrence, WidthsOf(model, 2, 1));
  EXPECT_EQ(ElementsOf(products).all_tokens, 8192.0 * 4096 + 4096.0 * 4096 + (256 + 2 * 16) * 4096.0 + 4096.0 * 256);
}

// Phi-3-medium has 10 KV heads and MLPs of 17,920 columns, GPT-2 a vocabulary of 50,257. Uneven splits count the most
// loaded rank.
TEST(Layer, TheMostLoadedRankHoldsWholeHeadsAndColumns) {
  const LayerWidths four = WidthsOf(Named("phi-3-medium"), 4, 1);
  EXPECT_EQ(four.heads, 10);
  EXPECT_EQ(four.kv_heads, 3);
  EXPECT_EQ(four.mlp, 4480);
  EXPECT_EQ(WidthsOf(Named("phi-3-medium"), 20, 1).kv_heads, 1);
  EXPECT_EQ(WidthsOf(Named("gpt2"), 4, 1).vocab, 12565);
}

// gpt-oss (model card, 2025): 64 query and 8 KV heads of 64, hidden size and expert width 2880, biases everywhere, one
// sink per head.
TEST(Layer, BiasesAndSinksAreCounted) {
  const Model model = Named("gpt-oss-20b");
  const LayerWidths whole = WholeWidths(model);
  EXPECT_EQ(SmallElements(model, Mixer::kFullAttention, whole), (64 + 2 * 8) * 64 + 2880 + 64);
  EXPECT_EQ(SmallElements(model, FeedForward::kExperts, whole), 32);
  EXPECT_EQ(ExpertBiases(model, whole), 2 * 2880 + 2880);
  EXPECT_EQ(ElementsOf(FeedForwardProducts(model, FeedForward::kExperts, whole)).expert, 3.0 * 2880 * 2880);
}

// 16-bit elements: a norm reads and writes (4 bytes); an addition reads two and writes one (6). A Llama layer has two
// of each. Gemma-2 also has norms after attention and MLP. GPT-J has one norm and adds both outputs in one pass (three
// reads, one write).
TEST(Layer, NormsAndAdditionsFollowTheModel) {
  struct Expected {
    const char* model;
    double norms, additions;  // bytes per element of the residual stream
  };
  for (const Expected& expected :
       {Expected{"llama-3.1-8b", 2 * 4, 2 * 6}, {"gemma-2-9b", 4 * 4, 2 * 6}, {"gpt-j-6b", 4, 8}}) {
    const Model model = Named(expected.model);
    const auto bytes_of = [&](const RowPass& pass) {
      return pass.columns * pass.forward / static_cast<double>(model.hidden);
    };
    const auto passes = RowPassesOf(model, {}, WholeWidths(model));  // norms, residual additions, others
    EXPECT_EQ(bytes_of(passes[0]), expected.norms) << expected.model;
    EXPECT_EQ(bytes_of(passes[1]), expected.additions) << expected.model;
  }
}

// The norms before attention and MLP follow an addition. Gemma 2 and Grok-1 normalize the outputs of both before the
// addition.
TEST(Layer, NormsOfOutputsStandAlone) {
  EXPECT_EQ(NormsBeforeAdditions(Named("llama-3.1-8b")), 0);
  EXPECT_EQ(NormsBeforeAdditions(Named("gpt-j-6b")), 0);
  EXPECT_EQ(NormsBeforeAdditions(Named("gemma-2-9b")), 2);
  EXPECT_EQ(NormsBeforeAdditions(Named("grok-1")), 2);
}

// Nemotron-H: heads of 64 and states of 128; a token attends to 128 tokens of its chunk, 128 (128 + 64), and meets the
// state, 2 x 64 x 128. Jamba: three multiply-adds per channel and state, with 64 channels and 16 states per head. A
// short sequence is one chunk.
TEST(Layer, MultiplicationsOfRecurrences) {
  EXPECT_EQ(RecurrencePairs(*Named("nemotron-h-8b").linear_attention, 8192), 128 * 192 + 2 * 64 * 128);
  EXPECT_EQ(RecurrencePairs(*Named("nemotron-h-8b").linear_attention, 32), 32 * 192 + 2 * 64 * 128);
  EXPECT_EQ(RecurrencePairs(*Named("jamba-v0.1").linear_attention, 8192), 3 * 64 * 16);
}

// Llama-3.1-70B on 8 ranks: each has 8 of 64 heads; its gated MLP has two matrices of 28,672 / 8 columns each.
TEST(Layer, ABoundModelExplainsItsLayers) {
  Tape tape;
  Model model = Named("llama-3.1-70b");
  BindInputs(model, "model", &tape);
  const LayerWidths widths = WidthsOf(model, 8, 1);
  const FigureRecord heads = FiguresOf(widths.heads).back();
  EXPECT_EQ(heads.formula, "ceil(heads / 8)");
  EXPECT_EQ(heads.terms[0].origin, "model.heads");
  const FigureRecord up = FiguresOf(ProductOf(ProductId::kMlpIn, model, widths).outputs).back();
  EXPECT_EQ(up.value, 2 * 3584);
  EXPECT_EQ(up.formula, "(1 + gated) * rank_mlp_width");
  EXPECT_EQ(up.terms[0].origin, "model.gated");
}

}  // namespace
}  // namespace slipstick
