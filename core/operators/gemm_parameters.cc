// Kernel parameters of a GEMM: the row of its family's table, in isolation and inside a step.
#include <cassert>

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
  return weight_bytes < 1 ? GemmKernel::kInt4Weights : weight_bytes < 2 ? GemmKernel::kInt8Weights : GemmKernel::kSixteenBit;
}

GemmKernelParameters IsolatedKernelParameters(const Gemm& gemm, const Device& device) {
  const Efficiency& e = device.efficiency;
  assert(e.gemm_efficiency && e.gemm_efficiency_fp8 && e.bandwidth_efficiency && e.launch_latency && e.clock_derating);
  const GemmTable& table = device.architecture->gemm;
  const GemmKernel kernel = KernelOf(gemm, device);
  const GemmRow& row = RowOf(table, kernel);
  const bool few_rows = gemm.m <= table.few_rows;
  GemmKernelParameters parameters;
  parameters.clock_derating = gemm.groups == 1 ? *e.clock_derating : 0;
  parameters.derating_ramp = table.derating_ramp;
  parameters.columns_by_96 = row.columns_by_96;
  parameters.max_split = row.has_split_k && gemm.groups == 1 ? 16 : 1;
  parameters.launch = *e.launch_latency;
  parameters.gemm_efficiency =
      min(1.0, kernel == GemmKernel::kFp8Tensor ? *e.gemm_efficiency_fp8 : row.gemm_efficiency * *e.gemm_efficiency);
  // Weights of grouped GEMMs stream slightly better than those of a single one.
  parameters.bandwidth_efficiency =
      min(1.0, *e.bandwidth_efficiency * row.bandwidth_efficiency * (gemm.groups == 1 ? 1 : table.grouped_bandwidth_gain));
  parameters.step_latency = row.step_latency;
  parameters.convert_per_clock = few_rows ? 0 : row.convert_per_clock;
  if (gemm.quantize || row.always_extra_overhead) {
    parameters.extra_launch = few_rows ? row.extra_overhead_few_rows : row.extra_overhead;
    parameters.quantize_bytes = row.quantize_bytes;
    parameters.quantize_efficiency = row.quantize_efficiency;
  }
  return parameters;
}

void Explain(const Gemm& gemm, const GemmKernelParameters& parameters, const Device& device, Trace& trace) {
  if (!trace.on()) return;
  const Efficiency& e = device.efficiency;
  const bool fp8_share = KernelOf(gemm, device) == GemmKernel::kFp8Tensor && parameters.gemm_efficiency == *e.gemm_efficiency_fp8;
  ExplainShare("gemm_efficiency", parameters.gemm_efficiency, fp8_share ? *e.gemm_efficiency_fp8 : *e.gemm_efficiency,
               fp8_share ? "cluster.device.efficiency.matrix_fp8" : "cluster.device.efficiency.matrix", trace);
  ExplainShare("bandwidth_efficiency", parameters.bandwidth_efficiency, *e.bandwidth_efficiency, "cluster.device.efficiency.stream", trace);
  if (parameters.launch == *e.launch_latency) trace.Input("launch", parameters.launch, "cluster.device.efficiency.launch");
  if (parameters.clock_derating == *e.clock_derating) {
    trace.Input("clock_derating", parameters.clock_derating, "cluster.device.efficiency.power_fall");
  } else if (parameters.clock_derating == SustainedClockDerating(device)) {
    ExplainSustainedClockDerating("clock_derating", device, trace);
  }
}

GemmKernelParameters TrainingKernelParameters(const Gemm& gemm, const Device& device) {
  GemmKernelParameters parameters = IsolatedKernelParameters(gemm, device);
  parameters.clock_derating = SustainedClockDerating(device);
  parameters.derating_ramp = device.architecture->gemm.training_derating_ramp;
  parameters.max_split = std::min(parameters.max_split, 8);
  parameters.split_fills_two_waves = true;
  parameters.launch = device.architecture->gemm.training_launch_latency;
  parameters.step_latency = {};
  parameters.extra_launch = {};
  parameters.quantize_bytes = 0;
  return parameters;
}

GemmKernelParameters ServingKernelParameters(const Gemm& gemm, const Device& device) {
  GemmKernelParameters parameters = IsolatedKernelParameters(gemm, device);
  const GemmKernel kernel = KernelOf(gemm, device);
  parameters.extra_launch = {};
  // The norm before it finds the scale, so the maximum needs no extra pass.
  if (kernel == GemmKernel::kFp8Tensor) parameters.quantize_bytes = gemm.quantize ? device.architecture->gemm.serving_quantize_bytes : 0;
  return parameters;
}

}  // namespace slipstick
