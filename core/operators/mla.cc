// Multi-head latent attention.
#include <cassert>

#include "core/base/units.h"
#include "core/operators/attention.h"
#include "core/operators/attention_core.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = kFamilySource;

KernelTime TimeOfPrefill(const LatentAttention& mla, const Device& device, Trace& trace) {
  const LatentPrefillRow& row = device.architecture->latent.prefill;
  const bool narrow_kv_cache = BytesPerElement(mla.kv_precision) < 2;
  TileKernelParameters parameters;
  parameters.in_fp8 = Supports(device, Precision::kFp8) && (narrow_kv_cache || IsEightBitFloat(mla.precision));
  parameters.launch = row.launch;
  parameters.mma_efficiency = parameters.in_fp8 ? row.mma_efficiency_fp8 : row.mma_efficiency;
  parameters.exp_weight = row.exp_weight;
  parameters.tile_overhead = row.tile_overhead;
  parameters.tail = row.tail;
  parameters.pass_factor = parameters.in_fp8 ? row.passes_fp8 : row.passes;

  const Bytes half = 2 * kB, element = ElementSize(parameters.in_fp8 ? Precision::kFp8 : Precision::kBf16),
              cached = ElementSize(mla.kv_precision);
  const double qk_dim = mla.nope_head_dim + mla.rope_head_dim, v_dim = mla.value_head_dim;
  const BytesPerSecond stream = device.architecture->latent.bandwidth_efficiency * device.memory.bandwidth;
  TileWork work;
  work.tiles = CountTiles(mla.q_len, mla.kv_len, true, 0);
  work.sequence_heads = mla.batch * mla.heads;
  work.precision = parameters.in_fp8 ? Precision::kFp8 : Precision::kBf16;
  work.pair_flops = 2 * (qk_dim + v_dim) * kFlop;
  const double prefix = mla.kv_len - mla.q_len;
  work.useful = work.sequence_heads * mla.q_len * (prefix + (mla.q_len + 1) / 2) * work.pair_flops;
  work.bytes = work.sequence_heads * (mla.q_len * (qk_dim * element + v_dim * half) + mla.kv_len * (qk_dim + v_dim) * element);
  // Passes before the core: rotary embedding, latent into the KV cache, and conversion of all operands for an fp8 kernel.
  const Bytes per_head = 2 * half * mla.rope_head_dim + (parameters.in_fp8 ? 3 * kB * (2 * qk_dim + v_dim) : Bytes{});
  const Bytes moved =
      parameters.pass_factor * mla.batch * mla.q_len * (mla.heads * per_head + (mla.kv_lora_rank + mla.rope_head_dim) * (half + cached));
  work.stream_time = work.bytes / stream;
  work.pass_time = moved / stream;
  work.bytes += moved;
  return TimeOfTiles(work, device, parameters, trace);
}

KernelTime TimeOfDecode(const LatentAttention& mla, const Device& device, Trace& trace) {
  const LatentDecodeRow& row = device.architecture->latent.decode;
  const bool in_fp8 = BytesPerElement(mla.kv_precision) < 2 && Supports(device, Precision::kFp8);
  const double batch = mla.batch, heads = mla.heads, context = mla.kv_len, latent = mla.kv_lora_rank + mla.rope_head_dim;
  const double pair_dims = 2 * mla.kv_lora_rank + mla.rope_head_dim;  // multiply-adds per head and token
  const double units = static_cast<double>(device.units), bandwidth_efficiency = row.bandwidth_efficiency,
               mma_efficiency = in_fp8 ? row.mma_efficiency_fp8 : row.mma_efficiency;
  const Bytes cached = ElementSize(mla.kv_precision);
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  const FlopsPerSecond peak_rate = PeakRate(device, in_fp8 ? Precision::kFp8 : Precision::kBf16, trace);
  const Flops pair = 2 * kFlop;
  const Seconds launch = row.launch;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->latent.source));
  FIGURE(trace, kv_cache_bytes, batch * context * latent * cached, (Note{"Latent KV cache read", ""}), batch, context, latent, cached);
  FIGURE(trace, stream_time, kv_cache_bytes / (bandwidth * bandwidth_efficiency), (Note{"Time to read the latent KV cache", "", kSource}),
         kv_cache_bytes, bandwidth, bandwidth_efficiency);
  KernelTime result;
  result.flops = pair * batch * heads * mla.q_len * context * pair_dims;
  result.bytes = kv_cache_bytes;
  result.memory = stream_time;
  if (row.has_split_kv) {
    const Seconds wave_launch = row.wave_launch, merge_per_split = row.merge_per_split;
    const double head_rows = heads * mla.q_len;
    FIGURE(trace, head_blocks, ceil(head_rows / 64), (Note{"Blocks of 64 query heads", "", kSource}), head_rows);
    FIGURE(trace, splits, max(1.0, min(floor(2 * units / (batch * head_blocks)), min(256, ceil(context / 128)))),
           (Note{"Splits per sequence", "enough to fill the SMs twice", kSource}), units, batch, head_blocks, context);
    FIGURE(trace, blocks, batch * head_blocks * splits, (Note{"Thread blocks", "", kSource}), batch, head_blocks, splits);
    FIGURE(trace, compute_time, context / splits * 64 * pair * pair_dims * units / (peak_rate * mma_efficiency) * ceil(blocks / units),
           (Note{"Compute time", "heads are padded to 64", kSource}), context, splits, pair, pair_dims, units, peak_rate, mma_efficiency,
           blocks);
    const Seconds merge_time = splits > 1 ? merge_per_split * splits : Seconds{};
    FIGURE(trace, time, launch + norm(stream_time, compute_time, 3) + wave_launch * max(0.0, ceil(blocks / units) - 1) + merge_time,
           (Note{"Attention time", "", kSource, "time_s"}), launch, stream_time, compute_time, wave_launch, blocks, units, merge_time);
    result.time = time;
    result.compute = compute_time;
  } else {
    const Seconds token_time = row.per_token;
    FIGURE(trace, compute_time, pair * batch * heads * context * pair_dims / (peak_rate * mma_efficiency),
           (Note{"Compute time", "", kSource}), pair, batch, heads, context, pair_dims, peak_rate, mma_efficiency);
    FIGURE(trace, walk_time, context * token_time, (Note{"One SM walks a sequence", "no split-KV kernel", kSource}), context, token_time);
    FIGURE(trace, time, launch + norm(norm(walk_time, compute_time, 4), stream_time, 4), (Note{"Attention time", "", kSource, "time_s"}),
           launch, walk_time, compute_time, stream_time);
    result.time = time;
    result.compute = max(compute_time, walk_time);
  }
  result.bound = 2 * launch > result.time ? Bound::kLatency : result.compute >= result.memory ? Bound::kCompute : Bound::kMemory;
  return result;
}

}  // namespace

KernelTime TimeOf(const LatentAttention& mla, const Device& device, Trace& trace) {
  assert(mla.phase == AttentionPhase::kPrefill || mla.phase == AttentionPhase::kDecode);
  return mla.phase == AttentionPhase::kDecode ? TimeOfDecode(mla, device, trace) : TimeOfPrefill(mla, device, trace);
}

}  // namespace slipstick
