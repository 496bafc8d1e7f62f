// Flash attention in a training step: fused kernels, tile by tile, of the framework or of the device.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/flash_slowdown.h"
#include "core/operators/named_terms.h"
#include "core/training_stage/attention_core.h"

namespace slipstick {
namespace {

// Of the framework, else of the device. Binds its numbers.
TrainingAttention KernelFor(const TrainingContext& context, Trace& trace) {
  const Device& device = context.device();
  const std::vector<TrainingAttention>& own = context.framework().compute.attention;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].architecture != device.architecture) continue;
    if (trace.on()) {
      const std::string path = "training.framework.compute.attention." + std::to_string(i);
      trace.Input("forward_share", own[i].forward, path + ".forward");
      trace.Input("backward_share", own[i].backward, path + ".backward");
      trace.Input("exponential", own[i].exponential, path + ".exponential");
    }
    return own[i];
  }
  trace.Input("forward_share", *device.efficiency.attention_forward, "cluster.device.efficiency.attention_forward");
  trace.Input("backward_share", *device.efficiency.attention_backward, "cluster.device.efficiency.attention_backward");
  const double exponential = device.architecture->data_sheet.attention_exponentials;
  CONSTANTS(trace, KernelTable(device, "data_sheet"), "rule for a device known by its data sheet", exponential);
  return {device.architecture, *device.efficiency.attention_forward, *device.efficiency.attention_backward,
          device.architecture->data_sheet.attention_exponentials};
}

// Exponentials per clock and SM over the share that the tensor cores do not hide.
double ExponentialRate(double device_exponentials, double exponential, Trace& trace) {
  if (!(exponential > 0)) {
    trace.Alias("exponentials", device_exponentials, "device_exponentials");
    return device_exponentials;
  }
  FIGURE(trace, exponentials, device_exponentials / exponential,
         (Note{"Exponentials per clock, over the share that is not hidden", "on the special-function units of one SM",
               kFamilySource}),
         device_exponentials, exponential);
  return exponentials;
}

// The terms of the flash-attention formulas. FLOPs are of the scores that the causal mask leaves.
struct FlashTerms {
  FlopsPerSecond sustained_rate;
  Seconds exponential_time, tile_time;
  Bytes forward_bytes;
  Flops forward_flops, backward_flops;
};
FlashTerms FlashTermsOf(const TrainingContext& context, const AttentionWork& work, const TrainingAttention& kernel,
                        Trace& trace) {
  const Device& device = context.device();
  const double units = static_cast<double>(device.units), sustained_clock_derating = context.sustained_clock_derating;
  const Hertz clock = device.clock;
  const double device_exponentials = device.exponentials, exponential = kernel.exponential;
  trace.Input("device_exponentials", device_exponentials, "cluster.device.exponentials");
  trace.Input("units", units, "cluster.device.units");
  trace.Input("clock", clock, "cluster.device.clock");
  const double exponentials = ExponentialRate(device_exponentials, exponential, trace);
  FIGURE(trace, unhidden, min(1.0, ceil(exponential)),
         (Note{"Whether the tensor cores leave exponentials unhidden", "1 or 0"}), exponential);
  const double pairs = work.pairs, query_heads = work.heads, core_kv_heads = work.kv_heads;
  const double query_width = work.query_width, value_width = work.value_width;
  const FlopsPerSecond peak_rate = PeakRate(device, context.matrix_precision, trace);
  const Bytes element = ElementSize(context.matrix_precision);
  trace.Input("element", element, "training.precision");
  const double sequences = work.sequences, queries = work.queries;
  FIGURE(trace, query_tiles, sequences * query_heads * queries / 128, (Note{"Tiles of 128 queries"}), sequences,
         query_heads, queries);
  FIGURE(trace, core_tokens, sequences * queries, (Note{"Tokens of a micro-batch on one device"}), sequences, queries);
  FIGURE(trace, sustained_rate, peak_rate / (1 + sustained_clock_derating),
         (Note{"Dense peak at sustained power", "", kFamilySource}), peak_rate, sustained_clock_derating);
  FIGURE(trace, exponential_time, unhidden * pairs / (exponentials * clock * units),
         (Note{"Exponentials not hidden by the tensor cores", "one per score, on the special-function units",
               kFamilySource}),
         unhidden, pairs, exponentials, clock, units);
  const Seconds tile = device.architecture->attention.step.tile_overhead, tile_cost = tile;
  CONSTANTS(trace, KernelTable(device, "attention.step"), SourceOf(device, device.architecture->attention.step.source),
            tile);
  trace.Alias("tile_cost", tile_cost, "tile");
  FIGURE(trace, tile_time, tile_cost * query_tiles / units,
         (Note{"Fixed cost of the query tiles", "load, drain, write", kFamilySource}), tile_cost, query_tiles, units);
  const double operand_passes = device.architecture->attention.step.operand_passes;
  CONSTANTS(trace, KernelTable(device, "attention.step"), SourceOf(device, device.architecture->attention.step.source),
            operand_passes);
  FIGURE(trace, forward_bytes,
         operand_passes * element * core_tokens * (query_width + value_width) * (query_heads + core_kv_heads),
         (Note{"Memory traffic, forward", "Q, K, V read, output written", kFamilySource}), operand_passes, element,
         core_tokens, query_width, value_width, query_heads, core_kv_heads);
  FIGURE(trace, forward_flops, 2 * kFlop * pairs * (query_width + value_width),
         (Note{"FLOPs of the two forward GEMMs", ""}), pairs, query_width, value_width);
  FIGURE(trace, backward_flops, 5 * kFlop * pairs * (query_width + value_width),
         (Note{"FLOPs of the five backward GEMMs", "the scores again, and four gradients"}), pairs, query_width,
         value_width);
  return {sustained_rate, exponential_time, tile_time, forward_bytes, forward_flops, backward_flops};
}

// Fitted constants inside a step.
void BindStep(const TrainingContext& context, double square, Trace& trace) {
  if (!trace.on()) return;
  const StepCoreTable& step = context.device().architecture->attention.step;
  const double backward_tile = step.backward_tile_factor, backward_bytes = step.backward_bytes_factor;
  const Seconds launch = step.launch, backward_launch = step.backward_launch;
  CONSTANTS(trace, KernelTable(context.device(), "attention.step"), SourceOf(context.device(), step.source),
            backward_tile, backward_bytes, launch, backward_launch);
  trace.Alias("round_launch", launch, "launch");
  trace.Alias("backward_moved", backward_bytes, "backward_bytes");
  trace.Input("square", square, "training.framework.compute.skips_masked_tiles");
}

// Factors of the passes' traffic over one pass over the unmasked scores.
struct TrafficFactors {
  double square, unbalanced, backward_moved;
};
// The passes' own times, or those of the caches. Each tile of 128 queries reads its keys and values from L2, each
// fragment of queries from shared memory.
std::pair<Seconds, Seconds> BoundByCaches(const TrainingContext& context, const AttentionWork& work,
                                          const TrafficFactors& factors, Seconds forward_work, Seconds backward_work,
                                          CoreTime& core, Trace& trace) {
  const Device& device = context.device();
  const auto [square, unbalanced, backward_moved] = factors;
  const double pairs = work.pairs, query_width = work.query_width, value_width = work.value_width,
               fragment_rows = device.architecture->traits.fragment_rows;
  const Bytes element = ElementSize(context.matrix_precision), forward_bytes = core.forward_bytes;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->attention.step.source),
            fragment_rows);
  FIGURE(trace, key_value_pass, square * pairs * (query_width + value_width) * element,
         (Note{"Keys and values, once per query", "a tile of queries shares them"}), square, pairs, query_width,
         value_width, element);
  FIGURE(trace, forward_l2, key_value_pass / 128 + forward_bytes,
         (Note{"Traffic of the L2, forward", "keys and values once per 128 queries"}), key_value_pass, forward_bytes);
  FIGURE(trace, forward_l1, key_value_pass / min(128, fragment_rows) + forward_bytes,
         (Note{"Traffic of shared memory, forward", "keys and values once per fragment of queries"}), key_value_pass,
         fragment_rows, forward_bytes);
  FIGURE(trace, backward_l2, backward_moved * forward_l2, (Note{"Traffic of the L2, backward"}), backward_moved,
         forward_l2);
  FIGURE(trace, backward_l1, backward_moved * forward_l1, (Note{"Traffic of shared memory, backward"}), backward_moved,
         forward_l1);
  core.forward_l2 = forward_l2, core.backward_l2 = backward_l2;
  core.forward_l1 = forward_l1, core.backward_l1 = backward_l1;
  const auto bounded = [&](std::string_view pass, std::string_view symbol, Seconds pass_work, std::string_view work_is,
                           const LevelTraffic& traffic, Bound& bound) {
    Seconds slowest;
    {
      const Trace::Scope scope(trace, pass);
      const LevelTimes levels = TimesThroughCaches(traffic, device, trace);
      slowest = SlowestLevel(pass_work, work_is, levels, trace);
      if (slowest > pass_work) bound = levels.l1 > levels.l2 ? Bound::kL1 : Bound::kL2;
    }
    trace.Alias(symbol, slowest, "bounded_time");
    return slowest;
  };
  trace.Alias("l2_traffic", forward_l2, "forward_l2");
  trace.Alias("l1_traffic", forward_l1, "forward_l1");
  const Seconds forward = bounded("forward_pass", "forward_bounded", forward_work, "forward_work",
                                  {forward_l2, forward_l1}, core.forward_bound);
  FIGURE(trace, waited_l2, unbalanced * backward_l2,
         (Note{"Traffic of the L2, backward", "of the last rank of the ring"}), unbalanced, backward_l2);
  FIGURE(trace, waited_l1, unbalanced * backward_l1,
         (Note{"Traffic of shared memory, backward", "of the last rank of the ring"}), unbalanced, backward_l1);
  trace.Alias("l2_traffic", waited_l2, "waited_l2");
  trace.Alias("l1_traffic", waited_l1, "waited_l1");
  const Seconds backward = bounded("backward_pass", "backward_bounded", backward_work, "backward_work",
                                   {waited_l2, waited_l1}, core.backward_bound);
  return {forward, backward};
}

// With the version of FlashAttention that the framework states.
void SetVersion(const TrainingContext& context, const AttentionWork& work, CoreTime& core, Trace& trace) {
  const std::optional<FlashVersion>& version = context.framework().compute.flash_version;
  if (!version) return;
  Attention attention;
  attention.batch = work.sequences, attention.q_len = attention.kv_len = work.queries;
  attention.heads = work.heads, attention.kv_heads = work.kv_heads;
  attention.head_dim = work.query_width, attention.value_dim = work.value_width;
  attention.precision = context.matrix_precision;
  const double forward_slowdown = FlashSlowdown(*version, attention, context.device());
  attention.phase = AttentionPhase::kBackward;
  const double backward_slowdown = FlashSlowdown(*version, attention, context.device());
  const Seconds own_forward = core.forward, own_backward = core.backward;
  trace.Alias("own_forward", own_forward, "forward");
  trace.Alias("own_backward", own_backward, "backward");
  trace.Input("forward_slowdown", forward_slowdown, "training.framework.compute.flash_version");
  trace.Input("backward_slowdown", backward_slowdown, "training.framework.compute.flash_version");
  constexpr Note kNote{"Attention core by the stated FlashAttention", "its time over the fastest kernel's"};
  FIGURE(trace, version_forward, forward_slowdown * own_forward, kNote, forward_slowdown, own_forward);
  FIGURE(trace, version_backward, backward_slowdown * own_backward, kNote, backward_slowdown, own_backward);
  trace.Alias("forward", version_forward, "version_forward");
  trace.Alias("backward", version_backward, "version_backward");
  core.forward = version_forward, core.backward = version_backward;
}

}  // namespace

CoreTime TimeFlash(const TrainingContext& context, const AttentionWork& work, Trace& trace) {
  const Device& device = context.device();
  const AttentionTable& table = device.architecture->attention;
  const Trace::Citing citing(trace, SourceOf(device, table.step.source));
  const TrainingAttention kernel = KernelFor(context, trace);
  const auto [sustained_rate, exponential_time, tile_time, forward_bytes, forward_flops, backward_flops] =
      FlashTermsOf(context, work, kernel, trace);
  const FrameworkCompute& compute = context.framework().compute;
  const double rounds = context.shape.context, forward_share = kernel.forward, backward_share = kernel.backward;
  const double stream = table.bandwidth_efficiency, overlap = table.overlap;
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  CONSTANTS(trace, KernelTable(device, "attention"), SourceOf(device, table.source), stream, overlap);
  FIGURE(trace, stream_rate, stream * bandwidth, (Note{"Memory bandwidth of the attention core", "", kFamilySource}),
         stream, bandwidth);
  // Kernels that do not skip masked tiles compute the full square; an unbalanced ring waits for its last rank.
  const double square = compute.skips_masked_tiles ? 1 : 2;
  const double is_unbalanced = compute.balanced_context ? 0 : 1;
  trace.Input("is_unbalanced", is_unbalanced, "training.framework.compute.balanced_context");
  trace.Input("rounds", rounds, "training.mapping.cp");
  const Seconds round_launch = table.step.launch, backward_launch = table.step.backward_launch;
  const double backward_tile = table.step.backward_tile_factor, backward_moved = table.step.backward_bytes_factor;
  BindStep(context, square, trace);
  FIGURE(
      trace, unbalanced, (rounds + is_unbalanced * (rounds - 1)) / rounds,
      (Note{"Wait for the last rank of the ring", "with a causal mask it has the most to do; none in a balanced ring"}),
      is_unbalanced, rounds);
  FIGURE(trace, forward_work,
         square * norm(forward_flops / (sustained_rate * forward_share) + exponential_time + tile_time,
                       forward_bytes / stream_rate, overlap),
         (Note{"Compute and data movement, forward", "", kFamilySource}), square, forward_flops, sustained_rate,
         forward_share, exponential_time, tile_time, forward_bytes, stream_rate, overlap);
  FIGURE(trace, backward_work,
         unbalanced * square *
             norm(backward_flops / (sustained_rate * backward_share) + exponential_time + backward_tile * tile_time,
                  backward_moved * forward_bytes / stream_rate, overlap),
         (Note{"Compute and data movement, backward", "", kFamilySource}), unbalanced, square, backward_flops,
         sustained_rate, backward_share, exponential_time, backward_tile, tile_time, backward_moved, forward_bytes,
         stream_rate, overlap);
  FIGURE(trace, core_forward_flops, square * forward_flops,
         (Note{"FLOPs that the attention core executes, forward", ""}), square, forward_flops);
  FIGURE(trace, core_backward_flops, square * backward_flops,
         (Note{"FLOPs that the attention core executes, backward", ""}), square, backward_flops);
  CoreTime core;
  core.forward_flops = core_forward_flops, core.backward_flops = core_backward_flops;
  core.forward_bytes = forward_bytes, core.backward_bytes = backward_moved * forward_bytes;
  const auto [forward_bounded, backward_bounded] =
      BoundByCaches(context, work, {square, unbalanced, backward_moved}, forward_work, backward_work, core, trace);
  FIGURE(trace, forward, forward_bounded + round_launch * rounds,
         (Note{"Attention core, forward", "one launch per block of a context-parallel ring", kFamilySource}),
         forward_bounded, round_launch, rounds);
  FIGURE(trace, backward, backward_bounded + backward_launch * rounds,
         (Note{"Attention core, backward", "", kFamilySource}), backward_bounded, backward_launch, rounds);
  core.forward = forward, core.backward = backward;
  SetVersion(context, work, core, trace);
  return core;
}

}  // namespace slipstick
