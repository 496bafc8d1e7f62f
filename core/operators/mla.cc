// Multi-head latent attention.
#include <cassert>

#include "core/base/units.h"
#include "core/operators/attention.h"
#include "core/operators/attention_core.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

TileKernelParameters PrefillParameters(const LatentAttention& mla, const Device& device, Trace& trace) {
  const LatentTable& table = device.architecture->latent;
  const LatentPrefillRow& row = table.prefill;
  const bool narrow_kv_cache = BytesPerElement(mla.kv_precision) < 2;
  TileKernelParameters parameters;
  parameters.in_fp8 = Supports(device, Precision::kFp8) && (narrow_kv_cache || IsEightBitFloat(mla.precision));
  parameters.launch = row.launch;
  parameters.mma_efficiency = parameters.in_fp8 ? row.mma_efficiency_fp8 : row.mma_efficiency;
  parameters.exp_weight = row.exp_weight;
  parameters.tile_overhead = row.tile_overhead;
  parameters.tail = row.tail;
  parameters.pass_factor = parameters.in_fp8 ? row.passes_fp8 : row.passes;
  const Seconds launch = row.launch, row_overhead = row.tile_overhead;
  const double mma_efficiency = parameters.mma_efficiency, exp_weight = row.exp_weight, tail = row.tail,
               passes = parameters.pass_factor, memory_share = table.bandwidth_efficiency;
  CONSTANTS(trace, KernelTable(device, "latent.prefill"), SourceOf(device, table.source), launch, row_overhead,
            mma_efficiency, exp_weight, tail, passes);
  CONSTANTS(trace, KernelTable(device, "latent"), SourceOf(device, table.source), memory_share);
  return parameters;
}

KernelTime TimeOfPrefill(const LatentAttention& mla, const Device& device, Trace& trace) {
  const TileKernelParameters parameters = PrefillParameters(mla, device, trace);
  const Bytes row_element = ElementSize(parameters.in_fp8 ? Precision::kFp8 : Precision::kBf16),
              kv_element = ElementSize(mla.kv_precision);
  const double batch = mla.batch, heads = mla.heads, q_len = mla.q_len, kv_len = mla.kv_len,
               nope_head_dim = mla.nope_head_dim, rope_head_dim = mla.rope_head_dim,
               value_head_dim = mla.value_head_dim, kv_lora_rank = mla.kv_lora_rank,
               memory_share = device.architecture->latent.bandwidth_efficiency, passes = parameters.pass_factor;
  const BytesPerSecond bandwidth = SlowestStream(device, trace).bandwidth;
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->latent.source));
  TileWork work;
  work.tiles = CountTiles(q_len, kv_len, true, 0, device, trace);
  FIGURE(trace, qk_dim, nope_head_dim + rope_head_dim, (Note{"Width of a query and a key", "with the rotary part"}),
         nope_head_dim, rope_head_dim);
  FIGURE(trace, sequence_heads, batch * heads, (Note{"Sequences times heads", "each has its tiles"}), batch, heads);
  FIGURE(trace, pair_flops, (qk_dim + value_head_dim) * 2 * kFlop, (Note{"FLOPs per query and key", ""}), qk_dim,
         value_head_dim);
  work.sequence_heads = sequence_heads;
  work.precision = parameters.in_fp8 ? Precision::kFp8 : Precision::kBf16;
  work.pair_flops = pair_flops;
  work.row_element = row_element;
  FIGURE(trace, flops, sequence_heads * q_len * (kv_len - q_len + (q_len + 1) / 2) * pair_flops,
         (Note{"FLOPs", "of the pairs that the causal mask leaves"}), sequence_heads, q_len, kv_len, pair_flops);
  work.useful = flops;
  FIGURE(trace, bytes,
         sequence_heads * (q_len * (qk_dim * row_element + value_head_dim * 2 * kB) +
                           kv_len * (qk_dim + value_head_dim) * row_element),
         (Note{"Operands and results", ""}), sequence_heads, q_len, qk_dim, row_element, value_head_dim, kv_len);
  // Passes before the core: rotary embedding, latent into the KV cache, and conversion of all operands for an fp8
  // kernel.
  const Bytes moved = [&] {
    constexpr Note kNote{"Bytes of the passes before attention",
                         "rotary embedding, latent into the KV cache, conversion to fp8"};
    if (!parameters.in_fp8) {
      FIGURE(trace, moved_bytes,
             passes * batch * q_len *
                 (heads * (4 * kB * rope_head_dim) + (kv_lora_rank + rope_head_dim) * (2 * kB + kv_element)),
             kNote, passes, batch, q_len, heads, rope_head_dim, kv_lora_rank, kv_element);
      return moved_bytes;
    }
    FIGURE(trace, moved_bytes,
           passes * batch * q_len *
               (heads * (4 * kB * rope_head_dim + 3 * kB * (2 * qk_dim + value_head_dim)) +
                (kv_lora_rank + rope_head_dim) * (2 * kB + kv_element)),
           kNote, passes, batch, q_len, heads, rope_head_dim, qk_dim, value_head_dim, kv_lora_rank, kv_element);
    return moved_bytes;
  }();
  FIGURE(trace, stream, memory_share * bandwidth, (Note{"Bandwidth that the kernels reach", ""}), memory_share,
         bandwidth);
  FIGURE(trace, stream_time, bytes / stream, (Note{"Time to move operands and results", "", kFamilySource}), bytes,
         stream);
  const Bytes moved_bytes = moved;
  FIGURE(trace, pass_time, moved_bytes / stream, (Note{"Time of the passes before attention", "", kFamilySource}),
         moved_bytes, stream);
  work.stream_time = stream_time;
  work.pass_time = pass_time;
  FIGURE(trace, all_bytes, bytes + moved_bytes, (Note{"Memory traffic", "of the core and of the passes before it"}),
         bytes, moved_bytes);
  trace.Alias("bytes", all_bytes, "all_bytes");
  work.bytes = all_bytes;
  return TimeOfTiles(work, device, parameters, trace);
}

Seconds MergeTime(double splits, Seconds merge_per_split, Trace& trace) {
  if (splits <= 1) return {};
  FIGURE(trace, merge_time, merge_per_split * splits, (Note{"Merging the splits", "", kFamilySource}), merge_per_split,
         splits);
  return merge_time;
}

// A block's 64 heads are one fragment: what it reads from L2 passes shared memory once.
Seconds BoundByCaches(Bytes l2_traffic, Seconds overlapped_time, const Device& device, KernelTime& result,
                      Trace& trace) {
  const LevelTraffic traffic{l2_traffic, l2_traffic};
  trace.Alias("l1_traffic", l2_traffic, "l2_traffic");
  const LevelTimes levels = TimesThroughCaches(traffic, device, trace);
  SetLevels(traffic, levels, overlapped_time, Bound::kMemory, result);
  return SlowestLevel(overlapped_time, "overlapped_time", levels, device, trace);
}

// Multiply-adds per head and token, and the bytes of the latent KV cache.
struct LatentRead {
  double pair_dims;
  Bytes bytes;
};
LatentRead ReadLatent(const LatentAttention& mla, double context, Trace& trace) {
  const double batch = mla.batch, kv_lora_rank = mla.kv_lora_rank, rope_head_dim = mla.rope_head_dim;
  const Bytes kv_element = ElementSize(mla.kv_precision);
  FIGURE(trace, pair_dims, 2 * kv_lora_rank + rope_head_dim,
         (Note{"Multiply-adds per head and token", "with the latent"}), kv_lora_rank, rope_head_dim);
  FIGURE(trace, kv_cache_bytes, batch * context * (kv_lora_rank + rope_head_dim) * kv_element,
         (Note{"Latent KV cache read", ""}), batch, context, kv_lora_rank, rope_head_dim, kv_element);
  return {pair_dims, kv_cache_bytes};
}

KernelTime TimeOfDecode(const LatentAttention& mla, const Device& device, Trace& trace) {
  const LatentDecodeRow& row = device.architecture->latent.decode;
  const bool in_fp8 = BytesPerElement(mla.kv_precision) < 2 && Supports(device, Precision::kFp8);
  const double batch = mla.batch, heads = mla.heads, context = mla.kv_len;
  const double units = static_cast<double>(device.units), bandwidth_efficiency = row.bandwidth_efficiency,
               mma_efficiency = in_fp8 ? row.mma_efficiency_fp8 : row.mma_efficiency;
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  const FlopsPerSecond peak_rate = PeakRate(device, in_fp8 ? Precision::kFp8 : Precision::kBf16, trace);
  const Seconds launch = row.launch;
  const double overlap = row.overlap;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->latent.source));
  trace.Alias("context", context, "kv_len");
  CONSTANTS(trace, KernelTable(device, "latent.decode"), SourceOf(device, device.architecture->latent.source), launch,
            bandwidth_efficiency, mma_efficiency, overlap);
  const auto [pair_dims, kv_cache_bytes] = ReadLatent(mla, context, trace);
  FIGURE(trace, stream_time, kv_cache_bytes / (bandwidth * bandwidth_efficiency),
         (Note{"Time to read the latent KV cache", "", kFamilySource}), kv_cache_bytes, bandwidth,
         bandwidth_efficiency);
  KernelTime result;
  const double q_len = mla.q_len;
  FIGURE(trace, flops, 2 * kFlop * batch * heads * q_len * context * pair_dims,
         (Note{"FLOPs", "every query head with every token"}), batch, heads, q_len, context, pair_dims);
  trace.Alias("bytes", kv_cache_bytes, "kv_cache_bytes");
  result.flops = flops;
  result.bytes = kv_cache_bytes;
  result.memory = stream_time;
  if (row.has_split_kv) {
    const Seconds wave_launch = row.wave_launch, merge_per_split = row.merge_per_split;
    CONSTANTS(trace, KernelTable(device, "latent.decode"), SourceOf(device, device.architecture->latent.source),
              wave_launch, merge_per_split);
    FIGURE(trace, head_blocks, ceil(heads * q_len / 64), (Note{"Blocks of 64 query heads", "", kFamilySource}), heads,
           q_len);
    FIGURE(trace, splits, max(1.0, min(floor(2 * units / (batch * head_blocks)), min(256, context / 128))),
           (Note{"Splits per sequence", "enough to fill the SMs twice", kFamilySource}), units, batch, head_blocks,
           context);
    FIGURE(trace, blocks, batch * head_blocks * splits, (Note{"Thread blocks", "", kFamilySource}), batch, head_blocks,
           splits);
    FIGURE(trace, compute_time,
           context / splits * 64 * 2 * kFlop * pair_dims * units / (peak_rate * mma_efficiency) * ceil(blocks / units),
           (Note{"Compute time", "heads are padded to 64", kFamilySource}), context, splits, pair_dims, units,
           peak_rate, mma_efficiency, blocks);
    FIGURE(trace, overlapped_time, norm(stream_time, compute_time, overlap),
           (Note{"Compute overlapped with data movement", "", kFamilySource}), stream_time, compute_time, overlap);
    FIGURE(trace, l2_traffic, head_blocks * kv_cache_bytes,
           (Note{"Traffic of the L2", "each block of heads reads the latent KV cache"}), head_blocks, kv_cache_bytes);
    result.compute = compute_time;
    const Seconds bounded_time = BoundByCaches(l2_traffic, overlapped_time, device, result, trace);
    const Seconds merge_time = MergeTime(splits, merge_per_split, trace);
    FIGURE(trace, time, launch + bounded_time + wave_launch * max(0.0, ceil(blocks / units) - 1) + merge_time,
           (Note{"Attention time", "", kFamilySource, "time_s"}), launch, bounded_time, wave_launch, blocks, units,
           merge_time);
    result.time = time;
  } else {
    const Seconds token_time = row.per_token;
    CONSTANTS(trace, KernelTable(device, "latent.decode"), SourceOf(device, device.architecture->latent.source),
              token_time);
    FIGURE(trace, compute_time, 2 * kFlop * batch * heads * context * pair_dims / (peak_rate * mma_efficiency),
           (Note{"Compute time", "", kFamilySource}), batch, heads, context, pair_dims, peak_rate, mma_efficiency);
    FIGURE(trace, walk_time, context * token_time,
           (Note{"One SM walks a sequence", "no split-KV kernel", kFamilySource}), context, token_time);
    FIGURE(trace, overlapped_time, norm(norm(walk_time, compute_time, overlap), stream_time, overlap),
           (Note{"Compute overlapped with data movement", "", kFamilySource}), walk_time, compute_time, stream_time,
           overlap);
    FIGURE(trace, l2_traffic, ceil(heads / 64) * kv_cache_bytes,
           (Note{"Traffic of the L2", "each block of heads reads the latent KV cache"}), heads, kv_cache_bytes);
    result.compute = max(compute_time, walk_time);
    const Seconds bounded_time = BoundByCaches(l2_traffic, overlapped_time, device, result, trace);
    FIGURE(trace, time, launch + bounded_time, (Note{"Attention time", "", kFamilySource, "time_s"}), launch,
           bounded_time);
    result.time = time;
  }
  if (2 * launch > result.time) result.bound = Bound::kLatency;
  return result;
}

}  // namespace

KernelTime TimeOf(const LatentAttention& mla, const Device& device, Trace& trace) {
  assert(mla.phase == AttentionPhase::kPrefill || mla.phase == AttentionPhase::kDecode);
  return mla.phase == AttentionPhase::kDecode ? TimeOfDecode(mla, device, trace) : TimeOfPrefill(mla, device, trace);
}

}  // namespace slipstick
