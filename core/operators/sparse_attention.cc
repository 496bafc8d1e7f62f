#include "core/operators/sparse_attention.h"

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr Bytes kScore = 4 * kB, kIndex = 4 * kB;  // scores in fp32, indices in 32 bit

// A kernel that overlaps computation and data movement.
struct KernelWork {
  std::string_view title, note;
  Flops flops{};
  Bytes bytes{}, l2_bytes{};    // l2_bytes: 0 if the kernel only streams
  Seconds compute{}, memory{};  // compute: 0 if the kernel only compares
};
KernelTime TimeOfKernel(const KernelWork& work, Bound data, const Device& device) {
  const SparseLatentRow& row = device.architecture->latent.sparse;
  KernelTime kernel;
  kernel.time =
      Figure(work.title, row.launch + (work.compute > Seconds{} ? max(work.compute, work.memory) : work.memory),
             work.note, SourceOf(device, row.source));
  kernel.compute = work.compute;
  kernel.memory = work.memory;
  kernel.flops = work.flops;
  kernel.bytes = work.bytes;
  kernel.l2_bytes = work.l2_bytes;
  kernel.bound = 2 * row.launch > kernel.time ? Bound::kLatency : work.compute > work.memory ? Bound::kCompute : data;
  return kernel;
}

// Query-token pairs that the queries may see; for a causal prompt, from the mean of its first and last query.
Ratio VisibleTo(const SparseAttention& attention) {
  const Ratio q_len = attention.q_len, kv_len = attention.kv_len;
  return attention.batch * q_len * (attention.decode ? kv_len : kv_len - q_len + (q_len + 1) / 2);
}

// Pairs of a query and a token (or an entry of several tokens) that the query may see.
Ratio CountPairs(const SparseAttention& attention) {
  const Ratio tokens = VisibleTo(attention);
  if (attention.ratio > 0) return Figure("Scores", tokens / attention.ratio, "of every earlier entry for every query");
  return Figure("Scores", tokens, "of every earlier token for every query");
}

// Pairs of a query and an entry that it attends to, plus those with the tokens that every query attends to.
Ratio CountEntries(const SparseAttention& attention) {
  const Ratio batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, top_k = attention.top_k,
              ratio = attention.ratio;
  constexpr std::string_view kTitle = "Rows that are attended to",
                             kNote = "tokens of the window and entries, of all queries";
  if (attention.decode) return Figure(kTitle, batch * q_len * (min(kv_len / ratio, top_k) + attention.always), kNote);
  const Ratio short_queries = Figure("Queries that see no more entries than are selected",
                                     min(q_len, max(0.0, top_k * ratio - (kv_len - q_len))), "of a sequence");
  return Figure(kTitle,
                batch * (short_queries * (kv_len - q_len + (short_queries + 1) / 2) / ratio +
                         (q_len - short_queries) * top_k + q_len * attention.always),
                kNote);
}

// Pairs of a query and a token that it attends to: all visible tokens, up to top_k.
Ratio CountSelected(const SparseAttention& attention) {
  if (attention.ratio > 0) return CountEntries(attention);
  const Ratio batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len, top_k = attention.top_k;
  constexpr std::string_view kTitle = "Tokens that are attended to", kNote = "of all queries";
  if (attention.decode) return Figure(kTitle, batch * q_len * min(kv_len, top_k), kNote);
  const Ratio short_queries = Figure("Queries that see no more than the indexer selects",
                                     min(q_len, max(0.0, top_k - (kv_len - q_len))), "of a sequence");
  return Figure(kTitle,
                batch * (short_queries * (kv_len - q_len + (short_queries + 1) / 2) + (q_len - short_queries) * top_k),
                kNote);
}

// Scores written and indices selected: per token, or per block of tokens (scored by its best token) and head.
struct Candidates {
  Ratio written = 0, chosen = 0;
};
Candidates CountCandidates(const SparseAttention& attention, Ratio pairs, Ratio selected) {
  if (attention.block <= 0) return {pairs, selected};
  return {Figure("Scores of blocks", attention.index_heads * pairs / attention.block,
                 "of every head, the best of a block's tokens"),
          Figure("Blocks that are attended to", attention.index_heads * selected / attention.block, "of every head")};
}

Bytes KvElement(const SparseAttention& attention) { return SizeOf(attention.kv_element, attention.kv_precision); }

Bytes IndexKeyOf(const SparseAttention& attention) {
  if (attention.ratio > 0) return attention.key;
  if (attention.block <= 0) return IndexKeyBytes(attention.index_dim);
  return Figure("Indexer key of a token", attention.index_dim * KvElement(attention), "as the KV cache is stored");
}

// Bandwidth of streaming kernels, as for the family's other kernels.
BytesPerSecond StreamOf(const Device& device, const Stream& data) {
  return device.architecture->latent.bandwidth_efficiency * data.bandwidth;
}

KernelTime TimeOfScores(const SparseAttention& attention, Ratio pairs, Ratio written, const Device& device) {
  const SparseLatentRow& row = device.architecture->latent.sparse;
  const std::string_view source = SourceOf(device, row.source);
  const Stream data = SlowestStream(device);
  const Ratio keys = attention.batch * attention.kv_len;
  KernelWork work{"Scores of the indexer", "DeepSeek-V3.2: relu of queries times keys, weighted over the heads"};
  work.flops = Figure("FLOPs of the scores", 2 * kFlop * pairs * attention.index_heads * attention.index_dim,
                      "every head with every key");
  work.bytes = Figure("Keys read, queries quantized and read, scores written",
                      (attention.ratio > 0 ? keys / attention.ratio : keys) * IndexKeyOf(attention) +
                          4 * kB * attention.batch * attention.q_len * attention.index_heads * attention.index_dim +
                          written * kScore);
  work.compute = Figure(
      "Compute time",
      work.flops / ReachedRate(device, attention.block > 0 ? Precision::kBf16 : Precision::kFp8, row.score_efficiency),
      "", source);
  work.memory = Figure("Time to move the data", work.bytes / StreamOf(device, data), "", source);
  return TimeOfKernel(work, data.bound, device);
}

// A histogram of the scores finds the threshold; a second pass collects the scores above it.
KernelTime TimeOfSelection(const Candidates& candidates, const Device& device) {
  const SparseLatentRow& row = device.architecture->latent.sparse;
  const Stream data = SlowestStream(device);
  KernelWork work{"Selection of the best tokens", "radix selection: two passes over the scores"};
  work.bytes =
      Figure("Scores read twice, indices written", 2 * candidates.written * kScore + candidates.chosen * kIndex);
  work.memory = Figure("Time to move the data", work.bytes / (row.selection_efficiency * data.bandwidth), "",
                       SourceOf(device, row.source));
  return TimeOfKernel(work, data.bound, device);
}

// Bytes of a latent, or of a compressed entry, as the kernels read it.
Bytes RowBytes(const SparseAttention& attention, const Device& device) {
  if (attention.ratio > 0) return attention.entry;
  return LatentRowBytes(attention.kv_lora_rank, attention.rope_head_dim, KvElement(attention), device);
}

// A latent or entry that several queries attend to is read only once.
Bytes CoreBytes(const SparseAttention& attention, Ratio selected, Ratio pair_dims, const Device& device) {
  const Ratio batch = attention.batch, q_len = attention.q_len, kv_len = attention.kv_len;
  const Bytes row = RowBytes(attention, device);
  const Bytes queries = 2 * kB * batch * q_len * attention.heads * pair_dims;
  if (attention.ratio > 0)
    return Figure("Rows, queries and outputs",
                  min(selected, batch * (kv_len / attention.ratio + q_len + attention.always)) * row + queries,
                  "a row that several queries attend to is read once");
  return Figure("Latents, queries and outputs", min(selected, batch * kv_len) * row + queries,
                "a latent that several queries selected is read once");
}

// Attention to the selected tokens, independent of the kernel.
struct CoreWork {
  const SparseAttention& attention;
  Ratio selected, pair_dims;
  Flops flops;
  Bytes bytes;
  Seconds stream;
};

// 64 or more query heads are the rows of the matrix instruction; an 8-bit cache is converted first.
KernelTime TimeWithHeadsInRows(const CoreWork& core, const Device& device) {
  const SparseLatentRow& row = device.architecture->latent.sparse;
  const bool converts = core.attention.decode && BytesPerElement(core.attention.kv_precision) < 2;
  const Ratio padded_heads =
      Figure("Query heads, padded to the kernel's block", ceil(core.attention.heads / row.head_block) * row.head_block);
  KernelWork work{"Attention to the selected tokens", "on the latent", core.flops, core.bytes};
  work.compute =
      Figure("Compute time",
             2 * kFlop * core.selected * padded_heads * core.pair_dims /
                 ReachedRate(device, Precision::kBf16, converts ? row.mma_efficiency_narrow : row.mma_efficiency),
             "in 16 bit", SourceOf(device, row.source));
  work.memory = core.stream;
  return TimeOfKernel(work, SlowestStream(device).bound, device);
}

// The selected tokens are the rows, up to 16 query heads the columns, in the format of the KV cache. Each block gathers
// every query's own tokens from L2: 2,048 latents in 16 bit take 0.33 us per query with 16 heads, twice that with 32.
KernelTime TimeWithHeadsInColumns(const CoreWork& core, const Device& device) {
  const LatentTable& table = device.architecture->latent;
  const bool narrow = BytesPerElement(core.attention.kv_precision) < 2 && Supports(device, Precision::kFp8);
  const Ratio blocks = Figure("Blocks of 16 query heads", ceil(core.attention.heads / 16));
  KernelWork work{"Attention to the selected tokens, heads in columns", "on the latent", core.flops, core.bytes};
  work.compute = Figure("Compute time",
                        2 * kFlop * core.selected * (16 * blocks) * core.pair_dims /
                            (narrow ? ReachedRate(device, Precision::kFp8, table.decode.mma_efficiency_fp8)
                                    : ReachedRate(device, Precision::kBf16, table.decode.mma_efficiency)),
                        "in the format of the KV cache", SourceOf(device, table.source));
  work.l2_bytes = Figure("Traffic of the L2", blocks * core.selected * RowBytes(core.attention, device),
                         "each block gathers the tokens of each query",
                         "vllm-project/vllm pull request 33451, FlashInfer's kernel on B200");
  const Seconds gathered = work.l2_bytes / L2Rate(device);
  work.memory = Figure("Time to move the data", max(core.stream, gathered), "from memory, and from L2");
  return TimeOfKernel(work, gathered > core.stream ? Bound::kL2 : SlowestStream(device).bound, device);
}

// What a kernel does that reads the KV cache in its format; `selected`: tokens that all queries attend to.
CoreWork WorkOf(const SparseAttention& attention, Ratio selected, const Device& device) {
  const Ratio pair_dims = Figure("Multiply-adds per head and token",
                                 2 * attention.kv_lora_rank + attention.rope_head_dim, "with the latent");
  CoreWork core{attention, selected, pair_dims, {}, CoreBytes(attention, selected, pair_dims, device), {}};
  core.flops =
      Figure("FLOPs", 2 * kFlop * selected * attention.heads * pair_dims, "every head with every selected token");
  core.stream = Figure("Time to move the data", core.bytes / StreamOf(device, SlowestStream(device)), "",
                       SourceOf(device, device.architecture->latent.sparse.source));
  return core;
}

// Attention with the latent as the key and value of all heads. Neighboring queries share latents, which are read at
// least once. For prompts, kernels with heads in rows read latents that were converted to 16 bit.
KernelTime TimeOfCore(const SparseAttention& attention, Ratio selected, const Device& device) {
  SparseAttention converted = attention;
  if (!attention.decode) converted.kv_precision = Precision::kBf16, converted.kv_element = {};
  const KernelTime in_rows = TimeWithHeadsInRows(WorkOf(converted, selected, device), device);
  if (!device.architecture->latent.sparse.heads_in_columns) return in_rows;
  KernelTime in_columns = TimeWithHeadsInColumns(WorkOf(attention, selected, device), device);
  if (!(in_columns.time < in_rows.time)) return in_rows;
  in_columns.time = Figure("Attention to the selected tokens", min(in_rows.time, in_columns.time),
                           "by the faster of two kernels: heads in the rows of the matrix instruction, or in columns");
  return in_columns;
}

}  // namespace

Bytes LatentRowBytes(Ratio kv_lora_rank, Ratio rope_head_dim, Bytes element, const Device& device) {
  if (!device.architecture->latent.sparse.scaled_rows || element >= 2 * kB)
    return (kv_lora_rank + rope_head_dim) * element;
  const Bytes scale = 4 * kB;
  return Figure("Row of the KV cache", kv_lora_rank * element + kv_lora_rank / 128 * scale + rope_head_dim * (2 * kB),
                "latent with a scale for 128 numbers, rotary part in 16 bit",
                "FlashMLA, tests/quant.py: 656 bytes of DeepSeek-V3.2; vLLM's fp8_ds_mla, SGLang's DSATokenToKVPool");
}

Bytes IndexKeyBytes(Ratio index_dim) {
  const Bytes scale = 4 * kB;
  return Figure("Indexer key of a token", index_dim * (1 * kB) + scale, "in fp8, with its scale",
                "deepseek-ai/DeepSeek-V3.2-Exp inference/model.py: keys in fp8, one fp32 scale per token");
}

IndexingTime IndexingOf(const SparseAttention& attention, const Device& device) {
  IndexingTime times;
  const Ratio pairs = CountPairs(attention);
  times.selected = CountSelected(attention);
  const Candidates candidates = CountCandidates(attention, pairs, times.selected);
  times.scores = TimeOfScores(attention, pairs, candidates.written, device);
  times.selection = TimeOfSelection(candidates, device);
  return times;
}

SparseAttentionTime TimeOf(const SparseAttention& attention, const Device& device) {
  const IndexingTime indexing = IndexingOf(attention, device);
  SparseAttentionTime times;
  times.scores = indexing.scores;
  times.selection = indexing.selection;
  times.core = TimeOfCore(attention, indexing.selected, device);
  const KernelTime &scores = times.scores, &selection = times.selection, &core = times.core;
  const Ratio share = attention.index_share;
  times.all.time =
      Figure("Sparse attention", share * (scores.time + selection.time) + core.time,
             "scores of the indexer, selection, attention to the selected tokens", "DeepSeek-V3.2-Exp, 2025");
  times.all.compute = share * scores.compute + core.compute;
  times.all.memory = share * (scores.memory + selection.memory) + core.memory;
  times.all.bound = (core.time >= max(scores.time, selection.time) ? core
                     : scores.time >= selection.time               ? scores
                                                                   : selection)
                        .bound;
  times.all.flops =
      Figure("FLOPs of sparse attention", share * scores.flops + core.flops, "scores in fp8, attention in 16 bit");
  times.all.bytes = Figure("Memory traffic of sparse attention", share * (scores.bytes + selection.bytes) + core.bytes);
  return times;
}

}  // namespace slipstick
