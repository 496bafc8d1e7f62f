#include "core/serving/layers_time.h"

#include "core/serving/exchange.h"

namespace slipstick {

LayersCost AllLayers(const Deployment& deployment, const LayerCost& one, const MixingCost& mixing, Trace& trace) {
  const double layers = deployment.layers.total, window_layers = deployment.layers.window,
               full_layers = deployment.layers.attention - window_layers;
  const double moe_layers = deployment.layers.moe, dense_layers = deployment.layers.dense, attention_layers = deployment.layers.attention,
               linear_layers = deployment.layers.recurrent;
  const Seconds projections = one.projections, recurrent = one.recurrent, mlp = one.mlp, experts = one.experts,
                elementwise = one.elementwise, reductions = one.reductions, gaps = one.gaps;
  const Seconds attention = mixing.attention, window_attention = mixing.window_attention, recurrence = mixing.recurrence,
                context_exchange = mixing.context_exchange;
  FIGURE(trace, compute,
         layers * (elementwise + reductions + gaps) + attention_layers * (projections + context_exchange) +
             linear_layers * (recurrent + recurrence) + dense_layers * mlp + moe_layers * experts + full_layers * attention +
             window_layers * window_attention,
         (Note{"All layers without the expert exchange", "kernel after kernel"}), layers, elementwise, reductions, gaps, attention_layers,
         projections, context_exchange, linear_layers, recurrent, recurrence, dense_layers, mlp, moe_layers, experts, full_layers,
         attention, window_layers, window_attention);
  LayersCost all;
  all.compute = compute;
  all.experts = moe_layers * experts;
  all.attention = (compute - all.experts - dense_layers * mlp) * (moe_layers / layers);
  all.dispatch = moe_layers * one.dispatch;
  all.combine = moe_layers * one.combine;
  all.operations = one.operations;
  return all;
}

LayersTime InTurn(const LayersCost& whole, const Deployment& deployment, OperatorBreakdown& operators, Trace& trace) {
  const Seconds compute = whole.compute, dispatch = whole.dispatch, combine = whole.combine;
  FIGURE(trace, layers_time, compute + dispatch + combine, (Note{"All layers", "compute, then dispatch and combine"}), compute, dispatch,
         combine);
  KernelTime one;
  if (deployment.layers.moe > 0) one.time = (dispatch + combine) / deployment.layers.moe;
  one.bound = Bound::kNetwork;
  operators.Add("expert exchange", one, deployment.layers.moe);
  return {layers_time, whole.operations};
}

Seconds TwoBatches(const LayersCost& half, const Deployment& deployment, Phase phase, Trace& trace) {
  const Seconds attention = half.attention, experts = half.experts, dispatch = half.dispatch, combine = half.combine;
  const Seconds rest = half.compute - attention - experts;
  const double taken = UnitsTaken(deployment, phase);
  FIGURE(trace, layers_time, 2 * (max(dispatch, attention + taken * dispatch) + max(combine, experts + taken * combine) + rest),
         (Note{"All layers, two-batch overlap",
               "dispatch of one half overlaps attention of the other, combine overlaps its experts, on the SMs that the exchange leaves",
               "two-batch overlap: LMSYS, large-scale expert parallelism, 2025-05-05"}),
         dispatch, attention, taken, combine, experts, rest);
  return layers_time;
}

}  // namespace slipstick
