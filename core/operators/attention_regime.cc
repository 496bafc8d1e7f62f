// How an attention core is run on a device: the row of its family's tables.
#include <cassert>

#include "core/base/units.h"
#include "core/operators/attention.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

const PrefillRow& RowOf(const PrefillTable& table, AttentionLibrary library) {
  const std::optional<PrefillRow>* own = library == AttentionLibrary::kTrtllm       ? &table.trtllm
                                         : library == AttentionLibrary::kFlashInfer ? &table.flashinfer
                                                                                    : nullptr;
  return own != nullptr && *own ? **own : table.generic;
}

// The row of a training library, where it has kernels for the pass.
const CoreRow* RowOf(const AttentionTable& table, AttentionAlgorithm algorithm, bool backward) {
  const std::optional<CoreKernels>* kernels = algorithm == AttentionAlgorithm::kFlash1   ? &table.flash1
                                              : algorithm == AttentionAlgorithm::kFlash2 ? &table.flash2
                                              : algorithm == AttentionAlgorithm::kFlash3 ? &table.flash3
                                                                                         : nullptr;
  if (kernels == nullptr || !*kernels) return nullptr;
  if (!backward) return &(*kernels)->forward;
  return (*kernels)->backward ? &*(*kernels)->backward : nullptr;
}

// A core alone, of a library for training.
TileRegime CoreRegime(const Attention& attention, const Device& device) {
  const AttentionTable& table = device.architecture->attention;
  const bool backward = attention.phase != AttentionPhase::kPrefill;
  TileRegime regime;
  regime.launch = table.core_launch;
  regime.pass_factor = 0;
  const bool eight_bit = IsEightBitFloat(NativePrecision(device, attention.precision));
  if (const CoreRow* row = RowOf(table, attention.algorithm, backward)) {
    regime.in_fp8 = row->matrix_fp8 > 0 && eight_bit;
    const double head_bytes = attention.head_dim * (regime.in_fp8 ? 1 : 2);
    regime.matrix_share = (regime.in_fp8 ? row->matrix_fp8 : row->matrix) * (head_bytes > 256 ? row->wide : 1);
    regime.exp_share = row->exponentials;
    regime.tile_overhead = row->tile;
    return regime;
  }
  const PrefillRow& forward = table.prefill.generic;
  regime.in_fp8 = eight_bit;
  regime.exp_share = backward ? table.backward.exponentials : forward.exponentials;
  regime.tile_overhead = backward ? table.backward.tile : forward.tile;
  regime.matrix_share = backward ? table.backward.matrix : eight_bit ? forward.matrix_fp8 : forward.matrix;
  return regime;
}

}  // namespace

TileRegime AloneRegime(const Attention& attention, const Device& device) {
  if (attention.phase != AttentionPhase::kPrefill || !attention.writes_cache || attention.algorithm != AttentionAlgorithm::kAuto) {
    return CoreRegime(attention, device);
  }
  const PrefillRow& row = RowOf(device.architecture->attention.prefill, attention.library);
  const bool fp8_cache = BytesPerElement(attention.kv_precision) < 2;
  TileRegime regime;
  regime.in_fp8 = IsEightBitFloat(NativePrecision(device, attention.precision)) ||
                  (row.fp8_cache_in_fp8 && fp8_cache && Supports(device, Precision::kFp8));
  const bool narrow = attention.head_dim <= 64, falls_back = regime.in_fp8 && narrow && row.narrow_fp8 > 0;
  if (falls_back) regime.in_fp8 = false;
  regime.launch = row.launch;
  regime.matrix_share = regime.in_fp8 ? row.matrix_fp8 : row.matrix * (falls_back ? row.narrow_fp8 : narrow ? row.narrow : 1);
  regime.exp_share = row.exponentials;
  regime.tile_overhead = row.tile;
  regime.tail = row.tail;
  regime.fused_pass = row.fused_pass;
  regime.pass_factor = fp8_cache ? row.passes_fp8 : row.passes;
  return regime;
}

UnfusedRegime UnfusedAloneRegime(const Attention& attention, const Device& device) {
  const UnfusedRow& row = device.architecture->attention.unfused;
  UnfusedRegime regime;
  regime.launch = row.launch;
  regime.matrix_share = row.matrix;
  regime.stream_share = row.stream;
  regime.score_passes = attention.causal ? row.passes_causal : row.passes;
  regime.forward_share = row.forward;
  return regime;
}

namespace {

const DecodeRow& RowOf(const DecodeTable& table, const Attention& attention) {
  const Sharing sharing = attention.heads > attention.kv_heads ? Sharing::kGrouped : Sharing::kEvery;
  const Count bits = BytesPerElement(attention.kv_precision) < 2 ? 8 : 16;
  const auto holds = [&](const DecodeRow& row) {
    return (!row.narrow || attention.head_dim <= 64) && row.sharing.value_or(sharing) == sharing && row.cache_bits.value_or(bits) == bits;
  };
  const std::vector<DecodeRow>* own = attention.library == AttentionLibrary::kTrtllm       ? &table.trtllm
                                      : attention.library == AttentionLibrary::kFlashInfer ? &table.flashinfer
                                                                                           : nullptr;
  for (const std::vector<DecodeRow>* rows : {own, &table.generic}) {
    if (rows == nullptr) continue;
    for (const DecodeRow& row : *rows) {
      if (holds(row)) return row;
    }
  }
  assert(false);  // the generic rows leave nothing out
  return table.generic.front();
}

}  // namespace

DecodeRegime DecodeAloneRegime(const Attention& attention, const Device& device) {
  assert(device.efficiency.decode_stream);
  const AttentionTable& table = device.architecture->attention;
  const DecodeRow& row = RowOf(table.decode, attention);
  DecodeRegime regime;
  regime.units_filled = row.units_filled;
  regime.max_splits = row.max_splits;
  regime.min_split = row.min_split;
  regime.launch = row.launch;
  regime.unit_stream = row.unit_stream;
  regime.merge = row.merge;
  regime.merge_a_split = row.merge_a_split;
  regime.wave = row.wave;
  regime.stream_share = row.stream * *device.efficiency.decode_stream;
  regime.matrix_share = table.decode_matrix;
  return regime;
}

}  // namespace slipstick
