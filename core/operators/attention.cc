#include "core/operators/attention.h"

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/l2_reading.h"

namespace slipstick {
namespace {

// Pairs of GEMMs: FLOPs per query-key pair in units of 2 * (head_dim + value_dim). Two GEMMs forward, five backward.
double ProductPairs(AttentionPhase phase) {
  const double gemms = phase == AttentionPhase::kBackward ? 5 : phase == AttentionPhase::kForwardBackward ? 7 : 2;
  return gemms / 2;
}

// Query-key pairs that are not masked, of a sequence and head.
Ratio SeenPairs(const Attention& attention) {
  const Ratio q_len = attention.q_len, kv_len = attention.kv_len;
  const Ratio keys =
      attention.window > 0 ? Figure("Keys of a full window", min(attention.window, kv_len)) : attention.kv_len;
  constexpr std::string_view kTitle = "Pairs of a query and a key that it sees", kNote = "of a sequence and head";
  if (!attention.causal) return Figure(kTitle, q_len * keys, kNote);
  const Ratio earlier = Figure("Keys before the first query", kv_len - q_len);
  const Ratio growing = Figure("Queries that the causal mask cuts", min(max(0.0, keys - earlier), q_len),
                               "each sees one key more than the one before");
  return Figure(kTitle, growing * earlier + growing * (growing + 1) / 2 + (q_len - growing) * keys, kNote);
}

// Operands and results, and the set that the passes over them reuse.
struct TileTraffic {
  Bytes bytes, working_set;
};
TileTraffic TrafficOf(const Attention& attention, Bytes row_element) {
  const Ratio batch = attention.batch, q_len = attention.q_len, heads = attention.heads, kv_heads = attention.kv_heads,
              qk_dim = attention.head_dim, v_dim = ValueDim(attention);
  const Ratio keys = attention.window > 0 ? Figure("Keys that the queries see",
                                                   min(attention.kv_len, attention.window + q_len), "of the window")
                                          : attention.kv_len;
  const Bytes working_set = Figure("Working set", 4 * kB * batch * qk_dim * (q_len * heads + 2 * keys * kv_heads),
                                   "operands and results in 16 bit");
  if (attention.phase == AttentionPhase::kPrefill) {
    const Bytes bytes = batch * (q_len * heads * (qk_dim * row_element + v_dim * 2 * kB) +
                                 keys * kv_heads * (qk_dim + v_dim) * row_element);
    return {Figure("Operands and results", bytes), working_set};
  }
  // Q, K, V, O and their gradients, some accumulated in fp32: five passes at equal head counts, seven with the forward
  // pass.
  const bool both = attention.phase == AttentionPhase::kForwardBackward;
  const double query_passes = both ? 8 : 6, key_passes = both ? 6 : 4;
  return {Figure("Operands, results and their gradients",
                 batch * (qk_dim + v_dim) * kB * (q_len * heads * query_passes + keys * kv_heads * key_passes)),
          working_set};
}

// Bytes of the passes before the core: rotary embedding, KV-cache write and quantization.
Bytes PassBytes(const Attention& attention, const TileKernelParameters& parameters, Bytes row_element,
                std::string_view source) {
  const Ratio heads = attention.heads, kv_heads = attention.kv_heads, qk_dim = attention.head_dim;
  const Bytes kv_element = SizeOf(attention.kv_element, attention.kv_precision);
  const Bytes of_token = parameters.fused_pass
                             ? qk_dim * (heads * (2 * kB + row_element) + 2 * kv_heads * (2 * kB + kv_element))
                         : kv_element < 2 * kB ? qk_dim * (3 * kB * heads + 6 * kB * kv_heads)
                                               : qk_dim * 8 * kB * kv_heads;
  return Figure("Bytes of the passes before attention",
                parameters.pass_factor * attention.batch * attention.q_len * of_token,
                "rotary embedding, KV-cache write, quantization", source);
}

// The format that a kernel computes in. A 16-bit kernel widens an 8-bit KV cache as it reads it.
Precision ComputedIn(const Attention& attention, const TileKernelParameters& parameters, const Device& device) {
  const Precision native = NativePrecision(device, attention.precision);
  return parameters.in_fp8                                       ? Precision::kFp8
         : IsEightBitFloat(native) || native == Precision::kInt8 ? Precision::kBf16
                                                                 : native;
}

// Mean error: prefill 4.7 % over 3,325 measurements on seven NVIDIA systems and two engines; FlashAttention forward and
// backward 2 to 6 % over 130.
KernelTime TimeOnTiles(const Attention& attention, const Device& device) {
  const TileKernelParameters parameters = TileParametersOf(attention, device);
  const AttentionTable& table = device.architecture->attention;
  const std::string_view source = SourceOf(device, table.source);
  TileWork work;
  work.tiles = CountTiles(attention.q_len, attention.kv_len, attention.causal, attention.window, device);
  work.sequence_heads = Figure("Sequences times heads", attention.batch * attention.heads, "each has its tiles");
  work.precision = ComputedIn(attention, parameters, device);
  work.pair_flops = Figure("FLOPs per query and key",
                           ProductPairs(attention.phase) * (attention.head_dim + ValueDim(attention)) * 2 * kFlop,
                           "a GEMM each with the keys and the values; five backward");
  work.row_element = SizeOf(attention.row_element, work.precision);
  work.exp_passes = attention.phase == AttentionPhase::kForwardBackward ? 2 : 1;
  work.useful =
      Figure("FLOPs", work.sequence_heads * SeenPairs(attention) * work.pair_flops, "of the pairs that are not masked");
  const TileTraffic traffic = TrafficOf(attention, work.row_element);
  const auto read = [&](Bytes bytes) {
    return ReadThroughL2(bytes, traffic.working_set, table.bandwidth_efficiency, device, source);
  };
  const Reading operands = read(traffic.bytes);
  work.bytes = traffic.bytes;
  work.stream_time = operands.time;
  work.stream_bound = operands.bound;
  if (parameters.pass_factor > 0) {
    const Bytes passes = PassBytes(attention, parameters, work.row_element, source);
    work.pass_time = read(passes).time;
    work.bytes = Figure("Memory traffic", traffic.bytes + passes, "of the core and of the passes before it");
  }
  return TimeOfTiles(work, device, parameters);
}

// Two batched GEMMs and a softmax, with the scores in memory. Mean error 10 to 11 % over PyTorch's measurements on A100
// and H100.
KernelTime TimeUnfused(const Attention& attention, const Device& device) {
  const UnfusedRow& row = device.architecture->attention.unfused;
  const Ratio score_passes = (attention.causal ? row.passes_causal : row.passes) *
                             (attention.phase == AttentionPhase::kPrefill    ? row.forward_fraction
                              : attention.phase == AttentionPhase::kBackward ? 1 - row.forward_fraction
                                                                             : Ratio(1));
  const Flops pair_flops = ProductPairs(attention.phase) * 2 * (attention.head_dim + ValueDim(attention)) * kFlop;
  const Stream stream = SlowestStream(device);
  const Ratio scores =
      Figure("Scores", attention.batch * attention.heads * attention.q_len * attention.kv_len, "masked ones included");
  KernelTime result;
  result.flops = Figure("FLOPs", scores * pair_flops, "of all scores");
  result.bytes = Figure("Memory traffic of the scores", scores * score_passes * 2 * kB, "in 16 bit");
  result.compute =
      Figure("Time of the batched GEMMs", result.flops / (PeakRate(device, attention.precision) * row.gemm_efficiency));
  result.memory =
      Figure("Time of the passes over the scores", result.bytes / (stream.bandwidth * row.bandwidth_efficiency),
             "scale, mask, softmax, dropout: one kernel each");
  result.time = Figure("Unfused attention time", row.launch + result.compute + result.memory, "kernel after kernel");
  result.bound = result.compute >= result.memory ? Bound::kCompute : stream.bound;
  return result;
}

}  // namespace

KernelTime TimeOf(const Attention& attention, const Device& device) {
  if (attention.phase == AttentionPhase::kDecode) return TimeOfDecode(attention, device);
  if (attention.algorithm == AttentionAlgorithm::kUnfused || attention.library == AttentionLibrary::kUnfused)
    return TimeUnfused(attention, device);
  return TimeOnTiles(attention, device);
}

}  // namespace slipstick
