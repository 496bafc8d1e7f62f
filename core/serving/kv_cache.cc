#include "core/serving/kv_cache.h"

#include <string>
#include <vector>

#include "core/base/figure.h"
#include "core/engine_step/compressed_time.h"
#include "core/operators/sparse_attention.h"

namespace slipstick {
namespace {

// Bytes of an indexer's keys beside latent attention, per layer and token; mean over the layers.
Bytes IndexKeys(const Deployment& deployment) {
  if (!deployment.model.indexer) return {};
  return IndexShare(deployment.model) * IndexKeyBytes(Ratio(deployment.model.indexer->head_dim));
}

// Elements of the indexer's key beside KV heads, in the KV cache's format.
Ratio IndexColumns(const Deployment& deployment) {
  if (!deployment.model.indexer) return 0;
  return Figure("Elements of the indexer's key",
                IndexShare(deployment.model) * Ratio(deployment.model.indexer->head_dim), "mean over the layers");
}

// Elements that latent attention caches per layer and token.
Ratio LatentElements(const Mla& mla) { return Ratio(mla.kv_lora_rank) + Ratio(mla.rope_head_dim); }

Ratio KvHeads(const Deployment& deployment) {
  return deployment.InputAt("model.kv_heads", Ratio(deployment.model.KvHeads()));
}

// Elements of a token's keys (or values) in the layers that attend to all tokens and in those with a window.
Ratio ElementsOfHeads(const Deployment& deployment, Ratio full_layers, Ratio window_layers) {
  const Ratio of_full = full_layers * KvHeads(deployment) * deployment.shapes.head_dim;
  if (!deployment.model.HasWindows()) return of_full;
  return of_full + window_layers * deployment.model.WindowKvHeads() * deployment.shapes.window_head_dim;
}

// Row of latent attention that an indexer selects.
Bytes SelectedRow(const Deployment& deployment) {
  const Mla& mla = *deployment.model.mla;
  return LatentRowBytes(Ratio(mla.kv_lora_rank), Ratio(mla.rope_head_dim), deployment.formats.sizes.kv_cache,
                        deployment.device);
}

BytesPerToken LatentPerToken(const Deployment& deployment) {
  const Ratio layers = deployment.layers.attention;
  if (deployment.model.indexer) {
    return Figure("KV cache per token", layers * (SelectedRow(deployment) + IndexKeys(deployment)) / (1 * kToken),
                  "latent and rotary part and the indexer's key, all layers of the model", "DeepSeek-V3.2-Exp, 2025");
  }
  const Bytes element = deployment.formats.sizes.kv_cache;
  return Figure("KV cache per token", layers * LatentElements(*deployment.model.mla) * element / (1 * kToken),
                "latent and rotary part, all layers of the model", "DeepSeek-V2, arXiv 2405.04434");
}

}  // namespace

StageLayers CachedOnStage(const Deployment& deployment) {
  const ServedLayers& layers = deployment.layers;
  const Ratio attention = Figure("Layers with a KV cache on the stage", layers.on_stage.attention - layers.shared_kv,
                                 "of their own; layers that share one are on the stage that has it");
  if (!deployment.model.SharesKv()) return {attention, layers.on_stage.window};
  return {attention, Figure("Layers with a sliding window and a KV cache on the stage",
                            layers.on_stage.window - layers.shared_kv_window, "of their own")};
}

Bytes StateOnDevice(const Deployment& deployment) {
  const Bytes element = deployment.formats.sizes.state;
  return Figure("Recurrent state of a sequence on one device", deployment.layers.on_stage.recurrent *
                                                                   deployment.shapes.state_share *
                                                                   deployment.shapes.state_elements * element);
}

namespace {

// Adds drafting MTP modules and a separate draft model, as an equivalent number of layers with the same KV cache.
Ratio WithDrafts(const Deployment& deployment, Ratio layers, BytesPerToken layer) {
  if (!deployment.load.speculative) return layers;
  const Speculative& drafts = *deployment.load.speculative;
  return Figure("Layers with a KV cache on the stage",
                layers + Ratio(drafts.modules) +
                    drafts.draft_kv_cache * (2 * kB) / (deployment.mapping.tp * layer * (1 * kToken)),
                "the model's, MTP modules that draft, and a draft model's KV cache in 16 bit as so many layers");
}

Ratio AsFullLayers(const Deployment& deployment, Ratio window_layers) {
  if (!deployment.model.HasWindows()) return window_layers;
  const RankShapes& shapes = deployment.shapes;
  return Figure("Layers with a sliding window on the stage",
                window_layers * shapes.decode_window_kv_heads * shapes.window_head_dim /
                    (shapes.decode_kv_heads * shapes.head_dim),
                "as so many layers with the KV heads of the others");
}

BytesPerToken KvCacheOfLayer(const Deployment& deployment) {
  constexpr std::string_view kTitle = "KV cache of a layer and token on one device",
                             kSplit = "context parallelism splits it";
  const Ratio context_ranks = deployment.mapping.context_ranks;
  if (deployment.model.compressed) return Figure(kTitle, CompressedGrowth(deployment) / context_ranks, kSplit);
  const Bytes element = deployment.formats.sizes.kv_cache;
  if (!deployment.model.mla) {
    const RankShapes& shapes = deployment.shapes;
    return Figure(kTitle,
                  (2 * shapes.decode_kv_heads * shapes.head_dim + IndexColumns(deployment)) / context_ranks * element /
                      (1 * kToken),
                  kSplit);
  }
  if (deployment.model.indexer) {
    return Figure(kTitle, (SelectedRow(deployment) + IndexKeys(deployment)) / context_ranks / (1 * kToken),
                  "with the indexer's key; context parallelism splits it");
  }
  const Ratio elements = LatentElements(*deployment.model.mla);
  return Figure(kTitle, elements / context_ranks * element / (1 * kToken), kSplit);
}

}  // namespace

StageCache StageCacheOf(const Deployment& deployment) {
  const StageLayers own = CachedOnStage(deployment);
  const BytesPerToken layer = KvCacheOfLayer(deployment);
  return {layer, WithDrafts(deployment, own.attention, layer), own.window, AsFullLayers(deployment, own.window)};
}

namespace {

// Standard deviation of the output lengths over their mean.
Ratio OutputVariation(const Deployment& deployment, const LengthDistribution& outputs) {
  const Ratio found(VariationOf(outputs));
  if (outputs.kind != LengthKind::kQuantiles) return deployment.InputAt("serving.lengths.output.variation", found);
  if (deployment.tape() == nullptr) return found;
  std::vector<Ground> quantiles;
  for (std::size_t i = 0; i < outputs.quantiles.size(); ++i) {
    const std::string path = "serving.lengths.output.quantiles." + std::to_string(i);
    quantiles.emplace_back(deployment.InputAt(path + ".share", Ratio(outputs.quantiles[i].share)));
    quantiles.emplace_back(deployment.InputAt(path + ".tokens", Ratio(outputs.quantiles[i].tokens)));
  }
  return Procedure<Ratio>("Spread of the outputs", found, quantiles,
                          "standard deviation over the mean; between two quantiles the logarithm grows linearly");
}

}  // namespace

Ratio OutputOfRunning(const Deployment& deployment, Ratio output) {
  if (!deployment.load.lengths) return output;
  const Ratio variation = OutputVariation(deployment, deployment.load.lengths->output);
  if (variation == Ratio(0)) return output;
  return Figure("Output of the requests that run", output * (1 + variation * variation),
                "in the mean at any time: a request with twice the output stays twice as long",
                "length-biased sampling, as in renewal theory");
}

Ratio PagedTokens(const Deployment& deployment, Ratio tokens) {
  const Ratio block(deployment.engine.memory.block);
  return Figure("Tokens in whole pages", WholeAbove(tokens / block) * block, "of the KV cache");
}

BytesPerToken KvCachePerToken(const Deployment& deployment) {
  constexpr std::string_view kTitle = "KV cache per token";
  const Ratio layers = deployment.layers.attention;  // recurrent layers have a state of fixed size instead
  if (deployment.model.mla) return LatentPerToken(deployment);
  if (deployment.model.compressed) {
    return Figure(
        kTitle, layers * CompressedGrowth(deployment),
        "entries of several tokens and their keys, all layers of the model; beside it a window of fixed size");
  }
  const Bytes element = deployment.formats.sizes.kv_cache;
  if (deployment.model.SharesKv()) {
    const LayersByKv own = SplitBySharedKv(deployment.layers);
    return Figure(kTitle, 2 * ElementsOfHeads(deployment, own.own_full, own.own_window) * element / (1 * kToken),
                  "keys and values of the layers that do not share those of an earlier one");
  }
  if (deployment.model.HasWindows()) {
    const Ratio elements = ElementsOfHeads(deployment, deployment.layers.full, deployment.layers.window);
    return Figure(kTitle, 2 * elements * element / (1 * kToken),
                  "keys and values of every KV head in all layers of the model, local layers with their own");
  }
  return Figure(kTitle,
                layers * (2 * KvHeads(deployment) * deployment.shapes.head_dim + IndexColumns(deployment)) * element /
                    (1 * kToken),
                "keys and values of every KV head, and an indexer's key, in all layers of the model");
}

namespace {

Bytes CacheOfLayers(const Deployment& deployment, Ratio held_tokens) {
  const StageCache stage = StageCacheOf(deployment);
  const Ratio sliding_window(deployment.model.window.tokens);
  const Ratio window_held =
      Figure("Tokens that a layer with a sliding window holds",
             max(min(held_tokens, sliding_window), deployment.engine.memory.window_share * held_tokens),
             "at least the engine's share of all");
  const Ratio tokens = (stage.layers - stage.window) * PagedTokens(deployment, held_tokens) +
                       stage.windows * PagedTokens(deployment, window_held);
  const Bytes of_layers =
      Figure("KV cache of a sequence on one device", stage.layer * tokens * (1 * kToken), "whole pages");
  if (deployment.model.compressed) {
    return Figure("KV cache of a sequence on one device",
                  of_layers + stage.layers * CompressedFixed(deployment, held_tokens),
                  "with the windows, whatever its length");
  }
  return of_layers;
}

}  // namespace

Bytes KvCacheOfSequence(const Deployment& deployment, Ratio held_tokens) {
  const Bytes of_layers = CacheOfLayers(deployment, held_tokens);
  if (deployment.layers.recurrent <= 0) return of_layers;
  return Figure("KV cache and recurrent state of a sequence on one device", of_layers + StateOnDevice(deployment));
}

bool HasStatePool(const Deployment& deployment) {
  return deployment.layers.recurrent > 0 && deployment.engine.memory.state_ratio;
}

Bytes BudgetOfSequence(const Deployment& deployment, Ratio held_tokens) {
  return HasStatePool(deployment) ? CacheOfLayers(deployment, held_tokens) : KvCacheOfSequence(deployment, held_tokens);
}

Bytes StateOfSequence(const Deployment& deployment) {
  if (!deployment.model.linear_attention) return {};
  const Bytes element = deployment.formats.sizes.state;
  return Figure("Recurrent state per sequence",
                deployment.layers.recurrent * deployment.shapes.state_elements * element,
                "all recurrent layers; independent of the sequence length");
}

}  // namespace slipstick
