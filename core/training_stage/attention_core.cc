#include "core/training_stage/attention_core.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"

namespace slipstick {

bool HasOwnAttention(const TrainingContext& context) {
  const std::vector<TrainingAttention>& kernels = context.framework().compute.attention;
  return std::any_of(kernels.begin(), kernels.end(), [&](const TrainingAttention& kernel) {
    return kernel.architecture == context.device().architecture;
  });
}

namespace {

// Fitted constants of the unfused form.
void BindUnfused(const Device& device, Trace& trace) {
  if (!trace.on()) return;
  const AttentionTable& table = device.architecture->attention;
  const double unfused_matrix = table.step.unfused_gemm_efficiency,
               unfused_stream = table.step.unfused_bandwidth_efficiency, forward = table.unfused.forward_fraction,
               full_width = table.step.unfused_full_width;
  const std::string_view source = SourceOf(device, table.step.unfused_source);
  CONSTANTS(trace, KernelTable(device, "attention.step"), source, unfused_matrix, unfused_stream, full_width);
  CONSTANTS(trace, KernelTable(device, "attention.unfused"), source, forward);
  trace.Alias("batched_share", unfused_matrix, "unfused_matrix");
  trace.Alias("forward_passes", forward, "forward");
}

CoreTime TimeUnfused(const TrainingContext& context, const AttentionWork& work, Trace& trace) {
  const Device& device = context.device();
  const AttentionTable& table = device.architecture->attention;
  const Trace::Citing citing(trace, SourceOf(device, table.step.unfused_source));
  const double query_width = work.query_width, value_width = work.value_width, scores = work.all_pairs;
  FIGURE(trace, head_width, (query_width + value_width) / 2, (Note{"Mean width of a head's operands"}), query_width,
         value_width);
  trace.Alias("scores", scores, "all_pairs");
  const double gemm_efficiency = *device.efficiency.gemm_efficiency,
               sustained_clock_derating = context.sustained_clock_derating;
  trace.Input("gemm_efficiency", gemm_efficiency, "cluster.device.efficiency.matrix");
  const double softmax_passes = context.framework().compute.softmax_passes;
  const FlopsPerSecond peak_rate = PeakRate(device, context.matrix_precision, trace);
  const double full_width = table.step.unfused_full_width;
  const double batched_share = table.step.unfused_gemm_efficiency, forward_passes = table.unfused.forward_fraction;
  const double unfused_stream = table.step.unfused_bandwidth_efficiency;
  const Stream stream = SlowestStream(device, trace);
  const BytesPerSecond bandwidth = stream.bandwidth;
  BindUnfused(device, trace);
  FIGURE(trace, stream_rate, unfused_stream * bandwidth,
         (Note{"Memory bandwidth of the passes over the scores", "", kFamilySource}), unfused_stream, bandwidth);
  const Bytes element = ElementSize(context.matrix_precision);
  trace.Input("element", element, "training.precision");
  FIGURE(trace, score_rate,
         batched_share * sqrt(min(1.0, head_width / full_width)) * peak_rate * gemm_efficiency /
             (1 + sustained_clock_derating),
         (Note{"Throughput of the batched GEMMs of unfused attention", "lower for small heads", kFamilySource}),
         batched_share, head_width, full_width, peak_rate, gemm_efficiency, sustained_clock_derating);
  FIGURE(trace, score_bytes, softmax_passes * element * scores,
         (Note{"Memory traffic of the scores, forward and backward",
               "mask, softmax and dropout each pass through memory", kFamilySource}),
         softmax_passes, element, scores);
  FIGURE(trace, core_forward_flops, 4 * kFlop * scores * head_width,
         (Note{"FLOPs of the attention core, forward", "two GEMMs"}), scores, head_width);
  FIGURE(trace, core_backward_flops, 8 * kFlop * scores * head_width,
         (Note{"FLOPs of the attention core, backward", "four GEMMs"}), scores, head_width);
  FIGURE(trace, forward, core_forward_flops / score_rate + forward_passes * score_bytes / stream_rate,
         (Note{"Attention core, forward", "two GEMMs and the forward share of the passes", kFamilySource}),
         core_forward_flops, score_rate, forward_passes, score_bytes, stream_rate);
  FIGURE(trace, backward, core_backward_flops / score_rate + (1 - forward_passes) * score_bytes / stream_rate,
         (Note{"Attention core, backward", "four GEMMs and the rest of the passes", kFamilySource}),
         core_backward_flops, score_rate, forward_passes, score_bytes, stream_rate);
  const Bytes operands = scores * head_width * element;  // of two GEMMs, with tiles of 128 x 128
  CoreTime core;
  core.forward = forward, core.backward = backward;
  if (forward_passes * score_bytes / stream_rate > core_forward_flops / score_rate) core.forward_bound = stream.bound;
  if ((1 - forward_passes) * score_bytes / stream_rate > core_backward_flops / score_rate)
    core.backward_bound = stream.bound;
  core.forward_flops = core_forward_flops, core.backward_flops = core_backward_flops;
  core.forward_bytes = forward_passes * score_bytes, core.backward_bytes = (1 - forward_passes) * score_bytes;
  core.forward_l2 = core.forward_bytes + 4 * operands / 128,
  core.backward_l2 = core.backward_bytes + 8 * operands / 128;
  core.forward_l1 = core.forward_bytes + 4 * operands / 64, core.backward_l1 = core.backward_bytes + 8 * operands / 64;
  return core;
}

CoreTime TimeRecurrence(const TrainingContext& context, const AttentionWork& work, Trace& trace) {
  // Backward over forward: the chunks' products recomputed and their gradients, as flash attention's five GEMMs for
  // two.
  const double backward_work = 2.5;
  const double inner = work.heads * work.value_width;
  trace.Alias("rows", work.sequences * work.queries, "tokens");
  Recurrence recurrence = RecurrenceOf(*context.model.linear_attention, trace);
  recurrence.rows = work.sequences * work.queries, recurrence.tokens = work.queries;
  recurrence.heads = work.heads, recurrence.columns = work.columns - inner, recurrence.inner = inner;
  const KernelTime kernel = TimeOf(recurrence, context.device(), trace);
  const Seconds core_forward = kernel.time;
  trace.Alias("core_forward", core_forward, "time");
  const Seconds core_backward = backward_work * core_forward;
  trace.Record("core_backward", "5 / 2 * core_forward", core_backward,
               Note{"Recurrence, backward", "five GEMMs for two"}, "core_forward", core_forward);
  const Flops core_forward_flops = kernel.flops, core_backward_flops = backward_work * kernel.flops;
  trace.Alias("core_forward_flops", core_forward_flops, "flops");
  trace.Record("core_backward_flops", "5 / 2 * core_forward_flops", core_backward_flops,
               Note{"FLOPs of the recurrence, backward"}, "core_forward_flops", core_forward_flops);
  return {kernel.time,  core_backward,
          kernel.flops, core_backward_flops,
          kernel.bytes, backward_work * kernel.bytes,
          kernel.bytes, backward_work * kernel.bytes,
          kernel.bytes, backward_work * kernel.bytes,
          kernel.bound, kernel.bound};
}

// Each pass takes the faster form; the unfused one where the sequence is short.
void ChooseCore(std::string_view symbol, Seconds flash, Seconds unfused, std::string_view figure, Trace& trace) {
  if (!trace.on()) return;
  const std::size_t place = unfused < flash ? 1 : 0;
  const std::vector<std::pair<std::string, Seconds>> among{{"flash attention", flash}, {"unfused attention", unfused}};
  trace.Alias("flash_time", flash, figure);
  trace.Choice(symbol, place == 0 ? flash : unfused,
               Note{"Attention core of a layer", "the faster form", kFamilySource}, among, place, "flash_time", flash);
  trace.MovesBy(0, place == 0 ? 1 : 0);
}

}  // namespace

CoreTime TimeCore(const TrainingContext& context, const AttentionWork& work, Trace& trace) {
  Trace::Scope scope(trace, "attention_core");
  if (work.is_recurrence) return TimeRecurrence(context, work, trace);
  if (trace.on()) SustainedClockDerating(context.device(), trace);
  // A compressed history has fused kernels alone: separate ones would have to gather its entries.
  const bool is_fused = context.model.compressed.has_value();
  if (is_fused || !context.run.flash_attention) {
    const CoreTime core = is_fused ? TimeFlash(context, work, trace) : TimeUnfused(context, work, trace);
    trace.Alias("core_forward", core.forward, "forward");
    trace.Alias("core_backward", core.backward, "backward");
    return core;
  }
  Trace off = Trace::Off();
  const CoreTime unfused = TimeUnfused(context, work, off);
  CoreTime flash = TimeFlash(context, work, trace);
  ChooseCore("core_forward", flash.forward, unfused.forward, "forward", trace);
  ChooseCore("core_backward", flash.backward, unfused.backward, "backward", trace);
  if (unfused.forward < flash.forward) {
    flash.forward = unfused.forward;
    flash.forward_bytes = unfused.forward_bytes;
    flash.forward_l2 = unfused.forward_l2;
    flash.forward_l1 = unfused.forward_l1;
    flash.forward_bound = unfused.forward_bound;
  }
  if (unfused.backward < flash.backward) {
    flash.backward = unfused.backward;
    flash.backward_bytes = unfused.backward_bytes;
    flash.backward_l2 = unfused.backward_l2;
    flash.backward_l1 = unfused.backward_l1;
    flash.backward_bound = unfused.backward_bound;
  }
  return flash;
}

}  // namespace slipstick
