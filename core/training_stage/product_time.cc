#include "core/training_stage/product_time.h"

#include <string>

#include "core/base/figure.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"

namespace slipstick {
namespace {

Precision NarrowPrecision(const TrainingContext& context) {
  return NativePrecision(context.device(), context.run.precision);
}

Gemm GemmOf(const TrainingContext& context, const LayerProduct& product, Ratio m, Ratio n, Ratio k) {
  Gemm gemm;
  gemm.m = m, gemm.n = n, gemm.k = k, gemm.groups = product.groups;
  const bool is_wide = TraitsOf(product.id).role == ProductRole::kWide;
  gemm.precision = is_wide ? context.matrix_precision : NarrowPrecision(context);
  gemm.weights = gemm.precision;
  return gemm;
}

KernelTime GemmTime(const TrainingContext& context, const Gemm& gemm) {
  return TimeOf(gemm, context.device(), TrainingKernelParameters(gemm, context.device()));
}

// A pass over memory that quantizes an operand of a product, including its launch.
Seconds QuantizeTime(const TrainingContext& context, const LayerProduct& product, Ratio columns) {
  const Precision precision = NarrowPrecision(context);
  if (TraitsOf(product.id).role == ProductRole::kWide || BytesPerElement(precision) >= 2) return {};
  const QuantizePasses& passes = context.framework().compute.quantize;
  const Ratio bytes = IsFourBitFloat(precision)        ? passes.nvfp4
                      : precision == Precision::kMxfp8 ? passes.mxfp8
                                                       : passes.fp8;
  const Ratio elements = product.groups * (product.rows * columns);
  return Figure("Quantization of an operand",
                bytes * kB * elements / context.elementwise_rate + context.device().architecture->step.quantize_launch,
                "a pass over memory, and its launch");
}

// Efficiency of a product's GEMMs relative to plain GEMMs.
Ratio GroupedEfficiency(const TrainingContext& context, const LayerProduct& product) {
  if (TraitsOf(product.id).role != ProductRole::kExperts) return 1;
  const FrameworkExperts& experts = context.framework().experts;
  return BytesPerElement(NarrowPrecision(context)) < 2 ? experts.grouped_efficiency_fp8 : experts.grouped_efficiency;
}

}  // namespace

void RecordOperator(LayerOperators* operators, const TrainingContext& context, std::string_view name,
                    std::string_view suffix, const KernelTime& kernel, Seconds time) {
  if (operators == nullptr) return;
  operators->by_bound.Of(kernel.bound) += time;
  if (!operators->is_listed) return;
  TimedOperator row;
  row.name = std::string(name) + std::string(suffix);
  row.flops = kernel.flops;
  row.bytes = kernel.bytes;
  row.level_bytes = BytesByLevel(kernel, context.device());
  row.level_time = TimesByLevel(kernel, row.level_bytes, context.device());
  row.time = time;
  row.bound = kernel.bound;
  operators->list.push_back(std::move(row));
}

void TimeProduct(const TrainingContext& context, const LayerProduct& product, Sums& sums, LayerOperators* operators) {
  const auto& [id, outputs, inputs] = static_cast<const MatrixProduct&>(product);
  const Ratio rows = product.rows;
  if (!(rows > 0) || !(outputs > 0)) return;
  const std::string_view name = TraitsOf(id).name;
  const Ratio efficiency = GroupedEfficiency(context, product);

  const KernelTime forward = GemmTime(context, GemmOf(context, product, rows, outputs, inputs));
  const Seconds forward_time =
      Figure("GEMM, forward", forward.time / efficiency + QuantizeTime(context, product, inputs),
             "quantization of its input included");
  sums.forward += forward_time;
  sums.forward_flops += forward.flops;
  if (id == ProductId::kQueryUp || id == ProductId::kKeyValueUp) {
    sums.latents += forward_time;
    sums.latent_flops += forward.flops;
  }
  if (TraitsOf(id).rows == ProductRows::kRouted) {
    sums.routed += forward_time;
    sums.routed_flops += forward.flops;
  }
  if (id == ProductId::kMlpOut) sums.last = forward_time, sums.last_flops = forward.flops;
  RecordOperator(operators, context, name, "", forward, forward_time);

  const KernelTime input = GemmTime(context, GemmOf(context, product, rows, inputs, outputs));
  const Seconds input_time =
      Figure("GEMM, input gradient", input.time / efficiency + QuantizeTime(context, product, outputs));
  sums.input_gradient += input_time;
  RecordOperator(operators, context, name, ", input gradient", input, input_time);

  if (context.run.trainable == Trainable::kLora) return;  // frozen
  Gemm accumulating = GemmOf(context, product, outputs, inputs, rows);
  accumulating.output_bytes = context.framework().compute.fused_accumulation ? 8 : 2;
  const KernelTime weight = GemmTime(context, accumulating);
  const Seconds weight_time = Figure("GEMM, weight gradient", weight.time / efficiency);
  sums.weight_gradient += weight_time;
  RecordOperator(operators, context, name, ", weight gradient", weight, weight_time);
}

}  // namespace slipstick
