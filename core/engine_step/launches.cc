#include "core/engine_step/launches.h"

#include <string>
#include <utility>
#include <vector>

#include "core/engine_step/expert_time.h"

namespace slipstick {
namespace {

// Operations between the GEMMs and the attention of a dense layer.
double DensePasses(const Deployment& deployment, double passes, double scaled_mlp, Trace& trace) {
  if (const std::optional<Count>& fused_passes = deployment.engine.kernels.fused_passes) {
    const auto dense = static_cast<double>(*fused_passes);
    trace.Input("dense", dense, "serving.engine.fused_passes");
    return dense;
  }
  FIGURE(trace, dense, passes + scaled_mlp,
         (Note{"Operations between those of a dense layer", "with those that scale activations of the MLP"}), passes,
         scaled_mlp);
  return dense;
}

// Operations launched by the host per layer, mean over the layers: five for GEMMs and attention; what passes over
// activations between them, fused in a dense layer or apart; MoE adds routing, permutation, scales and combine, where
// these are not parts of a four-bit kernel; MLA adds projections, norms, rotary embedding and copies; an indexer two
// projections, norm, rotary embedding, two quantizations, scores and selection; 8-bit and 4-bit activations are scaled
// before each GEMM.
double OperationsPerLayer(const Deployment& deployment, double halves, double kernels, Trace& trace) {
  const bool is_latent = deployment.model.mla.has_value();
  const double moe_layers = deployment.layers.moe, layers = deployment.layers.total, moe_share = moe_layers / layers,
               shared = deployment.model.moe && deployment.model.moe->shared_ffn > 0 ? 1 : 0;
  if (moe_layers > 0) {
    const double rank_shared = deployment.shapes.widths.shared;
    FIGURE(trace, has_shared, min(1, rank_shared), (Note{"Whether there are shared experts", ""}), rank_shared);
    trace.Alias("shared", shared, "has_shared");
    trace.Record("moe_share", "moe_layers / layers", moe_share, Note{"Share of the layers with experts", ""},
                 "moe_layers, layers", moe_layers, layers);
  } else {
    trace.Input("moe_share", moe_share, "model.moe");
    trace.Input("shared", shared, "model.moe");
  }
  const bool is_narrow = BytesPerElement(deployment.formats.activations) < 2;
  const double scaled_attention =
      BytesPerElement(deployment.formats.attention_activations) < 2 ? (is_latent ? 4 : 2) : 0;
  const double scaled_mlp = is_narrow ? 2 : 0;
  const double tp = deployment.mapping.tp, latent = is_latent ? 11 : 0,
               index_kernels = deployment.model.indexer ? 8 : 0;
  const double index_share = deployment.model.indexer ? IndexShare(deployment.model, trace) : 0;
  const double routing = HasFourBitExperts(deployment) ? 0 : 6;
  trace.Input("latent", latent, "model.mla");
  trace.Input("index_kernels", index_kernels, "model.indexer");
  if (!deployment.model.indexer) trace.Input("index_share", index_share, "model.indexer");
  trace.Input("routing", routing, "serving.precision.weights");
  FIGURE(trace, reduced, min(1.0, tp - 1) * halves, (Note{"All-reduces of a layer", "none on a single rank"}), tp,
         halves);
  trace.Input("scaled_attention", scaled_attention, "serving.precision.activations");
  trace.Input("scaled_mlp", scaled_mlp, "serving.precision.activations");
  FIGURE(trace, passes, kernels + reduced + scaled_attention,
         (Note{"Operations between GEMMs and attention", "norms, all-reduces, and those that scale activations"}),
         kernels, reduced, scaled_attention);
  const double dense = DensePasses(deployment, passes, scaled_mlp, trace);
  FIGURE(trace, operations,
         5 + (1 - moe_share) * dense + moe_share * (passes + routing + (3 + scaled_mlp) * shared) + latent +
             index_kernels * index_share,
         (Note{"Operations that the host launches per layer",
               "mean over the layers; with those that scale 8-bit and 4-bit activations"}),
         moe_share, dense, passes, routing, scaled_mlp, shared, latent, index_kernels, index_share);
  return operations;
}

// Between kernels that are launched one by one: of a decode step, those that no graph holds.
Seconds GapOf(const Deployment& deployment, double rows, Phase phase, Trace& trace) {
  const std::optional<Count>& most = deployment.engine.kernels.decode_graph_sequences;
  const bool decodes = phase == Phase::kDecode;
  if (!decodes || !deployment.launch.graphs || !most) {
    const Seconds gap = decodes ? deployment.launch.decode_gap : deployment.launch.prefill_gap;
    trace.Alias("gap", gap, decodes ? "decode_gap" : "prefill_gap");
    return gap;
  }
  const auto graph_sequences = static_cast<double>(*most);
  const bool replays = rows <= graph_sequences;
  const Seconds decode_gap = deployment.launch.decode_gap, launch_gap = deployment.launch.launch_gap,
                gap = replays ? decode_gap : launch_gap;
  if (trace.on()) {
    trace.Input("graph_sequences", graph_sequences, "serving.engine.decode_graphs");
    trace.Input("launch_gap", launch_gap, EnginePath(deployment.launch.gap_row, "launch_gap"));
    const std::vector<std::pair<std::string, double>> among{{"one CUDA graph: sequences of the step", rows},
                                                            {"kernel by kernel: beyond", graph_sequences}};
    trace.Choice("gap", gap, Note{"Gap between kernels", "graphs are captured up to a number of sequences"}, among,
                 replays ? 0 : 1, "decode_gap, launch_gap, graph_sequences, rows", decode_gap, launch_gap,
                 graph_sequences, rows);
  }
  return gap;
}

double OwnKernels(const Deployment& deployment, double kernels, Trace& trace) {
  const std::optional<double>& launched = deployment.engine.kernels.expert_kernels;
  constexpr Note kNote{"Kernels of a layer", "GEMMs, attention and elementwise; mean over the layers"};
  if (!launched || !(deployment.layers.moe > 0)) {
    FIGURE(trace, own_kernels, 4 + kernels, kNote, kernels);
    return own_kernels;
  }
  const double expert_kernels = *launched, moe_layers = deployment.layers.moe, layers = deployment.layers.total;
  trace.Input("expert_kernels", expert_kernels, "serving.engine.expert_kernels");
  FIGURE(trace, own_kernels, 4 + kernels + expert_kernels * moe_layers / layers, kNote, kernels, expert_kernels,
         moe_layers, layers);
  return own_kernels;
}

// Launch gaps of a layer's kernels.
Seconds LaunchGaps(const Deployment& deployment, double rows, Phase phase, double halves, double kernels,
                   bool reduces_apart, Trace& trace) {
  const Seconds gap = GapOf(deployment, rows, phase, trace);
  const double own_kernels = OwnKernels(deployment, kernels, trace);
  constexpr Note kNote{"Launch gaps between kernels", "of kernels launched one by one; none inside a CUDA graph"};
  if (!reduces_apart) {
    FIGURE(trace, gaps, gap * own_kernels, kNote, gap, own_kernels);
    return gaps;
  }
  FIGURE(trace, gaps, gap * (own_kernels + halves), kNote, gap, own_kernels, halves);
  return gaps;
}

// The attention of a layer, and one graph of everything up to the next layer's.
LayerLaunches LaunchesOfPieces(const Deployment& deployment, Trace& trace) {
  const double pieces = 2;
  CONSTANTS(trace, "serving.prefill_graphs",
            "attention is launched, and one graph of everything up to the next layer's attention", pieces);
  const Seconds gap = deployment.launch.prefill_gap;
  trace.Alias("gap", gap, "prefill_gap");
  FIGURE(trace, operations, 1 * pieces,
         (Note{"Operations that the host launches per layer", "attention, and a CUDA graph"}), pieces);
  FIGURE(trace, gaps, gap * pieces, (Note{"Launch gaps between kernels", "around each CUDA graph"}), gap, pieces);
  return {operations, gaps};
}

}  // namespace

LayerLaunches LaunchesOf(const Deployment& deployment, double rows, Phase phase, const LayerKernels& kernels,
                         Trace& trace) {
  const auto graph_tokens = static_cast<double>(deployment.engine.kernels.prefill_graph_tokens);
  const bool captures = phase == Phase::kPrefill && deployment.launch.graphs && graph_tokens > 0;
  const bool replays = captures && rows <= graph_tokens;
  LayerLaunches launches;
  if (replays) {
    launches = LaunchesOfPieces(deployment, trace);
  } else {
    launches.operations = OperationsPerLayer(deployment, kernels.halves, kernels.elementwise, trace);
    launches.gaps =
        LaunchGaps(deployment, rows, phase, kernels.halves, kernels.elementwise, kernels.reduces_apart, trace);
  }
  if (captures && trace.on()) {
    const double operations = launches.operations;
    trace.Input("graph_tokens", graph_tokens, "serving.engine.prefill_graphs");
    const std::vector<std::pair<std::string, double>> among{
        {"CUDA graphs between the layers' attention: tokens of the pass", rows},
        {"operation by operation: beyond", graph_tokens}};
    trace.Choice("operations", operations,
                 Note{"Operations that the host launches per layer", "graphs are captured up to a number of tokens"},
                 among, replays ? 0 : 1, "operations, graph_tokens, rows", operations, graph_tokens, rows);
    trace.MovesBy(0, 1);
  }
  return launches;
}

}  // namespace slipstick
