#include "core/operators/attention.h"

#include <cassert>

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kTileSource = kFamilySource, kDecodeSource = kFamilySource;

double ValueDim(const Attention& attention) { return attention.value_dim > 0 ? attention.value_dim : attention.head_dim; }

// FLOPs per query-key pair in units of 2 * (head_dim + value_dim): two GEMMs forward, five backward.
double ProductPairs(AttentionPhase phase) {
  return phase == AttentionPhase::kBackward ? 2.5 : phase == AttentionPhase::kForwardBackward ? 3.5 : 1;
}

// Query-key pairs that are not masked.
double PairsSeen(const Attention& attention) {
  const double q = attention.q_len, prefix = attention.kv_len - attention.q_len;
  const double window = attention.window > 0 ? min(attention.window, attention.kv_len) : attention.kv_len;
  if (!attention.causal) return q * window;
  const double growing = std::clamp(window - prefix, 0.0, q);  // queries with fewer visible keys than the window
  return growing * prefix + growing * (growing + 1) / 2 + (q - growing) * window;
}

}  // namespace

Seconds ReadTime(Bytes bytes, Bytes working_set, double memory_share, const Device& device) {
  assert(device.efficiency.usable_l2_fraction && device.efficiency.l2_bandwidth);
  const Bytes usable = *device.efficiency.usable_l2_fraction * L2Capacity(device);
  const double missed = usable > Bytes{} ? std::clamp(2 * (working_set / usable) - 2, 0.0, 1.0) : 1;
  return bytes * missed / (memory_share * device.memory.bandwidth) + bytes * (1 - missed) / *device.efficiency.l2_bandwidth;
}

namespace {

// Explains ReadTime under a symbol.
void ExplainRead(std::string_view symbol, Bytes bytes, Bytes working_set, double memory_share, const Device& device, Trace& trace) {
  if (!trace.on()) return;
  const double usable_l2_fraction = *device.efficiency.usable_l2_fraction;
  const BytesPerSecond bandwidth = device.memory.bandwidth, l2_bandwidth = *device.efficiency.l2_bandwidth;
  const Bytes l2_capacity = L2Capacity(device);
  trace.Input("usable_l2_fraction", usable_l2_fraction, "cluster.device.efficiency.cache_share");
  trace.Input("l2_bandwidth", l2_bandwidth, "cluster.device.efficiency.cache_stream");
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  double missed = 1;
  if (usable_l2_fraction * l2_capacity > Bytes{}) {
    FIGURE(trace, missed_share, min(1.0, max(0.0, 2 * (working_set / (usable_l2_fraction * l2_capacity)) - 2)),
           (Note{"Fraction read from memory", "the rest is in L2", kTileSource}), working_set, usable_l2_fraction, l2_capacity);
    missed = missed_share;
  }
  const double missed_share = missed;
  trace.Record(symbol, "bytes * missed_share / (memory_share * bandwidth) + bytes * (1 - missed_share) / l2_bandwidth",
               ReadTime(bytes, working_set, memory_share, device), Note{"Time to move the data", "from memory and from L2", kTileSource},
               "bytes, missed_share, memory_share, bandwidth, l2_bandwidth", bytes, missed_share, memory_share, bandwidth, l2_bandwidth);
}

}  // namespace

KernelTime TimeOf(const Attention& attention, const Device& device, const TileKernelParameters& parameters, Trace& trace) {
  assert(attention.phase != AttentionPhase::kDecode);
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, heads = attention.heads,
               kv_heads = attention.kv_heads, qk_dim = attention.head_dim, v_dim = ValueDim(attention);
  const bool forward = attention.phase == AttentionPhase::kPrefill;
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.source));
  const Precision native = NativePrecision(device, attention.precision);
  // A 16-bit kernel widens an 8-bit KV cache as it reads it.
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
    // Q, K, V, O and their gradients, some accumulated in fp32: five passes at equal head counts, seven with the forward pass.
    const bool both = attention.phase == AttentionPhase::kForwardBackward;
    work.bytes = batch * (qk_dim + v_dim) / 2 * half * (q_len * heads * (both ? 8 : 6) + keys * kv_heads * (both ? 6 : 4));
  }
  const Bytes working_set = 2 * half * batch * qk_dim * (q_len * heads + 2 * keys * kv_heads);
  const double stream = device.architecture->attention.bandwidth_efficiency;
  work.stream_time = ReadTime(work.bytes, working_set, stream, device);
  ExplainRead("stream_time", work.bytes, working_set, stream, device, trace);
  if (parameters.pass_factor > 0) {
    const bool narrow_kv_cache = cached < half;
    const Bytes row = parameters.fused_pass ? qk_dim * (heads * (half + element) + 2 * kv_heads * (half + cached))
                      : narrow_kv_cache     ? qk_dim * (3 * kB * heads + 6 * kB * kv_heads)
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
  const double score_passes = parameters.score_passes * (attention.phase == AttentionPhase::kPrefill    ? parameters.forward_fraction
                                                         : attention.phase == AttentionPhase::kBackward ? 1 - parameters.forward_fraction
                                                                                                        : 1);
  const Flops pair_flops = products * 2 * (attention.head_dim + ValueDim(attention)) * kFlop;
  const Bytes score_size = 2 * kB;
  const FlopsPerSecond peak_rate = PeakRate(device, attention.precision, trace);
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  const double gemm_efficiency = parameters.gemm_efficiency, bandwidth_efficiency = parameters.bandwidth_efficiency;
  const Seconds launch = parameters.launch;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  FIGURE(trace, scores, batch * heads * q_len * kv_len, (Note{"Scores", "masked ones included"}), batch, heads, q_len, kv_len);
  FIGURE(trace, compute_time, scores * pair_flops / (peak_rate * gemm_efficiency), (Note{"Time of the batched GEMMs", ""}), scores,
         pair_flops, peak_rate, gemm_efficiency);
  FIGURE(trace, memory_time, scores * score_passes * score_size / (bandwidth * bandwidth_efficiency),
         (Note{"Time of the passes over the scores", "scale, mask, softmax, dropout: one kernel each"}), scores, score_passes, score_size,
         bandwidth, bandwidth_efficiency);
  FIGURE(trace, time, launch + compute_time + memory_time, (Note{"Unfused attention time", "kernel after kernel", "", "time_s"}), launch,
         compute_time, memory_time);
  return {time,
          compute_time,
          memory_time,
          compute_time >= memory_time ? Bound::kCompute : Bound::kMemory,
          scores * pair_flops,
          scores * score_passes * score_size};
}

namespace {

// Time to read the KV cache: from memory if it is cold, else partly from L2.
Seconds KvCacheReadTime(const Attention& attention, Bytes kv_cache_bytes, double decode_bandwidth_efficiency, const Device& device,
                        Trace& trace) {
  if (!attention.cold) return ReadTime(kv_cache_bytes, kv_cache_bytes, decode_bandwidth_efficiency, device);
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  if (trace.on()) {
    ExplainShare("decode_bandwidth_efficiency", decode_bandwidth_efficiency, *device.efficiency.decode_bandwidth_efficiency,
                 "cluster.device.efficiency.decode_stream", trace);
    trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  }
  FIGURE(trace, stream_time, kv_cache_bytes / (decode_bandwidth_efficiency * bandwidth),
         (Note{"Time to read the KV cache", "from memory", kDecodeSource}), kv_cache_bytes, decode_bandwidth_efficiency, bandwidth);
  return stream_time;
}

// The query heads of a KV head share its keys; a thread block computes them in whole fragments of rows.
Seconds DecodeComputeTime(const Attention& attention, double context, double mma_efficiency, FlopsPerSecond peak_rate, const Device& device,
                          Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, kv_heads = attention.kv_heads, q_len = attention.q_len;
  const double pair_dims = attention.head_dim + ValueDim(attention), mma_rows = device.architecture->traits.decode_query_rows;
  FIGURE(trace, query_rows, mma_rows * ceil(heads * q_len / (mma_rows * kv_heads)),
         (Note{"Rows computed", "query heads per KV head, padded"}), mma_rows, heads, q_len, kv_heads);
  const Flops pair = 2 * kFlop;
  FIGURE(trace, compute_time, pair * query_rows * context * pair_dims * batch * kv_heads / (mma_efficiency * peak_rate),
         (Note{"Compute time", "", kDecodeSource}), pair, query_rows, context, pair_dims, batch, kv_heads, mma_efficiency, peak_rate);
  return compute_time;
}

}  // namespace

KernelTime TimeOf(const Attention& attention, const Device& device, const DecodeKernelParameters& parameters, Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, kv_heads = attention.kv_heads;
  const double context = attention.window > 0 ? min(attention.kv_len, attention.window) : attention.kv_len;
  const double units = static_cast<double>(device.units), blocks_per_sm = parameters.blocks_per_sm;
  const double max_splits = parameters.max_splits, min_split_tokens = parameters.min_split_tokens,
               pair_dims = attention.head_dim + ValueDim(attention);
  const Bytes cached = ElementSize(attention.kv_precision);
  const Seconds launch = parameters.launch, wave_launch = parameters.wave_launch, merge = parameters.merge,
                merge_per_split = parameters.merge_per_split;
  const FlopsPerSecond peak_rate = PeakRate(device, attention.precision, trace);
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.decode_source));
  FIGURE(trace, kv_cache_bytes, batch * context * kv_heads * pair_dims * cached, (Note{"Keys and values read", ""}), batch, context,
         kv_heads, pair_dims, cached);
  FIGURE(trace, splits, max(1.0, min(floor(blocks_per_sm * units / (batch * kv_heads)), min(max_splits, ceil(context / min_split_tokens)))),
         (Note{"Splits per sequence", "enough to fill the SMs", kDecodeSource}), blocks_per_sm, units, batch, kv_heads, max_splits, context,
         min_split_tokens);
  FIGURE(trace, blocks, batch * kv_heads * splits, (Note{"Thread blocks", "one per sequence, KV head and split", kDecodeSource}), batch,
         kv_heads, splits);
  const Seconds stream_time = KvCacheReadTime(attention, kv_cache_bytes, parameters.bandwidth_efficiency, device, trace);
  Seconds block_time;
  if (parameters.block_bandwidth > BytesPerSecond{}) {
    const BytesPerSecond block_bandwidth = parameters.block_bandwidth;
    FIGURE(trace, pull_time, context / splits * pair_dims * cached / block_bandwidth * ceil(blocks / (blocks_per_sm * units)),
           (Note{"Time per thread block", "at the bandwidth of one block, times the rounds", kDecodeSource}), context, splits, pair_dims,
           cached, block_bandwidth, blocks, blocks_per_sm, units);
    block_time = pull_time;
  }
  const Seconds compute_time = DecodeComputeTime(attention, context, parameters.mma_efficiency, peak_rate, device, trace);
  FIGURE(trace, start_time, wave_launch * max(0.0, ceil(blocks / units) - 1), (Note{"Launching further waves", "", kDecodeSource}),
         wave_launch, blocks, units);
  const Seconds merge_time = splits > 1 ? merge + merge_per_split * splits : Seconds{};
  FIGURE(trace, time, launch + max(stream_time, block_time, compute_time) + start_time + merge_time,
         (Note{"Attention time", "launch, the slowest of memory, thread block and compute, further waves, merging the splits",
               kDecodeSource, "time_s"}),
         launch, stream_time, block_time, compute_time, start_time, merge_time);
  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = max(stream_time, block_time);
  result.bound = time > 2 * max(result.memory, compute_time) ? Bound::kLatency
                 : compute_time > result.memory              ? Bound::kCompute
                                                             : Bound::kMemory;
  result.flops = 2 * batch * heads * attention.q_len * context * pair_dims * kFlop;
  result.bytes = kv_cache_bytes;
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
