// Constants of attention kernels by device family and library.
#include <cassert>
#include <limits>

#include "core/base/units.h"
#include "core/operators/attention.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

bool HasFp8(const Device& device) { return Supports(device, Precision::kFp8); }

struct PrefillRow {
  Architecture architecture;
  AttentionLibrary library;
  double launch_us, matrix, matrix_fp8;
  double narrow;      // of `matrix`, on heads up to 64 wide: more blocks fit a unit
  double narrow_fp8;  // the same of fp8 operands, where no fp8 kernel takes such heads and a 16-bit one steps in; 0: the fp8 kernel does
  double exp_share, tile_us, tail;
  bool fp8_cache_in_fp8;      // an fp8 cache makes 16-bit queries fp8 too
  bool fused_pass;            // rotary embedding and cache write inside the attention call
  double passes, passes_fp8;  // q: of the cache's bytes, 16-bit and fp8 cache
};
// Fitted to ai-dynamo/aiconfigurator context attention tables at 095f58a, 3,325 rows of head sizes 64 and 128. Fitted to head
// size 128 alone, 64 comes out within 4 to 8 % (L40S and RTX PRO 6000 apart, whose kernels for it are others). A row of the
// generic library is a class's default for an engine or a device that was not measured; MI300X reaches 44 % of its peak.
// clang-format off
constexpr PrefillRow kPrefillRows[] = {
    {Architecture::kAmpere,       AttentionLibrary::kTrtllm,     11.5, 0.51, 0.40, 1.00, 0,    1, 3.6, 0.58, false, true,  1,    1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,      8.3, 0.42, 0.39, 1.04, 0.77, 1, 2.7, 0.28, false, true,  1,    1},
    {Architecture::kBlackwellRtx, AttentionLibrary::kTrtllm,     13.2, 0.45, 0.45, 1.20, 0.84, 1, 4.0, 0.25, false, true,  1,    1},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     11.3, 0.70, 0.52, 1.00, 0,    1, 4.9, 0.54, true,  true,  1,    1},
    {Architecture::kBlackwell,    AttentionLibrary::kTrtllm,     11.1, 0.87, 0.76, 1.00, 0,    1, 4.8, 1.09, true,  true,  1,    1},
    {Architecture::kHopper,       AttentionLibrary::kFlashInfer, 15.6, 0.78, 0.40, 1.00, 0,    1, 3.1, 0.02, true,  false, 1.28, 2.2},
    {Architecture::kBlackwell,    AttentionLibrary::kFlashInfer, 10.2, 0.95, 0.86, 1.00, 0,    1, 2.2, 1.10, true,  false, 1.77, 3.4},
    {Architecture::kHopper,       AttentionLibrary::kGeneric,    11.0, 0.72, 0.52, 1.00, 0,    1, 4.9, 0.55, false, true,  1,    1},
    {Architecture::kBlackwell,    AttentionLibrary::kGeneric,    11.0, 0.89, 0.78, 1.00, 0,    1, 4.8, 1.05, false, true,  1,    1},
    {Architecture::kCdna,         AttentionLibrary::kGeneric,    12.0, 0.45, 0.36, 1.00, 0,    1, 3.5, 0.40, false, true,  1,    1},
    {Architecture::kTpu,          AttentionLibrary::kGeneric,    20.0, 0.50, 0.40, 1.00, 0,    0, 0.0, 0.00, false, true,  1,    1},
    {Architecture::kGaudi,        AttentionLibrary::kGeneric,    20.0, 0.50, 0.40, 1.00, 0,    0, 0.0, 0.00, false, true,  1,    1},
    {Architecture::kNeuron,       AttentionLibrary::kGeneric,    20.0, 0.50, 0.40, 1.00, 0,    0, 0.0, 0.00, false, true,  1,    1},
    {Architecture::kGeneric,      AttentionLibrary::kFlashInfer, 11.0, 0.45, 0.40, 1.00, 0,    1, 3.5, 0.40, false, false, 1,    1.5},
    {Architecture::kGeneric,      AttentionLibrary::kGeneric,    11.0, 0.45, 0.40, 1.00, 0,    1, 3.5, 0.40, false, true,  1,    1},
};
// clang-format on

// The row of a device and library; without one the device's default, and without that the default of all.
const PrefillRow& PrefillRowOf(Architecture architecture, AttentionLibrary library) {
  const PrefillRow* best = nullptr;
  int best_match = -1;
  for (const PrefillRow& row : kPrefillRows) {
    const bool same_architecture = row.architecture == architecture, same_library = row.library == library;
    if (!same_architecture && row.architecture != Architecture::kGeneric) continue;
    if (!same_library && row.library != AttentionLibrary::kGeneric) continue;
    const int match = 2 * same_architecture + same_library;
    if (match > best_match) best = &row, best_match = match;
  }
  return *best;
}

struct CoreRow {
  AttentionAlgorithm algorithm;
  Architecture architecture;  // kGeneric: every other
  bool backward;              // forward and backward together, or backward alone
  double matrix, matrix_fp8;  // 0: no fp8 kernel
  double exp_share, tile_us;
  double wide;  // on heads of more than 256 bytes: fewer keys a tile, one group of warps less to hide behind
};
// Kernels of training, timed alone: 130 rows of the FlashAttention-2 and -3 papers and repository; forward on A100 and fp8 by
// those papers' highest figures (227 and near 1,200 TFLOP/s). Exponentials weigh more than one each where the softmax's other
// work waits with them, and nothing where a poor use of the matrix units hides them. flash3 stands for FlashAttention-3 and
// cuDNN 9 together.
constexpr CoreRow kCoreRows[] = {
    {AttentionAlgorithm::kFlash1, Architecture::kGeneric, false, 0.26, 0, 0, 4.1, 1},
    {AttentionAlgorithm::kFlash1, Architecture::kGeneric, true, 0.26, 0, 0, 4.1, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kHopper, false, 0.40, 0, 1.2, 0.8, 0.83},
    {AttentionAlgorithm::kFlash2, Architecture::kHopper, true, 0.36, 0, 2.1, 9.8, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kBlackwell, false, 0.40, 0, 1.2, 0.8, 0.83},
    {AttentionAlgorithm::kFlash2, Architecture::kBlackwell, true, 0.36, 0, 2.1, 9.8, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kGeneric, false, 0.77, 0, 1, 5.0, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kGeneric, true, 0.65, 0, 2.1, 12.9, 1},
    {AttentionAlgorithm::kFlash3, Architecture::kHopper, false, 0.90, 0.83, 1.7, 0.7, 0.72},
};

const CoreRow* CoreRowOf(AttentionAlgorithm algorithm, Architecture architecture, bool backward) {
  const CoreRow* best = nullptr;
  for (const CoreRow& row : kCoreRows) {
    if (row.algorithm != algorithm || row.backward != backward) continue;
    if (row.architecture == architecture) return &row;
    if (row.architecture == Architecture::kGeneric) best = &row;
  }
  return best;
}

// A core alone, of a library for training.
TileRegime CoreRegime(const Attention& attention, const Device& device) {
  const bool backward = attention.phase != AttentionPhase::kPrefill;
  TileRegime regime;
  regime.launch = 10 * kUs;
  regime.pass_factor = 0;
  if (const CoreRow* row = CoreRowOf(attention.algorithm, device.architecture, backward)) {
    regime.in_fp8 = row->matrix_fp8 > 0 && IsEightBitFloat(NativePrecision(device, attention.precision));
    const double head_bytes = attention.head_dim * (regime.in_fp8 ? 1 : 2);
    regime.matrix_share = (regime.in_fp8 ? row->matrix_fp8 : row->matrix) * (head_bytes > 256 ? row->wide : 1);
    regime.exp_share = row->exp_share;
    regime.tile_overhead = row->tile_us * kUs;
    return regime;
  }
  const PrefillRow& row = PrefillRowOf(device.architecture, AttentionLibrary::kGeneric);
  const KernelTraits traits = TraitsOf(device.architecture);
  regime.exp_share = row.exp_share;
  regime.tile_overhead = row.tile_us * kUs;
  regime.matrix_share = row.matrix;
  if (backward && traits.asynchronous_mma) regime.matrix_share = 0.75 * row.matrix, regime.tile_overhead = 5 * kUs;
  if (backward && !traits.asynchronous_mma && traits.tiled) {
    regime.matrix_share = device.architecture == Architecture::kCdna ? 0.4 : 0.6;
    regime.tile_overhead = 12 * kUs;
  }
  if (backward && !traits.tiled) regime.matrix_share = 0.45;
  regime.in_fp8 = IsEightBitFloat(NativePrecision(device, attention.precision));
  if (regime.in_fp8 && !backward) regime.matrix_share = row.matrix_fp8;
  return regime;
}

}  // namespace

TileRegime AloneRegime(const Attention& attention, const Device& device) {
  if (attention.phase != AttentionPhase::kPrefill || !attention.writes_cache || attention.algorithm != AttentionAlgorithm::kAuto) {
    return CoreRegime(attention, device);
  }
  const PrefillRow& row = PrefillRowOf(device.architecture, attention.library);
  const bool fp8_cache = BytesPerElement(attention.kv_precision) < 2;
  TileRegime regime;
  regime.in_fp8 = IsEightBitFloat(NativePrecision(device, attention.precision)) || (row.fp8_cache_in_fp8 && fp8_cache && HasFp8(device));
  const bool narrow = attention.head_dim <= 64, falls_back = regime.in_fp8 && narrow && row.narrow_fp8 > 0;
  if (falls_back) regime.in_fp8 = false;
  regime.launch = row.launch_us * kUs;
  regime.matrix_share = regime.in_fp8 ? row.matrix_fp8 : row.matrix * (falls_back ? row.narrow_fp8 : narrow ? row.narrow : 1);
  regime.exp_share = row.exp_share;
  regime.tile_overhead = row.tile_us * kUs;
  regime.tail = row.tail;
  regime.fused_pass = row.fused_pass;
  regime.pass_factor = fp8_cache ? row.passes_fp8 : row.passes;
  return regime;
}

UnfusedRegime UnfusedAloneRegime(const Attention& attention) {
  UnfusedRegime regime;
  regime.score_passes = attention.causal ? 23 : 15.5;  // the mask is read and written, not skipped
  return regime;
}

namespace {

enum class Sharing { kAny, kGrouped, kEvery };  // query heads share a KV head; every one has its own
enum class CacheWidth { kAny, kSixteen, kEight };
enum class HeadWidth { kAny, kNarrow };  // narrow: up to 64, where other kernels run

struct DecodeRow {
  Architecture architecture;
  AttentionLibrary library;
  Sharing sharing;
  CacheWidth width;
  HeadWidth head;
  double units_filled, max_splits, min_split;
  double launch_us, unit_gbps;  // 0: no limit
  double merge_us, merge_a_split_us, wave_us, stream;
};
// Fitted to ai-dynamo/aiconfigurator generation attention tables at 095f58a, 2,046 rows: first the rows of head size 64 where its kernels
// are others. The first that matches counts.
// clang-format off
constexpr DecodeRow kDecodeRows[] = {
    {Architecture::kBlackwell,    AttentionLibrary::kTrtllm,     Sharing::kAny,     CacheWidth::kAny,     HeadWidth::kNarrow, 2, 16,  1024, 11.3, 0,   0.6,  0.22,  1.0,  1},
    {Architecture::kBlackwell,    AttentionLibrary::kTrtllm,     Sharing::kAny,     CacheWidth::kAny,     HeadWidth::kAny,    1, 256, 512,  11.3, 0,   0.5,  0.116, 0.64, 1},
    {Architecture::kBlackwell,    AttentionLibrary::kFlashInfer, Sharing::kGrouped, CacheWidth::kAny,     HeadWidth::kAny,    1, 256, 512,  9.5,  0,   0.6,  0.118, 0.93, 1},
    {Architecture::kBlackwell,    AttentionLibrary::kFlashInfer, Sharing::kEvery,   CacheWidth::kSixteen, HeadWidth::kAny,    4, 16,  1024, 12.3, 0,   18.6, 1.0,   1.0,  1},
    {Architecture::kBlackwell,    AttentionLibrary::kFlashInfer, Sharing::kEvery,   CacheWidth::kEight,   HeadWidth::kAny,    4, 16,  1024, 17.1, 0,   0,    0.02,  0.6,  1},
    {Architecture::kHopper,       AttentionLibrary::kFlashInfer, Sharing::kAny,     CacheWidth::kSixteen, HeadWidth::kNarrow, 1, 16,  1024, 10.4, 188, 1.3,  0.25,  2.3,  1},
    {Architecture::kHopper,       AttentionLibrary::kFlashInfer, Sharing::kAny,     CacheWidth::kEight,   HeadWidth::kNarrow, 1, 16,  128,  10.7, 19,  0,    0.145, 2.1,  0.80},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kSixteen, HeadWidth::kNarrow, 4, 64,  256,  8.8,  0,   2.2,  0,     3.8,  0.97},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kEight,   HeadWidth::kNarrow, 4, 64,  256,  8.3,  145, 2.6,  0.070, 0.8,  0.88},
    {Architecture::kHopper,       AttentionLibrary::kFlashInfer, Sharing::kAny,     CacheWidth::kSixteen, HeadWidth::kAny,    2, 16,  512,  11.5, 113, 0,    0.149, 2.59, 1},
    {Architecture::kHopper,       AttentionLibrary::kFlashInfer, Sharing::kAny,     CacheWidth::kEight,   HeadWidth::kAny,    2, 64,  128,  12.1, 12,  0,    0.050, 4.05, 0.90},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kSixteen, HeadWidth::kAny,    4, 256, 256,  9.3,  43,  3.3,  0.033, 3.1,  1},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kEight,   HeadWidth::kAny,    4, 16,  128,  5.9,  75,  1.1,  0.182, 1.27, 1},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kSixteen, HeadWidth::kAny,    4, 64,  1024, 10.1, 80,  10.3, 1.0,   0.39, 1},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kEight,   HeadWidth::kAny,    2, 16,  1024, 10.4, 44,  13.3, 1.0,   0.73, 0.70},
    {Architecture::kAmpere,       AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kAny,     HeadWidth::kAny,    4, 16,  128,  10.6, 145, 4.1,  0.073, 3.02, 1},
    {Architecture::kAmpere,       AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kAny,     HeadWidth::kAny,    1, 16,  128,  9.8,  17,  8.7,  0,     0,    1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kSixteen, HeadWidth::kAny,    1, 256, 128,  6.5,  23,  2.5,  0.041, 1.90, 1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kEight,   HeadWidth::kAny,    1, 1,   128,  8.1,  16,  0,    0,     2.91, 1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kSixteen, HeadWidth::kAny,    2, 64,  128,  5.0,  16,  1.0,  0.46,  0,    1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kEight,   HeadWidth::kAny,    1, 16,  128,  8.6,  5,   20.4, 0,     0,    1},
    {Architecture::kBlackwellRtx, AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kSixteen, HeadWidth::kAny,    1, 256, 128,  6.3,  24,  2.0,  0.045, 2.5,  1},
    {Architecture::kBlackwellRtx, AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kEight,   HeadWidth::kAny,    1, 1,   128,  7.7,  27,  0,    0,     3.02, 1},
    {Architecture::kBlackwellRtx, AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kAny,     HeadWidth::kAny,    4, 64,  512,  9.6,  897, 2.3,  0.685, 0.45, 1},
    {Architecture::kTpu,          AttentionLibrary::kGeneric,    Sharing::kAny,     CacheWidth::kAny,     HeadWidth::kAny,    1, 1,   512,  20.0, 0,   0,    0,     0,    1},
    {Architecture::kGaudi,        AttentionLibrary::kGeneric,    Sharing::kAny,     CacheWidth::kAny,     HeadWidth::kAny,    1, 1,   512,  20.0, 0,   0,    0,     0,    1},
    {Architecture::kNeuron,       AttentionLibrary::kGeneric,    Sharing::kAny,     CacheWidth::kAny,     HeadWidth::kAny,    1, 1,   512,  20.0, 0,   0,    0,     0,    1},
};
// A device or library that was not measured. A kernel that serves one head a block starts a wave as the measured ones do (0 to 0.7 us).
constexpr DecodeRow kDecodeDefault[] = {
    {Architecture::kGeneric,      AttentionLibrary::kGeneric,    Sharing::kEvery,   CacheWidth::kAny,     HeadWidth::kAny,    1, 256, 512,  10.5, 0,   0.5,  0.10,  0.5,  1},
    {Architecture::kGeneric,      AttentionLibrary::kGeneric,    Sharing::kGrouped, CacheWidth::kAny,     HeadWidth::kAny,    1, 256, 512,  10.5, 0,   0.5,  0.10,  1.5,  1},
};
// clang-format on

const DecodeRow& DecodeRowOf(const Attention& attention, Architecture architecture) {
  const Sharing sharing = attention.heads > attention.kv_heads ? Sharing::kGrouped : Sharing::kEvery;
  const CacheWidth width = BytesPerElement(attention.kv_precision) < 2 ? CacheWidth::kEight : CacheWidth::kSixteen;
  for (const DecodeRow& row : kDecodeRows) {
    if (row.architecture == architecture && (row.library == attention.library || row.library == AttentionLibrary::kGeneric) &&
        (row.head == HeadWidth::kAny || attention.head_dim <= 64) && (row.sharing == sharing || row.sharing == Sharing::kAny) &&
        (row.width == width || row.width == CacheWidth::kAny)) {
      return row;
    }
  }
  return kDecodeDefault[sharing == Sharing::kEvery ? 0 : 1];
}

}  // namespace

DecodeRegime DecodeAloneRegime(const Attention& attention, const Device& device) {
  assert(device.efficiency.decode_stream);
  const DecodeRow& row = DecodeRowOf(attention, device.architecture);
  DecodeRegime regime;
  regime.units_filled = row.units_filled;
  regime.max_splits = row.max_splits;
  regime.min_split = row.min_split;
  regime.launch = row.launch_us * kUs;
  regime.unit_stream = row.unit_gbps * kGBps;
  regime.merge = row.merge_us * kUs;
  regime.merge_a_split = row.merge_a_split_us * kUs;
  regime.wave = row.wave_us * kUs;
  regime.stream_share = row.stream * *device.efficiency.decode_stream;
  return regime;
}

}  // namespace slipstick
