#include "core/operators/rowwise.h"

#include <gtest/gtest.h>

#include "tests/core/operators/devices.h"

namespace slipstick {
namespace {

TEST(RowKernel, LargeOnesStream) {
  RowKernel add{RowKind::kAdd, 1 << 17, 8192, Precision::kBf16, false};
  const KernelTime time = TimeOf(add, A100());
  const Bytes bytes = 3.0 * (1 << 17) * 8192 * 2 * kB;
  EXPECT_EQ(time.bytes, bytes);
  // Measured: 0.76 of 2,039 GB/s (microsoft/vidur at 7d47513); a small part comes from L2.
  EXPECT_NEAR(bytes / time.time / (0.76 * 2039 * kGBps), 1, 0.08);
  EXPECT_EQ(time.bound, Bound::kMemory);
}

// Rotary embedding reaches about 0.45 of the bandwidth of A100 and H100 (microsoft/vidur at 7d47513), limited by 6
// bytes per clock and SM. A device with little bandwidth per SM (A40: 84 SMs at 1.74 GHz) is memory-bound instead.
TEST(RowKernel, ThinKernelsAreBoundByBytesPerClock) {
  const RowKernel rope{RowKind::kRope, 1 << 18, 8192, Precision::kBf16, false};
  const auto rate = [&](const Device& device) {
    const KernelTime time = TimeOf(rope, device);
    return time.bytes / time.time;
  };
  EXPECT_NEAR(rate(A100()) / (0.45 * 2039 * kGBps), 1, 0.1);
  EXPECT_NEAR(rate(H100()) / (0.45 * 3350 * kGBps), 1, 0.1);
  const Device a40 = MakeDevice({Architecture("ampere"), 84, 1.74, 149.7, 0, 0, 696, 6, 0.86, 0, 0.82, 4.0});
  EXPECT_NEAR(rate(a40) / (0.8 * 696 * kGBps), 1, 0.1);
}

TEST(RowKernel, SmallOnesTakeTheirLaunch) {
  const KernelTime time = TimeOf(RowKernel{RowKind::kNorm, 1, 4096, Precision::kBf16, false}, H100());
  EXPECT_LT(In(time.time, kUs), 5);
  EXPECT_GT(In(time.time, kUs), 1);
}

TEST(RowKernel, MoreWorkIsNeverFasterNorAStreamAboveTheMemory) {
  for (const RowKind kind : {RowKind::kNorm, RowKind::kSoftmax, RowKind::kGelu, RowKind::kRope, RowKind::kAdd}) {
    Seconds before;
    for (double rows = 1; rows < 1 << 20; rows *= 4) {
      const KernelTime time = TimeOf(RowKernel{kind, rows, 5120, Precision::kBf16, true}, H100());
      EXPECT_GT(time.time, before);
      before = time.time;
      if (rows > 1 << 17) {
        EXPECT_GE(time.time, time.bytes / H100().memory.bandwidth);
      }
    }
  }
}

}  // namespace
}  // namespace slipstick
