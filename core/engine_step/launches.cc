#include "core/engine_step/launches.h"

#include "core/base/figure.h"
#include "core/engine_step/expert_time.h"

namespace slipstick {
namespace {

// Launches of a layer with experts, beside its GEMMs: its passes; routing, permutation, scales and combine, unless they
// are parts of a four-bit kernel; and the products of the shared experts.
Ratio ExpertOperations(const Deployment& deployment, Ratio passes, Ratio scaled_mlp) {
  const Ratio routing = deployment.InputAt("serving.precision.weights", Ratio(HasFourBitExperts(deployment) ? 0 : 6));
  const Ratio shared = Figure("Whether there are shared experts", min(1, deployment.shapes.widths.shared));
  return passes + routing + (3 + scaled_mlp) * shared;
}

// Operations that the host launches per layer, mean over the layers: five for GEMMs and attention; the passes over
// activations between them, fused in a dense layer or separate; the experts' own; for MLA, projections, norms, rotary
// embedding and copies; for an indexer, two projections, norm, rotary embedding, two quantizations, scores and
// selection; the scaling of 8-bit and 4-bit activations before each GEMM.
Ratio OperationsPerLayer(const Deployment& deployment, const LayerKernels& kernels) {
  const Model& model = deployment.model;
  const auto scaling = [&](Precision activations, double operations) {
    return deployment.InputAt("serving.precision.activations",
                              Ratio(BytesPerElement(activations) < 2 ? operations : 0));
  };
  const Ratio scaled_mlp = scaling(deployment.formats.activations, 2),
              scaled_attention = scaling(deployment.formats.attention_activations, model.mla ? 4 : 2);
  const Ratio reduced =
      Figure("All-reduces of a layer", min(1.0, deployment.mapping.tp - 1) * kernels.halves, "none on a single rank");
  const Ratio passes =
      Figure("Operations between GEMMs and attention", kernels.elementwise + reduced + scaled_attention,
             "norms, all-reduces, and those that scale activations");
  const std::optional<Tally>& fused = deployment.engine.kernels.fused_passes;
  const Ratio dense = fused ? Ratio(*fused)
                            : Figure("Operations between those of a dense layer", passes + scaled_mlp,
                                     "with those that scale activations of the MLP");
  const Ratio none = deployment.InputAt("model.moe", Ratio(0));
  const bool has_experts = deployment.layers.moe > 0;
  const Ratio moe_share =
      has_experts ? Figure("Share of the layers with experts", deployment.layers.moe / deployment.layers.total) : none;
  const Ratio of_experts = has_experts ? ExpertOperations(deployment, passes, scaled_mlp) : none;
  const Ratio latent = deployment.InputAt("model.mla", Ratio(model.mla ? 11 : 0));
  const Ratio indexer =
      model.indexer ? 8 * IndexShare(deployment.model) : deployment.InputAt("model.indexer", Ratio(0));
  return Figure("Operations that the host launches per layer",
                5 + (1 - moe_share) * dense + moe_share * of_experts + latent + indexer,
                "mean over the layers; with those that scale 8-bit and 4-bit activations");
}

// Gap between kernels that are launched one by one; in a decode step, only kernels outside the graph have it.
Seconds GapOf(const Deployment& deployment, Ratio rows, Phase phase) {
  const LaunchOverheads& launch = deployment.launch;
  if (phase == Phase::kPrefill) return launch.prefill_gap;
  const std::optional<Tally>& most = deployment.engine.kernels.decode_graph_sequences;
  if (!launch.graphs || !most) return launch.decode_gap;
  const Ratio graph_sequences(*most);
  const Seconds gap = rows <= graph_sequences ? launch.decode_gap : launch.launch_gap;
  return Procedure("Gap between kernels", gap, {{gap, 1}, InSteps(graph_sequences), InSteps(rows)},
                   "a CUDA graph up to a number of sequences, kernel by kernel beyond");
}

Ratio OwnKernels(const Deployment& deployment, Ratio kernels) {
  const std::optional<Ratio>& launched = deployment.engine.kernels.expert_kernels;
  Ratio own = 4 + kernels;
  if (launched && deployment.layers.moe > 0) own += *launched * deployment.layers.moe / deployment.layers.total;
  return Figure("Kernels of a layer", own, "GEMMs, attention and elementwise; mean over the layers");
}

// Launch gaps of a layer's kernels.
Seconds LaunchGaps(const Deployment& deployment, Ratio rows, Phase phase, const LayerKernels& kernels) {
  const Seconds gap = GapOf(deployment, rows, phase);
  const Ratio own = OwnKernels(deployment, kernels.elementwise);
  return Figure("Launch gaps between kernels", gap * (kernels.reduces_apart ? own + kernels.halves : own),
                "of kernels launched one by one; none inside a CUDA graph");
}

// Launches per layer if one graph holds everything between the attention of two layers.
LayerLaunches LaunchesOfPieces(const Deployment& deployment) {
  constexpr double kPieces = 2;
  return {kPieces,
          Figure("Launch gaps between kernels", deployment.launch.prefill_gap * kPieces, "around each CUDA graph")};
}

}  // namespace

LayerLaunches LaunchesOf(const Deployment& deployment, Ratio rows, Phase phase, const LayerKernels& kernels) {
  const Ratio graph_tokens(deployment.engine.kernels.prefill_graph_tokens);
  const bool captures = phase == Phase::kPrefill && deployment.launch.graphs && graph_tokens > 0;
  const bool replays = captures && rows <= graph_tokens;
  LayerLaunches launches =
      replays ? LaunchesOfPieces(deployment)
              : LayerLaunches{OperationsPerLayer(deployment, kernels), LaunchGaps(deployment, rows, phase, kernels)};
  if (captures)
    launches.operations = Procedure("Operations that the host launches per layer", launches.operations,
                                    {{launches.operations, 1}, InSteps(graph_tokens), InSteps(rows)},
                                    "graphs are captured up to a number of tokens", "",
                                    {{"CUDA graphs between the layers' attention: tokens of the pass", rows},
                                     {"operation by operation: beyond", graph_tokens}},
                                    replays ? 0 : 1);
  return launches;
}

}  // namespace slipstick
