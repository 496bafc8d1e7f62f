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
  double groups = 1;                       // m is per group; of experts hit by chance it need not be whole
  Precision precision = Precision::kBf16;  // of the arithmetic and the activations
  Precision weights = Precision::kBf16;    // narrower than the arithmetic: weight-only quantisation
  Scaling scaling = Scaling::kTensor;
  bool quantize = false;     // the time includes bringing bf16 activations to `precision`
  double output_bytes = 2;   // written an output element
  double weights_in_l2 = 0;  // share of the weights found in the last cache (h)
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

// The family of kernels that runs a product: how its precisions are paired.
enum class GemmKernel { kSixteenBit, kFp8Tensor, kFp8Block, kFourBitFloat, kInt8, kInt8Weights, kInt4Weights };
GemmKernel KernelOf(const Gemm& gemm, const Device& device);

// How a product is run. IsolatedKernelParameters gives a kernel under a graph with the constants of its family; callers then change
// what differs inside a training or a serving step.
struct GemmKernelParameters {
  double clock_derating = 0;           // d: fall of the rate in a long kernel
  Seconds power_ramp;                  // length of a kernel at which half of the fall has come
  int max_split = 16;                  // split-K at most
  bool columns_by_96 = false;          // the library also has tiles of 96 and 192 columns
  bool split_fills_two_waves = false;  // split-K only while tiles·s <= 2·units
  Seconds launch;                      // t0
  double gemm_efficiency = 0.8;        // e_c·rho: share of the dense peak with the best tile
  double bandwidth_efficiency = 0.8;   // e_b·r_b: share of the memory bandwidth
  Seconds step_latency;                // kappa: one 64-deep step along k
  double convert_per_clock = 0;        // weights brought to the arithmetic's format, elements a clock and unit; 0: none
  Seconds extra_launch;                // t_q: fixed cost of quantising in a kernel of its own
  double quantize_bytes = 0;           // c_q: moved an activation element by the quantising pass
  double quantize_efficiency = 1;      // e_q: of the stream, reached by that pass
};
GemmKernelParameters IsolatedKernelParameters(const Gemm& gemm, const Device& device);

// Records what the shares and costs of a parameters are from.
void Explain(const Gemm& gemm, const GemmKernelParameters& parameters, const Device& device, Trace& trace);

// In a step of training: rate at sustained power, cautious split-K, no latency of the k loop; quantising is the caller's.
GemmKernelParameters TrainingKernelParameters(const Gemm& gemm, const Device& device);
// In a step of serving: activations are quantized by the kernel before.
GemmKernelParameters ServingKernelParameters(const Gemm& gemm, const Device& device);

// Time of the product. The device is complete (CompleteEfficiency). Mean error over 7,183 measured products, m 1 to 16,384
// on seven NVIDIA parts: 8.9 % (bf16 7.3, fp8 6.7, fp8 blocks 11.3, nvfp4 6.3); elsewhere extrapolated.
KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace);
inline KernelTime TimeOf(const Gemm& gemm, const Device& device, Trace& trace) {
  return TimeOf(gemm, device, IsolatedKernelParameters(gemm, device), trace);
}

// Time of a pass over bytes, some of them left in the last cache by the kernel before: resident/(resident + factor·cache)
// of them move at bandwidth_efficiency of the memory bandwidth, the rest at the cache's rate, and the kernel reaches `share` of
// that. Quantising, permuting.
Seconds PassTime(Bytes bytes, Bytes resident, double cache_factor, double bandwidth_efficiency, double share, const Device& device);

// Share of the weights that a benchmark finds in the last cache when it repeats an operator over as many copies of them as
// the cache holds, `most_copies` at most. In a model, where other layers pass in between: none.
double WeightsLeftInL2(Bytes weights, double most_copies, const Device& device);

}  // namespace slipstick
