#include "core/operators/moe.h"

#include <cassert>
#include <cmath>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {

namespace {

// Stands for the grouped GEMMs where only their formats matter.
Gemm ProductOf(const MoeLayer& layer) {
  Gemm product = layer.product;
  product.groups = 2;  // any number above 1 selects the grouped kernels
  product.m = 64;
  return product;
}

const std::optional<ExpertRow>& RowOf(const ExpertKernels& kernels, const MoeLayer& layer, const Device& device) {
  static const std::optional<ExpertRow> none;
  switch (KernelOf(ProductOf(layer), device)) {
    case GemmKernel::kSixteenBit:
      return kernels.sixteen_bit;
    case GemmKernel::kFp8Tensor:
      return BytesPerElement(layer.product.weights) < 1 ? kernels.eight_by_four : kernels.fp8_tensor;
    case GemmKernel::kFp8Block:
      return kernels.fp8_block;
    case GemmKernel::kFourBitFloat:
      return kernels.four_bit_float;
    case GemmKernel::kInt4Weights:
    case GemmKernel::kInt8:
    case GemmKernel::kInt8Weights:
      break;
  }
  return none;
}

// The row that the library states, otherwise TensorRT-LLM's.
ExpertRow RowOf(const MoeLayer& layer, const Device& device) {
  const ExpertTable& table = device.architecture->experts;
  return RowOf(HasOwnKernels(layer, device) ? table.flashinfer : table.trtllm, layer, device).value_or(ExpertRow{});
}

Ratio PermuteEfficiency(const MoeLayer& layer, const Device& device) {
  return RowOf(layer, device).permute_efficiency.value_or(device.architecture->experts.permute_efficiency);
}

}  // namespace

bool HasOwnKernels(const MoeLayer& layer, const Device& device) {
  return layer.library == ExpertLibrary::kFlashInfer &&
         RowOf(device.architecture->experts.flashinfer, layer, device).has_value();
}

MoeKernelParameters IsolatedKernelParameters(const MoeLayer& layer, const Device& device) {
  const ExpertTable& table = device.architecture->experts;
  const ExpertRow row = RowOf(layer, device);
  MoeKernelParameters parameters;
  parameters.product = IsolatedKernelParameters(ProductOf(layer), device);
  parameters.product.launch = {};
  parameters.product.extra_launch = {};
  // hidden by the other rows of the group; the fitted efficiencies include the rest
  parameters.product.convert_per_clock = 0;
  if (row.gemm_efficiency)
    parameters.product.gemm_efficiency = Figure(
        "GEMM efficiency of the grouped kernels",
        min(1.0,
            ReachedShare(device, layer.product.precision, *row.gemm_efficiency * *device.efficiency.gemm_efficiency)),
        "before the engine's share");
  parameters.product.step_latency = table.step_latency;
  parameters.bandwidth_gain = table.bandwidth_gain;
  parameters.weight_bandwidth_gain = row.bandwidth_efficiency;
  parameters.permute_efficiency = PermuteEfficiency(layer, device);
  parameters.kept_l2 = table.kept_l2;
  parameters.launch = row.launch.value_or(table.launch);
  parameters.expert = row.expert;
  return parameters;
}

MoeKernelParameters ServingKernelParameters(const MoeLayer& layer, const Device& device) {
  MoeKernelParameters parameters = IsolatedKernelParameters(layer, device);
  MoeLayer scaled = layer;
  scaled.product.scaling = Scaling::kBlock;  // block scales travel with the tokens
  parameters.permute_efficiency = PermuteEfficiency(scaled, device);
  parameters.routing_preference = device.architecture->experts.routing_preference;
  parameters.product.setting = GemmSetting::kServing;
  return parameters;
}

Ratio ExpertsHit(const MoeLayer& layer, Ratio rows, Ratio preference) {
  const Ratio local = Figure("Experts on this device", layer.experts / layer.ep);
  if (layer.routing == Routing::kEven) return min(local, max(1.0, std::round(rows)));
  const Ratio first =
      Figure("Experts that the first token hits", min(min(local, rows), max(1.0, layer.top_k / layer.ep)),
             "of those on this device, each another");
  constexpr std::string_view kTitle = "Experts that get a row";
  if (preference == 0)
    return Figure(kTitle, first + (local - first) * (1 - pow(1 - 1 / local, rows - first)),
                  "of those on this device, all equally likely");
  // Rows per expert are Poisson-distributed, their mean Gamma-distributed over the experts: negative binomial.
  return Figure(
      kTitle,
      first + (local - first) * (1 - pow(1 + pow(preference, 2) * (rows - first) / local, -1 / pow(preference, 2))),
      "of those on this device, of which the tokens of a step prefer some");
}

namespace {

// Parameters of the grouped GEMMs, with the factors of the engine's own kernels relative to the library's.
GemmKernelParameters ProductParameters(const MoeKernelParameters& parameters, Ratio bandwidth_gain,
                                       const Device& device) {
  GemmKernelParameters product = parameters.product;
  product.gemm_efficiency = Figure("GEMM efficiency of the experts' products",
                                   parameters.product.gemm_efficiency * parameters.engine_gemm_efficiency,
                                   "of the grouped kernels, times the engine's");
  product.bandwidth_efficiency =
      Figure("Bandwidth efficiency of the experts' weights",
             min(1.0, *device.efficiency.bandwidth_efficiency * bandwidth_gain * parameters.weight_bandwidth_gain));
  return product;
}

// Permute before the GEMMs, and combine after them.
struct Permutation {
  Bytes bytes;
  Seconds time;
};
// With a separate kernel per pass, the gate and up products are written and read, then the activation, then the down
// product; each bias reads and writes the tensor to which it is added.
Bytes PassedBytes(const MoeLayer& layer, Ratio rows, const MoeKernelParameters& parameters) {
  const Ratio width = layer.ffn / layer.tp, biases = parameters.biases;
  return Figure("Bytes between the products",
                rows * ((6 + 4 * biases) * width + (2 + 2 * biases) * layer.hidden) * parameters.pass_bytes,
                "gate, up, activation and down are written and read in turn, and read and written again for biases");
}
Permutation Permute(const MoeLayer& layer, Ratio rows, const MoeKernelParameters& parameters, Ratio bandwidth_gain,
                    const Device& device) {
  const Ratio stream = *device.efficiency.bandwidth_efficiency;
  const auto pass = [&](Bytes bytes, Ratio reached, Ratio efficiency) {
    return Permutation{bytes, PassTime(bytes, bytes, parameters.kept_l2, reached, efficiency, device)};
  };
  if (parameters.pass_bytes > Bytes{}) return pass(PassedBytes(layer, rows, parameters), stream, 1);
  const Bytes row_element = SizeOf(layer.product.activation_size, NativePrecision(device, layer.product.precision));
  const Bytes moved = Figure(
      "Bytes of permute and combine",
      rows * layer.hidden * (4 * kB + row_element) + 4 * kB * layer.held_tokens.value_or(layer.tokens) * layer.hidden,
      "rows are read, written in the GEMM format and read back; input and output of the tokens on this device",
      SourceOf(device, device.architecture->experts.source));
  return pass(moved, Figure("Bandwidth efficiency of permute and combine", min(1.0, stream * bandwidth_gain)),
              parameters.permute_efficiency);
}

// Sums FLOPs, traffic and level times of all three, without the total time.
KernelTime WorkOf(const KernelTime& up, const KernelTime& down, const Permutation& moved) {
  KernelTime work;
  work.compute = up.compute + down.compute;
  work.memory = up.memory + down.memory + moved.time;
  work.flops = Figure("FLOPs", up.flops + down.flops, "of both grouped GEMMs");
  work.bytes =
      Figure("Memory traffic", up.bytes + down.bytes + moved.bytes, "of both grouped GEMMs, permute and combine");
  work.l2_bytes = up.l2_bytes + down.l2_bytes + moved.bytes;
  work.l1_bytes = up.l1_bytes + down.l1_bytes + moved.bytes;
  work.l2 = up.l2 + down.l2;
  work.l1 = up.l1 + down.l1;
  return work;
}

// A cache, if it bounds the longer product; otherwise the larger part of the whole layer's time.
Bound BoundOfProducts(const KernelTime& up, const KernelTime& down, const KernelTime& layer) {
  const Bound longer = up.time >= down.time ? up.bound : down.bound;
  if (longer == Bound::kL2 || longer == Bound::kL1) return longer;
  return layer.compute >= layer.memory ? Bound::kCompute : Bound::kMemory;
}

}  // namespace

KernelTime TimeOf(const MoeLayer& layer, const Device& device, const MoeKernelParameters& parameters) {
  assert(device.efficiency.bandwidth_efficiency);
  const Ratio bandwidth_gain = Figure("Bandwidth efficiency of the experts' kernels",
                                      parameters.bandwidth_gain * parameters.engine_bandwidth_efficiency,
                                      "over that of a 16-bit GEMM, times the engine's");
  const Ratio rows = Figure("Rows on this device", max(1.0, layer.tokens * layer.top_k / layer.ep * layer.imbalance),
                            "a token counts once per expert");
  const Ratio hit = ExpertsHit(layer, rows, parameters.routing_preference);
  const GemmKernelParameters product_parameters = ProductParameters(parameters, bandwidth_gain, device);
  const Ratio width = Figure("Inner width of an expert on this device", layer.ffn / layer.tp);
  const auto product = [&](Ratio outputs, Ratio inputs) {
    Gemm gemm = layer.product;
    gemm.groups = hit;
    gemm.m = Figure("Rows of an expert", rows / hit, "mean of those that get any");
    gemm.n = outputs;
    gemm.k = inputs;
    return TimeOf(gemm, device, product_parameters);
  };
  const KernelTime up =
      product(layer.gated ? Figure("Outputs of gate and up projection", 2 * width) : width, layer.hidden);
  const KernelTime down = product(layer.hidden, width);
  const Permutation moved = Permute(layer, rows, parameters, bandwidth_gain, device);
  const Seconds fixed = parameters.launch + layer.experts / layer.ep * parameters.expert;
  KernelTime result = WorkOf(up, down, moved);
  result.time = Figure("MoE layer time", fixed + up.time + down.time + moved.time,
                       "routing and small kernels, two grouped GEMMs, permute and combine",
                       SourceOf(device, device.architecture->experts.source));
  result.bound = 2 * fixed > result.time ? Bound::kLatency : BoundOfProducts(up, down, result);
  return result;
}

KernelTime TimeOf(const MoeLayer& layer, const Device& device) {
  return TimeOf(layer, device, IsolatedKernelParameters(layer, device));
}

}  // namespace slipstick
