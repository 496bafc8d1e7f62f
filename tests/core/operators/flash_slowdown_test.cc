// A stated version of FlashAttention against the fastest kernel of the device.
#include <gtest/gtest.h>

#include "core/operators/attention.h"
#include "tests/core/operators/devices.h"

namespace slipstick {
namespace {

Attention FlashCore(double tokens, double head_dim, AttentionPhase phase) {
  Attention attention;
  attention.phase = phase;
  attention.batch = 16384 / tokens, attention.q_len = attention.kv_len = tokens;
  attention.heads = attention.kv_heads = 16;
  attention.head_dim = head_dim;
  return attention;
}

// FlashAttention-2's benchmark on A100 (causal, head dimension 128, 16,384 tokens in sequences of 8,192): version 1
// reaches about 70 to 80 TFLOP/s forward and version 2 about 190, so version 1 takes 2.3 to 3 times as long.
TEST(FlashSlowdown, Version1TakesTwiceAsLongAsVersion2OnAmpere) {
  const Attention core = FlashCore(8192, 128, AttentionPhase::kPrefill);
  EXPECT_GT(FlashSlowdown(FlashVersion::kFlash1, core, AttentionA100()), 2.2);
  EXPECT_LT(FlashSlowdown(FlashVersion::kFlash1, core, AttentionA100()), 3.1);
  EXPECT_EQ(FlashSlowdown(FlashVersion::kFlash2, core, AttentionA100()), 1);
}

// FlashAttention-3 is 1.5 to 2.0 times as fast as version 2 forward on H100 (Shah et al. 2024, abstract).
TEST(FlashSlowdown, Version2TakesLongerThanVersion3OnHopper) {
  const Attention core = FlashCore(16384, 128, AttentionPhase::kPrefill);
  EXPECT_GT(FlashSlowdown(FlashVersion::kFlash2, core, AttentionH100()), 1.5);
  EXPECT_LT(FlashSlowdown(FlashVersion::kFlash2, core, AttentionH100()), 2.0);
  EXPECT_EQ(FlashSlowdown(FlashVersion::kFlash3, core, AttentionH100()), 1);
}

TEST(FlashSlowdown, AnEarlierVersionIsNeverFaster) {
  for (const Device& device : {AttentionA100(), AttentionH100(), AttentionB200(), AttentionL40S()}) {
    for (const AttentionPhase phase : {AttentionPhase::kPrefill, AttentionPhase::kBackward}) {
      for (const double tokens : {128., 512., 2048., 16384.}) {
        for (const double head_dim : {64., 128., 256.}) {
          const Attention core = FlashCore(tokens, head_dim, phase);
          const double one = FlashSlowdown(FlashVersion::kFlash1, core, device),
                       two = FlashSlowdown(FlashVersion::kFlash2, core, device),
                       three = FlashSlowdown(FlashVersion::kFlash3, core, device);
          EXPECT_GE(one, two) << tokens << " " << head_dim;
          EXPECT_GE(two, three) << tokens << " " << head_dim;
          EXPECT_GE(three, 1) << tokens << " " << head_dim;
        }
      }
    }
  }
}

}  // namespace
}  // namespace slipstick
