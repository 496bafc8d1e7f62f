// Memory of an engine's largest step, and of its process.
//
// Engines find out how much is left for the KV cache by a step of as many tokens and sequences as they may ever run
// (vLLM: profile_run with max_num_batched_tokens tokens, then the sampler with max_num_seqs sequences).
#include "core/base/figure.h"
#include "core/engine_step/step_limits.h"
#include "core/serving/prompt_time.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

// 16-bit logits, their fp32 copy, probabilities and random numbers of the sampler.
constexpr double kLogitBytes = 2 + 4 + 4 + 4;

struct LargestStep {
  Ratio tokens, sequences;
};

// Stated by the load, or else the engine's defaults for the device.
LargestStep LargestStepOf(const Deployment& deployment) {
  const ServingLoad& load = deployment.load;
  const StepLimits limits = DefaultStepLimits(deployment.engine.memory, deployment.cluster.device);
  const Ratio tokens = limits.tokens > 0 ? StepTokens(deployment) : deployment.InputAt(limits.TokensPath(), Ratio(0)),
              sequences = limits.sequences > 0 && load.max_requests
                              ? Ratio(*load.max_requests)
                              : deployment.InputAt(limits.SequencesPath(), Ratio(limits.sequences));
  return {tokens,
          Figure("Sequences that the largest step samples", min(tokens, sequences), "a token of each at least")};
}

// Elements per token between the GEMMs of an MLP: outputs of the first and inputs of the second.
Ratio MlpElements(const Deployment& deployment, Ratio up_parts) {
  const LayerWidths& widths = deployment.shapes.widths;
  const Ratio inner = deployment.model.SharesKv() ? max(widths.mlp, widths.shared_kv_mlp) : widths.mlp;
  return Figure("Elements of the MLP's step per token", (up_parts + 1) * inner,
                "what its first product writes and its second reads");
}

// As MlpElements, for experts: one row per token and expert. If data-parallel attention ranks gather their tokens, a
// device has the rows of all ranks. The experts' results reuse the memory of their first product's outputs.
Ratio InnerElements(const Deployment& deployment) {
  const Ratio up_parts = deployment.InputAt("model.gated", Ratio(deployment.model.gated ? 2 : 1)),
              of_mlp = MlpElements(deployment, up_parts);
  if (!deployment.model.moe) return of_mlp;
  const Ratio expert = deployment.shapes.widths.expert, top_k(deployment.model.moe->top_k),
              gathered = deployment.network.expert_exchange != nullptr ? Ratio(1) : deployment.mapping.attention_dp;
  return Figure("Elements between the products of a layer per token",
                max(of_mlp, gathered * top_k * (max(up_parts * expert, deployment.shapes.hidden) + expert)),
                "of its MLP or of its experts, a row for each expert of a token, of all ranks that gather tokens");
}

}  // namespace

Bytes ActivationsOf(const Deployment& deployment) {
  const LargestStep step = LargestStepOf(deployment);
  const Ratio hidden = deployment.shapes.hidden, vocab(deployment.model.vocab),
              embedding(deployment.model.layer_embeddings.width);
  const Bytes half = 2 * kB, logit = kLogitBytes * kB;
  const Bytes in_layer =
      Figure("Activations of the largest step in a layer",
             step.tokens * (2 * hidden + InnerElements(deployment) + deployment.layers.total * embedding) * half,
             "residual stream and its norm, values between the products, rows of the layers' embeddings");
  const Bytes in_sampler =
      Figure("Activations while the largest step samples", step.tokens * hidden * half + step.sequences * vocab * logit,
             "the layers' output; of its sequences 16-bit logits, their fp32 copy, probabilities and random numbers");
  return Figure("Activations", max(in_layer, in_sampler),
                "of the largest step that the engine reserves memory for: in a layer or in the sampler");
}

Bytes WorkspaceOf(const Deployment& deployment) {
  const MemoryBudget& rule = deployment.engine.memory;
  const Ratio devices = Figure("Devices of a replica", deployment.mapping.DevicesPerReplica());
  return Figure("Workspace", rule.reserve + min(1.0, devices - 1) * rule.reserve_parallel,
                "context, libraries and communication buffers of several ranks, as in the engines' logs");
}

Bytes HeadroomOf(const Deployment& deployment) {
  const MemoryBudget& rule = deployment.engine.memory;
  // Counts the whole chunk even if attention ranks divide it: capturing the other ranks' parts takes about as much.
  const StepLimit step = StepTokensOf(deployment.load, deployment.cluster.device);
  const Ratio tokens = max(deployment.InputAt(step.path, Ratio(step.stated)), rule.activation_tokens);
  return Figure("Headroom", rule.headroom + tokens * rule.headroom_per_token,
                "memory beside weights and KV cache, where no share is stated");
}

}  // namespace slipstick
