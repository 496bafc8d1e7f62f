// Rate and weight traffic of a GEMM's kernel: parts of its time.
#include <cmath>

#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/gemm_tiles.h"

namespace slipstick {
namespace {

ComputeRate TensorRate(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                       FlopsPerSecond peak_rate, Trace& trace) {
  const double m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups, units = static_cast<double>(device.units);
  const double gemm_efficiency = parameters.gemm_efficiency, clock_derating = parameters.clock_derating;
  const Seconds derating_ramp = parameters.derating_ramp;
  FIGURE_OVER_GROUPS(trace, flops, 2 * kFlop * m * n * k, (Note{"FLOPs", "a multiply-add counts as two"}), m, n, k);
  FIGURE(trace, ideal_time, flops / (peak_rate * gemm_efficiency),
         (Note{"Ideal compute time", "at the GEMM efficiency of the best tile", kFamilySource}), flops, peak_rate,
         gemm_efficiency);
  constexpr Note kNote{"Rate of one SM", "the power limit lowers the clock in long kernels", kFamilySource};
  // The fitted efficiencies of grouped kernels outside a training step include the derating.
  if (groups != 1 && parameters.setting != GemmSetting::kTraining) {
    FIGURE(trace, unit_rate, peak_rate * gemm_efficiency / units, kNote, peak_rate, gemm_efficiency, units);
    return {flops, unit_rate};
  }
  FIGURE(trace, unit_rate,
         peak_rate * gemm_efficiency / units / (1 + clock_derating * ideal_time / (ideal_time + derating_ramp)), kNote,
         peak_rate, gemm_efficiency, units, clock_derating, ideal_time, derating_ramp);
  return {flops, unit_rate};
}

// A grouped kernel's tile has as many rows as the pass has tokens, up to its largest, whatever an expert gets of them;
// its last is half full.
double UsedRows(const Gemm& gemm, const GemmKernelParameters& parameters, Trace& trace) {
  const double m = gemm.m, stored_tile = parameters.stored_tile;
  FIGURE(trace, used_rows, m / max(stored_tile, m + stored_tile / 2),
         (Note{"Share of the computed rows that are a token's",
               "a tile has as many rows as the pass has tokens; the last is half full"}),
         m, stored_tile);
  return used_rows;
}

}  // namespace

ComputeRate RateOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                   FlopsPerSecond peak_rate, Trace& trace) {
  const Flops stored_per_clock = parameters.stored_per_clock;
  if (!(stored_per_clock > Flops{})) return TensorRate(gemm, device, parameters, peak_rate, trace);
  const ComputeRate own = [&] {
    const Trace::Scope scope(trace, "tensor_cores");
    return TensorRate(gemm, device, parameters, peak_rate, trace);
  }();
  const FlopsPerSecond tensor_rate = own.unit_rate;
  const Hertz clock = device.clock;
  trace.Alias("flops", own.flops, "flops");
  trace.Alias("tensor_rate", tensor_rate, "unit_rate");
  constexpr Note kNote{"Rate of one SM", "between its matrix instructions it converts weights and applies scales"};
  if (!(gemm.groups > 1) || !(parameters.stored_tile > 0)) {
    FIGURE(trace, unit_rate, min(tensor_rate, stored_per_clock * clock), kNote, tensor_rate, stored_per_clock, clock);
    return {own.flops, unit_rate};
  }
  const double used_rows = UsedRows(gemm, parameters, trace);
  FIGURE(trace, unit_rate, min(tensor_rate, stored_per_clock * clock) * used_rows, kNote, tensor_rate, stored_per_clock,
         clock, used_rows);
  return {own.flops, unit_rate};
}

Bytes WeightBytes(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  const double m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups;
  const Bytes weight_size = ElementSize(gemm.weights);
  if (!(parameters.stored_tile > 0)) {
    FIGURE_OVER_GROUPS(trace, weight_bytes, n * k * weight_size, (Note{"Weights", "read once"}), n, k, weight_size);
    return weight_bytes;
  }
  const double stored_tile = parameters.stored_tile, cache_share = *device.efficiency.usable_l2_fraction;
  const Bytes l2_capacity = L2Capacity(device);
  trace.Input("cache_share", cache_share, "cluster.device.efficiency.cache_share");
  FIGURE(trace, matrix_bytes, n * k * weight_size, (Note{"Weights of a matrix"}), n, k, weight_size);
  FIGURE(trace, lost, max(0.0, 1 - cache_share * l2_capacity / matrix_bytes),
         (Note{"Share of the weights that L2 has lost before the next rows", "", kFamilySource}), cache_share,
         l2_capacity, matrix_bytes);
  FIGURE(trace, weight_reads, 1 + max(0.0, m / stored_tile - 1) * lost,
         (Note{"Times that the weights are read", "once per tile of rows, as far as L2 has lost them since"}), m,
         stored_tile, lost);
  FIGURE_OVER_GROUPS(trace, weight_bytes, n * k * weight_size * weight_reads,
                     (Note{"Weights", "as often as they are read"}), n, k, weight_size, weight_reads);
  return weight_bytes;
}

}  // namespace slipstick
