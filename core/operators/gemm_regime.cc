// How a product is run on a device: the row of its family's table, alone and inside a step.
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

GemmRegime AloneRegime(const Gemm& gemm, const Device& device) {
  const Efficiency& e = device.efficiency;
  assert(e.matrix && e.matrix_fp8 && e.stream && e.launch && e.power_fall);
  const GemmTable& table = device.architecture->gemm;
  const GemmKernel kernel = KernelOf(gemm, device);
  const GemmRow& row = RowOf(table, kernel);
  const bool few_rows = gemm.m <= table.few_rows;
  GemmRegime regime;
  regime.power_fall = gemm.groups == 1 ? *e.power_fall : 0;
  regime.power_ramp = table.power_ramp;
  regime.columns_by_96 = row.columns_by_96;
  regime.max_split = row.splits && gemm.groups == 1 ? 16 : 1;
  regime.launch = *e.launch;
  regime.matrix_share = min(1.0, kernel == GemmKernel::kFp8Tensor ? *e.matrix_fp8 : row.matrix * *e.matrix);
  // The weights of a group of products stream a little better than those of one.
  regime.stream_share = min(1.0, *e.stream * row.stream * (gemm.groups == 1 ? 1 : table.grouped_stream));
  regime.step_latency = row.step_latency;
  regime.convert_per_clock = few_rows ? 0 : row.convert_per_clock;
  if (gemm.quantise || row.always_extra) {
    regime.extra_launch = few_rows ? row.extra_few_rows : row.extra;
    regime.quantise_bytes = row.quantise_bytes;
    regime.quantise_share = row.quantise_share;
  }
  return regime;
}

void Explain(const Gemm& gemm, const GemmRegime& regime, const Device& device, Trace& trace) {
  if (!trace.on()) return;
  const Efficiency& e = device.efficiency;
  const bool fp8_share = KernelOf(gemm, device) == GemmKernel::kFp8Tensor && regime.matrix_share == *e.matrix_fp8;
  ExplainShare("matrix_share", regime.matrix_share, fp8_share ? *e.matrix_fp8 : *e.matrix,
               fp8_share ? "cluster.device.efficiency.matrix_fp8" : "cluster.device.efficiency.matrix", trace);
  ExplainShare("stream_share", regime.stream_share, *e.stream, "cluster.device.efficiency.stream", trace);
  if (regime.launch == *e.launch) trace.Input("launch", regime.launch, "cluster.device.efficiency.launch");
  if (regime.power_fall == *e.power_fall) {
    trace.Input("power_fall", regime.power_fall, "cluster.device.efficiency.power_fall");
  } else if (regime.power_fall == SustainedFall(device)) {
    ExplainSustainedFall("power_fall", device, trace);
  }
}

GemmRegime TrainingRegime(const Gemm& gemm, const Device& device) {
  GemmRegime regime = AloneRegime(gemm, device);
  regime.power_fall = SustainedFall(device);
  regime.power_ramp = device.architecture->gemm.training_power_ramp;
  regime.max_split = std::min(regime.max_split, 8);
  regime.split_fills_two_waves = true;
  regime.launch = device.architecture->gemm.training_launch;
  regime.step_latency = {};
  regime.extra_launch = {};
  regime.quantise_bytes = 0;
  return regime;
}

GemmRegime ServingRegime(const Gemm& gemm, const Device& device) {
  GemmRegime regime = AloneRegime(gemm, device);
  const GemmKernel kernel = KernelOf(gemm, device);
  regime.extra_launch = {};
  // The norm before finds the scale on its way, so the maximum needs no pass of its own.
  if (kernel == GemmKernel::kFp8Tensor) regime.quantise_bytes = gemm.quantise ? device.architecture->gemm.serving_quantise : 0;
  return regime;
}

}  // namespace slipstick
