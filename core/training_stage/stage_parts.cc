#include "core/training_stage/stage_parts.h"

#include <string_view>

#include "core/base/figure.h"

namespace slipstick {
namespace {

// Of a transfer beside a pass.
Seconds ExposedBeside(std::string_view title, Seconds transfer, Seconds pass) {
  return Figure(title, max(0 * kS, transfer - pass));
}

}  // namespace

HostTransfer ExposedOffload(Seconds one, const LayerTime& time, const ShardedLayer& sharded) {
  constexpr std::string_view kReload = "Exposed reload of a layer's activations";
  const Seconds backward = time.Backward() + sharded.backward;
  HostTransfer host;
  host.forward = ExposedBeside("Exposed offload of a layer's activations", one, time.forward.Total() + sharded.forward);
  if (time.weight_gradient > Seconds{}) {
    const Seconds weight_pass = time.weight_gradient + sharded.weight_gradient;
    host.weight_gradient = ExposedBeside("Exposed reload behind the weight gradients", one / 2, weight_pass);
    host.backward = ExposedBeside(kReload, one / 2, backward - weight_pass) + host.weight_gradient;
  } else {
    host.backward = ExposedBeside(kReload, one, backward);
  }
  return host;
}

Flops FlopsOfStages(const TrainingContext& context, const LayerTimes& times, const std::vector<Stage>& stages) {
  KindCounts layers;
  for (const Stage& stage : stages) {
    for (const LayerKind kind : kLayerKinds) {
      layers.of[kind] += stage.layers.of[kind];
      if (times.recompute.is_leading) layers.leading[kind] += stage.layers.leading[kind];
    }
  }
  Flops all;
  VisitStage(context, times, layers, true, true,
             [&all](const StagePart& part, Ratio count) { all += part.time->all_flops * count; });
  return Figure("FLOPs of a micro-batch", all, "on all stages, as the kernels execute them");
}

}  // namespace slipstick
