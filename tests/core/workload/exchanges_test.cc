// Bytes that devices send each other, by hand from published models.
#include "core/workload/exchanges.h"

#include <gtest/gtest.h>

#include "core/base/units.h"
#include "core/workload/layer.h"
#include "tests/core/workload/named_model.h"

namespace slipstick {
namespace {

// Llama-3.1-70B: hidden size 8192, 64 query and 8 KV heads of 128. On 8 ranks each has 8 and 1.
TEST(Exchanges, SixteenBitActivations) {
  const Model model = Named("llama-3.1-70b");
  const MixerCore core = CoreOf(model, Mixer::kFullAttention, WidthsOf(model, 8, 1));
  EXPECT_EQ(ResidualBytes(4096, model.hidden), 4096 * 8192 * 2 * kB);
  EXPECT_EQ(QueryBytes(4096, core.heads, core.query_width), 4096 * 8 * 128 * 2 * kB);
  EXPECT_EQ(KeyValueBytes(4096, core.kv_heads, core.query_width, core.value_width), 4096 * 2 * 128 * 2 * kB);
}

// DeepSeek-V3: queries and keys of 128 + 64, values of 128; on 16 ranks each has 8 heads.
TEST(Exchanges, KeysOfLatentAttentionAreWiderThanItsValues) {
  const Model model = Named("deepseek-v3");
  const MixerCore core = CoreOf(model, Mixer::kFullAttention, WidthsOf(model, 16, 1));
  EXPECT_EQ(KeyValueBytes(100, core.kv_heads, core.query_width, core.value_width), 100 * 8 * (192 + 128) * 2 * kB);
}

// Nemotron 3 Super sends its tokens at a quarter of the width of its residual stream.
TEST(Exchanges, LatentExpertsGetNarrowRows) {
  EXPECT_EQ(RoutedBytes(100, RoutedWidth(Named("nemotron-3-super-120b-a12b"))), 100 * 1024 * 2 * kB);
  EXPECT_EQ(RoutedBytes(100, RoutedWidth(Named("nemotron-3-nano-30b-a3b"))), 100 * 2688 * 2 * kB);
}

// One copy per rank that holds any of a token's experts: top-2 over 4 ranks reaches 4 (1 - (3/4)^2) = 1.75 ranks.
TEST(Exchanges, ATokenIsSentOncePerOwner) {
  EXPECT_DOUBLE_EQ(OwnersReached(4, 2), 1.75);
  EXPECT_EQ(OwnersReached(1, 8), 1);
}

// fp8 has a 4-byte scale per 128 elements (DeepSeek-V3, DeepEP), nvfp4 one byte per 16; 32-bit results are sent in 16
// bits.
TEST(Exchanges, DispatchedTokensHaveTheExpertsFormat) {
  EXPECT_EQ(DispatchedElement(Precision::kFp8), 1 + 4.0 / 128);
  EXPECT_EQ(DispatchedElement(Precision::kNvfp4), 0.5 + 1.0 / 16);
  EXPECT_EQ(DispatchedElement(Precision::kBf16), 2);
  EXPECT_EQ(DispatchedElement(Precision::kFp32), 2);
}

}  // namespace
}  // namespace slipstick
