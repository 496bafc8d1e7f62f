// Kernel parameters of a GEMM: the row of its family's table, in isolation and inside a step.
#include <cassert>
#include <string>

#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/named_terms.h"

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
  assert(e.gemm_efficiency && e.gemm_efficiency_fp8 && e.bandwidth_efficiency && e.launch_latency && e.clock_derating);
  const GemmTable& table = device.architecture->gemm;
  const GemmKernel kernel = KernelOf(gemm, device);
  const GemmRow& row = RowOf(table, kernel);
  const bool few_rows = gemm.m <= table.few_rows;
  GemmKernelParameters parameters;
  parameters.clock_derating = gemm.groups == 1 ? *e.clock_derating : Ratio(0);
  parameters.derating_ramp = table.derating_ramp;
  parameters.columns_by_96 = row.columns_by_96;
  parameters.columns_by_32 = row.columns_by_32;
  // The fitted efficiencies of grouped kernels include it.
  parameters.drain_per_clock = gemm.groups == 1 ? row.drain_per_clock : 0 * kB;
  parameters.max_split = row.has_split_k && gemm.groups == 1 ? 16 : 1;
  parameters.launch = *e.launch_latency;
  parameters.gemm_efficiency =
      min(1.0, kernel == GemmKernel::kFp8Tensor ? *e.gemm_efficiency_fp8 : row.gemm_efficiency * *e.gemm_efficiency);
  // Weights of grouped GEMMs stream slightly better than those of a single one.
  parameters.bandwidth_efficiency = min(1.0, *e.bandwidth_efficiency * row.bandwidth_efficiency *
                                                 (gemm.groups == 1 ? Ratio(1) : table.grouped_bandwidth_gain));
  parameters.step_latency = row.step_latency;
  parameters.convert_per_clock = few_rows ? Ratio(0) : row.convert_per_clock;
  if (gemm.quantize || row.always_extra_overhead) {
    parameters.extra_launch = few_rows ? row.extra_overhead_few_rows : row.extra_overhead;
    parameters.quantize_bytes = row.quantize_bytes;
    parameters.quantize_efficiency = row.quantize_efficiency;
  }
  return parameters;
}

namespace {

// Rows of one scale per tensor time two passes over the activations; take the block row's one.
GemmKernel QuantizingKernel(GemmKernel kernel) {
  return kernel == GemmKernel::kFp8Tensor || kernel == GemmKernel::kInt8 ? GemmKernel::kFp8Block : kernel;
}

// The tables of the family that a GEMM's constants come from.
struct Tables {
  const GemmTable& table;
  const GemmRow& row;
  std::string path, row_path;
  std::string_view source;
};

void ExplainKernelShare(std::string_view symbol, double share, double own, std::string_view own_path, Trace& trace) {
  if (!trace.on()) return;
  const double kernel_share = share / own, device_share = own;
  trace.Input("device_share", device_share, own_path);
  trace.Record(symbol, "kernel_share * device_share", share,
               Note{"Efficiency of this kernel", "the device's, times the kernel's over that of a 16-bit GEMM"},
               "kernel_share, device_share", kernel_share, device_share);
}

// Of a kernel whose own operator set the efficiencies.
void ExplainOther(const Gemm& gemm, const GemmKernelParameters& parameters, const Device& device, Trace& trace) {
  const Efficiency& e = device.efficiency;
  const bool is_fp8 =
      KernelOf(gemm, device) == GemmKernel::kFp8Tensor && parameters.gemm_efficiency == *e.gemm_efficiency_fp8;
  ExplainKernelShare("gemm_efficiency", parameters.gemm_efficiency,
                     is_fp8 ? *e.gemm_efficiency_fp8 : *e.gemm_efficiency,
                     is_fp8 ? "cluster.device.efficiency.matrix_fp8" : "cluster.device.efficiency.matrix", trace);
  ExplainKernelShare("bandwidth_efficiency", parameters.bandwidth_efficiency, *e.bandwidth_efficiency,
                     "cluster.device.efficiency.stream", trace);
}

// Fractions of the dense peak and of the memory bandwidth: the device's, times the kernel's over those of a 16-bit
// GEMM.
void ExplainEfficiencies(const Gemm& gemm, const GemmKernelParameters& parameters, const Device& device,
                         const Tables& tables, Trace& trace) {
  const Efficiency& e = device.efficiency;
  const bool is_fp8 = KernelOf(gemm, device) == GemmKernel::kFp8Tensor;
  const double gemm_efficiency = parameters.gemm_efficiency, bandwidth_efficiency = parameters.bandwidth_efficiency;
  const double device_matrix = is_fp8 ? *e.gemm_efficiency_fp8 : *e.gemm_efficiency,
               device_stream = *e.bandwidth_efficiency;
  const double matrix = is_fp8 ? Ratio(1) : tables.row.gemm_efficiency, stream = tables.row.bandwidth_efficiency;
  const double grouped_stream = gemm.groups == 1 ? Ratio(1) : tables.table.grouped_bandwidth_gain;
  trace.Input("device_matrix", device_matrix,
              is_fp8 ? "cluster.device.efficiency.matrix_fp8" : "cluster.device.efficiency.matrix");
  trace.Input("device_stream", device_stream, "cluster.device.efficiency.stream");
  if (!is_fp8) CONSTANTS(trace, tables.row_path, tables.source, matrix);
  CONSTANTS(trace, tables.row_path, tables.source, stream);
  if (gemm.groups != 1) CONSTANTS(trace, tables.path, tables.source, grouped_stream);
  if (gemm_efficiency == device_matrix) {
    trace.Alias("gemm_efficiency", gemm_efficiency, "device_matrix");
  } else if (gemm_efficiency != min(1.0, matrix * device_matrix)) {
    ExplainOther(gemm, parameters, device, trace);
    return;
  } else {
    trace.Record("gemm_efficiency", "min(1, matrix * device_matrix)", gemm_efficiency,
                 Note{"GEMM efficiency of this kernel", "the device's, times the kernel's over that of a 16-bit GEMM"},
                 "matrix, device_matrix", matrix, device_matrix);
  }
  if (bandwidth_efficiency == device_stream) {
    trace.Alias("bandwidth_efficiency", bandwidth_efficiency, "device_stream");
  } else if (bandwidth_efficiency == min(1.0, device_stream * stream * grouped_stream)) {
    if (gemm.groups == 1) trace.Constants(tables.path, "a product of one group", "grouped_stream", grouped_stream);
    trace.Record(
        "bandwidth_efficiency", "min(1, device_stream * stream * grouped_stream)", bandwidth_efficiency,
        Note{"Bandwidth efficiency of this kernel", "the device's, times the kernel's over that of a 16-bit GEMM"},
        "device_stream, stream, grouped_stream", device_stream, stream, grouped_stream);
  }
}

// Quantizing pass or conversion of the weights.
void ExplainQuantization(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                         const Tables& tables, Trace& trace) {
  const bool is_apart = parameters.setting == GemmSetting::kServing && parameters.extra_launch > Seconds{};
  const Seconds extra = is_apart ? parameters.extra_launch : tables.row.extra_overhead,
                extra_few_rows = tables.row.extra_overhead_few_rows;
  if (is_apart) {
    CONSTANTS(trace, tables.path + "." + std::string(NameOf(QuantizingKernel(KernelOf(gemm, device)))), tables.source,
              extra);
    trace.Alias("extra_launch", parameters.extra_launch, "extra");
  } else if (gemm.m <= tables.table.few_rows) {
    CONSTANTS(trace, tables.row_path, tables.source, extra_few_rows);
    trace.Alias("extra_launch", parameters.extra_launch, "extra_few_rows");
  } else {
    CONSTANTS(trace, tables.row_path, tables.source, extra);
    trace.Alias("extra_launch", parameters.extra_launch, "extra");
  }
  if (!(parameters.quantize_bytes > 0)) return;
  const double row_quantize_bytes = tables.row.quantize_bytes, quantize_share = tables.row.quantize_efficiency;
  const double serving_quantize = tables.table.serving_quantize_bytes,
               quantized = tables.table.l2.quantized_activations;
  CONSTANTS(trace, tables.row_path, tables.source, row_quantize_bytes, quantize_share);
  CONSTANTS(trace, tables.path, tables.source, serving_quantize);
  CONSTANTS(trace, tables.path + ".cache", tables.source, quantized);
  const bool is_served =
      parameters.setting == GemmSetting::kServing && KernelOf(gemm, device) == GemmKernel::kFp8Tensor;
  trace.Alias("quantize_bytes", parameters.quantize_bytes, is_served ? "serving_quantize" : "row_quantize_bytes");
}

}  // namespace

void Explain(const Gemm& gemm, const GemmKernelParameters& parameters, const Device& device, Trace& trace) {
  if (!trace.on()) return;
  const GemmTable& table = device.architecture->gemm;
  const GemmKernel kernel = KernelOf(gemm, device);
  const std::string path = KernelTable(device, "gemm");
  const Tables tables{table, RowOf(table, kernel), path, path + "." + std::string(NameOf(kernel)),
                      SourceOf(device, table.source)};
  const double tile_load = table.tile_load, convert_per_clock = tables.row.convert_per_clock, few_rows = table.few_rows;
  const Seconds fill = table.fill, merge = table.split_k_merge, power_ramp = table.derating_ramp,
                training_power_ramp = table.training_derating_ramp, training_launch = table.training_launch_latency;
  CONSTANTS(trace, path, tables.source, tile_load, fill, merge, few_rows);
  const bool in_training = parameters.setting == GemmSetting::kTraining;
  if (in_training) {
    CONSTANTS(trace, path, tables.source, training_power_ramp, training_launch);
    trace.Alias("derating_ramp", parameters.derating_ramp, "training_power_ramp");
    trace.Alias("launch", parameters.launch, "training_launch");
    SustainedClockDerating(device, trace);
    trace.Alias("clock_derating", parameters.clock_derating, "sustained_clock_derating");
  } else {
    CONSTANTS(trace, path, tables.source, power_ramp);
    trace.Alias("derating_ramp", parameters.derating_ramp, "power_ramp");
    if (gemm.groups == 1)
      trace.Input("clock_derating", parameters.clock_derating, "cluster.device.efficiency.power_fall");
  }
  if (gemm.groups != 1 && !in_training) return ExplainOther(gemm, parameters, device, trace);
  ExplainEfficiencies(gemm, parameters, device, tables, trace);
  if (in_training) return;
  const Seconds step_latency = tables.row.step_latency;
  CONSTANTS(trace, tables.row_path, tables.source, step_latency, convert_per_clock);
  if (parameters.launch == *device.efficiency.launch_latency) {
    trace.Input("launch", parameters.launch, "cluster.device.efficiency.launch");
  }
  ExplainQuantization(gemm, device, parameters, tables, trace);
}

GemmKernelParameters TrainingKernelParameters(const Gemm& gemm, const Device& device) {
  GemmKernelParameters parameters = IsolatedKernelParameters(gemm, device);
  parameters.setting = GemmSetting::kTraining;
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
  parameters.setting = GemmSetting::kServing;
  parameters.extra_launch = {};
  // The norm before it finds the scale, so the maximum needs no extra pass.
  if (kernel == GemmKernel::kFp8Tensor)
    parameters.quantize_bytes = gemm.quantize ? device.architecture->gemm.serving_quantize_bytes : Ratio(0);
  return parameters;
}

void SetQuantizedApart(const Gemm& gemm, const Device& device, GemmKernelParameters& parameters) {
  if (!gemm.quantize || BytesPerElement(NativePrecision(device, gemm.precision)) >= 2) return;
  parameters.extra_launch = RowOf(device.architecture->gemm, QuantizingKernel(KernelOf(gemm, device))).extra_overhead;
}

}  // namespace slipstick
