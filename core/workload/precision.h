// Number formats and their size in memory, including block scales.
#pragma once

#include "core/base/field.h"

namespace slipstick {

enum class Precision { kFp32, kTf32, kFp16, kBf16, kFp8, kMxfp8, kInt8, kNvfp4, kMxfp4, kInt4, kQ4KM, kQ4_0, kQ8_0 };
ENUM_NAMES(Precision, {kFp32, "fp32"}, {kTf32, "tf32"}, {kFp16, "fp16"}, {kBf16, "bf16"}, {kFp8, "fp8"},
           {kMxfp8, "mxfp8"}, {kInt8, "int8"}, {kNvfp4, "nvfp4"}, {kMxfp4, "mxfp4"}, {kInt4, "int4"}, {kQ4KM, "q4_k_m"},
           {kQ4_0, "q4_0"}, {kQ8_0, "q8_0"});

inline constexpr int kScaleBlock = 128;                       // rows and columns that share a scale in fp8 checkpoints
inline constexpr double kFp32BlockScale = 4.0 / kScaleBlock;  // bytes per element of an fp32 scale per block

// Bytes per element including its share of the scales: nvfp4 has an fp8 scale per block of 16, mxfp4 and mxfp8 an 8-bit
// scale per block of 32, int4 a 16-bit scale and zero point per group of 128; q4_k_m has 4.85, q4_0 4.5 and q8_0 8.5
// bits (llama.cpp; 4-bit MLX also has 4.5).
constexpr double BytesPerElement(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return 4;
    case Precision::kFp16:
    case Precision::kBf16:
      return 2;
    case Precision::kFp8:
    case Precision::kInt8:
      return 1;
    case Precision::kMxfp8:
      return 1 + 1.0 / 32;  // one scale byte per block
    case Precision::kNvfp4:
      return 0.5 + 1.0 / 16;
    case Precision::kMxfp4:
    case Precision::kInt4:
      return 0.5 + 1.0 / 32;
    case Precision::kQ4KM:
      return 0.606;
    case Precision::kQ4_0:
      return 0.5 + 2.0 / 32;  // a 16-bit scale per block
    case Precision::kQ8_0:
      return 1 + 2.0 / 32;  // a 16-bit scale per block
  }
  return 2;
}
constexpr Bytes ElementSize(Precision precision) { return BytesPerElement(precision) * kB; }
// Size of int4 with a 16-bit scale per group and no zero point.
constexpr Bytes Int4Size(Count group) { return (0.5 + 2.0 / static_cast<double>(group)) * kB; }

constexpr bool IsEightBitFloat(Precision p) { return p == Precision::kFp8 || p == Precision::kMxfp8; }
constexpr bool IsFourBitFloat(Precision p) { return p == Precision::kNvfp4 || p == Precision::kMxfp4; }
// Whether two formats differ only in their scales.
constexpr bool SameElements(Precision a, Precision b) {
  return a == b || (IsEightBitFloat(a) && IsEightBitFloat(b)) || (IsFourBitFloat(a) && IsFourBitFloat(b));
}

}  // namespace slipstick
