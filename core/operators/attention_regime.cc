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
  double launch_us, matrix, matrix_fp8, exp_share, tile_us, tail;
  bool fp8_cache_in_fp8;      // an fp8 cache makes 16-bit queries fp8 too
  bool fused_pass;            // rotary embedding and cache write inside the attention call
  double passes, passes_fp8;  // q: of the cache's bytes, 16-bit and fp8 cache
};
// Fitted to ai-dynamo/aiconfigurator context attention tables at 095f58a, 2,941 rows. A row of the generic library is a
// class's default for an engine or a device that was not measured.
// clang-format off
constexpr PrefillRow kPrefillRows[] = {
    {Architecture::kAmpere,       AttentionLibrary::kTrtllm,     10.7, 0.57, 0.45, 1.0, 3.4, 0.60, false, true,  1,   1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,      7.9, 0.44, 0.42, 1.0, 2.9, 0.28, false, true,  1,   1},
    {Architecture::kBlackwellRtx, AttentionLibrary::kTrtllm,     13.3, 0.47, 0.49, 1.0, 2.6, 0.28, false, true,  1,   1},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     11.1, 0.89, 0.72, 1.0, 4.8, 0.54, true,  true,  1,   1},
    {Architecture::kBlackwell,    AttentionLibrary::kTrtllm,     10.9, 0.85, 0.61, 0.5, 5.0, 1.09, true,  true,  1,   1},
    {Architecture::kHopper,       AttentionLibrary::kFlashInfer, 15.4, 1.00, 0.72, 1.0, 3.5, 0.05, false, false, 1.2, 2.0},
    {Architecture::kBlackwell,    AttentionLibrary::kFlashInfer, 10.1, 0.91, 0.65, 0.5, 2.1, 1.15, true,  false, 1.9, 3.5},
    {Architecture::kHopper,       AttentionLibrary::kGeneric,    11.0, 0.90, 0.72, 1.0, 5.0, 0.60, false, true,  1,   1},
    {Architecture::kBlackwell,    AttentionLibrary::kGeneric,    11.0, 0.90, 0.62, 0.5, 5.0, 0.90, false, true,  1,   1},
    {Architecture::kCdna,         AttentionLibrary::kGeneric,    12.0, 0.50, 0.40, 1.0, 3.5, 0.40, false, true,  1,   1},
    {Architecture::kTpu,          AttentionLibrary::kGeneric,    20.0, 0.50, 0.40, 0.0, 0.0, 0.00, false, true,  1,   1},
    {Architecture::kGaudi,        AttentionLibrary::kGeneric,    20.0, 0.50, 0.40, 0.0, 0.0, 0.00, false, true,  1,   1},
    {Architecture::kNeuron,       AttentionLibrary::kGeneric,    20.0, 0.50, 0.40, 0.0, 0.0, 0.00, false, true,  1,   1},
    {Architecture::kGeneric,      AttentionLibrary::kFlashInfer, 11.0, 0.50, 0.45, 1.0, 3.5, 0.40, false, false, 1,   1.5},
    {Architecture::kGeneric,      AttentionLibrary::kGeneric,    11.0, 0.50, 0.45, 1.0, 3.5, 0.40, false, true,  1,   1},
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
  double matrix, exp_share, tile_us;
  double wide;  // on heads wider than 128: fewer keys a tile, one group of warps less to hide behind
};
// Kernels of training, timed alone: 100 rows of the FlashAttention-2 and -3 papers and repository. Where the exponentials
// count nothing, a poor use of the matrix units hides them. flash3 stands for FlashAttention-3 and cuDNN 9 together.
constexpr CoreRow kCoreRows[] = {
    {AttentionAlgorithm::kFlash1, Architecture::kGeneric, false, 0.26, 0, 5.4, 1},
    {AttentionAlgorithm::kFlash1, Architecture::kGeneric, true, 0.26, 0, 5.4, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kHopper, false, 0.34, 0, 0.7, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kHopper, true, 0.37, 1, 9.9, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kBlackwell, false, 0.34, 0, 0.7, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kBlackwell, true, 0.37, 1, 9.9, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kGeneric, false, 0.68, 1, 5.0, 1},
    {AttentionAlgorithm::kFlash2, Architecture::kGeneric, true, 0.68, 1, 12.7, 1},
    {AttentionAlgorithm::kFlash3, Architecture::kHopper, false, 1.00, 1, 1.4, 0.72},
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
    regime.matrix_share = row->matrix * (attention.head_dim > 128 ? row->wide : 1);
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
  regime.launch = row.launch_us * kUs;
  regime.matrix_share = regime.in_fp8 ? row.matrix_fp8 : row.matrix;
  regime.exp_share = row.exp_share;
  regime.tile_overhead = row.tile_us * kUs;
  regime.tail = row.tail;
  regime.fused_pass = row.fused_pass;
  regime.pass_factor = fp8_cache ? row.passes_fp8 : row.passes;
  return regime;
}

TileRegime TrainingRegime(const Attention& attention, const Device& device) {
  const bool backward = attention.phase != AttentionPhase::kPrefill;
  assert(device.efficiency.attention_forward && device.efficiency.attention_backward);
  TileRegime regime;
  regime.launch = (backward ? 15 : 10) * kUs;
  regime.matrix_share = backward ? *device.efficiency.attention_backward : *device.efficiency.attention_forward;
  regime.exp_share = PrefillRowOf(device.architecture, AttentionLibrary::kGeneric).exp_share;
  regime.tile_overhead = (backward ? 7.5 : 5) * kUs;
  regime.power_fall = SustainedFall(device);
  regime.cold = true;
  regime.pass_factor = 0;
  return regime;
}

UnfusedRegime UnfusedAloneRegime(const Attention& attention) {
  UnfusedRegime regime;
  regime.score_passes = attention.causal ? 23 : 15.5;  // the mask is read and written, not skipped
  return regime;
}

UnfusedRegime UnfusedTrainingRegime(const Attention& attention, const Device& device) {
  UnfusedRegime regime;
  regime.launch = {};
  regime.matrix_share = 0.8 * sqrt(min(1.0, attention.head_dim / 128)) * *device.efficiency.matrix / (1 + SustainedFall(device));
  regime.score_passes = 15;
  regime.stream_share = 0.85;
  return regime;
}

namespace {

enum class Sharing { kAny, kGrouped, kEvery };  // query heads share a KV head; every one has its own
enum class CacheWidth { kAny, kSixteen, kEight };

struct DecodeRow {
  Architecture architecture;
  AttentionLibrary library;
  Sharing sharing;
  CacheWidth width;
  double units_filled, max_splits, min_split;
  double launch_us, unit_gbps;  // 0: no limit
  double merge_us, merge_a_split_us, wave_us, stream;
};
// Fitted to ai-dynamo/aiconfigurator generation attention tables at 095f58a, 1,774 rows. The first that matches counts.
// clang-format off
constexpr DecodeRow kDecodeRows[] = {
    {Architecture::kBlackwell,    AttentionLibrary::kTrtllm,     Sharing::kAny,     CacheWidth::kAny,     1, 256, 512,  11.3, 0,   0.5,  0.116, 0.64, 1},
    {Architecture::kBlackwell,    AttentionLibrary::kFlashInfer, Sharing::kGrouped, CacheWidth::kAny,     1, 256, 512,  9.5,  0,   0.6,  0.118, 0.93, 1},
    {Architecture::kBlackwell,    AttentionLibrary::kFlashInfer, Sharing::kEvery,   CacheWidth::kSixteen, 4, 16,  1024, 12.3, 0,   18.6, 1.0,   1.0,  1},
    {Architecture::kBlackwell,    AttentionLibrary::kFlashInfer, Sharing::kEvery,   CacheWidth::kEight,   4, 16,  1024, 17.1, 0,   0,    0.02,  0.6,  1},
    {Architecture::kHopper,       AttentionLibrary::kFlashInfer, Sharing::kAny,     CacheWidth::kSixteen, 2, 16,  512,  11.5, 113, 0,    0.149, 2.59, 1},
    {Architecture::kHopper,       AttentionLibrary::kFlashInfer, Sharing::kAny,     CacheWidth::kEight,   2, 64,  128,  12.1, 12,  0,    0.050, 4.05, 0.90},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kSixteen, 4, 16,  128,  10.6, 145, 4.1,  0.073, 3.02, 1},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kEight,   4, 16,  128,  5.9,  75,  1.1,  0.182, 1.27, 1},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kSixteen, 4, 64,  1024, 10.1, 80,  10.3, 1.0,   0.39, 1},
    {Architecture::kHopper,       AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kEight,   2, 16,  1024, 10.4, 44,  13.3, 1.0,   0.73, 0.70},
    {Architecture::kAmpere,       AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kAny,     4, 16,  128,  10.6, 145, 4.1,  0.073, 3.02, 1},
    {Architecture::kAmpere,       AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kAny,     1, 16,  128,  9.8,  17,  8.7,  0,     0,    1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kSixteen, 1, 256, 128,  6.5,  23,  2.5,  0.041, 1.90, 1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kEight,   1, 1,   128,  8.1,  16,  0,    0,     2.91, 1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kSixteen, 2, 64,  128,  5.0,  16,  1.0,  0.46,  0,    1},
    {Architecture::kAda,          AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kEight,   1, 16,  128,  8.6,  5,   20.4, 0,     0,    1},
    {Architecture::kBlackwellRtx, AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kSixteen, 1, 256, 128,  6.5,  23,  2.5,  0.041, 1.90, 1},
    {Architecture::kBlackwellRtx, AttentionLibrary::kTrtllm,     Sharing::kGrouped, CacheWidth::kEight,   1, 1,   128,  7.7,  27,  0,    0,     3.02, 1},
    {Architecture::kBlackwellRtx, AttentionLibrary::kTrtllm,     Sharing::kEvery,   CacheWidth::kAny,     4, 64,  512,  9.6,  897, 2.3,  0.685, 0.45, 1},
    {Architecture::kTpu,          AttentionLibrary::kGeneric,    Sharing::kAny,     CacheWidth::kAny,     1, 1,   512,  20.0, 0,   0,    0,     0,    1},
    {Architecture::kGaudi,        AttentionLibrary::kGeneric,    Sharing::kAny,     CacheWidth::kAny,     1, 1,   512,  20.0, 0,   0,    0,     0,    1},
    {Architecture::kNeuron,       AttentionLibrary::kGeneric,    Sharing::kAny,     CacheWidth::kAny,     1, 1,   512,  20.0, 0,   0,    0,     0,    1},
};
// A device or library that was not measured. A kernel that serves one head a block starts a wave as the measured ones do (0 to 0.7 us).
constexpr DecodeRow kDecodeDefault[] = {
    {Architecture::kGeneric,      AttentionLibrary::kGeneric,    Sharing::kEvery,   CacheWidth::kAny,     1, 256, 512,  10.5, 0,   0.5,  0.10,  0.5,  1},
    {Architecture::kGeneric,      AttentionLibrary::kGeneric,    Sharing::kGrouped, CacheWidth::kAny,     1, 256, 512,  10.5, 0,   0.5,  0.10,  1.5,  1},
};
// clang-format on

const DecodeRow& DecodeRowOf(const Attention& attention, Architecture architecture) {
  const Sharing sharing = attention.heads > attention.kv_heads ? Sharing::kGrouped : Sharing::kEvery;
  const CacheWidth width = BytesPerElement(attention.kv_precision) < 2 ? CacheWidth::kEight : CacheWidth::kSixteen;
  for (const DecodeRow& row : kDecodeRows) {
    if (row.architecture == architecture && (row.library == attention.library || row.library == AttentionLibrary::kGeneric) &&
        (row.sharing == sharing || row.sharing == Sharing::kAny) && (row.width == width || row.width == CacheWidth::kAny)) {
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
