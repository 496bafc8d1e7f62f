#include "core/serving/layers_time.h"

#include "core/serving/exchange.h"

namespace slipstick {

LayersCost AllLayers(const Deployment& d, const LayerCost& one, const MixingCost& mixing, Trace& trace) {
  const double layers = d.layers, window_layers = d.window_layers, full_layers = d.attention_layers - window_layers;
  const double moe_layers = d.moe_layers, dense_layers = d.dense_layers, attention_layers = d.attention_layers,
               linear_layers = d.linear_layers;
  const Seconds projections = one.projections, recurrent = one.recurrent, mlp = one.mlp, experts = one.experts, elements = one.elements,
                reductions = one.reductions, gaps = one.gaps;
  const Seconds attention = mixing.attention, window_attention = mixing.window_attention, recurrence = mixing.recurrence,
                context_exchange = mixing.context_exchange;
  FIGURE(trace, compute,
         layers * (elements + reductions + gaps) + attention_layers * (projections + context_exchange) +
             linear_layers * (recurrent + recurrence) + dense_layers * mlp + moe_layers * experts + full_layers * attention +
             window_layers * window_attention,
         (Note{"All layers without the exchange between experts", "their kernels in turn"}), layers, elements, reductions, gaps,
         attention_layers, projections, context_exchange, linear_layers, recurrent, recurrence, dense_layers, mlp, moe_layers, experts,
         full_layers, attention, window_layers, window_attention);
  LayersCost all;
  all.compute = compute;
  all.experts = moe_layers * experts;
  all.attention = (compute - all.experts - dense_layers * mlp) * (moe_layers / layers);
  all.dispatch = moe_layers * one.dispatch;
  all.combine = moe_layers * one.combine;
  all.operations = one.operations;
  return all;
}

LayersTime InTurn(const LayersCost& whole, const Deployment& d, Parts& parts, Trace& trace) {
  const Seconds compute = whole.compute, dispatch = whole.dispatch, combine = whole.combine;
  FIGURE(trace, layers_time, compute + dispatch + combine, (Note{"All layers", "computing, and tokens to their experts and back, in turn"}),
         compute, dispatch, combine);
  KernelTime one;
  if (d.moe_layers > 0) one.time = (dispatch + combine) / d.moe_layers;
  one.bound = Bound::kNetwork;
  parts.Add("expert exchange", one, d.moe_layers);
  return {layers_time, whole.operations};
}

Seconds TwoBatches(const LayersCost& half, const Deployment& d, Phase phase, Trace& trace) {
  const Seconds attention = half.attention, experts = half.experts, dispatch = half.dispatch, combine = half.combine;
  const Seconds rest = half.compute - attention - experts;
  const double taken = UnitsTaken(d, phase);
  FIGURE(trace, layers_time, 2 * (max(dispatch, attention + taken * dispatch) + max(combine, experts + taken * combine) + rest),
         (Note{"All layers, two half batches in turn",
               "dispatch of one half behind the attention of the other, combine behind its experts, on the units that the exchange leaves",
               "two-batch overlap: LMSYS, large-scale expert parallelism, 2025-05-05"}),
         dispatch, attention, taken, combine, experts, rest);
  return layers_time;
}

}  // namespace slipstick
