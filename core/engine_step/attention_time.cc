#include "core/engine_step/attention_time.h"

#include "core/base/figure.h"
#include "core/engine_step/compressed_time.h"
#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/recurrence.h"
#include "core/operators/sparse_attention.h"

namespace slipstick {
namespace {

// Attention in separate kernels (two GEMMs, softmax, passes between them): masked scores are computed too.
KernelTime UnfusedPrefill(const Deployment& deployment, const PrefillPass& pass) {
  const Device& device = deployment.device;
  const EngineKernels& kernels = deployment.engine.kernels;
  const Ratio scores =
      Figure("Scores", pass.sequences * deployment.shapes.widths.heads * pass.tokens * (pass.tokens + pass.cached),
             "every query against every key");
  const Bytes score_bytes = Figure("Score traffic", kernels.unfused_score_bytes * scores, "of all passes");
  const Flops flops = Figure("FLOPs", 4 * kFlop * scores * deployment.shapes.head_dim, "of two GEMMs");
  const Seconds products =
      Figure("Two GEMMs per layer", flops / (kernels.unfused_gemm_efficiency * PeakRate(device, Precision::kFp16)));
  const Seconds passes = Figure("Passes over the scores", PassTime(score_bytes, score_bytes, 0.5,
                                                                   kernels.unfused_bandwidth_efficiency, 1, device));
  const Seconds time = Figure("Unfused attention", 4 * *device.efficiency.launch_latency + products + passes,
                              "four kernels; fitted to NVIDIA/FasterTransformer docs/gpt_guide.md");
  return {time,  products,   passes, products > passes ? Bound::kCompute : SlowestStream(device).bound,
          flops, score_bytes};
}

// Heads of one layer on one rank; batch and lengths are left at 1.
Attention HeadsOf(const Deployment& deployment, AttentionPhase phase, bool is_local) {
  const RankShapes& shapes = deployment.shapes;
  const EngineKernels& kernels = deployment.engine.kernels;
  const bool decode = phase == AttentionPhase::kDecode;
  Attention attention;
  attention.phase = phase;
  if (!decode && is_local) attention.window = deployment.model.window.tokens;
  attention.heads = decode ? shapes.decode_heads : shapes.widths.heads;
  if (is_local) {
    attention.kv_heads = decode ? shapes.decode_window_kv_heads : shapes.widths.window_kv_heads;
  } else {
    attention.kv_heads = decode ? shapes.decode_kv_heads : shapes.widths.kv_heads;
  }
  attention.head_dim = is_local ? shapes.window_head_dim : shapes.head_dim;
  attention.kv_precision = deployment.formats.kv_cache;
  attention.kv_element = deployment.formats.sizes.kv_cache;
  if (!decode && kernels.fp8_attention && IsEightBitFloat(attention.kv_precision))
    attention.precision = attention.kv_precision;
  attention.library = kernels.attention;
  attention.cold = decode;
  return attention;
}

// Keys on this rank that one query of a decode step attends to.
Ratio KeysOf(const Deployment& deployment, Ratio context, bool is_local) {
  const Ratio seen = is_local ? min(context, Ratio(deployment.model.window.tokens)) : context;
  return Figure("Keys of a sequence on one device", max(1.0, seen / deployment.mapping.context_ranks),
                "at least one; context parallelism splits them");
}

// With so few query heads per KV head there is no GQA kernel: every query head reads the KV cache itself, at 20
// elements per clock and SM.
void ReadByHead(const Deployment& deployment, const Attention& attention, KernelTime& kernel) {
  const Seconds shared_read = kernel.time, work = max(kernel.memory, kernel.compute, kernel.l2, kernel.l1);
  const Seconds read_by_head =
      Figure("KV-cache reads of every query head",
             2 * attention.batch * attention.kv_len * deployment.shapes.decode_heads * attention.head_dim /
                 (20 * Ratio(deployment.device.units) * deployment.device.clock),
             "from L2, 20 elements per clock and SM");
  kernel.time = Figure("Attention without a GQA kernel", shared_read - work + max(work, read_by_head),
                       "every query head reads the KV cache itself");
  kernel.memory = max(kernel.memory, read_by_head);
}

// Applies the engine's GQA kernel, if it has one for the model's number of query heads per KV head.
void ChooseKernel(const Deployment& deployment, const Attention& attention, bool is_local, KernelTime& kernel) {
  const Model& model = deployment.model;
  const Ratio heads(model.heads), multi_query_from(deployment.engine.kernels.multi_query_from);
  const Ratio kv_heads(is_local && model.window.kv_heads > 0 ? model.window.kv_heads
                                                             : model.kv_heads.value_or(model.heads));
  if (heads <= kv_heads || multi_query_from <= 1) return;
  const Ratio group = Figure("Query heads per KV head", heads / kv_heads);
  if (group < multi_query_from) ReadByHead(deployment, attention, kernel);
  kernel.time =
      Procedure("Attention of the engine", kernel.time, {{kernel.time, 1}, InSteps(group), InSteps(multi_query_from)},
                "its GQA kernel needs several query heads per KV head");
}

// Multi-head latent attention of one layer (DeepSeek V3): heads and formats on one device; batch and lengths are left
// at 1.
LatentAttention LatentOf(const Deployment& deployment, AttentionPhase phase) {
  const Mla& shape = *deployment.model.mla;
  LatentAttention mla;
  mla.phase = phase;
  mla.heads = phase == AttentionPhase::kDecode ? deployment.shapes.decode_heads : deployment.shapes.widths.heads;
  mla.kv_lora_rank = shape.kv_lora_rank;
  mla.rope_head_dim = shape.rope_head_dim;
  mla.nope_head_dim = shape.nope_head_dim;
  mla.value_head_dim = shape.value_head_dim;
  mla.precision = IsEightBitFloat(deployment.formats.kv_cache) ? deployment.formats.kv_cache : Precision::kBf16;
  mla.kv_precision = deployment.formats.kv_cache;
  mla.kv_element = deployment.formats.sizes.kv_cache;
  mla.library = deployment.engine.kernels.attention;
  return mla;
}

// Tokens that an indexer selects for a query, on one device.
Ratio SelectedTokens(const Deployment& deployment, bool decode) {
  const Ratio top_k(deployment.model.indexer->top_k), context_ranks = deployment.mapping.context_ranks;
  if (!decode || context_ranks <= 1) return top_k;
  return Figure("Tokens that a query attends to on one device", top_k / context_ranks,
                "context parallelism splits them");
}

// The kernels of attention to the tokens that an indexer selects (DeepSeek V3.2), one after the other; only some of
// the layers score and select.
SparseAttentionTime SparseTime(const Deployment& deployment, const LatentAttention& queries) {
  const Indexer& indexer = *deployment.model.indexer;
  SparseAttention attention;
  attention.batch = queries.batch, attention.q_len = queries.q_len, attention.kv_len = queries.kv_len;
  attention.top_k = SelectedTokens(deployment, queries.phase == AttentionPhase::kDecode);
  attention.index_share = IndexShare(deployment.model);
  attention.index_heads = indexer.heads, attention.index_dim = indexer.head_dim;
  attention.heads = queries.heads;
  attention.kv_lora_rank = queries.kv_lora_rank, attention.rope_head_dim = queries.rope_head_dim;
  attention.decode = queries.phase == AttentionPhase::kDecode;
  attention.kv_precision = queries.kv_precision, attention.kv_element = queries.kv_element;
  return TimeOf(attention, deployment.device);
}

constexpr std::string_view kMsaSource =
    "MiniMax-M3: huggingface/transformers, models/minimax_m3_vl/modeling_minimax_m3_vl.py";

// The indexer's heads on one device are those of the KV heads for which they select.
SparseAttention IndexingFor(const Deployment& deployment, const Attention& whole, Ratio queries) {
  const Indexer& indexer = *deployment.model.indexer;
  SparseAttention sparse;
  sparse.batch = whole.batch, sparse.q_len = queries, sparse.kv_len = whole.kv_len;
  sparse.decode = whole.phase == AttentionPhase::kDecode;
  sparse.kv_precision = whole.kv_precision, sparse.kv_element = whole.kv_element;
  sparse.block = indexer.block;
  sparse.index_dim = indexer.head_dim;
  sparse.index_share = IndexShare(deployment.model);
  sparse.index_heads =
      Figure("Heads of the indexer on one device", max(1.0, ceil(Ratio(indexer.heads) / deployment.mapping.tp)),
             "split as the KV heads are");
  sparse.top_k = SelectedTokens(deployment, sparse.decode);
  return sparse;
}

// Attention of a layer that selects blocks: each query attends to as many tokens as its selected blocks hold.
KernelTime SelectedBlocks(const Device& device, Attention whole, Ratio top_k) {
  if (whole.phase == AttentionPhase::kDecode) {
    whole.kv_len = Figure("Keys of a sequence in the selected blocks", min(whole.kv_len, top_k));
  } else {
    whole.window = top_k;
  }
  return TimeOf(whole, device);
}

// Attention to blocks of the context that an indexer selects for each KV head (MiniMax-M3): mean over layers that
// select and layers that attend to all tokens as `whole` does. In each sequence of `whole`, the indexer scores
// `queries` query tokens.
KernelTime BlockAttention(const Deployment& deployment, const Attention& whole, Ratio queries) {
  const KernelTime dense = TimeOf(whole, deployment.device);
  const SparseAttention sparse = IndexingFor(deployment, whole, queries);
  const Ratio index_share = sparse.index_share;
  const KernelTime core = SelectedBlocks(deployment.device, whole, sparse.top_k);
  const IndexingTime index = IndexingOf(sparse, deployment.device);
  const auto mean = [&](auto part) {
    return index_share * (index.scores.*part + index.selection.*part + core.*part) + (1 - index_share) * (dense.*part);
  };
  return {
      Figure("Attention to selected blocks", mean(&KernelTime::time),
             "scores, selection, attention to the blocks; mean with the layers that attend to all tokens", kMsaSource),
      mean(&KernelTime::compute),
      mean(&KernelTime::memory),
      index.scores.time + index.selection.time > core.time ? index.scores.bound : core.bound,
      Figure("FLOPs of attention to selected blocks",
             index_share * (index.scores.flops + core.flops) + (1 - index_share) * dense.flops, "mean over the layers"),
      Figure("Memory traffic of attention to selected blocks", mean(&KernelTime::bytes), "mean over the layers")};
}

// A prompt of no more tokens than an indexer selects attends to all of them, unscored. Of a longer one every query
// attends to its own list: on Hopper no engine has a masked mode beyond that.
KernelTime LatentPrefill(const Deployment& deployment, const LatentAttention& mla) {
  if (!deployment.model.indexer) return TimeOf(mla, deployment.device);
  const Ratio top_k(deployment.model.indexer->top_k);
  KernelTime kernel = mla.kv_len <= top_k ? TimeOf(mla, deployment.device) : SparseTime(deployment, mla).all;
  kernel.time = Procedure("Attention of a prompt", kernel.time, {{kernel.time, 1}, InSteps(mla.kv_len), InSteps(top_k)},
                          "to the latents of the selected tokens, or to all tokens of a prompt that has no more",
                          "sgl-project/sglang pull request 11892, vllm-project/vllm 47327");
  return kernel;
}

KernelTime LatentDecode(const Deployment& deployment, const DecodePass& pass, Ratio keys) {
  LatentAttention mla = LatentOf(deployment, AttentionPhase::kDecode);
  mla.batch = pass.sequences, mla.q_len = pass.checked, mla.kv_len = keys;
  if (deployment.model.indexer) return SparseTime(deployment, mla).all;
  const std::optional<Tally>& served = deployment.latent_head_dim;
  mla.grouped = deployment.triton_latent || (served && *served != deployment.model.mla->nope_head_dim);
  mla.splits_by_length = deployment.engine.kernels.latent_splits_by_length;
  KernelTime kernel = TimeOf(mla, deployment.device);
  if (served)
    kernel.time = Procedure("Latent attention of the engine", kernel.time,
                            {{kernel.time, 1}, InSteps(mla.nope_head_dim), InSteps(Ratio(*served))},
                            "heads of another width decode in Triton's kernel");
  return kernel;
}

// `checked` query tokens per sequence (1, or more when drafts are verified) over a KV length of `context`.
KernelTime DecodeAttention(const Deployment& deployment, const DecodePass& pass, bool is_local) {
  const Model& model = deployment.model;
  const Ratio keys = KeysOf(deployment, pass.context, is_local && !model.compressed && !model.mla);
  if (model.compressed)
    return CompressedAttentionTime(deployment, {AttentionPhase::kDecode, pass.sequences, pass.checked, keys});
  if (model.mla) return LatentDecode(deployment, pass, keys);
  Attention attention = HeadsOf(deployment, AttentionPhase::kDecode, is_local);
  attention.batch = pass.sequences;
  attention.kv_len = keys;
  // Draft tokens are further query rows over the same KV cache.
  attention.heads = Figure("Query rows per token of the KV cache", attention.heads * pass.checked,
                           "heads, times the tokens that are verified");
  if (model.indexer && !is_local) return BlockAttention(deployment, attention, pass.checked);
  KernelTime kernel = TimeOf(attention, deployment.device);
  ChooseKernel(deployment, attention, is_local, kernel);
  return kernel;
}

}  // namespace

KernelTime PrefillAttention(const Deployment& deployment, const PrefillPass& pass, bool is_local) {
  const Model& model = deployment.model;
  const EngineKernels& kernels = deployment.engine.kernels;
  if (!model.mla && !model.compressed && kernels.attention == AttentionLibrary::kUnfused)
    return UnfusedPrefill(deployment, pass);
  const Ratio queries = Figure("Queries of a prompt on one device", pass.tokens / deployment.mapping.prefill_cp,
                               "context parallelism splits them");
  // Each rank has an early and a late part of the prompt, so that all ranks have the same work: a rank's mean query
  // sees as many keys as the mean query of the whole prompt.
  const Ratio keys =
      Figure("Keys of a prompt", pass.cached + (pass.tokens + queries) / 2,
             "with those in the KV cache; under context parallelism, such that the mean query sees as many");
  if (model.compressed)
    return CompressedAttentionTime(deployment, {AttentionPhase::kPrefill, pass.sequences, queries, keys});
  if (model.mla) {
    LatentAttention mla = LatentOf(deployment, AttentionPhase::kPrefill);
    mla.batch = pass.sequences, mla.q_len = queries, mla.kv_len = keys;
    return LatentPrefill(deployment, mla);
  }
  Attention attention = HeadsOf(deployment, AttentionPhase::kPrefill, is_local);
  attention.batch = pass.sequences, attention.q_len = queries, attention.kv_len = keys;
  if (model.indexer && !is_local) return BlockAttention(deployment, attention, queries);
  KernelTime kernel = TimeOf(attention, deployment.device);
  const bool lacks_sinks = model.attention_sinks && !deployment.device.architecture->traits.asynchronous_mma;
  const std::optional<FlashVersion> version =
      lacks_sinks && kernels.sinks_version ? kernels.sinks_version : kernels.flash_version;
  if (!version) return kernel;
  const double slowdown = FlashSlowdown(*version, attention, deployment.device);
  kernel.time =
      Figure("Attention by the stated FlashAttention", slowdown * kernel.time, "its time over the fastest kernel's");
  kernel.compute *= slowdown;
  return kernel;
}

KernelTime MeanDecodeAttention(const Deployment& deployment, const DecodePass& pass, bool is_local) {
  const KernelTime middle = DecodeAttention(deployment, pass, is_local);
  if (pass.grown <= 0) return middle;
  const auto at = [&](Ratio context) {
    DecodePass there = pass;
    there.context = context;
    return DecodeAttention(deployment, there, is_local);
  };
  const KernelTime first = at(Figure("Context of the first output token", pass.context - pass.grown / 2)),
                   last = at(Figure("Context of the last output token", pass.context + pass.grown / 2));
  const auto mean = [&](auto part) { return (first.*part + 4 * (middle.*part) + last.*part) / 6; };
  KernelTime kernel = middle;
  kernel.time =
      Figure("Mean over the output tokens", mean(&KernelTime::time), "Simpson's rule over the growing context");
  kernel.flops = Figure("FLOPs, mean over the output tokens", mean(&KernelTime::flops));
  kernel.bytes = Figure("Memory traffic, mean over the output tokens", mean(&KernelTime::bytes));
  return kernel;
}

Seconds MixedDecodeAttention(const Deployment& deployment, const DecodePass& pass, bool is_local) {
  const Seconds own_kernel = MeanDecodeAttention(deployment, pass, is_local).time;
  const Model& model = deployment.model;
  const bool has_other_kernels = model.mla || model.compressed || model.indexer || model.attention_sinks;
  if (!deployment.mixes_attention || has_other_kernels) return own_kernel;
  Attention attention = HeadsOf(deployment, AttentionPhase::kDecode, is_local);
  attention.batch = pass.sequences;
  attention.kv_len = KeysOf(deployment, pass.context, is_local);
  return max(own_kernel, TimeInPromptKernel(attention, deployment.device));
}

KernelTime PrefillRecurrence(const Deployment& deployment, const PrefillPass& pass) {
  const LinearAttention& layer = *deployment.model.linear_attention;
  const LayerWidths& widths = deployment.shapes.widths;
  Recurrence recurrence;
  recurrence.by_channel = layer.kind == LinearAttentionKind::kMamba;
  recurrence.head_dim = layer.head_dim, recurrence.state = layer.state;
  recurrence.rows = pass.sequences * pass.tokens, recurrence.tokens = pass.tokens;
  recurrence.heads = widths.recurrent_heads;
  recurrence.columns = widths.recurrent_columns, recurrence.inner = widths.recurrent_inner;
  return TimeOf(recurrence, deployment.device);
}

KernelTime DecodeRecurrence(const Deployment& deployment, const DecodePass& pass) {
  const Device& device = deployment.device;
  const Seconds launch = *device.efficiency.launch_latency;
  const Stream data = SlowestStream(device);
  const Ratio elements = Figure("Elements of a layer's state on one device",
                                deployment.shapes.state_share * deployment.shapes.state_elements);
  const Bytes bytes = Figure("State traffic", 2 * pass.sequences * elements * deployment.formats.sizes.state,
                             "every sequence's state is read and written, whatever its length");
  KernelTime kernel;
  kernel.memory = bytes / (data.bandwidth * *device.efficiency.bandwidth_efficiency);
  kernel.time = Figure("Recurrence per layer", 2 * launch + kernel.memory,
                       "two memory-bound kernels, convolution and state; estimate");
  kernel.flops =
      Figure("FLOPs", 6 * kFlop * pass.sequences * pass.checked * elements, "six per element of the state and token");
  kernel.bytes = bytes;
  kernel.bound = 4 * launch > kernel.time ? Bound::kLatency : data.bound;
  return kernel;
}

}  // namespace slipstick
