#include "core/operators/moe.h"

#include <cassert>

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "fitted to ai-dynamo/aiconfigurator MoE tables at 095f58a";

// How the products' operands are paired: a product's kernel, or an 8-bit product with 4-bit weights.
enum class Pairing { kSixteenBit, kFp8, kFp8Block, kFourBit, kEightByFour, kInt8, kInt8Weights, kInt4Weights };

struct Row {
  Pairing pairing;
  ExpertLibrary library;
  Architecture architecture;  // kGeneric: every other
  double launch_us;           // t_moe
  double move;                // e_v
  double matrix;              // rho
  double step_latency_ns;     // kappa
  double weight_stream;       // r_b
};
// TensorRT-LLM: 462 rows of bf16 and of fp8, 364 of fp8 blocks, 294 of nvfp4 (the quicker of its two kernels), 77 of bf16
// by mxfp4 and 63 of mxfp8 by mxfp4. FlashInfer stands for what vLLM 0.24 runs: Triton on Hopper for bf16 and fp8 blocks,
// generated kernels on Blackwell; its fp8 kernel on Hopper is slow. A device without a row takes the generic one.
// clang-format off
constexpr Row kRows[] = {
    {Pairing::kSixteenBit,  ExpertLibrary::kTrtllm,     Architecture::kHopper,       25.8, 0.55,  1.0,   0,   1},
    {Pairing::kSixteenBit,  ExpertLibrary::kTrtllm,     Architecture::kBlackwell,    24.4, 0.55,  1.0,   0,   1},
    {Pairing::kSixteenBit,  ExpertLibrary::kTrtllm,     Architecture::kAda,          11.7, 0.80,  0.9,   0,   0.96},
    {Pairing::kSixteenBit,  ExpertLibrary::kTrtllm,     Architecture::kBlackwellRtx, 16.2, 0.80,  0.82,  20,  0.96},
    {Pairing::kSixteenBit,  ExpertLibrary::kTrtllm,     Architecture::kGeneric,      25,   0.55,  1.0,   0,   1},
    {Pairing::kSixteenBit,  ExpertLibrary::kFlashInfer, Architecture::kHopper,       22,   1.0,   0.65,  20,  1},
    {Pairing::kSixteenBit,  ExpertLibrary::kFlashInfer, Architecture::kBlackwell,    14,   0.60,  0.62,  20,  1.15},
    {Pairing::kSixteenBit,  ExpertLibrary::kFlashInfer, Architecture::kGeneric,      25,   0.90,  0.60,  0,   1},
    {Pairing::kFp8,         ExpertLibrary::kTrtllm,     Architecture::kHopper,       28.8, 0.40,  1.0,   20,  1},
    {Pairing::kFp8,         ExpertLibrary::kTrtllm,     Architecture::kBlackwell,    27.5, 0.40,  1.04,  20,  1},
    {Pairing::kFp8,         ExpertLibrary::kTrtllm,     Architecture::kAda,          14.7, 0.68,  0.76,  20,  0.94},
    {Pairing::kFp8,         ExpertLibrary::kTrtllm,     Architecture::kBlackwellRtx, 16.9, 0.69,  0.85,  20,  0.92},
    {Pairing::kFp8,         ExpertLibrary::kTrtllm,     Architecture::kGeneric,      27,   0.40,  1.0,   20,  1},
    {Pairing::kFp8,         ExpertLibrary::kFlashInfer, Architecture::kHopper,       49,   1.0,   0.175, 20,  0.22},
    {Pairing::kFp8,         ExpertLibrary::kFlashInfer, Architecture::kBlackwell,    15,   0.60,  0.60,  20,  1.15},
    {Pairing::kFp8Block,    ExpertLibrary::kTrtllm,     Architecture::kHopper,       21,   0.19,  0.53,  60,  1},
    {Pairing::kFp8Block,    ExpertLibrary::kTrtllm,     Architecture::kBlackwell,    27.7, 0.385, 0.81,  60,  1},
    {Pairing::kFp8Block,    ExpertLibrary::kTrtllm,     Architecture::kGeneric,      27.7, 0.385, 0.81,  60,  1},
    {Pairing::kFp8Block,    ExpertLibrary::kFlashInfer, Architecture::kHopper,       33.6, 0.66,  0.37,  20,  1.2},
    {Pairing::kFp8Block,    ExpertLibrary::kFlashInfer, Architecture::kBlackwell,    16.4, 0.30,  0.30,  20,  1.3},
    {Pairing::kFourBit,     ExpertLibrary::kTrtllm,     Architecture::kBlackwell,    20,   0.90,  0.88,  11,  1.3},
    {Pairing::kFourBit,     ExpertLibrary::kTrtllm,     Architecture::kBlackwellRtx, 42,   1.10,  0.75,  225, 0.83},
    {Pairing::kFourBit,     ExpertLibrary::kTrtllm,     Architecture::kGeneric,      34,   0.31,  0.62,  20,  1.3},
    {Pairing::kFourBit,     ExpertLibrary::kFlashInfer, Architecture::kBlackwell,    17,   0.95,  0.54,  26,  1.27},
    {Pairing::kEightByFour, ExpertLibrary::kTrtllm,     Architecture::kBlackwell,    18.9, 0.28,  1.27,  5,   1.14},
    {Pairing::kEightByFour, ExpertLibrary::kTrtllm,     Architecture::kBlackwellRtx, 77,   0.56,  0.90,  20,  0.84},
    {Pairing::kEightByFour, ExpertLibrary::kTrtllm,     Architecture::kGeneric,      27,   0.40,  1.0,   20,  1},
    {Pairing::kInt8,        ExpertLibrary::kTrtllm,     Architecture::kGeneric,      27,   0.40,  0.95,  25,  1},
    {Pairing::kInt8Weights, ExpertLibrary::kTrtllm,     Architecture::kGeneric,      25,   0.55,  1.0,   100, 1},
    {Pairing::kInt4Weights, ExpertLibrary::kTrtllm,     Architecture::kBlackwell,    56,   0.46,  0.23,  36,  0.25},
    {Pairing::kInt4Weights, ExpertLibrary::kTrtllm,     Architecture::kHopper,       89,   0.06,  1.0,   20,  0.77},
    {Pairing::kInt4Weights, ExpertLibrary::kTrtllm,     Architecture::kGeneric,      25,   0.55,  1.0,   25,  1.10},
    {Pairing::kInt4Weights, ExpertLibrary::kFlashInfer, Architecture::kHopper,       62,   1.0,   0.72,  20,  0.87},
    {Pairing::kInt4Weights, ExpertLibrary::kFlashInfer, Architecture::kBlackwell,    21,   0.22,  0.39,  20,  0.75},
};
// clang-format on

// The row of a pairing on a device: of the library, then of TensorRT-LLM, then the generic ones in that order.
const Row& RowOf(Pairing pairing, ExpertLibrary library, Architecture architecture) {
  const Row* best = &kRows[0];
  int best_match = -1;
  for (const Row& row : kRows) {
    const bool same_architecture = row.architecture == architecture, same_library = row.library == library;
    if (row.pairing != pairing || (!same_architecture && row.architecture != Architecture::kGeneric)) continue;
    if (!same_library && row.library != ExpertLibrary::kTrtllm) continue;
    const int match = 2 * same_library + same_architecture;
    if (match > best_match) best = &row, best_match = match;
  }
  return *best;
}

// A grouped product of the layer with the layer's precisions; its shape is filled in later.
Gemm ProductOf(const MoeLayer& layer) {
  Gemm product;
  product.groups = 2;  // any number above one: the grouped kernels
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

MoeRegime AloneRegime(const MoeLayer& layer, const Device& device) {
  const Row& row = RowOf(PairingOf(layer, device), layer.library, device.architecture);
  MoeRegime regime;
  regime.product = AloneRegime(ProductOf(layer), device);
  regime.product.launch = {};
  regime.product.extra_launch = {};
  regime.product.convert_per_clock = 0;  // hidden by the other rows of a group; the row's shares hold what is left
  regime.product.matrix_share = min(1.0, row.matrix * *device.efficiency.matrix);
  regime.product.step_latency = row.step_latency_ns * kNs;
  regime.weight_factor = row.weight_stream;
  regime.move_share = row.move;
  regime.launch = row.launch_us * kUs;
  return regime;
}

MoeRegime ServingRegime(const MoeLayer& layer, const Device& device) {
  MoeRegime regime = AloneRegime(layer, device);
  const Pairing pairing = PairingOf(layer, device);
  if (pairing == Pairing::kFourBit) {
    // Inside a step neither of the benchmark's two kernels runs alone: rate of the large one, stream of the small one.
    regime.product.matrix_share = 0.62 * *device.efficiency.matrix;
    regime.move_share = 0.31;
  }
  if (pairing == Pairing::kFp8) regime.move_share = device.architecture == Architecture::kHopper ? 0.19 : 0.385;
  const bool narrow =
      pairing == Pairing::kFp8 || pairing == Pairing::kFp8Block || pairing == Pairing::kFourBit || pairing == Pairing::kEightByFour;
  if (narrow) regime.product.step_latency = 20 * kNs;
  regime.spread = 0.85;
  return regime;
}

double ExpertsHit(const MoeLayer& layer, double rows, double spread) {
  const double local = layer.experts / layer.ep;
  if (layer.routing == Routing::kEven) return min(local, max(1.0, std::round(rows)));
  return local <= 1 ? 1 : local * (1 - pow(1 - 1 / local, max(1.0, spread * rows)));
}

KernelTime TimeOf(const MoeLayer& layer, const Device& device, const MoeRegime& regime, Trace& trace) {
  assert(device.efficiency.stream);
  const double tokens = layer.tokens, top_k = layer.top_k, ep = layer.ep, imbalance = layer.imbalance, hidden = layer.hidden;
  const Trace::Citing citing(trace, SourceInPlace(device));
  const double held_tokens = layer.held_tokens.value_or(tokens);
  const Seconds launch = regime.launch;
  FIGURE(trace, rows, max(1.0, tokens * top_k / ep * imbalance),
         (Note{"Rows on this device", "a token counts once for each of its experts"}), tokens, top_k, ep, imbalance);
  const double experts_hit = ExpertsHit(layer, rows, regime.spread);
  GemmRegime product_regime = regime.product;
  product_regime.stream_share = min(1.0, *device.efficiency.stream * regime.stream_factor * regime.weight_factor);
  const auto product = [&](std::string_view name, double outputs, double inputs) {
    const Trace::Scope scope(trace, name);
    Gemm gemm = ProductOf(layer);
    gemm.groups = experts_hit;
    gemm.m = rows / experts_hit;
    gemm.n = outputs;
    gemm.k = inputs;
    gemm.weights_in_cache = layer.weights_in_cache;
    return TimeOf(gemm, device, product_regime, trace);
  };
  const double width = layer.ffn / layer.tp;
  const KernelTime up = product("gate_and_up", 2 * width, hidden);
  const KernelTime down = product("down", hidden, width);

  const Bytes element = ElementSize(NativePrecision(device, layer.precision)), half = 2 * kB;
  FIGURE(trace, moved_bytes, rows * hidden * (2 * half + element) + 2 * half * held_tokens * hidden,
         (Note{"Bytes of permuting and combining",
               "rows are read, written in the products' format, and read back; the layer's in and out, of the tokens held here", kSource}),
         rows, hidden, half, element, held_tokens);
  const double move_stream = min(1.0, *device.efficiency.stream * regime.stream_factor);
  const Seconds move_time = PassTime(moved_bytes, moved_bytes, 2.4, move_stream, regime.move_share, device);
  const Seconds up_time = up.time, down_time = down.time;
  FIGURE(
      trace, time, launch + up_time + down_time + move_time,
      (Note{"Time of the layer of experts", "routing and small kernels, two grouped products, permuting and combining", kSource, "time_s"}),
      launch, up_time, down_time, move_time);
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
  return TimeOf(layer, device, AloneRegime(layer, device), trace);
}

}  // namespace slipstick
