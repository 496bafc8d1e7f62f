// Weights of the most loaded device.
#include "core/base/figure.h"
#include "core/engine_step/expert_time.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/product_time.h"
#include "core/serving/kv_cache.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

constexpr Bytes kHalf = 2 * kB;  // an element in 16 bit

// Sums up weights of layers, given the number of layers of each kind.
class StageWeights {
 public:
  void Add(Bytes layer, Ratio count) {
    if (count != 0) total_ += layer * count;
  }
  [[nodiscard]] Bytes Total() const { return total_; }

 private:
  Bytes total_;
};

// Elements of a mixer or a dense MLP of one layer: those of its GEMMs, and the others.
struct PartElements {
  Ratio matrices, small;
};
PartElements ElementsOfMlp(const MatrixProducts& products, const LayerWidths& widths, const Model& model) {
  return {ElementsOf(products).all_tokens, SmallElements(model, FeedForward::kDense, widths)};
}

// Bytes of a part: the elements of its GEMMs in their format, small tensors in 16 bit.
Bytes PartWeights(std::string_view title, const PartElements& elements, Bytes element, std::string_view note) {
  return Figure(title, elements.matrices * element + elements.small * kHalf, note);
}

Bytes MixerWeights(std::string_view title, Mixer mixer, const MatrixProducts& products, const Deployment& deployment,
                   std::string_view note) {
  const PartElements elements{ElementsOf(products).all_tokens,
                              SmallElements(deployment.model, mixer, deployment.shapes.widths)};
  return PartWeights(title, elements, deployment.formats.sizes.attention_weights, note);
}

// Attention and MLP of the layers that share a KV cache.
void AddSharedKvWeights(const Deployment& deployment, StageWeights& sum) {
  const RankShapes& shapes = deployment.shapes;
  const ServedLayers& layers = deployment.layers;
  const Ratio full_layers = SplitBySharedKv(deployment.layers).shared_full;
  if (full_layers > 0) {
    sum.Add(MixerWeights("Weights of attention in a layer that shares a KV cache", Mixer::kSharedKv,
                         shapes.shared_kv_attention, deployment, "norms in 16 bit"),
            full_layers);
  }
  if (layers.shared_kv_window > 0) {
    sum.Add(MixerWeights("Weights of local attention in a layer that shares a KV cache", Mixer::kSharedKvWindow,
                         shapes.shared_kv_window_attention, deployment, "norms in 16 bit"),
            layers.shared_kv_window);
  }
  sum.Add(PartWeights("Weights of the MLP of a layer that shares a KV cache",
                      ElementsOfMlp(shapes.shared_kv_mlp, SharedKvWidths(shapes.widths), deployment.model),
                      deployment.formats.sizes.mlp_weights, "biases in 16 bit"),
          layers.shared_kv);
}

// Routed experts of a layer on the device; a mean if some layers' experts are in host memory.
Ratio ExpertsOnDevice(const Deployment& deployment) {
  constexpr std::string_view kTitle = "Experts on one device", kCopies = "with redundant copies";
  const Ratio experts = ceil(deployment.shapes.experts / deployment.mapping.ep);
  if (!deployment.load.host_experts) return Figure(kTitle, experts, kCopies);
  return Figure(kTitle, experts * (1 - HostLayers(deployment) / deployment.layers.moe), kCopies);
}

Bytes ExpertWeights(const Deployment& deployment) {
  const Ratio experts = ExpertsOnDevice(deployment);
  const LayerWidths& widths = deployment.shapes.widths;
  const Ratio small = SmallElements(deployment.model, FeedForward::kExperts, widths),
              biases = ExpertBiases(deployment.model, widths);
  const Bytes element = deployment.formats.sizes.mlp_weights;
  Bytes routed = Figure("Biases and gates of the experts", (small + experts * biases) * kHalf, "in 16 bit");
  for (const MatrixProduct& product : deployment.shapes.expert_mlp) {
    const ProductRole role = TraitsOf(product.id).role;
    const Ratio elements = Figure("Weights of the GEMM", product.Elements(), "on one device");
    if (role == ProductRole::kExperts) {
      routed += Figure("Weights of the GEMM", experts * elements * element, "of all experts on one device");
    } else {
      routed += Figure("Weights of the GEMM",
                       elements * (role == ProductRole::kWide ? kHalf : MlpElement(deployment.formats)));
    }
  }
  constexpr std::string_view kTitle = "Weights of the experts of a layer", kNote = "with router and shared experts";
  const Ratio shared = deployment.shapes.widths.shared;
  if (shared > 0) return Figure(kTitle, routed, kNote);
  return Figure(kTitle, routed + shared * deployment.shapes.hidden * element, kNote);
}

// Norms over the residual stream of a layer.
Bytes NormWeights(const Deployment& deployment) {
  return Figure("Norms of a layer", Ratio(deployment.model.norms.per_layer) * NormElements(deployment.model) * kHalf,
                "in 16 bit");
}

// The most loaded stage holds the embedding or the head; a single stage holds both, or one copy if they are tied.
Bytes EndWeights(const Deployment& deployment) {
  const Model& model = deployment.model;
  const Ratio positions = model.positions.encoding == Position::kLearned ? Ratio(model.positions.rows) : Ratio(0),
              vocab = deployment.shapes.widths.vocab, hidden = deployment.shapes.hidden;
  const Bytes element = deployment.formats.sizes.head_weights;
  const Bytes embedding =
      Figure("Embedding on one device", (vocab + positions) * hidden * element, "with learned positions");
  const Bytes head = Figure("LM head on one device", vocab * hidden * element);
  if (deployment.mapping.pp <= 1 && !model.tied_embeddings)
    return Figure("Embedding and LM head", embedding + head, "a single stage holds both");
  return Figure("Embedding or LM head", max(embedding, head), "one copy if they are tied; each on a stage of its own");
}

// Embedding tables of the layers, split over the ranks by row and stored like the embedding; on the first stage.
Bytes LayerTableWeights(const Deployment& deployment) {
  const Ratio width(deployment.model.layer_embeddings.width), layers(deployment.model.layers);
  return Figure("Embeddings of the layers on one device",
                layers * (ceil(LayerRows(deployment.model) / deployment.mapping.tp) * width) *
                    deployment.formats.sizes.head_weights,
                "a table each, split over the tensor-parallel devices");
}

// Weights of a layer like the model's last.
struct LayerWeights {
  Bytes attention, norms, mlp;
};

// Weights used for drafting, besides the LM head: a draft model in 16 bit, split over the tensor-parallel devices, and
// MTP modules, each a layer like the model's last plus a projection of two streams.
Bytes DraftWeights(const Deployment& deployment, const LayerWeights& last) {
  const Speculative& drafts = *deployment.load.speculative;
  const Ratio hidden = deployment.shapes.hidden;
  const Bytes module = last.attention + last.norms + last.mlp + 2 * hidden * hidden * kHalf;
  return Figure("Weights of what drafts",
                drafts.draft_parameters * kHalf / deployment.mapping.tp + Ratio(drafts.modules) * module,
                "a draft model in 16 bit over the tensor-parallel devices; MTP modules like the last layer");
}

// Adds attention of the stage's layers that project keys and values; returns the weights of one without a window.
Bytes AddAttentionWeights(const Deployment& deployment, const StageLayers& layers, StageWeights& sum) {
  const RankShapes& shapes = deployment.shapes;
  const Bytes attention = MixerWeights("Weights of attention in a layer", Mixer::kFullAttention, shapes.attention,
                                       deployment, "biases and norms in 16 bit");
  if (layers.window > 0) {
    sum.Add(MixerWeights("Weights of attention in a layer with a sliding window", Mixer::kWindow,
                         shapes.window_attention, deployment, "biases and norms in 16 bit"),
            layers.window);
  }
  sum.Add(attention, layers.attention - layers.window);
  return attention;
}

// Adds the mixers of the stage; returns the weights of attention in one layer without a window.
Bytes AddMixerWeights(const Deployment& deployment, StageWeights& sum) {
  const bool has_window_heads = deployment.model.HasWindowHeads();
  if (deployment.model.SharesKv()) {
    AddSharedKvWeights(deployment, sum);
    const StageLayers own = CachedOnStage(deployment);
    return AddAttentionWeights(deployment, {own.attention, has_window_heads ? own.window : Ratio(0)}, sum);
  }
  const LayerCounts& stage = deployment.layers.on_stage;
  if (stage.recurrent > 0) {
    sum.Add(MixerWeights("Weights of a recurrence", Mixer::kRecurrence, deployment.shapes.recurrence, deployment,
                         "convolution, decays and norms in 16 bit"),
            stage.recurrent);
  }
  return AddAttentionWeights(
      deployment, {deployment.layers.per_stage - stage.recurrent, has_window_heads ? stage.window : Ratio(0)}, sum);
}

}  // namespace

Bytes WeightsOf(const Deployment& deployment) {
  const ServedLayers& layers = deployment.layers;
  const LayerCounts& stage = layers.on_stage;
  StageWeights sum;
  LayerWeights last;
  last.attention = AddMixerWeights(deployment, sum);
  last.norms = NormWeights(deployment);
  sum.Add(last.norms, layers.per_stage);
  last.mlp = PartWeights("Weights of a dense MLP",
                         ElementsOfMlp(deployment.shapes.mlp, deployment.shapes.widths, deployment.model),
                         MlpElement(deployment.formats), "biases in 16 bit");
  if (stage.moe > 0) {
    sum.Add(last.mlp, Figure("Layers with a dense MLP on the stage", min(layers.per_stage - stage.moe, stage.dense)));
    last.mlp = ExpertWeights(deployment);
    sum.Add(last.mlp, stage.moe);
  } else {
    sum.Add(last.mlp, deployment.model.SharesKv() ? OwnDenseLayers(deployment.layers) : stage.dense);
  }
  Bytes weights = sum.Total();
  if (deployment.load.adapters) weights += AdapterWeights(deployment);
  if (deployment.model.vision) weights += EncoderWeights(deployment.model);
  if (deployment.load.speculative) weights += DraftWeights(deployment, last);
  if (deployment.model.layer_embeddings.width > 0) weights += LayerTableWeights(deployment);
  weights += EndWeights(deployment);
  return Figure("Weights per device", weights, "of the most loaded pipeline stage, in their storage formats");
}

}  // namespace slipstick
