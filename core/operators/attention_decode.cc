// Decode attention: one query or a few over the KV cache, split over thread blocks.
#include <cassert>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/l2_reading.h"

namespace slipstick {
namespace {

// Time to read the KV cache: from memory if it is cold, else partly from L2.
Reading ReadKvCache(const Attention& attention, Bytes kv_cache, Ratio bandwidth_efficiency, const Device& device,
                    std::string_view source) {
  if (!attention.cold) return ReadThroughL2(kv_cache, kv_cache, bandwidth_efficiency, device, source);
  return {Figure("Time to read the KV cache", kv_cache / (bandwidth_efficiency * device.memory.bandwidth),
                 "from memory", source)};
}

// The splits end gradually, as nothing else would tell whole sequences from split ones.
Seconds MergeTime(Ratio merged, Seconds merge, Seconds merge_per_split, std::string_view source) {
  return Figure("Merging the splits", min(1.0, merged - 1) * (merge + merge_per_split * merged),
                "below two blocks per sequence only some are split", source);
}

// A thread block reads the keys and values of its KV head once from L2, and once per fragment of query rows from shared
// memory; without tiles all query rows share them.
LevelTraffic DecodeTraffic(const Attention& attention, Bytes kv_cache, const Device& device) {
  const KernelTraits& traits = device.architecture->traits;
  const Ratio fragments =
      traits.tiled ? ceil(attention.heads * attention.q_len / (traits.decode_query_rows * attention.kv_heads))
                   : Ratio(1);
  return {kv_cache,
          Figure("Traffic of shared memory", fragments * kv_cache, "keys and values once per fragment of query rows")};
}

// The query heads of a KV head share its keys; a thread block computes them in whole fragments of rows.
Seconds DecodeComputeTime(const Attention& attention, Ratio context, Ratio pair_dims, FlopsPerSecond rate,
                          const Device& device, std::string_view source) {
  const Ratio mma_rows = device.architecture->traits.decode_query_rows;
  const Ratio rows =
      Figure("Rows computed", mma_rows * ceil(attention.heads * attention.q_len / (mma_rows * attention.kv_heads)),
             "query heads per KV head, padded", source);
  return Figure("Compute time", 2 * kFlop * rows * context * pair_dims * attention.batch * attention.kv_heads / rate,
                "", source);
}

}  // namespace

KernelTime TimeOfDecode(const Attention& attention, const Device& device) {
  assert(device.efficiency.decode_bandwidth_efficiency);
  const AttentionTable& table = device.architecture->attention;
  const DecodeRow& row = table.decode;
  const std::string_view source = SourceOf(device, table.decode_source);
  const Ratio batch = attention.batch, kv_heads = attention.kv_heads, units = device.units;
  const Ratio context = attention.window > 0
                            ? Figure("Keys that a query sees", min(attention.kv_len, attention.window), "of the window")
                            : attention.kv_len;
  const Ratio pair_dims = Figure("Elements of a key and its value", attention.head_dim + ValueDim(attention));
  const Bytes kv_element = SizeOf(attention.kv_element, attention.kv_precision);
  const Bytes kv_cache = Figure("Keys and values read", batch * context * kv_heads * pair_dims * kv_element);
  const Ratio slots = row.blocks_per_sm * units;
  const Ratio spread =
      Figure("Thread blocks per sequence and KV head",
             max(1.0, min(slots / (batch * kv_heads), min(row.max_splits, context / row.min_split_tokens))),
             "enough to fill the SMs, mean", source);
  const Reading reading =
      ReadKvCache(attention, kv_cache, *device.efficiency.decode_bandwidth_efficiency, device, source);
  KernelTime result;
  result.compute =
      DecodeComputeTime(attention, context, pair_dims,
                        table.decode_mma_efficiency * PeakRate(device, attention.precision), device, source);
  const Seconds slowest =
      Figure("Slowest part of the kernel", max(reading.time, result.compute), "memory, compute", source);
  const Seconds further_waves = Figure(
      "Launching further waves", row.wave_launch * max(0.0, ceil(batch * kv_heads * spread / units) - 1), "", source);
  const LevelTraffic traffic = DecodeTraffic(attention, kv_cache, device);
  const LevelTimes levels = TimesThroughCaches(traffic, device);
  const Seconds bounded = SlowestLevel(slowest, levels);
  Seconds time = row.launch + bounded + further_waves;
  if (spread > 1) time += MergeTime(spread, row.merge, row.merge_per_split, source);
  result.time = Figure("Attention time", time,
                       "launch, the slowest of memory, compute and caches, further waves, merging the splits", source);
  result.memory = reading.time;
  result.flops = Figure("FLOPs", 2 * kFlop * batch * attention.heads * attention.q_len * context * pair_dims,
                        "every query head with every key it sees");
  result.bytes = kv_cache;
  SetLevels(traffic, levels, slowest, reading.bound, result);
  if (result.time > 2 * bounded) result.bound = Bound::kLatency;
  return result;
}

}  // namespace slipstick
