#include "core/operators/attention.h"

#include <cassert>

#include "core/base/sum.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

double ValueDim(const Attention& attention) { return attention.value_dim > 0 ? attention.value_dim : attention.head_dim; }

// FLOPs per query-key pair in units of 2 * (head_dim + value_dim): two GEMMs forward, five backward.
double ProductPairs(AttentionPhase phase) {
  return phase == AttentionPhase::kBackward ? 2.5 : phase == AttentionPhase::kForwardBackward ? 3.5 : 1;
}

// The same times 2, in words.
std::string_view PairFormula(AttentionPhase phase) {
  return phase == AttentionPhase::kBackward          ? "5 * (qk_dim + v_dim)"
         : phase == AttentionPhase::kForwardBackward ? "7 * (qk_dim + v_dim)"
                                                     : "2 * (qk_dim + v_dim)";
}

// Query-key pairs that are not masked, of a sequence and head.
double SeenPairs(const Attention& attention, Trace& trace) {
  const double q_len = attention.q_len, kv_len = attention.kv_len, window = attention.window;
  double most_keys = kv_len;
  if (window > 0) {
    FIGURE(trace, window_keys, min(window, kv_len), (Note{"Keys of a full window"}), window, kv_len);
    most_keys = window_keys;
  }
  trace.Alias("most_keys", most_keys, window > 0 ? "window_keys" : "kv_len");
  constexpr Note kNote{"Pairs of a query and a key that it sees", "of a sequence and head"};
  if (!attention.causal) {
    FIGURE(trace, seen_pairs, q_len * most_keys, kNote, q_len, most_keys);
    return seen_pairs;
  }
  FIGURE(trace, earlier_keys, kv_len - q_len, (Note{"Keys before the first query"}), kv_len, q_len);
  FIGURE(trace, growing_queries, min(max(0.0, most_keys - earlier_keys), q_len),
         (Note{"Queries that the causal mask cuts", "each sees one key more than the one before"}), most_keys, earlier_keys, q_len);
  FIGURE(trace, seen_pairs,
         growing_queries * earlier_keys + growing_queries * (growing_queries + 1) / 2 + (q_len - growing_queries) * most_keys, kNote,
         growing_queries, earlier_keys, q_len, most_keys);
  return seen_pairs;
}

// Rate of reads that hit the L2: what attention kernels reach, at most the cache's own bandwidth. Recorded as l2_rate.
BytesPerSecond HitRate(const Device& device, Trace& trace) {
  const BytesPerSecond attention_l2_rate = *device.efficiency.l2_bandwidth;
  trace.Input("attention_l2_rate", attention_l2_rate, "cluster.device.efficiency.cache_stream");
  const Cache* cache = StatedL2(device);
  if (cache == nullptr) {
    trace.Alias("l2_rate", attention_l2_rate, "attention_l2_rate");
    return attention_l2_rate;
  }
  const BytesPerSecond l2_bandwidth = *cache->bandwidth;
  BindBandwidth("l2_bandwidth", *cache, device, trace);
  const double cache_efficiency = device.architecture->traits.l2_efficiency;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->gemm.source), cache_efficiency);
  FIGURE(trace, l2_rate, min(l2_bandwidth, max(attention_l2_rate, cache_efficiency * l2_bandwidth)),
         (Note{"L2 bandwidth of attention", "that kernels reach; at most the cache's own", kFamilySource}), l2_bandwidth, attention_l2_rate,
         cache_efficiency);
  return l2_rate;
}

// Time to read bytes of a working set that may be in L2: nothing comes from memory while the set fits in the usable L2, everything from
// 1.5 times that size on. Recorded as the figure read_time.
struct Reading {
  Seconds time;
  Bound bound = Bound::kMemory;
};
Reading Read(Bytes bytes, Bytes working_set, double memory_share, const Device& device, Trace& trace) {
  assert(device.efficiency.usable_l2_fraction && device.efficiency.l2_bandwidth);
  const double usable_l2_fraction = *device.efficiency.usable_l2_fraction;
  const BytesPerSecond bandwidth = SlowestStream(device, trace).bandwidth;
  const Bytes l2_capacity = L2Capacity(device, trace);
  trace.Input("usable_l2_fraction", usable_l2_fraction, "cluster.device.efficiency.cache_share");
  if (!(usable_l2_fraction * l2_capacity > Bytes{})) {
    FIGURE(trace, read_time, bytes / (memory_share * bandwidth), (Note{"Time to move the data", "from memory", kFamilySource}), bytes,
           memory_share, bandwidth);
    return {read_time};
  }
  const BytesPerSecond l2_rate = HitRate(device, trace);
  FIGURE(trace, missed_share, min(1.0, max(0.0, 2 * (working_set / (usable_l2_fraction * l2_capacity)) - 2)),
         (Note{"Fraction read from memory", "the rest is in L2", kFamilySource}), working_set, usable_l2_fraction, l2_capacity);
  FIGURE(trace, read_time, bytes * missed_share / (memory_share * bandwidth) + bytes * (1 - missed_share) / l2_rate,
         (Note{"Time to move the data", "from memory and from L2", kFamilySource}), bytes, missed_share, memory_share, bandwidth, l2_rate);
  return {read_time, BoundOfData(read_time, bytes * (1 - missed_share) / l2_rate)};
}

// Operands and results, and the set that the passes over them reuse.
struct TileTraffic {
  Bytes bytes, working_set;
};
TileTraffic TrafficOf(const Attention& attention, Bytes row_element, Trace& trace) {
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, heads = attention.heads,
               kv_heads = attention.kv_heads, qk_dim = attention.head_dim, v_dim = ValueDim(attention), window = attention.window;
  double keys = kv_len;
  if (window > 0) {
    FIGURE(trace, seen_keys, min(kv_len, window + q_len), (Note{"Keys that the queries see", "of the window"}), kv_len, window, q_len);
    keys = seen_keys;
  }
  trace.Alias("keys", keys, window > 0 ? "seen_keys" : "kv_len");
  FIGURE(trace, working_set, 4 * kB * batch * qk_dim * (q_len * heads + 2 * keys * kv_heads),
         (Note{"Working set", "operands and results in 16 bit"}), batch, qk_dim, q_len, heads, keys, kv_heads);
  if (attention.phase == AttentionPhase::kPrefill) {
    FIGURE(trace, bytes,
           batch * (q_len * heads * (qk_dim * row_element + v_dim * 2 * kB) + keys * kv_heads * (qk_dim + v_dim) * row_element),
           (Note{"Operands and results", ""}), batch, q_len, heads, qk_dim, row_element, v_dim, keys, kv_heads);
    return {bytes, working_set};
  }
  // Q, K, V, O and their gradients, some accumulated in fp32: five passes at equal head counts, seven with the forward pass.
  const bool both = attention.phase == AttentionPhase::kForwardBackward;
  const double query_passes = both ? 8 : 6, key_passes = both ? 6 : 4;
  FIGURE(trace, bytes, batch * (qk_dim + v_dim) * kB * (q_len * heads * query_passes + keys * kv_heads * key_passes),
         (Note{"Operands, results and their gradients", ""}), batch, qk_dim, v_dim, q_len, heads, query_passes, keys, kv_heads, key_passes);
  return {bytes, working_set};
}

// Bytes of the passes before the core: rotary embedding, KV-cache write and quantization.
Bytes PassBytes(const Attention& attention, const TileKernelParameters& parameters, Bytes row_element, Trace& trace) {
  const double batch = attention.batch, q_len = attention.q_len, heads = attention.heads, kv_heads = attention.kv_heads,
               qk_dim = attention.head_dim, passes = parameters.pass_factor;
  const Bytes kv_element = ElementSize(attention.kv_precision);
  trace.Alias("passes", passes, "passes");
  constexpr Note kNote{"Bytes of the passes before attention", "rotary embedding, KV-cache write, quantization", kFamilySource};
  if (parameters.fused_pass) {
    FIGURE(trace, bytes, passes * batch * q_len * (qk_dim * (heads * (2 * kB + row_element) + 2 * kv_heads * (2 * kB + kv_element))), kNote,
           passes, batch, q_len, qk_dim, heads, row_element, kv_heads, kv_element);
    return bytes;
  }
  if (kv_element < 2 * kB) {
    FIGURE(trace, bytes, passes * batch * q_len * (qk_dim * (3 * kB * heads + 6 * kB * kv_heads)), kNote, passes, batch, q_len, qk_dim,
           heads, kv_heads);
    return bytes;
  }
  FIGURE(trace, bytes, passes * batch * q_len * (qk_dim * 8 * kB * kv_heads), kNote, passes, batch, q_len, qk_dim, kv_heads);
  return bytes;
}

}  // namespace

KernelTime TimeOf(const Attention& attention, const Device& device, const TileKernelParameters& parameters, Trace& trace) {
  assert(attention.phase != AttentionPhase::kDecode);
  const double batch = attention.batch, heads = attention.heads, qk_dim = attention.head_dim, v_dim = ValueDim(attention);
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.source));
  const Precision native = NativePrecision(device, attention.precision);
  // A 16-bit kernel widens an 8-bit KV cache as it reads it.
  const Precision computed = parameters.in_fp8                                       ? Precision::kFp8
                             : IsEightBitFloat(native) || native == Precision::kInt8 ? Precision::kBf16
                                                                                     : native;
  const Bytes row_element = ElementSize(computed);
  trace.Alias("qk_dim", qk_dim, "head_dim");
  trace.Alias("v_dim", v_dim, attention.value_dim > 0 ? "value_dim" : "head_dim");

  TileWork work;
  work.tiles = CountTiles(attention.q_len, attention.kv_len, attention.causal, attention.window, device, trace);
  FIGURE(trace, sequence_heads, batch * heads, (Note{"Sequences times heads", "each has its tiles"}), batch, heads);
  work.sequence_heads = sequence_heads;
  work.precision = computed;
  const double products = ProductPairs(attention.phase);
  const Flops pair_flops = products * (qk_dim + v_dim) * 2 * kFlop;
  trace.Record("pair_flops", PairFormula(attention.phase), pair_flops,
               Note{"FLOPs per query and key", "a GEMM each with the keys and the values; five backward"}, "qk_dim, v_dim", qk_dim, v_dim);
  work.pair_flops = pair_flops;
  work.row_element = row_element;
  work.exp_passes = attention.phase == AttentionPhase::kForwardBackward ? 2 : 1;
  const double seen_pairs = SeenPairs(attention, trace);
  FIGURE(trace, flops, sequence_heads * seen_pairs * pair_flops, (Note{"FLOPs", "of the pairs that are not masked"}), sequence_heads,
         seen_pairs, pair_flops);
  work.useful = flops;
  const double memory_share = device.architecture->attention.bandwidth_efficiency;
  const TileTraffic traffic = TrafficOf(attention, row_element, trace);
  work.bytes = traffic.bytes;
  const Reading operands = Read(work.bytes, traffic.working_set, memory_share, device, trace);
  work.stream_time = operands.time;
  work.stream_bound = operands.bound;
  trace.Alias("stream_time", work.stream_time, "read_time");
  if (parameters.pass_factor > 0) {
    const Bytes core_bytes = traffic.bytes;
    trace.Alias("core_bytes", core_bytes, "bytes");
    const Bytes pass_bytes = [&] {
      const Trace::Scope scope(trace, "before");
      const Bytes moved = PassBytes(attention, parameters, row_element, trace);
      work.pass_time = Read(moved, traffic.working_set, memory_share, device, trace).time;
      return moved;
    }();
    trace.Alias("pass_time", work.pass_time, "read_time");
    trace.Alias("pass_bytes", pass_bytes, "bytes");
    FIGURE(trace, all_bytes, core_bytes + pass_bytes, (Note{"Memory traffic", "of the core and of the passes before it"}), core_bytes,
           pass_bytes);
    trace.Alias("bytes", all_bytes, "all_bytes");
    work.bytes = all_bytes;
  }
  return TimeOfTiles(work, device, parameters, trace);
}

KernelTime TimeOf(const Attention& attention, const Device& device, const UnfusedKernelParameters& parameters, Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, q_len = attention.q_len, kv_len = attention.kv_len;
  const double products = ProductPairs(attention.phase);
  const double score_passes = parameters.score_passes * (attention.phase == AttentionPhase::kPrefill    ? parameters.forward_fraction
                                                         : attention.phase == AttentionPhase::kBackward ? 1 - parameters.forward_fraction
                                                                                                        : 1);
  const Flops pair_flops = products * 2 * (attention.head_dim + ValueDim(attention)) * kFlop;
  const FlopsPerSecond peak_rate = PeakRate(device, attention.precision, trace);
  const Stream stream = SlowestStream(device, trace);
  const BytesPerSecond bandwidth = stream.bandwidth;
  const double gemm_efficiency = parameters.gemm_efficiency, bandwidth_efficiency = parameters.bandwidth_efficiency;
  const Seconds launch = parameters.launch;
  FIGURE(trace, scores, batch * heads * q_len * kv_len, (Note{"Scores", "masked ones included"}), batch, heads, q_len, kv_len);
  FIGURE(trace, flops, scores * pair_flops, (Note{"FLOPs", "of all scores"}), scores, pair_flops);
  FIGURE(trace, bytes, scores * score_passes * 2 * kB, (Note{"Memory traffic of the scores", "in 16 bit"}), scores, score_passes);
  FIGURE(trace, compute_time, flops / (peak_rate * gemm_efficiency), (Note{"Time of the batched GEMMs", ""}), flops, peak_rate,
         gemm_efficiency);
  FIGURE(trace, memory_time, bytes / (bandwidth * bandwidth_efficiency),
         (Note{"Time of the passes over the scores", "scale, mask, softmax, dropout: one kernel each"}), bytes, bandwidth,
         bandwidth_efficiency);
  FIGURE(trace, time, launch + compute_time + memory_time, (Note{"Unfused attention time", "kernel after kernel", "", "time_s"}), launch,
         compute_time, memory_time);
  return {time, compute_time, memory_time, compute_time >= memory_time ? Bound::kCompute : stream.bound, flops, bytes};
}

namespace {

// Time to read the KV cache: from memory if it is cold, else partly from L2.
Reading ReadKvCache(const Attention& attention, Bytes kv_cache_bytes, double decode_bandwidth_efficiency, const Device& device,
                    Trace& trace) {
  if (!attention.cold) {
    trace.Alias("bytes", kv_cache_bytes, "kv_cache_bytes");
    trace.Alias("working_set", kv_cache_bytes, "kv_cache_bytes");
    trace.Alias("memory_share", decode_bandwidth_efficiency, "decode_bandwidth_efficiency");
    const Reading kv_cache = Read(kv_cache_bytes, kv_cache_bytes, decode_bandwidth_efficiency, device, trace);
    trace.Alias("stream_time", kv_cache.time, "read_time");
    return kv_cache;
  }
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  FIGURE(trace, stream_time, kv_cache_bytes / (decode_bandwidth_efficiency * bandwidth),
         (Note{"Time to read the KV cache", "from memory", kFamilySource}), kv_cache_bytes, decode_bandwidth_efficiency, bandwidth);
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

// Where a thread block is slower than the memory, whole sequences take longer than split ones; elsewhere the splits end gradually, as
// nothing else would tell whole sequences from split ones.
Seconds MergeTime(double splits, double spread, bool has_slow_blocks, Seconds merge, Seconds merge_per_split, Trace& trace) {
  if (spread <= 1) return {};
  const double merged = has_slow_blocks ? splits : spread;
  trace.Alias("merged", merged, has_slow_blocks ? "splits" : "spread");
  FIGURE(trace, merge_time, min(1.0, merged - 1) * (merge + merge_per_split * merged),
         (Note{"Merging the splits", "below two blocks per sequence only some are split", kFamilySource}), merged, merge, merge_per_split);
  return merge_time;
}

// A thread block reads the keys and values of its KV head once from L2, and once per fragment of query rows from shared memory.
LevelTraffic DecodeTraffic(const Attention& attention, Bytes kv_cache_bytes, const Device& device, Trace& trace) {
  const double heads = attention.heads, kv_heads = attention.kv_heads, q_len = attention.q_len,
               shared_rows = device.architecture->traits.shared_query_rows;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->attention.decode_source), shared_rows);
  const Bytes l2_traffic = kv_cache_bytes;
  trace.Alias("l2_traffic", l2_traffic, "kv_cache_bytes");
  FIGURE(trace, l1_traffic, ceil(heads * q_len / (shared_rows * kv_heads)) * kv_cache_bytes,
         (Note{"Traffic of shared memory", "keys and values once per fragment of query rows"}), heads, q_len, shared_rows, kv_heads,
         kv_cache_bytes);
  return {l2_traffic, l1_traffic};
}

constexpr Note kSlowest{"Slowest part of the kernel", "memory, one thread block, compute", kFamilySource};

// The query heads of a KV head share its keys; a thread block computes them in whole fragments of rows.
Seconds DecodeComputeTime(const Attention& attention, double context, double mma_efficiency, FlopsPerSecond peak_rate, const Device& device,
                          Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, kv_heads = attention.kv_heads, q_len = attention.q_len;
  const double pair_dims = attention.head_dim + ValueDim(attention), mma_rows = device.architecture->traits.decode_query_rows;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->attention.decode_source), mma_rows);
  FIGURE(trace, query_rows, mma_rows * ceil(heads * q_len / (mma_rows * kv_heads)),
         (Note{"Rows computed", "query heads per KV head, padded"}), mma_rows, heads, q_len, kv_heads);
  FIGURE(trace, compute_time, 2 * kFlop * query_rows * context * pair_dims * batch * kv_heads / (mma_efficiency * peak_rate),
         (Note{"Compute time", "", kFamilySource}), query_rows, context, pair_dims, batch, kv_heads, mma_efficiency, peak_rate);
  return compute_time;
}

}  // namespace

KernelTime TimeOf(const Attention& attention, const Device& device, const DecodeKernelParameters& parameters, Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, kv_heads = attention.kv_heads;
  const double context = ContextOf(attention, trace);
  const double units = static_cast<double>(device.units), blocks_per_sm = parameters.blocks_per_sm;
  const double max_splits = parameters.max_splits, min_split_tokens = parameters.min_split_tokens, pair_dims = PairDims(attention, trace);
  const Bytes kv_element = ElementSize(attention.kv_precision);
  const Seconds launch = parameters.launch, wave_launch = parameters.wave_launch, merge = parameters.merge,
                merge_per_split = parameters.merge_per_split;
  const FlopsPerSecond peak_rate = PeakRate(device, attention.precision, trace);
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.decode_source));
  FIGURE(trace, kv_cache_bytes, batch * context * kv_heads * pair_dims * kv_element, (Note{"Keys and values read", ""}), batch, context,
         kv_heads, pair_dims, kv_element);
  FIGURE(trace, spread, max(1.0, min(blocks_per_sm * units / (batch * kv_heads), min(max_splits, context / min_split_tokens))),
         (Note{"Thread blocks per sequence and KV head", "enough to fill the SMs, mean", kFamilySource}), blocks_per_sm, units, batch,
         kv_heads, max_splits, context, min_split_tokens);
  FIGURE(trace, splits, max(1.0, min(floor(blocks_per_sm * units / (batch * kv_heads)), spread)),
         (Note{"Splits per sequence", "of the sequences that are split least", kFamilySource}), blocks_per_sm, units, batch, kv_heads,
         spread);
  FIGURE(trace, blocks, batch * kv_heads * splits, (Note{"Thread blocks", "one per sequence, KV head and split", kFamilySource}), batch,
         kv_heads, splits);
  const Reading kv_cache = ReadKvCache(attention, kv_cache_bytes, parameters.bandwidth_efficiency, device, trace);
  const Seconds stream_time = kv_cache.time;
  Seconds block_time;
  if (parameters.block_bandwidth > BytesPerSecond{}) {
    const BytesPerSecond block_bandwidth = parameters.block_bandwidth;
    FIGURE(trace, pull_time, context / splits * pair_dims * kv_element / block_bandwidth * ceil(blocks / (blocks_per_sm * units)),
           (Note{"Time per thread block", "at the bandwidth of one block, times the rounds", kFamilySource}), context, splits, pair_dims,
           kv_element, block_bandwidth, blocks, blocks_per_sm, units);
    block_time = pull_time;
    trace.Alias("block_time", block_time, "pull_time");
  }
  const Seconds compute_time = DecodeComputeTime(attention, context, parameters.mma_efficiency, peak_rate, device, trace);
  FIGURE(trace, start_time, wave_launch * max(0.0, ceil(batch * kv_heads * spread / units) - 1),
         (Note{"Launching further waves", "", kFamilySource}), wave_launch, batch, kv_heads, spread, units);
  const Seconds slowest = max(stream_time, block_time, compute_time);
  if (parameters.block_bandwidth > BytesPerSecond{}) {
    trace.Record("slowest", "max(stream_time, block_time, compute_time)", slowest, kSlowest, "stream_time, block_time, compute_time",
                 stream_time, block_time, compute_time);
  } else {
    trace.Record("slowest", "max(stream_time, compute_time)", slowest, kSlowest, "stream_time, compute_time", stream_time, compute_time);
  }
  const Seconds merge_time = MergeTime(splits, spread, block_time > Seconds{}, merge, merge_per_split, trace);
  const LevelTraffic traffic = DecodeTraffic(attention, kv_cache_bytes, device, trace);
  const LevelTimes levels = TimesThroughCaches(traffic, device, trace);
  const Seconds bounded_time = SlowestLevel(slowest, "slowest", levels, device, trace);
  const Seconds time = Sum<Seconds>(
      trace, "time",
      Note{"Attention time", "launch, the slowest of memory, thread block, compute and caches, further waves, merging the splits",
           kFamilySource, "time_s"},
      {{"launch", launch}, {"bounded_time", bounded_time}, {"start_time", start_time}, {"merge_time", merge_time, spread > 1}});
  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = max(stream_time, block_time);
  const double q_len = attention.q_len;
  FIGURE(trace, flops, 2 * kFlop * batch * heads * q_len * context * pair_dims, (Note{"FLOPs", "every query head with every key it sees"}),
         batch, heads, q_len, context, pair_dims);
  trace.Alias("bytes", kv_cache_bytes, "kv_cache_bytes");
  result.flops = flops;
  result.bytes = kv_cache_bytes;
  SetLevels(traffic, levels, slowest, block_time > stream_time ? Bound::kL1 : kv_cache.bound, result);
  if (block_time > stream_time) result.l1 = max(result.l1, block_time);
  if (time > 2 * bounded_time) result.bound = Bound::kLatency;
  return result;
}

KernelTime TimeOf(const Attention& attention, const Device& device, Trace& trace) {
  if (attention.phase == AttentionPhase::kDecode) {
    const DecodeKernelParameters parameters = IsolatedDecodeParameters(attention, device);
    Explain(attention, parameters, device, trace);
    return TimeOf(attention, device, parameters, trace);
  }
  if (attention.algorithm == AttentionAlgorithm::kUnfused || attention.library == AttentionLibrary::kUnfused) {
    return TimeOf(attention, device, IsolatedUnfusedParameters(attention, device), trace);
  }
  const TileKernelParameters parameters = IsolatedKernelParameters(attention, device);
  Explain(attention, parameters, device, trace);
  return TimeOf(attention, device, parameters, trace);
}

}  // namespace slipstick
