// Kernel parameters of an attention core on tiles: the row of its family's tables.
#include "core/base/units.h"
#include "core/operators/attention.h"
#include "core/operators/efficiency.h"
#include "core/operators/flash_slowdown.h"

namespace slipstick {
namespace {

const PrefillRow& RowOf(const PrefillTable& table, AttentionLibrary library) {
  return library == AttentionLibrary::kFlashInfer && table.flashinfer ? *table.flashinfer : table.generic;
}

// The row of a training library, or null if it has no kernel for the pass.
const CoreRow* RowOf(const AttentionTable& table, AttentionAlgorithm algorithm, bool backward) {
  const std::optional<CoreKernels>* kernels = algorithm == AttentionAlgorithm::kFlash1   ? &table.flash1
                                              : algorithm == AttentionAlgorithm::kFlash2 ? &table.flash2
                                              : algorithm == AttentionAlgorithm::kFlash3 ? &table.flash3
                                                                                         : nullptr;
  if (kernels == nullptr || !*kernels) return nullptr;
  if (!backward) return &(*kernels)->forward;
  return (*kernels)->backward ? &*(*kernels)->backward : nullptr;
}

// An isolated core of a training library.
TileKernelParameters IsolatedCoreParameters(const Attention& attention, const Device& device) {
  const AttentionTable& table = device.architecture->attention;
  const bool backward = attention.phase != AttentionPhase::kPrefill;
  TileKernelParameters parameters;
  parameters.launch = table.core_launch_latency;
  parameters.pass_factor = 0;
  const bool eight_bit = IsEightBitFloat(NativePrecision(device, attention.precision));
  if (const CoreRow* row = RowOf(table, attention.algorithm, backward)) {
    parameters.in_fp8 = row->mma_efficiency_fp8 > 0 && eight_bit;
    const Ratio head_bytes = attention.head_dim * (parameters.in_fp8 ? 1 : 2);
    parameters.mma_efficiency = (parameters.in_fp8 ? row->mma_efficiency_fp8 : row->mma_efficiency) *
                                (head_bytes > 256 ? row->wide_head_factor : Ratio(1));
    parameters.exp_weight = row->exp_weight;
    parameters.tile_overhead = row->tile_overhead;
    return parameters;
  }
  const PrefillRow& forward = table.prefill.generic;
  parameters.in_fp8 = eight_bit;
  parameters.exp_weight = backward ? table.backward.exp_weight : forward.exp_weight;
  parameters.tile_overhead = backward ? table.backward.tile_overhead : forward.tile_overhead;
  parameters.mma_efficiency = backward    ? table.backward.mma_efficiency
                              : eight_bit ? forward.mma_efficiency_fp8
                                          : forward.mma_efficiency;
  return parameters;
}

}  // namespace

TileKernelParameters TileParametersOf(const Attention& attention, const Device& device) {
  if (attention.phase != AttentionPhase::kPrefill || !attention.writes_kv_cache ||
      attention.algorithm != AttentionAlgorithm::kAuto) {
    return IsolatedCoreParameters(attention, device);
  }
  const PrefillRow& row = RowOf(device.architecture->attention.prefill, attention.library);
  const bool fp8_kv_cache = BytesPerElement(attention.kv_precision) < 2;
  TileKernelParameters parameters;
  parameters.in_fp8 = IsEightBitFloat(NativePrecision(device, attention.precision)) ||
                      (row.fp8_kv_cache_in_fp8 && fp8_kv_cache && Supports(device, Precision::kFp8));
  const bool falls_back = parameters.in_fp8 && attention.head_dim <= 64 && row.narrow_head_factor_fp8 > 0;
  if (falls_back) parameters.in_fp8 = false;
  parameters.launch = row.launch;
  parameters.mma_efficiency = parameters.in_fp8 ? row.mma_efficiency_fp8
                              : falls_back      ? row.mma_efficiency * row.narrow_head_factor_fp8
                                                : row.mma_efficiency;
  parameters.exp_weight = row.exp_weight;
  parameters.tile_overhead = row.tile_overhead;
  parameters.tail = row.tail;
  parameters.fused_pass = row.fused_pass;
  parameters.pass_factor = fp8_kv_cache ? row.passes_fp8 : row.passes;
  return parameters;
}

double FlashSlowdown(FlashVersion version, Attention core, const Device& device) {
  const AttentionTable& table = device.architecture->attention;
  struct Kernel {
    bool exists, is_allowed;
    AttentionAlgorithm algorithm;
  };
  const Kernel kernels[] = {{table.flash1.has_value(), true, AttentionAlgorithm::kFlash1},
                            {table.flash2.has_value(), version != FlashVersion::kFlash1, AttentionAlgorithm::kFlash2},
                            {table.flash3.has_value(), version == FlashVersion::kFlash3, AttentionAlgorithm::kFlash3},
                            {true, false, AttentionAlgorithm::kAuto}};
  core.writes_kv_cache = false;
  Seconds fastest, stated;
  for (const Kernel& kernel : kernels) {
    if (!kernel.exists) continue;
    core.algorithm = kernel.algorithm;
    const Seconds time = TimeOf(core, device).time;
    if (!(fastest > Seconds{}) || time < fastest) fastest = time;
    if (kernel.is_allowed && (!(stated > Seconds{}) || time < stated)) stated = time;
  }
  return stated > Seconds{} ? stated / fastest : Ratio(1);
}

}  // namespace slipstick
