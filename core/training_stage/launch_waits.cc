#include "core/training_stage/launch_waits.h"

#include <string>
#include <string_view>

namespace slipstick {
namespace {

// Kernels and their launches overlap: the exposed part of the launches. Bound to `symbol` and recorded in a scope of
// that name.
Seconds HostWait(Seconds device_time, std::string_view device_is, Seconds launch_time, std::string_view launch_is,
                 std::string_view symbol, Trace& trace) {
  const Trace::Scope scope(trace, symbol);
  trace.Alias("device_time", device_time, device_is);
  trace.Alias("launch_time", launch_time, launch_is);
  FIGURE(trace, wait, norm(device_time, launch_time, 4) - device_time,
         (Note{"Wait for launches", "kernels and their launches overlap; the fourth norm says how far"}), device_time,
         launch_time);
  trace.Alias(symbol, wait, "wait");
  return wait;
}

// Total time of a pass without its host wait, from its parts: bound to `symbol`. Their symbols end in the pass's name.
void ExplainPass(const LayerPass& pass, std::string_view symbol, const Note& note, std::string_view formula,
                 Trace& trace) {
  std::string names(formula);
  for (std::size_t at = names.find(" +"); at != std::string::npos; at = names.find(" +")) names.replace(at, 2, ",");
  trace.Record(symbol, formula, pass.compute + pass.tp + pass.cp + pass.ep, note, names, pass.compute, pass.tp, pass.cp,
               pass.ep);
}

// Host time of a layer's launches, forward and backward.
Seconds LayerLaunches(const TrainingContext& context, bool has_experts, Trace& trace) {
  const FrameworkCompute& framework = context.framework().compute;
  const Seconds plain_launches = has_experts ? framework.moe_layer_launch : framework.layer_launch;
  const std::string_view path =
      has_experts ? "training.framework.compute.moe_layer_launch" : "training.framework.compute.layer_launch";
  const bool adapted = context.run.trainable == Trainable::kLora && framework.adapter_launch > Seconds{};
  if (!HasPipelinedLaunches(context) && !adapted) {
    trace.Input("layer_launches", plain_launches, path);
    return plain_launches;
  }
  const Seconds pipelined_launch = HasPipelinedLaunches(context) ? *framework.pipelined_launch : Seconds{};
  const Seconds adapter_launch = adapted ? framework.adapter_launch : Seconds{};
  const double tp = context.shape.tensor;
  trace.Input("plain_launches", plain_launches, path);
  trace.Input("pipelined_launch", pipelined_launch, "training.framework.compute.pipelined_launch");
  trace.Input("adapter_launch", adapter_launch, "training.framework.compute.adapter_launch");
  FIGURE(trace, layer_launches, plain_launches + adapter_launch + pipelined_launch * tp,
         (Note{"Launches of a layer", "more for low-rank adapters, and per TP rank under this framework's pipeline"}),
         plain_launches, adapter_launch, pipelined_launch, tp);
  return layer_launches;
}

}  // namespace

// A third of a layer's launches belongs to the forward pass.
void AddHostWaits(const TrainingContext& context, const LayerWork& work, Seconds weight_gradients,
                  double backward_launches, LayerTime& time, Trace& trace) {
  const bool has_experts = work.routed_rows > 0;
  const Seconds layer_launches = LayerLaunches(context, has_experts, trace);
  FIGURE(trace, forward_launches, layer_launches / 3, (Note{"Launches of the forward pass", "a third of the layer's"}),
         layer_launches);
  constexpr Note kLaunches{"Launches of the backward pass", "more where it repeats the forward pass"};
  const Seconds backward_launch = 2 * layer_launches / 3 * backward_launches;
  if (backward_launches > 1) {
    trace.Input("backward_launches", backward_launches, "training.framework.compute.backward_launches");
    trace.Record("backward_launch", "2 * layer_launches / 3 * backward_launches", backward_launch, kLaunches,
                 "layer_launches, backward_launches", layer_launches, backward_launches);
  } else {
    trace.Record("backward_launch", "2 * layer_launches / 3", backward_launch, kLaunches, "layer_launches",
                 layer_launches);
  }
  time.forward.host = time.backward.host = time.weight_gradient = {};
  const Seconds forward_busy = time.forward.Total(), backward_busy = time.Backward();
  if (trace.on()) {
    ExplainPass(time.forward, "forward_busy", {"Forward pass of a layer", "launch waits apart"},
                "forward_compute + forward_tp + forward_cp + forward_ep", trace);
    ExplainPass(time.backward, "gradients_busy", {"Backward pass of a layer", "recomputation and launch waits apart"},
                "backward_compute + backward_tp + backward_cp + backward_ep", trace);
    ExplainPass(time.recompute, "recompute_busy", {"Recomputation of a layer"},
                "recompute_compute + recompute_tp + recompute_cp + recompute_ep", trace);
  }
  const Seconds gradients_busy = time.backward.Total(), recompute_busy = time.recompute.Total();
  trace.Record("backward_busy", "gradients_busy + recompute_busy", backward_busy,
               Note{"Backward pass of a layer with its recomputation", "launch waits apart"},
               "gradients_busy, recompute_busy", gradients_busy, recompute_busy);
  if (SplitsBackward(context) && weight_gradients > Seconds{}) {
    // Each pass waits for its own launches: otherwise a shorter pass could lengthen the other.
    FIGURE(trace, input_gradients_busy, backward_busy - weight_gradients,
           (Note{"Input gradients of a layer", "a pass of their own"}), backward_busy, weight_gradients);
    FIGURE(trace, input_launches, backward_launch - forward_launches, (Note{"Launches of the input gradients"}),
           backward_launch, forward_launches);
    const Seconds weight_wait =
        HostWait(weight_gradients, "weight_gradients", forward_launches, "forward_launches", "weight_wait", trace);
    const Seconds input_wait =
        HostWait(input_gradients_busy, "input_gradients_busy", input_launches, "input_launches", "input_wait", trace);
    FIGURE(trace, backward_host, input_wait + weight_wait, (Note{"Wait for launches, backward"}), input_wait,
           weight_wait);
    FIGURE(trace, weight_gradient_pass, weight_gradients + weight_wait,
           (Note{"Weight gradients of a layer", "a pass of their own"}), weight_gradients, weight_wait);
    time.backward.host = backward_host;
    time.weight_gradient = weight_gradient_pass;
  } else {
    time.backward.host =
        HostWait(backward_busy, "backward_busy", backward_launch, "backward_launch", "backward_host", trace);
  }
  time.forward.host =
      HostWait(forward_busy, "forward_busy", forward_launches, "forward_launches", "forward_host", trace);
  const Seconds forward_host = time.forward.host, backward_host = time.backward.host;
  FIGURE(trace, forward_total, forward_busy + forward_host, (Note{"Forward pass of a layer"}), forward_busy,
         forward_host);
  trace.Record("backward_total", "backward_busy + backward_host", time.Backward(),
               Note{"Backward pass of a layer", "with its recomputation"}, "backward_busy, backward_host",
               backward_busy, backward_host);
  FIGURE(trace, host_waits, forward_host + backward_host,
         (Note{"Wait for launches of a layer", "forward and backward"}), forward_host, backward_host);
}

}  // namespace slipstick
