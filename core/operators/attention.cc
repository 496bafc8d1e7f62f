#include "core/operators/attention.h"

#include <cassert>

#include "core/base/units.h"
#include "core/operators/attention_core.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kTileSource = kFamilySource, kDecodeSource = kFamilySource;
constexpr double kTile = 128;

double ValueDim(const Attention& attention) { return attention.value_dim > 0 ? attention.value_dim : attention.head_dim; }

// Multiples of 2·(head_dim + value_dim) arithmetic a query-key pair: two products forward, five backward.
double ProductPairs(AttentionPhase phase) {
  return phase == AttentionPhase::kBackward ? 2.5 : phase == AttentionPhase::kForwardBackward ? 3.5 : 1;
}

// Pairs of a query and a key that a mask lets through.
double PairsSeen(const Attention& attention) {
  const double q = attention.q_len, prefix = attention.kv_len - attention.q_len;
  const double window = attention.window > 0 ? min(attention.window, attention.kv_len) : attention.kv_len;
  if (!attention.causal) return q * window;
  const double growing = std::clamp(window - prefix, 0.0, q);  // queries that see fewer keys than the window holds
  return growing * prefix + growing * (growing + 1) / 2 + (q - growing) * window;
}

}  // namespace

TileCount CountTiles(double q_len, double kv_len, bool causal, double window) {
  const double rows = ceil(q_len / kTile), columns = ceil(kv_len / kTile);
  const double limit = window > 0 ? min(columns, ceil(window / kTile) + 1) : columns;
  if (!causal) return {rows, rows * limit, limit};
  const double prefix = ceil(max(0.0, kv_len - q_len) / kTile);
  const double growing = std::clamp(limit - prefix, 0.0, rows);
  return {rows, growing * prefix + growing * (growing + 1) / 2 + (rows - growing) * limit, min(limit, prefix + rows)};
}

Seconds ReadTime(Bytes bytes, Bytes working_set, double memory_share, const Device& device) {
  assert(device.efficiency.usable_l2_fraction && device.efficiency.l2_bandwidth);
  const Bytes usable = *device.efficiency.usable_l2_fraction * L2Capacity(device);
  const double missed = usable > Bytes{} ? std::clamp(2 * (working_set / usable) - 2, 0.0, 1.0) : 1;
  return bytes * missed / (memory_share * device.memory.bandwidth) + bytes * (1 - missed) / *device.efficiency.l2_bandwidth;
}

namespace {

// What ReadTime gives, under its symbol.
void ExplainRead(std::string_view symbol, Bytes bytes, Bytes working_set, double memory_share, const Device& device, Trace& trace) {
  if (!trace.on()) return;
  const double cache_share = *device.efficiency.usable_l2_fraction;
  const BytesPerSecond bandwidth = device.memory.bandwidth, cache_stream = *device.efficiency.l2_bandwidth;
  const Bytes last_cache = L2Capacity(device);
  trace.Input("cache_share", cache_share, "cluster.device.efficiency.cache_share");
  trace.Input("cache_stream", cache_stream, "cluster.device.efficiency.cache_stream");
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  double missed = 1;
  if (cache_share * last_cache > Bytes{}) {
    FIGURE(trace, missed_share, min(1.0, max(0.0, 2 * (working_set / (cache_share * last_cache)) - 2)),
           (Note{"Share that comes from memory", "the rest is found in the last cache", kTileSource}), working_set, cache_share,
           last_cache);
    missed = missed_share;
  }
  const double missed_share = missed;
  trace.Record(symbol, "bytes * missed_share / (memory_share * bandwidth) + bytes * (1 - missed_share) / cache_stream",
               ReadTime(bytes, working_set, memory_share, device),
               Note{"Time to move the data", "from memory and from the last cache", kTileSource},
               "bytes, missed_share, memory_share, bandwidth, cache_stream", bytes, missed_share, memory_share, bandwidth, cache_stream);
}

}  // namespace

KernelTime TimeOfTiles(const TileWork& work, const Device& device, const TileKernelParameters& parameters, Trace& trace) {
  const double units = static_cast<double>(device.units), exponentials = device.exponentials;
  const Hertz clock = device.clock;
  const FlopsPerSecond peak_rate = PeakRate(device, work.precision, trace);
  const double gemm_efficiency = parameters.gemm_efficiency, exp_share = parameters.exp_share, tail = parameters.tail;
  const double tile_side = kTile, exp_passes = work.exp_passes, sequence_heads = work.sequence_heads;
  const double tile_rows = work.tiles.rows, tiles = work.tiles.tiles, longest_row = work.tiles.longest;
  const Flops pair_flops = work.pair_flops;
  const Seconds launch = parameters.launch, row_overhead = parameters.tile_overhead, pass_time = work.pass_time,
                stream_time = work.stream_time;
  trace.Input("units", units, "cluster.device.units");
  trace.Input("clock", clock, "cluster.device.clock");
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.source));
  FIGURE(trace, product_time, tile_side * tile_side * pair_flops * units / (peak_rate * gemm_efficiency),
         (Note{"Products of a tile", "on the matrix units of one unit", kTileSource}), tile_side, pair_flops, units, peak_rate,
         gemm_efficiency);
  FIGURE(trace, exponential_time, tile_side * tile_side * exp_passes * exp_share / (exponentials * clock),
         (Note{"Exponentials of a tile", "one a score, on the special-function units", kTileSource}), tile_side, exp_passes, exp_share,
         exponentials, clock);
  FIGURE(trace, tile_time, norm(product_time, exponential_time, 1.5),
         (Note{"Time of a tile on one unit", "one tile's products hide another's exponentials in part: equal ones take 1.59 of one",
               kTileSource}),
         product_time, exponential_time);
  FIGURE(trace, mean_load, sequence_heads * (tile_time * tiles + row_overhead * tile_rows) / units,
         (Note{"Mean load of a unit", "each tile of queries also has a fixed cost: loading, first keys, epilogue", kTileSource}),
         sequence_heads, tile_time, tiles, row_overhead, tile_rows, units);
  FIGURE(trace, tail_time, tail * (tile_time * longest_row + row_overhead),
         (Note{"Left over at the end", "share of the longest tile of queries", kTileSource}), tail, tile_time, longest_row, row_overhead);
  FIGURE(trace, compute_time, mean_load + tail_time, (Note{"Time on the units", "", kTileSource}), mean_load, tail_time);
  FIGURE(trace, time, launch + pass_time + norm(compute_time, stream_time, 2),
         (Note{"Time of the attention core", "launch, passes before it (rotary embedding, cache write), arithmetic beside the operands",
               kTileSource, "time_s"}),
         launch, pass_time, compute_time, stream_time);
  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = stream_time + pass_time;
  result.bound = launch > time / 2 ? Bound::kLatency : compute_time >= result.memory ? Bound::kCompute : Bound::kMemory;
  result.flops = work.useful;
  result.bytes = work.bytes;
  return result;
}

KernelTime TimeOf(const Attention& attention, const Device& device, const TileKernelParameters& parameters, Trace& trace) {
  assert(attention.phase != AttentionPhase::kDecode);
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, heads = attention.heads,
               kv_heads = attention.kv_heads, qk_dim = attention.head_dim, v_dim = ValueDim(attention);
  const bool forward = attention.phase == AttentionPhase::kPrefill;
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.source));
  const Precision native = NativePrecision(device, attention.precision);
  // An 8-bit cache under a 16-bit kernel is widened as it is read.
  const Precision computed = parameters.in_fp8                                       ? Precision::kFp8
                             : IsEightBitFloat(native) || native == Precision::kInt8 ? Precision::kBf16
                                                                                     : native;
  const Bytes element = ElementSize(parameters.in_fp8 ? Precision::kFp8 : computed), cached = ElementSize(attention.kv_precision),
              half = 2 * kB;

  TileWork work;
  work.tiles = CountTiles(q_len, kv_len, attention.causal, attention.window);
  work.sequence_heads = batch * heads;
  work.precision = computed;
  const double products = ProductPairs(attention.phase);
  work.pair_flops = products * 2 * (qk_dim + v_dim) * kFlop;
  work.exp_passes = attention.phase == AttentionPhase::kForwardBackward ? 2 : 1;
  work.useful = batch * heads * PairsSeen(attention) * work.pair_flops;
  const double keys = attention.window > 0 ? min(kv_len, attention.window + q_len) : kv_len;
  if (forward) {
    work.bytes = batch * (q_len * heads * (qk_dim * element + v_dim * half) + keys * kv_heads * (qk_dim + v_dim) * element);
  } else {
    // Q, K, V, O and their gradients, some accumulated in fp32: five (with the forward seven) passes at equal head counts.
    const bool both = attention.phase == AttentionPhase::kForwardBackward;
    work.bytes = batch * (qk_dim + v_dim) / 2 * half * (q_len * heads * (both ? 8 : 6) + keys * kv_heads * (both ? 6 : 4));
  }
  const Bytes working_set = 2 * half * batch * qk_dim * (q_len * heads + 2 * keys * kv_heads);
  const double stream = device.architecture->attention.stream;
  work.stream_time = ReadTime(work.bytes, working_set, stream, device);
  ExplainRead("stream_time", work.bytes, working_set, stream, device, trace);
  if (parameters.pass_factor > 0) {
    const bool narrow_cache = cached < half;
    const Bytes row = parameters.fused_pass ? qk_dim * (heads * (half + element) + 2 * kv_heads * (half + cached))
                      : narrow_cache        ? qk_dim * (3 * kB * heads + 6 * kB * kv_heads)
                                            : qk_dim * 8 * kB * kv_heads;
    const Bytes moved = parameters.pass_factor * batch * q_len * row;
    work.pass_time = ReadTime(moved, working_set, stream, device);
    ExplainRead("pass_time", moved, working_set, stream, device, trace);
    work.bytes += moved;
  }
  return TimeOfTiles(work, device, parameters, trace);
}

KernelTime TimeOf(const Attention& attention, const Device& device, const UnfusedKernelParameters& parameters, Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, q_len = attention.q_len, kv_len = attention.kv_len;
  const double products = ProductPairs(attention.phase);
  const double score_passes = parameters.score_passes * (attention.phase == AttentionPhase::kPrefill    ? parameters.forward_share
                                                         : attention.phase == AttentionPhase::kBackward ? 1 - parameters.forward_share
                                                                                                        : 1);
  const Flops pair_flops = products * 2 * (attention.head_dim + ValueDim(attention)) * kFlop;
  const Bytes score_size = 2 * kB;
  const FlopsPerSecond peak_rate = PeakRate(device, attention.precision, trace);
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  const double gemm_efficiency = parameters.gemm_efficiency, bandwidth_efficiency = parameters.bandwidth_efficiency;
  const Seconds launch = parameters.launch;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  FIGURE(trace, scores, batch * heads * q_len * kv_len, (Note{"Scores", "all of them: the mask is not skipped"}), batch, heads, q_len,
         kv_len);
  FIGURE(trace, compute_time, scores * pair_flops / (peak_rate * gemm_efficiency), (Note{"Time of the batched products", ""}), scores,
         pair_flops, peak_rate, gemm_efficiency);
  FIGURE(trace, memory_time, scores * score_passes * score_size / (bandwidth * bandwidth_efficiency),
         (Note{"Time of the passes over the scores", "scale, mask, softmax, dropout, each a kernel"}), scores, score_passes, score_size,
         bandwidth, bandwidth_efficiency);
  FIGURE(trace, time, launch + compute_time + memory_time, (Note{"Time of unfused attention", "kernel after kernel", "", "time_s"}), launch,
         compute_time, memory_time);
  return {time,
          compute_time,
          memory_time,
          compute_time >= memory_time ? Bound::kCompute : Bound::kMemory,
          scores * pair_flops,
          scores * score_passes * score_size};
}

KernelTime TimeOf(const Attention& attention, const Device& device, const DecodeKernelParameters& parameters, Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, kv_heads = attention.kv_heads;
  const double context = attention.window > 0 ? min(attention.kv_len, attention.window) : attention.kv_len;
  const double units = static_cast<double>(device.units), units_filled = parameters.units_filled;
  const double max_splits = parameters.max_splits, min_split = parameters.min_split, pair_dims = attention.head_dim + ValueDim(attention);
  const Bytes cached = ElementSize(attention.kv_precision);
  const Seconds launch = parameters.launch, wave = parameters.wave, merge = parameters.merge, merge_a_split = parameters.merge_a_split;
  const FlopsPerSecond peak_rate = PeakRate(device, attention.precision, trace);
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.decode_source));
  FIGURE(trace, cache_bytes, batch * context * kv_heads * pair_dims * cached, (Note{"Keys and values read", ""}), batch, context, kv_heads,
         pair_dims, cached);
  FIGURE(trace, splits, max(1.0, min(floor(units_filled * units / (batch * kv_heads)), min(max_splits, ceil(context / min_split)))),
         (Note{"Splits of a sequence", "as many as fill the units", kDecodeSource}), units_filled, units, batch, kv_heads, max_splits,
         context, min_split);
  FIGURE(trace, blocks, batch * kv_heads * splits, (Note{"Work units", "sequence, KV head and split", kDecodeSource}), batch, kv_heads,
         splits);
  const Seconds stream_time = attention.cold ? cache_bytes / (parameters.bandwidth_efficiency * device.memory.bandwidth)
                                             : ReadTime(cache_bytes, cache_bytes, parameters.bandwidth_efficiency, device);
  if (attention.cold && trace.on()) {
    const double decode_share = parameters.bandwidth_efficiency;
    const BytesPerSecond bandwidth = device.memory.bandwidth;
    ExplainShare("decode_share", decode_share, *device.efficiency.decode_bandwidth_efficiency, "cluster.device.efficiency.decode_stream",
                 trace);
    trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
    trace.Record("stream_time", "cache_bytes / (decode_share * bandwidth)", stream_time,
                 Note{"Time to read the KV cache", "from memory", kDecodeSource}, "cache_bytes, decode_share, bandwidth", cache_bytes,
                 decode_share, bandwidth);
  }
  Seconds unit_time;
  if (parameters.unit_stream > BytesPerSecond{}) {
    const BytesPerSecond unit_stream = parameters.unit_stream;
    FIGURE(trace, pull_time, context / splits * pair_dims * cached / unit_stream * ceil(blocks / (units_filled * units)),
           (Note{"Time of one work unit", "at the rate that one of them can pull, times the rounds", kDecodeSource}), context, splits,
           pair_dims, cached, unit_stream, blocks, units_filled, units);
    unit_time = pull_time;
  }
  // Query heads of a KV head share its keys; a work unit computes them in rows of a fragment.
  const double row_grain = device.architecture->traits.query_rows, gemm_efficiency = parameters.gemm_efficiency;
  const double q_len = attention.q_len;
  FIGURE(trace, query_rows, row_grain * ceil(heads * q_len / (row_grain * kv_heads)),
         (Note{"Rows computed", "query heads of a KV head, padded"}), row_grain, heads, q_len, kv_heads);
  const Flops pair = 2 * kFlop;
  FIGURE(trace, compute_time, pair * query_rows * context * pair_dims * batch * kv_heads / (gemm_efficiency * peak_rate),
         (Note{"Time of the arithmetic", "", kDecodeSource}), pair, query_rows, context, pair_dims, batch, kv_heads, gemm_efficiency,
         peak_rate);
  FIGURE(trace, start_time, wave * max(0.0, ceil(blocks / units) - 1), (Note{"Starting further work units", "", kDecodeSource}), wave,
         blocks, units);
  const Seconds merge_time = splits > 1 ? merge + merge_a_split * splits : Seconds{};
  FIGURE(trace, time, launch + max(stream_time, unit_time, compute_time) + start_time + merge_time,
         (Note{"Time of the attention core", "launch, the slowest of stream, work unit and arithmetic, starts, merging the splits",
               kDecodeSource, "time_s"}),
         launch, stream_time, unit_time, compute_time, start_time, merge_time);
  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = max(stream_time, unit_time);
  result.bound = time > 2 * max(result.memory, compute_time) ? Bound::kLatency
                 : compute_time > result.memory              ? Bound::kCompute
                                                             : Bound::kMemory;
  result.flops = 2 * batch * heads * attention.q_len * context * pair_dims * kFlop;
  result.bytes = cache_bytes;
  return result;
}

KernelTime TimeOf(const Attention& attention, const Device& device, Trace& trace) {
  if (attention.phase == AttentionPhase::kDecode) return TimeOf(attention, device, IsolatedDecodeParameters(attention, device), trace);
  if (attention.algorithm == AttentionAlgorithm::kUnfused || attention.library == AttentionLibrary::kUnfused) {
    return TimeOf(attention, device, IsolatedUnfusedParameters(attention, device), trace);
  }
  return TimeOf(attention, device, IsolatedKernelParameters(attention, device), trace);
}

}  // namespace slipstick
