#include "core/training_stage/launch_waits.h"

#include "core/base/figure.h"

namespace slipstick {
namespace {

// Kernels and their launches overlap: the exposed part of the launches.
Seconds HostWait(Seconds device_time, Seconds launch_time) {
  return Figure("Wait for launches", norm(device_time, launch_time, 4) - device_time,
                "kernels and their launches overlap; the fourth norm says how far");
}

// Host time of a layer's launches, forward and backward.
Seconds LayerLaunches(const TrainingContext& context, bool has_experts) {
  const FrameworkCompute& framework = context.framework().compute;
  const Seconds plain = has_experts ? framework.moe_layer_launch : framework.layer_launch;
  const bool is_adapted = context.run.trainable == Trainable::kLora && framework.adapter_launch > Seconds{};
  if (!HasPipelinedLaunches(context) && !is_adapted) return plain;
  const Seconds of_adapters = is_adapted ? framework.adapter_launch : Seconds{},
                per_rank = HasPipelinedLaunches(context) ? *framework.pipelined_launch : Seconds{};
  return Figure("Launches of a layer", plain + of_adapters + per_rank * context.shape.tensor,
                "more for low-rank adapters, and per TP rank under this framework's pipeline");
}

}  // namespace

// A third of a layer's launches belongs to the forward pass.
void AddHostWaits(const TrainingContext& context, const LayerWork& work, Seconds weight_gradients,
                  Ratio backward_launches, LayerTime& time) {
  const Seconds launches = LayerLaunches(context, work.routed_rows > 0), forward_launches = launches / 3;
  const Seconds backward_launch = Figure("Launches of the backward pass", 2 * launches / 3 * backward_launches,
                                         "two thirds of the layer's; more where it repeats the forward pass");
  time.forward.host = time.backward.host = time.weight_gradient = {};
  const Seconds forward_busy = Figure("Forward pass of a layer", time.forward.Total(), "launch waits apart");
  const Seconds backward_busy =
      Figure("Backward pass of a layer with its recomputation", time.Backward(), "launch waits apart");
  if (SplitsBackward(context) && weight_gradients > Seconds{}) {
    // Each pass waits for its own launches: otherwise a shorter pass could lengthen the other.
    const Seconds weight_wait = HostWait(weight_gradients, forward_launches);
    const Seconds input_wait = HostWait(backward_busy - weight_gradients, backward_launch - forward_launches);
    time.backward.host = Figure("Wait for launches, backward", input_wait + weight_wait);
    time.weight_gradient = Figure("Weight gradients of a layer", weight_gradients + weight_wait, "a pass of their own");
  } else {
    time.backward.host = HostWait(backward_busy, backward_launch);
  }
  time.forward.host = HostWait(forward_busy, forward_launches);
}

}  // namespace slipstick
