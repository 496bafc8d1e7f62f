#include "core/engine_step/host_experts.h"

#include "core/base/figure.h"
#include "core/engine_step/host_link.h"
#include "core/operators/kernel_family.h"
#include "core/operators/moe.h"

namespace slipstick {
namespace {

// A routed expert of a layer, on one device: its weights and biases, and the width of its rows.
struct RoutedExpert {
  Ratio elements = 0, biases = 0, width = 0;
};
RoutedExpert RoutedExpertOf(const Deployment& deployment) {
  const Model& model = deployment.model;
  return {ElementsOf(deployment.shapes.expert_mlp).expert, ExpertBiases(model, deployment.shapes.widths),
          RoutedWidth(model)};
}

Bytes WeightsOf(const Deployment& deployment, const RoutedExpert& expert) {
  return Figure("Weights of an expert", expert.elements * deployment.formats.sizes.mlp_weights);
}

// Weights of the experts of a layer that get a row in a pass of `rows` tokens, counted as for the device's kernels.
Bytes HitWeights(const Deployment& deployment, const RoutedExpert& expert, Ratio rows) {
  MoeLayer layer;
  layer.experts = deployment.shapes.experts;
  layer.top_k = Ratio(deployment.model.moe->top_k);
  const Ratio hit =
      ExpertsHit(layer, Figure("Rows of the experts", rows * layer.top_k, "a token counts once per expert"),
                 deployment.device.architecture->experts.routing_preference);
  return Figure("Weights of the experts that get a row", hit * WeightsOf(deployment, expert));
}

BytesPerSecond HostRate(const Deployment& deployment) {
  return RateOfCopies(deployment.device.host.bandwidth, deployment.engine.communication);
}

// A layer's experts by the processor, which reads their weights in host memory; their tokens cross the host link.
Seconds OnProcessor(const Deployment& deployment, const RoutedExpert& expert, Ratio rows) {
  const HostExperts& host = *deployment.load.host_experts;
  const HostProducts& engine = *deployment.engine.host_products;
  const Seconds crossing = Figure("Tokens over the host link", 8 * kB * rows * expert.width / HostRate(deployment),
                                  "there and back, in fp32");
  const Seconds reading = Figure(
      "Time to read the weights",
      HitWeights(deployment, expert, rows) / (engine.bandwidth_efficiency * host.memory_bandwidth), "in host memory");
  const Seconds computing =
      Figure("Compute time of the processor",
             2 * kFlop * rows * Ratio(deployment.model.moe->top_k) * expert.elements / host.processor);
  return Figure("Experts by the processor", engine.overhead + max(reading, computing) + crossing,
                "while the device waits", "llama.cpp, ggml_backend_sched: one part of the graph after the other");
}

// A layer's experts copied to the device.
Seconds Copied(const Deployment& deployment, const RoutedExpert& expert, Ratio rows) {
  return Figure("Experts' weights from host memory", HitWeights(deployment, expert, rows) / HostRate(deployment),
                "of those that get a row; nothing hides the copy", "llama.cpp pull request 15346");
}

}  // namespace

Ratio HostLayers(const Deployment& deployment) {
  return Figure("Layers with experts in host memory",
                min(Ratio(deployment.load.host_experts->layers), deployment.layers.moe),
                "at most those that have experts");
}

Bytes HostWeights(const Deployment& deployment) {
  const RoutedExpert expert = RoutedExpertOf(deployment);
  return Figure(
      "Experts' weights in host memory",
      HostLayers(deployment) * deployment.shapes.experts * (WeightsOf(deployment, expert) + expert.biases * (2 * kB)),
      "with their biases, in 16 bit");
}

Seconds TimeHostExperts(const Deployment& deployment, Ratio rows, const KernelTime& on_device, std::string_view name,
                        OperatorBreakdown& operators) {
  constexpr std::string_view kTitle = "Routed experts of a layer",
                             kNote = "mean over layers with experts on the device and in host memory";
  const Ratio layers = deployment.layers.moe, host_layers = HostLayers(deployment),
              device_from(deployment.engine.host_products->device_from);
  const RoutedExpert expert = RoutedExpertOf(deployment);
  const bool copies = rows >= device_from;
  const Seconds time = copies ? Copied(deployment, expert, rows) : OnProcessor(deployment, expert, rows);
  KernelTime host;
  host.time = Procedure("Experts in host memory", time, {{time, 1}, rows, device_from},
                        "the device computes those of many tokens");
  host.bound = Bound::kNetwork;  // the device's own rates do not matter
  if (copies) {
    operators.Add(name, on_device, layers);
    operators.Add(kExpertsFromHost, host, host_layers);
    return Figure(kTitle, on_device.time + host_layers / layers * host.time, kNote);
  }
  const Ratio device_layers = Figure("Layers with experts on the device", layers - host_layers);
  if (device_layers > 0) operators.Add(name, on_device, device_layers);
  operators.Add(kExpertsOnHost, host, host_layers);
  return Figure(kTitle, (device_layers * on_device.time + host_layers * host.time) / layers, kNote);
}

}  // namespace slipstick
