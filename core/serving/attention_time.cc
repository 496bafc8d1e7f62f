#include "core/serving/attention_time.h"

#include "core/operators/attention.h"
#include "core/operators/efficiency.h"
#include "core/operators/recurrence.h"

namespace slipstick {
namespace {

// Matrix products, a softmax and the passes between them, in kernels of their own: nothing is skipped by the mask.
KernelTime UnfusedPrefill(const Deployment& d, double sequences, double tokens, double cached, Trace& trace) {
  const double heads = d.widths.heads, head_dim = d.head_dim;
  const Flops pair = 4 * kFlop;
  const Bytes score = 20.0 * kB;
  const Trace::Citing citing(trace, SourceInPlace(d.device));
  const Seconds launch = *d.device.efficiency.launch_latency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  const FlopsPerSecond peak = PeakRate(d.device, Precision::kFp16);
  const BytesPerSecond bandwidth = d.device.memory.bandwidth, cache_rate = L2Rate(d.device);
  const Bytes last_cache = L2Capacity(d.device);
  FIGURE(trace, scores, sequences * heads * tokens * (tokens + cached), (Note{"Scores", "every query against every key"}), sequences, heads,
         tokens, cached);
  FIGURE(trace, score_bytes, score * scores, (Note{"Traffic of the scores", "ten passes of 16 bit"}), score, scores);
  FIGURE(trace, missed, score_bytes / (score_bytes + 0.5 * last_cache),
         (Note{"Share of it that goes to memory", "the rest stays in the last cache"}), score_bytes, last_cache);
  FIGURE(trace, product_time, pair * scores * head_dim / (0.6 * peak), (Note{"Two matrix products a layer", "at 0.6 of the dense peak"}),
         pair, scores, head_dim, peak);
  FIGURE(trace, score_time, score_bytes * missed / (0.8 * bandwidth) + score_bytes * (1 - missed) / cache_rate,
         (Note{"Passes over the scores", ""}), score_bytes, missed, bandwidth, cache_rate);
  FIGURE(trace, time, 4 * launch + product_time + score_time,
         (Note{"Unfused attention", "four kernels; fitted to NVIDIA/FasterTransformer docs/gpt_guide.md"}), launch, product_time,
         score_time);
  return {time,       product_time, score_time, product_time > score_time ? Bound::kCompute : Bound::kMemory, pair * scores * head_dim,
          score_bytes};
}

LatentAttention LatentOf(const Deployment& d, AttentionPhase phase) {
  LatentAttention mla;
  mla.phase = phase;
  mla.heads = phase == AttentionPhase::kDecode ? d.core_heads : d.widths.heads;
  mla.kv_lora_rank = static_cast<double>(d.model.mla->kv_lora_rank);
  mla.rope_head_dim = static_cast<double>(d.model.mla->rope_head_dim);
  mla.nope_head_dim = static_cast<double>(d.model.mla->nope_head_dim);
  mla.value_head_dim = static_cast<double>(d.model.mla->value_head_dim);
  mla.precision = IsEightBitFloat(d.cache) ? d.cache : Precision::kBf16;
  mla.kv_precision = d.cache;
  mla.library = d.engine.kernels.attention;
  return mla;
}

Attention HeadsOf(const Deployment& d, AttentionPhase phase) {
  Attention attention;
  attention.phase = phase;
  const bool decode = phase == AttentionPhase::kDecode;
  attention.heads = decode ? d.core_heads : d.widths.heads;
  attention.kv_heads = decode ? d.core_kv_heads : d.widths.kv_heads;
  attention.head_dim = d.head_dim;
  attention.kv_precision = d.cache;
  if (phase == AttentionPhase::kPrefill && d.engine.kernels.fp8_attention && IsEightBitFloat(d.cache)) attention.precision = d.cache;
  attention.library = d.engine.kernels.attention;
  attention.cold = decode;
  return attention;
}

}  // namespace

KernelTime PrefillAttention(const Deployment& d, double sequences, double tokens, double cached, double window, Trace& trace) {
  if (d.model.mla) {
    LatentAttention mla = LatentOf(d, AttentionPhase::kPrefill);
    mla.batch = sequences;
    mla.q_len = tokens;
    mla.kv_len = tokens + cached;
    return TimeOf(mla, d.device, trace);
  }
  if (d.engine.kernels.attention == AttentionLibrary::kUnfused) return UnfusedPrefill(d, sequences, tokens, cached, trace);
  Attention attention = HeadsOf(d, AttentionPhase::kPrefill);
  attention.batch = sequences;
  attention.q_len = tokens;
  attention.kv_len = tokens + cached;
  attention.window = window;
  return TimeOf(attention, d.device, trace);
}

KernelTime DecodeAttention(const Deployment& d, double sequences, double context, double checked, double window, Trace& trace) {
  if (d.model.mla) {
    LatentAttention mla = LatentOf(d, AttentionPhase::kDecode);
    mla.batch = sequences * checked;
    mla.q_len = 1;
    mla.kv_len = max(1.0, context / d.cp);
    return TimeOf(mla, d.device, trace);
  }
  Attention attention = HeadsOf(d, AttentionPhase::kDecode);
  attention.batch = sequences;
  attention.kv_len = max(1.0, (window > 0 ? min(context, window) : context) / d.cp);
  // Drafted tokens ride along as further query rows of the same cache.
  attention.heads = d.core_heads * checked;
  KernelTime kernel = TimeOf(attention, d.device, trace);
  const double group = static_cast<double>(d.model.heads) / static_cast<double>(d.model.KvHeads());
  if (group > 1 && group < static_cast<double>(d.engine.kernels.multi_query_from)) {
    // No kernel for so few query heads a KV head: each reads the cache for itself, 20 elements a clock and unit.
    const double heads = d.core_heads, head_dim = d.head_dim;
    const double units = static_cast<double>(d.device.units);
    const Hertz clock = d.device.clock;
    const double length = attention.kv_len;
    const Seconds together = kernel.time, work = max(kernel.memory, kernel.compute);
    FIGURE(trace, read_by_head, 2 * sequences * length * heads * head_dim / (20 * units * clock),
           (Note{"Time for every query head to read it", "from the last cache, 20 elements a clock and unit"}), sequences, length, heads,
           head_dim, units, clock);
    FIGURE(trace, attention_time, together - work + max(work, read_by_head),
           (Note{"Attention without a multi-query kernel", "what the heads read in place of a cache that is read once"}), together, work,
           read_by_head);
    kernel.time = attention_time;
    kernel.memory = max(kernel.memory, read_by_head);
  }
  return kernel;
}

KernelTime PrefillRecurrence(const Deployment& d, double sequences, double tokens, Trace& trace) {
  const LayerWidths& widths = d.widths;
  return TimeOf(Recurrence{*d.model.linear_attention, sequences * tokens, tokens, widths.recurrent_heads, widths.recurrent_columns,
                           widths.recurrent_inner},
                d.device, trace);
}

KernelTime DecodeRecurrence(const Deployment& d, double sequences, double checked, Trace& trace) {
  const double share = d.widths.recurrent_inner / static_cast<double>(d.model.linear_attention->Inner());
  const double elements = share * static_cast<double>(d.model.linear_attention->StateElements());
  const Bytes element = ElementSize(d.load.precision.state);
  const Seconds launch = *d.device.efficiency.launch_latency;
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  const double stream = *d.device.efficiency.bandwidth_efficiency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("stream", stream, "cluster.device.efficiency.stream");
  FIGURE(trace, state_bytes, 2 * sequences * elements * element,
         (Note{"States read and written", "of every sequence, whatever its length"}), sequences, elements, element);
  FIGURE(trace, recurrence, 2 * launch + state_bytes / (bandwidth * stream),
         (Note{"Recurrence of a layer", "convolution and state in two kernels that stream; estimate"}), launch, state_bytes, bandwidth,
         stream);
  KernelTime kernel;
  kernel.time = recurrence;
  kernel.memory = state_bytes / (bandwidth * stream);
  kernel.flops = 6 * kFlop * sequences * checked * elements;
  kernel.bytes = state_bytes;
  kernel.bound = 4 * launch > recurrence ? Bound::kLatency : Bound::kMemory;
  return kernel;
}

KernelTime MeanDecodeAttention(const Deployment& d, double sequences, double context, double grown, double checked, double window,
                               Trace& trace) {
  KernelTime kernel = DecodeAttention(d, sequences, context, checked, window, trace);
  if (grown <= 0) return kernel;
  Trace off = Trace::Off();
  const KernelTime first = DecodeAttention(d, sequences, context - grown / 2, checked, window, off);
  const KernelTime last = DecodeAttention(d, sequences, context + grown / 2, checked, window, off);
  const Seconds middle_time = kernel.time, first_time = first.time, last_time = last.time;
  FIGURE(trace, mean_attention, (first_time + 4 * middle_time + last_time) / 6,
         (Note{"Mean over the output", "Simpson's rule over the growing context"}), first_time, middle_time, last_time);
  kernel.time = mean_attention;
  kernel.flops = (first.flops + 4 * kernel.flops + last.flops) / 6;
  kernel.bytes = (first.bytes + 4 * kernel.bytes + last.bytes) / 6;
  return kernel;
}

}  // namespace slipstick
