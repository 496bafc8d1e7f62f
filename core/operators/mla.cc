// Multi-head latent attention.
#include <cassert>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/attention.h"
#include "core/operators/attention_core.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

TileKernelParameters PrefillParameters(const LatentAttention& mla, const Device& device) {
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
  return parameters;
}

// Passes before the core: rotary embedding, latent to KV cache, and conversion of all operands for an fp8 kernel.
Bytes PassBytes(const LatentAttention& mla, const TileKernelParameters& parameters, Ratio qk_dim) {
  const Bytes rotated = 4 * kB * mla.rope_head_dim;
  const Bytes of_head = parameters.in_fp8 ? rotated + 3 * kB * (2 * qk_dim + mla.value_head_dim) : rotated;
  const Bytes kv_element = SizeOf(mla.kv_element, mla.kv_precision);
  return Figure("Bytes of the passes before attention",
                parameters.pass_factor * mla.batch * mla.q_len *
                    (mla.heads * of_head + (mla.kv_lora_rank + mla.rope_head_dim) * (2 * kB + kv_element)),
                "rotary embedding, latent into the KV cache, conversion to fp8");
}

KernelTime TimeOfPrefill(const LatentAttention& mla, const Device& device) {
  const LatentTable& table = device.architecture->latent;
  const std::string_view source = SourceOf(device, table.source);
  const TileKernelParameters parameters = PrefillParameters(mla, device);
  const Ratio q_len = mla.q_len, kv_len = mla.kv_len, value_dim = mla.value_head_dim;
  const Ratio qk_dim =
      Figure("Width of a query and a key", mla.nope_head_dim + mla.rope_head_dim, "with the rotary part");
  TileWork work;
  work.tiles = CountTiles(q_len, kv_len, true, 0, device);
  work.sequence_heads = Figure("Sequences times heads", mla.batch * mla.heads, "each has its tiles");
  work.precision = parameters.in_fp8 ? Precision::kFp8 : Precision::kBf16;
  work.pair_flops = Figure("FLOPs per query and key", (qk_dim + value_dim) * 2 * kFlop);
  work.row_element = ElementSize(work.precision);
  work.useful = Figure("FLOPs", work.sequence_heads * q_len * (kv_len - q_len + (q_len + 1) / 2) * work.pair_flops,
                       "of the pairs that the causal mask leaves");
  const Bytes operands =
      Figure("Operands and results", work.sequence_heads * (q_len * (qk_dim * work.row_element + value_dim * 2 * kB) +
                                                            kv_len * (qk_dim + value_dim) * work.row_element));
  const Bytes passes = PassBytes(mla, parameters, qk_dim);
  const BytesPerSecond stream =
      Figure("Bandwidth that the kernels reach", table.bandwidth_efficiency * SlowestStream(device).bandwidth);
  work.stream_time = Figure("Time to move operands and results", operands / stream, "", source);
  work.pass_time = Figure("Time of the passes before attention", passes / stream, "", source);
  work.bytes = Figure("Memory traffic", operands + passes, "of the core and of the passes before it");
  return TimeOfTiles(work, device, parameters);
}

// A decode step over the latent KV cache, one block of heads after another.
struct LatentDecode {
  const LatentAttention& mla;
  const Device& device;
  const LatentDecodeRow& row;
  std::string_view source;
  Ratio pair_dims;  // multiply-adds per head and token
  Bytes kv_cache;
  Seconds stream_time;
  FlopsPerSecond rate;
};

// A block's 64 heads are one fragment, so the data it reads from L2 pass through shared memory once.
Seconds BoundByCaches(const LatentDecode& step, Ratio head_blocks, Seconds overlapped, KernelTime& result) {
  const Bytes read =
      Figure("Traffic of the L2", head_blocks * step.kv_cache, "each block of heads reads the latent KV cache");
  const LevelTraffic traffic{read, read};
  const LevelTimes levels = TimesThroughCaches(traffic, step.device);
  SetLevels(traffic, levels, overlapped, Bound::kMemory, result);
  return SlowestLevel(overlapped, levels);
}

// Each token that a step verifies (speculative decoding) adds query rows beside the sequence's heads.
Ratio HeadBlocks(const LatentDecode& step) {
  return Figure("Blocks of 64 query heads", ceil(step.mla.heads * step.mla.q_len / 64), "of all queries of a sequence",
                step.source);
}

// Time of compute overlapped with memory and cache traffic.
Seconds BoundByTraffic(const LatentDecode& step, Ratio head_blocks, KernelTime& result) {
  const Seconds overlapped = Figure("Compute overlapped with data movement",
                                    norm(step.stream_time, result.compute, step.row.overlap), "", step.source);
  return BoundByCaches(step, head_blocks, overlapped, result);
}

void TimeSplitWalk(const LatentDecode& step, KernelTime& result) {
  const LatentAttention& mla = step.mla;
  const std::string_view source = step.source;
  const Ratio units = step.device.units, context = mla.kv_len;
  const Ratio head_blocks = HeadBlocks(step);
  const Ratio splits = Figure("Splits per sequence",
                              max(1.0, min(floor(2 * units / (mla.batch * head_blocks)), min(256, context / 128))),
                              "enough to fill the SMs twice", source);
  const Ratio blocks = Figure("Thread blocks", mla.batch * head_blocks * splits, "", source);
  result.compute = Figure("Compute time",
                          context / splits * 64 * 2 * kFlop * step.pair_dims * units / step.rate * ceil(blocks / units),
                          "heads are padded to 64", source);
  const Seconds bounded = BoundByTraffic(step, head_blocks, result);
  Seconds time = step.row.launch + bounded + step.row.wave_launch * max(0.0, ceil(blocks / units) - 1);
  if (splits > 1) time += Figure("Merging the splits", step.row.merge_per_split * splits, "", source);
  result.time = Figure("Attention time", time, "", source);
}

void TimeWholeWalk(const LatentDecode& step, KernelTime& result) {
  const LatentAttention& mla = step.mla;
  const std::string_view source = step.source;
  const Seconds compute = Figure("Compute time", result.flops / step.rate, "", source);
  const Seconds walk = Figure("One SM walks a sequence", mla.kv_len * step.row.per_token, "no split-KV kernel", source);
  const Seconds overlapped =
      Figure("Compute overlapped with data movement",
             norm(norm(walk, compute, step.row.overlap), step.stream_time, step.row.overlap), "", source);
  result.compute = max(compute, walk);
  const Seconds bounded = BoundByCaches(step, HeadBlocks(step), overlapped, result);
  result.time = Figure("Attention time", step.row.launch + bounded, "", source);
}

// vLLM splits a sequence into parts of about 512 tokens, whatever the batch. SGLang splits it until the blocks of the
// batch fill the SMs, several times at long contexts, into parts of at least 32 tokens. Neither number is rounded here:
// rounded, a longer context could take less time.
Ratio GroupedSplits(const LatentDecode& step, Ratio head_blocks) {
  const Ratio context = step.mla.kv_len, units = step.device.units;
  if (step.mla.splits_by_length)
    return Figure("Splits per sequence", max(1.0, min(context / 512, 2 * units)), "of about 512 tokens",
                  "_compute_num_kv_splits of vLLM's triton_mla.py");
  const Ratio filling = units * max(1.0, log2(context / 64)) / (step.mla.batch * head_blocks);
  return Figure("Splits per sequence", max(1.0, min(filling, pow(2, ceil(log2(units))), context / 32)),
                "blocks of all sequences fill the SMs, of at least 32 tokens",
                "get_num_kv_splits_triton and _mla_decode_kv_splits_cap of SGLang's triton_backend.py");
}

FlopsPerSecond GroupedRate(const LatentDecode& step) {
  const FlopsPerSecond peak = ReachedRate(step.device, Precision::kBf16, 1);
  if (!(step.row.grouped_per_clock > Flops{})) return peak;
  return Figure("Rate of Triton's kernel",
                min(peak, step.row.grouped_per_clock * step.device.clock * Ratio(step.device.units)), "of all SMs",
                step.source);
}

// Triton's kernel: 16 heads to a block.
void TimeGroupedWalk(const LatentDecode& step, KernelTime& result) {
  const LatentAttention& mla = step.mla;
  const std::string_view source = step.source;
  const Ratio head_blocks =
      Figure("Blocks of 16 query heads", ceil(mla.heads * mla.q_len / 16), "of all queries of a sequence", source);
  const Ratio splits = GroupedSplits(step, head_blocks);
  const Ratio busy =
      Figure("Fraction of the SMs at work", min(1.0, mla.batch * head_blocks * splits / Ratio(step.device.units)),
             "one thread block for each split of each block of heads", source);
  result.compute =
      Figure("Compute time",
             mla.batch * mla.kv_len * head_blocks * 16 * 2 * kFlop * step.pair_dims / (GroupedRate(step) * busy),
             "heads are padded to 16", source);
  const Seconds bounded = BoundByTraffic(step, head_blocks, result);
  result.time = Figure("Attention time", step.row.launch + bounded + step.row.merge_per_split * splits,
                       "in Triton's kernel", source);
}

KernelTime TimeOfDecode(const LatentAttention& mla, const Device& device) {
  const LatentTable& table = device.architecture->latent;
  const LatentDecodeRow& row = table.decode;
  const std::string_view source = SourceOf(device, table.source);
  const bool in_fp8 = BytesPerElement(mla.kv_precision) < 2 && Supports(device, Precision::kFp8);
  const Bytes kv_element = SizeOf(mla.kv_element, mla.kv_precision);
  const Ratio pair_dims =
      Figure("Multiply-adds per head and token", 2 * mla.kv_lora_rank + mla.rope_head_dim, "with the latent");
  const Bytes kv_cache =
      Figure("Latent KV cache read", mla.batch * mla.kv_len * (mla.kv_lora_rank + mla.rope_head_dim) * kv_element);
  // The bandwidth of the family's own kernel does not apply to Triton's.
  const Ratio stream_efficiency = mla.grouped ? table.bandwidth_efficiency : row.bandwidth_efficiency;
  const Seconds stream_time =
      Figure("Time to read the latent KV cache", kv_cache / (device.memory.bandwidth * stream_efficiency), "", source);
  const FlopsPerSecond rate = in_fp8 ? ReachedRate(device, Precision::kFp8, row.mma_efficiency_fp8)
                                     : ReachedRate(device, Precision::kBf16, row.mma_efficiency);
  KernelTime result;
  result.flops = Figure("FLOPs", 2 * kFlop * mla.batch * mla.heads * mla.q_len * mla.kv_len * pair_dims,
                        "every query head with every token");
  result.bytes = kv_cache;
  result.memory = stream_time;
  const LatentDecode step{mla, device, row, source, pair_dims, kv_cache, stream_time, rate};
  if (mla.grouped) {
    TimeGroupedWalk(step, result);
  } else if (row.has_split_kv) {
    TimeSplitWalk(step, result);
  } else {
    TimeWholeWalk(step, result);
  }
  if (2 * row.launch > result.time) result.bound = Bound::kLatency;
  return result;
}

}  // namespace

KernelTime TimeOf(const LatentAttention& mla, const Device& device) {
  assert(mla.phase == AttentionPhase::kPrefill || mla.phase == AttentionPhase::kDecode);
  return mla.phase == AttentionPhase::kDecode ? TimeOfDecode(mla, device) : TimeOfPrefill(mla, device);
}

}  // namespace slipstick
