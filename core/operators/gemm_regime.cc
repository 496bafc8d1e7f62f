// Constants of matrix-product kernels by precision and device family.
#include <cassert>

#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"

namespace slipstick {
namespace {

struct Row {
  GemmKernel kernel;
  Architecture architecture;  // kGeneric: every other
  double matrix;              // rho: share of the bf16 kernels' efficiency
  double stream;              // r_b: the same of the memory stream
  double step_latency_ns;     // kappa
  bool splits;                // whether split-K exists
  bool columns_by_96;         // whether tiles of 96 and 192 columns exist
  double quantise_bytes;      // c_q
  double quantise_share;      // e_q
  double extra_us;            // t_q
  double extra_few_rows_us;   // the same at m <= 4, where another kernel runs
};

// Fitted to ai-dynamo/aiconfigurator kernel tables at 095f58a: fp8, fp8 blocks and nvfp4 228 rows a device, weight-only and
// int8 187 to 209 rows on A100, H200 and L40S. Tiles of 96 and 192 columns show in bf16 from Hopper on: 3584, 6144 and 12288
// outputs take 10 to 18 % less than tiles of powers of two could. The generic row is the one for a device that was not measured.
// clang-format off
constexpr Row kRows[] = {
    {GemmKernel::kSixteenBit,   Architecture::kHopper,       1.0,   1.0,    0, true,  true,  0,    1.0,  0,    0},
    {GemmKernel::kSixteenBit,   Architecture::kBlackwell,    1.0,   1.0,    0, true,  true,  0,    1.0,  0,    0},
    {GemmKernel::kSixteenBit,   Architecture::kGeneric,      1.0,   1.0,    0, true,  false, 0,    1.0,  0,    0},
    {GemmKernel::kFp8Tensor,    Architecture::kHopper,       1.0,   1.0,   45, true,  false, 5,    0.72, 9.6,  9.6},
    {GemmKernel::kFp8Tensor,    Architecture::kBlackwell,    1.0,   1.0,   45, true,  false, 5,    0.72, 12,   12},
    {GemmKernel::kFp8Tensor,    Architecture::kAda,          1.0,   1.0,   45, true,  false, 5,    0.72, 10,   10},
    {GemmKernel::kFp8Tensor,    Architecture::kBlackwellRtx, 1.0,   1.0,   45, true,  false, 5,    0.72, 10,   10},
    {GemmKernel::kFp8Tensor,    Architecture::kGeneric,      1.0,   1.0,   45, true,  false, 5,    0.72, 10.6, 10.6},
    {GemmKernel::kFp8Block,     Architecture::kHopper,       0.745, 1.0,   35, false, false, 3,    0.61, 1.9,  1.9},
    {GemmKernel::kFp8Block,     Architecture::kBlackwell,    1.0,   1.0,   43, false, false, 3,    0.61, 3.2,  3.2},
    {GemmKernel::kFp8Block,     Architecture::kAda,          0.54,  1.0,   35, false, false, 3,    0.61, 0,    0},
    {GemmKernel::kFp8Block,     Architecture::kBlackwellRtx, 0.68,  1.0,   83, false, false, 3,    0.61, 4.5,  4.5},
    {GemmKernel::kFp8Block,     Architecture::kGeneric,      0.75,  1.0,   45, false, false, 3,    0.61, 2.6,  2.6},
    {GemmKernel::kFourBitFloat, Architecture::kBlackwell,    0.655, 0.83, 112, false, false, 2.56, 0.70, 4.0,  4.0},
    {GemmKernel::kFourBitFloat, Architecture::kBlackwellRtx, 0.90,  0.83, 235, false, false, 2.56, 0.70, 2.2,  2.2},
    {GemmKernel::kFourBitFloat, Architecture::kGeneric,      0.66,  0.83, 115, false, false, 2.56, 0.70, 4.0,  4.0},
    {GemmKernel::kInt8Weights,  Architecture::kGeneric,      1.08,  1.06, 100, true,  false, 0,    1.0,  7.3,  3.9},
    {GemmKernel::kInt4Weights,  Architecture::kGeneric,      1.065, 1.10,  25, true,  false, 0,    1.0,  8.0,  4.65},
    {GemmKernel::kInt8,         Architecture::kAmpere,       0.97,  1.06,  25, true,  false, 0,    1.0,  9.1,  1.5},
    {GemmKernel::kInt8,         Architecture::kHopper,       0.63,  1.06,  25, true,  false, 0,    1.0,  8.2,  1.5},
    {GemmKernel::kInt8,         Architecture::kAda,          1.29,  1.06,  25, true,  false, 0,    1.0,  4.6,  1.5},
    {GemmKernel::kInt8,         Architecture::kGeneric,      0.95,  1.06,  25, true,  false, 0,    1.0,  8.0,  1.5},
};
// clang-format on

const Row& RowOf(GemmKernel kernel, Architecture architecture) {
  const Row* standard = &kRows[0];
  for (const Row& row : kRows) {
    if (row.kernel != kernel) continue;
    if (row.architecture == architecture) return row;
    if (row.architecture == Architecture::kGeneric) standard = &row;
  }
  return *standard;
}

bool IsWeightOnly(GemmKernel kernel) { return kernel == GemmKernel::kInt8Weights || kernel == GemmKernel::kInt4Weights; }

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
  const GemmKernel kernel = KernelOf(gemm, device);
  const Row& row = RowOf(kernel, device.architecture);
  GemmRegime regime;
  regime.power_fall = gemm.groups == 1 ? *e.power_fall : 0;
  regime.columns_by_96 = row.columns_by_96;
  regime.max_split = row.splits && gemm.groups == 1 ? 16 : 1;
  regime.launch = *e.launch;
  regime.matrix_share = min(1.0, kernel == GemmKernel::kFp8Tensor ? *e.matrix_fp8 : row.matrix * *e.matrix);
  // The weights of a group of products stream a little better than those of one.
  regime.stream_share = min(1.0, *e.stream * row.stream * (gemm.groups == 1 ? 1 : 1.02));
  regime.step_latency = row.step_latency_ns * kNs;
  regime.convert_per_clock = IsWeightOnly(kernel) && gemm.m > 4 ? 14.6 : 0;
  if (gemm.quantise || IsWeightOnly(kernel) || kernel == GemmKernel::kInt8) {
    regime.extra_launch = (gemm.m > 4 ? row.extra_us : row.extra_few_rows_us) * kUs;
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
  regime.power_ramp = 0.1 * kMs;
  regime.max_split = std::min(regime.max_split, 8);
  regime.split_fills_two_waves = true;
  regime.launch = TraitsOf(device.architecture).tiled ? 2.5 * kUs : 1 * kUs;
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
  if (kernel == GemmKernel::kFp8Tensor) regime.quantise_bytes = gemm.quantise ? 3 : 0;
  return regime;
}

}  // namespace slipstick
