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
  const Seconds expert_exchange = one.exchange;
  FIGURE(trace, exchange, moe_layers * expert_exchange, (Note{"Exchange between experts", "dispatch and combine of all layers"}),
         moe_layers, expert_exchange);
  return {compute, exchange, one.operations};
}

LayersTime InTurn(const LayersCost& whole, const Deployment& d, Parts& parts, Trace& trace) {
  const Seconds compute = whole.compute, exchange = whole.exchange;
  FIGURE(trace, layers_time, compute + exchange, (Note{"All layers", "computing and exchange in turn"}), compute, exchange);
  KernelTime one;
  one.time = d.moe_layers > 0 ? exchange / d.moe_layers : Seconds{};
  one.bound = Bound::kNetwork;
  parts.Add("expert exchange", one, d.moe_layers);
  return {layers_time, whole.operations};
}

Seconds TwoBatches(const LayersCost& half, const Deployment& d, Phase phase, Trace& trace) {
  const Seconds compute = half.compute, exchange = half.exchange;
  const double taken = UnitsTaken(d, phase), moe_layers = max(1.0, d.moe_layers);
  FIGURE(trace, layers_time, max(2 * (compute + taken * exchange), 2 * exchange) + exchange / moe_layers,
         (Note{"All layers, two half batches in turn",
               "one half computes, on the units that the exchange leaves it, while the other's tokens travel; the first exchange hides "
               "behind nothing",
               "two-batch overlap: LMSYS, large-scale expert parallelism, 2025-05-05"}),
         compute, taken, exchange, moe_layers);
  return layers_time;
}

}  // namespace slipstick
