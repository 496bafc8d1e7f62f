#include "core/engine_step/compressed_time.h"

#include <string>

#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

constexpr std::string_view kV4Source =
    "DeepSeek-V4: huggingface/transformers, models/deepseek_v4/modular_deepseek_v4.py at 02356fe";

// A kind of layer: entries of `ratio` tokens, of which a query sees at most `top_k`; `index_share`: whether it scores
// and selects.
struct KindOfLayer {
  const char* name;
  double ratio;
  const char* ratio_is;
  double index_share, top_k;
};

// Binds its time, flops and bytes under its name.
KernelTime KindTime(const Deployment& deployment, SparseAttention attention, const KindOfLayer& kind, Trace& trace) {
  const std::string name = kind.name;
  const KernelTime kernel = [&] {
    const Trace::Scope scope(trace, name);
    attention.ratio = kind.ratio, attention.top_k = kind.top_k, attention.index_share = kind.index_share;
    trace.Input("ratio", kind.ratio, std::string("model.compressed.") + kind.ratio_is);
    trace.Input("index_share", kind.index_share, "model.indexer.layers");
    if (kind.index_share > 0) {
      trace.Input("top_k", kind.top_k, "model.indexer.top_k");
    } else if (kind.top_k > 0) {
      trace.Alias("top_k", kind.top_k, "kv_len");
    } else {
      trace.Input("top_k", kind.top_k, "model.compressed.heavy_layers");
    }
    return TimeOf(attention, deployment.device, trace).all;
  }();
  trace.Alias(name + "_time", kernel.time, "time");
  trace.Alias(name + "_flops", kernel.flops, "flops");
  trace.Alias(name + "_bytes", kernel.bytes, "bytes");
  return kernel;
}

Bytes EntryBytes(const Deployment& deployment, Trace& trace) {
  const auto head_dim = static_cast<double>(deployment.model.HeadDim()),
             rotary = static_cast<double>(deployment.model.compressed->rope_head_dim);
  const Bytes kv_element = ElementSize(deployment.formats.kv_cache);
  trace.Input("kv_element", kv_element, "serving.precision.kv_cache");
  trace.Input("head_dim", head_dim, "model.head_dim");
  trace.Input("rotary", rotary, "model.compressed.rope_head_dim");
  constexpr Note kNote{
      "Row of the KV cache",
      "key and value of all heads at once; in a narrow format the rotary part in 16 bit, and scales",
      "vllm/v1/attention/ops/deepseek_v4_ops/cache_utils.py: 448 bytes of fp8, 128 of bf16, 8 of scales"};
  if (!(kv_element < 2 * kB)) {
    FIGURE(trace, entry, head_dim * kv_element, kNote, head_dim, kv_element);
    return entry;
  }
  const Bytes scales = 8 * kB;
  CONSTANTS(trace, "compressed_attention", "vllm, deepseek_v4_ops/cache_utils.py: seven scales of a byte, padded",
            scales);
  FIGURE(trace, entry, (head_dim - rotary) * kv_element + 2 * kB * rotary + scales, kNote, head_dim, rotary, kv_element,
         scales);
  return entry;
}

Bytes EntryKeyBytes(const Deployment& deployment, Trace& trace) {
  const auto index_dim = static_cast<double>(deployment.model.indexer->head_dim);
  const Bytes kv_element = ElementSize(deployment.formats.kv_cache);
  trace.Input("kv_element", kv_element, "serving.precision.kv_cache");
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  constexpr Note kNote{"Key of an entry for the indexer",
                       "as the KV cache; in a narrow one in 4 bit, a scale byte for 32 numbers"};
  if (!(kv_element < 2 * kB)) {
    FIGURE(trace, key, index_dim * kv_element, kNote, index_dim, kv_element);
    return key;
  }
  FIGURE(trace, key, index_dim / 2 * kB + index_dim / 32 * kB, kNote, index_dim);
  return key;
}

}  // namespace

BytesPerToken CompressedGrowth(const Deployment& deployment, Trace& trace) {
  const auto ratio = static_cast<double>(deployment.model.compressed->ratio),
             heavy_ratio = static_cast<double>(deployment.model.compressed->heavy_ratio);
  const double index_share = IndexShare(deployment.model, trace), heavy_share = HeavyShare(deployment.model, trace);
  const Bytes entry = EntryBytes(deployment, trace), key = EntryKeyBytes(deployment, trace);
  trace.Input("ratio", ratio, "model.compressed.ratio");
  trace.Input("heavy_ratio", heavy_ratio, "model.compressed.heavy_ratio");
  FIGURE(trace, layer_growth, (index_share * (entry + key) / ratio + heavy_share * entry / heavy_ratio) / (1 * kToken),
         (Note{"KV cache of a layer and token", "entries and their keys, beside the window; mean over the layers",
               kV4Source}),
         index_share, entry, key, ratio, heavy_share, heavy_ratio);
  return layer_growth;
}

Bytes CompressedFixed(const Deployment& deployment, double held_tokens, Trace& trace) {
  const CompressedAttention& compressed = *deployment.model.compressed;
  const auto window = static_cast<double>(compressed.window), ratio = static_cast<double>(compressed.ratio),
             heavy_ratio = static_cast<double>(compressed.heavy_ratio);
  const auto head_dim = static_cast<double>(deployment.model.HeadDim()),
             index_dim = static_cast<double>(deployment.model.indexer->head_dim);
  const double index_share = IndexShare(deployment.model, trace), heavy_share = HeavyShare(deployment.model, trace);
  const Bytes entry = EntryBytes(deployment, trace);
  trace.Input("window", window, "model.compressed.window");
  trace.Input("ratio", ratio, "model.compressed.ratio");
  trace.Input("heavy_ratio", heavy_ratio, "model.compressed.heavy_ratio");
  trace.Input("head_dim", head_dim, "model.head_dim");
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  FIGURE(trace, layer_fixed,
         min(held_tokens, window) * entry + 16 * kB * index_share * ratio * (head_dim + index_dim) +
             8 * kB * heavy_share * heavy_ratio * head_dim,
         (Note{"KV cache of a layer beside its entries",
               "the window, and rows and weights in fp32 of which the next entry is made; mean over the layers",
               kV4Source}),
         held_tokens, window, entry, index_share, ratio, head_dim, index_dim, heavy_share, heavy_ratio);
  return layer_fixed;
}

KernelTime CompressedAttentionTime(const Deployment& deployment, AttentionPhase phase, double batch, double q_len,
                                   double kv_len, Trace& trace) {
  const CompressedAttention& compressed = *deployment.model.compressed;
  const Indexer& indexer = *deployment.model.indexer;
  const bool decode = phase == AttentionPhase::kDecode;
  const auto window = static_cast<double>(compressed.window);
  const double index_share = IndexShare(deployment.model, trace), heavy_share = HeavyShare(deployment.model, trace);
  SparseAttention attention;
  attention.batch = batch, attention.q_len = q_len, attention.kv_len = kv_len, attention.decode = decode;
  attention.index_heads = static_cast<double>(indexer.heads),
  attention.index_dim = static_cast<double>(indexer.head_dim);
  attention.heads = decode ? deployment.shapes.decode_heads : deployment.shapes.widths.heads;
  attention.kv_lora_rank = static_cast<double>(deployment.model.HeadDim()), attention.rope_head_dim = 0;
  attention.entry = EntryBytes(deployment, trace), attention.key = EntryKeyBytes(deployment, trace);
  attention.kv_precision = deployment.formats.kv_cache;
  trace.Input("window", window, "model.compressed.window");
  trace.Input("index_heads", attention.index_heads, "model.indexer.heads");
  trace.Alias("heads", attention.heads, decode ? "decode_heads" : "rank_heads");
  trace.Alias("kv_lora_rank", attention.kv_lora_rank, "head_dim");
  trace.Input("rope_head_dim", 0.0, "model.compressed");
  FIGURE(trace, always, min(kv_len, window), (Note{"Tokens that every query sees uncompressed"}), kv_len, window);
  attention.always = always;
  const auto ratio = static_cast<double>(compressed.ratio), heavy_ratio = static_cast<double>(compressed.heavy_ratio);
  const KernelTime selecting =
      KindTime(deployment, attention, {"selecting", ratio, "ratio", 1, static_cast<double>(indexer.top_k)}, trace);
  const KernelTime heavy = KindTime(deployment, attention, {"heavy", heavy_ratio, "heavy_ratio", 0, kv_len}, trace);
  const KernelTime local = KindTime(deployment, attention, {"local", ratio, "ratio", 0, 0}, trace);
  const Seconds selecting_time = selecting.time, heavy_time = heavy.time, local_time = local.time;
  const Flops selecting_flops = selecting.flops, heavy_flops = heavy.flops, local_flops = local.flops;
  const Bytes selecting_bytes = selecting.bytes, heavy_bytes = heavy.bytes, local_bytes = local.bytes;
  FIGURE(trace, local_share, 1 - index_share - heavy_share, (Note{"Share of the layers that see the window alone"}),
         index_share, heavy_share);
  FIGURE(trace, time, index_share * selecting_time + heavy_share * heavy_time + local_share * local_time,
         (Note{"Attention to a compressed history",
               "mean over the layers that select entries, see them all, or see the window alone", kV4Source}),
         index_share, selecting_time, heavy_share, heavy_time, local_share, local_time);
  FIGURE(trace, flops, index_share * selecting_flops + heavy_share * heavy_flops + local_share * local_flops,
         (Note{"FLOPs of attention to a compressed history", "mean over the layers"}), index_share, selecting_flops,
         heavy_share, heavy_flops, local_share, local_flops);
  FIGURE(trace, bytes, index_share * selecting_bytes + heavy_share * heavy_bytes + local_share * local_bytes,
         (Note{"Memory traffic of attention to a compressed history", "mean over the layers"}), index_share,
         selecting_bytes, heavy_share, heavy_bytes, local_share, local_bytes);
  const auto mean = [&](Seconds KernelTime::* part) {
    return index_share * (selecting.*part) + heavy_share * (heavy.*part) + local_share * (local.*part);
  };
  return {time,
          mean(&KernelTime::compute),
          mean(&KernelTime::memory),
          index_share > 0 ? selecting.bound : heavy.bound,
          flops,
          bytes};
}

}  // namespace slipstick
