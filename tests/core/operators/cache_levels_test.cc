// The hierarchical roofline: traffic of each level by hand, and which level bounds a kernel.
#include "core/operators/cache_levels.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/operators/attention.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/operators/rowwise.h"
#include "tests/core/operators/devices.h"

namespace slipstick {
namespace {

Device WithCaches(Device device, double l1_tbps, double l2_tbps) {
  device.caches = {{"L1", 33 * kMiB, l1_tbps * kTBps}, {"L2", device.caches.back().capacity, l2_tbps * kTBps}};
  return device;
}

Gemm Square(double size) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = size;
  return gemm;
}

Attention Decode(double batch, double heads, double kv_heads, double kv_len) {
  Attention attention;
  attention.phase = AttentionPhase::kDecode;
  attention.batch = batch, attention.heads = heads, attention.kv_heads = kv_heads, attention.kv_len = kv_len;
  attention.cold = true;
  return attention;
}

template <class Kernel>
KernelTime TimeOn(const Device& device, const Kernel& kernel) {
  return TimeOf(kernel, device);
}

// 8,192 cubed in 16 bit. On Hopper two SMs share their loads: blocks of 256 x 256 outputs, 32 x 32 of them, stream 512
// x 8,192 elements each. wgmma reads 64 + 256 elements per step along k for 64 x 256 outputs: 128 x 32 fragments. On
// Ampere there are 64 x 32 tiles of 128 x 256 with fragments of 64 x 64. Each 2-byte output is written once.
TEST(CacheLevels, OfAGemmFollowTheTiles) {
  const double outputs = 2 * 8192.0 * 8192;
  const KernelTime hopper = TimeOn(H100(), Square(8192)), ampere = TimeOn(A100(), Square(8192));
  EXPECT_DOUBLE_EQ(hopper.l2_bytes.base(), 32 * 32 * 512 * 8192.0 * 2 + outputs);
  EXPECT_DOUBLE_EQ(hopper.l1_bytes.base(), 128 * 32 * 320 * 8192.0 * 2 + outputs);
  EXPECT_DOUBLE_EQ(ampere.l2_bytes.base(), 64 * 32 * 384 * 8192.0 * 2 + outputs);
  EXPECT_DOUBLE_EQ(ampere.l1_bytes.base(), 128 * 128 * 128 * 8192.0 * 2 + outputs);
}

// One row: every weight is read once, the row once per 256 columns.
TEST(CacheLevels, OfAGemvAreItsWeights) {
  Gemm gemv = Square(8192);
  gemv.m = 1;
  const double weights = 2 * 8192.0 * 8192, row = 2 * 8192;
  EXPECT_DOUBLE_EQ(TimeOn(H100(), gemv).l2_bytes.base(), weights + 32 * row + row);
}

// 16 sequences of 4,096 tokens with 8 KV heads of 128 + 128 elements in 16 bit are 268 MB, read once through L2. 4
// query heads per KV head are one fragment of rows; 32 are two of 16 (mma.sync) or one of 64 (wgmma).
TEST(CacheLevels, OfDecodeAttentionAreTheKvCache) {
  const double kv_cache = 16 * 4096 * 8 * 256 * 2.0;
  EXPECT_DOUBLE_EQ(TimeOn(AttentionA100(), Decode(16, 32, 8, 4096)).l2_bytes.base(), kv_cache);
  EXPECT_DOUBLE_EQ(TimeOn(AttentionA100(), Decode(16, 32, 8, 4096)).l1_bytes.base(), kv_cache);
  EXPECT_DOUBLE_EQ(TimeOn(AttentionA100(), Decode(16, 256, 8, 4096)).l1_bytes.base(), 2 * kv_cache);
  EXPECT_DOUBLE_EQ(TimeOn(AttentionH100(), Decode(16, 256, 8, 4096)).l1_bytes.base(), kv_cache);
}

// One head, 1,024 causal queries: 8 rows of tiles with 1 to 8 tiles of 128 keys, 36 in total. A tile has 128 x 256
// elements of keys and values. Each row of tiles also reads its queries and writes its outputs. On Hopper, fragments of
// 64 queries read a tile twice.
TEST(CacheLevels, OfPrefillAttentionAreTheKeysOfEveryTile) {
  Attention attention;
  attention.q_len = attention.kv_len = 1024;
  attention.algorithm = AttentionAlgorithm::kFlash3;
  const KernelTime time = TimeOn(AttentionH100(), attention);
  EXPECT_DOUBLE_EQ(time.l2_bytes.base(), (36 + 8) * 128 * 256 * 2.0);
  EXPECT_DOUBLE_EQ(time.l1_bytes.base(), (2 * 36 + 8) * 128 * 256 * 2.0);
}

// 128 query heads in two blocks of 64, each of which reads the latent KV cache: 512 + 64 elements per token.
TEST(CacheLevels, OfLatentDecodeAreTheLatentPerBlockOfHeads) {
  LatentAttention mla;
  mla.phase = AttentionPhase::kDecode;
  mla.batch = 4, mla.q_len = 1, mla.kv_len = 8192;
  EXPECT_DOUBLE_EQ(TimeOn(AttentionH100(), mla).l2_bytes.base(), 2 * 4 * 8192 * 576 * 2.0);
}

// A residual addition reads two operands and writes one, in 16 bit, through every level.
TEST(CacheLevels, OfAnElementwiseKernelAreItsOperands) {
  const RowKernel add{RowKind::kAdd, 1 << 17, 8192, Precision::kBf16, false};
  const KernelTime time = TimeOn(H100(), add);
  EXPECT_DOUBLE_EQ(time.l2_bytes.base(), 3 * 2 * 8192.0 * (1 << 17));
  EXPECT_DOUBLE_EQ(time.l1_bytes.base(), 3 * 2 * 8192.0 * (1 << 17));
}

// Without L2, each tile of 256 x 256 outputs reads its own rows and columns: 2 x 8192^3 x 2 / 256 bytes plus 134 MB of
// outputs are 8.72 GB, at least 2.6 ms at 3.35 TB/s. An H100, with its L2, was measured at 1.4 ms.
TEST(CacheLevels, WithoutL2EveryTileReadsItsOwn) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 8192;
  Device bare = H100();
  bare.caches.clear();
  const KernelTime with = TimeOf(gemm, H100()), without = TimeOf(gemm, bare);
  EXPECT_NEAR(without.bytes.base(), 2 * 8192.0 * 8192 * 8192 * 2 / 256 + 2 * 8192.0 * 8192, 0.001 * 8.72e9);
  EXPECT_GT(In(without.time, kUs), 2603);
  EXPECT_LT(In(without.time, kUs), 2603 / 0.75);
  EXPECT_NEAR(In(with.time, kUs), 1405, 0.1 * 1405);
  EXPECT_EQ(without.bound, Bound::kMemory);
}

// A tile has no more rows than the matrix. Of one row, each tile of at least 64 columns reads the weights of its own
// columns, 4.25 bits each, and the row again: at most 8 x 1,536 x 2,048 x (4.25 / 8 + 2 / 64) bytes besides the row and
// the outputs.
TEST(CacheLevels, WithoutL2OneRowReadsTheWeightsOnce) {
  Gemm gemm;
  gemm.m = 1, gemm.n = 1536, gemm.k = 2048, gemm.groups = 8;
  gemm.weights = Precision::kInt4;
  Device bare = H100();
  bare.caches.clear();
  const double elements = 8 * 1536 * 2048, weights = elements * 4.25 / 8, ends = 8 * (2048 + 1536) * 2;
  EXPECT_GE(TimeOf(gemm, bare).bytes.base(), weights);
  EXPECT_LE(TimeOf(gemm, bare).bytes.base(), weights + elements * 2 / 64 + ends);
  EXPECT_LE(TimeOf(gemm, H100()).bytes.base(), (weights + ends) * (1 + 1e-12));
}

// The time has no cliff from 50 MiB to nothing: each halving of the capacity costs at most twice the time.
TEST(CacheLevels, ASmallerL2RereadsMoreWithoutACliff) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 8192;
  Device device = H100();
  Seconds before = TimeOf(gemm, device).time;
  Bytes bytes_before = TimeOf(gemm, device).bytes;
  for (int i = 0; i < 16; ++i) {
    device.caches.back().capacity = device.caches.back().capacity / 2;
    const KernelTime smaller = TimeOf(gemm, device);
    EXPECT_GE(smaller.time.base(), before.base() * (1 - 1e-12)) << i;
    EXPECT_LE(smaller.time.base(), before.base() * 2) << i;
    EXPECT_GE(smaller.bytes.base(), bytes_before.base() * (1 - 1e-12)) << i;
    before = smaller.time;
    bytes_before = smaller.bytes;
  }
  device.caches.clear();
  EXPECT_NEAR(TimeOf(gemm, device).time / before, 1, 0.02);
}

// The time of a level is its traffic over its bandwidth. 8,192 cubed on an A100: 13.02 GB take 13.02 ms through an L2
// of 1 TB/s, and arithmetic takes 3.9 ms; 34.5 GB take 17.2 ms through shared memory of 2 TB/s.
TEST(CacheLevels, TheSlowestBoundsAGemm) {
  const KernelTime l2 = TimeOn(WithCaches(A100(), 1000, 1), Square(8192));
  EXPECT_EQ(l2.bound, Bound::kL2);
  EXPECT_NEAR(In(l2.time, kMs), 13.019 + 0.0039, 0.001);
  const KernelTime l1 = TimeOn(WithCaches(A100(), 2, 1), Square(8192));
  EXPECT_EQ(l1.bound, Bound::kL1);
  EXPECT_NEAR(In(l1.time, kMs), 17.247 + 0.0039, 0.001);
}

// Kernels of measured devices take as long at the measured bandwidths of their caches.
TEST(CacheLevels, MeasuredCachesBoundNoGemm) {
  Gemm gemv = Square(4096);
  gemv.m = 1;
  for (const Gemm& gemm : {Square(512), Square(4096), Square(16384), gemv}) {
    for (const auto& [own, stated] :
         {std::pair{A100(), WithCaches(A100(), 19.49, 5.4)}, std::pair{H100(), WithCaches(H100(), 30.92, 9.8)}}) {
      EXPECT_EQ(TimeOn(own, gemm).time, TimeOn(stated, gemm).time) << gemm.m;
      EXPECT_EQ(TimeOn(own, gemm).bound, TimeOn(stated, gemm).bound) << gemm.m;
    }
  }
}

// For every kind of kernel, a slower cache never makes it faster; if it is far slower than the memory, it bounds the
// kernel.
TEST(CacheLevels, ASlowerCacheNeverHelpsAKernel) {
  Gemm gemv = Square(8192), grouped = Square(1024), fp8 = Square(4096);
  gemv.m = 4;
  grouped.groups = 8;
  fp8.precision = fp8.weights = Precision::kFp8;
  fp8.quantize = true;
  Attention prefill, unfused, backward;
  prefill.q_len = prefill.kv_len = 8192;
  prefill.heads = 32, prefill.kv_heads = 8;
  unfused = backward = prefill;
  unfused.algorithm = AttentionAlgorithm::kUnfused;
  backward.phase = AttentionPhase::kForwardBackward;
  backward.algorithm = AttentionAlgorithm::kFlash2;
  LatentAttention latent_prefill, latent_decode;
  latent_prefill.q_len = latent_prefill.kv_len = 8192;
  latent_decode.phase = AttentionPhase::kDecode;
  latent_decode.batch = 32, latent_decode.q_len = 1, latent_decode.kv_len = 8192;
  const RowKernel norm{RowKind::kNorm, 1 << 16, 8192, Precision::kBf16, false};
  MoeLayer experts;
  experts.tokens = 8192;
  std::vector<std::pair<std::string, std::function<KernelTime(const Device&)>>> kernels;
  const auto add = [&kernels](const std::string& name, const auto& kernel) {
    kernels.emplace_back(name, [kernel](const Device& device) { return TimeOn(device, kernel); });
  };
  add("gemm", Square(4096)), add("gemv", gemv), add("grouped gemm", grouped), add("fp8 gemm", fp8);
  add("prefill", prefill), add("unfused", unfused), add("backward", backward), add("decode", Decode(64, 32, 8, 8192));
  add("latent prefill", latent_prefill), add("latent decode", latent_decode), add("experts", experts),
      add("norm", norm);
  for (const auto& [name, time] : kernels) {
    for (const bool is_l1 : {false, true}) {
      Seconds before;
      for (const double tbps : {1000., 100., 30., 10., 5., 3., 1., 0.1}) {
        const KernelTime now =
            time(is_l1 ? WithCaches(AttentionH100(), tbps, 1000) : WithCaches(AttentionH100(), 1000, tbps));
        EXPECT_GE(now.time, before) << name << (is_l1 ? " l1 " : " l2 ") << tbps;
        before = now.time;
        if (tbps > 0.1) continue;
        EXPECT_EQ(now.bound, is_l1 ? Bound::kL1 : Bound::kL2) << name;
        EXPECT_GT(now.time, 2 * time(AttentionH100()).time) << name;
      }
    }
  }
}

// A device that computes from SRAM: 40 GB at 10 TB/s, with DRAM of 0.2 TB/s. Reads that hit reach 0.49 of the SRAM
// rate, 4.9 TB/s; in attention 5.5 TB/s, as measured on an H100. Tensor cores compute 64 rows where there are fewer.
Device SramDevice() {
  Device device = AttentionH100();
  device.memory.bandwidth = 200 * kGBps;
  device.caches = {{"L1", 33 * kMiB, 1000 * kTBps}, {"L2", 40 * kGB, 10 * kTBps}};
  return device;
}

TEST(CacheLevels, AnSramDeviceIsBoundByItsSram) {
  // A GEMV whose 537 MB of weights are in L2: 537 MB / 4.9 TB/s = 110 us; 64 rows of 537 MFLOP at 855 TFLOP/s take 40
  // us.
  Gemm gemv = Square(16384);
  gemv.m = 1;
  gemv.weights_in_l2 = 1;
  const KernelTime held = TimeOn(SramDevice(), gemv);
  EXPECT_EQ(held.bound, Bound::kL2);
  EXPECT_NEAR(In(held.memory, kUs), 2 * 16384.0 * 16384 / 4.9e12 * 1e6, 0.1);
  // With its weights in DRAM: 537 MB / (0.84 x 0.2 TB/s) = 3.2 ms.
  gemv.weights_in_l2 = 0;
  const KernelTime cold = TimeOn(SramDevice(), gemv);
  EXPECT_EQ(cold.bound, Bound::kMemory);
  EXPECT_NEAR(In(cold.time, kMs), 3.2, 0.02);
  // 64 sequences of 8,192 tokens: 2.1 GB of KV cache stay in L2, 390 us at 5.5 TB/s; 64 rows at 0.6 of 989 TFLOP/s take
  // 232 us.
  Attention decode = Decode(64, 32, 8, 8192);
  decode.cold = false;
  const KernelTime attention = TimeOn(SramDevice(), decode);
  EXPECT_EQ(attention.bound, Bound::kL2);
  EXPECT_NEAR(In(attention.memory, kUs), 64 * 8192 * 8 * 512.0 / 5.5e12 * 1e6, 0.5);
  // A square GEMM does 127 FLOP per byte from L2: 8.8 PFLOP take at least 10.3 ms, 69 GB from L2 6.9 ms.
  EXPECT_EQ(TimeOn(SramDevice(), Square(16384)).bound, Bound::kCompute);
}

// HBM of 20 TB/s behind an L2 of 6.9 TB/s, as on an H100 PCIe. 134 MB of weights take 8.0 us from memory at 0.84 of its
// rate, 10.0 us as 64 rows at 855 TFLOP/s, and 19.5 us through L2 (134.8 MB). The KV cache takes 118 us from memory,
// 232 us of arithmetic and 311 us through L2. The square GEMM takes 1.26 ms for 8.7 GB through L2 and at least 1.29 ms
// for 1,100 GFLOP.
TEST(CacheLevels, AVeryFastMemoryIsBoundByTheL2) {
  Device device = WithCaches(AttentionH100(), 30.92, 6.9);
  device.memory.bandwidth = 20000 * kGBps;
  Gemm gemv = Square(8192);
  gemv.m = 1;
  const KernelTime stream = TimeOn(device, gemv);
  EXPECT_EQ(stream.bound, Bound::kL2);
  EXPECT_NEAR(In(stream.time, kUs), 2.85 + 19.53, 0.01);
  EXPECT_EQ(TimeOn(device, Decode(64, 32, 8, 8192)).bound, Bound::kL2);
  EXPECT_EQ(TimeOn(device, Square(8192)).bound, Bound::kCompute);
  // Without the L2's limit, a memory this fast is bound by the intake of the SMs.
  device.caches.back().bandwidth.reset();
  EXPECT_EQ(TimeOn(device, gemv).bound, Bound::kL1);
}

// Hopper's SMs take in 55 bytes per clock by asynchronous copies. 8,448 columns are 132 tiles of 64, one per SM. A tile
// of 64 x 64 loads each operand for fewer multiply-adds than one of 128 x 256: (1 + 20/64 + 20/64) over (1 + 20/128 +
// 20/256), both from gemm.tile_load. One row is a fragment of 16, whose arithmetic takes half as long on tensor cores
// at half an H100's rate.
TEST(CacheLevels, TheIntakeOfTheSmsIsBoundByL1) {
  Device device = WithCaches(H100(), 1000, 1000);
  device.memory.bandwidth = 100 * kTBps;
  device.peak.bf16 = device.peak.fp16 = 494.5 * kTFlops;
  Gemm gemv;
  gemv.m = 1, gemv.n = 132 * 64, gemv.k = 8192;
  const double seconds = 2 * gemv.n * gemv.k / (55 * 1.83e9 * 132) * 1.625 / 1.234375;
  const KernelTime fed = TimeOn(device, gemv);
  EXPECT_EQ(fed.bound, Bound::kL1);
  EXPECT_NEAR(fed.l1.base(), seconds, 1e-9 * seconds);
  EXPECT_NEAR(TimesByLevel(fed, BytesByLevel(fed, device), device).front().base(), seconds, 1e-9 * seconds);
  EXPECT_GE(fed.time, fed.l1);
  // With 64 rows the tensor cores take longer than the loads.
  gemv.m = 64;
  EXPECT_EQ(TimeOn(device, gemv).bound, Bound::kCompute);
  // With a slow memory the SMs wait for it.
  gemv.m = 1;
  device.memory.bandwidth = 2 * kTBps;
  EXPECT_EQ(TimeOn(device, gemv).bound, Bound::kMemory);
}

// A gated activation at 128 lanes x 0.0545 bytes per clock: 108 SMs at 1.41 GHz take in 1.06 TB/s, less than 0.8 of
// 2.04 TB/s.
TEST(CacheLevels, TheIntakeOfAnElementwiseKernelIsBoundByL1) {
  const RowKernel gate{RowKind::kGelu, 1 << 17, 8192, Precision::kBf16, true};
  EXPECT_EQ(TimeOn(A100(), gate).bound, Bound::kL1);
  // An addition has no such limit.
  const RowKernel add{RowKind::kAdd, 1 << 17, 8192, Precision::kBf16, false};
  EXPECT_EQ(TimeOn(A100(), add).bound, Bound::kMemory);
}

}  // namespace
}  // namespace slipstick
