// Rate and weight traffic of a GEMM's kernel: parts of its time.
#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"

namespace slipstick {
namespace {

ComputeRate TensorRate(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                       FlopsPerSecond peak_rate) {
  const std::string_view source = SourceOf(device, device.architecture->gemm.source);
  const Flops flops =
      Figure("FLOPs", gemm.groups * 2 * kFlop * gemm.m * gemm.n * gemm.k, "a multiply-add counts as two");
  const FlopsPerSecond best = peak_rate * parameters.gemm_efficiency;
  const FlopsPerSecond unit_rate = best / Ratio(device.units);
  constexpr std::string_view kTitle = "Rate of one SM", kNote = "the power limit lowers the clock in long kernels";
  // The fitted efficiencies of grouped kernels outside a training step include the derating.
  if (gemm.groups != 1 && parameters.setting != GemmSetting::kTraining)
    return {flops, Figure(kTitle, unit_rate, kNote, source)};
  const Seconds ideal = Figure("Ideal compute time", flops / best, "at the GEMM efficiency of the best tile", source);
  return {flops,
          Figure(kTitle, unit_rate / (1 + parameters.clock_derating * ideal / (ideal + parameters.derating_ramp)),
                 kNote, source)};
}

// A grouped kernel's tile has as many rows as the pass has tokens, up to its largest, whatever an expert gets of them;
// its last is half full.
Ratio UsedRows(const Gemm& gemm, const GemmKernelParameters& parameters) {
  return Figure("Share of the computed rows that are a token's",
                gemm.m / max(parameters.stored_tile, gemm.m + parameters.stored_tile / 2),
                "a tile has as many rows as the pass has tokens; the last is half full");
}

}  // namespace

ComputeRate RateOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                   FlopsPerSecond peak_rate) {
  const ComputeRate own = TensorRate(gemm, device, parameters, peak_rate);
  if (!(parameters.stored_per_clock > Flops{})) return own;
  const FlopsPerSecond rate = min(own.unit_rate, parameters.stored_per_clock * device.clock);
  const bool is_grouped = gemm.groups > 1 && parameters.stored_tile > 0;
  return {own.flops, Figure("Rate of one SM", is_grouped ? rate * UsedRows(gemm, parameters) : rate,
                            "between its matrix instructions it converts weights and applies scales")};
}

Bytes WeightBytes(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters) {
  const Bytes weight_size = SizeOf(gemm.weight_size, gemm.weights);
  const Bytes once = gemm.groups * gemm.n * gemm.k * weight_size;
  if (!(parameters.stored_tile > 0)) return Figure("Weights", once, "read once");
  const Bytes matrix = Figure("Weights of a matrix", gemm.n * gemm.k * weight_size);
  const Ratio lost = Figure("Share of the weights that L2 has lost before the next rows",
                            max(0.0, 1 - *device.efficiency.usable_l2_fraction * L2Capacity(device) / matrix), "",
                            SourceOf(device, device.architecture->gemm.source));
  const Ratio reads =
      Figure("Times that the weights are read", 1 + max(0.0, gemm.m / parameters.stored_tile - 1) * lost,
             "once per tile of rows, as far as L2 has lost them since");
  return Figure("Weights", once * reads, "as often as they are read");
}

}  // namespace slipstick
