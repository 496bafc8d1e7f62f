#include "core/training/attention_core.h"

#include <algorithm>
#include <vector>

#include "core/operators/efficiency.h"
#include "core/operators/recurrence.h"

namespace slipstick {

bool HasOwnAttention(const TrainingContext& context) {
  const std::vector<TrainingAttention>& kernels = context.framework().compute.attention;
  return std::any_of(kernels.begin(), kernels.end(),
                     [&](const TrainingAttention& kernel) { return kernel.architecture == context.device().architecture; });
}

namespace {

TrainingAttention KernelFor(const TrainingContext& context) {
  const Device& device = context.device();
  for (const TrainingAttention& kernel : context.framework().compute.attention) {
    if (kernel.architecture == device.architecture) return kernel;
  }
  return {device.architecture, *device.efficiency.attention_forward, *device.efficiency.attention_backward,
          device.architecture->data_sheet.attention_exponentials};
}

CoreTime TimeUnfused(const TrainingContext& context, const AttentionWork& work, Trace& trace) {
  const Device& device = context.device();
  const AttentionTable& table = device.architecture->attention;
  const Trace::Citing citing(trace, SourceOf(device, table.step.unfused_source));
  const double head_width = (work.query_width + work.value_width) / 2, scores = work.all_pairs;
  const double gemm_efficiency = *device.efficiency.gemm_efficiency, sustained_clock_derating = context.sustained_clock_derating;
  trace.Input("gemm_efficiency", gemm_efficiency, "cluster.device.efficiency.matrix");
  const double softmax_passes = context.framework().compute.softmax_passes;
  const FlopsPerSecond peak_rate = PeakRate(device, context.matrix_precision, trace);
  const double batched_share = table.step.unfused_gemm_efficiency, forward_passes = table.unfused.forward_fraction;
  const BytesPerSecond stream_rate = table.step.unfused_bandwidth_efficiency * device.memory.bandwidth;
  const Flops pair = 2 * kFlop;
  const Bytes element = ElementSize(context.matrix_precision);
  FIGURE(trace, score_rate, batched_share * sqrt(min(1.0, head_width / 128)) * peak_rate * gemm_efficiency / (1 + sustained_clock_derating),
         (Note{"Throughput of the batched GEMMs of unfused attention", "lower for small heads", kFamilySource}), batched_share, head_width,
         peak_rate, gemm_efficiency, sustained_clock_derating);
  FIGURE(trace, score_bytes, softmax_passes * element * scores,
         (Note{"Memory traffic of the scores, forward and backward", "mask, softmax and dropout each pass through memory", kFamilySource}),
         softmax_passes, element, scores);
  FIGURE(trace, forward, 2 * pair * scores * head_width / score_rate + forward_passes * score_bytes / stream_rate,
         (Note{"Attention core, forward", "two GEMMs and the forward share of the passes", kFamilySource}), pair, scores, head_width,
         score_rate, forward_passes, score_bytes, stream_rate);
  FIGURE(trace, backward, 4 * pair * scores * head_width / score_rate + (1 - forward_passes) * score_bytes / stream_rate,
         (Note{"Attention core, backward", "four GEMMs and the rest of the passes", kFamilySource}), pair, scores, head_width, score_rate,
         forward_passes, score_bytes, stream_rate);
  const Bytes operands = scores * head_width * element;  // of two GEMMs, with tiles of 128 x 128
  CoreTime core;
  core.forward = forward, core.backward = backward;
  core.forward_flops = 2 * pair * scores * head_width, core.backward_flops = 4 * pair * scores * head_width;
  core.forward_bytes = forward_passes * score_bytes, core.backward_bytes = (1 - forward_passes) * score_bytes;
  core.forward_l2 = core.forward_bytes + 4 * operands / 128, core.backward_l2 = core.backward_bytes + 8 * operands / 128;
  core.forward_l1 = core.forward_bytes + 4 * operands / 64, core.backward_l1 = core.backward_bytes + 8 * operands / 64;
  return core;
}

// The terms of the flash-attention formulas. FLOPs are of the scores that the causal mask leaves.
struct FlashTerms {
  FlopsPerSecond sustained_rate;
  Seconds exponential_time, tile_time;
  Bytes forward_bytes;
  Flops forward_flops, backward_flops;
};
FlashTerms FlashTermsOf(const TrainingContext& context, const AttentionWork& work, const TrainingAttention& kernel, Trace& trace) {
  const Device& device = context.device();
  const double units = static_cast<double>(device.units), sustained_clock_derating = context.sustained_clock_derating;
  const Hertz clock = device.clock;
  const double exponentials = kernel.exponential > 0 ? device.exponentials / kernel.exponential : device.exponentials;
  const double unhidden = kernel.exponential > 0 ? 1 : 0;
  const double pairs = work.pairs, query_heads = work.heads, kv_heads = work.kv_heads;
  const double query_width = work.query_width, value_width = work.value_width;
  const FlopsPerSecond peak_rate = PeakRate(device, context.matrix_precision, trace);
  const Bytes element = ElementSize(context.matrix_precision);
  const double query_tiles = work.sequences * work.heads * work.queries / 128;
  const double own_tokens = work.sequences * work.queries;
  const Flops one = 1 * kFlop;
  FIGURE(trace, sustained_rate, peak_rate / (1 + sustained_clock_derating), (Note{"Dense peak at sustained power", "", kFamilySource}),
         peak_rate, sustained_clock_derating);
  FIGURE(trace, exponential_time, unhidden * pairs / (exponentials * clock * units),
         (Note{"Exponentials not hidden by the tensor cores", "one per score, on the special-function units", kFamilySource}), unhidden,
         pairs, exponentials, clock, units);
  const Seconds tile_cost = device.architecture->attention.step.tile_overhead;
  FIGURE(trace, tile_time, tile_cost * query_tiles / units, (Note{"Fixed cost of the query tiles", "load, drain, write", kFamilySource}),
         tile_cost, query_tiles, units);
  FIGURE(trace, forward_bytes, 2 * element * own_tokens * (query_width + value_width) * (query_heads + kv_heads),
         (Note{"Memory traffic, forward", "Q, K, V read, output written", kFamilySource}), element, own_tokens, query_width, value_width,
         query_heads, kv_heads);
  FIGURE(trace, forward_flops, 2 * one * pairs * (query_width + value_width), (Note{"FLOPs of the two forward GEMMs", ""}), one, pairs,
         query_width, value_width);
  FIGURE(trace, backward_flops, 5 * one * pairs * (query_width + value_width),
         (Note{"FLOPs of the five backward GEMMs", "the scores again, and four gradients"}), one, pairs, query_width, value_width);
  return {sustained_rate, exponential_time, tile_time, forward_bytes, forward_flops, backward_flops};
}

CoreTime TimeFlash(const TrainingContext& context, const AttentionWork& work, Trace& trace) {
  const Device& device = context.device();
  const AttentionTable& table = device.architecture->attention;
  const Trace::Citing citing(trace, SourceOf(device, table.step.source));
  const TrainingAttention kernel = KernelFor(context);
  if (!HasOwnAttention(context)) {
    trace.Input("forward_share", kernel.forward, "cluster.device.efficiency.attention_forward");
    trace.Input("backward_share", kernel.backward, "cluster.device.efficiency.attention_backward");
  }
  const auto [sustained_rate, exponential_time, tile_time, forward_bytes, forward_flops, backward_flops] =
      FlashTermsOf(context, work, kernel, trace);
  const FrameworkCompute& compute = context.framework().compute;
  const double rounds = context.shape.context, forward_share = kernel.forward, backward_share = kernel.backward;
  const BytesPerSecond stream_rate = table.bandwidth_efficiency * device.memory.bandwidth;
  // Kernels that do not skip masked tiles compute the full square; an unbalanced ring waits for its last rank.
  const double square = compute.skips_masked_tiles ? 1 : 2;
  const double unbalanced = compute.balanced_context ? 1 : (2 * rounds - 1) / rounds;
  const Seconds round_launch = table.step.launch, backward_launch = table.step.backward_launch;
  const double backward_tile = table.step.backward_tile_factor, backward_moved = table.step.backward_bytes_factor;
  FIGURE(trace, forward,
         square * norm(forward_flops / (sustained_rate * forward_share) + exponential_time + tile_time, forward_bytes / stream_rate, 2) +
             round_launch * rounds,
         (Note{"Attention core, forward", "one launch per block of a context-parallel ring", kFamilySource}), square, forward_flops,
         sustained_rate, forward_share, exponential_time, tile_time, forward_bytes, stream_rate, round_launch, rounds);
  FIGURE(trace, backward,
         unbalanced * square *
                 norm(backward_flops / (sustained_rate * backward_share) + exponential_time + backward_tile * tile_time,
                      backward_moved * forward_bytes / stream_rate, 2) +
             backward_launch * rounds,
         (Note{"Attention core, backward", "", kFamilySource}), unbalanced, square, backward_flops, sustained_rate, backward_share,
         exponential_time, backward_tile, tile_time, backward_moved, forward_bytes, stream_rate, backward_launch, rounds);
  const Bytes key_value_pass = square * work.pairs * (work.query_width + work.value_width) * ElementSize(context.matrix_precision);
  CoreTime core;
  core.forward = forward, core.backward = backward;
  core.forward_flops = square * forward_flops, core.backward_flops = square * backward_flops;
  core.forward_bytes = forward_bytes, core.backward_bytes = backward_moved * forward_bytes;
  core.forward_l2 = key_value_pass / 128 + forward_bytes, core.backward_l2 = backward_moved * core.forward_l2;
  core.forward_l1 = key_value_pass / 64 + forward_bytes, core.backward_l1 = backward_moved * core.forward_l1;
  return core;
}

CoreTime TimeRecurrence(const TrainingContext& context, const AttentionWork& work, Trace& trace) {
  // Backward over forward: the chunks' products recomputed and their gradients, as flash attention's five GEMMs for two.
  constexpr double kBackward = 2.5;
  const double inner = work.heads * work.value_width;
  const KernelTime kernel = TimeOf(
      Recurrence{*context.model.linear_attention, work.sequences * work.queries, work.queries, work.heads, work.columns - inner, inner},
      context.device(), trace);
  return {kernel.time,  kBackward * kernel.time,  kernel.flops, kBackward * kernel.flops, kernel.bytes, kBackward * kernel.bytes,
          kernel.bytes, kBackward * kernel.bytes, kernel.bytes, kBackward * kernel.bytes};
}

}  // namespace

CoreTime TimeCore(const TrainingContext& context, const AttentionWork& work, Trace& trace) {
  Trace::Scope scope(trace, "attention_core");
  if (work.is_recurrence) return TimeRecurrence(context, work, trace);
  ExplainSustainedClockDerating("sustained_clock_derating", context.device(), trace);
  if (!context.run.flash_attention) return TimeUnfused(context, work, trace);
  Trace off = Trace::Off();
  const CoreTime unfused = TimeUnfused(context, work, off);
  CoreTime flash = TimeFlash(context, work, trace);
  if (unfused.forward < flash.forward) {
    flash.forward = unfused.forward;
    flash.forward_bytes = unfused.forward_bytes;
    flash.forward_l2 = unfused.forward_l2;
    flash.forward_l1 = unfused.forward_l1;
  }
  if (unfused.backward < flash.backward) {
    flash.backward = unfused.backward;
    flash.backward_bytes = unfused.backward_bytes;
    flash.backward_l2 = unfused.backward_l2;
    flash.backward_l1 = unfused.backward_l1;
  }
  return flash;
}

}  // namespace slipstick
