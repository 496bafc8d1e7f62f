#include "core/operators/moe.h"

#include <cassert>

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = kFamilySource;

// Operand precisions of the expert GEMMs; kEightByFour: 8-bit activations, 4-bit weights.
enum class Pairing { kSixteenBit, kFp8, kFp8Block, kFourBit, kEightByFour, kInt8, kInt8Weights, kInt4Weights };

const std::optional<ExpertRow>& RowOf(const ExpertKernels& kernels, Pairing pairing) {
  switch (pairing) {
    case Pairing::kSixteenBit:
      break;
    case Pairing::kFp8:
      return kernels.fp8_tensor;
    case Pairing::kFp8Block:
      return kernels.fp8_block;
    case Pairing::kFourBit:
      return kernels.four_bit_float;
    case Pairing::kEightByFour:
      return kernels.eight_by_four;
    case Pairing::kInt8:
      return kernels.int8;
    case Pairing::kInt8Weights:
      return kernels.int8_weights;
    case Pairing::kInt4Weights:
      return kernels.int4_weights;
  }
  return kernels.sixteen_bit;
}

// The library's row; TensorRT-LLM's if it has none.
const ExpertRow& RowOf(const ExpertTable& table, Pairing pairing, ExpertLibrary library) {
  const std::optional<ExpertRow>& trtllm = RowOf(table.trtllm, pairing);
  assert(trtllm);
  if (library == ExpertLibrary::kTrtllm) return *trtllm;
  const std::optional<ExpertRow>& own = RowOf(table.flashinfer, pairing);
  return own ? *own : *trtllm;
}

// Grouped GEMM with the layer's precisions; the caller sets its shape.
Gemm ProductOf(const MoeLayer& layer) {
  Gemm product;
  product.groups = 2;  // any number above 1 selects the grouped kernels
  product.m = 64;
  product.precision = layer.precision;
  product.weights = layer.weights;
  product.scaling = layer.scaling;
  return product;
}

Pairing PairingOf(const MoeLayer& layer, const Device& device) {
  switch (KernelOf(ProductOf(layer), device)) {
    case GemmKernel::kSixteenBit:
      return Pairing::kSixteenBit;
    case GemmKernel::kFp8Tensor:
      return BytesPerElement(layer.weights) < 1 ? Pairing::kEightByFour : Pairing::kFp8;
    case GemmKernel::kFp8Block:
      return Pairing::kFp8Block;
    case GemmKernel::kFourBitFloat:
      return Pairing::kFourBit;
    case GemmKernel::kInt8:
      return Pairing::kInt8;
    case GemmKernel::kInt8Weights:
      return Pairing::kInt8Weights;
    case GemmKernel::kInt4Weights:
      return Pairing::kInt4Weights;
  }
  return Pairing::kSixteenBit;
}

}  // namespace

MoeKernelParameters IsolatedKernelParameters(const MoeLayer& layer, const Device& device) {
  const ExpertTable& table = device.architecture->experts;
  const ExpertRow& row = RowOf(table, PairingOf(layer, device), layer.library);
  MoeKernelParameters parameters;
  parameters.bandwidth_gain = table.bandwidth_gain;
  parameters.kept_l2 = table.kept_l2;
  parameters.product = IsolatedKernelParameters(ProductOf(layer), device);
  parameters.product.launch = {};
  parameters.product.extra_launch = {};
  parameters.product.convert_per_clock = 0;  // hidden by the other rows of the group; the fitted efficiencies include the rest
  parameters.product.gemm_efficiency = min(1.0, row.gemm_efficiency * *device.efficiency.gemm_efficiency);
  parameters.product.step_latency = row.step_latency;
  parameters.weight_bandwidth_gain = row.bandwidth_efficiency;
  parameters.permute_efficiency = row.permute_efficiency;
  parameters.launch = row.launch;
  return parameters;
}

MoeKernelParameters ServingKernelParameters(const MoeLayer& layer, const Device& device) {
  MoeKernelParameters parameters = IsolatedKernelParameters(layer, device);
  const ServingExperts& serving = device.architecture->experts.serving;
  const Pairing pairing = PairingOf(layer, device);
  if (pairing == Pairing::kFourBit) {
    parameters.product.gemm_efficiency = serving.four_bit_gemm_efficiency * *device.efficiency.gemm_efficiency;
    parameters.permute_efficiency = serving.four_bit_permute_efficiency;
  }
  if (pairing == Pairing::kFp8) parameters.permute_efficiency = serving.fp8_permute_efficiency;
  const bool narrow =
      pairing == Pairing::kFp8 || pairing == Pairing::kFp8Block || pairing == Pairing::kFourBit || pairing == Pairing::kEightByFour;
  if (narrow) parameters.product.step_latency = serving.narrow_step_latency;
  parameters.routing_spread = serving.routing_spread;
  return parameters;
}

double ExpertsHit(const MoeLayer& layer, double rows, double spread) {
  const double local = layer.experts / layer.ep;
  if (layer.routing == Routing::kEven) return min(local, max(1.0, std::round(rows)));
  return local <= 1 ? 1 : local * (1 - pow(1 - 1 / local, max(1.0, spread * rows)));
}

KernelTime TimeOf(const MoeLayer& layer, const Device& device, const MoeKernelParameters& parameters, Trace& trace) {
  assert(device.efficiency.bandwidth_efficiency);
  const double tokens = layer.tokens, top_k = layer.top_k, ep = layer.ep, imbalance = layer.imbalance, hidden = layer.hidden;
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->experts.source));
  const double held_tokens = layer.held_tokens.value_or(tokens);
  const Seconds launch = parameters.launch;
  FIGURE(trace, rows, max(1.0, tokens * top_k / ep * imbalance), (Note{"Rows on this device", "a token counts once per expert"}), tokens,
         top_k, ep, imbalance);
  const double experts_hit = ExpertsHit(layer, rows, parameters.routing_spread);
  GemmKernelParameters product_parameters = parameters.product;
  product_parameters.bandwidth_efficiency =
      min(1.0, *device.efficiency.bandwidth_efficiency * parameters.bandwidth_gain * parameters.weight_bandwidth_gain);
  const auto product = [&](std::string_view name, double outputs, double inputs) {
    const Trace::Scope scope(trace, name);
    Gemm gemm = ProductOf(layer);
    gemm.groups = experts_hit;
    gemm.m = rows / experts_hit;
    gemm.n = outputs;
    gemm.k = inputs;
    gemm.weights_in_l2 = layer.weights_in_l2;
    return TimeOf(gemm, device, product_parameters, trace);
  };
  const double width = layer.ffn / layer.tp;
  const KernelTime up = product("gate_and_up", 2 * width, hidden);
  const KernelTime down = product("down", hidden, width);

  const Bytes element = ElementSize(NativePrecision(device, layer.precision)), half = 2 * kB;
  FIGURE(trace, moved_bytes, rows * hidden * (2 * half + element) + 2 * half * held_tokens * hidden,
         (Note{"Bytes of permute and combine",
               "rows are read, written in the GEMM format and read back; input and output of the tokens on this device", kSource}),
         rows, hidden, half, element, held_tokens);
  const double move_stream = min(1.0, *device.efficiency.bandwidth_efficiency * parameters.bandwidth_gain);
  const Seconds move_time = PassTime(moved_bytes, moved_bytes, parameters.kept_l2, move_stream, parameters.permute_efficiency, device);
  const Seconds up_time = up.time, down_time = down.time;
  FIGURE(trace, time, launch + up_time + down_time + move_time,
         (Note{"MoE layer time", "routing and small kernels, two grouped GEMMs, permute and combine", kSource, "time_s"}), launch, up_time,
         down_time, move_time);
  KernelTime result;
  result.time = time;
  result.compute = up.compute + down.compute;
  result.memory = up.memory + down.memory + move_time;
  result.bound = 2 * launch > time ? Bound::kLatency : result.compute >= result.memory ? Bound::kCompute : Bound::kMemory;
  result.flops = up.flops + down.flops;
  result.bytes = up.bytes + down.bytes + moved_bytes;
  return result;
}

KernelTime TimeOf(const MoeLayer& layer, const Device& device, Trace& trace) {
  return TimeOf(layer, device, IsolatedKernelParameters(layer, device), trace);
}

}  // namespace slipstick
