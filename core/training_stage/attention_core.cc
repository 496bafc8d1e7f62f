#include "core/training_stage/attention_core.h"

#include <optional>
#include <string_view>

#include "core/base/figure.h"
#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/recurrence.h"

namespace slipstick {

namespace {

// The framework's attention kernel for the device's architecture; null if it has none.
const TrainingAttention* OwnAttention(const TrainingContext& context) {
  for (const TrainingAttention& own : context.framework().compute.attention) {
    if (own.architecture->id == context.device().architecture->id) return &own;
  }
  return nullptr;
}

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
                 ReachedRate(device, context.matrix_precision, *device.efficiency.gemm_efficiency) /
                 (1 + context.sustained_clock_derating),
             "lower for small heads", source);
  const Bytes score_bytes =
      Figure("Memory traffic of the scores", context.framework().compute.softmax_passes * element * scores,
             "forward and backward: mask, softmax and dropout each pass through memory", source);
  const Bytes operands = scores * width * element;  // of two GEMMs, with tiles of 128 x 128
  // Time of `gemms` GEMMs and of the passes that move `bytes`.
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
  // Backward time over forward time: the backward pass recomputes the chunks' products and computes their gradients,
  // five GEMMs for two, as in flash attention.
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

// The faster of both forms, with the FLOPs of flash attention.
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

// The framework's kernel if it has one for the device's architecture, otherwise the device's.
TrainingAttention KernelFor(const TrainingContext& context) {
  const Device& device = context.device();
  if (const TrainingAttention* own = OwnAttention(context)) return *own;
  const auto reached = [&](Ratio busy) { return ReachedShare(device, context.matrix_precision, busy); };
  return {device.architecture, reached(*device.efficiency.attention_forward),
          reached(*device.efficiency.attention_backward), device.architecture->data_sheet.attention_exponentials};
}

// The terms of the flash-attention formulas. FLOPs count only scores that the causal mask leaves.
struct FlashTerms {
  FlopsPerSecond sustained_rate;
  Seconds exponential_time, tile_time;
  Bytes forward_bytes;
  Flops forward_flops, backward_flops;
};
FlashTerms FlashTermsOf(const TrainingContext& context, const AttentionWork& work, Ratio exponential,
                        std::string_view source) {
  const Device& device = context.device();
  const StepCoreTable& table = device.architecture->attention.step;
  const Ratio units = device.units, widths = work.query_width + work.value_width;
  const Ratio exponentials =
      exponential > 0 ? Figure("Exponentials per clock, over the share that is not hidden",
                               device.exponentials / exponential, "on the special-function units of one SM", source)
                      : device.exponentials;
  const Ratio unhidden =
      Figure("Whether the tensor cores leave exponentials unhidden", min(1.0, ceil(exponential)), "1 or 0");
  const Ratio query_tiles = Figure("Tiles of 128 queries", work.sequences * work.heads * work.queries / 128);
  const Ratio tokens = work.sequences * work.queries;
  FlashTerms terms;
  terms.sustained_rate =
      Figure("Dense peak at sustained power",
             PeakRate(device, context.matrix_precision) / (1 + context.sustained_clock_derating), "", source);
  terms.exponential_time = Figure("Exponentials not hidden by the tensor cores",
                                  unhidden * work.pairs / (exponentials * device.clock * units),
                                  "one per score, on the special-function units", source);
  terms.tile_time =
      Figure("Fixed cost of the query tiles", table.tile_overhead * query_tiles / units, "load, drain, write", source);
  terms.forward_bytes = Figure(
      "Memory traffic of the attention core, forward",
      table.operand_passes * ElementSize(context.matrix_precision) * tokens * widths * (work.heads + work.kv_heads),
      "Q, K, V read, output written", source);
  terms.forward_flops = Figure("FLOPs of the two forward GEMMs", 2 * kFlop * work.pairs * widths);
  terms.backward_flops = Figure("FLOPs of the five backward GEMMs", 5 * kFlop * work.pairs * widths,
                                "the scores again, and four gradients");
  return terms;
}

// The maximum of a pass's own time, `work`, and the times of the caches.
Seconds BoundByCaches(const Device& device, Seconds work, const LevelTraffic& traffic, Bound& bound) {
  const LevelTimes levels = TimesThroughCaches(traffic, device);
  const Seconds slowest = SlowestLevel(work, levels);
  if (slowest > work) bound = levels.l1 > levels.l2 ? Bound::kL1 : Bound::kL2;
  return slowest;
}

// Applies the FlashAttention version that the framework states.
void SetVersion(const TrainingContext& context, const AttentionWork& work, CoreTime& core) {
  const std::optional<FlashVersion>& version = context.framework().compute.flash_version;
  if (!version) return;
  Attention attention;
  attention.batch = work.sequences, attention.q_len = attention.kv_len = work.queries;
  attention.heads = work.heads, attention.kv_heads = work.kv_heads;
  attention.head_dim = work.query_width, attention.value_dim = work.value_width;
  attention.precision = context.matrix_precision;
  const Ratio forward_slowdown = FlashSlowdown(*version, attention, context.device());
  attention.phase = AttentionPhase::kBackward;
  const Ratio backward_slowdown = FlashSlowdown(*version, attention, context.device());
  constexpr std::string_view kTitle = "Attention core by the stated FlashAttention",
                             kNote = "its time over the fastest kernel's";
  core.forward.time = Figure(kTitle, forward_slowdown * core.forward.time, kNote);
  core.backward.time = Figure(kTitle, backward_slowdown * core.backward.time, kNote);
}

CoreTime TimeFlash(const TrainingContext& context, const AttentionWork& work) {
  const Device& device = context.device();
  const AttentionTable& table = device.architecture->attention;
  const StepCoreTable& step = table.step;
  const std::string_view source = SourceOf(device, step.source);
  const TrainingAttention kernel = KernelFor(context);
  const auto [sustained_rate, exponential_time, tile_time, forward_bytes, forward_flops, backward_flops] =
      FlashTermsOf(context, work, kernel.exponential, source);
  const FrameworkCompute& compute = context.framework().compute;
  const Ratio rounds = context.shape.context;
  const BytesPerSecond stream_rate = Figure("Memory bandwidth of the attention core",
                                            table.bandwidth_efficiency * device.memory.bandwidth, "", source);
  // Kernels that do not skip masked tiles compute the full square; an unbalanced ring waits for its last rank.
  const double square = compute.skips_masked_tiles ? 1 : 2, is_unbalanced = compute.balanced_context ? 0 : 1;
  const Ratio unbalanced =
      Figure("Wait for the last rank of the ring", (rounds + is_unbalanced * (rounds - 1)) / rounds,
             "with a causal mask it has the most to do; none in a balanced ring");
  const Seconds forward_work =
      Figure("Compute and data movement, forward",
             square * norm(forward_flops / (sustained_rate * kernel.forward) + exponential_time + tile_time,
                           forward_bytes / stream_rate, table.overlap),
             "", source);
  const Seconds backward_work =
      Figure("Compute and data movement, backward",
             unbalanced * square *
                 norm(backward_flops / (sustained_rate * kernel.backward) + exponential_time +
                          step.backward_tile_factor * tile_time,
                      step.backward_bytes_factor * forward_bytes / stream_rate, table.overlap),
             "", source);
  CoreTime core;
  core.forward.flops = Figure("FLOPs that the attention core executes, forward", square * forward_flops);
  core.backward.flops = Figure("FLOPs that the attention core executes, backward", square * backward_flops);
  core.forward.bytes = forward_bytes;
  core.backward.bytes = step.backward_bytes_factor * forward_bytes;
  // Each tile of 128 queries reads its keys and values from L2, each fragment of queries from shared memory.
  const Bytes key_value_pass =
      Figure("Keys and values, once per query",
             square * work.pairs * (work.query_width + work.value_width) * ElementSize(context.matrix_precision),
             "a tile of queries shares them");
  core.forward.l2_bytes = Figure("Traffic of the L2, forward", key_value_pass / 128 + forward_bytes,
                                 "keys and values once per 128 queries");
  core.forward.l1_bytes = Figure("Traffic of shared memory, forward",
                                 key_value_pass / min(128, device.architecture->traits.fragment_rows) + forward_bytes,
                                 "keys and values once per fragment of queries");
  core.backward.l2_bytes = step.backward_bytes_factor * core.forward.l2_bytes;
  core.backward.l1_bytes = step.backward_bytes_factor * core.forward.l1_bytes;
  const Seconds forward_bounded =
      BoundByCaches(device, forward_work, {core.forward.l2_bytes, core.forward.l1_bytes}, core.forward.bound);
  const Seconds backward_bounded =
      BoundByCaches(device, backward_work, {unbalanced * core.backward.l2_bytes, unbalanced * core.backward.l1_bytes},
                    core.backward.bound);
  core.forward.time = Figure("Attention core, forward", forward_bounded + step.launch * rounds,
                             "one launch per block of a context-parallel ring", source);
  core.backward.time = Figure("Attention core, backward", backward_bounded + step.backward_launch * rounds, "", source);
  SetVersion(context, work, core);
  return core;
}

}  // namespace

bool HasOwnAttention(const TrainingContext& context) { return OwnAttention(context) != nullptr; }

CoreTime TimeCore(const TrainingContext& context, const AttentionWork& work) {
  if (work.is_recurrence) return TimeRecurrence(context, work);
  // Only fused kernels support a compressed history: separate ones would have to gather its entries.
  if (context.model.compressed) return TimeFlash(context, work);
  const CoreTime unfused = TimeUnfused(context, work);
  if (!context.run.flash_attention) return unfused;
  const CoreTime flash = TimeFlash(context, work);
  return {FasterOf(flash.forward, unfused.forward), FasterOf(flash.backward, unfused.backward)};
}

}  // namespace slipstick
