// Kernel parameters of a GEMM: the row of its family's table, in isolation and inside a step.
#include <cassert>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"

namespace slipstick {
namespace {

const GemmRow& RowOf(const GemmTable& table, GemmKernel kernel) {
  switch (kernel) {
    case GemmKernel::kSixteenBit:
      break;
    case GemmKernel::kFp8Tensor:
      return table.fp8_tensor;
    case GemmKernel::kFp8Block:
      return table.fp8_block;
    case GemmKernel::kFourBitFloat:
      return table.four_bit_float;
    case GemmKernel::kInt8:
      return table.int8;
    case GemmKernel::kInt8Weights:
      return table.int8_weights;
    case GemmKernel::kInt4Weights:
      return table.int4_weights;
  }
  return table.sixteen_bit;
}

}  // namespace

GemmKernel KernelOf(const Gemm& gemm, const Device& device) {
  const Precision native = NativePrecision(device, gemm.precision);
  if (IsFourBitFloat(native)) return GemmKernel::kFourBitFloat;
  if (IsEightBitFloat(native)) return gemm.scaling == Scaling::kBlock ? GemmKernel::kFp8Block : GemmKernel::kFp8Tensor;
  if (native == Precision::kInt8) return GemmKernel::kInt8;
  const double weight_bytes = BytesPerElement(gemm.weights);
  if (weight_bytes >= BytesPerElement(native)) return GemmKernel::kSixteenBit;
  return weight_bytes < 1   ? GemmKernel::kInt4Weights
         : weight_bytes < 2 ? GemmKernel::kInt8Weights
                            : GemmKernel::kSixteenBit;
}

GemmKernelParameters IsolatedKernelParameters(const Gemm& gemm, const Device& device) {
  const Efficiency& e = device.efficiency;
  assert(e.gemm_efficiency && e.gemm_efficiency_fp8 && e.bandwidth_efficiency && e.launch_latency);
  const GemmTable& table = device.architecture->gemm;
  const GemmKernel kernel = KernelOf(gemm, device);
  const GemmRow& row = RowOf(table, kernel);
  const bool few_rows = gemm.m <= table.few_rows;
  GemmKernelParameters parameters;
  parameters.clock_derating =
      gemm.groups == 1 ? SustainedClockDerating(device, gemm.precision, row.gemm_efficiency) : Ratio(0);
  parameters.derating_ramp = table.derating_ramp;
  parameters.tiles.columns_by_96 = row.columns_by_96;
  parameters.tiles.columns_by_32 = row.columns_by_32;
  // The fitted efficiencies of grouped kernels include the drain.
  parameters.drain_per_clock = gemm.groups == 1 ? row.drain_per_clock : 0 * kB;
  parameters.tiles.max_split = row.has_split_k && gemm.groups == 1 ? 16 : 1;
  parameters.launch = *e.launch_latency;
  constexpr std::string_view kNote = "the device's, times the kernel's over that of a 16-bit GEMM";
  parameters.gemm_efficiency =
      Figure("GEMM efficiency of this kernel",
             min(1.0, ReachedShare(device, gemm.precision,
                                   kernel == GemmKernel::kFp8Tensor ? *e.gemm_efficiency_fp8
                                                                    : row.gemm_efficiency * *e.gemm_efficiency)),
             kNote);
  // Weights of grouped GEMMs stream slightly faster than those of a single GEMM.
  parameters.bandwidth_efficiency = Figure("Bandwidth efficiency of this kernel",
                                           min(1.0, *e.bandwidth_efficiency * row.bandwidth_efficiency *
                                                        (gemm.groups == 1 ? Ratio(1) : table.grouped_bandwidth_gain)),
                                           kNote);
  parameters.step_latency = row.step_latency;
  parameters.convert_per_clock = few_rows ? Ratio(0) : row.convert_per_clock;
  if (gemm.quantize || row.always_extra_overhead) {
    parameters.extra_launch = few_rows ? row.extra_overhead_few_rows.value_or(row.extra_overhead) : row.extra_overhead;
    parameters.quantize_bytes = row.quantize_bytes;
    parameters.quantize_efficiency = row.quantize_efficiency;
  }
  return parameters;
}

namespace {

// Rows with one scale per tensor were timed with two passes over the activations, the row of block scales with one.
GemmKernel QuantizingKernel(GemmKernel kernel) {
  return kernel == GemmKernel::kFp8Tensor || kernel == GemmKernel::kInt8 ? GemmKernel::kFp8Block : kernel;
}

}  // namespace

GemmKernelParameters TrainingKernelParameters(const Gemm& gemm, const Device& device) {
  GemmKernelParameters parameters = IsolatedKernelParameters(gemm, device);
  parameters.setting = GemmSetting::kTraining;
  const GemmRow& row = RowOf(device.architecture->gemm, KernelOf(gemm, device));
  parameters.clock_derating = SustainedClockDerating(device, gemm.precision, row.gemm_efficiency);
  parameters.derating_ramp = device.architecture->gemm.pass_derating_ramp;
  parameters.tiles.max_split = std::min(parameters.tiles.max_split, 8);
  parameters.tiles.split_fills_two_waves = true;
  parameters.launch = device.architecture->gemm.training_launch_latency;
  parameters.step_latency = {};
  parameters.extra_launch = {};
  parameters.quantize_bytes = 0;
  return parameters;
}

GemmKernelParameters ServingKernelParameters(const Gemm& gemm, const Device& device) {
  GemmKernelParameters parameters = IsolatedKernelParameters(gemm, device);
  const GemmKernel kernel = KernelOf(gemm, device);
  parameters.setting = GemmSetting::kServing;
  parameters.derating_ramp = device.architecture->gemm.pass_derating_ramp;
  parameters.extra_launch = {};
  // The preceding norm finds the scale, so the maximum needs no extra pass.
  if (kernel == GemmKernel::kFp8Tensor)
    parameters.quantize_bytes = gemm.quantize ? device.architecture->gemm.serving_quantize_bytes : Ratio(0);
  return parameters;
}

void SetQuantizedApart(const Gemm& gemm, const Device& device, GemmKernelParameters& parameters) {
  if (!gemm.quantize || BytesPerElement(NativePrecision(device, gemm.precision)) >= 2) return;
  parameters.extra_launch = RowOf(device.architecture->gemm, QuantizingKernel(KernelOf(gemm, device))).extra_overhead;
}

}  // namespace slipstick
