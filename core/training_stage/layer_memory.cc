#include "core/training_stage/layer_memory.h"

#include <algorithm>

#include "core/base/figure.h"
#include "core/training_stage/exchange.h"
#include "core/training_stage/state_bytes.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

constexpr std::string_view kMemorySource = "counted per tensor; Korthikanti et al. 2022, table 2";

// Kept bytes, per token and hidden unit and per token and inner unit of the MLP.
struct KeptBytes {
  Ratio hidden, mlp;
};

// A frozen GEMM keeps its input only if an adapter needs it.
KeptBytes KeptBesideFrozen(const TrainingContext& context, const LayerWork& work, double unfused) {
  const bool in_mlp = context.framework().lora_targets == AdapterTargets::kAll;
  const bool has_mlp = std::any_of(work.products.begin(), work.products.end(), [](const LayerProduct& product) {
    return TraitsOf(product.id).role == ProductRole::kMlp;
  });
  const double mlp_input = in_mlp && has_mlp ? 2 : 0, mlp_inner = context.model.gated ? 4 : 2,
               mlp_product = in_mlp ? 2 : 0;
  return {6 + mlp_input + unfused, mlp_inner + mlp_product};
}

KeptBytes KeptBytesOf(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan) {
  const FrameworkMemory& memory = context.framework().memory;
  const double unfused = context.run.flash_attention ? 0 : 2;
  if (context.run.trainable == Trainable::kLora) return KeptBesideFrozen(context, work, unfused);
  const bool narrow = NarrowRecipe(context);
  const Ratio hidden_saved = narrow ? memory.hidden_saved_fp8 : Ratio(0),
              mlp_saved = narrow ? memory.gated_saved_fp8 : Ratio(0);
  // Recomputed tensors have no kept 8-bit copies, either: two norm outputs and the activation's, each in 16 bits.
  const Ratio norms_again = 4 * plan.norms, activation_again = 2 * plan.norms;
  return {Figure("Bytes kept per token and hidden unit", memory.hidden + unfused - max(hidden_saved, norms_again),
                 "more without fused attention; less in 8 bits, and where norms are recomputed", kMemorySource),
          Figure("Bytes kept per token and inner unit of the MLP",
                 (context.model.gated ? memory.gated : memory.plain) - max(mlp_saved, activation_again),
                 "less in 8 bits, and where its activation function is recomputed", kMemorySource)};
}

// Bytes of the attention core: log-sum-exps, or the softmax, its mask and the dropped output.
Ratio ScorePart(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan) {
  if (context.run.flash_attention)
    return Figure("Log-sum-exps of the attention core", 4 * work.attention.heads * context.shape.tokens, "in 4 bytes",
                  kMemorySource);
  if (plan.core > 0 || work.attention.is_recurrence) return 0;
  return Figure("Softmax, its mask and the dropped output", (AtWidth(context, Ratio(4)) + 1) * work.attention.all_pairs,
                "a byte per score for the mask", kMemorySource);
}

// Elements per token that a recurrence keeps, on all devices: what its kernels save for the backward pass, and the
// input of the projection after it.
Ratio KeptByRecurrence(const LinearAttention& linear) {
  const Ratio inner = linear.Inner(), convolved = linear.ConvolvedChannels();
  const Ratio keys = Ratio(linear.KeyHeads()) * Ratio(linear.state),
              all_keys = Ratio(linear.heads) * Ratio(linear.state);
  switch (linear.kind) {
    case LinearAttentionKind::kMamba2:  // the output before its gate, after it, and normalized
      return linear.InputColumns() + 3 * inner;
    case LinearAttentionKind::kGatedDelta: {
      // Normalized keys and queries, repeated for all value heads; values, their gate, the output, and the output after
      // norm and gate.
      const Ratio repeats = min(1, Ratio(linear.heads) / Ratio(linear.KeyHeads()) - 1);
      return convolved + 2 * keys * repeats + 2 * all_keys + 5 * inner;
    }
    case LinearAttentionKind::kKimiDelta:  // before and after convolution; decays; gate; output before and after it
      return 2 * convolved + all_keys + 3 * inner;
    case LinearAttentionKind::kMamba:
    case LinearAttentionKind::kLightning:
      break;
  }
  return linear.InputColumns() + inner;
}

constexpr std::string_view kRecurrenceSource =
    "counted in megatron/core/ssm (mamba_mixer.py, gated_delta_net.py), mamba_ssm's MambaSplitConv1dScanCombinedFn and "
    "flash-linear-attention's chunk_gated_delta_rule and chunk_kda";

// Elements per token that a layer keeps of the attention core's operands, and between them and the projections: inputs
// of the query and key norms, the output's gate and the gated output.
Ratio KeptColumns(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan) {
  const AttentionWork& core = work.attention;
  const Model& model = context.model;
  if (core.is_recurrence)
    return Figure("Kept elements per token of the recurrence",
                  KeptByRecurrence(*model.linear_attention) / context.shape.tensor,
                  "what goes in, what its kernels save, and what comes out", kRecurrenceSource);
  if (RepeatsLatents(model, work, plan)) {
    const Mla& mla = *model.mla;
    const double direct = mla.q_lora_rank > 0 ? 0 : 1;
    return Figure("Kept elements per token of the attention core",
                  core.heads * (core.value_width + direct * core.query_width) + Ratio(mla.q_lora_rank) +
                      Ratio(mla.kv_lora_rank) + Ratio(mla.rope_head_dim),
                  "its output and the latents; queries, keys and values are projected again", kMemorySource);
  }
  const double norms = model.norms.queries_and_keys == QkNorm::kNone ? 0 : 1, gate = model.attention_gate ? 2 : 0;
  if (norms == 0 && gate == 0) return core.columns;
  return Figure(
      "Kept elements per token around the attention core",
      core.columns + norms * (core.heads + core.kv_heads) * core.query_width + gate * core.heads * core.value_width,
      "with queries and keys before their norms; with the gate and what it leaves of the output", kMemorySource);
}

// Latents of queries, keys and values before and after their norms, and the rotary key. If the backward pass repeats
// the up-projections, KeptColumns counts them.
Ratio LatentPart(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan,
                 Ratio residual_tokens) {
  if (!context.model.mla || work.attention.is_recurrence || RepeatsLatents(context.model, work, plan)) return 0;
  const Mla& mla = *context.model.mla;
  return Figure(
      "Latents",
      2 * (2 * (Ratio(mla.q_lora_rank) + Ratio(mla.kv_lora_rank)) + Ratio(mla.rope_head_dim)) * residual_tokens,
      "before and after their norms, with the rotary key, in 16 bits",
      "NVIDIA/Megatron-LM, megatron/core/transformer/multi_latent_attention.py");
}

// Rows of the routed experts. A framework's selection keeps the rows that an exchange brought and repeats the experts,
// because grouped GEMMs are not on its list of operators to save (torchtitan).
Ratio RoutedPart(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan) {
  const bool narrow = NarrowRecipe(context), is_exchanged = context.run.mapping.ep > 1;
  const double row_bytes = narrow ? 1 : 2, activated_bytes = narrow ? 1 : 2, inner_bytes = context.model.gated ? 4 : 2;
  const Ratio inputs = row_bytes * work.routed_rows * RoutedWidth(context.model);
  if (plan.framework_selection)
    return is_exchanged ? Figure("Rows that the exchange of experts brought", inputs, "in bytes", kMemorySource)
                        : Ratio(0);
  return Figure("Rows of the routed experts",
                inputs + (inner_bytes + activated_bytes * (1 - plan.norms)) * work.routed_rows * work.expert_columns,
                "inputs, gate where there is one, up, and what the activation function makes of them", kMemorySource);
}

// Operands of a layer's embedding table: gate input and output, as wide as the residual stream; row, gate, product.
Ratio EmbeddingPart(const TrainingContext& context) {
  const Ratio width = context.model.layer_embeddings.width;
  return Figure(
      "Operands of a layer's embedding",
      context.shape.sequence_parallel_tokens * (min(1.0, width) * 4 * Ratio(context.model.hidden) + 6 * width),
      "in 16 bits; none without one", kMemorySource);
}

// Inputs of the column-parallel products, gathered from the tokens of the other TP ranks.
Ratio GatheredPart(const TrainingContext& context, Ratio residual_tokens) {
  if (!context.run.mapping.sequence_parallel) return 0;
  return Figure(
      "Gathered inputs",
      context.framework().memory.gathered * Ratio(context.model.hidden) * (context.shape.tokens - residual_tokens),
      "of the other ranks' tokens; none where the backward pass gathers them again", kMemorySource);
}

// Additional residual streams; each part of the layer keeps its input for all of them.
Ratio StreamPart(const TrainingContext& context, Ratio residual_tokens) {
  if (!context.model.compressed) return 0;
  return Figure("Further residual streams",
                4 * (Ratio(context.model.compressed->streams) - 1) * Ratio(context.model.hidden) * residual_tokens,
                "inputs of attention and of the MLP in 16 bits", kMemorySource);
}

Ratio ResidualTokens(const TrainingContext& context) {
  if (!context.framework().memory.splits_residual) return context.shape.sequence_parallel_tokens;
  return Figure("Tokens whose residual stream the device keeps", context.shape.tokens / context.shape.tensor,
                "split over the TP ranks");
}

}  // namespace

Bytes LayerCheckpoint(const TrainingContext& context) {
  const Ratio streams = context.model.compressed ? Ratio(context.model.compressed->streams) : Ratio(1);
  return Figure("Input of a layer",
                AtWidth(context, Ratio(2)) * kB * ResidualTokens(context) * streams * Ratio(context.model.hidden),
                "all residual streams: all that full recomputation keeps");
}

Bytes LayerActivations(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan) {
  const Ratio residual_tokens = ResidualTokens(context);
  const KeptBytes kept = KeptBytesOf(context, work, plan);
  const Ratio hidden_part =
      Figure("Tensors as wide as the residual stream",
             (1 + work.mlp_share) / 2 * kept.hidden * Ratio(context.model.hidden) * residual_tokens,
             "in bytes; half of them where no MLP follows the mixer", kMemorySource);
  const Ratio token_part =
      Figure("Operands of the attention core and of the MLP",
             context.shape.tokens * (2 * KeptColumns(context, work, plan) + kept.mlp * work.mlp_columns), "in bytes",
             kMemorySource);
  const Ratio parts = Figure(
      "Bytes of the tensors that the backward pass reads",
      AtWidth(context, hidden_part + token_part + EmbeddingPart(context) + GatheredPart(context, residual_tokens) +
                           StreamPart(context, residual_tokens) + LatentPart(context, work, plan, residual_tokens)) +
          ScorePart(context, work, plan),
      "without those of routed experts", kMemorySource);
  // A framework that keeps all activations selects nothing.
  const Ratio selected = context.framework().memory.selective_kept;
  const bool states_share = context.run.recompute == Recompute::kSelective && selected == 1;
  const Ratio kept_share = plan.framework_selection || states_share ? selected : Ratio(1);
  Ratio all = kept_share * parts;
  if (work.routed_rows > 0)
    all += (plan.framework_selection ? Ratio(1) : kept_share) * AtWidth(context, RoutedPart(context, work, plan));
  return Figure("Activations that a layer keeps", all * kB,
                "of one micro-batch; without what the framework's selection repeats", kMemorySource);
}

bool Restores(const RecomputeChoice& recompute) {
  return recompute.full_share > 0 || !(recompute.selective == RecomputePlan{});
}

namespace {

// Bytes that recomputation restores during the backward pass of a layer of this kind, or of a group of them.
Bytes RestoredBy(const TrainingContext& context, const LayerWork& work, Bytes kept, const RecomputeChoice& recompute,
                 Ratio group_layers) {
  const Bytes all = LayerActivations(context, work, RecomputePlan{});
  if (!(recompute.full_share > 0)) return Figure("Activations that recomputing parts of a layer restores", all - kept);
  const Bytes checkpoint = LayerCheckpoint(context);
  if (context.run.recompute == Recompute::kFull && !recompute.is_leading)
    return Figure("Activations that recomputing a group of layers restores", group_layers * all - checkpoint,
                  "all of the group but its input");
  return Figure("Activations that recomputing a layer restores", all - checkpoint);
}

}  // namespace

KeptActivations KeptBy(const MemoryTerms& terms, const Stage& stage, const RecomputeChoice& recompute) {
  const TrainingContext& context = terms.context;
  const bool all_full = recompute.full_share >= 1;
  KeptActivations of;
  ByKind<Bytes> kept;
  for (const LayerKind kind : kLayerKinds) {
    if (stage.layers.of[kind] == 0) continue;
    const LayerWork& work = terms.works.of[kind];
    kept[kind] = LayerActivations(context, work, recompute.selective);
    of.layers += kept[kind] *
                 (recompute.is_leading ? stage.layers.of[kind] - stage.layers.leading[kind] : stage.layers.of[kind]);
    of.largest = max(of.largest, all_full ? LayerCheckpoint(context) : kept[kind]);
    of.largest_layer = max(of.largest_layer, work.weights.Base());
    if (GathersContext(context)) of.context = max(of.context, 2 * AllKeysAndValues(context, work.attention));
  }
  for (const LayerKind kind : kLayerKinds) {
    if (stage.layers.of[kind] == 0 || !Restores(recompute)) continue;
    const Bytes restored = RestoredBy(context, terms.works.of[kind], kept[kind], recompute, stage.largest_group);
    // Two layers are in transfer from the host; this layer is one of them.
    const Bytes less = all_full ? 0 * kB : context.run.offload.activations * (of.largest - kept[kind]);
    of.working = max(of.working, restored - less);
  }
  of.layers = Figure("Activations that the layers of the stage keep", of.layers, "of one micro-batch", kMemorySource);
  of.largest = Figure("Activations that the largest layer keeps", of.largest);
  of.working = Figure("Largest set that recomputation restores", of.working, "while a layer runs backward");
  of.largest_layer = Figure("Weights of the largest layer", of.largest_layer, "on one device");
  return of;
}

}  // namespace slipstick
