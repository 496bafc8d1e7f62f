#include "core/training_stage/product_time.h"

#include <string>
#include <vector>

#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

Gemm ProductOf(const TrainingContext& context, const LayerProduct& product, double m, double n, double k,
               Trace& trace) {
  Gemm gemm;
  gemm.m = m, gemm.n = n, gemm.k = k, gemm.groups = product.groups;
  const ProductRole role = TraitsOf(product.id).role;
  gemm.precision =
      role == ProductRole::kWide ? context.matrix_precision : NativePrecision(context.device(), context.run.precision);
  gemm.weights = gemm.precision;
  if (trace.on()) {
    const Bytes size = ElementSize(gemm.precision);
    trace.Input("activation_size", size, "training.precision");
    trace.Input("weight_size", size, "training.precision");
    const Bytes output_size = gemm.output_bytes * kB;
    CONSTANTS(trace, "training.gemm", "activations and their gradients are written in 16 bits", output_size);
  }
  return gemm;
}

// Time to quantize `rows` of `columns` per group, whose names are symbols of the current scope. Its figure is bound to
// `symbol`.
Seconds QuantizeTime(const TrainingContext& context, double groups, double rows, double columns,
                     std::string_view columns_are, std::string_view symbol, Trace& trace) {
  const QuantizePasses& passes = context.framework().compute.quantize;
  const Precision precision = NativePrecision(context.device(), context.run.precision);
  if (BytesPerElement(precision) >= 2) {
    trace.Input(symbol, Seconds(), "training.precision");
    return {};
  }
  const bool is_four_bit = IsFourBitFloat(precision), is_mx = precision == Precision::kMxfp8;
  const double quantize_bytes = is_four_bit ? passes.nvfp4 : is_mx ? passes.mxfp8 : passes.fp8;
  trace.Input("quantize_bytes", quantize_bytes,
              is_four_bit ? "training.framework.compute.quantise.nvfp4"
              : is_mx     ? "training.framework.compute.quantise.mxfp8"
                          : "training.framework.compute.quantise.fp8");
  const BytesPerSecond element_rate = context.elementwise_rate;
  const Seconds quantize_launch = context.device().architecture->step.quantize_launch;
  BindEstimate("quantize_launch", quantize_launch, context.device(), trace);
  trace.Alias("columns", columns, columns_are);
  FIGURE_OVER_GROUPS(trace, quantized, rows * columns, (Note{"Elements that are quantized"}), rows, columns);
  FIGURE(trace, quantize_time, quantize_bytes * kB * quantized / element_rate + quantize_launch,
         (Note{"Quantization of an operand", "a pass over memory, and its launch"}), quantize_bytes, quantized,
         element_rate, quantize_launch);
  trace.Alias(symbol, quantize_time, "quantize_time");
  return quantize_time;
}

// Efficiency of grouped GEMMs over plain ones.
double GroupedEfficiency(const TrainingContext& context, Trace& trace) {
  const FrameworkExperts& experts = context.framework().experts;
  const bool is_narrow = BytesPerElement(NativePrecision(context.device(), context.run.precision)) < 2;
  const double grouped_efficiency = is_narrow ? experts.grouped_efficiency_fp8 : experts.grouped_efficiency;
  trace.Input("grouped_efficiency", grouped_efficiency,
              is_narrow ? "training.framework.experts.grouped_efficiency_fp8"
                        : "training.framework.experts.grouped_efficiency");
  return grouped_efficiency;
}

// Time of one of a product's GEMMs, over the efficiency of grouped ones, with the quantization of an operand if there
// is any.
struct PassParts {
  std::string_view symbol, product_is, quantize_is;
  Seconds product, quantize;
};
Seconds PassTime(const PassParts& parts, const Note& note, bool is_grouped, double grouped_efficiency, Trace& trace) {
  const Seconds time = parts.product / grouped_efficiency + parts.quantize;
  if (!trace.on()) return time;
  std::string formula(parts.product_is), names(parts.product_is);
  std::vector<internal::Value> values{internal::ValueOf(time), internal::ValueOf(parts.product)};
  if (is_grouped) {
    formula += " / grouped_efficiency", names += ", grouped_efficiency";
    values.push_back(internal::ValueOf(grouped_efficiency));
  }
  if (!parts.quantize_is.empty()) {
    formula += " + " + std::string(parts.quantize_is), names += ", " + std::string(parts.quantize_is);
    values.push_back(internal::ValueOf(parts.quantize));
  }
  trace.Record({parts.symbol, formula, names, note}, values);
  return time;
}

// Binds the names that a GEMM's formulas use for its shape.
void BindShape(const Gemm& gemm, std::string_view m, std::string_view n, std::string_view k, Trace& trace) {
  trace.Alias("m", gemm.m, m);
  trace.Alias("n", gemm.n, n);
  trace.Alias("k", gemm.k, k);
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

void TimeProduct(const TrainingContext& context, const LayerProduct& product, Sums& sums, Trace& trace,
                 LayerOperators* operators) {
  const Device& device = Named(context.device(), trace);
  const double rows = product.rows, outputs = product.outputs, inputs = product.inputs;
  if (!(rows > 0) || !(outputs > 0)) return;
  const auto& [name, role, _] = TraitsOf(product.id);
  Trace::Scope scope(trace, name);
  const bool quantized = role != ProductRole::kWide;
  const bool is_grouped = role == ProductRole::kExperts;
  const double grouped_efficiency = is_grouped ? GroupedEfficiency(context, trace) : 1;
  const Gemm forward_gemm = ProductOf(context, product, rows, outputs, inputs, trace);
  BindShape(forward_gemm, "rows", "outputs", "inputs", trace);
  const KernelTime forward_kernel = TimeOf(forward_gemm, device, TrainingKernelParameters(forward_gemm, device), trace);
  const Seconds forward_product = forward_kernel.time;
  trace.Alias("forward_product", forward_product, "time");
  const Seconds forward_quantize =
      quantized ? QuantizeTime(context, product.groups, rows, inputs, "inputs", "forward_quantize", trace) : Seconds{};
  const Seconds forward_time = PassTime(
      {"forward_time", "forward_product", quantized ? "forward_quantize" : "", forward_product, forward_quantize},
      {"GEMM, forward", "quantization of its input included"}, is_grouped, grouped_efficiency, trace);
  sums.forward.Add(name, forward_time, 1, "forward_time");
  sums.forward_flops.Add(name, forward_kernel.flops, 1, "flops");
  if (product.id == ProductId::kQueryUp || product.id == ProductId::kKeyValueUp) {
    sums.latents.Add(name, forward_time, 1, "forward_time");
    sums.latent_flops.Add(name, forward_kernel.flops, 1, "flops");
  }
  RecordOperator(operators, context, name, "", forward_kernel, forward_time);

  const auto time_backward = [&](std::string_view direction, const Gemm& gemm, std::string_view m, std::string_view k,
                                 std::string_view symbol, bool accumulates) {
    Trace::Scope backward_scope(trace, direction);
    BindShape(gemm, m, "inputs", k, trace);
    if (accumulates) trace.Input("output_size", gemm.output_bytes, "training.framework.compute.fused_accumulation");
    const KernelTime kernel = TimeOf(gemm, device, TrainingKernelParameters(gemm, device), trace);
    trace.Alias(symbol, kernel.time, "time");
    return kernel;
  };
  const Gemm input_gemm = ProductOf(context, product, rows, inputs, outputs, trace);
  const KernelTime input_kernel =
      time_backward("input gradient", input_gemm, "rows", "outputs", "input_product", false);
  const Seconds input_product = input_kernel.time;
  const Seconds gradient_quantize =
      quantized ? QuantizeTime(context, product.groups, rows, outputs, "outputs", "gradient_quantize", trace)
                : Seconds{};
  const Seconds input_gradient_time = PassTime(
      {"input_gradient_time", "input_product", quantized ? "gradient_quantize" : "", input_product, gradient_quantize},
      {"GEMM, input gradient", ""}, is_grouped, grouped_efficiency, trace);
  sums.input_gradient.Add(name, input_gradient_time, 1, "input_gradient_time");
  RecordOperator(operators, context, name, ", input gradient", input_kernel, input_gradient_time);

  if (context.run.trainable == Trainable::kLora) return;  // frozen
  Gemm weight_gemm = ProductOf(context, product, outputs, inputs, rows, trace);
  weight_gemm.output_bytes = context.framework().compute.fused_accumulation ? 8 : 2;
  const KernelTime weight_kernel =
      time_backward("weight gradient", weight_gemm, "outputs", "rows", "weight_product", true);
  const Seconds weight_product = weight_kernel.time;
  const Seconds weight_gradient_time =
      PassTime({"weight_gradient_time", "weight_product", "", weight_product, Seconds{}}, {"GEMM, weight gradient", ""},
               is_grouped, grouped_efficiency, trace);
  sums.weight_gradient.Add(name, weight_gradient_time, 1, "weight_gradient_time");
  RecordOperator(operators, context, name, ", weight gradient", weight_kernel, weight_gradient_time);
}

}  // namespace slipstick
