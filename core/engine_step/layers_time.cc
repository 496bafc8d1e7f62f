#include "core/engine_step/layers_time.h"

#include "core/base/figure.h"
#include "core/engine_step/exchange.h"

namespace slipstick {
namespace {

// Sets the parts of a layer with experts that can overlap with the exchange.
void SetExchange(const Deployment& deployment, const LayerCost& one, LayersCost& all) {
  const ServedLayers& layers = deployment.layers;
  all.experts = Figure("Experts of all layers", layers.moe * one.experts);
  Seconds others = all.compute - all.experts;
  if (layers.dense > 0) others -= layers.dense * one.mlp;
  all.attention =
      Figure("What precedes the experts in their layers", others * (layers.moe / layers.total), "all layers");
  all.dispatch = Figure("Dispatch in all layers", layers.moe * one.dispatch);
  all.combine = Figure("Combine in all layers", layers.moe * one.combine);
}

}  // namespace

LayersCost AllLayers(const Deployment& deployment, const LayerCost& one, const MixingCost& mixing) {
  const ServedLayers& layers = deployment.layers;
  Seconds sum;
  const auto add = [&](Ratio count, Seconds part) {
    if (count != 0 && part != Seconds{}) sum += count * part;
  };
  add(layers.total, Figure("Elementwise kernels, all-reduces and launch gaps of a layer",
                           one.elementwise + one.reductions + one.gaps));
  add(layers.attention,
      Figure("Projections and exchange of a context's parts", one.projections + mixing.context_exchange));
  add(layers.recurrent, Figure("Projections and recurrence of a layer", one.recurrent + mixing.recurrence));
  add(layers.total,
      Figure("Embeddings of the layers", one.inputs / layers.total, "computed once per pass; as a part of each layer"));
  add(layers.dense, one.mlp);
  add(layers.moe, one.experts);
  add(layers.full, mixing.attention);
  add(layers.window, mixing.window_attention);
  LayersCost all;
  all.compute = Figure("All layers without the expert exchange", sum, "kernel after kernel");
  all.operations = one.operations;
  if (layers.moe > 0) SetExchange(deployment, one, all);
  return all;
}

LayersTime InTurn(const LayersCost& whole, const Deployment& deployment, OperatorBreakdown& operators) {
  if (!(whole.dispatch > Seconds()))
    return {Figure("All layers", whole.compute, "kernel after kernel"), whole.operations};
  const Ratio layers = deployment.layers.moe;
  operators.Add(kExpertExchange, NetworkTime((whole.dispatch + whole.combine) / layers), layers);
  return {Figure("All layers", whole.compute + whole.dispatch + whole.combine, "compute, then dispatch and combine"),
          whole.operations};
}

// Kernels run as A1 (A2, D1) (E1, D2) (E2, C1) (A1', C2), where A is attention, D dispatch, E experts, C combine, and 1
// and 2 are the halves: each exchange overlaps with attention or experts of the other half.
Seconds TwoBatches(const LayersCost& half, const Deployment& deployment, Phase phase) {
  constexpr std::string_view kOrder = "two-batch overlap: LMSYS, large-scale expert parallelism, 2025-05-05";
  const Ratio taken = UnitsTaken(deployment, phase);
  const auto beside = [&](Seconds exchange, Seconds stretch) { return max(exchange, stretch + taken * exchange); };
  const Seconds rest = Figure("Dense layers", half.compute - half.attention - half.experts);
  const Seconds dispatches =
      Figure("Dispatch of both halves", beside(half.dispatch, half.attention) + beside(half.dispatch, half.experts),
             "of the first during attention of the second, of the second during the experts of the first", kOrder);
  const Seconds combines = Figure(
      "Combine of both halves", beside(half.combine, half.experts) + beside(half.combine, half.attention),
      "of the first during the experts of the second, of the second during the next attention of the first", kOrder);
  return Figure("All layers, two-batch overlap", dispatches + combines + 2 * rest,
                "each exchange beside one stretch of computing, on the SMs that it leaves", kOrder);
}

LayersTime InTwoBatches(const LayersCost& half, Seconds time, OperatorBreakdown& operators) {
  constexpr double kHalves = 2;
  operators.Repeat(kHalves);
  operators.Add("exposed expert exchange", NetworkTime(max(time - kHalves * half.compute, Seconds{})), 1);
  return {time, Figure("Operations that the host launches per layer", kHalves * half.operations, "of both halves")};
}

}  // namespace slipstick
