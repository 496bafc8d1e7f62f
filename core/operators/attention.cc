#include "core/operators/attention.h"

#include <cassert>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Rate of reads that hit the L2: the rate that attention kernels reach, at most the cache's own bandwidth.
BytesPerSecond HitRate(const Device& device, std::string_view source) {
  const BytesPerSecond reached = *device.efficiency.l2_bandwidth;
  const Cache* cache = StatedL2(device);
  if (cache == nullptr) return reached;
  const BytesPerSecond own = *cache->bandwidth;
  return Figure("L2 bandwidth of attention", min(own, max(reached, device.architecture->traits.l2_efficiency * own)),
                "that kernels reach; at most the cache's own", source);
}

// Time to read bytes of a working set that may be in L2: while the set fits in the usable L2, nothing comes from
// memory; from 1.5 times that size on, everything does.
struct Reading {
  Seconds time;
  Bound bound = Bound::kMemory;
};
Reading ReadThroughL2(Bytes bytes, Bytes working_set, Ratio memory_share, const Device& device,
                      std::string_view source) {
  assert(device.efficiency.usable_l2_fraction && device.efficiency.l2_bandwidth);
  const BytesPerSecond stream = memory_share * SlowestStream(device).bandwidth;
  const Bytes usable = *device.efficiency.usable_l2_fraction * L2Capacity(device);
  if (!(usable > Bytes{})) return {Figure("Time to move the data", bytes / stream, "from memory", source)};
  const Ratio missed = Figure("Fraction read from memory", min(1.0, max(0.0, 2 * (working_set / usable) - 2)),
                              "the rest is in L2", source);
  const Seconds hits = bytes * (1 - missed) / HitRate(device, source);
  const Seconds time =
      Figure("Time to move the data", bytes * missed / stream + hits, "from memory and from L2", source);
  return {time, BoundOfData(time, hits)};
}

const PrefillRow& RowOf(const PrefillTable& table, AttentionLibrary library) {
  return library == AttentionLibrary::kFlashInfer && table.flashinfer ? *table.flashinfer : table.generic;
}

// The row of a training library, or null if it has no kernel for the pass.
const CoreRow* RowOf(const AttentionTable& table, AttentionAlgorithm algorithm, bool backward) {
  const std::optional<CoreKernels>* kernels = algorithm == AttentionAlgorithm::kFlash1   ? &table.flash1
                                              : algorithm == AttentionAlgorithm::kFlash2 ? &table.flash2
                                              : algorithm == AttentionAlgorithm::kFlash3 ? &table.flash3
                                                                                         : nullptr;
  if (kernels == nullptr || !*kernels) return nullptr;
  if (!backward) return &(*kernels)->forward;
  return (*kernels)->backward ? &*(*kernels)->backward : nullptr;
}

// Parameters of a training library's attention core, timed in isolation.
TileKernelParameters IsolatedCoreParameters(const Attention& attention, const Device& device) {
  const AttentionTable& table = device.architecture->attention;
  const bool backward = attention.phase != AttentionPhase::kPrefill;
  TileKernelParameters parameters;
  parameters.launch = table.core_launch_latency;
  parameters.pass_factor = 0;
  const bool eight_bit = IsEightBitFloat(NativePrecision(device, attention.precision));
  if (const CoreRow* row = RowOf(table, attention.algorithm, backward)) {
    parameters.in_fp8 = row->mma_efficiency_fp8 > 0 && eight_bit;
    const Ratio head_bytes = attention.head_dim * (parameters.in_fp8 ? 1 : 2);
    parameters.mma_efficiency = (parameters.in_fp8 ? row->mma_efficiency_fp8 : row->mma_efficiency) *
                                (head_bytes > 256 ? row->wide_head_factor : Ratio(1));
    parameters.exp_weight = row->exp_weight;
    parameters.tile_overhead = row->tile_overhead;
    return parameters;
  }
  const PrefillRow& forward = table.prefill.generic;
  parameters.in_fp8 = eight_bit;
  parameters.exp_weight = backward ? table.backward.exp_weight : forward.exp_weight;
  parameters.tile_overhead = backward ? table.backward.tile_overhead : forward.tile_overhead;
  parameters.mma_efficiency = backward    ? table.backward.mma_efficiency
                              : eight_bit ? forward.mma_efficiency_fp8
                                          : forward.mma_efficiency;
  return parameters;
}

TileKernelParameters TileParametersOf(const Attention& attention, const Device& device) {
  if (attention.phase != AttentionPhase::kPrefill || !attention.writes_kv_cache ||
      attention.algorithm != AttentionAlgorithm::kAuto) {
    return IsolatedCoreParameters(attention, device);
  }
  const PrefillRow& row = RowOf(device.architecture->attention.prefill, attention.library);
  const bool fp8_kv_cache = BytesPerElement(attention.kv_precision) < 2;
  TileKernelParameters parameters;
  parameters.in_fp8 = IsEightBitFloat(NativePrecision(device, attention.precision)) ||
                      (row.fp8_kv_cache_in_fp8 && fp8_kv_cache && Supports(device, Precision::kFp8));
  const bool falls_back = parameters.in_fp8 && attention.head_dim <= 64 && row.narrow_head_factor_fp8 > 0;
  if (falls_back) parameters.in_fp8 = false;
  parameters.launch = row.launch;
  parameters.mma_efficiency = parameters.in_fp8 ? row.mma_efficiency_fp8
                              : falls_back      ? row.mma_efficiency * row.narrow_head_factor_fp8
                                                : row.mma_efficiency;
  parameters.exp_weight = row.exp_weight;
  parameters.tile_overhead = row.tile_overhead;
  parameters.tail = row.tail;
  parameters.fused_pass = row.fused_pass;
  parameters.pass_factor = fp8_kv_cache ? row.passes_fp8 : row.passes;
  return parameters;
}

// Pairs of GEMMs: FLOPs per query-key pair in units of 2 * (head_dim + value_dim). Two GEMMs forward, five backward.
double ProductPairs(AttentionPhase phase) {
  const double gemms = phase == AttentionPhase::kBackward ? 5 : phase == AttentionPhase::kForwardBackward ? 7 : 2;
  return gemms / 2;
}

// Unmasked query-key pairs of one sequence and head.
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

// Bytes of operands and results, and the working set that the passes over them reuse.
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
  // Q, K, V, O and their gradients, some accumulated in fp32: five passes if the head counts are equal, seven together
  // with the forward pass.
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

// The format that a kernel computes in. A 16-bit kernel converts an 8-bit KV cache while reading it.
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
      Figure("Time of the batched GEMMs", result.flops / ReachedRate(device, attention.precision, row.gemm_efficiency));
  result.memory =
      Figure("Time of the passes over the scores", result.bytes / (stream.bandwidth * row.bandwidth_efficiency),
             "scale, mask, softmax, dropout: one kernel each");
  result.time = Figure("Unfused attention time", row.launch + result.compute + result.memory, "kernel after kernel");
  result.bound = result.compute >= result.memory ? Bound::kCompute : stream.bound;
  return result;
}

// Time to read the KV cache: from memory if it is cold, otherwise partly from L2.
Reading ReadKvCache(const Attention& attention, Bytes kv_cache, Ratio bandwidth_efficiency, const Device& device,
                    std::string_view source) {
  if (!attention.cold) return ReadThroughL2(kv_cache, kv_cache, bandwidth_efficiency, device, source);
  return {Figure("Time to read the KV cache", kv_cache / (bandwidth_efficiency * device.memory.bandwidth),
                 "from memory", source)};
}

// Below two blocks per sequence only some sequences are split, so the merge time rises gradually from zero.
Seconds MergeTime(Ratio merged, Seconds merge, Seconds merge_per_split, std::string_view source) {
  return Figure("Merging the splits", min(1.0, merged - 1) * (merge + merge_per_split * merged),
                "below two blocks per sequence only some are split", source);
}

// A thread block reads the keys and values of its KV head once from L2, and once from shared memory per fragment of
// query rows; on devices without tiles all query rows share one read.
LevelTraffic DecodeTraffic(const Attention& attention, Bytes kv_cache, const Device& device) {
  const KernelTraits& traits = device.architecture->traits;
  const Ratio fragments =
      traits.tiled ? ceil(attention.heads * attention.q_len / (traits.decode_query_rows * attention.kv_heads))
                   : Ratio(1);
  return {kv_cache,
          Figure("Traffic of shared memory", fragments * kv_cache, "keys and values once per fragment of query rows")};
}

// The query heads of a KV head share its keys; a thread block computes their rows in whole fragments.
Seconds DecodeComputeTime(const Attention& attention, Ratio context, Ratio pair_dims, FlopsPerSecond rate,
                          const Device& device, std::string_view source) {
  const Ratio mma_rows = device.architecture->traits.decode_query_rows;
  const Ratio rows =
      Figure("Rows computed", mma_rows * ceil(attention.heads * attention.q_len / (mma_rows * attention.kv_heads)),
             "query heads per KV head, padded", source);
  return Figure("Compute time", 2 * kFlop * rows * context * pair_dims * attention.batch * attention.kv_heads / rate,
                "", source);
}

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
                        ReachedRate(device, attention.precision, table.decode_mma_efficiency), device, source);
  const Seconds slowest =
      Figure("Slowest part of the kernel", max(reading.time, result.compute), "memory, compute", source);
  // Blocks that fill the SMs are whole waves, whatever their division rounds to.
  const Ratio waves = ceil((1 - kRoundingGuard) * batch * kv_heads * spread / units);
  const Seconds further_waves = Figure("Launching further waves", row.wave_launch * max(0.0, waves - 1), "", source);
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

}  // namespace

KernelTime TimeOf(const Attention& attention, const Device& device) {
  if (attention.phase == AttentionPhase::kDecode) return TimeOfDecode(attention, device);
  if (attention.algorithm == AttentionAlgorithm::kUnfused || attention.library == AttentionLibrary::kUnfused)
    return TimeUnfused(attention, device);
  return TimeOnTiles(attention, device);
}

Seconds TimeInPromptKernel(const Attention& decode, const Device& device) {
  const AttentionTable& table = device.architecture->attention;
  const Ratio rows = device.architecture->traits.fragment_rows,
              pair_dims = Figure("Elements of a key and its value", decode.head_dim + ValueDim(decode));
  const FlopsPerSecond rate =
      ReachedRate(device, decode.precision, RowOf(table.prefill, decode.library).mma_efficiency);
  return Figure("Decoded tokens in the kernel of prompts",
                2 * kFlop * rows * pair_dims * decode.batch * decode.heads * decode.kv_len / rate,
                "each query head computes a fragment of rows over the keys of its sequence",
                SourceOf(device, table.source));
}

double FlashSlowdown(FlashVersion version, Attention core, const Device& device) {
  const AttentionTable& table = device.architecture->attention;
  struct Kernel {
    bool exists, is_allowed;
    AttentionAlgorithm algorithm;
  };
  const Kernel kernels[] = {{table.flash1.has_value(), true, AttentionAlgorithm::kFlash1},
                            {table.flash2.has_value(), version != FlashVersion::kFlash1, AttentionAlgorithm::kFlash2},
                            {table.flash3.has_value(), version == FlashVersion::kFlash3, AttentionAlgorithm::kFlash3},
                            {true, false, AttentionAlgorithm::kAuto}};
  core.writes_kv_cache = false;
  Seconds fastest, stated;
  for (const Kernel& kernel : kernels) {
    if (!kernel.exists) continue;
    core.algorithm = kernel.algorithm;
    const Seconds time = TimeOf(core, device).time;
    if (!(fastest > Seconds{}) || time < fastest) fastest = time;
    // If the family has no version this old, its oldest kernel counts.
    const bool is_oldest = !(stated > Seconds{}) && kernel.algorithm != AttentionAlgorithm::kAuto;
    if (is_oldest || (kernel.is_allowed && time < stated)) stated = time;
  }
  return stated > Seconds{} ? stated / fastest : Ratio(1);
}

}  // namespace slipstick
