// Decode attention: one query or a few over the KV cache, split over thread blocks.
#include "core/base/sum.h"
#include "core/base/units.h"
#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/l2_reading.h"

namespace slipstick {
namespace {

// Time to read the KV cache: from memory if it is cold, else partly from L2.
Reading ReadKvCache(const Attention& attention, Bytes kv_cache_bytes, double decode_bandwidth_efficiency,
                    const Device& device, Trace& trace) {
  if (!attention.cold) {
    trace.Alias("bytes", kv_cache_bytes, "kv_cache_bytes");
    trace.Alias("working_set", kv_cache_bytes, "kv_cache_bytes");
    trace.Alias("memory_share", decode_bandwidth_efficiency, "decode_bandwidth_efficiency");
    const Reading kv_cache = ReadThroughL2(kv_cache_bytes, kv_cache_bytes, decode_bandwidth_efficiency, device, trace);
    trace.Alias("stream_time", kv_cache.time, "read_time");
    return kv_cache;
  }
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  FIGURE(trace, stream_time, kv_cache_bytes / (decode_bandwidth_efficiency * bandwidth),
         (Note{"Time to read the KV cache", "from memory", kFamilySource}), kv_cache_bytes, decode_bandwidth_efficiency,
         bandwidth);
  return {stream_time};
}

// Keys that each query of a decode step sees.
double ContextOf(const Attention& attention, Trace& trace) {
  const double kv_len = attention.kv_len, window = attention.window;
  if (window <= 0) {
    trace.Alias("context", kv_len, "kv_len");
    return kv_len;
  }
  FIGURE(trace, context, min(kv_len, window), (Note{"Keys that a query sees", "of the window"}), kv_len, window);
  return context;
}

// Multiply-adds per query head and key; elements of a key and its value.
double PairDims(const Attention& attention, Trace& trace) {
  const double head_dim = attention.head_dim, value_dim = ValueDim(attention);
  if (attention.value_dim <= 0) trace.Alias("value_dim", value_dim, "head_dim");
  FIGURE(trace, pair_dims, head_dim + value_dim, (Note{"Elements of a key and its value", ""}), head_dim, value_dim);
  return pair_dims;
}

// Where a thread block is slower than the memory, whole sequences take longer than split ones; elsewhere the splits end
// gradually, as nothing else would tell whole sequences from split ones.
Seconds MergeTime(double splits, double spread, bool has_slow_blocks, Seconds merge, Seconds merge_per_split,
                  Trace& trace) {
  if (spread <= 1) return {};
  const double merged = has_slow_blocks ? splits : spread;
  trace.Alias("merged", merged, has_slow_blocks ? "splits" : "spread");
  FIGURE(trace, merge_time, min(1.0, merged - 1) * (merge + merge_per_split * merged),
         (Note{"Merging the splits", "below two blocks per sequence only some are split", kFamilySource}), merged,
         merge, merge_per_split);
  return merge_time;
}

// A thread block reads the keys and values of its KV head once from L2, and once per fragment of query rows from shared
// memory.
LevelTraffic DecodeTraffic(const Attention& attention, Bytes kv_cache_bytes, const Device& device, Trace& trace) {
  const double heads = attention.heads, kv_heads = attention.kv_heads, q_len = attention.q_len,
               shared_rows = device.architecture->traits.shared_query_rows;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->attention.decode_source),
            shared_rows);
  const Bytes l2_traffic = kv_cache_bytes;
  trace.Alias("l2_traffic", l2_traffic, "kv_cache_bytes");
  FIGURE(trace, l1_traffic, ceil(heads * q_len / (shared_rows * kv_heads)) * kv_cache_bytes,
         (Note{"Traffic of shared memory", "keys and values once per fragment of query rows"}), heads, q_len,
         shared_rows, kv_heads, kv_cache_bytes);
  return {l2_traffic, l1_traffic};
}

constexpr Note kSlowest{"Slowest part of the kernel", "memory, one thread block, compute", kFamilySource};

// The query heads of a KV head share its keys; a thread block computes them in whole fragments of rows.
Seconds DecodeComputeTime(const Attention& attention, double context, double mma_efficiency, FlopsPerSecond peak_rate,
                          const Device& device, Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, kv_heads = attention.kv_heads, q_len = attention.q_len;
  const double pair_dims = attention.head_dim + ValueDim(attention),
               mma_rows = device.architecture->traits.decode_query_rows;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->attention.decode_source),
            mma_rows);
  FIGURE(trace, query_rows, mma_rows * ceil(heads * q_len / (mma_rows * kv_heads)),
         (Note{"Rows computed", "query heads per KV head, padded"}), mma_rows, heads, q_len, kv_heads);
  FIGURE(trace, compute_time,
         2 * kFlop * query_rows * context * pair_dims * batch * kv_heads / (mma_efficiency * peak_rate),
         (Note{"Compute time", "", kFamilySource}), query_rows, context, pair_dims, batch, kv_heads, mma_efficiency,
         peak_rate);
  return compute_time;
}

}  // namespace

KernelTime TimeOf(const Attention& attention, const Device& device, const DecodeKernelParameters& parameters,
                  Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, kv_heads = attention.kv_heads;
  const double context = ContextOf(attention, trace);
  const double units = static_cast<double>(device.units), blocks_per_sm = parameters.blocks_per_sm;
  const double max_splits = parameters.max_splits, min_split_tokens = parameters.min_split_tokens,
               pair_dims = PairDims(attention, trace);
  const Bytes kv_element = ElementSize(attention.kv_precision);
  const Seconds launch = parameters.launch, wave_launch = parameters.wave_launch, merge = parameters.merge,
                merge_per_split = parameters.merge_per_split;
  const FlopsPerSecond peak_rate = PeakRate(device, attention.precision, trace);
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.decode_source));
  FIGURE(trace, kv_cache_bytes, batch * context * kv_heads * pair_dims * kv_element, (Note{"Keys and values read", ""}),
         batch, context, kv_heads, pair_dims, kv_element);
  FIGURE(trace, spread,
         max(1.0, min(blocks_per_sm * units / (batch * kv_heads), min(max_splits, context / min_split_tokens))),
         (Note{"Thread blocks per sequence and KV head", "enough to fill the SMs, mean", kFamilySource}), blocks_per_sm,
         units, batch, kv_heads, max_splits, context, min_split_tokens);
  FIGURE(trace, splits, max(1.0, min(floor(blocks_per_sm * units / (batch * kv_heads)), spread)),
         (Note{"Splits per sequence", "of the sequences that are split least", kFamilySource}), blocks_per_sm, units,
         batch, kv_heads, spread);
  FIGURE(trace, blocks, batch * kv_heads * splits,
         (Note{"Thread blocks", "one per sequence, KV head and split", kFamilySource}), batch, kv_heads, splits);
  const Reading kv_cache = ReadKvCache(attention, kv_cache_bytes, parameters.bandwidth_efficiency, device, trace);
  const Seconds stream_time = kv_cache.time;
  Seconds block_time;
  if (parameters.block_bandwidth > BytesPerSecond{}) {
    const BytesPerSecond block_bandwidth = parameters.block_bandwidth;
    FIGURE(trace, pull_time,
           context / splits * pair_dims * kv_element / block_bandwidth * ceil(blocks / (blocks_per_sm * units)),
           (Note{"Time per thread block", "at the bandwidth of one block, times the rounds", kFamilySource}), context,
           splits, pair_dims, kv_element, block_bandwidth, blocks, blocks_per_sm, units);
    block_time = pull_time;
    trace.Alias("block_time", block_time, "pull_time");
  }
  const Seconds compute_time =
      DecodeComputeTime(attention, context, parameters.mma_efficiency, peak_rate, device, trace);
  FIGURE(trace, start_time, wave_launch * max(0.0, ceil(batch * kv_heads * spread / units) - 1),
         (Note{"Launching further waves", "", kFamilySource}), wave_launch, batch, kv_heads, spread, units);
  const Seconds slowest = max(stream_time, block_time, compute_time);
  if (parameters.block_bandwidth > BytesPerSecond{}) {
    trace.Record("slowest", "max(stream_time, block_time, compute_time)", slowest, kSlowest,
                 "stream_time, block_time, compute_time", stream_time, block_time, compute_time);
  } else {
    trace.Record("slowest", "max(stream_time, compute_time)", slowest, kSlowest, "stream_time, compute_time",
                 stream_time, compute_time);
  }
  const Seconds merge_time = MergeTime(splits, spread, block_time > Seconds{}, merge, merge_per_split, trace);
  const LevelTraffic traffic = DecodeTraffic(attention, kv_cache_bytes, device, trace);
  const LevelTimes levels = TimesThroughCaches(traffic, device, trace);
  const Seconds bounded_time = SlowestLevel(slowest, "slowest", levels, device, trace);
  const Seconds time = Sum<Seconds>(
      trace, "time",
      Note{"Attention time",
           "launch, the slowest of memory, thread block, compute and caches, further waves, merging the splits",
           kFamilySource, "time_s"},
      {{"launch", launch},
       {"bounded_time", bounded_time},
       {"start_time", start_time},
       {"merge_time", merge_time, spread > 1}});
  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = max(stream_time, block_time);
  const double q_len = attention.q_len;
  FIGURE(trace, flops, 2 * kFlop * batch * heads * q_len * context * pair_dims,
         (Note{"FLOPs", "every query head with every key it sees"}), batch, heads, q_len, context, pair_dims);
  trace.Alias("bytes", kv_cache_bytes, "kv_cache_bytes");
  result.flops = flops;
  result.bytes = kv_cache_bytes;
  SetLevels(traffic, levels, slowest, block_time > stream_time ? Bound::kL1 : kv_cache.bound, result);
  if (block_time > stream_time) result.l1 = max(result.l1, block_time);
  if (time > 2 * bounded_time) result.bound = Bound::kLatency;
  return result;
}

}  // namespace slipstick
