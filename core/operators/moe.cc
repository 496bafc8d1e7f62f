#include "core/operators/moe.h"

#include <cassert>

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "fitted to ai-dynamo/aiconfigurator MoE tables at 095f58a, TensorRT-LLM kernels";

struct Row {
  GemmKernel kernel;
  Architecture architecture;  // kGeneric: every other
  double launch_us;           // t_moe
  double move;                // e_v
  double matrix;              // rho
  double step_latency_ns;     // kappa
  double weight_stream;       // r_b
};
// clang-format off
constexpr Row kRows[] = {
    {GemmKernel::kSixteenBit,   Architecture::kHopper,       25.8, 0.55,  1.0,  0,   1},
    {GemmKernel::kSixteenBit,   Architecture::kBlackwell,    24.4, 0.55,  1.0,  0,   1},
    {GemmKernel::kSixteenBit,   Architecture::kAda,          11.7, 0.55,  1.0,  0,   1},
    {GemmKernel::kSixteenBit,   Architecture::kBlackwellRtx, 24,   0.55,  1.0,  0,   1},
    {GemmKernel::kSixteenBit,   Architecture::kGeneric,      25,   0.55,  1.0,  0,   1},
    {GemmKernel::kFp8Tensor,    Architecture::kHopper,       28.8, 0.40,  1.0,  20,  1},
    {GemmKernel::kFp8Tensor,    Architecture::kBlackwell,    27.5, 0.40,  1.04, 20,  1},
    {GemmKernel::kFp8Tensor,    Architecture::kAda,          17,   0.40,  0.77, 20,  1},
    {GemmKernel::kFp8Tensor,    Architecture::kBlackwellRtx, 20.5, 0.40,  0.91, 20,  1},
    {GemmKernel::kFp8Tensor,    Architecture::kGeneric,      27,   0.40,  1.0,  20,  1},
    {GemmKernel::kFp8Block,     Architecture::kHopper,       21,   0.19,  0.53, 60,  1},
    {GemmKernel::kFp8Block,     Architecture::kBlackwell,    27.7, 0.385, 0.81, 60,  1},
    {GemmKernel::kFp8Block,     Architecture::kGeneric,      27.7, 0.385, 0.81, 60,  1},
    {GemmKernel::kFourBitFloat, Architecture::kBlackwell,    34,   0.31,  0.62, 140, 1},
    {GemmKernel::kFourBitFloat, Architecture::kBlackwellRtx, 42,   1.10,  0.75, 225, 0.83},
    {GemmKernel::kFourBitFloat, Architecture::kGeneric,      34,   0.31,  0.62, 140, 1},
    {GemmKernel::kInt8,         Architecture::kGeneric,      27,   0.40,  0.95, 25,  1},
    {GemmKernel::kInt8Weights,  Architecture::kGeneric,      25,   0.55,  1.0,  100, 1},
    {GemmKernel::kInt4Weights,  Architecture::kGeneric,      25,   0.55,  1.0,  25,  1.10},
};
// clang-format on

const Row& RowOf(GemmKernel kernel, Architecture architecture) {
  const Row* standard = &kRows[4];
  for (const Row& row : kRows) {
    if (row.kernel != kernel) continue;
    if (row.architecture == architecture) return row;
    if (row.architecture == Architecture::kGeneric) standard = &row;
  }
  return *standard;
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

}  // namespace

MoeRegime AloneRegime(const MoeLayer& layer, const Device& device) {
  const Gemm product = ProductOf(layer);
  const Row& row = RowOf(KernelOf(product, device), device.architecture);
  MoeRegime regime;
  regime.product = AloneRegime(product, device);
  regime.product.launch = {};
  regime.product.extra_launch = {};
  regime.product.matrix_share = min(1.0, row.matrix * *device.efficiency.matrix);
  regime.product.step_latency = row.step_latency_ns * kNs;
  regime.weight_factor = row.weight_stream;
  regime.move_share = row.move;
  regime.launch = row.launch_us * kUs;
  if (layer.kernel == ExpertKernel::kTriton) regime.product.matrix_share *= 0.6;
  return regime;
}

MoeRegime ServingRegime(const MoeLayer& layer, const Device& device) {
  MoeRegime regime = AloneRegime(layer, device);
  const GemmKernel kernel = KernelOf(ProductOf(layer), device);
  const bool narrow = kernel == GemmKernel::kFp8Tensor || kernel == GemmKernel::kFp8Block || kernel == GemmKernel::kFourBitFloat;
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
  FIGURE(trace, moved_bytes, rows * hidden * (2 * half + element) + 2 * half * tokens * hidden,
         (Note{"Bytes of permuting and combining", "rows are read, written in the products' format, and read back; the layer's in and out",
               kSource}),
         rows, hidden, half, element, tokens);
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
