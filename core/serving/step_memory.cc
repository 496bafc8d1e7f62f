// Memory of an engine's largest step, and of its process.
//
// Engines find out how much is left for the KV cache by a step of as many tokens and sequences as they may ever run
// (vLLM: profile_run with max_num_batched_tokens tokens, then the sampler with max_num_seqs sequences).
#include "core/engine_step/step_limits.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

// 16-bit logits, their fp32 copy, probabilities and random numbers of the sampler.
constexpr double kLogitBytes = 2 + 4 + 4 + 4;

struct LargestStep {
  double tokens = 0, sequences = 0;
};

// As the load states it, else by the engine's defaults for the device.
LargestStep LargestStepOf(const Deployment& deployment, Trace& trace) {
  const MemoryBudget& rule = deployment.engine.memory;
  const ServingLoad& load = deployment.load;
  const StepLimits limits = DefaultStepLimits(rule, deployment.device);
  const Count tokens = limits.tokens, sequences = limits.sequences;
  const bool states_tokens = tokens > 0 && load.prefill_chunk, states_sequences = sequences > 0 && load.max_requests;
  LargestStep step{static_cast<double>(states_tokens ? Count(*load.prefill_chunk) : tokens),
                   static_cast<double>(states_sequences ? Count(*load.max_requests) : sequences)};
  const double step_tokens = step.tokens, most_sequences = step.sequences;
  trace.Input("step_tokens", step_tokens, states_tokens ? "serving.prefill_chunk" : limits.tokens_path);
  trace.Input("most_sequences", most_sequences, states_sequences ? "serving.max_requests" : limits.sequences_path);
  FIGURE(trace, sampled, min(step_tokens, most_sequences),
         (Note{"Sequences that the largest step samples", "a token of each at least"}), step_tokens, most_sequences);
  step.sequences = sampled;
  return step;
}

// Elements per token between the products of an MLP: what the first writes, and what the second reads.
double MlpElements(const Deployment& deployment, Trace& trace) {
  const double up_parts = deployment.model.gated ? 2 : 1, rank_mlp = deployment.shapes.widths.mlp;
  trace.Input("up_parts", up_parts, "model.gated");
  constexpr Note kNote{"Elements of the MLP's step per token", "what its first product writes and its second reads"};
  if (!deployment.model.SharesKv()) {
    FIGURE(trace, mlp_elements, (up_parts + 1) * rank_mlp, kNote, up_parts, rank_mlp);
    return mlp_elements;
  }
  const double rank_shared_kv_mlp = deployment.shapes.widths.shared_kv_mlp;
  FIGURE(trace, mlp_elements, (up_parts + 1) * max(rank_mlp, rank_shared_kv_mlp), kNote, up_parts, rank_mlp,
         rank_shared_kv_mlp);
  return mlp_elements;
}

// As MlpElements, for experts: a row for each expert of a token. Where ranks of data-parallel attention gather their
// tokens, a device has the rows of all. What the experts return takes the place of what their first product wrote.
double InnerElements(const Deployment& deployment, Trace& trace) {
  const double mlp_elements = MlpElements(deployment, trace);
  if (!deployment.model.moe) {
    trace.Alias("inner_elements", mlp_elements, "mlp_elements");
    return mlp_elements;
  }
  const double up_parts = deployment.model.gated ? 2 : 1, hidden = deployment.shapes.hidden,
               rank_expert = deployment.shapes.widths.expert, top_k = static_cast<double>(deployment.model.moe->top_k);
  const bool dispatches = deployment.network.expert_exchange != nullptr;
  const double gathered = dispatches ? Ratio(1) : deployment.mapping.attention_dp;
  trace.Input("top_k", top_k, "model.moe.top_k");
  trace.Input("gathered", gathered, dispatches ? "serving.engine.expert_exchange" : "serving.mapping.attention_dp");
  FIGURE(trace, inner_elements,
         max(mlp_elements, gathered * top_k * (max(up_parts * rank_expert, hidden) + rank_expert)),
         (Note{"Elements between the products of a layer per token",
               "of its MLP or of its experts, a row for each expert of a token, of all ranks that gather tokens"}),
         mlp_elements, gathered, top_k, up_parts, rank_expert, hidden);
  return inner_elements;
}

}  // namespace

Bytes ActivationsOf(const Deployment& deployment, Trace& trace) {
  const auto [step_tokens, sampled] = LargestStepOf(deployment, trace);
  const double hidden = deployment.shapes.hidden, inner_elements = InnerElements(deployment, trace),
               layers = deployment.layers.total, vocab = static_cast<double>(deployment.model.vocab),
               layer_embedding = static_cast<double>(deployment.model.layer_embeddings.width);
  const Bytes logit = kLogitBytes * kB, half = 2 * kB;
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  CONSTANTS(trace, "serving.activations", "16-bit logits, fp32 copy, fp32 probabilities, fp32 random numbers", logit);
  FIGURE(trace, layer_activations, step_tokens * (2 * hidden + inner_elements + layers * layer_embedding) * half,
         (Note{"Activations of the largest step in a layer",
               "residual stream and its norm, values between the products, rows of the layers' embeddings"}),
         step_tokens, hidden, inner_elements, layers, layer_embedding, half);
  FIGURE(trace, sampler, step_tokens * hidden * half + sampled * vocab * logit,
         (Note{"Activations while the largest step samples", "the layers' output, logits of its sequences"}),
         step_tokens, hidden, half, sampled, vocab, logit);
  FIGURE(trace, activations, max(layer_activations, sampler),
         (Note{"Activations", "of the largest step that the engine reserves memory for: in a layer or in the sampler",
               "", "serving.memory_bytes.activations"}),
         layer_activations, sampler);
  return activations;
}

Bytes WorkspaceOf(const Deployment& deployment, Trace& trace) {
  const Bytes reserve = deployment.engine.memory.reserve, parallel_reserve = deployment.engine.memory.reserve_parallel;
  const double devices = deployment.mapping.DevicesPerReplica();
  trace.Input("parallel_reserve", parallel_reserve, "serving.engine.memory.reserve_parallel");
  trace.Input("devices", devices, "serving.mapping");
  FIGURE(trace, workspace, reserve + min(1.0, devices - 1) * parallel_reserve,
         (Note{"Workspace", "context, libraries and communication buffers of several ranks, as in the engines' logs",
               "", "serving.memory_bytes.workspace"}),
         reserve, devices, parallel_reserve);
  return workspace;
}

}  // namespace slipstick
