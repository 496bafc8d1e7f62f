// Sparse attention: work by hand, times as published.
#include "core/operators/sparse_attention.h"

#include <gtest/gtest.h>

#include "tests/core/operators/devices.h"

namespace slipstick {
namespace {

SparseAttentionTime Timed(const SparseAttention& attention, const Device& device) { return TimeOf(attention, device); }

// DeepSeek-V3.2, four sequences of 32,768 tokens, one query each.
TEST(SparseAttention, DecodeDoesTheWorkThatTheShapesSay) {
  SparseAttention attention;
  attention.decode = true;
  attention.batch = 4, attention.kv_len = 32768;
  const SparseAttentionTime times = Timed(attention, H200());
  EXPECT_EQ(times.scores.flops.base(), 2.0 * 4 * 32768 * 64 * 128);
  // Keys have 128 bytes and a scale of 4, queries are written and read, and scores are in fp32.
  EXPECT_EQ(times.scores.bytes.base(), 4 * 32768 * 132.0 + 4 * 4 * 8192.0 + 4 * 4 * 32768.0);
  EXPECT_EQ(times.selection.bytes.base(), 2 * 4 * 4 * 32768.0 + 4 * 4 * 2048.0);
  EXPECT_EQ(times.core.flops.base(), 2.0 * 4 * 2048 * 128 * (512 + 512 + 64));
  EXPECT_EQ(times.core.bytes.base(), 4 * 2048 * 576 * 2.0 + 2 * 4 * 128 * 1088.0);
  EXPECT_EQ(times.all.flops.base(), (times.scores.flops + times.core.flops).base());
  attention.kv_precision = Precision::kFp8;
  // FlashMLA reads a row with fp8 elements, their scales and a rotary part in 16 bit.
  EXPECT_EQ(Timed(attention, H200()).core.bytes.base(), 4 * 2048 * 656.0 + 2 * 4 * 128 * 1088.0);
}

// 4,096 queries: each of the first 2,048 attends to all tokens before it, the others to 2,048 tokens each.
TEST(SparseAttention, PrefillAttendsToNoMoreThanIsSelected) {
  SparseAttention attention;
  attention.q_len = attention.kv_len = 4096;
  const double pair = 2.0 * 128 * 1088;
  EXPECT_EQ(Timed(attention, H200()).core.flops.base(), pair * (2048 * 2049 / 2.0 + 2048 * 2048.0));
  EXPECT_EQ(Timed(attention, H200()).scores.flops.base(), 2.0 * 64 * 128 * (4096 * 4097 / 2.0));
  // After 1,024 cached tokens, 1,024 queries see fewer than 2,048; after 8,192, none does.
  attention.kv_len = 5120;
  EXPECT_EQ(Timed(attention, H200()).core.flops.base(), pair * (1024 * 1024 + 1024 * 1025 / 2.0 + 3072 * 2048.0));
  attention.kv_len = 4096 + 8192;
  EXPECT_EQ(Timed(attention, H200()).core.flops.base(), pair * 4096 * 2048.0);
}

// The kernel with heads in columns gathers 576 bytes of a latent from an fp8 cache for a prompt too; where few heads are
// in rows, the latents are first converted to 16 bit. vllm-project/vllm pull request 33451, B200, 16 heads in 16 bit: two
// prompts of 4,096 take 2.673 ms.
TEST(SparseAttention, PrefillReadsTheCacheOrConvertsIt) {
  SparseAttention attention;
  attention.batch = 2, attention.q_len = 4096, attention.kv_len = 16384, attention.heads = 16;
  EXPECT_NEAR(In(Timed(attention, B200()).core.time, kUs) / 2673, 1, 0.25);
  attention.kv_precision = Precision::kFp8;
  EXPECT_DOUBLE_EQ(Timed(attention, B200()).core.l2_bytes.base(), 8192 * 2048 * 576.0);
  EXPECT_DOUBLE_EQ(Timed(attention, H200()).core.bytes.base(), 2 * 16384 * 1152.0 + 2 * 8192 * 16 * 1088.0);
}

// FlashMLA's README: 640 TFLOP/s in prefill and 410 in decode from an fp8 KV cache on H800, whose compute is an H100's.
TEST(SparseAttention, ReachesTheKernelsRates) {
  SparseAttention attention;
  attention.q_len = 4096, attention.kv_len = 65536;
  const KernelTime prefill = Timed(attention, H100()).core;
  EXPECT_NEAR(In(prefill.flops / prefill.time, kTFlops), 640, 20);
  attention.decode = true, attention.batch = 2048, attention.q_len = 1, attention.kv_len = 8192,
  attention.kv_precision = Precision::kFp8;
  const KernelTime decode = Timed(attention, H100()).core;
  EXPECT_NEAR(In(decode.flops / decode.time, kTFlops), 410, 15);
}

// Blackwell's kernel for few heads gathers 2,048 latents of 576 bytes in fp8 from L2 for each of 96 queries: 113 MB
// take 20.7 us at 148 x 20 bytes per clock of 1.85 GHz (5.48 TB/s), plus the launch; 32 heads are two blocks. With the
// heads in rows, padded to 128, the queries take 96 x 2,048 x 128 x 1,088 x 2 = 54.8 GFLOP, 152 us at 0.16 of 2.25
// PFLOP/s. vllm-project/vllm pull request 33451: in 16 bit, 8,192 queries of 16 heads take 2.67 ms.
TEST(SparseAttention, FewHeadsGatherFromL2OnBlackwell) {
  SparseAttention attention;
  attention.decode = true, attention.kv_precision = Precision::kFp8;
  attention.batch = 16, attention.q_len = 6, attention.kv_len = 8192, attention.heads = 8;
  const KernelTime few = Timed(attention, B200()).core;
  EXPECT_DOUBLE_EQ(few.l2_bytes.base(), 96 * 2048 * 576.0);
  EXPECT_NEAR(In(few.time, kUs), 5 + 20.7, 0.1);
  EXPECT_EQ(few.bound, Bound::kL2);
  attention.heads = 16;
  EXPECT_EQ(Timed(attention, B200()).core.time, few.time);
  attention.heads = 32;
  EXPECT_DOUBLE_EQ(Timed(attention, B200()).core.l2_bytes.base(), 2 * 96 * 2048 * 576.0);
  attention.heads = 128;
  EXPECT_NEAR(In(Timed(attention, B200()).core.time, kUs), 5 + 152, 1);
  attention.heads = 16, attention.kv_precision = Precision::kBf16, attention.batch = 8192, attention.q_len = 1;
  EXPECT_NEAR(In(Timed(attention, B200()).core.time, kUs) / 2673, 1, 0.25);
}

// GLM-5 on B200, a prompt of 32,768 over eight devices: each takes 374 us for the scores and 251 us for the selection
// (ai-dynamo/aiconfigurator, docs/CONTEXT_PARALLEL_DSA_MODELING.md).
TEST(SparseAttention, IndexerTakesAsLongAsMeasured) {
  SparseAttention attention;
  attention.q_len = attention.kv_len = 32768;
  attention.index_heads = 32, attention.heads = 64;
  const SparseAttentionTime times = Timed(attention, B200());
  EXPECT_NEAR(In(times.scores.time, kUs) / (8 * 374), 1, 0.05);
  EXPECT_NEAR(In(times.selection.time, kUs) / (8 * 251), 1, 0.05);
}

TEST(SparseAttention, NeverGetsFasterAsTheContextGrows) {
  for (const bool decode : {false, true}) {
    Seconds before;
    for (double context = 128; context <= 1 << 20; context *= 2) {
      SparseAttention attention;
      attention.decode = decode;
      attention.q_len = decode ? 1 : 128;
      attention.kv_len = context;
      const Seconds time = Timed(attention, H100()).all.time;
      EXPECT_GE(time, before) << context;
      before = time;
    }
  }
}

}  // namespace
}  // namespace slipstick
