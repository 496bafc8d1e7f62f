#include "core/engine_step/attention_time.h"

#include <string>
#include <utility>
#include <vector>

#include "core/engine_step/block_attention.h"
#include "core/engine_step/compressed_time.h"
#include "core/engine_step/latent_attention.h"
#include "core/engine_step/named_terms.h"
#include "core/operators/efficiency.h"
#include "core/operators/flash_slowdown.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// Attention in separate kernels (two GEMMs, softmax, passes between them): masked scores are computed too.
KernelTime UnfusedPrefill(const Deployment& deployment, double sequences, double tokens, double cached, Trace& trace) {
  const double rank_heads = deployment.shapes.widths.heads, head_dim = deployment.shapes.head_dim;
  const EngineKernels& kernels = deployment.engine.kernels;
  const double unfused_matrix = kernels.unfused_gemm_efficiency, unfused_stream = kernels.unfused_bandwidth_efficiency;
  const Bytes score = kernels.unfused_score_bytes;
  trace.Input("unfused_matrix", unfused_matrix, "serving.engine.unfused_matrix");
  trace.Input("unfused_stream", unfused_stream, "serving.engine.unfused_stream");
  trace.Input("score", score, "serving.engine.unfused_score");
  const Trace::Citing citing(trace, SourceInPlace(deployment.device));
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("head_dim", head_dim, "model.head_dim");
  const FlopsPerSecond peak_rate = PeakRate(deployment.device, Precision::kFp16, trace);
  const BytesPerSecond l2_rate = L2Rate(deployment.device, trace);
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const Bytes l2_capacity = L2Capacity(deployment.device, trace);
  FIGURE(trace, scores, sequences * rank_heads * tokens * (tokens + cached),
         (Note{"Scores", "every query against every key"}), sequences, rank_heads, tokens, cached);
  FIGURE(trace, score_bytes, score * scores, (Note{"Score traffic", "of all passes"}), score, scores);
  FIGURE(trace, missed, score_bytes / (score_bytes + 0.5 * l2_capacity),
         (Note{"Fraction of the score traffic that goes to memory", "the rest stays in L2"}), score_bytes, l2_capacity);
  FIGURE(trace, flops, 4 * kFlop * scores * head_dim, (Note{"FLOPs", "of two GEMMs"}), scores, head_dim);
  trace.Alias("bytes", score_bytes, "score_bytes");
  FIGURE(trace, product_time, flops / (unfused_matrix * peak_rate), (Note{"Two GEMMs per layer"}), flops,
         unfused_matrix, peak_rate);
  FIGURE(trace, score_time, score_bytes * missed / (unfused_stream * bandwidth) + score_bytes * (1 - missed) / l2_rate,
         (Note{"Passes over the scores", ""}), score_bytes, missed, unfused_stream, bandwidth, l2_rate);
  FIGURE(trace, time, 4 * launch + product_time + score_time,
         (Note{"Unfused attention", "four kernels; fitted to NVIDIA/FasterTransformer docs/gpt_guide.md"}), launch,
         product_time, score_time);
  return {time, product_time, score_time, product_time > score_time ? Bound::kCompute : data.bound, flops, score_bytes};
}

// Heads of a layer, with a sliding window or without; binds kv_heads and head_dim.
Attention HeadsOf(const Deployment& deployment, AttentionPhase phase, double window, Trace& trace) {
  Attention attention;
  attention.phase = phase;
  attention.window = phase == AttentionPhase::kPrefill ? window : 0;
  const RankShapes& shapes = deployment.shapes;
  const bool decode = phase == AttentionPhase::kDecode, is_local = window > 0;
  attention.heads = decode ? shapes.decode_heads : shapes.widths.heads;
  if (is_local) {
    attention.kv_heads = decode ? shapes.decode_window_kv_heads : shapes.widths.window_kv_heads;
    trace.Alias("kv_heads", attention.kv_heads, decode ? "decode_window_kv_heads" : "rank_window_kv_heads");
  } else {
    attention.kv_heads = decode ? shapes.decode_kv_heads : shapes.widths.kv_heads;
    trace.Alias("kv_heads", attention.kv_heads, decode ? "decode_kv_heads" : "rank_kv_heads");
  }
  attention.head_dim = is_local ? shapes.window_head_dim : shapes.head_dim;
  BindHeadDim("head_dim", attention.head_dim, is_local, trace);
  attention.kv_precision = deployment.formats.kv_cache;
  if (phase == AttentionPhase::kPrefill && deployment.engine.kernels.fp8_attention &&
      IsEightBitFloat(deployment.formats.kv_cache))
    attention.precision = deployment.formats.kv_cache;
  attention.library = deployment.engine.kernels.attention;
  attention.cold = decode;
  return attention;
}

// Sizes of the KV cache's elements, and of those that kernels compute with: in 16 bit, or as the KV cache is stored
// where that is narrow.
void BindKvCache(const Deployment& deployment, Trace& trace) {
  const Bytes kv_element = ElementSize(deployment.formats.kv_cache), wide_element = 2 * kB;
  BindSize("kv_element", kv_element, false, "serving.precision.kv_cache", trace);
  BindSize("row_element", wide_element, true, "", trace);
  if (kv_element < wide_element) BindSize("row_element", kv_element, false, "serving.precision.kv_cache", trace);
}

}  // namespace

KernelTime PrefillAttention(const Deployment& deployment, double sequences, double tokens, double cached, double window,
                            Trace& trace) {
  if (!deployment.model.mla && !deployment.model.compressed &&
      deployment.engine.kernels.attention == AttentionLibrary::kUnfused)
    return UnfusedPrefill(deployment, sequences, tokens, cached, trace);
  BindKvCache(deployment, trace);
  trace.Alias("batch", sequences, "sequences");
  const double prefill_cp = deployment.mapping.prefill_cp;
  FIGURE(trace, q_len, tokens / prefill_cp,
         (Note{"Queries of a prompt on one device", "context parallelism splits them"}), tokens, prefill_cp);
  // A rank has early and late parts of the prompt, so that each has the same work: its queries see as many keys as
  // those of the whole.
  FIGURE(trace, kv_len, cached + (tokens + q_len) / 2,
         (Note{"Keys of a prompt",
               "with those in the KV cache; under context parallelism, such that the mean query sees as many"}),
         cached, tokens, q_len);
  trace.Alias("heads", deployment.shapes.widths.heads, "rank_heads");
  if (deployment.model.compressed)
    return CompressedAttentionTime(deployment, AttentionPhase::kPrefill, sequences, q_len, kv_len, trace);
  if (deployment.model.mla) {
    LatentAttention mla = LatentOf(deployment, AttentionPhase::kPrefill);
    mla.batch = sequences;
    mla.q_len = q_len;
    mla.kv_len = kv_len;
    const KernelTime dense = TimeOf(mla, deployment.device, trace);
    return deployment.model.indexer ? SparsePrefill(deployment, mla, dense, trace) : dense;
  }
  Attention attention = HeadsOf(deployment, AttentionPhase::kPrefill, window, trace);
  trace.Input("window", window, "model.sliding_window");
  attention.batch = sequences;
  attention.q_len = q_len;
  attention.kv_len = kv_len;
  if (deployment.model.indexer && window <= 0) return BlockAttention(deployment, attention, q_len, trace);
  KernelTime kernel = TimeOf(attention, deployment.device, trace);
  if (!deployment.engine.kernels.flash_version) return kernel;
  const double slowdown = FlashSlowdown(*deployment.engine.kernels.flash_version, attention, deployment.device);
  const Seconds own_time = kernel.time;
  trace.Alias("own_time", own_time, "time");
  trace.Input("slowdown", slowdown, "serving.engine.flash_version");
  FIGURE(trace, version_time, slowdown * own_time,
         (Note{"Attention by the stated FlashAttention", "its time over the fastest kernel's"}), slowdown, own_time);
  trace.Alias("time", version_time, "version_time");
  kernel.time = version_time;
  kernel.compute *= slowdown;
  return kernel;
}

namespace {

// Keys on this rank that a query of a decode step sees: context parallelism splits them.
double KeysOf(const Deployment& deployment, double context, double window, Trace& trace) {
  const double context_ranks = deployment.mapping.context_ranks;
  constexpr Note kNote{"Keys of a sequence on one device", "at least one; context parallelism splits them"};
  if (window > 0) {
    trace.Input("window", window, "model.sliding_window");
    FIGURE(trace, kv_len, max(1.0, min(context, window) / context_ranks), kNote, context, window, context_ranks);
    return kv_len;
  }
  FIGURE(trace, kv_len, max(1.0, context / context_ranks), kNote, context, context_ranks);
  return kv_len;
}

// No GQA kernel for so few query heads per KV head: every query head reads the KV cache itself, 20 elements per clock
// and SM.
void ReadByHead(const Deployment& deployment, double sequences, double kv_len, double head_dim, KernelTime& kernel,
                Trace& trace) {
  const double decode_heads = deployment.shapes.decode_heads;
  const double units = static_cast<double>(deployment.device.units);
  const Hertz clock = deployment.device.clock;
  const Seconds shared_read = kernel.time, work = max(kernel.memory, kernel.compute, kernel.l2, kernel.l1);
  trace.Alias("shared_read", shared_read, "time");
  trace.Alias("work", work, "bounded_time");
  FIGURE(trace, read_by_head, 2 * sequences * kv_len * decode_heads * head_dim / (20 * units * clock),
         (Note{"KV-cache reads of every query head", "from L2, 20 elements per clock and SM"}), sequences, kv_len,
         decode_heads, head_dim, units, clock);
  FIGURE(trace, attention_time, shared_read - work + max(work, read_by_head),
         (Note{"Attention without a GQA kernel", "every query head reads the KV cache itself"}), shared_read, work,
         read_by_head);
  trace.Alias("time", attention_time, "attention_time");
  kernel.time = attention_time;
  kernel.memory = max(kernel.memory, read_by_head);
}

}  // namespace

KernelTime DecodeAttention(const Deployment& deployment, double sequences, double context, double checked,
                           double window, Trace& trace) {
  const double decode_heads = deployment.shapes.decode_heads, q_len = 1;
  CONSTANTS(trace, "serving.decode_attention", "drafts count as further rows, not as a longer query", q_len);
  BindKvCache(deployment, trace);
  if (deployment.model.compressed) {
    trace.Alias("batch", sequences, "sequences");
    trace.Alias("q_len", checked, "checked");
    const double kv_len = KeysOf(deployment, context, 0, trace);
    return CompressedAttentionTime(deployment, AttentionPhase::kDecode, sequences, checked, kv_len, trace);
  }
  if (deployment.model.mla) {
    LatentAttention mla = LatentOf(deployment, AttentionPhase::kDecode);
    trace.Alias("heads", mla.heads, "decode_heads");
    FIGURE(trace, batch, sequences * checked, (Note{"Queries of the step", "per head"}), sequences, checked);
    mla.batch = batch;
    mla.q_len = q_len;
    mla.kv_len = KeysOf(deployment, context, 0, trace);
    if (deployment.model.indexer) {
      trace.Alias("batch", sequences, "sequences");
      trace.Alias("q_len", checked, "checked");
      return SparseTime(deployment, AttentionPhase::kDecode, sequences, checked, mla.kv_len, trace).all;
    }
    return TimeOf(mla, deployment.device, trace);
  }
  Attention attention = HeadsOf(deployment, AttentionPhase::kDecode, window, trace);
  trace.Alias("batch", sequences, "sequences");
  attention.batch = sequences;
  attention.kv_len = KeysOf(deployment, context, window, trace);
  // Draft tokens are further query rows over the same KV cache.
  FIGURE(trace, heads, decode_heads * checked,
         (Note{"Query rows per token of the KV cache", "heads, times the tokens that are verified"}), decode_heads,
         checked);
  attention.heads = heads;
  if (deployment.model.indexer && window <= 0) return BlockAttention(deployment, attention, checked, trace);
  KernelTime kernel = TimeOf(attention, deployment.device, trace);
  const bool is_local = window > 0;
  const auto model_heads = static_cast<double>(deployment.model.heads),
             model_kv_heads =
                 static_cast<double>(is_local ? deployment.model.WindowKvHeads() : deployment.model.KvHeads()),
             multi_query_from = static_cast<double>(deployment.engine.kernels.multi_query_from);
  if (model_heads <= model_kv_heads || multi_query_from <= 1) return kernel;
  trace.Input("model_heads", model_heads, "model.heads");
  is_local ? trace.Alias("model_kv_heads", model_kv_heads, "window_kv_heads")
           : trace.Input("model_kv_heads", model_kv_heads, "model.kv_heads");
  FIGURE(trace, group, model_heads / model_kv_heads, (Note{"Query heads per KV head", ""}), model_heads,
         model_kv_heads);
  const bool apart = group < multi_query_from;
  if (apart) ReadByHead(deployment, sequences, attention.kv_len, attention.head_dim, kernel, trace);
  if (trace.on()) {
    const std::vector<std::pair<std::string, double>> among{
        {"every query head by itself: query heads per KV head", group}, {"a GQA kernel: from", multi_query_from}};
    const Seconds attention_time = kernel.time;
    trace.Alias("attention_time", attention_time, "time");
    trace.Choice("time", attention_time,
                 Note{"Attention of the engine", "its GQA kernel needs several query heads per KV head"}, among,
                 apart ? 0 : 1, "attention_time, group, multi_query_from", attention_time, group, multi_query_from);
    trace.MovesBy(0, 1);
  }
  return kernel;
}

KernelTime PrefillRecurrence(const Deployment& deployment, double sequences, double tokens, Trace& trace) {
  const LayerWidths& widths = deployment.shapes.widths;
  Recurrence recurrence = RecurrenceOf(*deployment.model.linear_attention, trace);
  recurrence.rows = sequences * tokens, recurrence.tokens = tokens;
  recurrence.heads = widths.recurrent_heads;
  recurrence.columns = widths.recurrent_columns, recurrence.inner = widths.recurrent_inner;
  return TimeOf(recurrence, deployment.device, trace);
}

KernelTime DecodeRecurrence(const Deployment& deployment, double sequences, double checked, Trace& trace) {
  const double state_share = deployment.shapes.state_share, state_elements = deployment.shapes.state_elements;
  const Bytes state_element = ElementSize(deployment.load.precision.state);
  trace.Input("state_element", state_element, "serving.precision.state");
  FIGURE(trace, elements, state_share * state_elements, (Note{"Elements of a layer's state on one device", ""}),
         state_share, state_elements);
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const Stream data = SlowestStream(deployment.device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const double bandwidth_efficiency = *deployment.device.efficiency.bandwidth_efficiency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("bandwidth_efficiency", bandwidth_efficiency, "cluster.device.efficiency.stream");
  FIGURE(trace, state_bytes, 2 * sequences * elements * state_element,
         (Note{"State traffic", "every sequence's state is read and written, whatever its length"}), sequences,
         elements, state_element);
  FIGURE(trace, recurrence, 2 * launch + state_bytes / (bandwidth * bandwidth_efficiency),
         (Note{"Recurrence per layer", "two memory-bound kernels, convolution and state; estimate"}), launch,
         state_bytes, bandwidth, bandwidth_efficiency);
  KernelTime kernel;
  kernel.time = recurrence;
  kernel.memory = state_bytes / (bandwidth * bandwidth_efficiency);
  FIGURE(trace, flops, 6 * kFlop * sequences * checked * elements,
         (Note{"FLOPs", "six per element of the state and token"}), sequences, checked, elements);
  trace.Alias("bytes", state_bytes, "state_bytes");
  kernel.flops = flops;
  kernel.bytes = state_bytes;
  kernel.bound = 4 * launch > recurrence ? Bound::kLatency : data.bound;
  return kernel;
}

KernelTime MeanDecodeAttention(const Deployment& deployment, double sequences, double context, double grown,
                               double checked, double window, Trace& trace) {
  KernelTime kernel = DecodeAttention(deployment, sequences, context, checked, window, trace);
  if (grown <= 0) return kernel;
  trace.Alias("middle_time", kernel.time, "time");
  trace.Alias("middle_flops", kernel.flops, "flops");
  trace.Alias("middle_bytes", kernel.bytes, "bytes");
  const auto at = [&](std::string_view name, std::string_view time_is, std::string_view flops_are,
                      std::string_view bytes_are, const auto& context_there) {
    const KernelTime there = [&] {
      const Trace::Scope scope(trace, name);
      return DecodeAttention(deployment, sequences, context_there(), checked, window, trace);
    }();
    trace.Alias(time_is, there.time, "time");
    trace.Alias(flops_are, there.flops, "flops");
    trace.Alias(bytes_are, there.bytes, "bytes");
    return there;
  };
  const double mean_context = context;
  trace.Alias("mean_context", mean_context, "context");
  const KernelTime first = at("first", "first_time", "first_flops", "first_bytes", [&] {
    FIGURE(trace, first_context, mean_context - grown / 2, (Note{"Context of the first output token", ""}),
           mean_context, grown);
    trace.Alias("context", first_context, "first_context");
    return first_context;
  });
  const KernelTime last = at("last", "last_time", "last_flops", "last_bytes", [&] {
    FIGURE(trace, last_context, mean_context + grown / 2, (Note{"Context of the last output token", ""}), mean_context,
           grown);
    trace.Alias("context", last_context, "last_context");
    return last_context;
  });
  const Seconds middle_time = kernel.time, first_time = first.time, last_time = last.time;
  FIGURE(trace, mean_attention, (first_time + 4 * middle_time + last_time) / 6,
         (Note{"Mean over the output tokens", "Simpson's rule over the growing context"}), first_time, middle_time,
         last_time);
  const Flops middle_flops = kernel.flops, first_flops = first.flops, last_flops = last.flops;
  const Bytes middle_bytes = kernel.bytes, first_bytes = first.bytes, last_bytes = last.bytes;
  FIGURE(trace, mean_flops, (first_flops + 4 * middle_flops + last_flops) / 6,
         (Note{"FLOPs, mean over the output tokens", ""}), first_flops, middle_flops, last_flops);
  FIGURE(trace, mean_bytes, (first_bytes + 4 * middle_bytes + last_bytes) / 6,
         (Note{"Memory traffic, mean over the output tokens", ""}), first_bytes, middle_bytes, last_bytes);
  trace.Alias("flops", mean_flops, "mean_flops");
  trace.Alias("bytes", mean_bytes, "mean_bytes");
  kernel.time = mean_attention;
  kernel.flops = mean_flops;
  kernel.bytes = mean_bytes;
  return kernel;
}

}  // namespace slipstick
