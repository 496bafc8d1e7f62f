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
TileKernelParameters IsolatedCoreParameters(const Attention& attention, const Device& device) {
  const AttentionTable& table = device.architecture->attention;
  const bool backward = attention.phase != AttentionPhase::kPrefill;
  TileKernelParameters parameters;
  parameters.launch = table.core_launch;
  parameters.pass_factor = 0;
  const bool eight_bit = IsEightBitFloat(NativePrecision(device, attention.precision));
  if (const CoreRow* row = RowOf(table, attention.algorithm, backward)) {
    parameters.in_fp8 = row->matrix_fp8 > 0 && eight_bit;
    const double head_bytes = attention.head_dim * (parameters.in_fp8 ? 1 : 2);
    parameters.gemm_efficiency = (parameters.in_fp8 ? row->matrix_fp8 : row->matrix) * (head_bytes > 256 ? row->wide : 1);
    parameters.exp_share = row->exponentials;
    parameters.tile_overhead = row->tile;
    return parameters;
  }
  const PrefillRow& forward = table.prefill.generic;
  parameters.in_fp8 = eight_bit;
  parameters.exp_share = backward ? table.backward.exponentials : forward.exponentials;
  parameters.tile_overhead = backward ? table.backward.tile : forward.tile;
  parameters.gemm_efficiency = backward ? table.backward.matrix : eight_bit ? forward.matrix_fp8 : forward.matrix;
  return parameters;
}

}  // namespace

TileKernelParameters IsolatedKernelParameters(const Attention& attention, const Device& device) {
  if (attention.phase != AttentionPhase::kPrefill || !attention.writes_cache || attention.algorithm != AttentionAlgorithm::kAuto) {
    return IsolatedCoreParameters(attention, device);
  }
  const PrefillRow& row = RowOf(device.architecture->attention.prefill, attention.library);
  const bool fp8_cache = BytesPerElement(attention.kv_precision) < 2;
  TileKernelParameters parameters;
  parameters.in_fp8 = IsEightBitFloat(NativePrecision(device, attention.precision)) ||
                      (row.fp8_cache_in_fp8 && fp8_cache && Supports(device, Precision::kFp8));
  const bool narrow = attention.head_dim <= 64, falls_back = parameters.in_fp8 && narrow && row.narrow_fp8 > 0;
  if (falls_back) parameters.in_fp8 = false;
  parameters.launch = row.launch;
  parameters.gemm_efficiency = parameters.in_fp8 ? row.matrix_fp8 : row.matrix * (falls_back ? row.narrow_fp8 : narrow ? row.narrow : 1);
  parameters.exp_share = row.exponentials;
  parameters.tile_overhead = row.tile;
  parameters.tail = row.tail;
  parameters.fused_pass = row.fused_pass;
  parameters.pass_factor = fp8_cache ? row.passes_fp8 : row.passes;
  return parameters;
}

UnfusedKernelParameters IsolatedUnfusedParameters(const Attention& attention, const Device& device) {
  const UnfusedRow& row = device.architecture->attention.unfused;
  UnfusedKernelParameters parameters;
  parameters.launch = row.launch;
  parameters.gemm_efficiency = row.matrix;
  parameters.bandwidth_efficiency = row.stream;
  parameters.score_passes = attention.causal ? row.passes_causal : row.passes;
  parameters.forward_share = row.forward;
  return parameters;
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

DecodeKernelParameters IsolatedDecodeParameters(const Attention& attention, const Device& device) {
  assert(device.efficiency.decode_bandwidth_efficiency);
  const AttentionTable& table = device.architecture->attention;
  const DecodeRow& row = RowOf(table.decode, attention);
  DecodeKernelParameters parameters;
  parameters.units_filled = row.units_filled;
  parameters.max_splits = row.max_splits;
  parameters.min_split = row.min_split;
  parameters.launch = row.launch;
  parameters.unit_stream = row.unit_stream;
  parameters.merge = row.merge;
  parameters.merge_a_split = row.merge_a_split;
  parameters.wave = row.wave;
  parameters.bandwidth_efficiency = row.stream * *device.efficiency.decode_bandwidth_efficiency;
  parameters.gemm_efficiency = table.decode_matrix;
  return parameters;
}

}  // namespace slipstick
