#include "core/operators/attention.h"

#include <cassert>

#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/l2_reading.h"

namespace slipstick {
namespace {

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
         (Note{"Queries that the causal mask cuts", "each sees one key more than the one before"}), most_keys,
         earlier_keys, q_len);
  FIGURE(trace, seen_pairs,
         growing_queries * earlier_keys + growing_queries * (growing_queries + 1) / 2 +
             (q_len - growing_queries) * most_keys,
         kNote, growing_queries, earlier_keys, q_len, most_keys);
  return seen_pairs;
}

// Operands and results, and the set that the passes over them reuse.
struct TileTraffic {
  Bytes bytes, working_set;
};
TileTraffic TrafficOf(const Attention& attention, Bytes row_element, Trace& trace) {
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, heads = attention.heads,
               kv_heads = attention.kv_heads, qk_dim = attention.head_dim, v_dim = ValueDim(attention),
               window = attention.window;
  double keys = kv_len;
  if (window > 0) {
    FIGURE(trace, seen_keys, min(kv_len, window + q_len), (Note{"Keys that the queries see", "of the window"}), kv_len,
           window, q_len);
    keys = seen_keys;
  }
  trace.Alias("keys", keys, window > 0 ? "seen_keys" : "kv_len");
  FIGURE(trace, working_set, 4 * kB * batch * qk_dim * (q_len * heads + 2 * keys * kv_heads),
         (Note{"Working set", "operands and results in 16 bit"}), batch, qk_dim, q_len, heads, keys, kv_heads);
  if (attention.phase == AttentionPhase::kPrefill) {
    FIGURE(trace, bytes,
           batch * (q_len * heads * (qk_dim * row_element + v_dim * 2 * kB) +
                    keys * kv_heads * (qk_dim + v_dim) * row_element),
           (Note{"Operands and results", ""}), batch, q_len, heads, qk_dim, row_element, v_dim, keys, kv_heads);
    return {bytes, working_set};
  }
  // Q, K, V, O and their gradients, some accumulated in fp32: five passes at equal head counts, seven with the forward
  // pass.
  const bool both = attention.phase == AttentionPhase::kForwardBackward;
  const double query_passes = both ? 8 : 6, key_passes = both ? 6 : 4;
  FIGURE(trace, bytes, batch * (qk_dim + v_dim) * kB * (q_len * heads * query_passes + keys * kv_heads * key_passes),
         (Note{"Operands, results and their gradients", ""}), batch, qk_dim, v_dim, q_len, heads, query_passes, keys,
         kv_heads, key_passes);
  return {bytes, working_set};
}

// Bytes of the passes before the core: rotary embedding, KV-cache write and quantization.
Bytes PassBytes(const Attention& attention, const TileKernelParameters& parameters, Bytes row_element, Trace& trace) {
  const double batch = attention.batch, q_len = attention.q_len, heads = attention.heads, kv_heads = attention.kv_heads,
               qk_dim = attention.head_dim, passes = parameters.pass_factor;
  const Bytes kv_element = ElementSize(attention.kv_precision);
  trace.Alias("passes", passes, "passes");
  constexpr Note kNote{"Bytes of the passes before attention", "rotary embedding, KV-cache write, quantization",
                       kFamilySource};
  if (parameters.fused_pass) {
    FIGURE(trace, bytes,
           passes * batch * q_len * (qk_dim * (heads * (2 * kB + row_element) + 2 * kv_heads * (2 * kB + kv_element))),
           kNote, passes, batch, q_len, qk_dim, heads, row_element, kv_heads, kv_element);
    return bytes;
  }
  if (kv_element < 2 * kB) {
    FIGURE(trace, bytes, passes * batch * q_len * (qk_dim * (3 * kB * heads + 6 * kB * kv_heads)), kNote, passes, batch,
           q_len, qk_dim, heads, kv_heads);
    return bytes;
  }
  FIGURE(trace, bytes, passes * batch * q_len * (qk_dim * 8 * kB * kv_heads), kNote, passes, batch, q_len, qk_dim,
         kv_heads);
  return bytes;
}

}  // namespace

KernelTime TimeOf(const Attention& attention, const Device& device, const TileKernelParameters& parameters,
                  Trace& trace) {
  assert(attention.phase != AttentionPhase::kDecode);
  const double batch = attention.batch, heads = attention.heads, qk_dim = attention.head_dim,
               v_dim = ValueDim(attention);
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
               Note{"FLOPs per query and key", "a GEMM each with the keys and the values; five backward"},
               "qk_dim, v_dim", qk_dim, v_dim);
  work.pair_flops = pair_flops;
  work.row_element = row_element;
  work.exp_passes = attention.phase == AttentionPhase::kForwardBackward ? 2 : 1;
  const double seen_pairs = SeenPairs(attention, trace);
  FIGURE(trace, flops, sequence_heads * seen_pairs * pair_flops, (Note{"FLOPs", "of the pairs that are not masked"}),
         sequence_heads, seen_pairs, pair_flops);
  work.useful = flops;
  const double memory_share = device.architecture->attention.bandwidth_efficiency;
  const TileTraffic traffic = TrafficOf(attention, row_element, trace);
  work.bytes = traffic.bytes;
  const Reading operands = ReadThroughL2(work.bytes, traffic.working_set, memory_share, device, trace);
  work.stream_time = operands.time;
  work.stream_bound = operands.bound;
  trace.Alias("stream_time", work.stream_time, "read_time");
  if (parameters.pass_factor > 0) {
    const Bytes core_bytes = traffic.bytes;
    trace.Alias("core_bytes", core_bytes, "bytes");
    const Bytes pass_bytes = [&] {
      const Trace::Scope scope(trace, "before");
      const Bytes moved = PassBytes(attention, parameters, row_element, trace);
      work.pass_time = ReadThroughL2(moved, traffic.working_set, memory_share, device, trace).time;
      return moved;
    }();
    trace.Alias("pass_time", work.pass_time, "read_time");
    trace.Alias("pass_bytes", pass_bytes, "bytes");
    FIGURE(trace, all_bytes, core_bytes + pass_bytes,
           (Note{"Memory traffic", "of the core and of the passes before it"}), core_bytes, pass_bytes);
    trace.Alias("bytes", all_bytes, "all_bytes");
    work.bytes = all_bytes;
  }
  return TimeOfTiles(work, device, parameters, trace);
}

KernelTime TimeOf(const Attention& attention, const Device& device, const UnfusedKernelParameters& parameters,
                  Trace& trace) {
  const double batch = attention.batch, heads = attention.heads, q_len = attention.q_len, kv_len = attention.kv_len;
  const double products = ProductPairs(attention.phase);
  const double score_passes =
      parameters.score_passes * (attention.phase == AttentionPhase::kPrefill    ? parameters.forward_fraction
                                 : attention.phase == AttentionPhase::kBackward ? 1 - parameters.forward_fraction
                                                                                : 1);
  const Flops pair_flops = products * 2 * (attention.head_dim + ValueDim(attention)) * kFlop;
  const FlopsPerSecond peak_rate = PeakRate(device, attention.precision, trace);
  const Stream stream = SlowestStream(device, trace);
  const BytesPerSecond bandwidth = stream.bandwidth;
  const double gemm_efficiency = parameters.gemm_efficiency, bandwidth_efficiency = parameters.bandwidth_efficiency;
  const Seconds launch = parameters.launch;
  FIGURE(trace, scores, batch * heads * q_len * kv_len, (Note{"Scores", "masked ones included"}), batch, heads, q_len,
         kv_len);
  FIGURE(trace, flops, scores * pair_flops, (Note{"FLOPs", "of all scores"}), scores, pair_flops);
  FIGURE(trace, bytes, scores * score_passes * 2 * kB, (Note{"Memory traffic of the scores", "in 16 bit"}), scores,
         score_passes);
  FIGURE(trace, compute_time, flops / (peak_rate * gemm_efficiency), (Note{"Time of the batched GEMMs", ""}), flops,
         peak_rate, gemm_efficiency);
  FIGURE(trace, memory_time, bytes / (bandwidth * bandwidth_efficiency),
         (Note{"Time of the passes over the scores", "scale, mask, softmax, dropout: one kernel each"}), bytes,
         bandwidth, bandwidth_efficiency);
  FIGURE(trace, time, launch + compute_time + memory_time,
         (Note{"Unfused attention time", "kernel after kernel", "", "time_s"}), launch, compute_time, memory_time);
  return {time, compute_time, memory_time, compute_time >= memory_time ? Bound::kCompute : stream.bound, flops, bytes};
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
