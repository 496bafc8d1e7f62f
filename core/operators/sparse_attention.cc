#include "core/operators/sparse_attention.h"

#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Time of a kernel that computes and moves data side by side.
KernelTime TimeOfKernel(Seconds compute_time, Seconds memory_time, Flops flops, Bytes bytes, Seconds launch, Bound data,
                        const Note& note, Trace& trace) {
  LISTED_FIGURE(trace, time, launch + max(compute_time, memory_time), note, launch, compute_time, memory_time);
  KernelTime kernel{time, compute_time, memory_time, compute_time > memory_time ? Bound::kCompute : data, flops, bytes};
  if (2 * launch > time) kernel.bound = Bound::kLatency;
  return kernel;
}

// Queries with the tokens that they may see: of a causal prompt, the mean of its first and last query.
double CountPairs(const SparseAttention& attention, Trace& trace) {
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, ratio = attention.ratio;
  constexpr Note kEntries{"Scores", "of every earlier entry for every query"};
  if (ratio > 0 && attention.decode) {
    FIGURE(trace, pairs, batch * q_len * kv_len / ratio, kEntries, batch, q_len, kv_len, ratio);
    return pairs;
  }
  if (ratio > 0) {
    FIGURE(trace, pairs, batch * q_len * (kv_len - q_len + (q_len + 1) / 2) / ratio, kEntries, batch, q_len, kv_len,
           ratio);
    return pairs;
  }
  if (attention.decode) {
    FIGURE(trace, pairs, batch * q_len * kv_len, (Note{"Scores", "of every token for every query"}), batch, q_len,
           kv_len);
    return pairs;
  }
  FIGURE(trace, pairs, batch * q_len * (kv_len - q_len + (q_len + 1) / 2),
         (Note{"Scores", "of every earlier token for every query"}), batch, q_len, kv_len);
  return pairs;
}

// The same for entries of several tokens, with the tokens that every query attends to besides.
double CountEntries(const SparseAttention& attention, Trace& trace) {
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, top_k = attention.top_k,
               ratio = attention.ratio, always = attention.always;
  constexpr Note kNote{"Rows that are attended to", "tokens of the window and entries, of all queries"};
  if (attention.decode) {
    FIGURE(trace, selected, batch * q_len * (min(kv_len / ratio, top_k) + always), kNote, batch, q_len, kv_len, ratio,
           top_k, always);
    return selected;
  }
  FIGURE(trace, short_queries, min(q_len, max(0.0, top_k * ratio - (kv_len - q_len))),
         (Note{"Queries that see no more entries than are selected", "of a sequence"}), q_len, top_k, ratio, kv_len);
  FIGURE(trace, selected,
         batch * (short_queries * (kv_len - q_len + (short_queries + 1) / 2) / ratio + (q_len - short_queries) * top_k +
                  q_len * always),
         kNote, batch, short_queries, kv_len, q_len, ratio, top_k, always);
  return selected;
}

// Queries with the tokens that they attend to: as many as there are, up to top_k.
double CountSelected(const SparseAttention& attention, Trace& trace) {
  if (attention.ratio > 0) return CountEntries(attention, trace);
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, top_k = attention.top_k;
  if (attention.decode) {
    FIGURE(trace, selected, batch * q_len * min(kv_len, top_k), (Note{"Tokens that are attended to", "of all queries"}),
           batch, q_len, kv_len, top_k);
    return selected;
  }
  FIGURE(trace, short_queries, min(q_len, max(0.0, top_k - (kv_len - q_len))),
         (Note{"Queries that see no more than the indexer selects", "of a sequence"}), q_len, top_k, kv_len);
  FIGURE(trace, selected,
         batch * (short_queries * (kv_len - q_len + (short_queries + 1) / 2) + (q_len - short_queries) * top_k),
         (Note{"Tokens that are attended to", "of all queries"}), batch, short_queries, kv_len, q_len, top_k);
  return selected;
}

// Scores that are written and indices that are chosen: of tokens, or of blocks by their best token, for each head by
// itself.
struct Candidates {
  double written = 0, chosen = 0;
};
Candidates CountCandidates(const SparseAttention& attention, double pairs, double selected, Trace& trace) {
  if (attention.block <= 0) {
    trace.Alias("written", pairs, "pairs");
    trace.Alias("chosen", selected, "selected");
    return {pairs, selected};
  }
  const double block = attention.block, index_heads = attention.index_heads;
  FIGURE(trace, written, index_heads * pairs / block,
         (Note{"Scores of blocks", "of every head, the best of a block's tokens"}), index_heads, pairs, block);
  FIGURE(trace, chosen, index_heads * selected / block, (Note{"Blocks that are attended to", "of every head"}),
         index_heads, selected, block);
  return {written, chosen};
}

Bytes IndexKeyOf(const SparseAttention& attention, Trace& trace) {
  if (attention.ratio > 0) return attention.key;
  const double index_dim = attention.index_dim;
  if (attention.block <= 0) return IndexKeyBytes(index_dim, trace);
  const Bytes kv_element = ElementSize(attention.kv_precision);
  FIGURE(trace, key, index_dim * kv_element, (Note{"Indexer key of a token", "as the KV cache is stored"}), index_dim,
         kv_element);
  return key;
}

Bytes ScoredBytes(const SparseAttention& attention, Bytes key, double written, Bytes score, Trace& trace) {
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, ratio = attention.ratio;
  const double index_heads = attention.index_heads, index_dim = attention.index_dim;
  constexpr Note kNote{"Keys read, queries quantized and read, scores written", ""};
  if (ratio > 0) {
    FIGURE(trace, bytes,
           batch * kv_len / ratio * key + 4 * kB * batch * q_len * index_heads * index_dim + written * score, kNote,
           batch, kv_len, ratio, key, q_len, index_heads, index_dim, written, score);
    return bytes;
  }
  FIGURE(trace, bytes, batch * kv_len * key + 4 * kB * batch * q_len * index_heads * index_dim + written * score, kNote,
         batch, kv_len, key, q_len, index_heads, index_dim, written, score);
  return bytes;
}

KernelTime TimeOfScores(const SparseAttention& attention, double pairs, double written, const Device& device,
                        Trace& trace) {
  const Trace::Scope scope(trace, "scores");
  const SparseLatentRow& row = device.architecture->latent.sparse;
  const double index_heads = attention.index_heads, index_dim = attention.index_dim;
  const Bytes key = IndexKeyOf(attention, trace), score = 4 * kB;
  CONSTANTS(trace, "indexer", "scores in fp32", score);
  const FlopsPerSecond peak_rate = PeakRate(device, attention.block > 0 ? Precision::kBf16 : Precision::kFp8, trace);
  const Stream data = SlowestStream(device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const double scores = row.score_efficiency, memory_share = device.architecture->latent.bandwidth_efficiency;
  const Seconds launch = row.launch;
  const Trace::Citing citing(trace, SourceOf(device, row.source));
  CONSTANTS(trace, KernelTable(device, "latent.sparse"), SourceOf(device, row.source), launch, scores);
  CONSTANTS(trace, KernelTable(device, "latent"), SourceOf(device, device.architecture->latent.source), memory_share);
  FIGURE(trace, flops, 2 * kFlop * pairs * index_heads * index_dim,
         (Note{"FLOPs of the scores", "every head with every key"}), pairs, index_heads, index_dim);
  const Bytes bytes = ScoredBytes(attention, key, written, score, trace);
  FIGURE(trace, compute_time, flops / (scores * peak_rate), (Note{"Compute time", "", kFamilySource}), flops, scores,
         peak_rate);
  FIGURE(trace, memory_time, bytes / (memory_share * bandwidth), (Note{"Time to move the data", "", kFamilySource}),
         bytes, memory_share, bandwidth);
  return TimeOfKernel(
      compute_time, memory_time, flops, bytes, launch, data.bound,
      {"Scores of the indexer", "DeepSeek-V3.2: relu of queries times keys, weighted over the heads", kFamilySource},
      trace);
}

// A histogram of the scores finds the threshold, a second pass takes the scores above it.
KernelTime TimeOfSelection(double written, double chosen, const Device& device, Trace& trace) {
  const Trace::Scope scope(trace, "selection");
  const SparseLatentRow& row = device.architecture->latent.sparse;
  const Bytes score = 4 * kB, index = 4 * kB;
  CONSTANTS(trace, "indexer", "scores in fp32, indices in 32 bit", score, index);
  const Stream data = SlowestStream(device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const double selection = row.selection_efficiency;
  const Seconds launch = row.launch;
  const Trace::Citing citing(trace, SourceOf(device, row.source));
  CONSTANTS(trace, KernelTable(device, "latent.sparse"), SourceOf(device, row.source), launch, selection);
  FIGURE(trace, bytes, 2 * written * score + chosen * index, (Note{"Scores read twice, indices written", ""}), written,
         score, chosen, index);
  FIGURE(trace, compute_time, 0 * launch, (Note{"Compute time", "comparisons alone"}), launch);
  FIGURE(trace, memory_time, bytes / (selection * bandwidth), (Note{"Time to move the data", "", kFamilySource}), bytes,
         selection, bandwidth);
  return TimeOfKernel(compute_time, memory_time, {}, bytes, launch, data.bound,
                      {"Selection of the best tokens", "radix selection: two passes over the scores", kFamilySource},
                      trace);
}

Bytes CoreBytes(const SparseAttention& attention, double selected, double pair_dims, Bytes kv_element, Trace& trace) {
  const double batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, heads = attention.heads;
  if (attention.ratio > 0) {
    const double ratio = attention.ratio, always = attention.always;
    const Bytes entry = attention.entry;
    FIGURE(
        trace, bytes,
        min(selected, batch * (kv_len / ratio + q_len + always)) * entry + 2 * kB * batch * q_len * heads * pair_dims,
        (Note{"Rows, queries and outputs", "a row that several queries attend to is read once"}), selected, batch,
        kv_len, ratio, q_len, always, entry, heads, pair_dims);
    return bytes;
  }
  const double kv_lora_rank = attention.kv_lora_rank, rope_head_dim = attention.rope_head_dim;
  FIGURE(trace, bytes,
         min(selected, batch * kv_len) * (kv_lora_rank + rope_head_dim) * kv_element +
             2 * kB * batch * q_len * heads * pair_dims,
         (Note{"Latents, queries and outputs", "a latent that several queries selected is read once"}), selected, batch,
         kv_len, kv_lora_rank, rope_head_dim, kv_element, q_len, heads, pair_dims);
  return bytes;
}

// Attention with the latent as the key and value of all heads. Neighboring queries share latents, which are read at
// least once.
KernelTime TimeOfCore(const SparseAttention& attention, double selected, const Device& device, Trace& trace) {
  const Trace::Scope scope(trace, "core");
  const SparseLatentRow& row = device.architecture->latent.sparse;
  const double heads = attention.heads;
  const double kv_lora_rank = attention.kv_lora_rank, rope_head_dim = attention.rope_head_dim,
               head_block = row.head_block;
  const bool converts = attention.decode && BytesPerElement(attention.kv_precision) < 2;
  const double matrix = converts ? row.mma_efficiency_narrow : row.mma_efficiency;
  const Bytes kv_element = ElementSize(attention.kv_precision);
  const FlopsPerSecond peak_rate = PeakRate(device, Precision::kBf16, trace);
  const Stream data = SlowestStream(device, trace);
  const BytesPerSecond bandwidth = data.bandwidth;
  const double memory_share = device.architecture->latent.bandwidth_efficiency;
  const Seconds launch = row.launch;
  const Trace::Citing citing(trace, SourceOf(device, row.source));
  CONSTANTS(trace, KernelTable(device, "latent.sparse"), SourceOf(device, row.source), launch, matrix, head_block);
  CONSTANTS(trace, KernelTable(device, "latent"), SourceOf(device, device.architecture->latent.source), memory_share);
  FIGURE(trace, pair_dims, 2 * kv_lora_rank + rope_head_dim,
         (Note{"Multiply-adds per head and token", "with the latent"}), kv_lora_rank, rope_head_dim);
  FIGURE(trace, flops, 2 * kFlop * selected * heads * pair_dims,
         (Note{"FLOPs", "every head with every selected token"}), selected, heads, pair_dims);
  const Bytes bytes = CoreBytes(attention, selected, pair_dims, kv_element, trace);
  FIGURE(trace, padded_heads, ceil(heads / head_block) * head_block,
         (Note{"Query heads, padded to the kernel's block", ""}), heads, head_block);
  FIGURE(trace, compute_time, 2 * kFlop * selected * padded_heads * pair_dims / (matrix * peak_rate),
         (Note{"Compute time", "in 16 bit", kFamilySource}), selected, padded_heads, pair_dims, matrix, peak_rate);
  FIGURE(trace, memory_time, bytes / (memory_share * bandwidth), (Note{"Time to move the data", "", kFamilySource}),
         bytes, memory_share, bandwidth);
  return TimeOfKernel(compute_time, memory_time, flops, bytes, launch, data.bound,
                      {"Attention to the selected tokens", "on the latent", kFamilySource}, trace);
}

}  // namespace

Bytes IndexKeyBytes(double index_dim, Trace& trace) {
  const Bytes scale = 4 * kB;
  CONSTANTS(trace, "indexer", "deepseek-ai/DeepSeek-V3.2-Exp inference/model.py: keys in fp8, one fp32 scale per token",
            scale);
  FIGURE(trace, key, index_dim * (1 * kB) + scale, (Note{"Indexer key of a token", "in fp8, with its scale"}),
         index_dim, scale);
  return key;
}

IndexingTime IndexingOf(const SparseAttention& attention, const Device& device, Trace& trace) {
  IndexingTime times;
  const double pairs = CountPairs(attention, trace), selected = CountSelected(attention, trace);
  const auto [written, chosen] = CountCandidates(attention, pairs, selected, trace);
  times.selected = selected;
  times.scores = TimeOfScores(attention, pairs, written, device, trace);
  const Seconds scoring = times.scores.time;
  const Flops scored_flops = times.scores.flops;
  const Bytes scored_bytes = times.scores.bytes;
  trace.Alias("scoring", scoring, "time");
  trace.Alias("scored_flops", scored_flops, "flops");
  trace.Alias("scored_bytes", scored_bytes, "bytes");
  times.selection = TimeOfSelection(written, chosen, device, trace);
  const Seconds selecting = times.selection.time;
  const Bytes selection_bytes = times.selection.bytes;
  trace.Alias("selecting", selecting, "time");
  trace.Alias("selection_bytes", selection_bytes, "bytes");
  return times;
}

SparseAttentionTime TimeOf(const SparseAttention& attention, const Device& device, Trace& trace) {
  SparseAttentionTime times;
  const IndexingTime indexing = IndexingOf(attention, device, trace);
  times.scores = indexing.scores, times.selection = indexing.selection;
  const Seconds scoring = times.scores.time, selecting = times.selection.time;
  const Flops scored_flops = times.scores.flops;
  const Bytes scored_bytes = times.scores.bytes, selection_bytes = times.selection.bytes;
  times.core = TimeOfCore(attention, indexing.selected, device, trace);
  const Seconds attending = times.core.time;
  const Flops core_flops = times.core.flops;
  const Bytes core_bytes = times.core.bytes;
  trace.Alias("attending", attending, "time");
  trace.Alias("core_flops", core_flops, "flops");
  trace.Alias("core_bytes", core_bytes, "bytes");
  const double index_share = attention.index_share;
  FIGURE(trace, time, index_share * (scoring + selecting) + attending,
         (Note{"Sparse attention", "scores of the indexer, selection, attention to the selected tokens",
               "DeepSeek-V3.2-Exp, 2025"}),
         index_share, scoring, selecting, attending);
  FIGURE(trace, flops, index_share * scored_flops + core_flops,
         (Note{"FLOPs of sparse attention", "scores in fp8, attention in 16 bit"}), index_share, scored_flops,
         core_flops);
  FIGURE(trace, bytes, index_share * (scored_bytes + selection_bytes) + core_bytes,
         (Note{"Memory traffic of sparse attention", ""}), index_share, scored_bytes, selection_bytes, core_bytes);
  const KernelTime& longest = attending >= max(scoring, selecting) ? times.core
                              : scoring >= selecting               ? times.scores
                                                                   : times.selection;
  times.all = {time,
               index_share * times.scores.compute + times.core.compute,
               index_share * (times.scores.memory + times.selection.memory) + times.core.memory,
               longest.bound,
               flops,
               bytes};
  return times;
}

}  // namespace slipstick
