// Attention to a compressed history: shares of its kinds of layer, keys that a token sees.
#include "core/workload/layer.h"

namespace slipstick {
namespace {

constexpr Note kRankOutputs{"Outputs of the GEMM", "on one device"};
constexpr Note kRankInputs{"Inputs of the GEMM", "on one device"};

}  // namespace

double HeavyShare(const Model& model, Trace& trace) {
  const auto heavy_layers = static_cast<double>(model.compressed->heavy_layers),
             layers = static_cast<double>(model.layers);
  trace.Input("heavy_layers", heavy_layers, "model.compressed.heavy_layers");
  trace.Input("layers", layers, "model.layers");
  FIGURE(trace, heavy_share, heavy_layers / layers, (Note{"Share of the layers that see all entries"}), heavy_layers,
         layers);
  return heavy_share;
}

CompressedKeys KeysOfCompressed(const Model& model, double attended, Trace& trace) {
  const CompressedAttention& compressed = *model.compressed;
  const auto ratio = static_cast<double>(compressed.ratio), heavy_ratio = static_cast<double>(compressed.heavy_ratio),
             whole_window = static_cast<double>(compressed.window), top_k = static_cast<double>(model.indexer->top_k);
  const auto index_heads = static_cast<double>(model.indexer->heads),
             index_dim = static_cast<double>(model.indexer->head_dim), heads = static_cast<double>(model.heads),
             head_dim = static_cast<double>(model.HeadDim());
  const double index_share = IndexShare(model, trace), heavy_share = HeavyShare(model, trace);
  trace.Input("ratio", ratio, "model.compressed.ratio");
  trace.Input("heavy_ratio", heavy_ratio, "model.compressed.heavy_ratio");
  trace.Input("whole_window", whole_window, "model.compressed.window");
  trace.Input("top_k", top_k, "model.indexer.top_k");
  trace.Input("index_heads", index_heads, "model.indexer.heads");
  trace.Input("index_dim", index_dim, "model.indexer.head_dim");
  trace.Input("heads", heads, "model.heads");
  trace.Input("head_dim", head_dim, "model.head_dim");
  FIGURE(trace, score_width, index_heads * index_dim / (2 * heads * head_dim),
         (Note{"An entry's score over a key", "in multiply-adds of all heads"}), index_heads, index_dim, heads,
         head_dim);
  FIGURE(trace, seen_window, min(attended, whole_window), (Note{"Tokens of the window"}), attended, whole_window);
  FIGURE(trace, selected, min(attended / ratio, top_k), (Note{"Entries that the indexer selects"}), attended, ratio,
         top_k);
  FIGURE(
      trace, all_keys,
      seen_window + index_share * (selected + score_width * attended / ratio) + heavy_share * attended / heavy_ratio,
      (Note{"Keys of a token at the end of a document", "mean over the layers; scores of the indexer as so many keys"}),
      seen_window, index_share, selected, score_width, attended, ratio, heavy_share, heavy_ratio);
  FIGURE(trace, causal_keys,
         seen_window * (1 - seen_window / (2 * attended)) +
             index_share * (selected * (1 - selected * ratio / (2 * attended)) + score_width * attended / (2 * ratio)) +
             heavy_share * attended / (2 * heavy_ratio),
         (Note{"Keys of a token under the causal mask", "mean over a document"}), seen_window, attended, index_share,
         selected, ratio, score_width, heavy_share, heavy_ratio);
  return {all_keys, causal_keys};
}

// Every rank has all of the down projections and of the compressor; heads, and groups of them, are split.
MatrixProduct CompressedProduct(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace) {
  const CompressedAttention& compressed = *model.compressed;
  const auto hidden = static_cast<double>(model.hidden), head_dim = static_cast<double>(model.HeadDim()),
             heads = static_cast<double>(model.heads);
  const auto q_lora_rank = static_cast<double>(compressed.q_lora_rank),
             output_groups = static_cast<double>(compressed.output_groups),
             output_rank = static_cast<double>(compressed.output_rank);
  const double rank_heads = widths.heads;
  trace.Input("hidden", hidden, "model.hidden");
  trace.Input("head_dim", head_dim, "model.head_dim");
  trace.Input("heads", heads, "model.heads");
  trace.Input("q_lora_rank", q_lora_rank, "model.compressed.q_lora_rank");
  trace.Input("output_groups", output_groups, "model.compressed.output_groups");
  trace.Input("output_rank", output_rank, "model.compressed.output_rank");
  switch (id) {
    case ProductId::kQueryDown:
    case ProductId::kKeyValueDown: {
      const bool is_query = id == ProductId::kQueryDown;
      trace.Alias("outputs", is_query ? q_lora_rank : head_dim, is_query ? "q_lora_rank" : "head_dim");
      trace.Alias("inputs", hidden, "hidden");
      return {id, is_query ? q_lora_rank : head_dim, hidden};
    }
    case ProductId::kCompressor: {
      const double index_share = IndexShare(model, trace), heavy_share = HeavyShare(model, trace);
      trace.Alias("inputs", hidden, "hidden");
      FIGURE(trace, outputs, 2 * head_dim * (2 * index_share + heavy_share),
             (Note{"Outputs of the GEMM",
                   "rows and their weights, of selected entries two of each; mean over the layers"}),
             head_dim, index_share, heavy_share);
      return {id, outputs, hidden};
    }
    case ProductId::kAttentionGroups: {
      FIGURE(trace, outputs, rank_heads / heads * output_groups * output_rank, kRankOutputs, rank_heads, heads,
             output_groups, output_rank);
      FIGURE(trace, inputs, heads / output_groups * head_dim, (Note{"Inputs of the GEMM", "of a group of heads"}),
             heads, output_groups, head_dim);
      return {id, outputs, inputs};
    }
    case ProductId::kAttentionOut: {
      trace.Alias("outputs", hidden, "hidden");
      FIGURE(trace, inputs, rank_heads / heads * output_groups * output_rank, kRankInputs, rank_heads, heads,
             output_groups, output_rank);
      return {id, hidden, inputs};
    }
    default: {  // queries
      trace.Alias("inputs", q_lora_rank, "q_lora_rank");
      FIGURE(trace, outputs, rank_heads * head_dim, kRankOutputs, rank_heads, head_dim);
      return {id, outputs, q_lora_rank};
    }
  }
}

}  // namespace slipstick
