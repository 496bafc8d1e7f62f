#include "core/serving/attention_time.h"

#include "core/operators/attention.h"
#include "core/operators/efficiency.h"
#include "core/operators/recurrence.h"

namespace slipstick {
namespace {

// Attention in separate kernels (two GEMMs, softmax, passes between them): masked scores are computed too.
KernelTime UnfusedPrefill(const Deployment& deployment, double sequences, double tokens, double cached, Trace& trace) {
  const double heads = deployment.shapes.widths.heads, head_dim = deployment.shapes.head_dim;
  const Flops pair = 4 * kFlop;
  const Bytes score = 20.0 * kB;
  const Trace::Citing citing(trace, SourceInPlace(deployment.device));
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  const FlopsPerSecond peak = PeakRate(deployment.device, Precision::kFp16);
  const BytesPerSecond bandwidth = deployment.device.memory.bandwidth, l2_rate = L2Rate(deployment.device);
  const Bytes l2_capacity = L2Capacity(deployment.device);
  FIGURE(trace, scores, sequences * heads * tokens * (tokens + cached), (Note{"Scores", "every query against every key"}), sequences, heads,
         tokens, cached);
  FIGURE(trace, score_bytes, score * scores, (Note{"Score traffic", "ten 16-bit passes"}), score, scores);
  FIGURE(trace, missed, score_bytes / (score_bytes + 0.5 * l2_capacity),
         (Note{"Fraction of the score traffic that goes to memory", "the rest stays in L2"}), score_bytes, l2_capacity);
  FIGURE(trace, product_time, pair * scores * head_dim / (0.6 * peak), (Note{"Two GEMMs per layer", "at 0.6 of the dense peak"}), pair,
         scores, head_dim, peak);
  FIGURE(trace, score_time, score_bytes * missed / (0.8 * bandwidth) + score_bytes * (1 - missed) / l2_rate,
         (Note{"Passes over the scores", ""}), score_bytes, missed, bandwidth, l2_rate);
  FIGURE(trace, time, 4 * launch + product_time + score_time,
         (Note{"Unfused attention", "four kernels; fitted to NVIDIA/FasterTransformer docs/gpt_guide.md"}), launch, product_time,
         score_time);
  return {time,       product_time, score_time, product_time > score_time ? Bound::kCompute : Bound::kMemory, pair * scores * head_dim,
          score_bytes};
}

LatentAttention LatentOf(const Deployment& deployment, AttentionPhase phase) {
  LatentAttention mla;
  mla.phase = phase;
  mla.heads = phase == AttentionPhase::kDecode ? deployment.shapes.decode_heads : deployment.shapes.widths.heads;
  mla.kv_lora_rank = static_cast<double>(deployment.model.mla->kv_lora_rank);
  mla.rope_head_dim = static_cast<double>(deployment.model.mla->rope_head_dim);
  mla.nope_head_dim = static_cast<double>(deployment.model.mla->nope_head_dim);
  mla.value_head_dim = static_cast<double>(deployment.model.mla->value_head_dim);
  mla.precision = IsEightBitFloat(deployment.formats.kv_cache) ? deployment.formats.kv_cache : Precision::kBf16;
  mla.kv_precision = deployment.formats.kv_cache;
  mla.library = deployment.engine.kernels.attention;
  return mla;
}

Attention HeadsOf(const Deployment& deployment, AttentionPhase phase) {
  Attention attention;
  attention.phase = phase;
  const bool decode = phase == AttentionPhase::kDecode;
  attention.heads = decode ? deployment.shapes.decode_heads : deployment.shapes.widths.heads;
  attention.kv_heads = decode ? deployment.shapes.decode_kv_heads : deployment.shapes.widths.kv_heads;
  attention.head_dim = deployment.shapes.head_dim;
  attention.kv_precision = deployment.formats.kv_cache;
  if (phase == AttentionPhase::kPrefill && deployment.engine.kernels.fp8_attention && IsEightBitFloat(deployment.formats.kv_cache))
    attention.precision = deployment.formats.kv_cache;
  attention.library = deployment.engine.kernels.attention;
  attention.cold = decode;
  return attention;
}

}  // namespace

KernelTime PrefillAttention(const Deployment& deployment, double sequences, double tokens, double cached, double window, Trace& trace) {
  if (deployment.model.mla) {
    LatentAttention mla = LatentOf(deployment, AttentionPhase::kPrefill);
    mla.batch = sequences;
    mla.q_len = tokens;
    mla.kv_len = tokens + cached;
    return TimeOf(mla, deployment.device, trace);
  }
  if (deployment.engine.kernels.attention == AttentionLibrary::kUnfused)
    return UnfusedPrefill(deployment, sequences, tokens, cached, trace);
  Attention attention = HeadsOf(deployment, AttentionPhase::kPrefill);
  attention.batch = sequences;
  attention.q_len = tokens;
  attention.kv_len = tokens + cached;
  attention.window = window;
  return TimeOf(attention, deployment.device, trace);
}

KernelTime DecodeAttention(const Deployment& deployment, double sequences, double context, double checked, double window, Trace& trace) {
  if (deployment.model.mla) {
    LatentAttention mla = LatentOf(deployment, AttentionPhase::kDecode);
    mla.batch = sequences * checked;
    mla.q_len = 1;
    mla.kv_len = max(1.0, context / deployment.mapping.cp);
    return TimeOf(mla, deployment.device, trace);
  }
  Attention attention = HeadsOf(deployment, AttentionPhase::kDecode);
  attention.batch = sequences;
  attention.kv_len = max(1.0, (window > 0 ? min(context, window) : context) / deployment.mapping.cp);
  // Draft tokens are further query rows over the same KV cache.
  attention.heads = deployment.shapes.decode_heads * checked;
  KernelTime kernel = TimeOf(attention, deployment.device, trace);
  const double group = static_cast<double>(deployment.model.heads) / static_cast<double>(deployment.model.KvHeads());
  if (group > 1 && group < static_cast<double>(deployment.engine.kernels.multi_query_from)) {
    // No GQA kernel for so few query heads per KV head: every query head reads the KV cache itself, 20 elements per clock and SM.
    const double heads = deployment.shapes.decode_heads, head_dim = deployment.shapes.head_dim;
    const double units = static_cast<double>(deployment.device.units);
    const Hertz clock = deployment.device.clock;
    const double length = attention.kv_len;
    const Seconds shared_read = kernel.time, work = max(kernel.memory, kernel.compute);
    FIGURE(trace, read_by_head, 2 * sequences * length * heads * head_dim / (20 * units * clock),
           (Note{"KV-cache reads of every query head", "from L2, 20 elements per clock and SM"}), sequences, length, heads, head_dim, units,
           clock);
    FIGURE(trace, attention_time, shared_read - work + max(work, read_by_head),
           (Note{"Attention without a GQA kernel", "every query head reads the KV cache itself"}), shared_read, work, read_by_head);
    kernel.time = attention_time;
    kernel.memory = max(kernel.memory, read_by_head);
  }
  return kernel;
}

KernelTime PrefillRecurrence(const Deployment& deployment, double sequences, double tokens, Trace& trace) {
  const LayerWidths& widths = deployment.shapes.widths;
  return TimeOf(Recurrence{*deployment.model.linear_attention, sequences * tokens, tokens, widths.recurrent_heads, widths.recurrent_columns,
                           widths.recurrent_inner},
                deployment.device, trace);
}

KernelTime DecodeRecurrence(const Deployment& deployment, double sequences, double checked, Trace& trace) {
  const double share = deployment.shapes.widths.recurrent_inner / static_cast<double>(deployment.model.linear_attention->Inner());
  const double elements = share * static_cast<double>(deployment.model.linear_attention->StateElements());
  const Bytes element = ElementSize(deployment.load.precision.state);
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const BytesPerSecond bandwidth = deployment.device.memory.bandwidth;
  const double bandwidth_efficiency = *deployment.device.efficiency.bandwidth_efficiency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("bandwidth_efficiency", bandwidth_efficiency, "cluster.device.efficiency.stream");
  FIGURE(trace, state_bytes, 2 * sequences * elements * element,
         (Note{"State traffic", "every sequence's state is read and written, whatever its length"}), sequences, elements, element);
  FIGURE(trace, recurrence, 2 * launch + state_bytes / (bandwidth * bandwidth_efficiency),
         (Note{"Recurrence per layer", "two memory-bound kernels, convolution and state; estimate"}), launch, state_bytes, bandwidth,
         bandwidth_efficiency);
  KernelTime kernel;
  kernel.time = recurrence;
  kernel.memory = state_bytes / (bandwidth * bandwidth_efficiency);
  kernel.flops = 6 * kFlop * sequences * checked * elements;
  kernel.bytes = state_bytes;
  kernel.bound = 4 * launch > recurrence ? Bound::kLatency : Bound::kMemory;
  return kernel;
}

KernelTime MeanDecodeAttention(const Deployment& deployment, double sequences, double context, double grown, double checked, double window,
                               Trace& trace) {
  KernelTime kernel = DecodeAttention(deployment, sequences, context, checked, window, trace);
  if (grown <= 0) return kernel;
  Trace off = Trace::Off();
  const KernelTime first = DecodeAttention(deployment, sequences, context - grown / 2, checked, window, off);
  const KernelTime last = DecodeAttention(deployment, sequences, context + grown / 2, checked, window, off);
  const Seconds middle_time = kernel.time, first_time = first.time, last_time = last.time;
  FIGURE(trace, mean_attention, (first_time + 4 * middle_time + last_time) / 6,
         (Note{"Mean over the output tokens", "Simpson's rule over the growing context"}), first_time, middle_time, last_time);
  kernel.time = mean_attention;
  kernel.flops = (first.flops + 4 * kernel.flops + last.flops) / 6;
  kernel.bytes = (first.bytes + 4 * kernel.bytes + last.bytes) / 6;
  return kernel;
}

}  // namespace slipstick
