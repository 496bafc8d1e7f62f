#include "core/training_stage/layer_memory.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/sum.h"
#include "core/training_stage/state_bytes.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

constexpr std::string_view kMemorySource = "counted per tensor; Korthikanti et al. 2022, table 2";

// Bytes per token and hidden unit, and per token and inner unit of the MLP.
struct KeptBytes {
  double hidden, mlp;
};

// A frozen GEMM keeps its input only where an adapter needs it.
KeptBytes KeptBesideFrozen(const TrainingContext& context, const LayerWork& work, double unfused_bytes, Trace& trace) {
  const bool in_mlp = context.framework().lora_targets == AdapterTargets::kAll, gated = context.model.gated;
  const bool has_mlp = std::any_of(work.products.begin(), work.products.end(), [](const LayerProduct& product) {
    return TraitsOf(product.id).role == ProductRole::kMlp;
  });
  const double lora_bytes = 6, mlp_input = in_mlp && has_mlp ? 2 : 0, mlp_inner = gated ? 4 : 2,
               mlp_product = in_mlp ? 2 : 0;
  CONSTANTS(trace, "training.lora", kMemorySource, lora_bytes);
  const std::string_view without = work.routed_rows > 0 ? "model.moe.shared_experts" : "model.mlp_layers";
  trace.Input("mlp_input", mlp_input, has_mlp || !in_mlp ? "training.framework.lora_targets" : without);
  trace.Input("mlp_inner", mlp_inner, "model.gated");
  trace.Input("mlp_product", mlp_product, "training.framework.lora_targets");
  FIGURE(trace, hidden_kept, lora_bytes + mlp_input + unfused_bytes,
         (Note{"Bytes kept per token and hidden unit", "frozen GEMMs keep no input but the adapters'", kMemorySource}),
         lora_bytes, mlp_input, unfused_bytes);
  FIGURE(trace, mlp_kept, mlp_inner + mlp_product,
         (Note{"Bytes kept per token and inner unit of the MLP",
               "inputs of the activation function, and its output for an adapter", kMemorySource}),
         mlp_inner, mlp_product);
  return {hidden_kept, mlp_kept};
}

KeptBytes KeptBytesOf(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan, Trace& trace) {
  const FrameworkMemory& memory = context.framework().memory;
  const bool flash = context.run.flash_attention, narrow = NarrowRecipe(context), gated = context.model.gated;
  const double unfused_bytes = flash ? 0 : 2;
  trace.Input("unfused_bytes", unfused_bytes, "training.flash_attention");
  if (context.run.trainable == Trainable::kLora) return KeptBesideFrozen(context, work, unfused_bytes, trace);
  const double framework_hidden = memory.hidden, framework_mlp = gated ? memory.gated : memory.plain;
  const double hidden_saved = narrow ? memory.hidden_saved_fp8 : Ratio(0),
               mlp_saved = narrow ? memory.gated_saved_fp8 : Ratio(0);
  // Recomputed tensors are not kept in 8 bits either: two norms' outputs, and the activation's, in 16 bits each.
  const double norms_again = plan.norms ? 4 : 0, activation_again = plan.norms ? 2 : 0;
  trace.Input("framework_hidden", framework_hidden, "training.framework.memory.hidden");
  trace.Input("framework_mlp", framework_mlp,
              gated ? "training.framework.memory.gated" : "training.framework.memory.plain");
  trace.Input("hidden_saved", hidden_saved,
              narrow ? "training.framework.memory.hidden_saved_fp8" : "training.precision");
  trace.Input("mlp_saved", mlp_saved, narrow ? "training.framework.memory.gated_saved_fp8" : "training.precision");
  trace.Input("norms_again", norms_again, "training.recompute");
  trace.Input("activation_again", activation_again, "training.recompute");
  FIGURE(trace, hidden_kept, framework_hidden + unfused_bytes - max(hidden_saved, norms_again),
         (Note{"Bytes kept per token and hidden unit",
               "more without fused attention; less in 8 bits, and where norms are recomputed", kMemorySource}),
         framework_hidden, unfused_bytes, hidden_saved, norms_again);
  FIGURE(trace, mlp_kept, framework_mlp - max(mlp_saved, activation_again),
         (Note{"Bytes kept per token and inner unit of the MLP",
               "less in 8 bits, and where its activation function is recomputed", kMemorySource}),
         framework_mlp, mlp_saved, activation_again);
  return {hidden_kept, mlp_kept};
}

// Bytes of the attention core: log-sum-exps, or the softmax, its mask and the dropped output.
Addend<double> ScorePart(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan,
                         Trace& trace) {
  constexpr std::string_view kSymbol = "score_part";
  if (context.run.flash_attention) {
    const double query_heads = work.attention.heads, tokens = context.shape.tokens;
    FIGURE(trace, score_part, 4 * query_heads * tokens,
           (Note{"Log-sum-exps of the attention core", "in 4 bytes", kMemorySource}), query_heads, tokens);
    return {kSymbol, score_part};
  }
  if (plan.core || work.attention.is_recurrence) return {kSymbol, 0, false};
  const double all_pairs = work.attention.all_pairs;
  FIGURE(trace, score_part, 5 * all_pairs,
         (Note{"Softmax, its mask and the dropped output", "5 bytes per score", kMemorySource}), all_pairs);
  return {kSymbol, score_part};
}

// Elements per token of the attention core's operands that a layer keeps.
double KeptColumns(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan, Trace& trace) {
  const double core_columns = work.attention.columns;
  if (!RepeatsLatents(context.model, work, plan)) {
    trace.Alias("kept_columns", core_columns, "core_columns");
    return core_columns;
  }
  const auto q_lora_rank = static_cast<double>(context.model.mla->q_lora_rank),
             kv_lora_rank = static_cast<double>(context.model.mla->kv_lora_rank);
  const auto rope_head_dim = static_cast<double>(context.model.mla->rope_head_dim);
  const double query_heads = work.attention.heads, query_width = work.attention.query_width,
               value_width = work.attention.value_width;
  const double direct = q_lora_rank > 0 ? 0 : 1;
  trace.Input("direct", direct, "model.mla.q_lora_rank");
  FIGURE(trace, kept_columns,
         query_heads * (value_width + direct * query_width) + q_lora_rank + kv_lora_rank + rope_head_dim,
         (Note{"Kept elements per token of the attention core",
               "its output and the latents; queries, keys and values are projected again", kMemorySource}),
         query_heads, value_width, direct, query_width, q_lora_rank, kv_lora_rank, rope_head_dim);
  return kept_columns;
}

Addend<double> RoutedPart(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan,
                          Trace& trace) {
  constexpr std::string_view kSymbol = "routed_part";
  if (!(work.routed_rows > 0)) return {kSymbol, 0, false};
  const bool narrow = NarrowRecipe(context);
  const double routed_rows = work.routed_rows, rank_expert = work.expert_columns;
  const double routed_width = RoutedWidth(context.model, trace);
  const double inner_bytes = narrow ? 5 : 6, row_bytes = narrow ? 1 : 2, inner_again = plan.norms ? inner_bytes - 4 : 0;
  trace.Input("inner_bytes", inner_bytes, "training.precision");
  trace.Input("row_bytes", row_bytes, "training.precision");
  trace.Input("inner_again", inner_again, "training.recompute");
  FIGURE(trace, routed_part,
         routed_rows * (inner_bytes * rank_expert + row_bytes * routed_width - inner_again * rank_expert),
         (Note{"Rows of the routed experts", "inputs and outputs, gate, up and their product", kMemorySource}),
         routed_rows, inner_bytes, rank_expert, row_bytes, routed_width, inner_again);
  return {kSymbol, routed_part};
}

// Of a layer's embedding: the gate's input and the output, as wide as the residual stream; row, gate and product.
Addend<double> EmbeddingPart(const TrainingContext& context, Trace& trace) {
  constexpr std::string_view kSymbol = "embedding_part";
  const double layer_embedding = static_cast<double>(context.model.layer_embeddings.width);
  const double own_tokens = context.shape.sequence_parallel_tokens, hidden = static_cast<double>(context.model.hidden);
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  FIGURE(trace, embedding_part, own_tokens * (min(1.0, layer_embedding) * 4 * hidden + 6 * layer_embedding),
         (Note{"Operands of a layer's embedding", "in 16 bits; none without one", kMemorySource}), own_tokens,
         layer_embedding, hidden);
  return {kSymbol, embedding_part};
}

// Inputs of the column-parallel products as all TP ranks share them, beyond the rank's own tokens.
Addend<double> GatheredPart(const TrainingContext& context, double residual_tokens, Trace& trace) {
  constexpr std::string_view kSymbol = "gathered_part";
  const double gathered_bytes = context.framework().memory.gathered;
  if (!context.run.mapping.sequence_parallel) return {kSymbol, 0, false};
  const double tokens = context.shape.tokens, hidden = static_cast<double>(context.model.hidden);
  trace.Input("gathered_bytes", gathered_bytes, "training.framework.memory.gathered");
  FIGURE(trace, gathered_part, gathered_bytes * hidden * (tokens - residual_tokens),
         (Note{"Gathered inputs", "of the other ranks' tokens; none where the backward pass gathers them again",
               kMemorySource}),
         gathered_bytes, hidden, tokens, residual_tokens);
  return {kSymbol, gathered_part};
}

// Further residual streams, of which each part of the layer keeps its input.
Addend<double> StreamPart(const TrainingContext& context, double residual_tokens, Trace& trace) {
  constexpr std::string_view kSymbol = "stream_part";
  if (!context.model.compressed) return {kSymbol, 0, false};
  const double streams = static_cast<double>(context.model.compressed->streams),
               hidden = static_cast<double>(context.model.hidden);
  trace.Input("streams", streams, "model.compressed.streams");
  FIGURE(trace, stream_part, 4 * (streams - 1) * hidden * residual_tokens,
         (Note{"Further residual streams", "inputs of attention and of the MLP in 16 bits", kMemorySource}), streams,
         hidden, residual_tokens);
  return {kSymbol, stream_part};
}

// The largest of some kinds of layer.
template <class Q>
class Largest {
 public:
  void Add(Trace& trace, const std::string& kind, Q value, std::string_view from) {
    if (largest_ < value) largest_ = value;
    if (!trace.on()) return;
    trace.Alias(kind, value, from);
    formula_ = names_.empty() ? kind : "max(" + formula_ + ", " + kind + ")";
    names_ += (names_.empty() ? "" : ", ") + kind;
    values_.push_back(internal::ValueOf(value));
  }
  [[nodiscard]] Q Record(Trace& trace, std::string_view symbol, const Note& note) {
    if (trace.on() && !values_.empty()) {
      values_.insert(values_.begin(), internal::ValueOf(largest_));
      trace.Record({symbol, formula_, names_, note}, values_);
    } else {
      trace.Input(symbol, largest_, "model.layers");  // none of them on the stage
    }
    return largest_;
  }

 private:
  Q largest_{};
  std::string formula_, names_;
  std::vector<internal::Value> values_;
};

}  // namespace

double ResidualTokens(const TrainingContext& context, Trace& trace) {
  const double tokens = context.shape.tokens, tensor = context.shape.tensor;
  if (!context.framework().memory.splits_residual) {
    trace.Alias("residual_tokens", context.shape.sequence_parallel_tokens, "own_tokens");
    return context.shape.sequence_parallel_tokens;
  }
  FIGURE(trace, residual_tokens, tokens / tensor,
         (Note{"Tokens whose residual stream the device keeps", "split over the TP ranks"}), tokens, tensor);
  return residual_tokens;
}

Bytes LayerCheckpoint(const TrainingContext& context, Trace& trace) {
  const double residual_tokens = ResidualTokens(context, trace), hidden = static_cast<double>(context.model.hidden);
  if (context.model.compressed) {
    const auto streams = static_cast<double>(context.model.compressed->streams);
    trace.Input("streams", streams, "model.compressed.streams");
    FIGURE(trace, checkpoint, 2 * kB * residual_tokens * streams * hidden,
           (Note{"Input of a layer", "all residual streams: all that full recomputation keeps"}), residual_tokens,
           streams, hidden);
    return checkpoint;
  }
  FIGURE(trace, checkpoint, 2 * kB * residual_tokens * hidden,
         (Note{"Input of a layer", "all that full recomputation keeps"}), residual_tokens, hidden);
  return checkpoint;
}

Bytes LayerActivations(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan, Trace& trace) {
  const bool has_experts = work.routed_rows > 0;
  const double tokens = context.shape.tokens, residual_tokens = ResidualTokens(context, trace);
  const double hidden = static_cast<double>(context.model.hidden), mlp_columns = work.mlp_columns;
  trace.Alias("mlp_columns", mlp_columns, has_experts ? "rank_shared" : "rank_mlp");
  const auto [hidden_kept, mlp_kept] = KeptBytesOf(context, work, plan, trace);
  FIGURE(trace, hidden_part, hidden_kept * hidden * residual_tokens,
         (Note{"Tensors as wide as the residual stream", "in bytes", kMemorySource}), hidden_kept, hidden,
         residual_tokens);
  const double kept_columns = KeptColumns(context, work, plan, trace);
  FIGURE(trace, token_part, tokens * (2 * kept_columns + mlp_kept * mlp_columns),
         (Note{"Operands of the attention core and of the MLP", "in bytes", kMemorySource}), tokens, kept_columns,
         mlp_kept, mlp_columns);
  const double kept_parts =
      Sum<double>(trace, "kept_parts", Note{"Bytes of the tensors that the backward pass reads", "", kMemorySource},
                  {{"hidden_part", hidden_part},
                   {"token_part", token_part},
                   ScorePart(context, work, plan, trace),
                   EmbeddingPart(context, trace),
                   GatheredPart(context, residual_tokens, trace),
                   StreamPart(context, residual_tokens, trace),
                   RoutedPart(context, work, plan, trace)});
  const double kept_share = plan.framework_selection ? context.framework().memory.selective_kept : Ratio(1);
  const bool is_selected =
      context.run.recompute == Recompute::kSelective && kept_share == context.framework().memory.selective_kept;
  trace.Input("kept_share", kept_share,
              is_selected ? "training.framework.memory.selective_kept" : "training.recompute");
  FIGURE(trace, layer_activations, kept_share * kept_parts * kB,
         (Note{"Activations that a layer keeps", "of one micro-batch; without what the framework's selection repeats",
               kMemorySource}),
         kept_share, kept_parts);
  return layer_activations;
}

Bytes LayerCheckpoint(const TrainingContext& context) {
  Trace off = Trace::Off();
  return LayerCheckpoint(context, off);
}

Bytes LayerActivations(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan) {
  Trace off = Trace::Off();
  return LayerActivations(context, work, plan, off);
}

bool Restores(const RecomputeChoice& recompute) {
  return recompute.full_share > 0 || !(recompute.selective == RecomputePlan{});
}

namespace {

// What recomputation restores while a layer of this kind, or a group of them, runs backward.
Bytes RestoredBy(const TrainingContext& context, const LayerWork& work, Bytes layer_activations,
                 const RecomputeChoice& recompute, double group_layers, Trace& trace) {
  Trace::Scope scope(trace, "restored");
  const Bytes all_activations = LayerActivations(context, work, RecomputePlan{}, trace);
  trace.Alias("all_activations", all_activations, "layer_activations");
  if (recompute.full_share > 0) {
    const Bytes checkpoint = LayerCheckpoint(context, trace);
    if (context.run.recompute == Recompute::kFull && !recompute.is_leading) {
      FIGURE(trace, restored, group_layers * all_activations - checkpoint,
             (Note{"Activations that recomputing a group of layers restores", "all of the group but its input"}),
             group_layers, all_activations, checkpoint);
      return restored;
    }
    FIGURE(trace, restored, all_activations - checkpoint, (Note{"Activations that recomputing a layer restores"}),
           all_activations, checkpoint);
    return restored;
  }
  const Bytes kept_activations = layer_activations;
  trace.Alias("kept_activations", kept_activations, "layer_activations");
  FIGURE(trace, restored, all_activations - kept_activations,
         (Note{"Activations that recomputing parts of a layer restores"}), all_activations, kept_activations);
  return restored;
}

double LayerParameters(const LayerWork& work, Trace& trace) {
  const double dense_parameters = work.dense_parameters, expert_parameters = work.expert_parameters;
  return Sum<double>(
      trace, "layer_parameters", Note{"Weights of a layer on one device"},
      {{"dense_parameters", dense_parameters}, {"expert_parameters", expert_parameters, expert_parameters > 0}});
}

}  // namespace

KeptActivations KeptBy(const MemoryTerms& terms, const Stage& stage, const RecomputeChoice& recompute, Trace& trace) {
  const TrainingContext& context = terms.context;
  const bool restores = Restores(recompute), all_full = recompute.full_share >= 1;
  ListedSum<Bytes> layers(trace);
  Largest<Bytes> largest, working;
  Largest<double> parameters;
  for (const LayerKind kind : kLayerKinds) {
    if (stage.layers.of[kind] == 0) continue;
    const LayerWork& work = terms.works.of[kind];
    const Trace::Scope scope(trace, NameOf(kind));
    const std::string name(NameOf(kind));
    const Bytes kept = LayerActivations(context, work, recompute.selective, trace);
    const double kind_layers = stage.layers.of[kind], leading_layers = stage.layers.leading[kind];
    if (recompute.is_leading) {
      FIGURE(trace, other_layers, kind_layers - leading_layers, (Note{"Layers of a kind that are not recomputed"}),
             kind_layers, leading_layers);
      layers.Add(NameOf(kind), kept, other_layers, "layer_activations", "other_layers");
    } else {
      layers.Add(NameOf(kind), kept, kind_layers, "layer_activations", "kind_layers");
    }
    if (all_full) {
      largest.Add(trace, name, LayerCheckpoint(context, trace), "checkpoint");
    } else {
      largest.Add(trace, name, kept, "layer_activations");
    }
    if (restores)
      working.Add(trace, name, RestoredBy(context, work, kept, recompute, stage.largest_group, trace), "restored");
    parameters.Add(trace, name, LayerParameters(work, trace), "layer_parameters");
  }
  KeptActivations kept;
  kept.layers = layers.Total(
      "kept_layers", Note{"Activations that the layers of the stage keep", "of one micro-batch", kMemorySource});
  kept.largest = largest.Record(trace, "largest_kept", Note{"Activations that the largest layer keeps"});
  kept.working = working.Record(trace, "working_layer",
                                Note{"Largest set that recomputation restores", "while a layer runs backward"});
  kept.largest_layer = parameters.Record(trace, "largest_layer", Note{"Weights of the largest layer on one device"});
  return kept;
}

}  // namespace slipstick
