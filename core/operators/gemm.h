// GEMMs: m rows (tokens) x n outputs x k inputs, single or grouped.
#pragma once

#include "core/base/units.h"
#include "core/hardware/device.h"
#include "core/operators/gemm_tiles.h"
#include "core/operators/kernel.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class Scaling { kTensor, kBlock };  // fp8 scales: one per tensor, or one per 128x128 block
ENUM_NAMES(Scaling, {kTensor, "tensor"}, {kBlock, "block"});

struct Gemm {
  Ratio m = 1, n = 1, k = 1;
  Ratio groups = 1;                        // m is per group; both may be fractional: expected values over routing
  Precision precision = Precision::kBf16;  // of computation and activations
  Precision weights = Precision::kBf16;    // narrower than `precision`: weight-only quantization
  Scaling scaling = Scaling::kTensor;
  bool quantize = false;    // the time includes quantizing bf16 activations to `precision`
  Ratio output_bytes = 2;   // written per output element
  Ratio weights_in_l2 = 0;  // h: fraction of the weights found in L2
  // Bytes per element of weights and computed operands, with the nodes of the format choices; 0: from the format.
  Bytes weight_size{}, activation_size{};
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

// Kernel family of a GEMM, by the pair of operand precisions.
enum class GemmKernel { kSixteenBit, kFp8Tensor, kFp8Block, kFourBitFloat, kInt8, kInt8Weights, kInt4Weights };
ENUM_NAMES(GemmKernel, {kSixteenBit, "sixteen_bit"}, {kFp8Tensor, "fp8_tensor"}, {kFp8Block, "fp8_block"},
           {kFourBitFloat, "four_bit_float"}, {kInt8, "int8"}, {kInt8Weights, "int8_weights"},
           {kInt4Weights, "int4_weights"});
GemmKernel KernelOf(const Gemm& gemm, const Device& device);

// Where a GEMM runs; the constants of a family differ between settings.
enum class GemmSetting { kIsolated, kTraining, kServing };

// IsolatedKernelParameters returns the parameters of a kernel inside a CUDA graph, as in benchmarks;
// TrainingKernelParameters and ServingKernelParameters change those that differ inside a step.
struct GemmKernelParameters {
  GemmSetting setting = GemmSetting::kIsolated;
  Ratio clock_derating = 0;  // d: rate loss at the power limit
  Seconds derating_ramp;     // kernel time at which half of the derating is reached
  TileLimits tiles{};
  Bytes drain_per_clock;      // outputs of a tile that an SM writes per clock after its k loop; 0: beside the next tile
  Seconds launch;             // t0
  Ratio gemm_efficiency = 0;  // e_c * rho: fraction of the dense peak with the best tile
  Ratio bandwidth_efficiency = 0;  // e_b * r_b: fraction of the memory bandwidth
  Seconds step_latency;            // kappa: lower bound per 64-deep step along k
  Ratio convert_per_clock = 0;     // weights converted per clock and SM; 0: no conversion
  Flops stored_per_clock;          // for a kernel on stored weights: maximum per SM and clock; 0: not such a kernel
  bool in_turn = false;            // it does not prefetch: it loads and computes in turn
  Ratio stored_tile = 0;           // rows that it multiplies with the weights it has loaded; 0: all rows, one by one
  Seconds extra_launch;            // t_q: launch of a separate quantizing kernel
  Ratio quantize_bytes = 0;        // c_q: moved per activation element by the quantizing pass
  Ratio quantize_efficiency = 1;   // e_q: bandwidth efficiency of that pass relative to streaming
};
GemmKernelParameters IsolatedKernelParameters(const Gemm& gemm, const Device& device);

// Inside a training step: clock of a long run, split-K up to two waves, no k-loop latency; the caller adds
// quantization.
GemmKernelParameters TrainingKernelParameters(const Gemm& gemm, const Device& device);
// Inside a serving step: clock of a long run; the preceding kernel quantizes the activations.
GemmKernelParameters ServingKernelParameters(const Gemm& gemm, const Device& device);
// Adds the launch of a separate kernel that quantizes the activations before the product.
void SetQuantizedApart(const Gemm& gemm, const Device& device, GemmKernelParameters& parameters);

// Requires a device completed by CompleteEfficiency. Mean error over 7,183 measured GEMMs, m 1 to 16,384, on seven
// NVIDIA devices: 8.9 % (bf16 7.3, fp8 6.7, fp8 blocks 11.3, nvfp4 6.3); extrapolated elsewhere.
KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters);
inline KernelTime TimeOf(const Gemm& gemm, const Device& device) {
  return TimeOf(gemm, device, IsolatedKernelParameters(gemm, device));
}

// Time of a memory pass (quantizing, permuting) over `bytes`, part of which the preceding kernel left in L2. The
// fraction resident / (resident + kept_l2 * L2 capacity) moves at bandwidth_efficiency of the memory bandwidth, the
// rest at L2 bandwidth; the kernel reaches `efficiency` of both.
Seconds PassTime(Bytes bytes, Bytes resident, Ratio kept_l2, Ratio bandwidth_efficiency, Ratio efficiency,
                 const Device& device);

// Fraction of the weights found in L2 when a benchmark cycles over as many copies of them as fit, at most `max_copies`.
// In a model it is zero, because other layers run in between.
double WeightsLeftInL2(Bytes weights, double max_copies, const Device& device);

}  // namespace slipstick
