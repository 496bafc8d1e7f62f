#include "core/engine_step/layers_time.h"

#include <string>

#include "core/base/sum.h"
#include "core/engine_step/exchange.h"

namespace slipstick {
namespace {

// A sum over the layers: "layers * common + attention_layers * mixing + ...". Absent parts are left out.
class LayerSum {
 public:
  explicit LayerSum(Trace& trace) : trace_(trace) {}
  void Add(std::string_view count_symbol, double count, std::string_view symbol, Seconds part) {
    total_ += count * part;
    if (!trace_.on() || count == 0 || part == Seconds()) return;
    const std::string product = std::string(count_symbol) + " * " + std::string(symbol);
    formula_.Add(product, {{count_symbol, internal::ValueOf(count)}, {symbol, internal::ValueOf(part)}});
  }
  Seconds Total(std::string_view symbol, const Note& note) const {
    if (!formula_.empty()) formula_.Record(trace_, symbol, internal::ValueOf(total_), note);
    return total_;
  }

 private:
  Trace& trace_;
  Seconds total_;
  SumFormula formula_;
};

// Parts of a layer with experts, for their overlap with the exchange.
void SetExchange(const Deployment& deployment, const LayerCost& one, LayersCost& all, Trace& trace) {
  const double moe_layers = deployment.layers.moe, dense_layers = deployment.layers.dense,
               layers = deployment.layers.total;
  const Seconds compute = all.compute, experts = one.experts, mlp = one.mlp, dispatch = one.dispatch,
                combine = one.combine;
  FIGURE(trace, all_experts, moe_layers * experts, (Note{"Experts of all layers", ""}), moe_layers, experts);
  if (dense_layers > 0) {
    FIGURE(trace, before_experts, (compute - all_experts - dense_layers * mlp) * (moe_layers / layers),
           (Note{"What precedes the experts in their layers", "all layers"}), compute, all_experts, dense_layers, mlp,
           moe_layers, layers);
    all.attention = before_experts;
  } else {
    FIGURE(trace, before_experts, (compute - all_experts) * (moe_layers / layers),
           (Note{"What precedes the experts in their layers", "all layers"}), compute, all_experts, moe_layers, layers);
    all.attention = before_experts;
  }
  all.experts = all_experts;
  if (!(dispatch > Seconds())) return;
  FIGURE(trace, all_dispatch, moe_layers * dispatch, (Note{"Dispatch in all layers", ""}), moe_layers, dispatch);
  FIGURE(trace, all_combine, moe_layers * combine, (Note{"Combine in all layers", ""}), moe_layers, combine);
  all.dispatch = all_dispatch;
  all.combine = all_combine;
}

}  // namespace

LayersCost AllLayers(const Deployment& deployment, const LayerCost& one, const MixingCost& mixing, Trace& trace) {
  const double layers = deployment.layers.total, attention_layers = deployment.layers.attention,
               recurrent_layers = deployment.layers.recurrent;
  const Seconds elementwise = one.elementwise, gaps = one.gaps, reductions = one.reductions,
                projections = one.projections, context_exchange = mixing.context_exchange, recurrent = one.recurrent,
                recurrence = mixing.recurrence;
  LayerSum sum(trace);
  if (reductions > Seconds()) {
    FIGURE(trace, every_layer, elementwise + reductions + gaps,
           (Note{"Elementwise kernels, all-reduces and launch gaps of a layer", ""}), elementwise, reductions, gaps);
    sum.Add("layers", layers, "every_layer", every_layer);
  } else {
    FIGURE(trace, every_layer, elementwise + gaps, (Note{"Elementwise kernels and launch gaps of a layer", ""}),
           elementwise, gaps);
    sum.Add("layers", layers, "every_layer", every_layer);
  }
  if (context_exchange > Seconds()) {
    FIGURE(trace, around_attention, projections + context_exchange,
           (Note{"Projections and exchange of a context's parts", ""}), projections, context_exchange);
    sum.Add("attention_layers", attention_layers, "around_attention", around_attention);
  } else {
    sum.Add("attention_layers", attention_layers, "projections", projections);
  }
  if (recurrent_layers > 0) {
    FIGURE(trace, recurrent_mixing, recurrent + recurrence, (Note{"Projections and recurrence of a layer", ""}),
           recurrent, recurrence);
    sum.Add("recurrent_layers", recurrent_layers, "recurrent_mixing", recurrent_mixing);
  }
  if (one.inputs > Seconds()) {
    const Seconds inputs = one.inputs;
    FIGURE(trace, mean_inputs, inputs / layers,
           (Note{"Embeddings of the layers", "computed once per pass; as a part of each layer"}), inputs, layers);
    sum.Add("layers", layers, "mean_inputs", mean_inputs);
  }
  sum.Add("dense_layers", deployment.layers.dense, "mlp", one.mlp);
  sum.Add("moe_layers", deployment.layers.moe, "experts", one.experts);
  sum.Add("full_layers", deployment.layers.full, "attention", mixing.attention);
  sum.Add("window_layers", deployment.layers.window, "window_attention", mixing.window_attention);
  LayersCost all;
  all.compute = sum.Total("compute", {"All layers without the expert exchange", "kernel after kernel"});
  all.operations = one.operations;
  if (deployment.layers.moe > 0) SetExchange(deployment, one, all, trace);
  return all;
}

LayersTime InTurn(const LayersCost& whole, const Deployment& deployment, OperatorBreakdown& operators, Trace& trace) {
  const Seconds compute = whole.compute, all_dispatch = whole.dispatch, all_combine = whole.combine;
  if (!(all_dispatch > Seconds())) {
    FIGURE(trace, layers_time, 1 * compute, (Note{"All layers", "kernel after kernel"}), compute);
    return {layers_time, whole.operations};
  }
  FIGURE(trace, layers_time, compute + all_dispatch + all_combine,
         (Note{"All layers", "compute, then dispatch and combine"}), compute, all_dispatch, all_combine);
  KernelTime one;
  if (deployment.layers.moe > 0) one.time = (all_dispatch + all_combine) / deployment.layers.moe;
  one.bound = Bound::kNetwork;
  operators.Add(kExpertExchange, one, deployment.layers.moe);
  return {layers_time, whole.operations};
}

// In the order of the kernels, A1 (A2, D1) (E1, D2) (E2, C1) (A1', C2): each exchange runs beside one stretch of the
// other half.
Seconds TwoBatches(const LayersCost& half, const Deployment& deployment, Phase phase, Trace& trace) {
  const Seconds compute = half.compute, before_experts = half.attention, all_experts = half.experts,
                all_dispatch = half.dispatch, all_combine = half.combine;
  FIGURE(trace, rest, compute - before_experts - all_experts, (Note{"Dense layers", ""}), compute, before_experts,
         all_experts);
  const double taken = UnitsTaken(deployment, phase, trace);
  constexpr std::string_view kOrder = "two-batch overlap: LMSYS, large-scale expert parallelism, 2025-05-05";
  FIGURE(
      trace, dispatches,
      max(all_dispatch, before_experts + taken * all_dispatch) + max(all_dispatch, all_experts + taken * all_dispatch),
      (Note{"Dispatch of both halves",
            "of the first during attention of the second, of the second during the experts of the first", kOrder}),
      all_dispatch, before_experts, taken, all_experts);
  FIGURE(trace, combines,
         max(all_combine, all_experts + taken * all_combine) + max(all_combine, before_experts + taken * all_combine),
         (Note{"Combine of both halves",
               "of the first during the experts of the second, of the second during the next attention of the first",
               kOrder}),
         all_combine, all_experts, taken, before_experts);
  FIGURE(trace, layers_time, dispatches + combines + 2 * rest,
         (Note{"All layers, two-batch overlap",
               "each exchange beside one stretch of computing, on the SMs that it leaves", kOrder}),
         dispatches, combines, rest);
  return layers_time;
}

}  // namespace slipstick
