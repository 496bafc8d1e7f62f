#include "core/training_stage/attention_core.h"

#include <algorithm>
#include <vector>

#include "core/base/figure.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/recurrence.h"

namespace slipstick {

bool HasOwnAttention(const TrainingContext& context) {
  const std::vector<TrainingAttention>& kernels = context.framework().compute.attention;
  return std::any_of(kernels.begin(), kernels.end(), [&](const TrainingAttention& kernel) {
    return kernel.architecture->id == context.device().architecture->id;
  });
}

namespace {

CoreTime TimeUnfused(const TrainingContext& context, const AttentionWork& work) {
  const Device& device = context.device();
  const StepCoreTable& table = device.architecture->attention.step;
  const std::string_view source = SourceOf(device, table.unfused_source);
  const Ratio scores = work.all_pairs, forward_share = device.architecture->attention.unfused.forward_fraction;
  const Ratio width = Figure("Mean width of a head's operands", (work.query_width + work.value_width) / 2);
  const Stream stream = SlowestStream(device);
  const BytesPerSecond stream_rate = Figure("Memory bandwidth of the passes over the scores",
                                            table.unfused_bandwidth_efficiency * stream.bandwidth, "", source);
  const Bytes element = ElementSize(context.matrix_precision);
  const FlopsPerSecond score_rate =
      Figure("Throughput of the batched GEMMs of unfused attention",
             table.unfused_gemm_efficiency * sqrt(min(1.0, width / table.unfused_full_width)) *
                 PeakRate(device, context.matrix_precision) * *device.efficiency.gemm_efficiency /
                 (1 + context.sustained_clock_derating),
             "lower for small heads", source);
  const Bytes score_bytes =
      Figure("Memory traffic of the scores", context.framework().compute.softmax_passes * element * scores,
             "forward and backward: mask, softmax and dropout each pass through memory", source);
  CoreTime core;
  core.forward_flops = Figure("FLOPs of the attention core, forward", 4 * kFlop * scores * width, "two GEMMs");
  core.backward_flops = Figure("FLOPs of the attention core, backward", 8 * kFlop * scores * width, "four GEMMs");
  core.forward_bytes = forward_share * score_bytes;
  core.backward_bytes = (1 - forward_share) * score_bytes;
  const Seconds forward_gemms = core.forward_flops / score_rate, backward_gemms = core.backward_flops / score_rate,
                forward_passes = core.forward_bytes / stream_rate, backward_passes = core.backward_bytes / stream_rate;
  core.forward = Figure("Attention core, forward", forward_gemms + forward_passes,
                        "two GEMMs and the forward share of the passes", source);
  core.backward = Figure("Attention core, backward", backward_gemms + backward_passes,
                         "four GEMMs and the rest of the passes", source);
  if (forward_passes > forward_gemms) core.forward_bound = stream.bound;
  if (backward_passes > backward_gemms) core.backward_bound = stream.bound;
  const Bytes operands = scores * width * element;  // of two GEMMs, with tiles of 128 x 128
  core.forward_l2 = core.forward_bytes + 4 * operands / 128;
  core.backward_l2 = core.backward_bytes + 8 * operands / 128;
  core.forward_l1 = core.forward_bytes + 4 * operands / 64;
  core.backward_l1 = core.backward_bytes + 8 * operands / 64;
  return core;
}

CoreTime TimeRecurrence(const TrainingContext& context, const AttentionWork& work) {
  // Backward over forward: the chunks' products recomputed and their gradients, as flash attention's five GEMMs for
  // two.
  const double backward_work = 2.5;
  const LinearAttention& linear = *context.model.linear_attention;
  Recurrence recurrence;
  recurrence.by_channel = linear.kind == LinearAttentionKind::kMamba;
  recurrence.head_dim = linear.head_dim, recurrence.state = linear.state;
  recurrence.rows = work.sequences * work.queries, recurrence.tokens = work.queries;
  recurrence.heads = work.heads, recurrence.inner = work.heads * work.value_width;
  recurrence.columns = work.columns - recurrence.inner;
  const KernelTime kernel = TimeOf(recurrence, context.device());
  const Seconds backward = Figure("Recurrence, backward", backward_work * kernel.time, "five GEMMs for two");
  const Flops backward_flops = Figure("FLOPs of the recurrence, backward", backward_work * kernel.flops);
  const Bytes backward_bytes = backward_work * kernel.bytes;
  return {kernel.time,  backward,       kernel.flops, backward_flops, kernel.bytes, backward_bytes,
          kernel.bytes, backward_bytes, kernel.bytes, backward_bytes, kernel.bound, kernel.bound};
}

// The faster form.
Seconds FasterOf(Seconds flash, Seconds unfused) {
  const bool is_unfused = unfused < flash;
  if (flash.node() == nullptr) return is_unfused ? unfused : flash;
  return Choose<Seconds>("Attention core of a layer", {{"flash attention", flash}, {"unfused attention", unfused}},
                         is_unfused ? 1 : 0, "the faster form");
}

}  // namespace

CoreTime TimeCore(const TrainingContext& context, const AttentionWork& work) {
  if (work.is_recurrence) return TimeRecurrence(context, work);
  // A compressed history has fused kernels alone: separate ones would have to gather its entries.
  if (context.model.compressed) return TimeFlash(context, work);
  const CoreTime unfused = TimeUnfused(context, work);
  if (!context.run.flash_attention) return unfused;
  CoreTime core = TimeFlash(context, work);
  const bool is_unfused_forward = unfused.forward < core.forward,
             is_unfused_backward = unfused.backward < core.backward;
  core.forward = FasterOf(core.forward, unfused.forward);
  core.backward = FasterOf(core.backward, unfused.backward);
  if (is_unfused_forward) {
    core.forward_bytes = unfused.forward_bytes;
    core.forward_l2 = unfused.forward_l2;
    core.forward_l1 = unfused.forward_l1;
    core.forward_bound = unfused.forward_bound;
  }
  if (is_unfused_backward) {
    core.backward_bytes = unfused.backward_bytes;
    core.backward_l2 = unfused.backward_l2;
    core.backward_l1 = unfused.backward_l1;
    core.backward_bound = unfused.backward_bound;
  }
  return core;
}

}  // namespace slipstick
