// Matrix products: m rows (tokens) x n outputs x k inputs, one or a group of equal ones.
#pragma once

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class Scaling { kTensor, kBlock };  // of fp8: one scale a tensor, or one a 128x128 block
template <>
struct EnumNames<Scaling> {
  static constexpr std::array<std::pair<Scaling, std::string_view>, 2> names{{{Scaling::kTensor, "tensor"}, {Scaling::kBlock, "block"}}};
};

struct Gemm {
  double m = 1, n = 1, k = 1;
  double groups = 1;                       // m is per group
  Precision precision = Precision::kBf16;  // of the arithmetic and the activations
  Precision weights = Precision::kBf16;    // narrower than the arithmetic: weight-only quantisation
  Scaling scaling = Scaling::kTensor;
  bool quantise = false;        // the time includes bringing bf16 activations to `precision`
  double output_bytes = 2;      // written an output element
  double weights_in_cache = 0;  // share of the weights found in the last cache (h)
};

// How a product is run: alone under a graph, inside a training step, inside a serving step.
struct GemmRegime {
  double power_fall = 0;               // d, or d_s in a training step
  Seconds power_ramp = 1 * kMs;        // length of a kernel at which half of the fall has come
  int max_split = 16;                  // split-K at most
  bool split_fills_two_waves = false;  // split-K only while tiles·s <= 2·units
  Seconds launch;                      // t0
  Seconds quantise_launch;             // t_q of the quantisation kernel; 0 where it is fused
};
GemmRegime AloneRegime(const Gemm& gemm, const Device& device);

// Time of the product; validity and errors: gemm.cc.
KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmRegime& regime, Trace& trace);

}  // namespace slipstick
