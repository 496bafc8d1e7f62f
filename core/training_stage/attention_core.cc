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
  const Bytes operands = scores * width * element;  // of two GEMMs, with tiles of 128 x 128
  // Of so many GEMMs and a share of the passes.
  const auto pass = [&](Flops flops, double gemms, Bytes bytes) {
    const Seconds compute = flops / score_rate, passes = bytes / stream_rate;
    KernelTime kernel{
        compute + passes, compute, passes, passes > compute ? stream.bound : Bound::kCompute, flops, bytes};
    kernel.l2_bytes = bytes + 2 * gemms * operands / 128;
    kernel.l1_bytes = bytes + 2 * gemms * operands / 64;
    return kernel;
  };
  CoreTime core{pass(Figure("FLOPs of the attention core, forward", 4 * kFlop * scores * width, "two GEMMs"), 2,
                     forward_share * score_bytes),
                pass(Figure("FLOPs of the attention core, backward", 8 * kFlop * scores * width, "four GEMMs"), 4,
                     (1 - forward_share) * score_bytes)};
  core.forward.time =
      Figure("Attention core, forward", core.forward.time, "two GEMMs and the forward share of the passes", source);
  core.backward.time =
      Figure("Attention core, backward", core.backward.time, "four GEMMs and the rest of the passes", source);
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
  const auto pass = [&](Seconds time, Flops flops, Bytes bytes) {
    return KernelTime{time, {}, {}, kernel.bound, flops, bytes, bytes, bytes};
  };
  return {
      pass(kernel.time, kernel.flops, kernel.bytes),
      pass(Figure("Recurrence, backward", backward_work * kernel.time, "five GEMMs for two"),
           Figure("FLOPs of the recurrence, backward", backward_work * kernel.flops), backward_work * kernel.bytes)};
}

// The faster form; the FLOPs stay those of flash attention.
KernelTime FasterOf(const KernelTime& flash, const KernelTime& unfused) {
  const bool is_unfused = unfused.time < flash.time;
  KernelTime faster = is_unfused ? unfused : flash;
  faster.flops = flash.flops;
  if (flash.time.node() != nullptr)
    faster.time = Choose<Seconds>("Attention core of a layer",
                                  {{"flash attention", flash.time}, {"unfused attention", unfused.time}},
                                  is_unfused ? 1 : 0, "the faster form");
  return faster;
}

}  // namespace

CoreTime TimeCore(const TrainingContext& context, const AttentionWork& work) {
  if (work.is_recurrence) return TimeRecurrence(context, work);
  // A compressed history has fused kernels alone: separate ones would have to gather its entries.
  if (context.model.compressed) return TimeFlash(context, work);
  const CoreTime unfused = TimeUnfused(context, work);
  if (!context.run.flash_attention) return unfused;
  const CoreTime flash = TimeFlash(context, work);
  return {FasterOf(flash.forward, unfused.forward), FasterOf(flash.backward, unfused.backward)};
}

}  // namespace slipstick
